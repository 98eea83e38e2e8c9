"""S: Seven-Card Stud. Limits 4-8, ante 1, bring-in 2; players sit clockwise in the order of their seats."""

import pytest

from brelan.events import commands, table
from brelan.rules.stud import river_plan
from tests.rules.kit import STUD, Table, stud

THREE = {1: 100, 2: 100, 3: 100}
UP = {1: "Kh 5d 9c 8c", 2: "Qs 7d 6h 5c", 3: "2d 6c 4h 3h"}


def to_fourth(up: dict[int, str], stacks: dict[int, int] | None = None) -> Table:
    """Everybody calls the bring-in."""
    played = stud(stacks or dict.fromkeys(up, 100), up)
    while played.state.hand is not None and played.street == 0:
        played.play(f"{played.turn_seat} {'bring_in' if 'bring_in' in played.turn else 'call'}")
    return played


def check_around(played: Table, streets: int) -> Table:
    until = played.street + streets
    while played.state.hand is not None and played.street < until:
        played.play(f"{played.turn_seat} check")
    return played


def test_S1_two_to_eight_play_and_nobody_has_a_button() -> None:
    for seats in ({1: 100, 8: 100}, dict.fromkeys(range(1, 9), 100)):
        started = stud(seats).last(table.HandStarted)
        assert [player.seat for player in started.players] == sorted(seats)
        assert (started.button, started.small_blind, started.big_blind, started.deck_size) == (None, None, None, 52)
    lonely = Table(STUD)
    lonely.seat(1, 100)
    lonely.do(commands.SitOut(), 1).do(commands.ComeBack(), 1)
    assert not lonely.all(table.HandStarted)


def test_S2_antes_are_posted_without_asking_and_are_dead() -> None:
    played = stud(THREE, UP)
    assert played.posts == ["1 ante 1", "2 ante 1", "3 ante 1"]
    played.play("3 bet 4")
    assert played.turn == "1: fold, call 4, raise 8"
    assert played.player(1).bet == 0
    assert played.player(1).stack == 99


def asking(*, seats: tuple[int, ...] = (1, 2, 3), not_automatic: tuple[int, ...] = (2,)) -> Table:
    played = Table(STUD)
    for seat in seats:
        played.seat(seat, 100)
    for seat in not_automatic:
        played.owner(seat).auto_post = False
    return played.deal()


def test_S2_who_turned_it_off_is_asked_before_every_hand() -> None:
    played = asking()
    asked = played.last(table.PostAsked)
    assert (asked.seats, asked.deadline_ms) == ((2,), played.now + 10_000)
    assert not played.all(table.HandStarted)
    assert played.refusal(commands.Act(asked.turn_id, "post"), 1) == "not_your_turn"
    assert played.refusal(commands.Act(asked.turn_id + 1, "post"), 2) == "stale_turn"
    played.do(commands.Act(asked.turn_id, "post"), 2)
    assert [player.seat for player in played.last(table.HandStarted).players] == [1, 2, 3]
    while played.state.hand is not None:
        played.play(f"{played.turn_seat} {'bring_in' if 'bring_in' in played.turn else 'fold'}")
    played.expire()
    assert len(played.all(table.PostAsked)) == 2


@pytest.mark.parametrize("how", ["declines", "is silent"])
def test_S2_who_does_not_say_yes_is_dealt_out(how: str) -> None:
    played = asking()
    if how == "declines":
        played.do(commands.Act(played.last(table.PostAsked).turn_id, "decline"), 2)
    else:
        played.expire()
        assert played.now == played.last(table.PostAsked).deadline_ms
    assert [player.seat for player in played.last(table.HandStarted).players] == [1, 3]
    assert played.owner(2).sitting_out


def test_S2_with_too_few_left_the_hand_is_called_off_and_the_agreement_forgotten() -> None:
    played = asking(seats=(1, 2), not_automatic=(1, 2))
    turn_id = played.last(table.PostAsked).turn_id
    played.do(commands.Act(turn_id, "post"), 1)
    played.expire()
    assert not played.all(table.HandStarted)
    assert played.last(table.NextHandScheduled).at_ms == 0
    played.do(commands.ComeBack(), 2)
    while not played.all(table.PostAsked)[1:]:
        played.expire()
    assert played.last(table.PostAsked).seats == (1, 2)


def test_S2_nobody_is_sat_out_for_not_answering_a_question_that_no_longer_matters() -> None:
    played = asking(seats=(1, 2))
    played.do(commands.Leave(), 1)
    assert not played.state.post_ask
    assert not played.owner(2).sitting_out
    paused = asking()
    paused.do(commands.PauseTable(), operator=True)
    assert not paused.state.post_ask
    paused.do(commands.ResumeTable(), operator=True)
    while len(paused.all(table.PostAsked)) < 2:
        paused.expire()
    assert paused.last(table.PostAsked).seats == (2,)


def test_S3_third_street_is_two_down_and_one_up_without_a_burn() -> None:
    played = stud(THREE, UP)
    dealt = played.last(table.CardsDealt)
    assert dealt.street == "third"
    assert [(cards.seat, cards.down, len(cards.up)) for cards in dealt.cards] == [(1, 2, 1), (2, 2, 1), (3, 2, 1)]
    assert dealt.burned == 0


@pytest.mark.parametrize(
    ("doors", "seat"),
    [
        ("Kh Qs 2d", 3),
        ("2d 2c 2s", 2),  # clubs are the lowest
        ("2h 2s 3c", 1),
        ("3h 3d 3s", 2),
        ("Ah Ac Kd", 3),  # the ace is high
        ("As Ad Ac", 3),
    ],
)
def test_S4_the_lowest_door_card_brings_in_suits_breaking_ties(doors: str, seat: int) -> None:
    played = stud(THREE, dict(zip((1, 2, 3), doors.split(), strict=True)))
    assert played.turn == f"{seat}: bring_in 2, bet 4"


def test_S5_the_bring_in_may_not_be_folded_or_checked() -> None:
    played = stud(THREE, UP)
    for kind in ("fold", "check", "call", "raise", "complete"):
        assert played.refusal(commands.Act(played.turn_id, kind), 3) == "illegal_action"
    played.play("3 bring_in")
    assert played.turn == "1: fold, call 2, complete 4"
    played.play("1 complete 4")
    assert played.turn == "2: fold, call 4, raise 8"


def test_S5_there_is_no_option_when_all_call_the_bring_in() -> None:
    played = stud(THREE, UP).play("3 bring_in, 1 call, 2 call")
    assert played.state.hand is not None
    assert played.state.hand.street == 1
    assert played.pots == [(9, {1, 2, 3})]


def test_S6_one_card_is_burned_before_each_later_street_and_the_river_is_down() -> None:
    played = check_around(to_fourth(UP), 4)
    dealt = played.all(table.CardsDealt)
    assert [(one.street, one.burned, one.cards[0].down, len(one.cards[0].up)) for one in dealt] == [
        ("third", 0, 2, 1),
        ("fourth", 1, 0, 1),
        ("fifth", 1, 0, 1),
        ("sixth", 1, 0, 1),
        ("river", 1, 1, 0),
    ]


@pytest.mark.parametrize(
    ("boards", "seat"),
    [
        ({1: "Kh 5d", 2: "Qs 7d", 3: "2d Ac"}, 3),  # ace high
        ({1: "Kh 5d", 2: "Qs 7d", 3: "2d 2c"}, 3),  # a pair
        ({1: "3h 3d", 2: "Qs 7d", 3: "2d 2c"}, 1),
        ({1: "Kh 5d", 2: "Ks 7d", 3: "2d 4c"}, 2),  # the kicker
        ({1: "2h 5d", 2: "Ks 7d", 3: "Kd 7c"}, 2),  # a tie: nearest the dealer's left, whatever the suit
        ({1: "2h 5d", 2: "Kd 7c", 3: "Ks 7s"}, 2),
    ],
)
def test_S7_the_highest_board_acts_first_from_fourth_street_on(boards: dict[int, str], seat: int) -> None:
    played = to_fourth(boards)
    assert played.turn_seat == seat
    assert played.turn.startswith(f"{seat}: fold, check, bet 4")


def test_S7_no_straights_or_flushes_on_a_board() -> None:
    boards = {1: "2h 3h 4h 5h", 2: "6d 6s 8c 9d", 3: "Ts Jc Qd Ks"}
    assert check_around(to_fourth(boards), 2).turn_seat == 2


def test_S7_when_the_highest_board_is_all_in_the_next_clockwise_with_chips_acts_first() -> None:
    boards = {1: "5h 5d", 2: "Qs 7d", 3: "Ad Ac", 4: "2c 9d"}
    played = stud({1: 100, 2: 100, 3: 3, 4: 100}, boards).play("4 bring_in, 1 call, 2 call, 3 call")
    assert played.player(3).all_in
    assert played.turn_seat == 4


def test_S7_a_folded_board_does_not_count() -> None:
    played = stud(THREE, {1: "Kh Kd", 2: "Qs 7d", 3: "2d 6c"}).play("3 bring_in, 1 fold, 2 call")
    assert played.turn_seat == 2


def test_S8_lower_limit_on_third_and_fourth_upper_from_fifth_on() -> None:
    played = to_fourth(UP)
    for size in (4, 8, 8, 8):
        assert f"bet {size}" in played.turn
        check_around(played, 1)


def test_S9_open_pair_lets_anyone_bet_either_limit() -> None:
    played = to_fourth({1: "Kh 5d", 2: "7s 7d", 3: "2d 6c"})
    assert played.turn == "2: fold, check, bet 4, bet 8"
    assert played.refusal(commands.Act(played.turn_id, "bet"), 2) == "ambiguous_amount"
    played.play("2 check")
    assert played.turn == "3: fold, check, bet 4, bet 8"
    played.play("3 bet 4")
    assert played.turn == "1: fold, call 4, raise 8, raise 12"
    played.play("1 raise 8")
    assert played.turn == "2: fold, call 8, raise 12, raise 16"


def test_S9_once_the_upper_limit_was_bet_every_raise_is_that() -> None:
    played = to_fourth({1: "Kh 5d", 2: "7s 7d", 3: "2d 6c"}).play("2 bet 8")
    assert played.turn == "3: fold, call 8, raise 16"
    played = to_fourth({1: "Kh 5d", 2: "7s 7d", 3: "2d 6c"}).play("2 bet 4, 3 raise 12")
    assert played.turn == "1: fold, call 12, raise 20"


def test_S9_the_right_stays_when_the_pair_is_folded_but_a_folded_pair_gives_none() -> None:
    played = to_fourth({1: "Kh 5d", 2: "7s 7d", 3: "2d 6c"}).play("2 fold")
    assert played.turn == "3: fold, check, bet 4, bet 8"
    played = stud(THREE, {1: "Kh 5d", 2: "7s 7d", 3: "2d 6c"}).play("3 bring_in, 1 call, 2 fold")
    assert played.turn == "1: fold, check, bet 4"


def test_S9_never_on_another_street() -> None:
    played = check_around(to_fourth({1: "Kh 5d 5c", 2: "8s 7d 6h", 3: "2d 6c 4h"}), 1)
    assert played.turn == "1: fold, check, bet 8"
    played = check_around(to_fourth({1: "Kh 5d 9c", 2: "7s 7d 6h", 3: "2d 6c 4h"}), 1)
    assert played.turn == "2: fold, check, bet 8"


def test_S9_an_all_in_players_pair_counts() -> None:
    boards = {1: "Kh 5d", 2: "7s 7d", 3: "2d 6c"}
    played = stud({1: 100, 2: 3, 3: 100}, boards).play("3 bring_in, 1 call, 2 call")
    assert played.turn == "3: fold, check, bet 4, bet 8"


@pytest.mark.parametrize(
    ("stub", "burned", "players", "plan"),
    [
        (9, 3, 8, "normal"),
        (8, 3, 7, "normal"),
        (8, 3, 8, "reshuffle"),
        (7, 3, 7, "reshuffle"),
        (4, 3, 7, "reshuffle"),  # exactly enough, nothing to spare
        (3, 3, 7, "community"),
        (1, 3, 8, "community"),
        (0, 3, 4, "community"),
        (0, 3, 3, "reshuffle"),
    ],
)
def test_S10_by_the_numbers_of_cards(stub: int, burned: int, players: int, plan: str) -> None:
    assert river_plan(stub, burned, players) == plan


EIGHT = {
    1: "Kh 5d 9c 8c",
    2: "Qs 7d 6h 5c",
    3: "2d 6c 4h 3h",
    4: "Kd Qd Jd Td",
    5: "Ks Js 9s 8s",
    6: "Kc Qc Jc Tc",
    7: "Qh Jh Th 9h",
    8: "As Ad 8d 8h",
}


def test_S10_seven_of_eight_at_the_river_get_the_burned_cards_too() -> None:
    played = stud(dict.fromkeys(EIGHT, 100), EIGHT).play("3 bring_in, 4 fold")
    played.play("5 call, 6 call, 7 call, 8 call, 1 call, 2 call")
    river = check_around(played, 4).last(table.CardsDealt)
    assert (river.reshuffled, river.burned, river.community) == (True, 0, None)
    assert [cards.down for cards in river.cards] == [1] * 7


def test_S10_eight_at_the_river_share_one_community_card() -> None:
    played = check_around(to_fourth(EIGHT), 3)
    river = played.last(table.CardsDealt)
    assert river.community is not None
    assert all(cards.down == 0 and not cards.up for cards in river.cards)
    assert played.turn_seat == 8, "S12: the boards decide, the community card is everybody's"
    check_around(played, 1)
    assert played.state.hand is None


def test_S10_the_dealer_may_do_nothing_else() -> None:
    played = stud(dict.fromkeys(EIGHT, 100), EIGHT)
    played.dealer_answers = False
    played.play("3 bring_in, 4 call, 5 call, 6 call, 7 call, 8 call, 1 call, 2 call")
    dealt = played.asked.pop()
    with pytest.raises(ValueError, match="burned"):
        played.decide(table.CardsDealt(dealt.request_id, dealt.hand_id, dealt.street, dealt.cards, 0))
    with pytest.raises(ValueError, match="players"):
        played.decide(table.CardsDealt(dealt.request_id, dealt.hand_id, dealt.street, dealt.cards[:-1], 1))


def test_S11_who_folded_gets_no_more_cards_and_wins_nothing() -> None:
    played = stud(THREE, UP, wins="1 > 2 > 3").play("3 bring_in, 1 fold, 2 call")
    assert [cards.seat for cards in played.last(table.CardsDealt).cards] == [2, 3]
    check_around(played, 4)
    assert played.last(table.PotAwarded).shares[0].seat == 2


def test_S12_on_the_river_the_highest_board_still_in_acts_first() -> None:
    played = check_around(to_fourth({1: "Kh 5d 9c 2h", 2: "Qs 7d 6h Qc", 3: "2d 6c 4h 3h"}), 3)
    assert played.turn_seat == 2  # on the river, with the boards of sixth street
    played = check_around(to_fourth({1: "Kh 5d 9c 2h", 2: "Qs 7d 6h Qc", 3: "2d 6c 4h 3h"}), 2)
    played.play("2 bet, 3 call, 1 call")
    assert played.turn_seat == 2
    folded = check_around(to_fourth({1: "Kh 5d 9c 2h", 2: "Qs 7d 6h Qc", 3: "2d 6c 4h 3h"}), 2)
    folded.play("2 check, 3 bet, 1 call, 2 fold")
    assert folded.turn_seat == 1


def test_S13_all_in_for_the_ante_plays_for_the_antes_only() -> None:
    played = stud({1: 100, 2: 1, 3: 100}, UP, wins="2 > 1 > 3")
    assert played.player(2).all_in
    played.play("3 bring_in, 1 complete, 3 call")
    assert played.pots == [(3, {1, 2, 3}), (8, {1, 3})]


def test_S13_a_short_ante_is_a_level_of_its_own() -> None:
    played = stud({1: 100, 2: 4, 3: 100}, UP, ante=5, bring_in=8, lower_limit=20, upper_limit=40, minimum_buy_in=200)
    played.play("3 bring_in, 1 call")
    assert played.pots == [(12, {1, 2, 3}), (18, {1, 3})]


def test_S13_heads_up_what_was_beyond_a_short_ante_goes_back_and_all_is_dealt() -> None:
    given = {"ante": 7, "bring_in": 15, "lower_limit": 40, "upper_limit": 80, "minimum_buy_in": 400}
    played = stud({1: 994, 2: 6}, {1: "Kh", 2: "2c"}, wins="2", **given)
    assert played.returned == [(1, 1)]
    assert not played.all(table.TurnOpened)
    assert [one.street for one in played.all(table.CardsDealt)] == ["third", "fourth", "fifth", "sixth", "river"]
    assert played.stacks == {1: 988, 2: 12}


@pytest.mark.parametrize(
    ("stacks", "seat"),
    [
        ({1: 100, 2: 100, 3: 1, 4: 100}, 4),  # the low card (3) is all-in: the next clockwise
        ({1: 100, 2: 100, 3: 1, 4: 1}, 1),  # so is 4
        ({1: 1, 2: 100, 3: 1, 4: 1, 5: 100}, 5),
    ],
)
def test_S13_the_next_with_chips_brings_in_for_a_low_card_that_is_all_in(stacks: dict[int, int], seat: int) -> None:
    played = stud(stacks, {1: "Kh", 2: "Qs", 3: "2c", 4: "Jd", 5: "Td"})
    assert played.turn == f"{seat}: bring_in 2, bet 4"
    played.play(f"{seat} bring_in")
    assert played.turn_seat in stacks
    assert not played.player(played.turn_seat or 0).all_in


def test_S13_no_bring_in_when_fewer_than_two_can_act() -> None:
    played = stud({1: 100, 2: 1, 3: 1}, UP, wins="1")
    assert not played.all(table.TurnOpened)
    assert played.state.hand is None
    assert played.stacks == {1: 102, 2: 0, 3: 0}


def test_S13_a_short_bring_in_leaves_the_others_owing_it_in_full() -> None:
    played = stud({1: 100, 2: 100, 3: 2}, UP)
    assert played.turn == "3: bring_in 1"
    played.play("3 bring_in")
    assert played.turn == "1: fold, call 2, complete 4"
    played.play("1 call")
    assert played.turn == "2: fold, call 2, complete 4"


def test_S13_heads_up_what_was_put_in_beyond_a_short_bring_in_goes_back() -> None:
    played = stud({1: 100, 3: 2}, UP, wins="3").play("3 bring_in, 1 call")
    assert played.returned == [(1, 1)]
    assert played.stacks == {1: 98, 3: 4}


def test_S13_exactly_the_bring_in_is_all_in_for_it_and_more_may_open_all_in() -> None:
    assert stud({1: 100, 2: 100, 3: 3}, UP).turn == "3: bring_in 2"
    assert stud({1: 100, 2: 100, 3: 4}, UP).turn == "3: bring_in 2, bet 3"
