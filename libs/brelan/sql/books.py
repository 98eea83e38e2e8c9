"""The ledger's books in SQL.

``ledger_writer`` has one row with the number of the next page. Opening the books moves it on; writing moves it on from
the number that the writer knows, in the transaction of the page itself. So of two writers that both believe to be the
only one, the second finds another number and has written nothing; and what a writer has read (``known``) stays true
until then.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from brelan.ledger.books import (
    Balance,
    Booked,
    BooksUnavailable,
    Dead,
    Line,
    Numbered,
    Opened,
    Page,
    Refused,
    Tail,
    Written,
)
from brelan.ledger.decide import Claimed, Decided, Ledger
from brelan.sql.engine import DatabaseError, create_engine, reading, writing
from brelan.sql.schema import (
    ledger_accounts,
    ledger_claims,
    ledger_cursors,
    ledger_dead,
    ledger_outgoing,
    ledger_postings,
    ledger_tails,
    ledger_transfers,
    ledger_writer,
)

_AT_ONCE = 500  # values in one IN (...): SQLite and PostgreSQL both have limits


class SqlBooks:
    def __init__(self, url: str | AsyncEngine) -> None:
        self._engine = create_engine(url) if isinstance(url, str) else url
        self._numbers: dict[str, int] = {}  # stream -> number of its newest outgoing entry, while we are the writer

    async def open(self) -> Opened:
        self._numbers = {}
        with _trouble():
            async with writing(self._engine) as connection:
                page = await _next_page(connection)
                read = (await connection.execute(select(ledger_cursors))).all()
                tails = (await connection.execute(select(ledger_tails))).all()
                claims = (await connection.execute(select(ledger_claims).where(ledger_claims.c.amount > 0))).all()
        return Opened(
            page,
            {row.stream: row.entry_id for row in read},
            {row.stream: row.digest for row in read if row.digest is not None},
            {row.shard: Tail(row.epoch, row.server, row.lost) for row in tails},
            {(row.table_id, row.player_id): row.amount for row in claims},
        )

    async def known(self, accounts: Iterable[str], transfer_ids: Iterable[str]) -> Ledger:
        with _trouble():
            async with reading(self._engine) as connection:
                balances = await _balances(connection, sorted(accounts))
                decided = await _decided(connection, sorted(transfer_ids))
        return Ledger({account: balance.amount for account, balance in balances.items()}, decided)

    async def write(self, page: Page) -> Written | None:
        numbers = dict(self._numbers)
        with _trouble():
            async with writing(self._engine) as connection:
                if not await _turn_page(connection, page.page):
                    return None
                balances = await _write_lines(connection, page.page, page.lines)
                await _write_outgoing(connection, page.outgoing, numbers)
                await _write_dead(connection, page.dead)
                await _write_cursors(connection, page.cursors, page.digests)
                await _write_tails(connection, page.tails)
                await _write_claims(connection, page.claims)
        self._numbers = numbers
        return Written(balances)

    async def outgoing(self, stream: str, after: int, limit: int) -> list[Numbered]:
        table = ledger_outgoing
        query = (
            select(table.c.number, table.c.data)
            .where(table.c.stream == stream, table.c.number > after)
            .order_by(table.c.number)
            .limit(limit)
        )
        with _trouble():
            async with reading(self._engine) as connection:
                return [Numbered(row.number, row.data) for row in await connection.execute(query)]

    async def last_outgoing(self, stream: str) -> int:
        with _trouble():
            async with reading(self._engine) as connection:
                return await _last_number(connection, stream)

    async def balances(self) -> dict[str, Balance]:
        table = ledger_accounts
        with _trouble():
            async with reading(self._engine) as connection:
                rows = await connection.execute(select(table.c.account, table.c.balance, table.c.sequence))
                return {row.account: Balance(row.balance, row.sequence) for row in rows}

    async def booked(self, account: str, before: int | None, limit: int) -> list[Booked]:
        postings, transfers = ledger_postings, ledger_transfers
        query = (
            select(postings.c.sequence, postings.c.transfer_id, transfers.c.body)
            .select_from(postings.join(transfers, transfers.c.transfer_id == postings.c.transfer_id))
            .where(postings.c.account == account)
            .order_by(postings.c.sequence.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(postings.c.sequence < before)
        with _trouble():
            async with reading(self._engine) as connection:
                return [Booked(row.sequence, row.transfer_id, row.body) for row in await connection.execute(query)]

    async def close(self) -> None:
        await self._engine.dispose()


@contextlib.contextmanager
def _trouble() -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise Refused(str(error.orig)) from error
    except DatabaseError as error:
        raise BooksUnavailable(str(error)) from error


# --- the writer -----------------------------------------------------------------------------------------------------


async def _next_page(connection: AsyncConnection) -> int:
    table = ledger_writer
    await connection.execute(update(table).values(page=table.c.page + 1))
    page = await connection.scalar(select(table.c.page))
    assert page is not None  # the first migration made the row
    return int(page)


async def _turn_page(connection: AsyncConnection, page: int) -> bool:
    """The row is ours until the transaction ends. False: somebody else opened the books."""
    table = ledger_writer
    turned = await connection.execute(update(table).where(table.c.page == page).values(page=page + 1))
    return turned.rowcount == 1


# --- reading --------------------------------------------------------------------------------------------------------


async def _balances(connection: AsyncConnection, accounts: Sequence[str]) -> dict[str, Balance]:
    table = ledger_accounts
    found: dict[str, Balance] = {}
    for some in _slices(accounts):
        query = select(table.c.account, table.c.balance, table.c.sequence).where(table.c.account.in_(some))
        rows = await connection.execute(query)
        found.update((row.account, Balance(row.balance, row.sequence)) for row in rows)
    return found


async def _decided(connection: AsyncConnection, transfer_ids: Sequence[str]) -> dict[str, Decided]:
    table = ledger_transfers
    found: dict[str, Decided] = {}
    for some in _slices(transfer_ids):
        query = select(table.c.transfer_id, table.c.body, table.c.kind, table.c.outcome, table.c.code)
        rows = await connection.execute(query.where(table.c.transfer_id.in_(some)))
        found.update((row.transfer_id, Decided(row.body, row.kind, row.outcome, row.code)) for row in rows)
    return found


async def _last_number(connection: AsyncConnection, stream: str) -> int:
    table = ledger_outgoing
    number = await connection.scalar(select(func.max(table.c.number)).where(table.c.stream == stream))
    return int(number or 0)


def _slices(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE)]


# --- writing --------------------------------------------------------------------------------------------------------


async def _write_lines(connection: AsyncConnection, page: int, lines: Sequence[Line]) -> dict[str, Balance]:
    """Transfers, accounts, postings. Answers the accounts' new balances."""
    if not lines:
        return {}
    accounts = {posting.account for line in lines if line.transfer for posting in line.transfer.postings}
    before = await _balances(connection, sorted(accounts))
    balances = dict(before)
    postings: list[dict[str, Any]] = []
    for line in lines:
        for posting in line.transfer.postings if line.transfer else ():
            old = balances.get(posting.account, Balance(0, 0))
            new = balances[posting.account] = Balance(old.amount + posting.amount, old.sequence + 1)
            postings.append(
                {
                    "account": posting.account,
                    "sequence": new.sequence,
                    "transfer_id": line.transfer_id,
                    "amount": posting.amount,
                    "balance_after": new.amount,
                }
            )
    await connection.execute(insert(ledger_transfers), [_transfer_row(page, line) for line in lines])
    await _write_accounts(connection, balances, before)
    if postings:
        await connection.execute(insert(ledger_postings), postings)
    return balances


def _transfer_row(page: int, line: Line) -> dict[str, Any]:
    return {
        "transfer_id": line.transfer_id,
        "kind": line.decided.kind,
        "outcome": line.decided.outcome,
        "code": line.decided.code,
        "body": line.decided.body,
        "at_ms": line.at_ms,
        "cause": line.cause,
        "trace": line.trace,
        "page": page,
    }


async def _write_accounts(
    connection: AsyncConnection, balances: Mapping[str, Balance], before: Mapping[str, Balance]
) -> None:
    table = ledger_accounts
    fresh = []
    for account, balance in sorted(balances.items()):
        if account not in before:
            fresh.append({"account": account, "balance": balance.amount, "sequence": balance.sequence})
        else:
            values = {"balance": balance.amount, "sequence": balance.sequence}
            await connection.execute(update(table).where(table.c.account == account).values(**values))
    if fresh:
        await connection.execute(insert(table), fresh)


async def _write_outgoing(
    connection: AsyncConnection, outgoing: Sequence[tuple[str, bytes]], numbers: dict[str, int]
) -> None:
    rows = []
    for stream, data in outgoing:
        if stream not in numbers:
            numbers[stream] = await _last_number(connection, stream)
        numbers[stream] += 1
        rows.append({"stream": stream, "number": numbers[stream], "data": data})
    if rows:
        await connection.execute(insert(ledger_outgoing), rows)


async def _write_dead(connection: AsyncConnection, dead: Sequence[Dead]) -> None:
    if dead:
        await connection.execute(insert(ledger_dead), [msgspec.structs.asdict(one) for one in dead])


async def _write_cursors(connection: AsyncConnection, cursors: Mapping[str, str], digests: Mapping[str, bytes]) -> None:
    for stream, entry_id in sorted(cursors.items()):
        await _put(connection, ledger_cursors, {"stream": stream}, entry_id=entry_id, digest=digests.get(stream))


async def _write_tails(connection: AsyncConnection, tails: Mapping[str, Tail]) -> None:
    for shard, tail in sorted(tails.items()):
        await _put(connection, ledger_tails, {"shard": shard}, epoch=tail.epoch, server=tail.server, lost=tail.lost)


async def _write_claims(connection: AsyncConnection, claims: Mapping[Claimed, int]) -> None:
    for (table_id, player_id), amount in sorted(claims.items()):
        await _put(connection, ledger_claims, {"table_id": table_id, "player_id": player_id}, amount=amount)


async def _put(connection: AsyncConnection, table: Table, key: Mapping[str, str], **values: Any) -> None:
    """The row of this key, whether it was there before or not. Nobody else writes."""
    where = [table.c[column] == value for column, value in key.items()]
    moved = await connection.execute(update(table).where(*where).values(**values))
    if moved.rowcount == 0:
        await connection.execute(insert(table).values(**key, **values))
