"""The books as they are shown: statements of an account, one transfer. Reading only; the wallet alone writes."""

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from brelan.ledger.transfers import Kind, Posting
from brelan.sql.engine import create_engine, reading
from brelan.sql.schema import ledger_postings, ledger_transfers

MOST_AT_ONCE = 500


class StatementLine(msgspec.Struct, frozen=True):
    """One posting. ``amount`` above zero: received; ``at_ms``: when the transfer was asked for."""

    sequence: int
    transfer_id: str
    kind: Kind
    amount: int
    balance_after: int
    at_ms: int


class Statement(msgspec.Struct, frozen=True):
    """``next``: the ``before`` of the next page; None: there is none."""

    lines: tuple[StatementLine, ...]
    next: int | None


class TransferRecord(msgspec.Struct, frozen=True):
    """``code``: why it was declined; ``cause``: the log entry that asked for it."""

    transfer_id: str
    kind: Kind
    outcome: str
    code: str
    at_ms: int
    cause: str
    trace: str
    postings: tuple[Posting, ...]


class Statements:
    """Every method may raise DatabaseUnavailable."""

    def __init__(self, url: str | AsyncEngine) -> None:
        self._engine = create_engine(url) if isinstance(url, str) else url

    async def statement(self, account: str, before: int | None = None, limit: int = 50) -> Statement:
        """Of an account (``brelan.ledger.accounts``), newest first. ``before``: a sequence number, only older ones."""
        limit = max(1, min(limit, MOST_AT_ONCE))
        postings, transfers = ledger_postings, ledger_transfers
        query = (
            select(
                postings.c.sequence,
                postings.c.transfer_id,
                transfers.c.kind,
                postings.c.amount,
                postings.c.balance_after,
                transfers.c.at_ms,
            )
            .select_from(postings.join(transfers, transfers.c.transfer_id == postings.c.transfer_id))
            .where(postings.c.account == account)
            .order_by(postings.c.sequence.desc())
            .limit(limit + 1)
        )
        if before is not None:
            query = query.where(postings.c.sequence < before)
        async with reading(self._engine) as connection:
            rows = (await connection.execute(query)).mappings().all()
        lines = tuple(StatementLine(**row) for row in rows[:limit])
        return Statement(lines, lines[-1].sequence if len(rows) > limit else None)

    async def transfer(self, transfer_id: str) -> TransferRecord | None:
        """Booked or declined; None: the wallet has not heard of it."""
        transfers, postings = ledger_transfers, ledger_postings
        async with reading(self._engine) as connection:
            row = (await connection.execute(select(transfers).where(transfers.c.transfer_id == transfer_id))).first()
            if row is None:
                return None
            query = select(postings.c.account, postings.c.amount).where(postings.c.transfer_id == transfer_id)
            found = await connection.execute(query.order_by(postings.c.amount))
            moved = tuple(Posting(one.account, one.amount) for one in found)
        return TransferRecord(transfer_id, row.kind, row.outcome, row.code, row.at_ms, row.cause, row.trace, moved)

    async def close(self) -> None:
        await self._engine.dispose()
