"""The dealer's answers to the table, and what it hands to gateways and history, sealed.

The answers are table events: a table logs them as they came (``CardsDealt``, ``CardsDrawn``, ``ShowdownResolved``,
``HandShown``).
"""

import msgspec

from brelan.events.table import CardsDealt, CardsDrawn, HandShown, ShowdownResolved


class Dealt(msgspec.Struct, frozen=True, array_like=True):
    """An entry on ``dealt``. ``cause`` is the feed entry that asked."""

    table_id: str
    request_id: str
    answer: CardsDealt | CardsDrawn | ShowdownResolved | HandShown
    cause: str = ""
    trace: str = ""


class HoleCards(msgspec.Struct, frozen=True, array_like=True):
    """The plain text of a sealed entry of ``hole:<table>`` (field = seat): all of a seat's own cards so far."""

    hand_id: str
    seat: int
    player_id: str
    cards: tuple[int, ...]  # as dealt; draw: kept cards first, then the drawn ones
    up: tuple[bool, ...]  # which of them lie face up


class SeatRecord(msgspec.Struct, frozen=True, array_like=True):
    seat: int
    player_id: str
    cards: tuple[int, ...]
    discards: tuple[int, ...] = ()


class HandRecord(msgspec.Struct, frozen=True, array_like=True):
    """The plain text of an entry on ``records``: every dealt-in seat's own cards, sealed to history after the hand."""

    table_id: str
    hand_id: str
    seats: tuple[SeatRecord, ...]


class SealedRecord(msgspec.Struct, frozen=True, array_like=True):
    table_id: str
    hand_id: str
    sealed: bytes
    cause: str = ""
    trace: str = ""
