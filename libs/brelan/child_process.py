"""How a child process ends: with its parent, and by what."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def ends_with_parent(by: signal.Signals) -> Callable[[], None]:
    """What the child does before it becomes another program (``preexec_fn``): ask for this signal at its parent's end,
    however that ends. Linux only. What counts as the parent is the thread that starts it: take one that stays.
    """
    if sys.platform != "linux":
        return lambda: None
    libc, parent = ctypes.CDLL(None), os.getpid()

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, by)
        if os.getppid() != parent:  # it ended in between
            os._exit(1)

    return ask


def ending(code: int) -> str:
    """Of an exit code, for the log."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
