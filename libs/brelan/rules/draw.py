"""5 Card Draw 7-A.

- D1: 32 cards, 36 when five are dealt in. D4: the button. D5, D6: the blinds, live bets with the option.
- D7: heads-up the button posts the small blind and acts first before the draw, the other first after it.
- D8: before the draw action starts left of the big blind, after it left of the button. D10: so does the draw.
- D11: the stub is used up first, then the discards. D12: ``L``, then ``U``.
- D13, D14: entering or coming back: wait for the big blind, or post. D15: who is button, small and big blind.
"""

from brelan.events.config import TableConfig
from brelan.events.table import Action, HandStarted, Posted
from brelan.rules.games import GAMES, LineUp, Street, clear_street, index_of
from brelan.rules.state import Hand, HandPlayer, Seat, TableState


class Draw:
    streets = (Street("deal", "lower", down=5), Street("draw", "upper"))
    capped_heads_up = True
    has_blinds = True

    def deck_size(self, players: int) -> int:
        return 36 if players == 5 else 32

    def line_up(self, state: TableState, config: TableConfig, ready: list[int]) -> LineUp | None:
        if len(ready) < 2:
            return None
        veterans = _veterans(state, ready)
        if len(veterans) < 2:
            return _afresh(state, config, ready, veterans)
        return _going_on(state, config, ready, veterans)

    def pass_blinds(self, state: TableState, started: HandStarted) -> None:
        dealt = {player.seat for player in started.players}
        passed_big = _between(state, state.last_big_blind, started.big_blind)
        passed_small = _between(state, state.last_small_blind, started.small_blind)
        for seat in state.seats:
            if seat is None or seat.reserved:
                continue
            if seat.seat in dealt:
                seat.owes_big_blind = seat.owes_small_blind = False
            elif seat.sitting_out:
                seat.owes_big_blind |= seat.seat in passed_big
                seat.owes_small_blind |= seat.seat in passed_small

    def open_first_street(self, hand: Hand, config: TableConfig) -> None:
        """D6: the big blind is the first bet, whatever its poster could afford."""
        hand.wager = hand.full_level = hand.price = config.lower_limit
        hand.bets_made = 1

    def open_street(self, hand: Hand, config: TableConfig, name: str) -> None:
        if index_of(self, name):
            clear_street(self, hand, config, 1)

    def draws_after(self, hand: Hand) -> bool:
        return hand.street == 0

    def forced(self, _hand: Hand, _config: TableConfig) -> tuple[HandPlayer, tuple[Action, ...]] | None:
        return None

    def first_to_act(self, hand: Hand) -> HandPlayer:
        around = self.from_the_left(hand)
        if hand.street:
            return next(player for player in around if not player.folded)
        index = next(place for place, player in enumerate(around) if player.seat == hand.big_blind)
        return around[(index + 1) % len(around)]

    def sizes(self, hand: Hand, _config: TableConfig) -> tuple[int, ...]:
        return (hand.wager,)

    def counts_from(self, hand: Hand, _config: TableConfig) -> int:
        return hand.full_level + (hand.wager + 1) // 2

    def settle_size(self, hand: Hand, config: TableConfig, to: int) -> None:
        """One size a street."""

    def from_the_left(self, hand: Hand) -> list[HandPlayer]:
        """Left of the button first, which is the dealing order (D9)."""
        return hand.players


def small_blind_of(config: TableConfig) -> int:
    """D5: half of L to the nearest whole unit, an exact half up; below two units to the nearest chip."""
    if config.small_blind is not None:
        return config.small_blind
    if config.lower_limit < 2 * config.currency_unit:
        return _half(config.lower_limit, config.smallest_chip)
    return _half(config.lower_limit, config.currency_unit)


def _half(limit: int, unit: int) -> int:
    return (limit + unit) // (2 * unit) * unit


# --- D15 ---------------------------------------------------------------------------------------------------------


def _seat(state: TableState, seat: int) -> Seat:
    found = state.seats[seat - 1]
    assert found is not None
    return found


def _after(seats: list[int], seat: int | None) -> int:
    """The next of these clockwise; ``seats`` ascending."""
    return next((one for one in seats if seat is not None and one > seat), seats[0])


def _around(seats: list[int], after: int) -> list[int]:
    return [seat for seat in seats if seat > after] + [seat for seat in seats if seat <= after]


def _between(state: TableState, first: int | None, last: int | None) -> set[int]:
    """Seats strictly between, clockwise."""
    if first is None or last is None or first == last:
        return set()
    size = len(state.seats)
    steps = (last - first) % size
    return {(first + step - 1) % size + 1 for step in range(1, steps)}


def _veterans(state: TableState, ready: list[int]) -> list[int]:
    dealt = {player.seat: player.player_id for player in state.last_players}
    return [seat for seat in ready if dealt.get(seat) == _seat(state, seat).player_id]


def _last_big_blind(state: TableState, veterans: list[int]) -> int | None:
    """The seat, if the same player is in it and playing."""
    return state.last_big_blind if state.last_big_blind in veterans else None


def _afresh(state: TableState, config: TableConfig, ready: list[int], veterans: list[int]) -> LineUp:
    """D15: hardly anybody is left from a last hand, so nobody owes anything."""
    last = _last_big_blind(state, veterans)
    if len(ready) == 2:
        return _heads_up(state, config, ready, last)
    button = _after(ready, state.last_button)
    if _after(ready, _after(ready, button)) == last:
        button = _after(ready, button)
    small = _after(ready, button)
    return _with_blinds(config, ready, button, small, _after(ready, small), ())


def _going_on(state: TableState, config: TableConfig, ready: list[int], veterans: list[int]) -> LineUp:
    button = _after(veterans, state.last_button)
    small = _after(veterans, button)
    big = _after(ready, small)
    in_between = _between(state, button, big) if big != button else set(ready)
    free = {seat for seat in ready if not _owes(_seat(state, seat))} | set(veterans)
    posting = {seat for seat in ready if seat not in free and _may_post(state, seat, in_between)}
    dealt = sorted(free | posting | {big})
    last = _last_big_blind(state, veterans)
    if len(dealt) == 2:
        return _heads_up(state, config, dealt, last)
    if big in (button, last):  # nobody posts it twice in a row, nor for the button
        big = _after([seat for seat in dealt if seat not in (button, small, last)], small)
    posts = tuple(post for seat in dealt if seat in posting and seat != big for post in _entry(state, config, seat))
    return _with_blinds(config, dealt, button, small, big, posts)


def _owes(seat: Seat) -> bool:
    return seat.owes_big_blind or seat.owes_small_blind


def _may_post(state: TableState, seat: int, between_button_and_big_blind: set[int]) -> bool:
    return _seat(state, seat).entry == "post" and seat not in between_button_and_big_blind


def _heads_up(state: TableState, config: TableConfig, dealt: list[int], last: int | None) -> LineUp:
    """D7, D15: the last big blind gets the button."""
    button = last if last is not None else _after(dealt, state.last_button)
    return _with_blinds(config, dealt, button, button, _after(dealt, button), ())


def _entry(state: TableState, config: TableConfig, seat: int) -> list[Posted]:
    """D13, D14: a live big blind, and the small blind dead when it was missed too."""
    owing = _seat(state, seat)
    posts = [Posted(seat, "live_post", config.lower_limit)] if owing.owes_big_blind else []
    if owing.owes_small_blind:
        posts.append(Posted(seat, "dead_small_blind", small_blind_of(config)))
    return posts


def _with_blinds(
    config: TableConfig, dealt: list[int], button: int, small: int, big: int, posts: tuple[Posted, ...]
) -> LineUp:
    blinds = (
        Posted(small, "small_blind", small_blind_of(config)),
        Posted(big, "big_blind", config.lower_limit),
    )
    return LineUp(tuple(_around(dealt, button)), (*blinds, *posts), button, small, big)


GAMES["draw"] = Draw()
