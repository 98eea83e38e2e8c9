"""Statistics on decks, not on bits: is every card as likely in every place?

A deck has each card once, so the counts of position x card have fixed sums in both directions: the usual statistic is
too large by n / (n - 1). Scaled, it follows the chi-squared law with (n - 1) squared degrees of freedom; unscaled, it
would reject a perfect shuffle.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

ALPHA = 1e-6
Shuffled = Callable[[Sequence[int]], Sequence[int]]


def p_value(statistic: float, freedom: int) -> float:
    """Of chi-squared, by Wilson and Hilferty's cube root: good to a few per cent from 30 degrees on."""
    spread = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2)) / 2


def _statistic(counts: Iterable[int], expected: float) -> float:
    return sum((count - expected) ** 2 for count in counts) / expected


class Counts:
    """What is counted of many decks of the cards 0 to ``size`` - 1."""

    def __init__(self, size: int) -> None:
        self.size, self.decks = size, 0
        self._places = [[0] * size for _ in range(size)]
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._first: Counter[tuple[int, int]] = Counter()

    def add(self, deck: Sequence[int]) -> None:
        for row, card in zip(self._places, deck, strict=True):
            row[card] += 1
        place = self.decks % (self.size - 1)  # one pair of a deck: the pairs of one deck depend on each other
        self._pairs[deck[place], deck[place + 1]] += 1
        self._first[deck[0], deck[1]] += 1
        self.decks += 1

    def raw_statistic(self) -> float:
        return _statistic((count for row in self._places for count in row), self.decks / self.size)

    def p_values(self) -> dict[str, float]:
        size, pairs = self.size, self.size * (self.size - 1)
        first = _statistic(self._places[0], self.decks / size)
        return {
            "position x card": p_value(self.raw_statistic() * (size - 1) / size, (size - 1) ** 2),
            "first card": p_value(first, size - 1),
            "first two cards": p_value(self._pair_statistic(self._first), pairs - 1),
            "adjacent pairs": p_value(self._pair_statistic(self._pairs), pairs - 1),
        }

    def _pair_statistic(self, pairs: Counter[tuple[int, int]]) -> float:
        cells = ((a, b) for a in range(self.size) for b in range(self.size) if a != b)
        return _statistic((pairs[cell] for cell in cells), self.decks / (self.size * (self.size - 1)))


def counted(size: int, decks: int, shuffled: Shuffled) -> Counts:
    counts, cards = Counts(size), range(size)
    for _ in range(decks):
        counts.add(shuffled(cards))
    return counts


# --- shuffles that are wrong ----------------------------------------------------------------------------------------


def modulo_bias(cards: Sequence[int], source: Iterator[int]) -> list[int]:
    order = list(cards)
    for place in range(len(order) - 1, 0, -1):
        other = next(source) % (place + 1)
        order[place], order[other] = order[other], order[place]
    return order


def naive_swap(cards: Sequence[int], below: Callable[[int], int]) -> list[int]:
    order = list(cards)
    for place in range(len(order)):
        other = below(len(order))
        order[place], order[other] = order[other], order[place]
    return order


def off_by_one(cards: Sequence[int], below: Callable[[int], int]) -> list[int]:
    """Sattolo's: no card stays where it was."""
    order = list(cards)
    for place in range(len(order) - 1, 0, -1):
        other = below(place)
        order[place], order[other] = order[other], order[place]
    return order
