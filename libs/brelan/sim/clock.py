"""An event loop that never waits: when nobody has anything to do, it is at once as late as the next one wants it.

So the services' own ``run`` loops, with their pauses and time-outs, are as quick as the computer, and always the same.
"""

import asyncio
import math
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

START_MS = 1_700_000_000_000
LONGEST_WAIT_SECONDS = 3_600.0

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


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
        self._microseconds = 0
        self._selector = _Sleeper(self)

    def time(self) -> float:
        return self._microseconds / 1_000_000

    def now_ms(self) -> int:
        return START_MS + self._microseconds // 1000

    def call_at(
        self,
        when: float,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Whoever waits waits a microsecond at least: by a rounding error less would be no time, again and again."""
        later = max(math.ceil(when * 1_000_000), self._microseconds + 1) / 1_000_000
        return super().call_at(later, callback, *args, context=context)

    def pass_time(self, seconds: float) -> None:
        self._microseconds += max(1, round(min(seconds, LONGEST_WAIT_SECONDS) * 1_000_000))

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
