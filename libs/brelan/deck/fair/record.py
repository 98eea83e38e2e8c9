"""The record of a hand: what everybody may know, signed by the dealer, and one player's own part (docs/fairness.md).

A record has exactly one form: compact JSON, the fields in the order below, integers without fraction, hexadecimal in
lower case. Every other way to write the same is refused, so that every byte matters.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from brelan.deck.fair.commitment import Commitment, Counter, Hex32, Hex64, Small
from brelan.deck.fair.drbg import sha256
from brelan.deck.fair.leaves import Opening
from brelan.deck.fair.merkle import Tree
from brelan.events.dealing import DealRecord, OpenedLeaf

FORMAT: Final = "BRELAN-DEAL/1"
MAXIMUM_BYTES = 1_000_000

Face = Literal["down", "up", "burned", "common"]


class RecordUnreadable(ValueError):
    """No record at all. A sentence."""


class Seed(Struct, frozen=True, forbid_unknown_fields=True):
    seat: Small
    index: Counter  # of the element in its chain; the tip is 0
    previous: Hex32
    element: Hex32


class Reshuffle(Struct, frozen=True, forbid_unknown_fields=True):
    epoch: Small
    cards: Small
    root: Hex32


class Deal(Struct, frozen=True, forbid_unknown_fields=True):
    """A card that left the deck. ``seat`` is null for a burned card and for the community card."""

    epoch: Small
    position: Small
    leaf: Small
    seat: Small | None
    face: Face


class Public(Struct, frozen=True, forbid_unknown_fields=True):
    commitment: Commitment
    signature: Hex64
    dealer_key: Hex32
    outcome: Literal["played", "void"]
    withheld: Annotated[tuple[Small, ...], Meta(max_length=16)]  # seats that gave no seed: the hand is void
    secret: Hex32 | None  # S of a void hand
    seeds: Annotated[tuple[Seed, ...], Meta(max_length=16)]
    transcript: Hex32 | None
    reshuffles: Annotated[tuple[Reshuffle, ...], Meta(max_length=8)]
    deals: Annotated[tuple[Deal, ...], Meta(max_length=128)]
    openings: Annotated[tuple[Opening, ...], Meta(max_length=128)]


class Own(Struct, frozen=True, forbid_unknown_fields=True):
    """A player's part. ``answered`` (a commitment's hash) and ``element``: his client's seed; null without a chain."""

    seat: Small
    answered: Hex32 | None
    element: Hex32 | None
    openings: Annotated[tuple[Opening, ...], Meta(max_length=16)]


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal["BRELAN-DEAL/1"]
    public: Public
    seal: Hex64  # the dealer's signature of the public part as it stands here
    own: Own | None


encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Record).decode


def sealed_bytes(public: Public) -> bytes:
    """What the dealer signs at the end of a hand."""
    return b"BRD1-P" + sha256(encode(public))


_decode_public = msgspec.json.Decoder(Public).decode


def assembled(deal: DealRecord, seat: int | None = None) -> bytes:
    """The file, from what the dealer hands on when a hand is over: for the player of ``seat``, or for everybody."""
    trees = [Tree([leaves[at : at + 32] for at in range(0, len(leaves), 32)]) for leaves in deal.leaves]
    openings = {(each.epoch, each.leaf): _opening(each, trees) for each in deal.opened}
    shown = tuple(openings[each.epoch, each.leaf] for each in deal.opened if each.is_public)
    public, own = replace(_decode_public(deal.public), openings=shown), None
    if seat is not None:
        element = next((seed.element for seed in public.seeds if seed.seat == seat), None)
        answered = None if element is None else public.commitment.hash()
        dealt = tuple(openings[each.epoch, each.leaf] for each in public.deals if each.seat == seat)
        own = Own(seat, answered, element, dealt)
    return encode(Record(FORMAT, public, deal.seal.hex(), own))


def _opening(opened: OpenedLeaf, trees: list[Tree]) -> Opening:
    path = tuple(partner.hex() for partner in trees[opened.epoch].path(opened.leaf))
    return Opening(opened.epoch, opened.leaf, opened.card, opened.salt.hex(), path)


def read(data: bytes) -> Record:
    """Raises RecordUnreadable. Whether the bytes are in canonical form is for the verifier to say."""
    if len(data) > MAXIMUM_BYTES:
        raise RecordUnreadable("This is no record of a hand: it is too long.")
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordUnreadable(f"This is no record of a hand in the format {FORMAT}: {error}.") from None
