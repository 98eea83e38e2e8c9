"""Hole cards sealed to a player's own key: whose key counts from when (docs/hole-cards.md)."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brelan.deck.keys import ed25519_public, x25519_public
from brelan.events import commands, table
from brelan.rules.hole_keys import change_message
from tests.rules.kit import STUD, Table, stud

LOW_ORDER = ("00" * 32, "01" + "00" * 31, "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")


class Pair:
    def __init__(self, number: int) -> None:
        secret = bytes([number]) * 32
        self.hole, self.sign = x25519_public(secret), ed25519_public(secret)
        self._sign = Ed25519PrivateKey.from_private_bytes(secret).sign

    def brought(self, signature: bytes = b"") -> commands.BringKey:
        return commands.BringKey(self.hole.hex(), self.sign.hex(), signature.hex())

    def signs(self, successor: "Pair", hand_id: str, seat: int) -> bytes:
        return self._sign(change_message(hand_id, seat, successor.hole, successor.sign))


PHONE, LAPTOP, THIEF = Pair(1), Pair(2), Pair(3)
NONE = commands.BringKey("")


def waiting() -> Table:
    """For somebody to play with."""
    return Table(STUD).do(commands.SitDown(100, 1), 1)


def in_hand_with(pair: Pair) -> Table:
    played = Table(STUD)
    for seat in (1, 2, 3):
        played.seat(seat, 100)
    played.keyed(1, pair.hole, pair.sign)
    return played.deal()


def hand_id(played: Table) -> str:
    return played.last(table.HandStarted).hand_id


def sealed_to(played: Table, seat: int = 1) -> bytes:
    return played.player(seat).hole_key


def test_a_key_that_was_brought_between_hands_is_in_the_next_one() -> None:
    played = waiting().do(PHONE.brought(), 1)
    assert played.last(table.KeyBrought) == table.KeyBrought(1, PHONE.hole, PHONE.sign)
    assert played.owner(1).hole_key == PHONE.hole
    played = in_hand_with(PHONE)
    assert [one.hole_key for one in played.last(table.HandStarted).players] == [PHONE.hole, b"", b""]
    assert (sealed_to(played), sealed_to(played, 2)) == (PHONE.hole, b"")


def test_without_a_signature_a_key_counts_from_the_next_hand_on() -> None:
    for before in (in_hand_with(PHONE), stud({1: 100, 2: 100, 3: 100})):
        was = sealed_to(before)
        played = before.do(LAPTOP.brought(), 1)
        assert played.last(table.KeyBrought) == table.KeyBrought(1, LAPTOP.hole, LAPTOP.sign)
        assert sealed_to(played) == was
        assert played.owner(1).hole_key == LAPTOP.hole


def test_with_the_signature_of_the_key_before_it_counts_at_once() -> None:
    played = in_hand_with(PHONE)
    played.do(LAPTOP.brought(PHONE.signs(LAPTOP, hand_id(played), 1)), 1)
    assert played.last(table.KeyBrought).hand_id == hand_id(played)
    assert sealed_to(played) == LAPTOP.hole
    played.do(PHONE.brought(LAPTOP.signs(PHONE, hand_id(played), 1)), 1)
    assert sealed_to(played) == PHONE.hole


def test_a_key_that_waits_for_the_next_hand_signs_nothing_in_this_one() -> None:
    """Else whoever speaks for the player brings a key of his own first, and signs with that."""
    played = in_hand_with(PHONE).do(THIEF.brought(), 1)
    assert played.refusal(LAPTOP.brought(THIEF.signs(LAPTOP, hand_id(played), 1)), 1) == "wrong_signature"
    assert sealed_to(played) == PHONE.hole


def test_a_signature_is_of_one_hand_seat_and_key() -> None:
    played = in_hand_with(PHONE)
    here = hand_id(played)
    signatures = (
        PHONE.signs(LAPTOP, "another-hand", 1),
        PHONE.signs(LAPTOP, here, 2),
        PHONE.signs(THIEF, here, 1),
        THIEF.signs(LAPTOP, here, 1),
        bytes(64),
    )
    for signature in signatures:
        assert played.refusal(LAPTOP.brought(signature), 1) == "wrong_signature"
    assert sealed_to(played) == PHONE.hole
    assert played.owner(1).hole_key == PHONE.hole


def test_nobody_signs_for_cards_that_lie_sealed_to_the_gateways() -> None:
    played = stud({1: 100, 2: 100, 3: 100})
    signature = PHONE.signs(LAPTOP, hand_id(played), 1)
    assert played.refusal(LAPTOP.brought(signature), 1) == "wrong_signature"


def test_outside_a_hand_there_is_nothing_to_sign() -> None:
    played = waiting().do(PHONE.brought(), 1)
    assert played.refusal(LAPTOP.brought(PHONE.signs(LAPTOP, "s00-rules-1-1", 1)), 1) == "wrong_signature"


def test_the_same_key_again_is_no_news() -> None:
    played = in_hand_with(PHONE)
    before = len(played.events)
    assert played.do(PHONE.brought(), 1).events[before:] == []


def test_none_is_the_gateways_again_from_the_next_hand_on() -> None:
    played = in_hand_with(PHONE).do(NONE, 1)
    assert sealed_to(played) == PHONE.hole
    assert (played.owner(1).hole_key, played.owner(1).sign_key) == (b"", b"")


def test_a_seat_that_is_left_leaves_its_key() -> None:
    played = waiting().do(PHONE.brought(), 1).do(commands.Leave(), 1)
    played.seat(1, 100)
    assert played.owner(1).hole_key == b""


@pytest.mark.parametrize(
    "command",
    [
        commands.BringKey("ab", "ab" * 32),
        commands.BringKey("zz" * 32, "ab" * 32),
        commands.BringKey("ab" * 32, ""),
        commands.BringKey("", "ab" * 32),
        commands.BringKey("ab " * 32, "ab" * 32),
        *(commands.BringKey(point, "ab" * 32) for point in LOW_ORDER),
    ],
)
def test_what_is_no_key_is_refused(command: commands.BringKey) -> None:
    played = waiting()
    assert played.refusal(command, 1) == "bad_key"
    assert played.owner(1).hole_key == b""


def test_a_signature_that_is_none_is_refused() -> None:
    command = commands.BringKey(LAPTOP.hole.hex(), LAPTOP.sign.hex(), "ab" * 63)
    assert in_hand_with(PHONE).refusal(command, 1) == "wrong_signature"


def test_what_was_sealed_anew_is_logged_while_that_key_counts() -> None:
    played = in_hand_with(PHONE)
    here = hand_id(played)
    before = len(played.all(table.CardsResealed))
    for late in (table.CardsResealed("another-hand", 1, PHONE.hole), table.CardsResealed(here, 1, LAPTOP.hole)):
        played.do(late)
    assert len(played.all(table.CardsResealed)) == before
    played.do(table.CardsResealed(here, 1, PHONE.hole))
    assert len(played.all(table.CardsResealed)) == before + 1
