"""Where things are killed: one room, twenty tables of bots, and everything that happens there written down.

A ``Mishap`` is one kind of accident and what came of it; the table of them is printed at the end of the run, and
written as JSON to the file that ``BRELAN_CRASH_REPORT`` names.
"""

import contextlib
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import redis

from brelan.eventlog import failpoints, keys
from brelan.eventlog.keys import Service
from brelan.eventlog.server import candidates
from tests.crash.record import Record
from tests.processes import clean_environment, free_port, start, wait_until
from tests.room import Room

TABLES = 20
SHARDS = ("s00", "s01")
HANDS = 2  # of each shard have to end after a mishap: then play goes on
GOES_ON_WITHIN_S = 45.0
DISK_MB = 192
FIRES_WITHIN_S = 40.0
VARIABLE_FOR_REPORT = "BRELAN_CRASH_REPORT"


class Mishap(msgspec.Struct):
    name: str
    times: int = 0
    hands_before: int = 0
    hands_after: int = 0
    goes_on_after_s: float = 0.0  # until hands had ended on every shard again


# Of this run; ``conftest`` prints them.
mishaps: list[Mishap] = []
facts: dict[str, int] = {}


class Bots:
    """Bots of our own at twenty new tables, so that what each command came to can be read at the end."""

    def __init__(self, room: Room) -> None:
        command = [sys.executable, "-m", "brelan.cli", "bots", "--url", room.url, "--json", "--seconds", "100000"]
        command += ["--open", "--tables", str(TABLES), "--operator-file", str(room.data / "keys" / "operator.json")]
        self._process = start(
            [*command, "--hand-pause-ms", "500", "--think", "0.4", "--free-seats", "4"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )

    def finish(self) -> dict[str, Any]:
        """They say their last words and leave their seats."""
        self._process.send_signal(signal.SIGTERM)
        stdout, stderr = self._process.communicate(timeout=120)
        assert stdout, stderr
        return dict(json.loads(stdout))

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        if self.running:
            self._process.kill()
        self._process.communicate()


class Arena:
    def __init__(self, room: Room, failpoint: Path, away: Path, env: dict[str, str]) -> None:
        self.room = room
        self._env = env
        self._lines: list[str] = []
        self.record = Record(lambda: self.redis_url, SHARDS)
        self.bots = Bots(room)
        self.disk_is_small = False
        self._failpoint = failpoint
        self._away = away

    @property
    def redis_url(self) -> str:
        return str(json.loads((self.room.data / "running.json").read_text())["redis_url"])

    def close(self) -> None:
        self.bots.stop()
        self.record.stop()
        (self.room.data.parent / "room.log").write_text(
            "\n".join(self._lines + self.room.lines)
        )  # for who asks what went wrong

    # --- mishaps -----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def mishap(self, name: str, within: float = GOES_ON_WITHIN_S) -> Iterator[Mishap]:
        """Whatever is done in the block; then play has to go on by itself."""
        one = Mishap(name, hands_before=self.hands())
        yield one
        self.goes_on(one, within)
        mishaps.append(one)

    def goes_on(self, one: Mishap, within: float = GOES_ON_WITHIN_S) -> None:
        before, started = self.hands_of_shards(), time.monotonic()
        wait_until(
            lambda: all(self.hands_of_shards().get(shard, 0) >= before.get(shard, 0) + HANDS for shard in SHARDS),
            within,
            f"{HANDS} hands on each shard after: {one.name} (were {before})",
        )
        assert self.bots.running, "the bots ended"
        one.goes_on_after_s = round(time.monotonic() - started, 1)
        one.hands_after = self.hands()

    def said(self, words: str, who: str, since: int) -> bool:
        """Whether a line of the room's says so, after the first ``since``."""
        return any(words in line for line in self.room.lines[since:] if line.startswith(who))

    def arm(self, point: str) -> None:
        fresh = self._failpoint.with_suffix(".new")
        fresh.write_text(point)
        fresh.replace(self._failpoint)

    def fire(self, point: str, number: int, how: str = "") -> None:
        """Somebody dies at that point, or stops there."""
        self.arm(f"{point}:{number}:{how}".removesuffix(":"))
        wait_until(lambda: not self.armed, FIRES_WITHIN_S, f"{point} to be come to")

    @property
    def armed(self) -> bool:
        """Nobody has come to the point yet."""
        return self._failpoint.exists()

    def kill_room(self) -> None:
        """``brelan up`` itself, and at once another one on the same folder and port."""
        port = self.room.url.rpartition(":")[2]
        self._lines += self.room.lines
        self.room.kill_all()
        self.room = Room(self.room.data, "--no-bots", "--port", port, env=self._env).wait_open()

    @contextlib.contextmanager
    def full_disk(self) -> Iterator[None]:
        ballast = self.room.data / "ballast"
        try:
            with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:  # until nothing fits any more
                while file.write(bytes(1 << 16)):
                    pass
            yield
        finally:
            ballast.unlink()

    @contextlib.contextmanager
    def server_away(self) -> Iterator[None]:
        """Servers that die meanwhile come back only afterwards."""
        self._away.touch()
        try:
            yield
        finally:
            self._away.unlink()

    def has_begun(self) -> bool:
        assert self.bots.running, "the bots ended"
        return all(self.hands_of_shards().get(shard, 0) >= 5 for shard in SHARDS)

    def hands(self) -> int:
        return sum(self.hands_of_shards().values())

    def hands_of_shards(self) -> dict[str, int]:
        """Hands that ended, by the archive's count of them: it asks the whole chain, from action to SQL."""
        with self.database() as database:
            return dict(database.execute("SELECT substr(table_id, 1, 3), count(*) FROM history_hands GROUP BY 1"))

    def database(self) -> contextlib.closing[sqlite3.Connection]:
        """For reading only."""
        return contextlib.closing(sqlite3.connect(f"file:{self.room.data / 'brelan.db'}?mode=ro", uri=True, timeout=10))

    # --- processes ---------------------------------------------------------------------------------------------

    def server_pid(self, folder: str = "redis") -> int:
        """The server on a folder of the room: of the event log, or "broker"."""
        return next((pid for pid in self.room.children() if _cwd(pid) == self.room.data / folder), 0)

    def timer_child(self, role: str) -> int:
        """Celery's worker or beat, which the sweeper has started."""
        found = children_of(self.room.pid_of("timer"))
        return next((pid for pid, command in found.items() if command.rstrip().endswith(role)), 0)

    def kill_and_see_it_again(self, pid_of: Callable[[], int], what: str) -> None:
        killed = pid_of()
        assert killed, f"{what} does not run"
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: pid_of() not in (0, killed), 30, f"{what} started again")

    @contextlib.contextmanager
    def second(self, service: str) -> Iterator[None]:
        """Another worker of the same service, with the very environment of the room's own; ready."""
        own = (Path("/proc") / str(self.room.pid_of(service)) / "environ").read_bytes().split(b"\0")
        env = dict(each.decode().split("=", 1) for each in own if each)
        env.pop(failpoints.VARIABLE, None)
        port = free_port()
        with (self.room.data.parent / f"second-{service}.log").open("w") as log:
            process = start(
                [sys.executable, "-m", f"brelan_{service}"],
                env={**env, "BRELAN_HTTP_PORT": str(port)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                wait_until(lambda: _ready(port), 60, f"another {service} to be ready")
                yield
            finally:
                process.terminate()
                process.wait(30)

    def owners(self, service: str) -> dict[str, bytes | None]:
        """Who holds the leases now."""
        shards = ("wallet",) if service == "wallet" else SHARDS
        with redis.Redis.from_url(self.redis_url) as client:
            return {shard: client.get(keys.lease(shard, Service(service))) for shard in shards}

    def fenced(self, service: str) -> float:
        """How often the room's own process of a service was told that somebody else has written."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.room.ports[service]}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("brelan_commits_fenced_total"))

    def buried(self) -> int:
        """Entries that nobody could handle."""
        services = (Service.TABLE, Service.DEALER)
        with redis.Redis.from_url(self.redis_url) as client:
            on_streams = sum(int(client.xlen(keys.dead(shard, service))) for shard in SHARDS for service in services)
        with self.database() as database:
            in_tables = [database.execute(f"SELECT count(*) FROM {name}") for name in ("ledger_dead", "history_dead")]
            return on_streams + sum(int(found.fetchone()[0]) for found in in_tables)

    # --- what has to hold --------------------------------------------------------------------------------------

    def verify(self) -> dict[str, Any]:
        verified = self.room.command("verify-log", "--json")
        assert verified.returncode == 0, verified.stdout + verified.stderr
        report = dict(json.loads(verified.stdout))
        assert report["ok"], report
        return report


def children_of(parent: int) -> dict[int, str]:
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                found[int(status.parent.name)] = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def _ready(port: int) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
        return bool(answer.status == 200)
    return False


def state_of(pid: int) -> str:
    """ "T" of a process that is stopped; "" of none."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def _cwd(pid: int) -> Path | None:
    with contextlib.suppress(OSError):
        return (Path("/proc") / str(pid) / "cwd").readlink()
    return None


def gated_servers(folder: Path, away: Path) -> Path:
    """A folder for the PATH: servers in it that wait with starting while the file ``away`` is there."""
    folder.mkdir()
    real = next(candidates())
    gate = folder / ("valkey-server" if real.name == "Valkey" else "redis-server")
    gate.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] || while [ -e {away} ]; do sleep 0.1; done\nexec {real.path} "$@"\n'
    )
    gate.chmod(gate.stat().st_mode | stat.S_IXUSR)
    return folder


@contextlib.contextmanager
def small_disk(path: Path) -> Iterator[bool]:
    """A file system of its own, where the machine lets us; whether it does."""
    path.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(path)], capture_output=True, check=False
    ).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(path)], check=True)


@contextlib.contextmanager
def arena(folder: Path) -> Iterator[Arena]:
    with small_disk(folder / "room") as small, _arena(folder) as made:
        made.disk_is_small = small
        yield made


@contextlib.contextmanager
def _arena(folder: Path) -> Iterator[Arena]:
    failpoint, away, data = folder / "failpoint", folder / "away", folder / "room"
    env = {
        failpoints.VARIABLE: str(failpoint),
        "PATH": f"{gated_servers(folder / 'bin', away)}{os.pathsep}{os.environ['PATH']}",
    }
    room = Room(data, "--no-bots", env=env)
    made = None
    try:
        made = Arena(room.wait_open(), failpoint, away, env)
        wait_until(made.has_begun, 180, "the first hands on every shard")
        yield made
    finally:
        away.unlink(missing_ok=True)
        if made is not None:
            made.close()
            room = made.room
        room.stop()


def table_of_mishaps() -> list[str]:
    lines = [f"{'mishap':44} {'times':>5} {'hands before':>12} {'after':>6} {'goes on after':>13}"]
    lines += [
        f"{one.name:44} {one.times:5} {one.hands_before:12} {one.hands_after:6} {one.goes_on_after_s:11.1f} s"
        for one in mishaps
    ]
    lines.append(f"{'together':44} {sum(one.times for one in mishaps):5}")
    return [*lines, *(f"{name:44} {number:5}" for name, number in facts.items())]


def write_report() -> None:
    if path := os.environ.get(VARIABLE_FOR_REPORT):
        Path(path).write_bytes(msgspec.json.format(msgspec.json.encode({"mishaps": mishaps, **facts})))
