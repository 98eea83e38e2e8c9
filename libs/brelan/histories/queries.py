"""Hands from SQL, for the gateway: a player's list, and a hand as he may see it."""

import msgspec
from sqlalchemy import select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from brelan.deck.fair.record import assembled
from brelan.events.config import Game
from brelan.events.dealing import SeatRecord
from brelan.histories.deals import read_deal
from brelan.histories.hand import HandHistory, decode_history
from brelan.histories.projection import HandView, project
from brelan.sql.engine import create_engine, reading
from brelan.sql.schema import history_cards, history_deals, history_entries, history_hands, history_players

MOST_AT_ONCE = 200


class HandRow(msgspec.Struct, frozen=True):
    """A line of a player's list. ``result``: what he won or lost, in minor units."""

    hand_id: str
    number: int
    table_id: str
    table_name: str
    game: Game
    lower_limit: int
    upper_limit: int
    currency_unit: int
    started_ms: int
    ended_ms: int
    pot: int
    voided: bool
    seat: int
    starting_stack: int
    result: int


class HandPage(msgspec.Struct, frozen=True):
    """``next``: the ``before`` of the next page; None: there is none."""

    hands: tuple[HandRow, ...]
    next: str | None


class KeptDeal(msgspec.Struct, frozen=True):
    """``record``: as everybody may have it; ``for_audit``: sealed to the auditor."""

    table_id: str
    hand_id: str
    record: bytes
    for_audit: bytes


class Histories:
    """Every method may raise DatabaseUnavailable."""

    def __init__(self, url: str | AsyncEngine) -> None:
        self._engine = create_engine(url) if isinstance(url, str) else url

    async def hands_of(self, player_id: str, before: str | None = None, limit: int = 50) -> HandPage:
        """Hands that he was dealt in, the newest first. ``before``: a hand's id, only older ones."""
        limit = max(1, min(limit, MOST_AT_ONCE))
        hands, seats = history_hands, history_players
        query = (
            select(*(hands.c[name] for name in _OF_THE_HAND), seats.c.seat, seats.c.starting_stack, seats.c.result)
            .select_from(seats.join(hands, hands.c.hand_id == seats.c.hand_id))
            .where(seats.c.player_id == player_id)
            .order_by(seats.c.ended_ms.desc(), seats.c.hand_id.desc())
            .limit(limit + 1)
        )
        if before is not None:
            ended = select(hands.c.ended_ms).where(hands.c.hand_id == before).scalar_subquery()
            query = query.where(tuple_(seats.c.ended_ms, seats.c.hand_id) < tuple_(ended, before))
        async with reading(self._engine) as connection:
            rows = (await connection.execute(query)).mappings().all()
        found = tuple(HandRow(**row) for row in rows[:limit])
        return HandPage(found, found[-1].hand_id if len(rows) > limit else None)

    async def hand_for(self, viewer_player_id: str, hand_id: str, *, disclose: bool = False) -> HandView | None:
        """The hand as this player may see it; None: there is none, or he was not in it.

        ``disclose``: for the letter he has asked for (H5), never for a page.
        """
        async with reading(self._engine) as connection:
            history = await _history(connection, hand_id)
            if history is None or all(player.player_id != viewer_player_id for player in history.players):
                return None
            return project(history, await _records(connection, hand_id), viewer_player_id, disclose)

    async def public_hand(self, hand_id: str) -> HandView | None:
        """As everybody saw it: for whoever was not in it, whatever his role."""
        async with reading(self._engine) as connection:
            history = await _history(connection, hand_id)
        return None if history is None else project(history, (), None)

    async def deal_for(self, viewer_player_id: str, hand_id: str) -> bytes | None:
        """The record of the deal (docs/fairness.md) for this player, or as everybody may have it; None: there is none.

        A hand that was called off after its first card has none.
        """
        deals, seats = history_deals.c, history_players.c
        async with reading(self._engine) as connection:
            deal = await connection.scalar(select(deals.deal).where(deals.hand_id == hand_id))
            mine = (seats.hand_id == hand_id) & (seats.player_id == viewer_player_id)
            seat = await connection.scalar(select(seats.seat).where(mine))
        return None if deal is None else assembled(read_deal(deal), seat)

    async def deals_after(self, hand_id: str, limit: int) -> list[KeptDeal]:
        """For the auditor, in the order of their hands' ids."""
        deals = history_deals.c
        query = (
            select(deals.table_id, deals.hand_id, deals.deal, deals.for_audit)
            .where(deals.hand_id > hand_id)
            .order_by(deals.hand_id)
            .limit(limit)
        )
        async with reading(self._engine) as connection:
            rows = (await connection.execute(query)).all()
        return [KeptDeal(row.table_id, row.hand_id, assembled(read_deal(row.deal)), row.for_audit) for row in rows]

    async def hands_without_deal(self) -> list[str]:
        """Of those that were played to their end."""
        hands, deals = history_hands.c, history_deals.c
        query = (
            select(hands.hand_id)
            .outerjoin(history_deals, deals.hand_id == hands.hand_id)
            .where(deals.hand_id.is_(None), ~hands.voided)
        )
        async with reading(self._engine) as connection:
            return list((await connection.execute(query)).scalars())

    async def entries_of(self, hand_id: str) -> list[bytes]:
        """The hand's log entries (``envelope.decode_committed``), to play it again.

        They hold no card that was not public, but which cards were thrown by their places: show them through
        ``brelan.views`` only.
        """
        table = history_entries
        query = select(table.c.data).where(table.c.hand_id == hand_id).order_by(table.c.version)
        async with reading(self._engine) as connection:
            return list((await connection.execute(query)).scalars())

    async def close(self) -> None:
        await self._engine.dispose()


_OF_THE_HAND = (
    "hand_id",
    "number",
    "table_id",
    "table_name",
    "game",
    "lower_limit",
    "upper_limit",
    "currency_unit",
    "started_ms",
    "ended_ms",
    "pot",
    "voided",
)


async def _history(connection: AsyncConnection, hand_id: str) -> HandHistory | None:
    history = await connection.scalar(select(history_hands.c.history).where(history_hands.c.hand_id == hand_id))
    return None if history is None else decode_history(history)


async def _records(connection: AsyncConnection, hand_id: str) -> list[SeatRecord]:
    table = history_cards
    rows = await connection.execute(select(table).where(table.c.hand_id == hand_id))
    return [SeatRecord(row.seat, row.player_id, tuple(row.cards), tuple(row.discards)) for row in rows]
