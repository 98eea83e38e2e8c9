"""The secret side's arithmetic: base, salts, leaves, cut, reshuffle; and an opening, which anybody can check."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

from msgspec import Meta, Struct

from brelan.deck.fair.commitment import Commitment, Hex32, Small, text
from brelan.deck.fair.drbg import Drbg, hkdf, mac, sha256
from brelan.deck.fair.merkle import Tree, root_of
from brelan.rules.cards import deck


class Opening(Struct, frozen=True, forbid_unknown_fields=True):
    epoch: Small
    leaf: Small
    card: Small
    salt: Hex32
    path: Annotated[tuple[Hex32, ...], Meta(max_length=6)]


class Epoch:
    """A shuffled set of cards under one root. ``order``: the card of each leaf. Hashes when it is asked for them."""

    def __init__(self, secret: bytes, hand_id: str, epoch: int, order: Sequence[int]) -> None:
        self.epoch, self.order = epoch, tuple(order)
        self._secret, self._hand_id = secret, hand_id

    @cached_property
    def _salts(self) -> list[bytes]:
        key = hkdf(self._secret, self._hand_id.encode("ascii"), b"salt")
        return [mac(key, b"salt", bytes((self.epoch, leaf))) for leaf in range(len(self.order))]

    @cached_property
    def _tree(self) -> Tree:
        salted = enumerate(zip(self.order, self._salts, strict=True))
        return Tree([leaf_hash(self._hand_id, self.epoch, leaf, card, salt) for leaf, (card, salt) in salted])

    @property
    def root(self) -> str:
        return self._tree.root.hex()

    @property
    def leaves(self) -> bytes:
        return self._tree.leaves

    def salt(self, leaf: int) -> bytes:
        return self._salts[leaf]

    def opening(self, leaf: int) -> Opening:
        path = tuple(partner.hex() for partner in self._tree.path(leaf))
        return Opening(self.epoch, leaf, self.order[leaf], self._salts[leaf].hex(), path)


def leaf_hash(hand_id: str, epoch: int, leaf: int, card: int, salt: bytes) -> bytes:
    return sha256(b"\x00BRD1", text(hand_id), bytes((epoch, leaf, card)), salt)


def opens_to(opening: Opening, hand_id: str, size: int, root: str) -> bool:
    hashed = leaf_hash(hand_id, opening.epoch, opening.leaf, opening.card, bytes.fromhex(opening.salt))
    found = root_of(hashed, opening.leaf, size, [bytes.fromhex(partner) for partner in opening.path])
    return found is not None and found.hex() == root


def base_epoch(secret: bytes, hand_id: str, cards: int) -> Epoch:
    order = Drbg(hkdf(secret, hand_id.encode("ascii"), b"base")).shuffled(deck(cards))
    return Epoch(secret, hand_id, 0, order)


def transcript(commitment: Commitment, seeds: Sequence[tuple[int, bytes]]) -> bytes:
    """``seeds``: seat and element, by seat."""
    return sha256(b"BRD1-T", commitment.encoded(), *(bytes((seat,)) + element for seat, element in seeds))


def cut(cards: int, transcript_: bytes, seeds: Sequence[tuple[int, bytes]]) -> tuple[int, ...]:
    """The leaf of each place of the deck, the next to be dealt first."""
    elements = b"".join(element for _, element in seeds)
    return Drbg(hkdf(elements, transcript_, b"cut")).shuffled(range(cards))


def reshuffled(secret: bytes, transcript_: bytes, hand_id: str, epoch: int, cards: Sequence[int]) -> tuple[int, ...]:
    """``secret``: of this epoch."""
    key = hkdf(secret + transcript_, hand_id.encode("ascii"), b"reshuffle" + bytes((epoch,)))
    return Drbg(key).shuffled(sorted(cards))
