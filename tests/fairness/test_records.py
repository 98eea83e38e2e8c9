"""Records of hands: both verifiers agree on all of them, and no byte can be changed."""

import random
from collections import Counter

import pytest

from brelan.deck.fair.record import encode
from tests.fairness.hands import corpus, hand
from tests.fairness.verifiers import in_javascript, in_python

HANDS = 1_000


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_both_verifiers_accept_the_same_thousand_hands() -> None:
    records = list(corpus(HANDS))
    assert [in_python(record) for record in records] == [[]] * HANDS
    assert in_javascript(records) == [[]] * HANDS


def test_the_corpus_has_everything() -> None:
    """Both games, all deck sizes, one and two reshuffles, the community card, void hands, hands shown afterwards."""
    found: Counter[str] = Counter()
    for number in range(HANDS):
        public = hand(number)[0].public
        found[f"{public.commitment.cards} cards"] += 1
        found[f"{public.commitment.game}, {len(public.reshuffles)} reshuffles"] += 1
        found[public.outcome] += 1
        found["community"] += any(deal.face == "common" for deal in public.deals)
    wanted = (
        "32 cards",
        "36 cards",
        "52 cards",
        "void",
        "community",
        "stud, 1 reshuffles",
        "draw, 1 reshuffles",
        "draw, 2 reshuffles",
    )
    assert all(found[each] >= 5 for each in wanted), found


def changed(record: bytes, place: int, chance: random.Random) -> bytes:
    return record[:place] + bytes((record[place] ^ chance.randrange(1, 256),)) + record[place + 1 :]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_changed_byte_anywhere_makes_both_fail() -> None:
    """Every byte of a void hand and of the shortest played one with an own part, some of many others."""
    chance = random.Random(4)
    hands = [hand(number)[0] for number in range(200)]
    void = next(each for each in hands if each.public.outcome == "void")
    short = min((each for each in hands if each.own and each.own.openings), key=lambda each: len(encode(each)))
    tampered = [changed(encode(each), place, chance) for each in (void, short) for place in range(len(encode(each)))]
    for each in hands:
        record = encode(each)
        tampered += [changed(record, place, chance) for place in chance.sample(range(len(record)), 5)]
    failed = [in_python(record) for record in tampered]
    assert all(failed)
    assert in_javascript(tampered) == failed, "for the same reasons"


@pytest.mark.parametrize(
    "again",
    [
        lambda record: record + b"\n",
        lambda record: record.replace(b",", b", ", 1),
        lambda record: record.replace(b'"seq":1', b'"seq":1.0'),
        lambda record: record.replace(b'"seq":1', b'"seq":1e0'),
        lambda record: record.replace(b'"seq":1', b'"seq":2,"seq":1'),
        lambda record: record.replace(b'"hand_id":"t', b'"hand_id":"\\u0074'),
        lambda record: b"\xef\xbb\xbf" + record,
        lambda record: record.replace(b'"format"', b'"more":1,"format"'),
    ],
)
def test_the_same_written_in_another_way_is_refused(again: "object") -> None:
    assert callable(again)
    record = encode(hand(1)[0])
    other = again(record)
    assert other != record
    assert in_python(other)
    assert in_javascript([other])[0]
