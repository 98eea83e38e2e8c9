"""Chance: known answers, decks counted, wrong shuffles caught, the attack of 1999."""

import random
from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from brelan.deck.fair.drbg import Drbg, hkdf, sha256
from brelan.deck.fair.leaves import base_epoch
from brelan.deck.shuffle import shuffle
from brelan.rules.cards import deck
from tests.fairness.counting import ALPHA, Counts, counted, modulo_bias, naive_swap, off_by_one
from tests.fairness.hands import kept_for, play
from tests.fairness.sources import SOURCES, seeded

SIZES = (32, 36, 52)
DECKS = 20_000

# NIST CAVP, DRBG test vectors (drbgvectors_no_reseed, HMAC_DRBG.rsp), SHA-256, no additional input, COUNT 0 to 2
# without a personalization string and COUNT 0 with one. The answer is that of the second of two calls for 128 bytes.
CAVP = [
    (
        "ca851911349384bffe89de1cbdc46e6831e44d34a4fb935ee285dd14b71a7488",
        "659ba96c601dc69fc902940805ec0ca8",
        "",
        (
            "e528e9abf2dece54d47c7e75e5fe302149f817ea9fb4bee6f4199697d04d5b89"
            "d54fbb978a15b5c443c9ec21036d2460b6f73ebad0dc2aba6e624abf07745bc1"
            "07694bb7547bb0995f70de25d6b29e2d3011bb19d27676c07162c8b5ccde0668"
            "961df86803482cb37ed6d5c0bb8d50cf1f50d476aa0458bdaba806f48be9dcb8"
        ),
    ),
    (
        "79737479ba4e7642a221fcfd1b820b134e9e3540a35bb48ffae29c20f5418ea3",
        "3593259c092bef4129bc2c6c9e19f343",
        "",
        (
            "cf5ad5984f9e43917aa9087380dac46e410ddc8a7731859c84e9d0f31bd43655"
            "b924159413e2293b17610f211e09f770f172b8fb693a35b85d3b9e5e63b1dc25"
            "2ac0e115002e9bedfb4b5b6fd43f33b8e0eafb2d072e1a6fee1f159df9b51e6c"
            "8da737e60d5032dd30544ec51558c6f080bdbdab1de8a939e961e06b5f1aca37"
        ),
    ),
    (
        "b340907445b97a8b589264de4a17c0bea11bb53ad72f9f33297f05d2879d898d",
        "65cb27735d83c0708f72684ea58f7ee5",
        "",
        (
            "75183aaaf3574bc68003352ad655d0e9ce9dd17552723b47fab0e84ef903694a"
            "32987eeddbdc48efd24195dbdac8a46ba2d972f5808f23a869e71343140361f5"
            "8b243e62722088fe10a98e43372d252b144e00c89c215a76a121734bdc485486"
            "f65c0b16b8963524a3a70e6f38f169c12f6cbdd169dd48fe4421a235847a23ff"
        ),
    ),
    (
        "5cacc68165a2e2ee20812f35ec73a79dbf30fd475476ac0c44fc6174cdac2b55",
        "6f885496c1e63af620becd9e71ecb824",
        "e72dd8590d4ed5295515c35ed6199e9d211b8f069b3058caa6670b96ef1208d0",
        (
            "f1012cf543f94533df27fedfbf58e5b79a3dc517a9c402bdbfc9a0c0f721f9d5"
            "3faf4aafdc4b8f7a1b580fcaa52338d4bd95f58966a243cdcd3f446ed4bc546d"
            "9f607b190dd69954450d16cd0e2d6437067d8b44d19a6af7a7cfa8794e5fbd72"
            "8e8fb2f2e8db5dd4ff1aa275f35886098e80ff844886060da8b1e7137846b23b"
        ),
    ),
]


@pytest.mark.parametrize(("entropy", "nonce", "personalization", "answer"), CAVP)
def test_hmac_drbg_gives_nist_s_answers(entropy: str, nonce: str, personalization: str, answer: str) -> None:
    drbg = Drbg(bytes.fromhex(entropy), bytes.fromhex(nonce), bytes.fromhex(personalization))
    drbg.generate(128)
    assert drbg.generate(128).hex() == answer


def test_hkdf_gives_the_rfc_s_answer() -> None:
    """RFC 5869, A.1: the first 32 bytes of the 42."""
    salt, info = bytes(range(13)), bytes(range(0xF0, 0xFA))
    expected = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
    assert hkdf(b"\x0b" * 22, salt, info).hex() == expected


# --- decks counted ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("source", SOURCES)
def test_every_card_is_as_likely_in_every_place(source: str, size: int) -> None:
    values = counted(size, DECKS, SOURCES[source](seeded(size))).p_values()
    assert min(values.values()) > ALPHA, values


def _stream(chance: random.Random) -> Iterator[int]:
    while True:
        yield from chance.randbytes(4096)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_wrong_shuffles_are_caught_and_a_right_one_is_not(size: int) -> None:
    chance = random.Random(size)
    wrong = {
        "modulo bias": partial(modulo_bias, source=_stream(chance)),
        "naive swap": partial(naive_swap, below=chance.randrange),
        "off by one": partial(off_by_one, below=chance.randrange),
    }
    for name, shuffled in wrong.items():
        found = counted(size, DECKS, shuffled).p_values()["position x card"]
        assert found < ALPHA, f"{name} passes with p = {found}"
    right = counted(size, DECKS, lambda cards: chance.sample(cards, len(cards))).p_values()
    assert min(right.values()) > ALPHA, right
    also_right = counted(size, DECKS, partial(shuffle, source=_stream(chance))).p_values()
    assert min(also_right.values()) > ALPHA, also_right


@pytest.mark.slow
def test_the_scaled_statistic_follows_its_law_and_the_raw_one_does_not() -> None:
    """Many small experiments with a right shuffle: p-values are spread evenly over 0 to 1."""
    chance, size, runs = random.Random(99), 32, 200
    values, raw = [], 0.0
    for _ in range(runs):
        counts: Counts = counted(size, 400, lambda cards: chance.sample(cards, len(cards)))
        values.append(counts.p_values()["position x card"])
        raw += counts.raw_statistic() / runs
    assert abs(sum(values) / runs - 0.5) < 5 / (12 * runs) ** 0.5
    assert all(abs(sum(value < level for value in values) / runs - level) < 0.13 for level in (0.1, 0.5, 0.9))
    freedom = (size - 1) ** 2
    assert raw - freedom > 5 * (2 * freedom / runs) ** 0.5


# --- 1999 -------------------------------------------------------------------------------------------------------------


def toy_deck(milliseconds: int) -> tuple[int, ...]:
    """As it was done then: a linear congruential generator of 32 bits that begins with the time of day."""
    state, order = milliseconds, list(deck(52))
    for place in range(51, 0, -1):
        state = (state * 134775813 + 1) % 2**32
        other = state * (place + 1) >> 32
        order[place], order[other] = order[other], order[place]
    return tuple(order)


def guessed(known: Sequence[int], started: int, guesses: Sequence[object]) -> list[tuple[int, ...]]:
    """All decks within a second of the start that begin with the known cards, under every guess at how it is made."""
    found = []
    for guess in guesses:
        assert callable(guess)
        decks = (guess(started + late) for late in range(-1000, 1001))
        found += [each for each in decks if each[: len(known)] == tuple(known)]
    return found


def test_the_attack_of_1999_finds_a_toy_s_deck_and_not_ours() -> None:
    started = 45_296_123  # milliseconds since midnight, known to the attacker to a second

    def ours_if_it_were_made_from_the_time(milliseconds: int) -> tuple[int, ...]:
        return base_epoch(sha256(milliseconds.to_bytes(8, "big")), "t1-1", 52).order

    def library(milliseconds: int) -> tuple[int, ...]:
        return tuple(random.Random(milliseconds).sample(deck(52), 52))

    guesses = (toy_deck, ours_if_it_were_made_from_the_time, library)
    toy = toy_deck(started + 417)
    assert guessed(toy[:5], started, guesses) == [toy], "five cards give the whole deck away"

    played = play(random.Random(1999), kept_for(random.Random(2000), "stud", 52), (0, 1, 2))
    assert guessed(played.cards[:5], started, guesses) == []
