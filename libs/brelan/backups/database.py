"""The room's database as a file, as of one moment; while ``held`` nobody books anything.

So log and books fit together. Whatever is booked was asked for in the log, and the answers to it that the log does not
have yet are published from the books; nothing is in the log that the books do not know.
"""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.engine import URL

from brelan.backups.event_log import BackupError
from brelan.sql.engine import BUSY_SECONDS, create_engine, reading, writing

SQLITE, POSTGRES = "brelan.db", "brelan.pgdump"

Copy = Callable[[Path], Awaitable[None]]


@contextlib.asynccontextmanager
async def held(url: str) -> AsyncIterator[tuple[Callable[[], Awaitable[None]], Copy]]:
    """Gives two things: to let go, and to copy, into a folder, what was there while it was held.

    Raises DatabaseUnavailable, BackupError.
    """
    engine = create_engine(url)
    parsed = engine.url
    await engine.dispose()
    holding = _sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _postgres(url, parsed)
    async with holding as both:
        yield both


@contextlib.asynccontextmanager
async def _sqlite(url: URL) -> AsyncIterator[tuple[Callable[[], Awaitable[None]], Copy]]:
    """The write lock holds everybody; a reader's transaction begun meanwhile keeps the moment for the copy."""
    file = _existing(Path(url.database or ""))
    with contextlib.ExitStack() as open_ones:
        writer, reader = (open_ones.enter_context(contextlib.closing(_connect(file))) for _ in range(2))
        try:
            await asyncio.to_thread(writer.execute, "BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise BackupError(f"the database {file} cannot be held: {error}.") from None
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()

        async def let_go() -> None:
            writer.execute("ROLLBACK")

        async def copy(folder: Path) -> None:
            await asyncio.to_thread(_copy_sqlite, reader, folder / SQLITE)

        yield let_go, copy


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise BackupError(f"there is no database {file}.")
    return file


def _connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _copy_sqlite(source: sqlite3.Connection, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as target:
        source.backup(target)


@contextlib.asynccontextmanager
async def _postgres(url: str, parsed: URL) -> AsyncIterator[tuple[Callable[[], Awaitable[None]], Copy]]:
    """The writers' rows hold them; a snapshot exported meanwhile keeps the moment for pg_dump."""
    program = _program("pg_dump")
    engine = create_engine(url)
    try:
        async with contextlib.AsyncExitStack() as keeping, contextlib.AsyncExitStack() as locking:
            lock = await locking.enter_async_context(writing(engine))
            await lock.execute(text("LOCK TABLE ledger_writer, history_writers IN EXCLUSIVE MODE"))
            keeper = await keeping.enter_async_context(reading(engine))
            await keeper.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            snapshot = str(await keeper.scalar(text("SELECT pg_export_snapshot()")))

            async def copy(folder: Path) -> None:
                arguments = ("--format=custom", f"--snapshot={snapshot}", f"--file={folder / POSTGRES}")
                await _run(program, parsed, *arguments)

            yield locking.aclose, copy
    finally:
        await engine.dispose()


async def restore_database(folder: Path, url: str) -> None:
    """Into a database that is empty, or not there yet. Raises BackupError."""
    engine = create_engine(url)
    parsed = engine.url
    await engine.dispose()
    if parsed.get_backend_name() == "sqlite":
        await asyncio.to_thread(_restore_sqlite, folder / SQLITE, Path(parsed.database or ""))
    else:
        dump = _existing(folder / POSTGRES)
        await _run(_program("pg_restore"), parsed, "--no-owner", "--exit-on-error", f"--dbname={parsed.database}", dump)


def _restore_sqlite(source: Path, target: Path) -> None:
    if target.exists():
        raise BackupError(f"the database {target} is there already: restore into an empty folder.")
    shutil.copyfile(_existing(source), target)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise BackupError(f"{name} is needed for a PostgreSQL database, and not installed.")
    return found


async def _run(program: str, url: URL, *arguments: str | Path) -> None:
    """The password goes by the environment: arguments can be read by everybody."""
    known = {
        "PGHOST": url.host,
        "PGPORT": url.port,
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
    }
    env = {**os.environ, **{name: str(value) for name, value in known.items() if value}}
    done = await asyncio.to_thread(
        subprocess.run, [program, *map(str, arguments)], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(f"{Path(program).name} failed: {done.stderr.strip().splitlines()[-1:] or 'it said nothing'}")
