"""Health and metrics of a process over HTTP: ``/livez``, ``/readyz``, ``/metrics``.

A service says what it waits for::

    health = Health("table")
    health.ready("shards", False, "no shard owned yet")
    ...
    health.ready("shards", True)

It is ready when it has said something and nothing of it is missing.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from importlib.metadata import version
from typing import Any

import uvicorn
from prometheus_client import REGISTRY
from prometheus_client.exposition import choose_encoder

from brelan.telemetry import metrics

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Answer = tuple[int, str, bytes]  # status, content type, body


class Health:
    """What one process has to say about itself."""

    def __init__(self, service: str) -> None:
        self.service = service
        self._missing: dict[str, str] = {}  # name -> why it is not ready
        self._said: set[str] = set()
        metrics.build_info.labels(service, version("brelan")).set(1)

    def ready(self, name: str, ok: bool, reason: str = "") -> None:
        self._said.add(name)
        if ok:
            self._missing.pop(name, None)
        else:
            self._missing[name] = reason or "not ready"

    @property
    def reasons(self) -> dict[str, str]:
        """What is missing; empty when the process is ready."""
        return dict(self._missing) if self._said else {"start": "starting"}

    async def serve(self, port: int, host: str = "127.0.0.1") -> None:
        """Serve until cancelled. Raises OSError when the port cannot be had."""
        with contextlib.closing(listen(host, port)) as listening:
            await self.serve_on(listening)

    async def serve_on(self, listening: socket.socket) -> None:
        server = _Server(
            uvicorn.Config(
                self.app,
                interface="asgi3",
                lifespan="off",
                ws="none",
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = server.force_exit = True
            await serving
            raise

    async def app(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            return
        status, content_type, body = self._answer(scope)
        headers = [(b"content-type", content_type.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, scope: Scope) -> Answer:
        match scope["path"]:
            case "/livez":
                return _json(200, {"service": self.service, "alive": True})
            case "/readyz":
                reasons = self.reasons
                body = {"service": self.service, "ready": not reasons, "reasons": reasons}
                return _json(503 if reasons else 200, body)
            case "/metrics":
                encode, content_type = choose_encoder(dict(scope["headers"]).get(b"accept", b"").decode("latin-1"))
                return 200, content_type, encode(REGISTRY)
            case _:
                return _json(404, {"error": "there is /livez, /readyz and /metrics"})


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def _json(status: int, body: dict[str, Any]) -> Answer:
    return status, "application/json", json.dumps(body).encode()


class _Server(uvicorn.Server):
    """Signals belong to the service, not to its health."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
