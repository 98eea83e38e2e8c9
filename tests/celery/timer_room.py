"""The timer's processes, and a table service that does nothing but move deadlines."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Any

import httpx2
from redis import Redis

from brelan.eventlog import keys
from brelan.events.envelope import TurnExpired, decode_command
from tests.processes import clean_environment, free_port, start

PATIENCE = 30.0


class Process:
    """``python -m brelan_timer <role>``."""

    def __init__(self, role: str, redis_url: str, broker_url: str, **env: str) -> None:
        self.role = role
        self.lines: list[str] = []
        self.port = free_port()
        self._env = {
            **clean_environment(),
            "BRELAN_REDIS_URL": redis_url,
            "BRELAN_BROKER_URL": broker_url,
            "BRELAN_HTTP_PORT": str(self.port),
            "BRELAN_LOG_FORMAT": "json",
            **env,
        }
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    def start(self) -> "Process":
        self._process = start([sys.executable, "-m", "brelan_timer", self.role], env=self._env, stderr=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()
        return self

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.lines.append(line.rstrip())

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def ready(self) -> "Process":
        """Waits until it is."""
        wait_until(lambda: self.readiness()["ready"], f"the {self.role} is ready", self.lines)
        return self

    def readiness(self) -> dict[str, Any]:
        with contextlib.suppress(httpx2.HTTPError):
            return dict(httpx2.get(f"http://127.0.0.1:{self.port}/readyz", trust_env=False).json())
        return {"ready": False}

    def metric(self, line: str) -> float | None:
        """The value of a metric, by its name and labels."""
        text = httpx2.get(f"http://127.0.0.1:{self.port}/metrics", trust_env=False).text
        found = [each for each in text.splitlines() if each.startswith(line + " ")]
        return float(found[0].rpartition(" ")[2]) if found else None

    def events(self, event: str) -> list[dict[str, Any]]:
        """Its log lines of one kind."""
        said = [json.loads(line) for line in list(self.lines) if line.startswith("{")]
        return [line for line in said if line["event"] == event]

    def end(self, number: signal.Signals = signal.SIGKILL) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        code = self._process.wait(20)
        if self._reader is not None:
            self._reader.join(5)
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._process = None
        return code

    def __enter__(self) -> "Process":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            self.end()


class Tables:
    """Arms deadlines, and takes each away when the first ``ExpireTurn`` for it arrives, as tables do."""

    def __init__(self, redis_url: str, *shards: str) -> None:
        self.enforced: dict[tuple[str, int], int] = {}  # -> when its first entry arrived, by the server's clock
        self.entries = 0
        self._client = Redis.from_url(redis_url, protocol=2)
        self._shards = shards
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def now_ms(self) -> int:
        seconds, microseconds = self._client.time()
        return int(seconds) * 1000 + int(microseconds) // 1000

    def arm(self, shard: str, number: int, first_in_ms: int, spread_ms: int = 1) -> dict[tuple[str, int], int]:
        """So many tables, due from ``first_in_ms`` on. What was armed: (table, due) -> due."""
        now_ms, tag = self.now_ms(), os.urandom(3).hex()
        armed = {f"{shard}-{tag}{place}": now_ms + first_in_ms + place * spread_ms // number for place in range(number)}
        self._client.zadd(keys.deadlines(shard), armed)
        return {one: one[1] for one in armed.items()}

    def late(self, armed: dict[tuple[str, int], int], within: float = PATIENCE) -> list[int]:
        """How late each was enforced, in ms, lowest first. Waits until all are."""
        wait_until(lambda: armed.keys() <= self.enforced.keys(), f"{len(armed)} deadlines are enforced", [], within)
        return sorted(self.enforced[one] - due_ms for one, due_ms in armed.items())

    def _serve(self) -> None:
        cursors: Any = {keys.commands(shard): "0-0" for shard in self._shards}
        while not self._stop.is_set():
            found: Any = self._client.xread(cursors, count=500, block=50)
            for stream, entries in found or ():
                cursors[stream.decode()] = entries[-1][0]
                for entry_id, fields in entries:
                    self._take(int(entry_id.partition(b"-")[0]), fields[b"m"])

    def _take(self, at_ms: int, data: bytes) -> None:
        command = decode_command(data)
        assert isinstance(command, TurnExpired)
        self.entries += 1
        one = command.table_id, command.command.deadline_ms
        if one not in self.enforced:
            self.enforced[one] = at_ms
            self._client.zrem(keys.deadlines(keys.shard_of(command.table_id)), command.table_id)

    def __enter__(self) -> "Tables":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(5)
        self._client.close()


def wait_until(true: Any, what: str, lines: list[str], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}\n" + "\n".join(lines[-40:])
        time.sleep(0.02)
