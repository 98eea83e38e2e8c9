"""What the dealer's own log holds: ``deck:<table>``, sealed, one entry for each feed entry that moved a card.

Chance is in the first only, as the secrets that deck and reshuffles follow from, so a dealer that takes over deals the
same cards. Fields are positional: append only, with defaults.
"""

import msgspec

from brelan.deck.fair.kept import Kept
from brelan.deck.secret import Secret
from brelan.events.table import CardsDealt, CardsDrawn, DeckCommitted, HandShown, SeatSeed, ShowdownResolved

Answer = DeckCommitted | CardsDealt | CardsDrawn | ShowdownResolved | HandShown


class DeckEvent(Secret, frozen=True, array_like=True, tag=True):
    """Tagged by its class name."""


class DeckSeat(msgspec.Struct, frozen=True, array_like=True):
    seat: int
    player_id: str
    hole_key: bytes = b""  # his own; empty: the gateways'


class DeckPrepared(DeckEvent, frozen=True):
    """A hand begins: its deck is committed to, and not yet cut."""

    hand_id: str
    deck_size: int
    seats: tuple[DeckSeat, ...]
    kept: Kept


class DeckShuffled(DeckEvent, frozen=True):
    """The players' seeds have cut it. ``order``: the whole deck, the first card to be dealt first."""

    hand_id: str
    deck_size: int
    seats: tuple[DeckSeat, ...]
    order: tuple[int, ...]
    seeds: tuple[SeatSeed, ...] = ()


class Reshuffled(DeckEvent, frozen=True):
    """D11, S10. ``stub``: all of the new stub, the next card first."""

    stub: tuple[int, ...]


class StreetDealt(DeckEvent, frozen=True):
    """The cards are the next ones of the stub."""

    answer: CardsDealt


class HandDrawn(DeckEvent, frozen=True):
    """D10. ``positions`` of the cards that were thrown; the new ones are the next ones of the stub."""

    answer: CardsDrawn
    positions: tuple[int, ...]


class HandsCompared(DeckEvent, frozen=True):
    answer: ShowdownResolved


class HandTurnedUp(DeckEvent, frozen=True):
    request_id: str
    answer: HandShown


class KeyChanged(DeckEvent, frozen=True):
    """His cards are sealed to another key from here on, those that he has too."""

    seat: int
    hole_key: bytes


class HandFinished(DeckEvent, frozen=True):
    """The hand is over and its record has been handed on. Who wants to may still show."""


class DeckPutAway(DeckEvent, frozen=True):
    """The hand was called off, or the table closed: nothing of the deck is needed any more."""


AnyDeckEvent = (
    DeckPrepared
    | DeckShuffled
    | Reshuffled
    | StreetDealt
    | HandDrawn
    | HandsCompared
    | HandTurnedUp
    | KeyChanged
    | HandFinished
    | DeckPutAway
)


class DeckEntry(Secret, frozen=True, array_like=True):
    """The plain text of an entry of ``deck:<table>``."""

    events: tuple[AnyDeckEvent, ...]


encode_entry = msgspec.msgpack.Encoder().encode
decode_entry = msgspec.msgpack.Decoder(DeckEntry).decode
