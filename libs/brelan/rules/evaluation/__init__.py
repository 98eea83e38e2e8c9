"""Hands and boards: which is better, which five cards play, what they are called.

- **D2** In 7-A: royal flush, straight flush, four of a kind, *flush, full house*, straight, three of a kind, two pair,
  one pair, high card.
- **D3** In 7-A the ace also plays directly below the lowest rank of the deck: A-7-8-9-T with 32 cards, A-6-7-8-9 with
  36, where A-7-8-9-T is no straight. Such a straight is the lowest of all.
- **S14** In stud the best five of seven, standard ranking: full house above flush, the ace also below the deuce.
- **S7** Boards of one to four up cards compare by pairs, two pair, threes and fours, then by rank; there are no
  straights or flushes.
- **S4** Suits decide nothing here.

Whatever the hand, its value is an int: more is better, equal is a tie. ``hands`` finds it, ``values`` says how it is
made up, ``names`` puts it into words.
"""

from brelan.rules.evaluation.hands import (
    best_five,
    best_hand_stud,
    board_value,
    hand_value_draw,
    hand_value_standard_five,
)
from brelan.rules.evaluation.names import HandName, name_of_hand, sentence_of
from brelan.rules.evaluation.values import Category, HandValue, category

__all__ = [
    "Category",
    "HandName",
    "HandValue",
    "best_five",
    "best_hand_stud",
    "board_value",
    "category",
    "hand_value_draw",
    "hand_value_standard_five",
    "name_of_hand",
    "sentence_of",
]
