"""What a hand is called: a category and the ranks it is of, for other languages; an English sentence for histories."""

from typing import assert_never

import msgspec

from brelan.rules.evaluation.values import Category, HandValue, category, ranks_of

_RANKS_NAMED: dict[Category, int] = {"royal_flush": 0, "full_house": 2, "two_pair": 2}  # one for the others

_WORDS = {
    "2": ("deuce", "deuces"),
    "3": ("three", "threes"),
    "4": ("four", "fours"),
    "5": ("five", "fives"),
    "6": ("six", "sixes"),
    "7": ("seven", "sevens"),
    "8": ("eight", "eights"),
    "9": ("nine", "nines"),
    "T": ("ten", "tens"),
    "J": ("jack", "jacks"),
    "Q": ("queen", "queens"),
    "K": ("king", "kings"),
    "A": ("ace", "aces"),
}


class HandName(msgspec.Struct, frozen=True):
    """``ranks``: what the category is of, as letters of ``cards.RANKS``. Kings and tens are ("K", "T"), kings full of
    tens too; a straight, a flush and a high card have their top card; a royal flush none."""

    category: Category
    ranks: tuple[str, ...] = ()


def name_of_hand(value: HandValue) -> HandName:
    """The name of a hand by its value, of any game."""
    code = category(value)
    return HandName(code, ranks_of(value)[: _RANKS_NAMED.get(code, 1)])


def sentence_of(name: HandName) -> str:
    """In English: "Two pair, kings and tens"."""
    one = [_WORDS[rank][0] for rank in name.ranks]
    many = [_WORDS[rank][1] for rank in name.ranks]
    match name.category:
        case "royal_flush":
            return "Royal flush"
        case "straight_flush":
            return f"Straight flush, {one[0]} high"
        case "four_of_a_kind":
            return f"Four of a kind, {many[0]}"
        case "full_house":
            return f"Full house, {many[0]} over {many[1]}"
        case "flush":
            return f"Flush, {one[0]} high"
        case "straight":
            return f"Straight, {one[0]} high"
        case "three_of_a_kind":
            return f"Three of a kind, {many[0]}"
        case "two_pair":
            return f"Two pair, {many[0]} and {many[1]}"
        case "one_pair":
            return f"Pair of {many[0]}"
        case "high_card":
            return f"{one[0].capitalize()} high"
        case _:
            assert_never(name.category)
