"""Fail-points: where a test may kill a service, as exactly as can be. ``docs/internals/failpoints.md``.

``BRELAN_FAILPOINT_FILE`` names a file. While it is there, and holds the name of a point and a number, as
``table:commit:before:40``, the process that comes to that point for the 40th time removes the file and kills itself. So
each file kills once, whoever is started again. With ``:stop`` at the end it stops instead, until it is sent SIGCONT.
Without the variable nothing of this is there.
"""

import asyncio
import os
from collections.abc import Awaitable
from pathlib import Path
from signal import SIGKILL, SIGSTOP, Signals
from typing import TypeVar

import msgspec

from brelan.eventlog.keys import Service

Answer = TypeVar("Answer")

VARIABLE = "BRELAN_FAILPOINT_FILE"
INSIDE_SECONDS = 0.001  # between asking a store and dying: it is asked, and its answer comes to nobody

_PROCESSOR = (
    "fence:after",
    "load:inside",
    "read:after",
    "commit:before",
    "commit:inside",
    "commit:after",
)
POINTS = (
    *(f"table:{point}" for point in _PROCESSOR),
    *(f"dealer:{point}" for point in _PROCESSOR),
    "wallet:book:before",
    "wallet:book:inside",
    "wallet:book:after",
    "wallet:publish:before",
    "wallet:publish:inside",
    "wallet:publish:after",
    "history:archive:before",
    "history:archive:inside",
    "history:archive:after",
    "history:cursor:inside",
    "history:cursor:after",
    "timer:hand_out:before",
    "timer:hand_out:after",
    "timer:expire:before",
    "timer:expire:after",
    "gateway:append:before",
    "gateway:append:inside",
    "gateway:append:after",
)

_file = os.environ.get(VARIABLE)


class BadFailPoint(ValueError):
    """The file holds no fail-point. The message is a sentence."""


class FailPoint(msgspec.Struct, frozen=True):
    point: str
    number: int
    signal: Signals = SIGKILL

    @classmethod
    def parse(cls, text: str) -> "FailPoint":
        """Raises BadFailPoint."""
        words = text.strip().split(":")
        what = SIGKILL
        if words[-1] == "stop":
            what = SIGSTOP
            words.pop()
        point = ":".join(words[:3])
        if point not in POINTS or len(words) != 4 or not words[3].isascii() or not words[3].isdigit():
            raise BadFailPoint(
                f"{text.strip()!r} is no fail-point: a point and a number are wanted, such as table:commit:before:40, "
                f"and the points are {', '.join(POINTS)}."
            )
        return cls(point, max(1, int(words[3])), what)


class _Counter:
    """How often this process has come to the point that the file names now."""

    def __init__(self) -> None:
        self._text = ""
        self._times = 0

    def due(self, path: str, point: str) -> FailPoint | None:
        """The fail-point, when it is this one's turn: its file is gone then, and nobody else's turn comes."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        armed = FailPoint.parse(text)
        if text != self._text:
            self._text, self._times = text, 0
        if armed.point != point:
            return None
        self._times += 1
        if self._times < armed.number:
            return None
        try:
            Path(path).unlink()
        except FileNotFoundError:
            return None
        self._text = ""
        return armed


_counter = _Counter()


def check() -> None:
    """When a service starts. Raises BadFailPoint for a file that is there and makes no sense."""
    if _file is not None and Path(_file).exists():
        FailPoint.parse(Path(_file).read_text(encoding="utf-8"))


def reach(service: Service, point: str) -> None:
    """A process of the service has come to ``point``: together one of POINTS."""
    if _file is not None and (armed := _counter.due(_file, f"{service.value}:{point}")):
        os.kill(os.getpid(), armed.signal)


def inside(service: Service, point: str, call: Awaitable[Answer]) -> Awaitable[Answer]:
    """``call`` asks a store: the process may die when it has asked and does not know the answer yet."""
    return call if _file is None else _dying_inside(_file, f"{service.value}:{point}", call)


async def _dying_inside(path: str, point: str, call: Awaitable[Answer]) -> Answer:
    armed = _counter.due(path, point)
    asked = asyncio.ensure_future(call)
    if armed:
        await asyncio.wait((asked,), timeout=INSIDE_SECONDS)
        os.kill(os.getpid(), armed.signal)
    return await asked
