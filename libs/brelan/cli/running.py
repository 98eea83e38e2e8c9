"""Finding the event log of a room: of one that runs, or of one that lies still in its folder."""

import contextlib
import json
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import click
from pydantic import ValidationError

from brelan.eventlog.server import EmbeddedServer, ServerError
from brelan.settings import RoomSettings
from brelan.telemetry.service import sentences_of

_FILE = "running.json"
RESTORING = "restoring"  # lies in the folder of a room that is not whole yet


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
        write_whole(path, f"{shards}\n")
    elif (before := path.read_text().strip()) != str(shards):
        raise ServerError(f"the room in {folder} has {before} shards, not {shards}: set BRELAN_SHARDS={before}.")


def write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    """Whole or not at all, whenever this ends: written beside it, then renamed."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def check_whole(folder: Path) -> None:
    """A room of which only a part was restored must not begin: its log and its books are of two rooms. Raises
    ServerError."""
    if (folder / RESTORING).exists():
        raise ServerError(
            f"the room in {folder} is being restored, or that was broken off. If nobody is at it any more, remove the "
            "folder and restore again."
        )


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
    check_whole(folder)
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
