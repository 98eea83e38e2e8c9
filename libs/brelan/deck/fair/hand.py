"""The driver: a hand as ``brelan.deck.dealing`` deals it, made provable.

``commit`` before the seeds, ``Kept.seeded`` after them, then a ``FairHand`` gives ``deal`` its chance (``shuffle``) and
follows the events of the dealer's log. All of it is a function of ``Kept`` and those events: a dealer that takes over
keeps the one sealed beside the other, and continues with the same cards, roots and openings.
"""

from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from brelan.deck.dealing import DRAW_STREETS, STUD_STREETS, DeckState
from brelan.deck.events import AnyDeckEvent, DeckShuffled, HandDrawn, HandsCompared, HandTurnedUp, Reshuffled, Secret
from brelan.deck.events import StreetDealt as Street
from brelan.deck.fair.commitment import Commitment, reshuffle_hash, secret_hash, sign
from brelan.deck.fair.leaves import Epoch, Opening, base_epoch, cut, reshuffled, transcript
from brelan.deck.fair.record import FORMAT, Deal, Face, Own, Public, Record, Reshuffle, Seed, sealed_bytes
from brelan.events.table import CardsDealt

RESHUFFLES = 2  # the most that a hand can need (D11)
_ROUNDS = STUD_STREETS | DRAW_STREETS


class FairDealError(ValueError):
    """The hand cannot be dealt so. Names no card."""


class Kept(Secret, frozen=True, array_like=True):
    """What the dealer needs to go on after a crash. Secret: whoever has it knows the deck."""

    secret: bytes
    reshuffle_secrets: tuple[bytes, ...]
    commitment: Commitment
    signature: str
    dealer_key: str
    seeds: tuple[Seed, ...] = ()

    def seeded(self, seeds: Sequence[Seed]) -> "Kept":
        return replace(self, seeds=tuple(sorted(seeds, key=lambda seed: seed.seat)))


def commit(
    secret: bytes,
    reshuffle_secrets: Sequence[bytes],
    key: Ed25519PrivateKey,
    *,
    hand_id: str,
    seq: int,
    table_id: str,
    game: str,
    cards: int,
    previous: str,
) -> Kept:
    """``secret`` and ``reshuffle_secrets``: 32 bytes each, from the operating system, never used before."""
    commitment = Commitment(
        hand_id,
        seq,
        table_id,
        game,
        cards,
        base_epoch(secret, hand_id, cards).root,
        secret_hash(secret),
        tuple(reshuffle_hash(each) for each in reshuffle_secrets),
        previous,
    )
    signature = sign(key, commitment.encoded())
    dealer_key = key.public_key().public_bytes_raw().hex()
    return Kept(secret, tuple(reshuffle_secrets), commitment, signature, dealer_key)


class FairHand:
    """A committed hand with all its seeds."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        commitment = kept.commitment
        seeds = [(seed.seat, bytes.fromhex(seed.element)) for seed in kept.seeds]
        self._transcript = transcript(commitment, seeds)
        self._cut = cut(commitment.cards, self._transcript, seeds)
        self._epochs = [base_epoch(kept.secret, commitment.hand_id, commitment.cards)]
        self._stub: list[tuple[int, int]] = []  # epoch and position, parallel to the state machine's stub
        self._held: dict[int, list[tuple[int, int]]] = {}  # by seat: epoch and leaf, parallel to its cards
        self._dealt: dict[int, list[tuple[int, int]]] = {}  # by seat: all it ever got
        self._deals: list[Deal] = []
        self._public: dict[tuple[int, int], Opening] = {}
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

    # --- the dealer's log ---------------------------------------------------------------------------------------

    def follow(self, before: DeckState | None, event: AnyDeckEvent) -> None:
        """``before``: the deck as it was when the event happened."""
        match event:
            case DeckShuffled():
                self._begun = True
                self._stub = [(0, position) for position in range(event.deck_size)]
            case Reshuffled() if before is not None:
                self._reshuffled(before, event)
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

    def _reshuffled(self, before: DeckState, event: Reshuffled) -> None:
        epoch = len(self._epochs)
        kept_on_top = 0 if self._kept.commitment.game == "stud" else len(before.stub)
        order = event.stub[kept_on_top:]
        self._epochs.append(Epoch(self._kept.secret, before.hand_id, epoch, order))
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
            self._open((epoch, leaf))

    def _show(self, seat: int) -> None:
        for place in self._held.get(seat, ()):
            self._open(place)

    def _open(self, place: tuple[int, int]) -> None:
        self._public[place] = self._opening(place)

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
            tuple(self._public.values()),
        )


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
