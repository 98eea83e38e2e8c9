"""5 Card Draw 7-A.

- D1: 32 cards, with five dealt in 36. D9: five cards each, face down, from the button's left.
- D4: the button moves clockwise after every hand. D5: the player on its left posts the small blind, half of ``L`` to
  the nearest whole unit. D6: the next one the big blind, ``L``. D7: heads-up the button posts the small blind.
- D8: before the draw action starts left of the big blind, after it left of the button. D12: ``L``, then ``U``.
- D10, D11: the draw, once, from the button's left; the stub is used up first, then what was thrown before.
- D13: a new player posts the big blind or waits for it. D14: so does a player who missed it, and posts a small blind
  that he missed dead. Nobody is dealt in between the button and the big blind but those who were in the last hand.
- D15: who has the button and the blinds.
"""

from brelan.events.config import TableConfig
from brelan.events.table import CardsDealt, Posted
from brelan.rules.game import Deal, Lineup, Street
from brelan.rules.state import Hand, Seat, TableState, index_of, present, seat_at

FULL_TABLE = 5  # D1: with so many dealt in the sixes come in


class Draw:
    streets = (
        Street("deal", "lower", down=5, draws_after=True),
        Street("draw", "upper"),
    )
    unlimited_heads_up = False
    has_blinds = True

    def deck_size(self, dealt_in: int) -> int:
        return 36 if dealt_in == FULL_TABLE else 32

    def lineup(self, state: TableState, config: TableConfig) -> Lineup | None:
        ready = present(state)
        if len(ready) < 2:
            return None
        veterans = _veterans(state, ready)
        last_big = state.last_big_blind if state.last_big_blind in veterans else None
        if len(veterans) < 2:
            return _with_blinds(config, ready, _positions(state, ready, ready, last_big), ())
        positions = _positions(state, ready, veterans, last_big)
        dealt_in = [seat for seat in ready if _is_dealt_in(state, seat, veterans, positions)]
        entering = [seat for seat in dealt_in if seat != positions.big]
        posts = tuple(post for seat in entering for post in _entry_posts(config, seat_at(state, seat)))
        return _with_blinds(config, dealt_in, positions, posts)

    def opener(self, hand: Hand) -> int:
        """D8; heads-up that is the button before the draw and the other player after it (D7)."""
        if hand.street == 0 and hand.big_blind is not None:
            return (index_of(hand, hand.big_blind) + 1) % len(hand.players)
        return 0

    def deal(self, hand: Hand, street: int) -> Deal:  # noqa: ARG002 - the other cards are drawn
        return Deal(self.streets[street].down, 0)

    def dealt(self, hand: Hand, config: TableConfig, event: CardsDealt) -> None:
        """Nothing lies open."""


def small_blind_of(config: TableConfig) -> int:
    """D5: an exact half rounds up; below two whole units it is the exact half of ``L``, in the smallest chip."""
    if config.small_blind is not None:
        return config.small_blind
    unit = config.currency_unit if config.lower_limit >= 2 * config.currency_unit else config.smallest_chip
    return (config.lower_limit + unit) // (2 * unit) * unit


def needs_reshuffle(stub: int, thrown: int) -> bool:
    """D11, by numbers of cards: the stub does not have what he needs."""
    return stub < thrown


def stub_of(hand: Hand) -> int:
    return hand.deck_size - hand.dealt


# --- D15: who has the button and the blinds ----------------------------------------------------------------------


class _Positions:
    def __init__(self, button: int, small: int, big: int) -> None:
        self.button, self.small, self.big = button, small, big


def _veterans(state: TableState, ready: list[int]) -> list[int]:
    """Of those who can play, the ones who were dealt in the last hand, and have not left and come back since (D13)."""
    dealt_in = {(player.seat, player.player_id) for player in state.last_players}
    return [seat for seat in ready if (seat, seat_at(state, seat).player_id) in dealt_in and not _owes(state, seat)]


def _owes(state: TableState, number: int) -> bool:
    seat = seat_at(state, number)
    return seat.owes_big_blind or seat.owes_small_blind


def _positions(state: TableState, ready: list[int], veterans: list[int], last_big: int | None) -> _Positions:
    """The button: the next veteran clockwise; the small blind: the next one after him; then whoever is next.

    The button goes on until that gives the big blind to another player than the last one, who never posts it twice in
    a row while three or more play.
    """
    if len(ready) == 2:
        return _heads_up(state, ready, last_big)
    found = None
    for button in _clockwise(veterans, state.last_button or 0):
        small = _clockwise(veterans, button)[0]
        big = _clockwise(ready, small)[0]
        found = _Positions(button, small, big)
        if big not in (button, last_big):
            break
    assert found is not None
    return found


def _heads_up(state: TableState, ready: list[int], last_big: int | None) -> _Positions:
    """D7: the last big blind gets the button, which posts the small blind."""
    button = _clockwise(ready, state.last_button or 0)[0] if last_big is None else last_big
    return _Positions(button, button, _clockwise(ready, button)[0])


def _clockwise(seats: list[int], after: int) -> list[int]:
    """``seats`` (ascending) in the order in which one comes to them after a seat."""
    return [seat for seat in seats if seat > after] + [seat for seat in seats if seat <= after]


def _is_dealt_in(state: TableState, number: int, veterans: list[int], positions: _Positions) -> bool:
    """D13, D14."""
    if number in veterans or number == positions.big:
        return True
    ready = [positions.button, number, positions.big]
    if _clockwise(sorted(ready), positions.button)[0] == number:
        return False  # between the button and the big blind
    return seat_at(state, number).entry == "post" or not _owes(state, number)


def _entry_posts(config: TableConfig, seat: Seat) -> list[Posted]:
    """D13, D14: the big blind live, and a small blind that he missed dead."""
    posts = []
    if seat.owes_big_blind:
        posts.append(Posted(seat.seat, "live_post", config.lower_limit))
    if seat.owes_small_blind:
        posts.append(Posted(seat.seat, "dead_small_blind", small_blind_of(config)))
    return posts


def _with_blinds(config: TableConfig, seats: list[int], at: _Positions, posts: tuple[Posted, ...]) -> Lineup:
    blinds = (
        Posted(at.small, "small_blind", small_blind_of(config)),
        Posted(at.big, "big_blind", config.lower_limit),
    )
    return Lineup(tuple(_clockwise(seats, at.button)), (*blinds, *posts), at.button, at.small, at.big)
