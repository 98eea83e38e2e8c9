"""Dead letters of the services that write SQL: the wallet's and the history's."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from brelan.eventlog.dead import DeadEntry
from brelan.sql.engine import create_engine, reading
from brelan.sql.schema import history_dead, ledger_dead


class DeadLetters:
    """Every method may raise DatabaseUnavailable."""

    def __init__(self, url: str | AsyncEngine) -> None:
        self._engine = create_engine(url) if isinstance(url, str) else url

    async def wallet(self, since_ms: int, limit: int) -> list[DeadEntry]:
        """The newest, from ``since_ms`` on."""
        return await self._of(ledger_dead, since_ms, limit)

    async def history(self, since_ms: int, limit: int) -> list[DeadEntry]:
        return await self._of(history_dead, since_ms, limit)

    async def close(self) -> None:
        await self._engine.dispose()

    async def _of(self, dead: Any, since_ms: int, limit: int) -> list[DeadEntry]:
        columns = dead.c.stream, dead.c.entry_id, dead.c.data, dead.c.error
        # Ids begin with milliseconds, which have had thirteen digits since 2001: their texts are in order too. Those of
        # a table's own log begin with versions, and are always shown.
        new_enough = (dead.c.entry_id >= f"{since_ms}-0") | dead.c.stream.contains(":table:")
        query = select(*columns).where(new_enough).order_by(dead.c.entry_id.desc()).limit(limit)
        async with reading(self._engine) as connection:
            return [DeadEntry(row.stream, row.entry_id, row.data, row.error) for row in await connection.execute(query)]
