"""T: time. Ten seconds, to the millisecond; limits 4-8."""

import pytest

from brelan.events import commands, table
from brelan.rules.state import Decision
from brelan.rules.table import decide, next_due_ms
from tests.rules.kit import Table, draw, draw_table, stud

THREE = {1: 100, 2: 100, 3: 100}
UP = {1: "Kh Kd", 2: "Qs 7d", 3: "2d 6c"}


def deadline(played: Table) -> int:
    assert played.state.turn is not None
    return played.state.turn.deadline_ms


def kinds(played: Table, since: int) -> list[str]:
    return [type(event).__name__ for event in played.events[since:]]


def expire_at(played: Table, deadline_ms: int, arrived_at_ms: int) -> tuple[table.TableEvent, ...]:
    decision = decide(played.state, commands.ExpireTurn(deadline_ms), now_ms=arrived_at_ms, arrived_at_ms=arrived_at_ms)
    assert isinstance(decision, Decision)
    return decision.events


def test_T1_ten_seconds_to_act_from_the_moment_the_turn_opens() -> None:
    played = stud(THREE, UP)
    assert deadline(played) == played.now + 10_000
    played.now += 3_217
    played.play("3 bring_in")
    assert deadline(played) == played.now + 10_000
    assert next_due_ms(played.state) == deadline(played)


def test_T1_the_room_may_set_another_figure() -> None:
    played = draw(THREE, action_time_ms=25_000)
    assert deadline(played) == played.now + 25_000
    played.play("1 call, 2 call, 3 check")
    assert played.turn == "2: draw"
    assert deadline(played) == played.now + 25_000


def test_T2_who_has_put_in_no_bet_is_folded() -> None:
    played = stud(THREE, UP).play("3 bring_in, 1 time")
    assert played.player(1).folded
    assert played.last(table.Folded).cause == "time"
    played = draw(THREE).play("1 time")
    assert played.player(1).folded


def test_T2_who_has_is_all_in_with_what_he_has_put_in_and_his_other_chips_stay_his() -> None:
    played = stud(THREE, UP, wins="1 > 2 > 3").play("3 bring_in, 1 call, 2 complete, 3 call, 1 time")
    assert (played.player(1).all_in, played.player(1).protected, played.player(1).stack) == (True, True, 97)
    assert played.pots == [(9, {1, 2, 3}), (4, {2, 3})]
    for _ in range(4):
        assert played.turn_seat in (2, 3), "he acts no more"
        played.play(f"{played.turn_seat} check, {played.turn_seat and 5 - played.turn_seat} check")
    assert played.stacks == {1: 106, 2: 99, 3: 95}


def test_T2_a_protected_player_is_not_asked_to_the_end_even_if_he_is_back() -> None:
    played = draw(THREE).play("1 call, 2 call, 3 time")
    played.do(commands.ComeBack(), 3)
    assert not played.owner(3).away
    played.play("2 pat, 1 pat, 2 check, 1 check")
    assert all(event.seat != 3 for event in played.all(table.TurnOpened)[3:])


@pytest.mark.parametrize(
    ("acts", "seat", "bet"),
    [
        ("1 call, 2 time", 2, True),  # small blind
        ("1 call, 2 call, 3 time", 3, True),  # big blind
        ("1 call, 2 raise 8, 3 fold, 1 time", 1, True),  # a call
        ("1 raise 8, 2 raise 12, 3 fold, 1 time", 1, True),  # a raise
        ("1 time", 1, False),
    ],
)
def test_T3_blinds_calls_bets_and_raises_are_bets(acts: str, seat: int, bet: bool) -> None:
    played = draw(THREE).play(acts)
    assert (played.player(seat).protected, played.player(seat).folded) == (bet, not bet)


def test_T3_an_ante_is_none_but_the_bring_in_and_the_completion_are() -> None:
    assert stud(THREE, UP).play("3 bring_in, 1 time").player(1).folded
    assert stud(THREE, UP).play("3 bring_in, 1 complete, 2 call, 3 time").player(3).protected
    assert stud(THREE, UP).play("3 bet, 1 raise, 2 call, 3 time").player(3).protected
    assert stud(THREE, UP).play("3 bring_in, 1 complete, 2 raise 8, 3 call, 1 time").player(1).protected


def test_T3_a_live_post_is_a_bet_and_a_dead_small_blind_is_none() -> None:
    played = draw({1: 100, 2: 100, 3: 100, 4: 100}, button=1)
    played.player(4).dead = 2  # as posted
    played.player(4).put_in, played.player(4).stack = 2, 98
    played.now = deadline(played)
    events = expire_at(played, played.now, played.now)
    assert table.Folded(4, "time") in events
    played.player(4).has_bet = True
    assert table.AllInByTime(4, played.now // 86_400_000) in expire_at(played, played.now, played.now)


def test_T4_the_bring_in_is_posted_for_a_silent_player_and_his_next_turn_has_its_clock() -> None:
    played = stud(THREE, UP).play("3 time")
    posted = played.last(table.BetPlaced)
    assert (posted.seat, posted.kind, posted.to, posted.cause) == (3, "bring_in", 2, "time")
    assert played.owner(3).away
    assert not played.player(3).all_in
    played.play("1 complete, 2 call")
    assert played.turn == "3: fold, call 4, raise 8"
    assert deadline(played) == played.now + 10_000
    played.play("3 time")
    assert played.player(3).protected, "from then on he has put in a bet"


def test_T5_a_free_check_makes_no_difference() -> None:
    played = stud(THREE, UP).play("3 bring_in, 1 call, 2 call")
    assert played.turn == "1: fold, check, bet 4, bet 8"
    played.play("1 time")
    assert played.player(1).protected
    assert not played.all(table.Checked)


def test_T6_time_out_in_the_draw_stands_pat_and_nothing_else() -> None:
    played = draw(THREE).play("1 call, 2 call, 3 check")
    played.play("2 time")
    chosen = played.last(table.DrawChosen)
    assert (chosen.seat, chosen.positions, chosen.cause) == (2, (), "time")
    assert not played.owner(2).away
    assert not played.player(2).all_in
    played.play("3 pat, 1 pat")
    assert played.turn_seat == 2


def test_T7_who_timed_out_is_sat_out_at_the_end_of_the_hand_until_he_says_that_he_is_back() -> None:
    played = draw(THREE).play("1 time")
    assert played.owner(1).away
    assert not played.owner(1).sitting_out
    played.play("2 fold")
    assert played.last(table.SatOut) == table.SatOut(1, "timed_out")
    played.expire()
    assert 1 not in [player.seat for player in played.last(table.HandStarted).players]
    played.do(commands.ComeBack("post"), 1)
    assert not played.owner(1).sitting_out


def test_T7_who_is_back_before_the_hand_is_over_stays() -> None:
    played = draw(THREE).play("1 time")
    played.do(commands.ComeBack(), 1).play("2 fold")
    assert not played.all(table.SatOut)


def test_T7_policy_fold_checks_if_that_is_free_and_folds_else_and_never_protects() -> None:
    played = draw(THREE, timeout_policy="fold").play("1 call, 2 call, 3 time")
    assert played.last(table.Checked) == table.Checked(3, "time")
    assert played.owner(3).away
    played.play("2 pat, 3 pat, 1 pat, 2 bet, 3 time")
    assert played.last(table.Folded) == table.Folded(3, "time")
    assert not played.all(table.AllInByTime)


def test_T7_a_limit_on_protected_all_ins_for_each_player_and_day() -> None:
    day = 86_400_000
    played = draw({1: 400, 2: 400}, button=1, protected_all_ins_per_day=1)
    played.now = 20 * day + 1_000
    played.play("1 call, 2 time")
    assert played.last(table.AllInByTime) == table.AllInByTime(2, 20)
    played.play("1 pat")
    played.do(commands.ComeBack(), 2).expire()
    assert played.turn == "2: fold, call 4, raise 8"
    played.play("2 time")
    assert played.last(table.Folded) == table.Folded(2, "time"), "beyond it as by the policy fold"
    assert len(played.all(table.AllInByTime)) == 1
    played.do(commands.ComeBack(), 2).expire()
    played.now = 21 * day  # the first millisecond of the next day
    played.play("1 raise 8, 2 time")
    assert played.last(table.AllInByTime) == table.AllInByTime(2, 21)


def test_T7_leaving_and_sitting_down_again_does_not_start_the_count_anew() -> None:
    played = draw({1: 400, 2: 400}, button=1, protected_all_ins_per_day=1).play("1 call, 2 time, 1 pat")
    played.do(commands.Leave(), 2)
    played.do(commands.SitDown(600, seat=2), 2).expire()
    seat = 2
    while played.turn_seat != seat:
        played.play("1 call")
    played.play("2 time")
    assert len(played.all(table.AllInByTime)) == 1


def test_T8_before_the_deadline_nothing_is_enforced_at_it_it_is() -> None:
    played = draw(THREE)
    due = deadline(played)
    assert expire_at(played, due, due - 1) == ()
    assert expire_at(played, due - 1, due) == ()
    assert expire_at(played, due, due) != ()


def test_T8_a_decision_before_the_enforcement_wins_however_late_and_the_enforcement_is_ignored() -> None:
    played = draw(THREE)
    due = deadline(played)
    played.now = due + 700
    played.play("1 call")
    assert expire_at(played, due, played.now) == ()
    assert not played.all(table.TimedOut)


def test_T8_a_decision_after_the_enforcement_is_refused_and_a_repeated_enforcement_ignored() -> None:
    played = draw(THREE)
    turn_id, due = played.turn_id, deadline(played)
    played.play("1 time")
    assert played.refusal(commands.Act(turn_id, "call"), 1) == "stale_turn"
    assert expire_at(played, due, played.now) == ()
    assert played.refusal(commands.Act(played.turn_id, "fold"), 1) == "not_your_turn"


def test_T9_connections_come_and_go_and_the_deadline_stays() -> None:
    played = draw(THREE)
    due = deadline(played)
    played.now += 4_000
    played.do(commands.SetPreferences(False, False), 1)
    assert deadline(played) == due


def test_T9_but_nobody_loses_time_to_the_rooms_own_outage() -> None:
    played = draw(THREE)
    played.now += 60_000
    played.do(commands.EndOutage(played.now - 55_000, played.now))
    assert deadline(played) == played.now + 10_000


# --- every wait ends ---------------------------------------------------------------------------------------------


def test_T1_the_dealer_is_asked_again_and_after_some_tries_the_table_is_frozen() -> None:
    played = draw(THREE)
    played.play("1 call, 2 call, 3 check")
    played.dealer_answers = False
    played.play("2 draw 3")
    while played.state.status == "open":
        before = played.now
        played.expire()
        assert played.now == before + 5_000
    assert next_due_ms(played.state) is None
    assert played.refusal(commands.Act(played.turn_id if played.state.turn else 0, "fold"), 3) == "table_frozen"


def test_T1_a_frozen_tables_dealer_is_asked_again_when_it_is_unfrozen() -> None:
    played = draw(THREE).play("1 call, 2 call, 3 check")
    played.dealer_answers = False
    played.play("2 draw 3")
    while played.state.status == "open":
        played.expire()
    late = played.asked.pop(0)
    played.do(late)
    assert played.state.status == "frozen", "nothing is heard"
    played.now += 600_000
    played.do(commands.UnfreezeTable(), operator=True)
    assert isinstance(played.events[-1], table.DealerAskedAgain)
    assert next_due_ms(played.state) == played.now + 5_000
    played.do(late)
    assert played.turn == "3: draw"
    assert deadline(played) == played.now + 10_000


def tries_until_frozen(played: Table) -> int:
    tries = 0
    while played.state.status == "open":
        played.expire()
        tries += 1
    return tries


def test_T1_who_was_asked_in_vain_is_asked_as_often_again_after_a_freeze() -> None:
    played = draw(THREE).play("1 call, 2 call, 3 check")
    played.dealer_answers = False
    played.play("2 draw 3")
    first = tries_until_frozen(played)
    played.do(commands.UnfreezeTable(), operator=True)
    assert tries_until_frozen(played) == first


def test_T1_a_wallet_that_is_away_for_hours_is_asked_on_and_the_others_play() -> None:
    idle = draw_table({1: 100})
    idle.wallet_answers = False
    idle.do(commands.TopUp(100), 1)
    began = idle.now
    while idle.now - began < 12 * 3_600_000:
        before = idle.now
        idle.expire()
        assert idle.now - before <= 300_000, "never longer than five minutes"
    assert idle.state.status == "open"
    idle.seat(2, 100)
    idle.deal().play(f"{idle.turn_seat} fold")
    assert idle.all(table.HandEnded)
    assert not idle.all(table.TableFrozen)
    idle.answer()
    assert (idle.owner(1).stack + idle.owner(1).chips_waiting) >= 197, "its answer is heard even then"


def test_T1_unfreezing_gives_the_turn_its_full_time_again() -> None:
    played = draw(THREE)
    played.do(commands.FreezeTable("looked at"))
    assert next_due_ms(played.state) is None
    played.now += 300_000
    played.do(commands.UnfreezeTable(), operator=True)
    assert played.turn.startswith("1:")
    assert deadline(played) == played.now + 10_000


def test_T1_the_pause_between_hands() -> None:
    played = draw(THREE, hand_pause_ms=4_000).play("1 fold, 2 fold")
    assert played.last(table.NextHandScheduled).at_ms == played.now + 4_000 == next_due_ms(played.state)
    played.do(commands.Leave(), 1).do(commands.SitOut(), 2)
    assert played.last(table.NextHandScheduled).at_ms == 0
    assert played.state.next_hand_ms is None
    played.do(commands.ComeBack(), 2)
    assert played.last(table.NextHandScheduled).at_ms == played.now + 4_000
