"""The showdown as the dealer sees it: cards speak (H4).

- **H3** A hand that wins a pot is shown, and so is the hand of whoever must show first (H1).
- **H4** The best five cards of every hand are found here; no declaration is needed.
- **S10** A community card is everybody's seventh.
"""

from collections.abc import Sequence

from brelan.events.table import Pot, ShownHand
from brelan.rules.evaluation import (
    HandValue,
    best_five,
    best_hand_stud,
    board_value,
    hand_value_draw,
    name_of_hand,
)

_FIVE = 5


def value_of(cards: Sequence[int], deck_size: int) -> HandValue:
    """The community card among ``cards``. A hand that ended early may have fewer than five: its pairs count then."""
    if len(cards) < _FIVE:
        return board_value(cards)
    return best_hand_stud(cards) if deck_size == 52 else hand_value_draw(cards, deck_size)


def winners_of(pot: Pot, values: dict[int, HandValue]) -> tuple[int, ...]:
    """The seats with the best hand among those that contest the pot, in its order."""
    best = max(values[seat] for seat in pot.seats)
    return tuple(seat for seat in pot.seats if values[seat] == best)


def shown_hand(seat: int, own: tuple[int, ...], community: int | None, deck_size: int) -> ShownHand:
    """``cards`` are his own as dealt; the five that play may hold the community card."""
    cards = own if community is None else (*own, community)
    name = name_of_hand(value_of(cards, deck_size))
    best = best_five(cards, deck_size) if len(cards) >= _FIVE else cards
    return ShownHand(seat, own, best, name.category, name.ranks)
