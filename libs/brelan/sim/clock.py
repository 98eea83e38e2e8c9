"""An event loop that never waits: when nobody has anything to do, it is at once as late as the next one wants it.

So the services' own ``run`` loops, with their pauses and time-outs, are as quick as the computer, and always the same.
"""

import asyncio
from asyncio.base_events import BaseEventLoop
from collections.abc import Coroutine
from typing import Any, TypeVar

START_MS = 1_700_000_000_000
LONGEST_WAIT_SECONDS = 3_600.0

Result = TypeVar("Result")


class Stuck(Exception):
    """Nobody will ever do anything again, and the world was not over."""


class _Sleeper:
    """In the place of a selector: there is no socket and no file to wait for."""

    def __init__(self, loop: "VirtualLoop") -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise Stuck
        if timeout > 0:
            self._loop.pass_time(timeout)
        return []


class VirtualLoop(BaseEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self._seconds = 0.0
        self._selector = _Sleeper(self)

    def time(self) -> float:
        return self._seconds

    def now_ms(self) -> int:
        return START_MS + int(self._seconds * 1000)

    def pass_time(self, seconds: float) -> None:
        self._seconds += min(seconds, LONGEST_WAIT_SECONDS)

    def _process_events(self, _events: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody waits in a selector."""


def run(main: "Coroutine[Any, Any, Result]", loop: VirtualLoop) -> Result:
    """Runs it to its end, and whatever it started is stopped."""
    try:
        return loop.run_until_complete(main)
    finally:
        _stop_everything(loop)
        loop.close()


def _stop_everything(loop: VirtualLoop) -> None:
    for _ in range(3):  # what is cleaned up may start something
        tasks = asyncio.all_tasks(loop)
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks, timeout=1))
