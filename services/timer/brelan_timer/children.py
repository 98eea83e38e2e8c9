"""Worker and beat as child processes of the sweeper, for a room on one machine."""

import asyncio
import contextlib
import logging
import socket
import sys
from types import TracebackType

import httpx2

from brelan.cli.children import Child
from brelan.telemetry.health import Health

STARTING_SECONDS = 0.1  # between two looks at them
RUNNING_SECONDS = 1.0
_LOCALHOST = "127.0.0.1"

logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for every look


class Children:
    """``python -m brelan_timer <role>`` for each role: watched, started again, stopped with us, ready when they are."""

    def __init__(self, health: Health, *roles: str) -> None:
        self._health = health
        self._ports = {role: _free_port() for role in roles}
        self._children = [_child(role, port) for role, port in self._ports.items()]
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        for role, child in zip(self._ports, self._children, strict=True):
            self._health.ready(role, False, "starting")
            await child.start()
            child.trust()  # nobody else could start it again
        self._watching = asyncio.create_task(self._watch())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await asyncio.gather(*(child.stop() for child in self._children))

    async def _watch(self) -> None:
        async with httpx2.AsyncClient(timeout=2.0, trust_env=False) as http:
            while True:
                reasons = {role: await _missing(http, port) for role, port in self._ports.items()}
                for role, reason in reasons.items():
                    self._health.ready(role, not reason, reason)
                await asyncio.sleep(STARTING_SECONDS if any(reasons.values()) else RUNNING_SECONDS)


async def _missing(http: httpx2.AsyncClient, port: int) -> str:
    with contextlib.suppress(httpx2.HTTPError):
        answer = await http.get(f"http://{_LOCALHOST}:{port}/readyz")
        return "" if answer.status_code == 200 else str(answer.json().get("reasons"))
    return "does not answer"


def _child(role: str, port: int) -> Child:
    command = [sys.executable, "-m", "brelan_timer", role]
    return Child(role, command, {"BRELAN_HTTP_PORT": str(port), "BRELAN_HTTP_HOST": _LOCALHOST}, _relay)


def _relay(_name: str, line: str) -> None:
    """Their lines say themselves who wrote them."""
    sys.stderr.write(line + "\n")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOCALHOST, 0))
        return int(probe.getsockname()[1])
