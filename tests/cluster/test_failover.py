"""The whole room on three masters and three replicas, with sixteen shards: a master is killed while bots play.

What must come of it is ADR 0008's: play goes on by itself, whatever a client was told is in the logs, nobody is folded
by our outage.
"""

import asyncio
import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from brelan.audit.proof import ArchivedEntries
from brelan.eventlog import keys
from brelan.eventlog.redis_log import RedisStore
from brelan.events import table
from brelan.events.envelope import TableCommitted, decode_committed
from brelan.rules.state import initial_state
from brelan.rules.table import apply_entry
from tests.cluster.servers import ClusterServers
from tests.fixtures_redis import bundled_server
from tests.processes import clean_environment, start, wait_until
from tests.requirements import need_program
from tests.room import Room, start_room

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(600)]

SHARDS = 16
TABLES = 10
HANDS = 8  # that must have ended before the kill, and again after it
GOES_ON_WITHIN_S = 120.0
ALWAYS_CHANGE_SOMETHING = {"Act", "Draw", "Leave"}


class Acknowledged(msgspec.Struct, frozen=True):
    table_id: str
    command_id: str
    kind: str
    version: int


class Bots:
    def __init__(self, room: Room, folder: Path) -> None:
        self._acknowledged = folder / "acknowledged"
        options = ["--url", room.url, "--json", "--seconds", "100000", "--think", "0.3", "--hand-pause-ms", "300"]
        options += ["--open", "--tables", str(TABLES), "--operator-file", str(room.data / "keys" / "operator.json")]
        self._process = start(
            [sys.executable, "-m", "tests.cluster.recording_bots", str(self._acknowledged), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )

    def acknowledged(self) -> list[Acknowledged]:
        lines = self._acknowledged.read_text().splitlines() if self._acknowledged.exists() else []
        found = [line.split() for line in lines]
        return [Acknowledged(table_id, name, kind, int(version)) for table_id, name, kind, version in found]

    def finish(self) -> dict[str, Any]:
        self._process.send_signal(signal.SIGTERM)
        stdout, stderr = self._process.communicate(timeout=120)
        assert stdout, stderr
        return dict(json.loads(stdout))

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


class Played(msgspec.Struct):
    """What was there before and after, and what the logs say in the end."""

    report: dict[str, Any]
    acknowledged: list[Acknowledged]
    logs: dict[str, list[TableCommitted]]
    verified: dict[str, Any]
    figures: dict[str, Any]


@pytest.fixture(scope="module", params=["valkey", "redis"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    program = bundled_server() if request.param == "valkey" else need_program("redis-server")
    folder = tmp_path_factory.mktemp("cluster room")
    with ClusterServers(program, folder / "cluster") as cluster:
        env = {"BRELAN_REDIS_URL": cluster.url, "BRELAN_SHARDS": str(SHARDS), "BRELAN_REPLICAS": "1"}
        with start_room(folder / "room", "--no-bots", env=env) as room:
            bots = Bots(room, folder)
            try:
                yield _play(room, bots, cluster, env, request.param)
            finally:
                bots.stop()
                (folder / "room.log").write_text("\n".join(room.lines))


def _play(room: Room, bots: Bots, cluster: ClusterServers, env: dict[str, str], program: str) -> Played:
    wait_until(lambda: sum(_hands(room).values()) >= HANDS, 120, "the first hands")
    tables = Counter(cluster.master_of(keys.shard_of(table_id)).address for table_id in _tables(bots))
    killed = cluster.server(tables.most_common(1)[0][0])
    at_risk = {table_id for table_id in _tables(bots) if cluster.master_of(keys.shard_of(table_id)) is killed}
    acknowledged_before, before = len(bots.acknowledged()), _hands(room)
    started = time.monotonic()
    killed.kill()
    wait_until(lambda: killed.address not in cluster.masters(), 30, "another master in its place")
    failed_over = time.monotonic() - started
    killed.start()  # as whatever watches over it does; it comes back as a replica
    wait_until(
        lambda: all(_hands(room)[table_id] >= before[table_id] + 2 for table_id in at_risk),
        GOES_ON_WITHIN_S,
        f"two hands at each of the tables {sorted(at_risk)}",
    )
    goes_on = time.monotonic() - started
    wait_until(cluster.healthy, 60, "every master has a replica again")
    report = bots.finish()
    logs = asyncio.run(_logs(room, cluster.url, _tables(bots)))
    verified = subprocess.run(
        [sys.executable, "-m", "brelan.cli", "verify-log", "--json", "--data", str(room.data)],
        capture_output=True,
        text=True,
        check=False,
        env={**clean_environment(), **env},
    )
    assert verified.stdout, verified.stderr
    figures = {
        "program": program,
        "tables": len(_tables(bots)),
        "tables on the killed master": len(at_risk),
        "failed over after s": round(failed_over, 1),
        "two hands at each of them after s": round(goes_on, 1),
        "hands before": sum(before.values()),
        "hands": sum(_hands(room).values()),
        "acknowledged before": acknowledged_before,
        "epochs": max(entry.epoch for log in logs.values() for entry in log),
        "unanswered": report["unanswered"],
        "reconnects": report["reconnects"],
        "refused": report["refused"],
        "answer_ms": report["answer_ms"],
    }
    return Played(report, bots.acknowledged(), logs, json.loads(verified.stdout), figures)


def _tables(bots: Bots) -> list[str]:
    return sorted({one.table_id for one in bots.acknowledged()})


def _hands(room: Room) -> Counter[str]:
    """Hands in the archive: the whole chain is behind them, from action to SQL."""
    path = f"file:{room.data / 'brelan.db'}?mode=ro"
    with contextlib.closing(sqlite3.connect(path, uri=True, timeout=10)) as database:
        return Counter(dict(database.execute("SELECT table_id, count(*) FROM history_hands GROUP BY 1")))


async def _logs(room: Room, url: str, table_ids: list[str]) -> dict[str, list[TableCommitted]]:
    """Each table's entries from the first one on: those of the archive, then those of the log."""
    store, archive = RedisStore(url), ArchivedEntries(f"sqlite+aiosqlite:///{room.data / 'brelan.db'}")
    logs = {}
    try:
        for table_id in table_ids:
            log = store.log(keys.shard_of(table_id))
            entries: dict[int, TableCommitted] = {}
            while page := await archive.page(table_id, max(entries, default=0)):
                entries |= {entry.version: entry for entry in page}
            kept = [decode_committed(entry.data) for entry in await log.range(keys.table_log(table_id))]
            entries |= {entry.version: entry for entry in kept}
            logs[table_id] = [entries[version] for version in sorted(entries)]
    finally:
        await store.close()
        await archive.close()
    return logs


def test_whatever_was_acknowledged_is_in_the_logs(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    found: Counter[str] = Counter()
    for one in played.acknowledged:
        log = played.logs[one.table_id]
        assert one.version <= log[-1].version, one
        entry = log[one.version - 1]
        assert entry.version == one.version
        if entry.command_id == one.command_id:
            found["with its own entry"] += 1
        else:
            assert one.kind not in ALWAYS_CHANGE_SOMETHING, one
            found["changed nothing"] += 1
    assert found["with its own entry"] > 100
    with capsys.disabled():
        sys.stdout.write(f"\n{json.dumps({**played.figures, 'acknowledged': len(played.acknowledged), **found})}\n")


def test_nothing_is_in_the_logs_twice(played: Played) -> None:
    for table_id, log in played.logs.items():
        assert [entry.version for entry in log] == list(range(1, len(log) + 1)), table_id
        accepted = Counter((entry.player_id, entry.command_id) for entry in log if entry.command_id)
        assert max(accepted.values()) == 1, accepted.most_common(3)


def test_nobody_was_folded_by_the_outage(played: Played) -> None:
    overslept = {(table_id, turn) for table_id, turn in played.report["overslept"]}
    for table_id, log in played.logs.items():
        state = initial_state()
        for entry in log:
            for event in entry.events:
                if isinstance(event, table.TimedOut):
                    assert (table_id, event.turn_id) in overslept, (table_id, event, entry.version)
            apply_entry(state, entry)


def test_the_bots_saw_no_violation(played: Played) -> None:
    assert played.report["violations"] == []
    assert played.report["acked"] > 100


def test_log_and_ledger_are_equal_and_balanced(played: Played) -> None:
    assert played.verified["ok"], played.verified["problems"]
