"""Bringing a database up to date. Every service does it when it starts; two at once do it one after the other."""

import asyncio
import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from brelan.sql.engine import BUSY_SECONDS, DatabaseError, DatabaseUnavailable, create_engine, reading, writing

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_340_031  # PostgreSQL's advisory lock of Brelan's migrations: any number nobody else uses
_RETRY_SECONDS = 0.05

logging.getLogger("alembic").setLevel(logging.WARNING)  # how it does it interests nobody at every start


async def migrate(url: str) -> None:
    """Creates what is missing; does nothing when all is there. Raises DatabaseError."""
    engine = create_engine(url)
    try:
        await migrate_engine(engine)
    finally:
        await engine.dispose()


async def migrate_engine(engine: AsyncEngine, revision: str = "head") -> None:
    if engine.dialect.name == "sqlite":
        _check_folder(engine.url.database)
        await _use_wal(engine)
    async with writing(engine) as connection:
        await connection.run_sync(_upgrade, revision)


def config_for(connection: Connection) -> Config:
    """Alembic's settings; it works on this connection, inside its transaction."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _upgrade(connection: Connection, revision: str) -> None:
    if connection.dialect.name == "postgresql":  # SQLite's BEGIN IMMEDIATE is a lock already
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    try:
        command.upgrade(config_for(connection), revision)
    except CommandError as error:
        raise DatabaseError(
            f"The database was made by another, probably newer Brelan ({error}). Update this one."
        ) from error


def _check_folder(file: str | None) -> None:
    folder = Path(file or "").absolute().parent
    if not folder.is_dir():
        raise DatabaseError(f"BRELAN_SQL_URL names a file in {folder}, and there is no such folder. Create it first.")


async def _use_wal(engine: AsyncEngine) -> None:
    """A new file turns to WAL at the first connection. SQLite does not wait when two do that at once: try again."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + BUSY_SECONDS
    while True:
        try:
            async with reading(engine):
                return
        except DatabaseUnavailable as error:
            if "locked" not in str(error) or loop.time() > deadline:
                raise
        await asyncio.sleep(_RETRY_SECONDS)
