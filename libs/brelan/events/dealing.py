"""The dealer's answers to the table, and what it hands to gateways and history, sealed.

The answers are table events: a table logs them as they came (``DeckCommitted``, ``CardsDealt``, ``CardsDrawn``,
``ShowdownResolved``, ``HandShown``, ``CardsResealed``).
"""

import msgspec

from brelan.events.table import CardsDealt, CardsDrawn, CardsResealed, DeckCommitted, HandShown, ShowdownResolved


class Dealt(msgspec.Struct, frozen=True, array_like=True):
    """An entry on ``dealt``. ``cause`` is the feed entry that asked."""

    table_id: str
    request_id: str
    answer: DeckCommitted | CardsDealt | CardsDrawn | ShowdownResolved | HandShown | CardsResealed
    cause: str = ""
    trace: str = ""


class HoleCards(msgspec.Struct, frozen=True, array_like=True):
    """The plain text of a sealed entry of ``hole:<table>`` (field = seat): all of a seat's own cards so far."""

    hand_id: str
    seat: int
    player_id: str
    cards: tuple[int, ...]  # as dealt; draw: kept cards first, then the drawn ones
    up: tuple[bool, ...]  # which of them lie face up


class PlayersBox(msgspec.Struct, frozen=True, array_like=True):
    """His ``count`` cards so far, sealed to his own key (docs/hole-cards.md)."""

    count: int
    box: bytes


class PlayersBoxes(msgspec.Struct, frozen=True, array_like=True):
    """An entry of ``hole:<table>`` that only the player can open. Of before the newest deal too: the table may not have
    logged that yet, and nobody is sent a card early."""

    hand_id: str
    player_id: str
    boxes: tuple[PlayersBox, ...]


class SeatRecord(msgspec.Struct, frozen=True, array_like=True):
    seat: int
    player_id: str
    cards: tuple[int, ...]
    discards: tuple[int, ...] = ()


class OpenedLeaf(msgspec.Struct, frozen=True, array_like=True, gc=False):
    epoch: int
    leaf: int
    card: int
    salt: bytes
    is_public: bool

    def __repr__(self) -> str:
        return "<OpenedLeaf>"


class DealRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """From which everybody's record of the deal is made (docs/fairness.md): what is not opened stays hidden in it."""

    public: bytes  # JSON, but for its openings
    leaves: tuple[bytes, ...]  # of each epoch: the hashes of all its leaves, one after the other
    opened: tuple[OpenedLeaf, ...]  # every card dealt to somebody; the public ones first, in their order
    seal: bytes


class HandRecord(msgspec.Struct, frozen=True, array_like=True):
    """The plain text of an entry on ``records``: every dealt-in seat's own cards, sealed to history after the hand.

    A hand that was called off before any card has no seats.
    """

    table_id: str
    hand_id: str
    seats: tuple[SeatRecord, ...]
    deal: DealRecord | None = None
    for_audit: bytes = b""  # HandSecrets, sealed to the auditor


class SealedRecord(msgspec.Struct, frozen=True, array_like=True):
    table_id: str
    hand_id: str
    sealed: bytes
    cause: str = ""
    trace: str = ""


class HandSecrets(msgspec.Struct, frozen=True, array_like=True):
    """What the auditor recomputes a hand from when it is over (docs/fairness.md). Cards as in ``public.deals``."""

    secret: bytes
    reshuffle_secrets: tuple[bytes, ...]
    cards: tuple[int, ...] = ()
    thrown: tuple[tuple[int, ...], ...] = ()  # what went into each reshuffle

    def __repr__(self) -> str:
        return "<HandSecrets>"
