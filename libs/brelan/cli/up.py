"""``brelan up``: the whole room on one machine, with one command.

Order: folder, keys, Redis (embedded unless ``BRELAN_REDIS_URL`` names one), database, services behind their readiness
gates, tables, bots. Ctrl-C stops everything in the reverse order; started again on the same folder, everything is as it
was.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import click
import httpx2

from brelan.cli.children import Child, ChildError, say
from brelan.cli.running import announced, check_whole, keep_shards, room_settings
from brelan.cli.setup import furnish_room, prepare
from brelan.eventlog.server import EmbeddedServer, ServerError
from brelan.settings import RoomSettings

READY_SECONDS = 60.0
WITH_SQL = ("wallet", "history", "gateway")
SERVICES = ("wallet", "history", "table", "dealer", "timer", "gateway")  # in the order they start


class RoomError(Exception):
    """The room cannot open. The message says why and what to do."""


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the room. [BRELAN_DATA, default var]")
@click.option("--port", type=int, help="Port of the page and the API; 0 picks a free one. [BRELAN_PORT, default 8000]")
@click.option("--bots/--no-bots", default=True, show_default=True, help="Bots at the tables.")
@click.option("--think", type=float, default=1.0, show_default=True, help="Seconds a bot thinks, on average.")
@click.option("--hand-pause-ms", type=int, default=None, help="Pause between hands at tables opened now.")
def up(data: Path | None, port: int | None, bots: bool, think: float, hand_pause_ms: int | None) -> None:
    """Run the room: Redis, all services, one table of each game, bots."""
    settings = room_settings(data)
    try:
        asyncio.run(run(settings, _port(port), bots=bots, think=think, hand_pause_ms=hand_pause_ms))
    except (RoomError, ServerError, ChildError) as error:
        click.echo(f"brelan up: {error}", err=True)
        sys.exit(1)


def _port(port: int | None) -> int:
    if port is not None:
        return port
    text = os.environ.get("BRELAN_PORT", "8000")
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"BRELAN_PORT is {text!r}: it has to be a port number, such as 8000.") from None


async def run(settings: RoomSettings, port: int, *, bots: bool, think: float, hand_pause_ms: int | None) -> None:
    """Runs until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    port = _free_port(port)
    with _folder(settings.data) as folder:
        async with contextlib.AsyncExitStack() as room:
            say("room", f"data in {folder}")
            check_whole(folder)
            keep_shards(folder, settings.shards)
            redis_url, redis_urls = await _event_log(room, settings, folder)
            broker_url = settings.broker_url or await _broker(room, folder)
            sql_url = settings.database_url
            room.enter_context(announced(folder, redis_url))
            say("room", "keys, database, operator")
            operator = await prepare(folder, sql_url)
            env = {
                "BRELAN_DATA": str(folder),
                "BRELAN_SHARDS": str(settings.shards),
                "BRELAN_PORT": str(port),
                "BRELAN_LOG_FORMAT": os.environ.get("BRELAN_LOG_FORMAT", "console"),
                "PYTHONUNBUFFERED": "1",
            }
            own = {"timer": {"BRELAN_BROKER_URL": broker_url}} | {
                name: {"BRELAN_SQL_URL": sql_url} for name in WITH_SQL
            }
            children = [
                await room.enter_async_context(
                    _service(name, {**env, "BRELAN_REDIS_URL": redis_urls[name], **own.get(name, {})}, stop)
                )
                for name in SERVICES
            ]
            if stop.is_set():
                return
            url = f"http://127.0.0.1:{port}"
            extra = {} if hand_pause_ms is None else {"hand_pause_ms": hand_pause_ms}
            await furnish_room(url, operator, lambda line: say("room", line), **extra)
            if bots:
                children.append(await room.enter_async_context(_bots(url, folder, env, think)))
            _announce(url)
            await _until_stopped(stop, children)
            say("room", "stopping")
    say("room", "stopped; everything is kept in " + str(folder))


# --- what the room stands on -------------------------------------------------------------------------------------


def _free_port(port: int) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RoomError(
                f"port {port} cannot be used ({reason}). Stop what uses it, or choose another, as in "
                "BRELAN_PORT=8001 make run."
            ) from None
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _folder(data: Path) -> Iterator[Path]:
    """The room's folder, locked: one room at a time."""
    folder = data.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "room.lock").open("w")
    except OSError as error:
        raise RoomError(
            f"the folder {folder} cannot be used ({error.strerror}). Choose another with BRELAN_DATA=/path make run."
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RoomError(f"another room is running on {folder}. Stop it first, or choose another folder.") from None
        yield folder


async def _event_log(
    room: contextlib.AsyncExitStack, settings: RoomSettings, folder: Path
) -> tuple[str, dict[str, str]]:
    """Its address for who runs the room, and for each service: in our own server, with the service's rights only."""
    if settings.redis_url:
        return settings.redis_url, dict.fromkeys(SERVICES, settings.redis_url)
    server = EmbeddedServer(folder / "redis", durable=True, users=SERVICES)
    await _kept_running(room, "the event log's server", server)
    say("room", f"event log: {server.description}")
    return server.url, {name: server.url_for(name) for name in SERVICES}


async def _broker(room: contextlib.AsyncExitStack, folder: Path) -> str:
    broker = await _kept_running(room, "Celery's broker", EmbeddedServer(folder / "broker", durable=False))
    say("room", "Celery's broker: a second server that keeps nothing")
    return broker.url


async def _kept_running(room: contextlib.AsyncExitStack, what: str, server: EmbeddedServer) -> EmbeddedServer:
    """Whatever it dies of is not the end of the room."""
    await room.enter_async_context(server)
    await room.enter_async_context(server.keep_running(lambda line: say("room", f"{what} {line}")))
    return server


# --- services ----------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _service(name: str, env: dict[str, str], stop: asyncio.Event) -> AsyncIterator[Child]:
    http_port = _free_port(0)
    arguments = ["all"] if name == "timer" else []
    child = Child(
        name,
        [sys.executable, "-m", f"brelan_{name}", *arguments],
        {**env, "BRELAN_HTTP_PORT": str(http_port)},
        say,
    )
    say("room", f"starting {name} (health and metrics on port {http_port})")
    await child.start()
    try:
        await _ready(child, http_port, stop)
        child.trust()
        yield child
    finally:
        say("room", f"stopping {name}")
        await child.stop()


async def _ready(child: Child, http_port: int, stop: asyncio.Event) -> None:
    reason = "no answer yet"
    deadline = asyncio.get_running_loop().time() + READY_SECONDS
    async with httpx2.AsyncClient(timeout=2.0, trust_env=False) as http:
        while not stop.is_set():
            if child.given_up.is_set():
                raise ChildError(f"the {child.name} service does not start; its last lines above say why.")
            with contextlib.suppress(httpx2.HTTPError):
                answer = await http.get(f"http://127.0.0.1:{http_port}/readyz")
                if answer.status_code == 200:
                    return
                reason = answer.text
            if asyncio.get_running_loop().time() > deadline:
                raise ChildError(f"the {child.name} service was not ready after {READY_SECONDS:.0f} s: {reason}")
            await asyncio.sleep(0.05)


async def _until_stopped(stop: asyncio.Event, children: list[Child]) -> None:
    """Until Ctrl-C, or until a service cannot be kept running."""
    waits = [asyncio.create_task(stop.wait()), *(asyncio.create_task(child.given_up.wait()) for child in children)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    for child in children:
        if child.given_up.is_set() and not stop.is_set():
            raise ChildError(f"the {child.name} service cannot be kept running; its last lines above say why.")


# --- tables and bots ---------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _bots(url: str, folder: Path, env: dict[str, str], think: float) -> AsyncIterator[Child]:
    """Bots at every table, over the public API, always the same ones: their accounts lie in the room's folder."""
    command = [sys.executable, "-m", "brelan.cli", "bots", "--url", url, "--forever", "--think", str(think)]
    child = Child("bots", [*command, "--accounts-file", str(folder / "bots.json")], env, say)
    await child.start()
    try:
        yield child
    finally:
        await child.stop()


def _announce(url: str) -> None:
    say("room", "")
    say("room", f"The room is open: {url}")
    say("room", "New players get play money. Ctrl-C stops everything and keeps it.")
    say("room", "")
