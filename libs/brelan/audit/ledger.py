"""Adds the ledger up again from its postings, and compares it with what the accounts and the tables say (M6).

All of it at once, for ``brelan verify-log``; ``audit.continuous`` does it all the time, a little at a time.
"""

from collections.abc import Mapping

import msgspec
from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from brelan.ledger.accounts import may_be_negative, table_account, table_of
from brelan.sql.engine import create_engine, reading
from brelan.sql.schema import ledger_accounts, ledger_postings, ledger_transfers


class Difference(msgspec.Struct, frozen=True):
    account: str
    found: int
    expected: int


class Report(msgspec.Struct, frozen=True):
    """What was counted, and what is wrong. All amounts in minor units."""

    accounts: int
    transfers: int  # booked and declined
    postings: int
    players_total: int  # what players own, away from the tables
    escrow_total: int  # what lies on the tables
    rake_total: int
    total: int  # the sum of all accounts: 0
    unbalanced: tuple[str, ...]  # transfers whose postings do not sum to zero
    misadded: tuple[Difference, ...]  # accounts that are not the sum of their postings
    negative: tuple[str, ...]  # accounts below zero that may not be
    escrow: tuple[Difference, ...] = ()  # tables that hold another amount than they should

    @property
    def balanced(self) -> bool:
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """What is wrong, a sentence each."""
        found = [f"all accounts together are {self.total}, not 0"] if self.total else []
        found += [f"transfer {transfer_id} does not balance" for transfer_id in self.unbalanced]
        found += [
            f"{one.account} stands at {one.found}, its postings add up to {one.expected}" for one in self.misadded
        ]
        found += [f"{account} is below zero" for account in self.negative]
        found += [f"{one.account} holds {one.found}, the table accounts for {one.expected}" for one in self.escrow]
        return found


async def audit(url: str, escrow_expected: Mapping[str, int] | None = None) -> Report:
    """``escrow_expected``: table id -> its stacks and pots, with nothing on its way. Raises DatabaseError."""
    engine = create_engine(url)
    try:
        return await audit_engine(engine, escrow_expected)
    finally:
        await engine.dispose()


async def audit_engine(engine: AsyncEngine, escrow_expected: Mapping[str, int] | None = None) -> Report:
    """All of it sees one moment of the books."""
    async with reading(engine) as connection:
        balances = await _balances(connection)
        sums = await _sums(connection)
        unbalanced = await _unbalanced(connection)
        transfers = await connection.scalar(select(func.count()).select_from(ledger_transfers))
        postings = await connection.scalar(select(func.count()).select_from(ledger_postings))
    return Report(
        accounts=len(balances),
        transfers=transfers or 0,
        postings=postings or 0,
        players_total=_total(balances, "player:"),
        escrow_total=_total(balances, "table:"),
        rake_total=_total(balances, "house:"),
        total=sum(balances.values()),
        unbalanced=unbalanced,
        misadded=_differences(balances, sums),
        negative=tuple(account for account, amount in balances.items() if amount < 0 and not may_be_negative(account)),
        escrow=escrow_differences(balances, escrow_expected or {}) if escrow_expected is not None else (),
    )


def escrow_differences(balances: Mapping[str, int], expected: Mapping[str, int]) -> tuple[Difference, ...]:
    """``balances``: account -> amount in the ledger. ``expected``: table id -> stacks and pots.

    A table of which nothing is expected must hold nothing.
    """
    wanted = {table_account(table_id): amount for table_id, amount in expected.items()}
    return _differences({account: amount for account, amount in balances.items() if table_of(account)}, wanted)


async def _balances(connection: AsyncConnection) -> dict[str, int]:
    rows = await connection.execute(select(ledger_accounts.c.account, ledger_accounts.c.balance))
    return {row.account: row.balance for row in rows}


async def _sums(connection: AsyncConnection) -> dict[str, int]:
    table = ledger_postings
    rows = await connection.execute(select(table.c.account, func.sum(table.c.amount)).group_by(table.c.account))
    return {account: int(total) for account, total in rows}


async def _unbalanced(connection: AsyncConnection) -> tuple[str, ...]:
    """Booked transfers whose postings do not sum to zero or are missing, declined ones that have any."""
    transfers, postings = ledger_transfers, ledger_postings
    booked = case((transfers.c.outcome == "booked", 1), else_=0)
    count = func.count(postings.c.amount)
    query = (
        select(transfers.c.transfer_id)
        .select_from(transfers.outerjoin(postings, postings.c.transfer_id == transfers.c.transfer_id))
        .group_by(transfers.c.transfer_id, transfers.c.outcome)
        .having(
            (func.coalesce(func.sum(postings.c.amount), 0) != 0)
            | ((booked == 1) & (count < 2))
            | ((booked == 0) & (count > 0))
        )
        .order_by(transfers.c.transfer_id)
    )
    return tuple((await connection.execute(query)).scalars())


def _differences(found: Mapping[str, int], expected: Mapping[str, int]) -> tuple[Difference, ...]:
    return tuple(
        Difference(account, found.get(account, 0), expected.get(account, 0))
        for account in sorted(found.keys() | expected.keys())
        if found.get(account, 0) != expected.get(account, 0)
    )


def _total(balances: Mapping[str, int], prefix: str) -> int:
    return sum(amount for account, amount in balances.items() if account.startswith(prefix))
