"""Finished hands in SQL.

``history_writers`` has the number of each shard's next page; it moves on in the transaction of the page itself, so a
writer that was overtaken finds another number and has written nothing.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Select, and_, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from brelan.events.dealing import HandRecord
from brelan.histories.archive import (
    ArchiveUnavailable,
    DeadEntry,
    Lost,
    Opened,
    Page,
    Refused,
    lost_entry,
    new_hands,
)
from brelan.histories.deals import written_deal
from brelan.histories.hand import HandHistory, decode_history, encode_history
from brelan.histories.table import StoredEntry, StoredHand, TableMark, decode_mark, encode_mark
from brelan.sql.engine import DatabaseUnavailable, create_engine, reading, writing
from brelan.sql.schema import (
    history_cards,
    history_cursors,
    history_dead,
    history_deals,
    history_entries,
    history_hands,
    history_players,
    history_tables,
    history_writers,
)


class SqlArchive:
    def __init__(self, url: str | AsyncEngine) -> None:
        self._engine = create_engine(url) if isinstance(url, str) else url

    async def open(self, shard: str) -> Opened:
        with _trouble():
            async with writing(self._engine) as connection:
                page = await _next_page(connection, shard)
                rows = list(await connection.execute(select(history_cursors)))
                digests = {row.stream: row.digest for row in rows if row.digest is not None}
                return Opened(page, {row.stream: row.entry_id for row in rows}, digests)

    async def mark(self, table_id: str) -> TableMark | None:
        query = select(history_tables.c.state).where(history_tables.c.table_id == table_id)
        with _trouble():
            async with reading(self._engine) as connection:
                state = await connection.scalar(query)
        return None if state is None else decode_mark(state)

    async def history(self, hand_id: str) -> HandHistory | None:
        query = select(history_hands.c.history).where(history_hands.c.hand_id == hand_id)
        with _trouble():
            async with reading(self._engine) as connection:
                history = await connection.scalar(query)
        return None if history is None else decode_history(history)

    async def kept_from(self, table_id: str, version: int) -> list[tuple[str, StoredEntry]]:
        entries = history_entries.c
        query = _entries_of(table_id).where(entries.version >= version).order_by(entries.version)
        with _trouble():
            async with reading(self._engine) as connection:
                rows = await connection.execute(query)
                return [(row.hand_id, StoredEntry(row.version, row.data)) for row in rows]

    async def kept_until(self, table_id: str, version: int) -> tuple[str, StoredEntry] | None:
        entries = history_entries.c
        query = _entries_of(table_id).where(entries.version < version).order_by(entries.version.desc()).limit(1)
        with _trouble():
            async with reading(self._engine) as connection:
                row = (await connection.execute(query)).first()
        return None if row is None else (row.hand_id, StoredEntry(row.version, row.data))

    async def write(self, page: Page) -> bool:
        with _trouble():
            async with writing(self._engine) as connection:
                if not await _turn_page(connection, page.shard, page.page):
                    return False
                for lost in page.lost:
                    await _take_out(connection, lost)
                await _refuse_known(connection, new_hands(page))
                for hand in page.hands:
                    await _write_hand(connection, hand)
                for record in page.records:
                    await _write_record(connection, record)
                for mark in page.marks:
                    await _write_mark(connection, mark)
                await _write_dead(connection, page.dead)
                await _write_cursors(connection, page.cursors, page.digests)
        return True

    async def close(self) -> None:
        await self._engine.dispose()


@contextlib.contextmanager
def _trouble() -> Iterator[None]:
    try:
        yield
    except (DatabaseUnavailable, IntegrityError) as error:  # two that open a shard the first time: one of them again
        raise ArchiveUnavailable(str(error)) from error


async def _next_page(connection: AsyncConnection, shard: str) -> int:
    table = history_writers
    moved = await connection.execute(update(table).where(table.c.shard == shard).values(page=table.c.page + 1))
    if moved.rowcount == 0:
        await connection.execute(insert(table).values(shard=shard, page=1))
    page = await connection.scalar(select(table.c.page).where(table.c.shard == shard))
    assert page is not None
    return int(page)


async def _turn_page(connection: AsyncConnection, shard: str, page: int) -> bool:
    table = history_writers
    turned = await connection.execute(
        update(table).where(table.c.shard == shard, table.c.page == page).values(page=page + 1)
    )
    return turned.rowcount == 1


def _entries_of(table_id: str) -> Select[tuple[str, int, bytes]]:
    entries, hands = history_entries.c, history_hands.c
    return (
        select(entries.hand_id, entries.version, entries.data)
        .join(history_hands, hands.hand_id == entries.hand_id)
        .where(hands.table_id == table_id)
    )


async def _take_out(connection: AsyncConnection, lost: Lost) -> None:
    hands, entries = history_hands.c, history_entries.c
    of_table = select(hands.hand_id).where(hands.table_id == lost.table_id).scalar_subquery()
    gone = or_(entries.hand_id.in_(lost.hand_ids), and_(entries.version >= lost.version, entries.hand_id.in_(of_table)))
    rows = await connection.execute(select(entries.version, entries.data).where(gone).order_by(entries.version))
    await _write_dead(connection, [lost_entry(lost.table_id, StoredEntry(row.version, row.data)) for row in rows])
    await connection.execute(delete(history_entries).where(gone))
    for table in (history_players, history_hands):
        await connection.execute(delete(table).where(table.c.hand_id.in_(lost.hand_ids)))


async def _refuse_known(connection: AsyncConnection, hand_ids: Sequence[str]) -> None:
    table = history_hands
    known = await connection.execute(select(table.c.hand_id).where(table.c.hand_id.in_(hand_ids)))
    if found := list(known.scalars()):
        raise Refused(found)


async def _write_hand(connection: AsyncConnection, hand: StoredHand) -> None:
    history = hand.history
    if hand.new:
        await connection.execute(insert(history_hands).values(**_hand_row(history)))
        await connection.execute(insert(history_players), _player_rows(history))
    else:  # only what was shown has changed
        where = history_hands.c.hand_id == history.hand_id
        await connection.execute(update(history_hands).where(where).values(history=encode_history(history)))
    rows = [{"hand_id": history.hand_id, "version": entry.version, "data": entry.data} for entry in hand.entries]
    await connection.execute(insert(history_entries), rows)


def _hand_row(history: HandHistory) -> dict[str, Any]:
    return {
        "hand_id": history.hand_id,
        "table_id": history.table_id,
        "table_name": history.table_name,
        "game": history.game,
        "number": history.number,
        "lower_limit": history.lower_limit,
        "upper_limit": history.upper_limit,
        "currency_unit": history.currency_unit,
        "started_ms": history.started_ms,
        "ended_ms": history.ended_ms,
        "button": history.button,
        "pot": history.pot,
        "rake": history.rake,
        "voided": bool(history.voided),
        "history": encode_history(history),
    }


def _player_rows(history: HandHistory) -> list[dict[str, Any]]:
    return [
        {
            "hand_id": history.hand_id,
            "seat": player.seat,
            "player_id": player.player_id,
            "name": player.name,
            "ended_ms": history.ended_ms,
            "starting_stack": player.starting_stack,
            "finishing_stack": player.finishing_stack,
            "result": player.result,
        }
        for player in history.players
    ]


async def _write_record(connection: AsyncConnection, record: HandRecord) -> None:
    """The dealer may send one again: the last one stands, and it is the same."""
    await connection.execute(delete(history_cards).where(history_cards.c.hand_id == record.hand_id))
    rows = [
        {
            "hand_id": record.hand_id,
            "seat": seat.seat,
            "player_id": seat.player_id,
            "cards": bytes(seat.cards),
            "discards": bytes(seat.discards),
        }
        for seat in record.seats
    ]
    if rows:
        await connection.execute(insert(history_cards), rows)
    if record.deal is not None:
        await connection.execute(delete(history_deals).where(history_deals.c.hand_id == record.hand_id))
        row = {"hand_id": record.hand_id, "table_id": record.table_id, "for_audit": record.for_audit}
        await connection.execute(insert(history_deals).values(**row, deal=written_deal(record.deal)))


async def _write_mark(connection: AsyncConnection, mark: TableMark) -> None:
    table = history_tables
    values = {"epoch": mark.epoch, "version": mark.version, "state": encode_mark(mark)}
    moved = await connection.execute(update(table).where(table.c.table_id == mark.table_id).values(**values))
    if moved.rowcount == 0:
        await connection.execute(insert(table).values(table_id=mark.table_id, **values))


async def _write_dead(connection: AsyncConnection, dead: Sequence[DeadEntry]) -> None:
    """One that was read again is the same."""
    table = history_dead
    by_key = {(one.stream, one.entry_id): one for one in dead}
    for stream, entry_id in by_key:
        await connection.execute(delete(table).where(table.c.stream == stream, table.c.entry_id == entry_id))
    if by_key:
        await connection.execute(insert(table), [msgspec.structs.asdict(one) for one in by_key.values()])


async def _write_cursors(connection: AsyncConnection, cursors: Mapping[str, str], digests: Mapping[str, bytes]) -> None:
    table = history_cursors
    for stream, entry_id in sorted(cursors.items()):
        values = {"entry_id": entry_id, "digest": digests.get(stream)}
        moved = await connection.execute(update(table).where(table.c.stream == stream).values(**values))
        if moved.rowcount == 0:
            await connection.execute(insert(table).values(stream=stream, **values))
