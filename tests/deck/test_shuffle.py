"""The shuffle is uniform, and the test that says so catches the classic mistakes."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice, permutations

import pytest

from brelan.deck.shuffle import below, secret_shuffle, shuffle, system_bytes

ALPHA = 1e-6
Shuffler = Callable[[Sequence[int]], Sequence[int]]


def statistic(shuffler: Shuffler, size: int, decks: int) -> float:
    """Chi-square of position by card, scaled so that a perfect shuffle follows chi-square with (size - 1)^2 degrees.

    Rows and columns both add up to the number of decks, so the raw sum is too large by size / (size - 1).
    """
    cells = [[0] * size for _ in range(size)]
    cards = range(size)
    for _ in range(decks):
        for row, card in zip(cells, shuffler(cards), strict=True):
            row[card] += 1
    expected = decks / size
    raw = sum((found - expected) ** 2 for row in cells for found in row) / expected
    return raw * (size - 1) / size


def chance_of_more(chi_square: float, degrees: int) -> float:
    """Wilson and Hilferty: the cube root is nearly normal."""
    spread = 2 / (9 * degrees)
    return math.erfc(((chi_square / degrees) ** (1 / 3) - 1 + spread) / math.sqrt(2 * spread)) / 2


def looks_uniform(shuffler: Shuffler, size: int, decks: int = 10_000) -> bool:
    return chance_of_more(statistic(shuffler, size, decks), (size - 1) ** 2) > ALPHA


# --- byte by byte ------------------------------------------------------------------------------------------------


def test_a_known_stream_of_bytes_gives_a_known_order() -> None:
    # 3 chooses among 4 with byte 6 (2), among 3 with byte 255 thrown away then 4 (1), among 2 with byte 1 (1)
    assert shuffle((10, 20, 30, 40), iter((6, 255, 4, 1))) == (10, 40, 20, 30)


def test_bytes_of_the_incomplete_last_round_are_thrown_away() -> None:
    assert below(52, iter((208, 255, 207))) == 51  # 4 * 52 = 208
    assert below(256, iter((255,))) == 255
    assert below(1, iter((255,))) == 0


def test_every_number_is_as_likely_as_the_other() -> None:
    for bound in range(1, 257):
        found = Counter(below(bound, iter((byte,))) for byte in range(256 - 256 % bound))
        assert set(found) == set(range(bound))
        assert len(set(found.values())) == 1


@pytest.mark.parametrize("bound", [0, -1, 257])
def test_one_byte_cannot_choose_among_so_many(bound: int) -> None:
    with pytest.raises(ValueError, match="cannot choose"):
        below(bound, iter(()))


def test_a_source_that_runs_dry_is_an_error_and_not_a_card() -> None:
    with pytest.raises(ValueError, match="run dry"):
        shuffle(range(52), iter((0,) * 50))


def test_every_order_of_four_cards_comes_from_as_many_choices() -> None:
    """All the choices there are, once each: every order comes out once."""
    orders = Counter(
        shuffle(range(4), iter((first, second, third)))
        for first in range(4)
        for second in range(3)
        for third in range(2)
    )
    assert orders == Counter(permutations(range(4)))


def test_the_systems_bytes_never_end_and_are_all_used() -> None:
    taken = list(islice(system_bytes(), 20_000))
    assert set(taken) == set(range(256))


# --- uniform -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [32, 36, 52])
def test_the_rooms_shuffle_is_uniform(size: int) -> None:
    assert looks_uniform(secret_shuffle, size)


def test_the_statistic_is_scaled_as_it_should_be() -> None:
    """With 5 cards its mean is 16; unscaled it would be 20 and a perfect shuffle would be rejected."""
    values = [statistic(secret_shuffle, 5, 300) for _ in range(150)]
    assert 14 < sum(values) / len(values) < 18


# --- what must be caught -----------------------------------------------------------------------------------------

RANDOM = random.Random(1999)


def noise() -> Iterator[int]:
    return (RANDOM.getrandbits(8) for _ in count())


def modulo_bias(cards: Sequence[int]) -> Sequence[int]:
    shuffled, source = list(cards), noise()
    for last in range(len(shuffled) - 1, 0, -1):
        chosen = next(source) % (last + 1)
        shuffled[last], shuffled[chosen] = shuffled[chosen], shuffled[last]
    return shuffled


def naive_swap(cards: Sequence[int]) -> Sequence[int]:
    """Each place with any place: n^n ways for n! orders."""
    shuffled = list(cards)
    for place in range(len(shuffled)):
        chosen = RANDOM.randrange(len(shuffled))
        shuffled[place], shuffled[chosen] = shuffled[chosen], shuffled[place]
    return shuffled


def sattolo(cards: Sequence[int]) -> Sequence[int]:
    """Off by one: a card never stays where it was."""
    shuffled = list(cards)
    for last in range(len(shuffled) - 1, 0, -1):
        chosen = RANDOM.randrange(last)
        shuffled[last], shuffled[chosen] = shuffled[chosen], shuffled[last]
    return shuffled


@pytest.mark.parametrize(
    ("mistake", "size"), [(modulo_bias, 52), (naive_swap, 36), (naive_swap, 52), (sattolo, 36), (sattolo, 52)]
)
def test_the_classic_mistakes_are_caught(mistake: Shuffler, size: int) -> None:
    assert not looks_uniform(mistake, size)


def test_the_test_lets_a_right_shuffle_of_another_source_pass() -> None:
    assert looks_uniform(lambda cards: shuffle(cards, noise()), 52)
