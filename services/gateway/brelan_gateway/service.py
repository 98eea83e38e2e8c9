"""The gateway as a process: feeds, inboxes and the web server, from the start to the last farewell."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import structlog
import uvicorn
from fastapi import FastAPI

from brelan.telemetry.health import Health
from brelan_gateway.room import Room
from brelan_gateway.security import BoundedBodies, CuttableProtocol, SecurityHeaders, cross_origin
from brelan_gateway.settings import GatewaySettings

FRAME_BYTES = 4_096
BODY_BYTES = 65_536
PING_SECONDS = 20.0
SPREAD_MS = 2_000  # clients come back within this time after a restart
FAREWELL_SECONDS = 2.0  # for notices and close frames to go out
REQUESTS_SECONDS = 3  # for requests that are being answered
FLUSH_SECONDS = 2.0  # for commands that were taken to be sent on
HEALTH_SECONDS = 0.1

logger = structlog.get_logger(__name__)


async def serve(room: Room, app: FastAPI, listening: socket.socket, health: Health, stop: asyncio.Event) -> None:
    """Until ``stop``; then no more than eight seconds."""
    server = _Server(server_config(app, room.settings))
    stop_feeds = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        feeds = [tasks.create_task(shard.feed.run(stop_feeds)) for shard in room.shards.values()]
        inboxes = [tasks.create_task(shard.inbox.run(stop_feeds)) for shard in room.shards.values()]
        watching = tasks.create_task(_watch_health(room, health))
        serving = tasks.create_task(server.serve(sockets=[listening]))
        stopping = tasks.create_task(stop.wait())
        await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
        logger.info("saying farewell", sockets=len(room.sockets))
        await _say_farewell(room)
        server.should_exit = True
        await serving
        stop_feeds.set()
        await asyncio.wait(inboxes, timeout=FLUSH_SECONDS)
        for task in (*feeds, *inboxes, watching, stopping):
            task.cancel()


async def _say_farewell(room: Room) -> None:
    room.sockets.restart(SPREAD_MS)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + FAREWELL_SECONDS
    while len(room.sockets) and loop.time() < deadline:  # noqa: ASYNC110 - a farewell is no hot path
        await asyncio.sleep(0.02)


async def _watch_health(room: Room, health: Health) -> None:
    while True:
        trouble = room.trouble
        for name in room.shards:
            health.ready(f"shard {name}", name not in trouble, trouble.get(name, ""))
        await asyncio.sleep(HEALTH_SECONDS)


def server_config(app: FastAPI, settings: GatewaySettings) -> uvicorn.Config:
    return uvicorn.Config(
        cross_origin(SecurityHeaders(BoundedBodies(app, BODY_BYTES)), settings.allowed_origins),
        interface="asgi3",
        lifespan="off",
        ws=CuttableProtocol,
        ws_max_size=FRAME_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        log_config=None,
        log_level="warning",  # below it uvicorn logs addresses with their tickets
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_graceful_shutdown=REQUESTS_SECONDS,
    )


class _Server(uvicorn.Server):
    """Signals belong to the service."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
