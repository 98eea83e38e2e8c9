"""Processes that tests start: they end with the tests, however those end, so that nothing is left running."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from brelan.child_process import ends_with_parent


def start(command: Sequence[str], *, by: signal.Signals = signal.SIGKILL, **options: Any) -> "subprocess.Popen[str]":
    """``by``: what it is told when the tests are killed."""
    return subprocess.Popen(
        command,
        text=True,
        preexec_fn=ends_with_parent(by),  # noqa: PLW1509 - it takes no lock
        **options,
    )


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true: Callable[..., object], seconds: float, what: str) -> None:
    """Polls ``true()`` until it is, or fails saying what did not happen."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.05)


def clean_environment() -> dict[str, str]:
    """Ours, less what would configure a room."""
    return {name: value for name, value in os.environ.items() if not name.startswith("BRELAN_")}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
