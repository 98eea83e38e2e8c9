"""Opening the database, and the two kinds of transaction.

SQLite: WAL, ``synchronous=FULL`` (what was committed survives a power cut), foreign keys on, ten seconds of patience
with another writer. A writing transaction takes the write lock at once (``BEGIN IMMEDIATE``): one that read first and
then wrote would be refused instead of waiting.
"""

import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

BUSY_SECONDS = 10.0
_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+asyncpg",
    "postgres": "postgresql+asyncpg",
}
_WRITES = "brelan_writes"


class DatabaseError(Exception):
    """The database cannot be used. The message is a sentence; a password is never in it."""


class DatabaseUnavailable(DatabaseError, OSError):
    """It cannot be reached, or refused just now: wait, and try again."""


def create_engine(url: str) -> AsyncEngine:
    """``sqlite:///file`` or ``postgresql://user:password@host/name``; the asynchronous driver is filled in."""
    parsed = _parsed(url)
    sqlite = parsed.get_backend_name() == "sqlite"
    arguments: dict[str, Any] = (
        {"timeout": BUSY_SECONDS} if sqlite else {"timeout": BUSY_SECONDS, "command_timeout": 60}
    )
    try:
        engine = create_async_engine(parsed, connect_args=arguments, pool_pre_ping=not sqlite)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        driver = getattr(error, "name", None) or parsed.drivername
        raise DatabaseError(f"BRELAN_SQL_URL needs {driver}, which is not installed: pip install {driver}.") from None
    if sqlite:
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


@contextlib.asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that sees one moment and changes nothing. Raises DatabaseUnavailable."""
    with trouble():
        async with engine.begin() as connection:
            yield connection


@contextlib.asynccontextmanager
async def writing(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that writes: committed at the end, rolled back when anything is raised.

    Raises DatabaseUnavailable, after which it is unknown whether it was committed; IntegrityError passes as it is, and
    then it was not.
    """
    with trouble():
        async with engine.connect() as plain:
            connection = await plain.execution_options(**{_WRITES: True})
            async with connection.begin():
                yield connection


@contextlib.contextmanager
def trouble() -> Iterator[None]:
    """What the outside world does to a database becomes DatabaseUnavailable."""
    try:
        yield
    except (IntegrityError, DatabaseError):
        raise
    except DBAPIError as error:
        raise DatabaseUnavailable(f"The database refused: {_first_line(error.orig)}.") from error
    except (OSError, TimeoutError) as error:
        raise DatabaseUnavailable(f"The database cannot be reached: {_first_line(error)}.") from error
    except SQLAlchemyError as error:
        raise DatabaseUnavailable(f"The database failed: {_first_line(error)}.") from error


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise DatabaseError(
            "BRELAN_SQL_URL is no database URL: write sqlite:///path/to/brelan.db or postgresql://user:password@host/name."
        ) from None
    backend = parsed.get_backend_name()
    if backend not in _DRIVERS:
        raise DatabaseError(f"BRELAN_SQL_URL names {backend}: Brelan keeps its books in SQLite or PostgreSQL.")
    if "+" in parsed.drivername and parsed.drivername not in _DRIVERS.values():
        raise DatabaseError(f"BRELAN_SQL_URL names {parsed.drivername}: the driver has to be {_DRIVERS[backend]}.")
    return parsed.set(drivername=_DRIVERS[backend])


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours, see _begin_sqlite
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")  # stays with the file: from the second time on it changes nothing
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
