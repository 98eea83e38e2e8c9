"""A whole running room for tests: ``brelan up`` as a person starts it, in a folder and on a port of its own.

``room`` is one room for a module's tests (bots at one stud and one draw table); ``start_room`` makes others.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import clean_environment, start

_OPEN = re.compile(r"The room is open: (http://\S+)")
_PORTS = re.compile(r"starting (\w+) \(health and metrics on port (\d+)\)")


class Room:
    """One ``brelan up``. ``lines`` is its merged log so far."""

    def __init__(self, data: Path, *options: str, env: dict[str, str] | None = None) -> None:
        self.data = data
        self.url = ""
        self.lines: list[str] = []
        self.ports: dict[str, int] = {}  # service -> port of its health and metrics
        self._opened = threading.Event()
        self._process = start(
            [sys.executable, "-m", "brelan.cli", "up", "--data", str(data), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**clean_environment(), **(env or {})},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip())
            if port := _PORTS.search(line):
                self.ports[port[1]] = int(port[2])
            if opened := _OPEN.search(line):
                self.url = opened[1]
                self._opened.set()
        self._opened.set()

    def wait_open(self, seconds: float = 90.0) -> "Room":
        if not self._opened.wait(seconds) or not self.url:
            self.stop()
            raise AssertionError("the room did not open:\n" + "\n".join(self.lines[-60:]))
        return self

    @property
    def operator(self) -> dict[str, str]:
        return dict(json.loads((self.data / "keys" / "operator.json").read_text()))

    def pid_of(self, service: str) -> int:
        """The process of a service, found by its command line among the room's children; 0 while there is none."""
        return max((pid for pid, command in self.children().items() if f"brelan_{service}" in command), default=0)

    def children(self) -> dict[int, str]:
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
                if parent == self._process.pid:
                    command = (stat.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(stat.parent.name)] = command
        return found

    def kill(self, service: str) -> int:
        """``kill -9``: nothing can be tidied up."""
        pid = self.pid_of(service)
        assert pid, f"no process of {service} is running"
        os.kill(pid, signal.SIGKILL)
        return pid

    def kill_all(self) -> None:
        """``kill -9`` of the room itself: what it started has to end with it."""
        self._process.kill()
        self._process.wait(10)
        self._reader.join(30)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def command(self, *arguments: str, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
        """``brelan <arguments>`` against this room."""
        return subprocess.run(
            [sys.executable, "-m", "brelan.cli", *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**clean_environment(), "BRELAN_DATA": str(self.data)},
        )

    def stop(self) -> int:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(90)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise AssertionError("the room did not stop:\n" + "\n".join(self.lines[-60:])) from None
        self._reader.join(10)
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code


@contextlib.contextmanager
def start_room(data: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[Room]:
    room = Room(data, *options, env=env)
    try:
        yield room.wait_open()
    finally:
        room.stop()


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with start_room(tmp_path_factory.mktemp("room"), "--think", "0.1", "--hand-pause-ms", "1500") as running:
        yield running
