"""B: fixed-limit betting, both games. Limits 4-8, ante 1, bring-in 2 unless a test says otherwise."""

import pytest

from brelan.events import commands, table
from tests.rules.kit import Table, draw, stud

FOUR = {1: 100, 2: 100, 3: 100, 4: 100}
THREE = {1: 100, 2: 100, 3: 100}
UP = {1: "Kh Kd 9c 8c", 2: "Qs 7d 6h 5c", 3: "Jd 6c 4h 3h", 4: "2c 5d 9h 8d"}  # 4 brings in, 1 is first from fourth on


def fifth_street(stacks: dict[int, int]) -> Table:
    """Everybody called the bring-in and checked on fourth street. ``stacks``: chips left on fifth."""
    played = stud({seat: stack + 3 for seat, stack in stacks.items()}, UP)
    while played.state.hand is not None and played.state.hand.street < 2:
        kinds = [action.kind for action in played.state.turn.actions] if played.state.turn else []
        act = next(kind for kind in ("bring_in", "check", "call") if kind in kinds)
        played.play(f"{played.turn_seat} {act}")
    assert played.stacks == stacks
    return played


def test_B1_every_bet_and_raise_is_the_size_of_the_street() -> None:
    played = stud(FOUR, UP)
    assert played.turn == "4: bring_in 2, bet 4"
    played.play("4 bet")
    assert played.turn == "1: fold, call 4, raise 8"
    for to in (5, 6, 7, 9, 12, 16):
        assert played.refusal(commands.Act(played.turn_id, "raise", to), 1) == "illegal_action"
    played.play("1 raise 8, 2 raise 12, 3 fold, 4 call, 1 call")
    played.play("1 check, 2 check, 4 check")
    assert played.turn == "1: fold, check, bet 8"  # fifth street
    played.play("1 bet 8")
    assert played.turn == "2: fold, call 8, raise 16"


def test_B1_draw_bets_the_lower_limit_before_the_draw_and_the_upper_after_it() -> None:
    played = draw(THREE)
    assert played.turn == "1: fold, call 4, raise 8"
    played.play("1 raise, 2 raise 12, 3 call, 1 call, 2 pat, 3 pat, 1 pat")
    assert played.turn == "2: fold, check, bet 8"
    played.play("2 bet 8, 3 raise 16")
    assert played.turn == "1: fold, call 16, raise 24"


def test_B2_check_or_bet_then_fold_call_or_raise_and_a_check_does_not_forbid_a_raise() -> None:
    played = fifth_street(THREE)
    assert played.turn == "1: fold, check, bet 8"
    assert played.refusal(commands.Act(played.turn_id, "call"), 1) == "illegal_action"
    played.play("1 check, 2 check, 3 bet 8")
    assert played.turn == "1: fold, call 8, raise 16"
    assert played.refusal(commands.Act(played.turn_id, "check"), 1) == "illegal_action"
    played.play("1 raise 16")
    assert played.turn == "2: fold, call 16, raise 24"


def test_B3_one_bet_and_three_raises_while_three_are_in() -> None:
    played = fifth_street(THREE).play("1 bet, 2 raise, 3 raise, 1 raise")
    assert played.turn == "2: fold, call 32"
    assert played.state.turn is not None
    assert played.state.turn.raises_left == 0


def test_B3_with_two_players_raises_are_unlimited() -> None:
    played = fifth_street({1: 300, 2: 300})
    for to in range(8, 160, 8):
        assert played.state.turn is not None
        assert played.state.turn.raises_left is None
        played.play(f"{played.turn_seat} {'bet' if to == 8 else 'raise'} {to}")
    assert "raise 160" in played.turn


def test_B4_draw_is_capped_at_four_bets_the_big_blind_being_the_first() -> None:
    played = draw(THREE).play("1 raise 8, 2 raise 12, 3 raise 16")
    assert played.turn == "1: fold, call 16"
    played.play("1 call, 2 call, 2 pat, 3 pat, 1 pat, 2 bet 8, 3 raise 16, 1 raise 24, 2 raise 32")
    assert played.turn == "3: fold, call 32"


def test_B4_there_is_no_exception_for_two() -> None:
    played = draw({1: 100, 2: 100}, button=1).play("1 raise 8, 2 raise 12, 1 raise 16")
    assert played.turn == "2: fold, call 16"
    played = draw(THREE).play("1 raise 8, 2 raise 12, 3 raise 16, 1 fold")
    assert played.turn == "2: fold, call 16"


def test_B5_all_in_players_are_in_the_hand() -> None:
    played = fifth_street({1: 100, 2: 100, 3: 16}).play("1 bet, 2 raise 16, 3 call, 1 raise 24, 2 raise 32")
    assert played.player(3).all_in
    assert played.turn == "1: fold, call 32"


def test_B5_the_cap_is_lifted_when_folds_leave_two_even_if_it_was_reached() -> None:
    played = fifth_street(THREE).play("1 bet, 2 raise, 3 raise, 1 raise 32, 2 fold")
    assert played.turn == "3: fold, call 32, raise 40"


def test_B5_a_table_may_keep_a_cap_that_was_reached_with_three() -> None:
    hands = {1: 103, 2: 103, 3: 103}
    played = stud(hands, UP, cap_lifted_heads_up=False).play("3 bring_in, 1 call, 2 call, 1 check, 2 check, 3 check")
    played.play("1 bet, 2 raise, 3 raise, 1 raise 32, 2 fold")
    assert played.turn == "3: fold, call 32"
    played.play("3 call")
    assert played.turn == "1: fold, check, bet 8"
    played.play("1 bet, 3 raise 16, 1 raise 24, 3 raise 32")  # the next round began with two
    assert played.turn == "1: fold, call 32, raise 40"


def test_B5_a_cap_that_was_not_reached_with_three_is_none_with_two() -> None:
    played = stud(THREE, UP, cap_lifted_heads_up=False).play("3 bring_in, 1 call, 2 call, 1 check, 2 check, 3 check")
    played.play("1 bet, 2 raise 16, 3 fold, 1 raise 24, 2 raise 32, 1 raise 40")
    assert played.turn == "2: fold, call 40, raise 48"


def test_B6_the_completion_is_the_first_bet_and_three_raises_follow() -> None:
    played = stud(FOUR, UP).play("4 bring_in, 1 complete 4, 2 raise 8, 3 raise 12, 4 raise 16")
    assert played.turn == "1: fold, call 16"


def test_B6_so_is_opening_for_the_lower_limit() -> None:
    played = stud(FOUR, UP).play("4 bet 4, 1 raise 8, 2 raise 12, 3 raise 16")
    assert played.turn == "4: fold, call 16"


def test_B7_a_call_for_less_is_always_allowed() -> None:
    played = fifth_street({1: 100, 2: 5, 3: 100}).play("1 bet 8")
    assert played.turn == "2: fold, call 5"
    played.play("2 call")
    assert played.player(2).all_in
    assert played.turn == "3: fold, call 8, raise 16"


@pytest.mark.parametrize(
    ("all_in", "kind", "turn"),
    [
        (3, "bet", "3: fold, call 3, complete 8"),  # below half a bet: nothing but a higher price
        (4, "bet", "3: fold, call 4, raise 12"),  # half a bet counts, and the next raise is on top of it
        (7, "bet", "3: fold, call 7, raise 15"),
    ],
)
def test_B7_a_short_bet_counts_from_half_a_bet_on(all_in: int, kind: str, turn: str) -> None:
    played = fifth_street({1: 100, 2: all_in, 3: 100}).play(f"1 check, 2 {kind}")
    assert played.turn == turn


def test_B7_who_checked_to_a_bet_below_half_may_only_call_or_fold() -> None:
    played = fifth_street({1: 100, 2: 3, 3: 100}).play("1 check, 2 bet, 3 call")
    assert played.turn == "1: fold, call 3"
    played = fifth_street({1: 100, 2: 4, 3: 100}).play("1 check, 2 bet, 3 call")
    assert played.turn == "1: fold, call 4, raise 12"


@pytest.mark.parametrize(
    ("short", "next_turn", "bettor"),
    [
        (11, "4: fold, call 11, raise 16", "1: fold, call 11"),
        (12, "4: fold, call 12, raise 20", "1: fold, call 12, raise 20"),
    ],
)
def test_B7_a_short_raise_reopens_the_betting_from_half_a_bet_on(short: int, next_turn: str, bettor: str) -> None:
    played = fifth_street({1: 100, 2: 100, 3: short, 4: 100}).play("1 bet, 2 call, 3 raise")
    assert played.turn == next_turn
    played.play("4 call")
    assert played.turn == bettor
    played.play("1 call")
    assert played.turn == bettor.replace("1:", "2:")


def test_B7_short_all_ins_count_by_their_total() -> None:
    played = fifth_street({1: 100, 2: 10, 3: 12, 4: 100}).play("1 bet, 2 raise 10, 3 raise 12, 4 call")
    assert played.turn == "1: fold, call 12, raise 20"
    played = fifth_street({1: 100, 2: 10, 3: 11, 4: 100}).play("1 bet, 2 raise 10, 3 raise 11, 4 call")
    assert played.turn == "1: fold, call 11"


def test_B7_who_acted_on_the_first_short_all_in_may_raise_once_the_total_counts() -> None:
    played = fifth_street({1: 100, 2: 10, 3: 100, 4: 12}).play("1 bet, 2 raise 10, 3 call 10, 4 raise 12")
    assert played.turn == "1: fold, call 12, raise 20"
    played.play("1 call")
    assert played.turn == "3: fold, call 12, raise 20"


def test_B7_a_raise_over_a_short_all_in_is_measured_from_the_last_full_level() -> None:
    played = fifth_street({1: 100, 2: 10, 3: 100, 4: 100}).play("1 bet, 2 raise 10, 3 raise 16")
    assert played.turn == "4: fold, call 16, raise 24"
    played.play("4 call")
    assert played.turn == "1: fold, call 16, raise 24"


def test_B7_a_short_raise_that_counts_counts_toward_the_cap_and_one_that_does_not_does_not() -> None:
    played = fifth_street({1: 100, 2: 12, 3: 100, 4: 100}).play("1 bet, 2 raise 12, 3 raise 20, 4 raise 28")
    assert played.turn == "1: fold, call 28"
    played = fifth_street({1: 100, 2: 11, 3: 100, 4: 100}).play("1 bet, 2 raise 11, 3 raise 16, 4 raise 24")
    assert played.turn == "1: fold, call 24, raise 32"


def test_B7_once_capped_nobody_goes_beyond_the_call_not_even_all_in() -> None:
    played = fifth_street({1: 100, 2: 100, 3: 100, 4: 33}).play("1 bet, 2 raise, 3 raise, 4 call, 1 raise 32, 2 call")
    played.play("3 call")
    assert played.turn == "4: fold, call 32"


@pytest.mark.parametrize(
    ("all_in", "turn"),
    [
        (3, "2: fold, call 3, raise 7"),  # bring-in 2 + (4 - 2) / 2: the completion
        (2, "2: fold, call 2, complete 4"),
    ],
)
def test_B7_third_street_completion_counts_from_halfway_between_bring_in_and_limit(all_in: int, turn: str) -> None:
    played = stud({1: all_in + 1, 2: 100, 3: 100, 4: 100}, UP).play(
        f"4 bring_in, 1 {'complete 3' if all_in == 3 else 'call 2'}"
    )
    assert played.turn == turn


def test_B7_third_street_below_halfway_the_completion_stays_and_callers_may_not_complete() -> None:
    stacks = {1: 103, 2: 13, 3: 103, 4: 103}
    played = stud(stacks, UP, lower_limit=20, upper_limit=40, ante=3, bring_in=5, minimum_buy_in=200)
    played.play("4 bring_in, 1 call 5, 2 complete 10")  # below 5 + 15 / 2
    assert played.turn == "3: fold, call 10, complete 20"
    played.play("3 call")
    assert played.turn == "4: fold, call 10"
    played.play("4 call")
    assert played.turn == "1: fold, call 10"


@pytest.mark.parametrize(
    ("all_in", "turn"), [(12, "3: fold, call 12, complete 20"), (13, "3: fold, call 13, raise 33")]
)
def test_B7_third_street_halfway_is_rounded_up(all_in: int, turn: str) -> None:
    stacks = {1: 103, 2: all_in + 3, 3: 103, 4: 103}
    played = stud(stacks, UP, lower_limit=20, upper_limit=40, ante=3, bring_in=5, minimum_buy_in=200)
    played.play(f"4 bring_in, 1 call 5, 2 complete {all_in}")
    assert played.turn == turn


@pytest.mark.parametrize(
    ("all_in", "turn"),
    [
        (6, "3: fold, call 6, raise 10, raise 14"),  # the rulebook's own example
        (1, "3: fold, call 1, complete 4, complete 8"),
        (2, "3: fold, call 2, raise 6, raise 10"),
        (8, "3: fold, call 8, raise 16"),
    ],
)
def test_B7_with_an_open_pair_the_size_is_the_lower_limit_until_the_upper_was_bet(all_in: int, turn: str) -> None:
    played = stud({1: 103, 2: all_in + 3, 3: 103, 4: 103}, UP).play("4 bring_in, 1 call, 2 call, 3 call")
    played.play(f"1 check, 2 bet {all_in}")
    assert played.turn == turn


def test_B7_in_draw_the_big_blind_is_the_full_level() -> None:
    played = draw({1: 5, 2: 100, 3: 100}).play("1 raise 5")  # less than half a bet above the blind
    assert played.turn == "2: fold, call 5, raise 8"
    played.play("2 call")
    assert played.turn == "3: fold, call 5, raise 8"  # the option: he has not acted
    played = draw({1: 6, 2: 100, 3: 100}).play("1 raise 6")
    assert played.turn == "2: fold, call 6, raise 10"


def test_B8_what_nobody_called_goes_back_before_pots_are_counted() -> None:
    played = fifth_street({1: 100, 2: 5, 3: 100}).play("1 bet 8, 2 call 5, 3 fold")
    assert played.returned == [(1, 3)]
    assert played.pots == [(19, {1, 2})]
    played = fifth_street(THREE).play("1 bet 8, 2 fold, 3 fold")
    assert played.returned == [(1, 8)]
    assert [event.amount for event in played.all(table.PotAwarded)] == [9]


def test_B11_no_bet_is_possible_when_nobody_else_can_act() -> None:
    played = fifth_street({1: 100, 2: 100, 3: 16, 4: 5}).play("1 bet 8, 2 fold, 3 call 8, 4 call 5, 1 check")
    assert played.turn == "3: fold, check, bet 8"
    played.play("3 bet 8")  # all-in
    assert played.turn == "1: fold, call 8"
    played.play("1 call")
    assert played.state.hand is None, "sixth street is over, the river needs no turn"
    assert played.last(table.CardsRequested).street == "river"


def test_B11_who_has_matched_the_others_does_not_act_again() -> None:
    played = draw({1: 100, 2: 2, 3: 100})  # the small blind is all-in
    played.play("1 fold")
    assert played.turn == "2: draw", "the big blind owes nothing, and could bet against nobody"
    assert played.returned == [(3, 2)]
