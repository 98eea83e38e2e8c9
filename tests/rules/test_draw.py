"""D: 5 Card Draw 7-A. Limits 4-8, blinds 2 and 4. Hands are in tests/rules/test_evaluation.py, decks in tests/deck."""

from random import Random

import pytest
from msgspec.structs import replace

from brelan.events import commands, table
from brelan.events.table import HandStarted
from brelan.rules.draw import small_blind_of
from brelan.rules.state import Rejected
from brelan.rules.table import AnyCommand
from tests.rules.kit import DRAW, Table, draw, draw_table, player_of

THREE = {1: 100, 2: 100, 3: 100}
FOUR = {1: 100, 2: 100, 3: 100, 4: 100}


def positions(played: Table) -> tuple[int, int, int]:
    """Button, small blind, big blind of the last hand."""
    started = played.last(HandStarted)
    assert started.button is not None
    assert started.small_blind is not None
    assert started.big_blind is not None
    return started.button, started.small_blind, started.big_blind


def dealt_in(played: Table) -> list[int]:
    return sorted(player.seat for player in played.last(HandStarted).players)


def fold_around(played: Table) -> Table:
    while played.state.hand is not None:
        played.play(f"{played.turn_seat} {'pat' if 'draw' in played.turn else 'fold'}")
    return played


def next_hand(played: Table) -> Table:
    fold_around(played).expire()
    assert played.state.hand is not None
    return played


def test_D1_five_players_get_36_cards_fewer_32_and_six_cannot_sit() -> None:
    assert draw(dict.fromkeys(range(1, 6), 100)).last(HandStarted).deck_size == 36
    assert draw(FOUR).last(HandStarted).deck_size == 32
    assert draw({1: 100, 5: 100}).last(HandStarted).deck_size == 32
    assert draw(dict.fromkeys(range(1, 6), 100)).refusal(commands.SitDown(40), player="ann") == "table_full"


def test_D4_the_button_moves_clockwise_to_the_next_active_player_after_every_hand() -> None:
    played = draw({1: 100, 2: 100, 4: 100, 5: 100})
    assert positions(played)[0] == 1
    assert [positions(next_hand(played))[0] for _ in range(5)] == [2, 4, 5, 1, 2]


@pytest.mark.parametrize(
    ("lower", "unit", "chip", "blind"),
    [
        (4, 1, 1, 2),
        (3, 1, 1, 2),  # 1.5 rounds up
        (5, 1, 1, 3),
        (15, 1, 1, 8),
        (400, 100, 1, 200),
        (300, 100, 1, 200),
        (500, 100, 1, 300),
        (250, 100, 1, 100),  # 1.25 is nearer to 1
        (200, 100, 1, 100),
        (150, 100, 1, 75),  # below two units: the exact half
        (100, 100, 1, 50),
        (50, 100, 5, 25),
        (1, 1, 1, 1),
    ],
)
def test_D5_the_small_blind_is_half_the_limit_in_whole_units(lower: int, unit: int, chip: int, blind: int) -> None:
    config = replace(DRAW, lower_limit=lower, currency_unit=unit, smallest_chip=chip)
    assert small_blind_of(config) == blind
    assert small_blind_of(replace(config, small_blind=chip)) == chip, "a table may set it"


def test_D5_the_player_left_of_the_button_posts_it_and_gets_the_first_card() -> None:
    played = draw(FOUR, button=2)
    assert played.posts == ["3 small_blind 2", "4 big_blind 4"]
    assert [cards.seat for cards in played.last(table.CardsDealt).cards] == [3, 4, 1, 2]


def test_D6_the_big_blind_may_raise_when_the_action_comes_back_though_nobody_raised() -> None:
    played = draw(THREE).play("1 call, 2 call")
    assert played.turn == "3: fold, check, raise 8"
    played.play("3 raise")
    assert played.turn == "1: fold, call 8, raise 12"
    played = draw(FOUR).play("4 fold, 1 fold, 2 call")
    assert played.turn == "3: fold, check, raise 8"
    assert draw(THREE).play("1 call, 2 call, 3 check").state.hand.phase == "drawing"  # type: ignore[union-attr]


def test_D6_a_short_big_blind_leaves_the_others_owing_it_in_full() -> None:
    played = draw({1: 100, 2: 100, 3: 1}, wins="3 > 1 > 2")
    assert played.posts == ["2 small_blind 2", "3 big_blind 1"]
    assert played.turn == "1: fold, call 4, raise 8"
    played.play("1 call")
    assert played.turn == "2: fold, call 4, raise 8"
    played.play("2 call")
    assert played.pots == [(3, {1, 2, 3}), (6, {1, 2})]


def test_D6_a_short_small_blind_is_all_in() -> None:
    played = draw({1: 100, 2: 1, 3: 100}).play("1 call, 3 check")
    assert played.pots == [(3, {1, 2, 3}), (6, {1, 3})]


def test_D7_heads_up_the_button_posts_the_small_blind_and_acts_first_only_before_the_draw() -> None:
    played = draw({2: 100, 4: 100}, button=2)
    assert played.posts == ["2 small_blind 2", "4 big_blind 4"]
    assert [cards.seat for cards in played.last(table.CardsDealt).cards] == [4, 2]
    assert played.turn == "2: fold, call 4, raise 8"
    played.play("2 call")
    assert played.turn == "4: fold, check, raise 8"
    played.play("4 check")
    assert played.turn == "4: draw"
    played.play("4 pat, 2 pat")
    assert played.turn == "4: fold, check, bet 8"
    assert positions(next_hand(played)) == (4, 4, 2)
    assert positions(next_hand(played)) == (2, 2, 4)


def test_D8_left_of_the_big_blind_first_then_left_of_the_button() -> None:
    played = draw(FOUR, button=1)
    assert played.turn_seat == 4
    played.play("4 call, 1 call, 2 fold, 3 check")
    assert played.turn == "3: draw"
    played.play("3 pat, 4 pat, 1 pat")
    assert played.turn_seat == 3


def test_D9_five_cards_face_down_from_the_left_of_the_button() -> None:
    dealt = draw(FOUR, button=4).last(table.CardsDealt)
    assert [(cards.seat, cards.down, cards.up) for cards in dealt.cards] == [(seat, 5, ()) for seat in (1, 2, 3, 4)]
    assert dealt.burned == 0


def test_D10_each_draws_none_to_five_once_and_only_the_number_is_known() -> None:
    played = draw(THREE).play("1 call, 2 call, 3 check")
    assert played.turn == "2: draw"
    assert played.refusal(commands.Act(played.turn_id, "draw"), 2) == "illegal_action"
    assert played.refusal(commands.Draw(played.turn_id), 3) == "not_your_turn"
    for wrong in ((0, 0), (5,), (-1,), (0, 1, 2, 3, 4, 0)):
        assert played.refusal(commands.Draw(played.turn_id, wrong), 2) == "bad_positions"
    old = played.turn_id
    played.play("2 draw 5, 3 pat, 1 draw 1")
    assert played.refusal(commands.Draw(old, (0,)), 2) == "stale_turn"
    assert [played.player(seat).drew for seat in (1, 2, 3)] == [1, 5, 0]
    assert played.turn == "2: fold, check, bet 8"
    assert played.refusal(commands.Draw(played.turn_id, (0,)), 2) == "illegal_action"


def test_D11_the_discards_come_back_only_when_the_stub_is_short() -> None:
    played = draw(FOUR, button=1).play("4 call, 1 call, 2 call, 3 check, 2 draw 5, 3 draw 5, 4 draw 2")
    assert [drawn.reshuffled for drawn in played.all(table.CardsDrawn)] == [False, False, False]
    played.play("1 draw 5")
    assert played.last(table.CardsDrawn).reshuffled


def test_D11_all_in_players_draw_too_but_who_is_all_in_by_time_stands_pat_at_once() -> None:
    played = draw({1: 4, 2: 100, 3: 100, 4: 100}).play("4 call, 1 call, 2 call, 3 time")
    assert played.player(3).protected
    played.play("2 pat")
    assert played.player(3).drew == 0
    assert played.last(table.DrawChosen).seat == 3
    played.play("4 draw 1")
    assert played.turn == "1: draw"
    played.play("1 draw 3")
    assert played.player(1).drew == 3


def test_D12_lower_limit_then_upper_then_showdown() -> None:
    played = draw(THREE, wins="1").play("1 raise 8, 2 fold, 3 call, 3 pat, 1 pat")
    assert played.turn == "3: fold, check, bet 8"
    played.play("3 bet, 1 raise 16, 3 call")
    assert played.all(table.ShowdownResolved)
    assert played.stacks == {1: 126, 2: 98, 3: 76}


# --- D13-D15: entering, coming back, and who has what ------------------------------------------------------------


def test_D13_waiting_is_the_default_and_ends_with_the_big_blind() -> None:
    played = draw({1: 200, 2: 200, 4: 200}, button=1)  # 2 small, 4 big
    played.do(commands.SitDown(40, seat=5), player=player_of(5))
    assert played.owner(5).entry == "wait"
    next_hand(played)
    assert positions(played) == (2, 4, 5)
    assert played.posts == ["4 small_blind 2", "5 big_blind 4"]
    assert dealt_in(played) == [1, 2, 4, 5]
    assert not played.owner(5).owes_big_blind


def test_D13_who_waits_is_not_dealt_in_until_the_big_blind_reaches_him() -> None:
    played = draw({1: 200, 2: 200, 3: 200, 4: 200}, button=4)  # 1 small, 2 big
    played.do(commands.SitDown(40, seat=5), player=player_of(5))
    seen = []
    for _ in range(3):
        next_hand(played)
        seen.append((positions(played)[2], 5 in dealt_in(played)))
    assert seen == [(3, False), (4, False), (5, True)]


def test_D13_who_posts_is_dealt_in_at_once_and_his_post_is_live_with_the_option() -> None:
    played = draw({1: 200, 2: 200, 3: 200}, button=3)  # 1 small, 2 big
    played.do(commands.SitDown(40, seat=5, entry="post"), player=player_of(5))
    next_hand(played)  # button 1, blinds 2 and 3
    assert played.posts == ["2 small_blind 2", "3 big_blind 4", "5 live_post 4"]
    assert played.player(5).has_bet
    assert played.turn == "5: fold, check, raise 8"
    played.play("5 check, 1 call, 2 call")
    assert played.turn == "3: fold, check, raise 8"
    next_hand(played)
    assert played.posts == ["3 small_blind 2", "5 big_blind 4"]


def test_D13_nobody_posts_in_between_the_button_and_the_big_blind() -> None:
    played = draw({1: 200, 3: 200, 5: 200}, button=5)  # 1 small, 3 big
    played.do(commands.SitDown(40, seat=2, entry="post"), player=player_of(2))
    next_hand(played)
    assert positions(played) == (1, 3, 5)
    assert dealt_in(played) == [1, 3, 5], "2 sits between the button and the small blind"
    next_hand(played)
    assert positions(played) == (3, 5, 1)
    assert dealt_in(played) == [1, 2, 3, 5]
    assert "2 live_post 4" in played.posts


def test_D13_the_big_blind_that_reaches_a_poster_is_his_only_post() -> None:
    played = draw({1: 200, 2: 200, 4: 200}, button=1)
    played.do(commands.SitDown(40, seat=5, entry="post"), player=player_of(5))
    next_hand(played)
    assert played.posts == ["4 small_blind 2", "5 big_blind 4"]


def test_D13_he_may_choose_otherwise_while_he_waits() -> None:
    played = draw({1: 200, 2: 200, 3: 200}, button=3)
    played.do(commands.SitDown(40, seat=5), player=player_of(5))
    played.do(commands.ChooseEntry("post"), 5)
    assert 5 in dealt_in(next_hand(played))
    assert played.refusal(commands.ChooseEntry("wait"), 5) == "nothing_to_choose"


def out_while_blinds_pass(*, hands: int, entry: str = "post", seat: int = 3) -> Table:
    """Five players, button 5, so 1 and 2 have the blinds; ``seat`` sits out ``hands`` hands and comes back."""
    played = draw(dict.fromkeys(range(1, 6), 400), button=5)
    fold_around(played).do(commands.SitOut(), seat)
    played.expire()
    for _ in range(hands - 1):
        next_hand(played)
    fold_around(played).do(commands.ComeBack(entry), seat)  # type: ignore[arg-type]
    played.expire()
    return played


def test_D14_who_missed_the_big_blind_posts_it_live_but_not_between_the_button_and_the_big_blind() -> None:
    played = out_while_blinds_pass(hands=1)  # 4 posted the big blind past him; now 3 would have been small blind
    assert positions(played) == (2, 4, 5)
    assert dealt_in(played) == [1, 2, 4, 5]
    assert (played.owner(3).owes_big_blind, played.owner(3).owes_small_blind) == (True, False)
    next_hand(played)
    assert positions(played) == (4, 5, 1)
    assert played.posts == ["5 small_blind 2", "1 big_blind 4", "3 live_post 4"]


def test_D14_who_missed_both_posts_the_small_one_dead() -> None:
    played = out_while_blinds_pass(hands=3)
    assert positions(played) == (5, 1, 2)
    assert 3 in dealt_in(played)
    assert played.posts == ["1 small_blind 2", "2 big_blind 4", "3 live_post 4", "3 dead_small_blind 2"]
    assert (played.player(3).bet, played.player(3).put_in, played.player(3).dead) == (4, 6, 2)
    assert played.turn == "3: fold, check, raise 8"


def test_D14_who_missed_only_the_small_blind_posts_it_dead_and_no_bet() -> None:
    played = draw(dict.fromkeys(range(1, 6), 400), button=1)  # 2 small, 3 big
    fold_around(played).do(commands.SitOut(), 3)
    played.expire()  # 2 button, 4 small past him, 5 big
    fold_around(played).do(commands.ComeBack("post"), 3)
    played.expire()
    assert positions(played) == (4, 5, 1)
    assert played.posts == ["5 small_blind 2", "1 big_blind 4", "3 dead_small_blind 2"]
    assert not played.player(3).has_bet, "T3"
    assert played.turn_seat == 2
    played.play("2 fold")
    assert played.turn == "3: fold, call 4, raise 8"


def test_D14_or_he_waits_for_the_big_blind_and_owes_no_more() -> None:
    played = out_while_blinds_pass(hands=3, entry="wait")
    assert 3 not in dealt_in(played)
    next_hand(played)
    assert positions(played)[2] == 3
    assert [post for post in played.posts if post.startswith("3")] == ["3 big_blind 4"]
    assert not played.owner(3).owes_small_blind


def test_D14_who_missed_no_blind_owes_none() -> None:
    played = draw(dict.fromkeys(range(1, 6), 400), button=5)  # 1 small, 2 big
    fold_around(played).do(commands.SitOut(), 5)
    played.expire()  # 1 button, 2 small, 3 big
    fold_around(played).do(commands.ComeBack(), 5)
    played.expire()
    assert dealt_in(played) == [1, 2, 3, 4, 5]
    assert played.posts == ["3 small_blind 2", "4 big_blind 4"]


def test_D15_when_the_last_big_blind_has_left() -> None:
    played = draw(dict.fromkeys(range(1, 6), 400), button=1)  # 2 small, 3 big
    fold_around(played).do(commands.Leave(), 3)
    played.expire()
    assert positions(played) == (2, 4, 5)


def test_D15_when_the_last_small_blind_has_left() -> None:
    played = draw(dict.fromkeys(range(1, 6), 400), button=1)
    fold_around(played).do(commands.Leave(), 2)
    played.expire()
    assert positions(played) == (3, 4, 5)


def test_D15_when_three_become_two_the_last_big_blind_gets_the_button() -> None:
    played = draw(THREE, button=1)  # 2 small, 3 big
    fold_around(played).do(commands.Leave(), 1)
    played.expire()
    assert positions(played) == (3, 3, 2)
    played = draw(THREE, button=1)
    fold_around(played).do(commands.Leave(), 3)
    played.expire()
    assert positions(played) == (2, 2, 1)


@pytest.mark.parametrize("seat", [2, 4])
@pytest.mark.parametrize("entry", ["wait", "post"])
def test_D15_when_two_become_three_nobody_posts_the_big_blind_twice(seat: int, entry: str) -> None:
    played = draw({1: 400, 3: 400}, button=1)  # 3 has the big blind
    played.do(commands.SitDown(40, seat=seat, entry=entry), player=player_of(seat))  # type: ignore[arg-type]
    next_hand(played)
    assert positions(played)[2] == seat
    assert dealt_in(played) == sorted([1, 3, seat])
    assert len(played.posts) == 2


def test_D15_with_fewer_than_two_left_all_start_afresh_without_posting() -> None:
    played = draw(THREE, button=1)
    fold_around(played)
    for seat in (1, 2):
        played.do(commands.Leave(), seat)
    for seat in (1, 2, 5):
        played.do(commands.SitDown(40, seat=seat), player=f"new{seat}")
    played.expire()
    assert dealt_in(played) == [1, 2, 3, 5]
    assert len(played.posts) == 2
    assert positions(played)[2] != 3, "he had the big blind"


def test_D13_who_leaves_and_comes_back_at_once_is_a_new_player() -> None:
    played = draw(FOUR, button=4)  # 1 small, 2 big
    fold_around(played).do(commands.Leave(), 3)
    played.do(commands.SitDown(100, seat=3), player=player_of(3))
    played.expire()
    assert positions(played) == (1, 2, 3)
    assert played.posts == ["2 small_blind 2", "3 big_blind 4"]
    fold_around(played).do(commands.Leave(), 2)
    played.do(commands.SitDown(100, seat=2, entry="post"), player=player_of(2))
    played.expire()
    assert positions(played) == (3, 4, 1)
    assert played.posts == ["4 small_blind 2", "1 big_blind 4", "2 live_post 4"]


def test_D15_another_player_in_the_last_big_blinds_seat_has_not_posted_it() -> None:
    played = draw({1: 100, 3: 100}, button=1)
    fold_around(played).do(commands.Leave(), 3)
    played.do(commands.SitDown(40, seat=3), player="new")
    played.expire()
    assert dealt_in(played) == [1, 3]
    assert positions(played) in {(1, 1, 3), (3, 3, 1)}


def _anything(chance: Random, seat: int) -> AnyCommand:
    entry = chance.choice(("wait", "post"))
    return chance.choice(
        (
            commands.SitOut(),
            commands.ComeBack(entry),  # type: ignore[arg-type]
            commands.ChooseEntry(entry),  # type: ignore[arg-type]
            commands.Leave(),
            commands.SitDown(30_000, seat, entry),  # type: ignore[arg-type]
        )
    )


def _check_positions(before: tuple[HandStarted, ...], now: HandStarted, posts: list[str]) -> None:
    seats = [player.seat for player in now.players]
    assert now.big_blind is not None
    assert now.small_blind is not None
    assert now.button is not None
    assert len({now.button, now.small_blind, now.big_blind}) == min(3, len(seats))
    assert seats[-1] == now.button, "dealing starts left of the button"
    if len(seats) > 2:
        assert seats.index(now.small_blind) < seats.index(now.big_blind), "the small blind is before the big one"
    else:
        assert now.button == now.small_blind
    assert {post.split()[1] for post in posts} <= {"small_blind", "big_blind", "live_post", "dead_small_blind"}
    if before and len(seats) > 2:
        names = {player.seat: player.player_id for player in now.players}
        last = {player.seat: player.player_id for player in before[-1].players}
        again = before[-1].big_blind == now.big_blind and names[now.big_blind] == last.get(now.big_blind)
        assert not again, "the big blind twice in a row"
    if before:
        between = seats[: seats.index(now.big_blind)]
        assert all(post.split()[1] in ("small_blind", "big_blind") for post in posts if int(post.split()[0]) in between)


def _bring_two_together(chance: Random, played: Table) -> None:
    for number in range(1, 6):
        if played.state.next_hand_ms is None and played.state.hand is None:
            seat = played.state.seats[number - 1]
            if seat is None:
                played.do(commands.SitDown(30_000, seat=number), player=f"new{len(played.events)}")
            elif seat.sitting_out:
                played.do(commands.ComeBack(chance.choice(("wait", "post"))), number)


@pytest.mark.parametrize("seed", range(12))
def test_D15_over_many_hands_with_people_coming_and_going(seed: int) -> None:
    """The three places differ, in order, and nobody posts the big blind twice in a row while three or more play."""
    chance = Random(seed)
    played = draw_table(dict.fromkeys(range(1, 6), 10_000))
    played.deal()
    for _ in range(60):
        started = tuple(played.all(HandStarted))
        _check_positions(started[:-1], started[-1], played.posts)
        for _ in range(chance.choice((0, 0, 1, 2))):
            seat = chance.randint(1, 5)
            command = _anything(chance, seat)
            if not isinstance(played.decide(command, seat), Rejected):
                played.do(command, seat)
        fold_around(played)
        _bring_two_together(chance, played)
        played.expire()
    assert len(played.all(HandStarted)) > 50


def test_D15_everybody_posts_each_blind_once_a_round_when_nobody_moves() -> None:
    played = draw(dict.fromkeys(range(1, 6), 400))
    smalls, bigs = [positions(played)[1]], [positions(played)[2]]
    for _ in range(9):
        next_hand(played)
        smalls.append(positions(played)[1])
        bigs.append(positions(played)[2])
    assert sorted(smalls) == sorted(bigs) == sorted([1, 2, 3, 4, 5] * 2)
    assert smalls[1:] == bigs[:-1], "the big blind is the next small blind"
