"""A room grows old: ``python -m tests.retention.grow --hands 500 5000 50000``.

Plays so many hands with the real services on a real server of its own, lets it settle, kills and restarts everything,
and says what is left: Redis's memory, keys and stream lengths, how long the start takes, the size of the archive.
"""

import argparse
import asyncio
import contextlib
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import redis

from brelan.eventlog.server import EmbeddedServer
from tests.fixtures_redis import bundled_server
from tests.retention.fast_room import FastRoom, load_seconds, sqlite_in


class Figures(msgspec.Struct):
    """What a room is like after so many hands."""

    hands: int
    playing_seconds: float
    memory_bytes: int  # used_memory_dataset
    keys: int
    bytes_of: dict[str, int]  # family -> MEMORY USAGE of its keys
    entries_of: dict[str, int]  # family of streams -> entries
    redis_start_seconds: float
    table_load_seconds: float
    dealer_load_seconds: float
    append_only_file_bytes: int
    sql_bytes: int
    problems: list[str]


async def grow(folder: Path, milestones: Sequence[int], tables: int = 4) -> AsyncIterator[Figures]:
    """One room: of the folder, if one is there. At each milestone all is stopped, the server killed and started."""
    played = _played(folder / "brelan.db")
    with EmbeddedServer(folder / "redis", durable=True, program=bundled_server()) as server:
        for hands in milestones:
            started = time.perf_counter()
            async with FastRoom(server.url, sqlite_in(folder), tables=tables) as room:
                if not played:
                    await room.open()
                await room.play(hands - played)
                seconds = time.perf_counter() - started
                await room.settle()
                problems = await room.problems()
            played += room.hands
            stored = _stored(server.url)
            server.kill()
            started = time.perf_counter()
            server.start()
            redis_start = time.perf_counter() - started
            memory = _memory(server.url)
            table_load, dealer_load = await _loads(server.url, folder)
            yield Figures(
                hands=played,
                playing_seconds=round(seconds, 1),
                memory_bytes=memory,
                keys=sum(count for count, _, _ in stored.values()),
                bytes_of={family: size for family, (_, size, _) in stored.items()},
                entries_of={family: entries for family, (_, _, entries) in stored.items() if entries is not None},
                redis_start_seconds=round(redis_start, 3),
                table_load_seconds=table_load,
                dealer_load_seconds=dealer_load,
                append_only_file_bytes=_size(folder / "redis"),
                sql_bytes=_size(folder, "brelan.db*"),
                problems=problems,
            )


async def _loads(url: str, folder: Path) -> tuple[float, float]:
    """Of table and dealer: the better of two."""
    room = FastRoom(url, sqlite_in(folder))
    try:
        table = min([await load_seconds(room.table_processor()) for _ in range(2)])
        dealer = min([await load_seconds(room.dealer_processor()) for _ in range(2)])
    finally:
        await room.store.close()
        await room.engine.dispose()
    return round(table, 4), round(dealer, 4)


def _played(database: Path) -> int:
    """How many hands are in the archive."""
    if not database.exists():
        return 0
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return int(connection.execute("SELECT count(*) FROM history_hands").fetchone()[0])


def _memory(url: str) -> int:
    """Of a server that has just loaded its data: neither buffers nor holes from before."""
    with redis.Redis.from_url(url) as client:
        return int(client.info("memory")["used_memory_dataset"])


def _stored(url: str) -> dict[str, tuple[int, int, int | None]]:
    """Family -> keys, bytes, entries."""
    found: dict[str, tuple[int, int, int | None]] = {}
    with redis.Redis.from_url(url) as client:
        for key in client.scan_iter(count=1_000):
            family = key.decode().split(":")[1]
            size = client.memory_usage(key, samples=0) or 0
            length = client.xlen(key) if client.type(key) == b"stream" else None
            before = found.get(family, (0, 0, None))
            entries = before[2] if length is None else (before[2] or 0) + length
            found[family] = (before[0] + 1, before[1] + size, entries)
    return dict(sorted(found.items()))


def _size(folder: Path, pattern: str = "**/*") -> int:
    return sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file())


async def report(milestones: Sequence[int], tables: int, kept: Path | None) -> None:
    with contextlib.ExitStack() as leaving:
        folder = kept or Path(leaving.enter_context(tempfile.TemporaryDirectory(prefix="brelan-grow-")))
        async for figures in grow(folder, milestones, tables):
            sys.stdout.write(msgspec.json.format(msgspec.json.encode(figures), indent=2).decode() + "\n")
            sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, nargs="+", default=[500, 5_000])
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--folder", type=Path, help="of a room that is kept, and grows on when it is named again")
    arguments = parser.parse_args()
    asyncio.run(report(sorted(arguments.hands), arguments.tables, arguments.folder))


if __name__ == "__main__":
    main()
