"""Cards as integers 0..51, in the order of rule S4: by rank, then clubs < diamonds < hearts < spades.

``card = 4 * rank + suit`` with rank 0 (deuce) to 12 (ace) and suit 0 (clubs) to 3 (spades), so the lowest door card of
a stud hand is simply ``min``. Cards are text ("2c", "Th", "As") only at the edges: views, histories, PHH files.
"""

from collections.abc import Iterable

RANKS = "23456789TJQKA"
SUITS = "cdhs"
ACE = 12

TEXTS: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARDS = {text: card for card, text in enumerate(TEXTS)}


def rank_of(card: int) -> int:
    return card >> 2


def suit_of(card: int) -> int:
    return card & 3


def card_from_text(text: str) -> int:
    """``"Th"`` to its integer. Raises ValueError with a sentence when the text is no card."""
    try:
        return _CARDS[text]
    except KeyError:
        raise ValueError(f"{text!r} is no card: write a rank of {RANKS} and a suit of {SUITS}, as in 'Th'") from None


def cards_from_text(text: str) -> tuple[int, ...]:
    """``"AsTh9c"`` (no separators, as in PHH) to integers."""
    if len(text) % 2:
        raise ValueError(f"{text!r} is no list of cards: each card takes two characters, as in 'AsTh9c'")
    return tuple(card_from_text(text[i : i + 2]) for i in range(0, len(text), 2))


def text_of(cards: Iterable[int]) -> str:
    return "".join(TEXTS[card] for card in cards)


def deck(size: int) -> tuple[int, ...]:
    """The deck of 52, 36 (six to ace) or 32 (seven to ace) cards in published order, lowest first (D1)."""
    if size not in (32, 36, 52):
        raise ValueError(f"there is no deck of {size} cards: a deck has 32, 36 or 52")
    return tuple(range(52 - size, 52))
