"""Taking a whole room into a folder, and making a room of it again."""

import asyncio
import contextlib
import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import func, select

from brelan.backups.database import held, restore_database
from brelan.backups.event_log import (
    WALLET,
    BackupError,
    begin_anew,
    check_empty,
    dump_shard,
    read_dump,
    restore_shard,
    write_dump,
)
from brelan.cli.running import RESTORING, check_whole, event_log_url, keep_shards
from brelan.eventlog.redis_log import RedisStore
from brelan.eventlog.server import EmbeddedServer
from brelan.settings import RoomSettings
from brelan.sql.engine import create_engine, reading
from brelan.sql.schema import ledger_postings, ledger_transfers, ledger_writer

MANIFEST = "backup.json"
BESIDE = (  # of the room's folder, when they are there
    Path("bots.json"),
    Path("redis", "written-by.json"),  # so that the embedded server that is started can read what is restored
)


class Manifest(msgspec.Struct, frozen=True):
    brelan: str
    at_ms: int
    shards: int
    keys: int
    held_ms: int  # how long nothing could be booked
    ledger_page: int  # the wallet's next one: what is booked from there on came after the backup
    digests: dict[str, str]  # file -> SHA-256


class Lost(msgspec.Struct, frozen=True):
    """Booked after the backup, by a ledger that still exists. Amounts in minor units."""

    transfers: int
    by_kind: dict[str, tuple[int, int]]  # kind -> number, amount
    cashier: list[tuple[str, str, int]]  # id, kind, amount: money that crossed the room's border


async def take(settings: RoomSettings, folder: Path) -> Manifest:
    """Raises BackupError, LogUnavailable, DatabaseError, ServerError."""
    _check_own(folder)
    with _whole_or_nothing(folder):
        return await _take(settings, folder)


def _check_own(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise BackupError(f"{folder} is not empty: a backup goes into a folder of its own.")


async def _take(settings: RoomSettings, folder: Path) -> Manifest:
    async with event_log_url(settings) as url, contextlib.AsyncExitStack() as closing:
        store = RedisStore(url)
        closing.push_async_callback(store.close)
        async with held(settings.database_url) as (let_go, copy):
            started = time.monotonic()
            page = await _ledger_page(settings.database_url)
            at_ms = await store.log(WALLET).now_ms()
            dumps = await asyncio.gather(*(dump_shard(store, shard) for shard in (WALLET, *settings.shard_names)))
            await let_go()
            held_ms = int((time.monotonic() - started) * 1000)
            await copy(folder)
    for dump in dumps:
        write_dump(folder, dump)
    _copy_files(settings.key_folder, settings.data, folder / "keys", folder)
    manifest = Manifest(
        brelan=version("brelan"),
        at_ms=at_ms,
        shards=settings.shards,
        keys=sum(len(dump.keys) for dump in dumps),
        held_ms=held_ms,
        ledger_page=page,
        digests=_digests(folder),
    )
    write_manifest(folder, manifest)
    return manifest


@contextlib.contextmanager
def _whole_or_nothing(folder: Path) -> Iterator[None]:
    """While it is filled. When that fails, what has come into it goes again, and the folder with it if it is new."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    before = set(folder.iterdir())
    try:
        yield
    except BaseException:
        for path in set(folder.iterdir()) - before:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if is_new:
            folder.rmdir()
        raise


def _copy_files(keys_from: Path, files_from: Path, keys_to: Path, files_to: Path) -> None:
    shutil.copytree(keys_from, keys_to, dirs_exist_ok=True)
    for name in BESIDE:
        if (files_from / name).is_file():
            (files_to / name).parent.mkdir(exist_ok=True, mode=0o700)
            shutil.copy2(files_from / name, files_to / name)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))


def read_manifest(folder: Path) -> Manifest:
    """Every file is what it was when the backup was taken. Raises BackupError."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise BackupError(f"{folder} is no whole backup: {error}.") from None
    now = _digests(folder)
    if wrong := [name for name, digest in manifest.digests.items() if now.get(name) != digest]:
        raise BackupError(f"the backup in {folder} is damaged: {', '.join(sorted(wrong))}.")
    return manifest


async def restore(settings: RoomSettings, folder: Path) -> Manifest:
    """Into ``settings.data``, or into the servers that the settings name: nothing of a room may be there.

    Raises BackupError, LogUnavailable, DatabaseError, ServerError.
    """
    manifest = read_manifest(folder)
    if manifest.shards != settings.shards:
        raise BackupError(f"the room had {manifest.shards} shards: set BRELAN_SHARDS={manifest.shards}.")
    _check_room_for(settings)
    data = settings.data.absolute()
    with _whole_or_nothing(data), _whole_or_nothing(settings.key_folder.absolute()):
        mark = data / RESTORING
        mark.touch(exist_ok=False)
        keep_shards(data, settings.shards)
        _copy_files(folder / "keys", folder, settings.key_folder, data)
        async with _new_log(settings) as url, contextlib.AsyncExitStack() as closing:
            store = RedisStore(url)
            closing.push_async_callback(store.close)
            await check_empty(store, settings.shard_names)
            await restore_database(folder, settings.database_url)
            for shard in (WALLET, *settings.shard_names):
                await restore_shard(store, read_dump(folder, shard))
            for shard in settings.shard_names:
                await begin_anew(store, shard)
        mark.unlink()
    return manifest


def _check_room_for(settings: RoomSettings) -> None:
    data = settings.data.absolute()
    check_whole(data)
    if (data / "redis").exists() and not settings.redis_url:
        raise BackupError(f"there is a room in {data} already: restore into another folder.")
    if settings.key_folder.exists():
        raise BackupError(f"there are keys in {settings.key_folder} already: restore into another folder.")


@contextlib.asynccontextmanager
async def _new_log(settings: RoomSettings) -> AsyncIterator[str]:
    if settings.redis_url:
        yield settings.redis_url
        return
    async with EmbeddedServer(settings.data / "redis", durable=True) as server:
        yield server.url


async def lost_since(manifest: Manifest, old_database: str) -> Lost:
    """What the old ledger booked after the backup. Raises DatabaseError."""
    engine = create_engine(old_database)
    transfers, postings = ledger_transfers, ledger_postings
    amount = func.sum(func.abs(postings.c.amount)) / 2
    query = (
        select(transfers.c.transfer_id, transfers.c.kind, amount.label("amount"))
        .join(postings, postings.c.transfer_id == transfers.c.transfer_id)
        .where(transfers.c.page >= manifest.ledger_page)
        .group_by(transfers.c.transfer_id, transfers.c.kind)
        .order_by(transfers.c.transfer_id)
    )
    try:
        async with reading(engine) as connection:
            rows: list[Any] = list(await connection.execute(query))
    finally:
        await engine.dispose()
    by_kind: dict[str, tuple[int, int]] = {}
    for row in rows:
        number, total = by_kind.get(row.kind, (0, 0))
        by_kind[row.kind] = number + 1, total + int(row.amount)
    crossed = [(row.transfer_id, row.kind, int(row.amount)) for row in rows if row.kind in ("deposit", "withdrawal")]
    return Lost(len(rows), by_kind, crossed)


async def _ledger_page(url: str) -> int:
    engine = create_engine(url)
    try:
        async with reading(engine) as connection:
            return int(await connection.scalar(select(ledger_writer.c.page)) or 0)
    finally:
        await engine.dispose()


def _digests(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != MANIFEST]
    return {str(path.relative_to(folder)): _digest(path) for path in files}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
