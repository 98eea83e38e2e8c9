"""The driver: a hand as ``brelan.deck.dealing`` deals it, made provable.

``commit`` before the seeds, ``Kept.seeded`` after them, then a ``FairHand`` gives ``deal`` its chance (``shuffle``) and
follows the events of the dealer's log. All of it is a function of ``Kept`` and those events: a dealer that takes over
keeps the one sealed beside the other, and continues with the same cards, roots and openings.
"""

from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from brelan.deck.dealing import DRAW_STREETS, STUD_STREETS
from brelan.deck.events import AnyDeckEvent, DeckShuffled, HandDrawn, HandsCompared, HandTurnedUp, Reshuffled
from brelan.deck.events import StreetDealt as Street
from brelan.deck.fair.commitment import sign
from brelan.deck.fair.kept import Kept
from brelan.deck.fair.leaves import Epoch, Opening, base_epoch, cut, reshuffled, transcript
from brelan.deck.fair.record import FORMAT, Deal, Face, Own, Public, Record, Reshuffle, encode, sealed_bytes
from brelan.events.dealing import DealRecord, OpenedLeaf
from brelan.events.table import CardsDealt

_ROUNDS = STUD_STREETS | DRAW_STREETS


class FairDealError(ValueError):
    """The hand cannot be dealt so. Names no card."""


class FairHand:
    """A committed hand with all its seeds."""

    def __init__(self, kept: Kept, base: Epoch | None = None) -> None:
        """``base``: as in ``commit``."""
        self._kept = kept
        commitment = kept.commitment
        seeds = [(seed.seat, bytes.fromhex(seed.element)) for seed in kept.seeds]
        self._transcript = transcript(commitment, seeds)
        self._cut = cut(commitment.cards, self._transcript, seeds)
        self._epochs = [base or base_epoch(kept.secret, commitment.hand_id, commitment.cards)]
        self._stub: list[tuple[int, int]] = []  # epoch and position, parallel to the state machine's stub
        self._held: dict[int, list[tuple[int, int]]] = {}  # by seat: epoch and leaf, parallel to its cards
        self._dealt: dict[int, list[tuple[int, int]]] = {}  # by seat: all it ever got
        self._deals: list[Deal] = []
        self._public: dict[tuple[int, int], None] = {}  # what everybody sees, in the order it was opened
        self._begun = False

    # --- chance for the state machine ---------------------------------------------------------------------------

    def shuffle(self, cards: Sequence[int]) -> tuple[int, ...]:
        """The ``Shuffle`` of ``dealing.shuffled`` and ``dealing.deal``. Asked again, it answers the same."""
        if not self._begun:
            return tuple(self._epochs[0].order[leaf] for leaf in self._cut)
        epoch = len(self._epochs)
        if epoch > len(self._kept.reshuffle_secrets):
            raise FairDealError(f"the commitment binds {epoch - 1} reshuffles, and this is one more")
        secret = self._kept.reshuffle_secrets[epoch - 1]
        return reshuffled(secret, self._transcript, self._kept.commitment.hand_id, epoch, cards)

    def root_of(self, order: Sequence[int]) -> bytes:
        """Of the cards that were just reshuffled, to be published before the first of them is dealt."""
        return bytes.fromhex(self._next_epoch(order).root)

    def _next_epoch(self, order: Sequence[int]) -> Epoch:
        return Epoch(self._kept.secret, self._kept.commitment.hand_id, len(self._epochs), order)

    # --- the dealer's log ---------------------------------------------------------------------------------------

    def follow(self, event: AnyDeckEvent) -> None:
        match event:
            case DeckShuffled():
                self._begun = True
                self._stub = [(0, position) for position in range(event.deck_size)]
            case Reshuffled():
                self._reshuffled(event)
            case Street():
                self._street(event.answer)
            case HandDrawn():
                self._drawn(event)
            case HandsCompared():
                for hand in event.answer.hands:
                    self._show(hand.seat)
            case HandTurnedUp():
                self._show(event.answer.hand.seat)
            case _:
                pass

    def _reshuffled(self, event: Reshuffled) -> None:
        kept_on_top = 0 if self._kept.commitment.game == "stud" else len(self._stub)
        order = event.stub[kept_on_top:]
        epoch = len(self._epochs)
        self._epochs.append(self._next_epoch(order))
        self._stub = self._stub[:kept_on_top] + [(epoch, position) for position in range(len(order))]

    def _street(self, answer: CardsDealt) -> None:
        if answer.community is not None:
            self._next(None, "common")
            return
        for _ in range(answer.burned):
            self._next(None, "burned")
        for is_up in _ROUNDS[answer.street]:
            for cards in answer.cards:
                self._next(cards.seat, "up" if is_up else "down")

    def _drawn(self, event: HandDrawn) -> None:
        seat = event.answer.seat
        kept = [place for number, place in enumerate(self._held[seat]) if number not in event.positions]
        self._held[seat] = kept
        for _ in range(event.answer.count):
            self._next(seat, "down")

    def _next(self, seat: int | None, face: Face) -> None:
        epoch, position = self._stub.pop(0)
        leaf = position if epoch else self._cut[position]
        self._deals.append(Deal(epoch, position, leaf, seat, face))
        if seat is not None:
            self._held.setdefault(seat, []).append((epoch, leaf))
            self._dealt.setdefault(seat, []).append((epoch, leaf))
        if face in {"up", "common"}:
            self._public[epoch, leaf] = None

    def _show(self, seat: int) -> None:
        self._public |= dict.fromkeys(self._held.get(seat, ()))

    def _opening(self, place: tuple[int, int]) -> Opening:
        epoch, leaf = place
        return self._epochs[epoch].opening(leaf)

    # --- handed on ----------------------------------------------------------------------------------------------

    @property
    def roots(self) -> tuple[Reshuffle, ...]:
        """To be published before the first card of their epoch."""
        return tuple(Reshuffle(each.epoch, len(each.order), each.root) for each in self._epochs[1:])

    @property
    def deals(self) -> tuple[Deal, ...]:
        return tuple(self._deals)

    def own_openings(self, seat: int) -> tuple[Opening, ...]:
        """For the private stream of a seat: every card it was dealt, thrown ones too."""
        return tuple(self._opening(place) for place in self._dealt.get(seat, ()))

    def opened(self) -> tuple[tuple[bytes, ...], tuple[OpenedLeaf, ...]]:
        """The leaves of each epoch, and the cards that somebody holds or sees: the public ones first."""
        dealt = (place for places in self._dealt.values() for place in places)
        places = {place: place in self._public for place in (*self._public, *dealt)}
        opened = tuple(
            OpenedLeaf(epoch, leaf, self._epochs[epoch].order[leaf], self._epochs[epoch].salt(leaf), is_public)
            for (epoch, leaf), is_public in places.items()
        )
        return tuple(epoch.leaves for epoch in self._epochs), opened

    def public(self) -> Public:
        return Public(
            self._kept.commitment,
            self._kept.signature,
            self._kept.dealer_key,
            "played",
            (),
            None,
            self._kept.seeds,
            self._transcript.hex(),
            self.roots,
            self.deals,
            tuple(map(self._opening, self._public)),
        )


def deal_record(public: Public, key: Ed25519PrivateKey, fair: FairHand | None = None) -> DealRecord:
    """For the history. Without ``fair`` no card was dealt."""
    leaves, opened = fair.opened() if fair is not None else ((), ())
    seal_ = bytes.fromhex(sign(key, sealed_bytes(public)))
    return DealRecord(encode(replace(public, openings=())), leaves, opened, seal_)


def void(kept: Kept, withheld: Sequence[int]) -> Public:
    """A hand that ends before any card, for seats gave no seed: S is published, so that all can see what was lost."""
    return Public(
        kept.commitment,
        kept.signature,
        kept.dealer_key,
        "void",
        tuple(sorted(withheld)),
        kept.secret.hex(),
        kept.seeds,
        None,
        (),
        (),
        (),
    )


def seal(public: Public, key: Ed25519PrivateKey, own: Own | None = None) -> Record:
    return Record(FORMAT, public, sign(key, sealed_bytes(public)), own)
