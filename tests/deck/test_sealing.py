"""Boxes open for their recipient and their context, and tell nothing by their size."""

import itertools
from collections.abc import Callable

import pytest

from brelan.deck.keys import x25519_public
from brelan.deck.sealing import (
    BLOCK_BYTES,
    CannotOpen,
    DeckSeal,
    HoleCardOpener,
    Opener,
    RecordOpener,
    Sealer,
    hole_context,
    open_sealed,
    padded,
    record_context,
    seal,
    unpadded,
)
from brelan.events.dealing import HandRecord, HoleCards, SealedRecord, SeatRecord
from brelan.events.envelope import encode

ANA, ZOE = bytes(range(32)), bytes(range(1, 33))
CONTEXT = hole_context("s00-a", 3)


def counting() -> Callable[[int], bytes]:
    numbers = itertools.count(1)
    return lambda size: next(numbers).to_bytes(size, "big")


# --- to a recipient ----------------------------------------------------------------------------------------------


def test_what_was_sealed_opens() -> None:
    sealed = seal(x25519_public(ANA), b"AsKs", CONTEXT)
    assert b"AsKs" not in sealed
    assert open_sealed(ANA, sealed, CONTEXT) == b"AsKs"


def test_a_box_of_the_first_format_opens_for_ever() -> None:
    sealed = bytes.fromhex(
        "01fa2a2695a909ad4ffd3384e132ad02a56c78f45547ee40038dc79002b90d29ed90e08eee762ae7150000000000000000"
        "00000002ff3900fccf8a5763f2dbfd4ec4ceb61e0500dae97606e9b894024e2dd8d39a9825507240a5f4e0bc3080d05aa18c3db3"
        "9590038f491a9545ac32f046c931cfc87e5214d62f6855a05e2c74e839ac35ec9d21ec42d24383ef3667ef2861344541384e6a05"
        "da0055e351d31dc2b7d40e907522f12c4577e3de76854453ac8e062a100cda6cb543583a0510e6a03cfc3852"
    )
    assert open_sealed(ANA, sealed, CONTEXT) == b"AsKs"


@pytest.mark.parametrize("context", [hole_context("s00-a", 4), hole_context("s00-b", 3), b"", CONTEXT + b"3"])
def test_a_box_that_was_moved_does_not_open(context: bytes) -> None:
    with pytest.raises(CannotOpen):
        open_sealed(ANA, seal(x25519_public(ANA), b"AsKs", CONTEXT), context)


def test_a_box_opens_for_its_recipient_alone() -> None:
    with pytest.raises(CannotOpen, match="another key"):
        open_sealed(ZOE, seal(x25519_public(ANA), b"AsKs", CONTEXT), CONTEXT)


def test_a_box_with_any_byte_changed_does_not_open() -> None:
    sealed = seal(x25519_public(ANA), b"AsKs", CONTEXT)
    for place in range(len(sealed)):
        for bit in (1, 128):
            changed = sealed[:place] + bytes([sealed[place] ^ bit]) + sealed[place + 1 :]
            with pytest.raises(CannotOpen):
                open_sealed(ANA, changed, CONTEXT)


@pytest.mark.parametrize("box", [b"", b"\x01", bytes(53), bytes(200), b"\x02" + bytes(200), b"\x01" + bytes(200)])
def test_what_is_no_box_does_not_open(box: bytes) -> None:
    with pytest.raises(CannotOpen):
        open_sealed(ANA, box, CONTEXT)


def test_a_box_cut_short_or_made_longer_does_not_open() -> None:
    sealed = seal(x25519_public(ANA), b"AsKs", CONTEXT)
    for other in (*(sealed[:size] for size in range(len(sealed))), sealed + b"\0"):
        with pytest.raises(CannotOpen):
            open_sealed(ANA, other, CONTEXT)


def test_a_null_public_key_is_no_way_in() -> None:
    """All-zero shared secrets are refused, so nobody can make a box without a secret of his own."""
    sealed = seal(x25519_public(ANA), b"AsKs", CONTEXT)
    with pytest.raises(CannotOpen):
        open_sealed(ANA, sealed[:9] + bytes(32) + sealed[41:], CONTEXT)


def test_the_same_text_never_looks_the_same() -> None:
    sealer = Sealer(x25519_public(ANA))
    assert len({sealer.seal(b"AsKs", CONTEXT) for _ in range(300)}) == 300


def test_a_sealer_changes_its_ephemeral_key_and_everything_still_opens() -> None:
    sealer, opener = Sealer(x25519_public(ANA)), Opener((ANA,))
    boxes = [sealer.seal(b"%d" % number, CONTEXT) for number in range(200)]
    assert [opener.open(box, CONTEXT) for box in boxes] == [b"%d" % number for number in range(200)]
    assert len({box[9:41] for box in boxes}) == 4


def test_with_bytes_from_outside_the_same_boxes_are_made_again() -> None:
    """The simulator's promise: same seed, same bytes."""
    first, second = (Sealer(x25519_public(ANA), counting()) for _ in range(2))
    assert [first.seal(b"AsKs", CONTEXT) for _ in range(70)] == [second.seal(b"AsKs", CONTEXT) for _ in range(70)]


def test_a_new_key_takes_over_while_old_boxes_still_open() -> None:
    opener = Opener((ZOE, ANA))
    assert opener.open(seal(x25519_public(ANA), b"old", CONTEXT), CONTEXT) == b"old"
    assert opener.open(seal(x25519_public(ZOE), b"new", CONTEXT), CONTEXT) == b"new"


# --- sizes -------------------------------------------------------------------------------------------------------


def test_every_hand_of_a_player_has_the_same_size() -> None:
    sealer = Sealer(x25519_public(ANA))
    sizes = {
        len(sealer.seal(encode(HoleCards("s00-abcdef-1-1234", 3, "p_7f3kabcd", cards, (False,) * len(cards))), CONTEXT))
        for cards in ((), (0, 1), (51, 50, 49), tuple(range(5)), tuple(range(45, 52)))
    }
    assert len(sizes) == 1


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES - 2, BLOCK_BYTES - 1, BLOCK_BYTES, 1000])
@pytest.mark.parametrize("byte", [b"\0", b"\x80", b"a"])
def test_padding_comes_off_again(size: int, byte: bytes) -> None:
    text = byte * size
    assert len(padded(text)) % BLOCK_BYTES == 0
    assert unpadded(padded(text)) == text


@pytest.mark.parametrize("text", [b"", bytes(BLOCK_BYTES), b"a\x80\x00b"])
def test_what_was_not_padded_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="padding"):
        unpadded(text)


# --- messages ----------------------------------------------------------------------------------------------------


def test_a_gateway_opens_hole_cards_of_its_own_only() -> None:
    hole = HoleCards("s00-a-1-1", 3, "p3", (1, 2), (False, False))
    sealed = seal(x25519_public(ANA), encode(hole), hole_context("s00-a", 3))
    assert HoleCardOpener((ANA,))("s00-a", 3, sealed) == hole
    assert HoleCardOpener((ANA,))("s00-a", 4, sealed) is None
    assert HoleCardOpener((ZOE,))("s00-a", 3, sealed) is None
    assert HoleCardOpener((ANA,))("s00-a", 3, seal(x25519_public(ANA), b"?", hole_context("s00-a", 3))) is None


def test_the_history_opens_records() -> None:
    record = HandRecord("s00-a", "s00-a-1-1", (SeatRecord(3, "p3", (1, 2), (5,)),))
    sealed = seal(x25519_public(ANA), encode(record), record_context("s00-a", "s00-a-1-1"))
    assert RecordOpener((ANA,))(SealedRecord("s00-a", "s00-a-1-1", sealed)) == record
    with pytest.raises(CannotOpen):
        RecordOpener((ANA,))(SealedRecord("s00-a", "s00-a-1-2", sealed))
    nonsense = seal(x25519_public(ANA), b"?", record_context("s00-a", "s00-a-1-1"))
    with pytest.raises(CannotOpen, match="no record"):
        RecordOpener((ANA,))(SealedRecord("s00-a", "s00-a-1-1", nonsense))


# --- the dealer's log --------------------------------------------------------------------------------------------


def test_an_entry_of_the_dealers_log_opens_in_its_place_only() -> None:
    deck_seal = DeckSeal(ANA)
    sealed = deck_seal.seal("s00-a", "7-0", b"the deck")
    assert deck_seal.open("s00-a", "7-0", sealed) == b"the deck"
    for table_id, entry_id in (("s00-b", "7-0"), ("s00-a", "8-0")):
        with pytest.raises(CannotOpen, match="does not open"):
            deck_seal.open(table_id, entry_id, sealed)
    for place in range(len(sealed)):
        with pytest.raises(CannotOpen):
            deck_seal.open("s00-a", "7-0", sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :])


def test_another_dealers_key_opens_nothing_and_a_ring_of_keys_opens_both() -> None:
    sealed = DeckSeal(ANA).seal("s00-a", "1-0", b"the deck")
    with pytest.raises(CannotOpen, match="a key that is not here"):
        DeckSeal(ZOE).open("s00-a", "1-0", sealed)
    ring = DeckSeal(ZOE, ANA)
    assert ring.open("s00-a", "1-0", sealed) == b"the deck"
    assert DeckSeal(ZOE).open("s00-a", "2-0", ring.seal("s00-a", "2-0", b"new")) == b"new"


@pytest.mark.parametrize("keys", [(), (b"short",), (ANA, bytes(31))])
def test_a_dealers_key_has_32_bytes(keys: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        DeckSeal(*keys)
