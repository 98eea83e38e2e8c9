"""The ledger audited all the time, inside the wallet, at a cost that does not grow with it.

Each round looks at three things, all at one moment of the books:

- all accounts: their sum is 0, none is below zero that may not be;
- what is new since the last round, page by page: every transfer balances, every posting follows the one before it on
  its account, and the account stands at its last posting;
- a slice of everything again, from the first posting of the first account to the last, and round again: whatever
  somebody changed behind the wallet's back is found within one such sweep.

What is found stays found until a sweep that began later has ended without it.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import structlog
from sqlalchemy import case, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from brelan.eventlog import keys
from brelan.eventlog.log import Log, LogUnavailable
from brelan.ledger.accounts import CASHIER, SUSPENSE
from brelan.ledger.books import Books, BooksUnavailable
from brelan.sql.engine import DatabaseUnavailable, reading
from brelan.sql.schema import ledger_accounts, ledger_postings, ledger_transfers
from brelan.telemetry import metrics

AT_ONCE = 5_000  # transfers, and postings, of one slice
_IN = 500  # values in one IN (...)

logger = structlog.get_logger(__name__)


class Figures(msgspec.Struct):
    """Of one round. Amounts in minor units; the room has one currency."""

    accounts: int = 0
    total: int = 0  # of all accounts: 0
    negative: int = 0  # accounts below zero that may not be: 0
    suspense: int = 0
    new_transfers: int = 0
    new_postings: int = 0
    swept_transfers: int = 0
    swept_postings: int = 0
    sweeps: int = 0  # ended in this round: 0 or 1
    problems: tuple[str, ...] = ()


class Auditor:
    """``round`` again and again."""

    def __init__(self, engine: AsyncEngine, at_once: int = AT_ONCE) -> None:
        self._engine = engine
        self._at_once = at_once
        self._page: int | None = None  # everything up to it was looked at
        self._sweep = _Sweep(at_once)
        self._now: set[str] = set()  # what is wrong: found by the sweep that is under way, or as new since it began ...
        self._before: set[str] = set()  # ... or before it

    async def round(self) -> Figures:
        """Raises DatabaseUnavailable."""
        figures = Figures()
        passing: list[str] = []
        async with reading(self._engine) as connection:
            await _look_at_accounts(connection, figures, passing)
            self._now.update(await self._look_at_new(connection, figures))
            self._now.update(await self._sweep.look(connection, figures))
        figures.problems = (*passing, *sorted(self._now | self._before))
        if figures.sweeps:
            self._before, self._now = self._now, set()
        return figures

    async def _look_at_new(self, connection: AsyncConnection, figures: Figures) -> list[str]:
        table = ledger_transfers
        if self._page is None:  # what was there before is left to the sweep
            self._page = int(await connection.scalar(select(func.max(table.c.page))) or 0)
            return []
        newest = select(table.c.page).where(table.c.page > self._page).order_by(table.c.page).limit(self._at_once)
        upto = await connection.scalar(select(func.max(newest.subquery().c.page)))
        if upto is None:
            return []
        postings, previous = ledger_postings, ledger_postings.alias("previous")
        query = (
            select(
                table.c.transfer_id,
                table.c.outcome,
                postings.c.account,
                postings.c.sequence,
                postings.c.amount,
                postings.c.balance_after,
                previous.c.balance_after.label("before"),
            )
            .select_from(
                table.outerjoin(postings, postings.c.transfer_id == table.c.transfer_id).outerjoin(
                    previous,
                    (previous.c.account == postings.c.account) & (previous.c.sequence == postings.c.sequence - 1),
                )
            )
            .where(table.c.page > self._page, table.c.page <= upto)
        )
        rows = (await connection.execute(query)).all()
        moved = [row for row in rows if row.account is not None]
        figures.new_transfers = len({row.transfer_id for row in rows})
        figures.new_postings = len(moved)
        self._page = int(upto)
        found = _unbalanced(rows)
        found += [_broken(row.account, row.sequence) for row in moved if not _follows(row, row.before)]
        return found + await _misplaced(connection, {row.account for row in moved})


class _Sweep:
    """Everything again, a slice at a time."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._begin()

    def _begin(self) -> None:
        self._posting = ("", 0)  # the last one looked at: account and sequence ...
        self._balance = 0  # ... and where the account stood after it
        self._transfer = ""
        self._left = {"postings", "transfers"}

    async def look(self, connection: AsyncConnection, figures: Figures) -> list[str]:
        found: list[str] = []
        if "postings" in self._left:
            found += await self._postings(connection, figures)
        if "transfers" in self._left:
            found += await self._transfers(connection, figures)
        if not self._left:
            self._begin()
            figures.sweeps = 1
        return found

    async def _postings(self, connection: AsyncConnection, figures: Figures) -> list[str]:
        table = ledger_postings
        place = tuple_(table.c.account, table.c.sequence)
        query = (
            select(table.c.account, table.c.sequence, table.c.amount, table.c.balance_after)
            .where(place > self._posting)
            .order_by(table.c.account, table.c.sequence)
            .limit(self._at_once)
        )
        rows = (await connection.execute(query)).all()
        found, ended = [], []
        account, sequence = self._posting
        for row in rows:
            if row.account != account:
                ended.append((account, sequence, self._balance))
                account, sequence, self._balance = row.account, 0, 0
            if row.sequence != sequence + 1 or not _follows(row, self._balance):
                found.append(_broken(row.account, row.sequence))
            sequence, self._balance = row.sequence, row.balance_after
        figures.swept_postings = len(rows)
        self._posting = (account, sequence)
        if len(rows) < self._at_once:
            ended.append((account, sequence, self._balance))
            self._left.discard("postings")
            found += await _without_postings(connection)
        return found + await _not_where_postings_end(connection, [one for one in ended if one[0]])

    async def _transfers(self, connection: AsyncConnection, figures: Figures) -> list[str]:
        table, postings = ledger_transfers, ledger_postings
        some = (
            select(table.c.transfer_id, table.c.outcome)
            .where(table.c.transfer_id > self._transfer)
            .order_by(table.c.transfer_id)
            .limit(self._at_once)
            .subquery()
        )
        query = (
            select(some.c.transfer_id, some.c.outcome, postings.c.account, postings.c.amount)
            .select_from(some.outerjoin(postings, postings.c.transfer_id == some.c.transfer_id))
            .order_by(some.c.transfer_id)
        )
        rows = (await connection.execute(query)).all()
        ids = {row.transfer_id for row in rows}
        figures.swept_transfers = len(ids)
        if len(ids) < self._at_once:
            self._left.discard("transfers")
        else:
            self._transfer = rows[-1].transfer_id
        return _unbalanced(rows)


# --- what is looked at --------------------------------------------------------------------------------------------


async def _look_at_accounts(connection: AsyncConnection, figures: Figures, found: list[str]) -> None:
    table = ledger_accounts
    below = case(((table.c.balance < 0) & table.c.account.not_in([CASHIER, SUSPENSE]), 1), else_=0)
    query = select(func.count(), func.sum(table.c.balance), func.sum(below)).select_from(table)
    accounts, total, negative = (await connection.execute(query)).one()
    suspense = await connection.scalar(select(table.c.balance).where(table.c.account == SUSPENSE))
    figures.accounts, figures.total, figures.negative = accounts, int(total or 0), int(negative or 0)
    figures.suspense = int(suspense or 0)
    if figures.total:
        found.append(f"all accounts together are {figures.total}, not 0")
    if figures.negative:
        found.append(f"{figures.negative} accounts are below zero")


def _follows(row: Any, before: int | None) -> bool:
    return bool(row.balance_after == (before or 0) + row.amount) and (before is not None or row.sequence == 1)


def _broken(account: str, sequence: int) -> str:
    return f"posting {sequence} of {account} does not follow the one before it"


def _unbalanced(rows: Iterable[Any]) -> list[str]:
    """Booked ones whose postings do not sum to zero or are missing, declined ones that have any."""
    sums: dict[str, tuple[int, int]] = {}
    booked: dict[str, bool] = {}
    for row in rows:
        total, count = sums.get(row.transfer_id, (0, 0))
        moved = row.account is not None
        sums[row.transfer_id] = (total + (row.amount if moved else 0), count + moved)
        booked[row.transfer_id] = row.outcome == "booked"
    return [
        f"transfer {transfer_id} does not balance"
        for transfer_id, (total, count) in sums.items()
        if total or (count < 2 if booked[transfer_id] else count)
    ]


async def _misplaced(connection: AsyncConnection, names: Iterable[str]) -> list[str]:
    """Accounts that do not stand where their last posting left them."""
    accounts, postings = ledger_accounts, ledger_postings
    last = (postings.c.account == accounts.c.account) & (postings.c.sequence == accounts.c.sequence)
    found = []
    for some in _slices(sorted(names)):
        query = (
            select(accounts.c.account, accounts.c.balance, postings.c.balance_after)
            .select_from(accounts.outerjoin(postings, last))
            .where(accounts.c.account.in_(some))
        )
        found += [
            f"{row.account} stands at {row.balance}, its last posting left it at {row.balance_after}"
            for row in await connection.execute(query)
            if row.balance != row.balance_after
        ]
    return found


async def _not_where_postings_end(connection: AsyncConnection, ended: Sequence[tuple[str, int, int]]) -> list[str]:
    table = ledger_accounts
    expected = {account: (sequence, balance) for account, sequence, balance in ended}
    found = []
    for some in _slices(list(expected)):
        rows = await connection.execute(select(table).where(table.c.account.in_(some)))
        found += [
            f"{row.account} stands at {row.balance}, its postings add up to {expected[row.account][1]}"
            for row in rows
            if (row.sequence, row.balance) != expected[row.account]
        ]
    return found


async def _without_postings(connection: AsyncConnection) -> list[str]:
    accounts, postings = ledger_accounts, ledger_postings
    first = (postings.c.account == accounts.c.account) & (postings.c.sequence == 1)
    query = (
        select(accounts.c.account).select_from(accounts.outerjoin(postings, first)).where(postings.c.account.is_(None))
    )
    return [f"{account} has no postings" for account in (await connection.execute(query)).scalars()]


def _slices(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[start : start + _IN] for start in range(0, len(values), _IN)]


# --- what goes out ------------------------------------------------------------------------------------------------


class Unpublished:
    """Replies that are in the books and not on their streams: how many, and since when the oldest has been waiting."""

    def __init__(self, logs: Mapping[str, Log], books: Books, clock: Callable[[], float] = time.monotonic) -> None:
        self._logs = logs
        self._books = books
        self._clock = clock
        self._waiting: dict[str, tuple[int, float]] = {}  # shard -> number of the next one, and when it was first seen

    async def look(self) -> tuple[int, float]:
        """Raises LogUnavailable, BooksUnavailable."""
        count, oldest, now = 0, 0.0, self._clock()
        for shard, log in self._logs.items():
            stream = keys.wallet_replies(shard)
            published = int((await log.last_id(stream)).partition("-")[0])
            behind = await self._books.last_outgoing(stream) - published
            if behind <= 0:
                self._waiting.pop(shard, None)
                continue
            number, since = self._waiting.get(shard, (0, now))
            if number != published + 1:
                since = now
            self._waiting[shard] = published + 1, since
            count, oldest = count + behind, max(oldest, now - since)
        return count, oldest


# --- all the time -------------------------------------------------------------------------------------------------


async def audit_until(
    stop: asyncio.Event, engine: AsyncEngine, logs: Mapping[str, Log], books: Books, seconds: float
) -> None:
    """Figures go to the metrics and to the log, what is wrong to the log as an error."""
    auditor, unpublished = Auditor(engine), Unpublished(logs, books)
    while not stop.is_set():
        try:
            _tell(await auditor.round())
            count, oldest = await unpublished.look()
            metrics.unpublished_replies.set(count)
            metrics.unpublished_reply_seconds.set(oldest)
        except (DatabaseUnavailable, BooksUnavailable, LogUnavailable) as error:
            logger.warning("the books cannot be audited", reason=str(error))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)


def _tell(figures: Figures) -> None:
    metrics.ledger_imbalance_minor_units.set(figures.total)
    metrics.ledger_faults.set(len(figures.problems))
    metrics.ledger_accounts.set(figures.accounts)
    metrics.suspense_minor_units.set(figures.suspense)
    metrics.ledger_sweeps.inc(figures.sweeps)
    for what in ("transfers", "postings"):
        for how in ("new", "swept"):
            metrics.ledger_checked.labels(what, how).inc(getattr(figures, f"{how}_{what}"))
    logger.debug("the books were audited", **msgspec.structs.asdict(figures))
    if figures.sweeps:
        logger.info("all of the books were audited", accounts=figures.accounts, total=figures.total)
    if figures.problems:
        logger.error("the books are wrong", problems=figures.problems[:20], count=len(figures.problems))
    if figures.suspense:
        logger.error("suspense does not stand at 0: somebody has to look", amount=figures.suspense)
