"""A table's deck as the dealer has it in memory, and while one entry of the table's log is followed."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from brelan.deck.dealing import DeckState, evolve
from brelan.deck.events import AnyDeckEvent, DeckPrepared, DeckPutAway, DeckShuffled, KeyChanged
from brelan.deck.fair.drbg import sha256
from brelan.deck.fair.hand import FairHand
from brelan.deck.fair.kept import Kept
from brelan.deck.fair.leaves import Epoch
from brelan.deck.fair.record import Seed
from brelan.eventlog.processor import Outputs
from brelan.events import table
from brelan.events.envelope import TableCommitted


class Deck(msgspec.Struct, frozen=True):
    """A table's deck, and how long its log is. ``events``: those of the hand in play, since the deck was cut."""

    version: int = 0
    prepared: DeckPrepared | None = None
    state: DeckState | None = None
    events: tuple[AnyDeckEvent, ...] = ()
    base: Epoch | None = None  # of the prepared hand, when it was this dealer that has prepared it

    def after(self, event: AnyDeckEvent) -> "Deck":
        match event:
            case DeckPrepared():
                return Deck(self.version, event)
            case DeckPutAway():
                return Deck(self.version)
            case KeyChanged() if self.state is None and self.prepared is not None:
                return replace(self, prepared=_with_key(self.prepared, event))
            case _:
                return replace(self, state=evolve(self.state, event), events=(*self.events, event))

    @property
    def hand_id(self) -> str:
        return self.prepared.hand_id if self.prepared is not None else ""

    def kept(self) -> Kept | None:
        """With the seeds that have cut it."""
        if self.prepared is None or not self.events:
            return None if self.prepared is None else self.prepared.kept
        shuffled_ = self.events[0]
        seeds = shuffled_.seeds if isinstance(shuffled_, DeckShuffled) else ()
        return self.prepared.kept.seeded(map(seed_of, seeds))

    def fair(self) -> FairHand | None:
        """The hand so far, to be proven. None: there is none."""
        kept = self.kept()
        if kept is None:
            return None
        hand = FairHand(kept, self.base)
        for event in self.events:
            hand.follow(event)
        return hand


def _with_key(prepared: DeckPrepared, event: KeyChanged) -> DeckPrepared:
    seats = (replace(one, hole_key=event.hole_key) if one.seat == event.seat else one for one in prepared.seats)
    return replace(prepared, seats=tuple(seats))


class HandAtWork:
    """A table's deck while one entry of its log is followed."""

    def __init__(self, message: TableCommitted, cause: str, outputs: Outputs, deck: Deck) -> None:
        self.table_id, self.trace = message.table_id, message.trace
        self.cause, self.outputs, self.deck = cause, outputs, deck
        self.happened: list[AnyDeckEvent] = []
        self._fair: tuple[Deck, FairHand] | None = None

    def happens(self, event: AnyDeckEvent) -> None:
        self.happened.append(event)
        self.deck = self.deck.after(event)

    def has_base(self, base: Epoch) -> None:
        """Of the hand that was just prepared: it is not worked out again."""
        self.deck = replace(self.deck, base=base)

    def root_of(self, order: Sequence[int]) -> bytes:
        return self.fair().root_of(order)

    def fair(self) -> FairHand:
        if self._fair is None or self._fair[0] is not self.deck:
            fair = self.deck.fair()
            assert fair is not None
            self._fair = self.deck, fair
        return self._fair[1]


def seed_of(given: table.SeatSeed) -> Seed:
    """As a record has it."""
    return Seed(given.seat, given.index, sha256(given.element).hex(), given.element.hex())


def committed(kept: Kept, request_id: str) -> table.DeckCommitted:
    commitment = kept.commitment
    return table.DeckCommitted(
        request_id,
        commitment.hand_id,
        commitment.seq,
        bytes.fromhex(commitment.root),
        bytes.fromhex(commitment.secret_hash),
        tuple(map(bytes.fromhex, commitment.reshuffle_hashes)),
        bytes.fromhex(commitment.previous),
        bytes.fromhex(commitment.hash()),
        bytes.fromhex(kept.signature),
        bytes.fromhex(kept.dealer_key),
    )
