"""Finding the event log of a room: of one that runs, or of one that lies still in its folder."""

import contextlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import click
from pydantic import ValidationError

from brelan.eventlog.server import EmbeddedServer, ServerError
from brelan.settings import RoomSettings
from brelan.telemetry.service import sentences_of

_FILE = "running.json"


def room_settings(data: Path | None) -> RoomSettings:
    """The environment's, but for the folder when it is named. A wrong one is a sentence."""
    try:
        return RoomSettings() if data is None else RoomSettings(data=data)
    except ValidationError as error:
        raise click.UsageError(" ".join(sentences_of(error))) from None


def keep_shards(folder: Path, shards: int) -> None:
    """A room's number of shards is fixed for its life: a table's id names its shard. Raises ServerError."""
    path = folder / "shards"
    if not path.exists():
        path.write_text(f"{shards}\n")
    elif (before := path.read_text().strip()) != str(shards):
        raise ServerError(f"the room in {folder} has {before} shards, not {shards}: set BRELAN_SHARDS={before}.")


@contextlib.contextmanager
def announced(folder: Path, redis_url: str) -> Iterator[None]:
    """While the room runs, its folder says where its event log is; only its owner may read that."""
    path = folder / _FILE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"pid": os.getpid(), "redis_url": redis_url}, file)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def event_log_url(settings: RoomSettings) -> AsyncIterator[str]:
    """The log that BRELAN_REDIS_URL names, that of the running room, or the folder's own, served meanwhile."""
    folder = settings.data.absolute()
    if url := settings.redis_url or _running_url(folder):
        yield url
        return
    if not _is_room(folder):
        raise ServerError(f"there is no room in {folder}. Name its folder with --data or BRELAN_DATA.")
    async with EmbeddedServer(folder / "redis", durable=True) as server:
        yield server.url


def _is_room(folder: Path) -> bool:
    return (folder / "redis").is_dir()


def _running_url(folder: Path) -> str:
    try:
        said = json.loads((folder / _FILE).read_text())
        os.kill(said["pid"], 0)
    except (OSError, ValueError, KeyError):
        return ""
    return str(said["redis_url"])
