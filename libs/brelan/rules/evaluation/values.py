"""The value of a hand: its level, then up to five ranks in the order in which they decide.

``level << 20 | r1 << 16 | r2 << 12 | r3 << 8 | r4 << 4 | r5``, a rank being its pips (2 to 14, the ace) and 0 where
there is none: a straight has one rank, its top card; kings and tens with a seven have three.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import Literal, NewType

from brelan.rules.cards import RANKS

Category = Literal[
    "high_card",
    "one_pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
]

HandValue = NewType("HandValue", int)


class Level(IntEnum):
    """A category's place. The flush has two, below the full house and above it (D2), so a value names its category
    whatever the game."""

    HIGH_CARD = 0
    ONE_PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FLUSH_IN_DRAW = 7
    FOUR_OF_A_KIND = 8
    STRAIGHT_FLUSH = 9
    ROYAL_FLUSH = 10


_CATEGORIES: tuple[Category, ...] = (
    "high_card",
    "one_pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "flush",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
)
_LEVEL_SHIFT = 20
_RANK_SHIFTS = (16, 12, 8, 4, 0)
_LOWEST_PIPS = 2


def value_of(level: Level, ranks: Iterable[int]) -> HandValue:
    """The value of at most five ranks (0 to 12), the deciding one first."""
    value = level << _LEVEL_SHIFT
    for shift, rank in zip(_RANK_SHIFTS, ranks, strict=False):
        value |= rank + _LOWEST_PIPS << shift
    return HandValue(value)


def category(value: HandValue) -> Category:
    return _CATEGORIES[value >> _LEVEL_SHIFT]


def ranks_of(value: HandValue) -> tuple[str, ...]:
    """The ranks in the value as letters, the deciding one first: kings and tens with a seven are ("K", "T", "7")."""
    pips = (value >> shift & 15 for shift in _RANK_SHIFTS)
    return tuple(RANKS[number - _LOWEST_PIPS] for number in pips if number)
