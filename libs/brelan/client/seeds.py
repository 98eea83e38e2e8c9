"""A player's chain of seeds at one table: its tip brought, its next element given for every hand (docs/fairness.md).

An element is given for one hand only, and only when that hand's commitment carries the dealer's signature. A chain is
forgotten by the room when its epoch ends, and by the player when it is used up: then he brings another one.
"""

import secrets
from collections.abc import Callable, Collection

from brelan.client.model import HandModel, TableModel
from brelan.deck.fair.chains import chain_elements
from brelan.deck.fair.commitment import Commitment, is_signed
from brelan.events.commands import BringSeeds, GiveSeed

LENGTH = 1_000  # hands
REMEMBERED = 10_000  # hands
SECRET_BYTES = 32


class Seeds:
    """Ask ``due`` after every message. ``given``: of each hand, the hash of the commitment that was answered, and with
    which element: to hold a record of the hand against it. ``refused``: hands whose commitment was not right.
    """

    def __init__(
        self,
        dealer_keys: Collection[str] = (),
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
        length: int = LENGTH,
    ) -> None:
        """``dealer_keys``: those that are trusted, in hexadecimal; none: whichever the room names."""
        self.given: dict[str, tuple[str, str]] = {}
        self.refused: list[str] = []
        self._dealer_keys = dealer_keys
        self._random_bytes = random_bytes
        self._length = length
        self._elements: tuple[str, ...] = ()
        self._brought_in: int | None = None  # the epoch
        self._brought_at: str | None = None  # when, until the room has it
        self._used = 0  # the highest index given

    def due(self, model: TableModel) -> BringSeeds | GiveSeed | None:
        """What he has to say now, once."""
        mine, hand = model.mine, model.hand
        if mine is None:
            self._elements = ()
            return None
        if hand is not None and mine.seat in hand.seeds_asked:
            return self._give(model, hand, mine.seed_index + 1)
        if model.epoch != self._brought_in or not self._elements or self._used + 1 >= len(self._elements):
            self._new_chain(model.epoch)
        elif mine.seed:
            self._brought_at = None
            return None
        elif self._brought_at == _moment(model):  # it is on the way, or the room has refused it
            return None
        elif self._used:
            self._new_chain(model.epoch)
        self._brought_at = _moment(model)
        return BringSeeds(self._elements[0])

    def _new_chain(self, epoch: int) -> None:
        elements = chain_elements(self._random_bytes(SECRET_BYTES), self._length)
        self._elements, self._brought_in, self._used = tuple(each.hex() for each in elements), epoch, 0

    def _give(self, model: TableModel, hand: HandModel, index: int) -> GiveSeed | None:
        mine = model.mine
        known = mine is not None and index < len(self._elements) and self._elements[index - 1] == mine.seed
        if hand.hand_id in self.given or not known or index <= self._used:
            return None
        commitment = commitment_of(model, hand)
        committed = hand.committed
        if commitment is None or committed is None:
            return None
        trusted = not self._dealer_keys or committed.dealer_key in self._dealer_keys
        if not trusted or not is_signed(committed.dealer_key, committed.signature, commitment.encoded()):
            if hand.hand_id not in self.refused:
                self.refused.append(hand.hand_id)
            return None
        self._used = index
        if len(self.given) >= REMEMBERED:
            del self.given[next(iter(self.given))]
        self.given[hand.hand_id] = commitment.hash(), self._elements[index]
        return GiveSeed(hand.hand_id, self._elements[index])


def _moment(model: TableModel) -> str:
    """A chain that the room does not have is brought again, in a hand or between two once at most."""
    return "" if model.hand is None else model.hand.hand_id


def commitment_of(model: TableModel, hand: HandModel) -> Commitment | None:
    """As the dealer has signed it. None: there is none yet."""
    committed = hand.committed
    if committed is None:
        return None
    return Commitment(
        hand.hand_id,
        committed.seq,
        hand.hand_id.rpartition("-")[0],
        model.game,
        hand.deck_size,
        committed.root,
        committed.secret_hash,
        committed.reshuffle_hashes,
        committed.previous,
    )
