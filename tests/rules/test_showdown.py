"""H: who shows, who may, who is paid. Limits 4-8."""

import pytest

from brelan.events import commands, table
from tests.rules.kit import Table, draw, stud

FOUR = {1: 100, 2: 100, 3: 100, 4: 100}
THREE = {1: 100, 2: 100, 3: 100}


def to_last_round(stacks: dict[int, int], wins: str = "1 > 2 > 3 > 4", button: int = 4) -> Table:
    """Draw: everybody has called and stands pat; 1 is left of the button."""
    played = draw(stacks, button=button, wins=wins)
    while played.state.hand is not None and played.state.hand.street == 0:
        word = "pat" if "draw" in played.turn else "call" if "call" in played.turn else "check"
        played.play(f"{played.turn_seat} {word}")
    return played


def order(played: Table) -> tuple[int, ...]:
    return played.last(table.ShowdownRequested).order


def shown(played: Table) -> list[int]:
    return [event.hand.seat for event in played.all(table.HandShown)]


def test_H1_the_last_to_bet_or_raise_shows_first_then_clockwise() -> None:
    played = to_last_round(FOUR).play("1 check, 2 bet, 3 call, 4 raise, 1 call, 2 call, 3 call")
    assert order(played) == (4, 1, 2, 3)


def test_H1_if_all_checked_who_had_to_act_first() -> None:
    assert order(to_last_round(FOUR).play("1 check, 2 check, 3 check, 4 check")) == (1, 2, 3, 4)
    up = {1: "Kh 7d 5c 2s", 2: "Qs Td 9c 8h", 3: "2d Ac As 4h"}
    played = stud(THREE, up).play("3 bring_in, 1 call, 2 call, 3 check, 1 check, 2 check, 3 bet, 1 call, 2 call")
    played.play("3 bet, 1 call, 2 call, 3 check, 1 check, 2 check")
    assert order(played) == (3, 1, 2), "the highest board, not the last bettor of an earlier street"


def test_H1_the_bets_of_earlier_rounds_do_not_matter() -> None:
    played = draw(THREE, button=3, wins="1").play("3 call, 1 call, 2 raise, 3 call, 1 call, 1 pat, 2 pat, 3 pat")
    assert order(played.play("1 check, 2 check, 3 check")) == (1, 2, 3)


def test_H1_players_of_a_side_pot_show_before_who_is_all_in_for_the_main_pot_only() -> None:
    played = to_last_round({1: 4, 2: 100, 3: 100, 4: 100}).play("2 check, 3 bet, 4 call, 2 call")
    assert order(played) == (3, 4, 2, 1)
    played = to_last_round({1: 100, 2: 9, 3: 100, 4: 100}).play("1 bet, 2 call, 3 raise, 4 call, 1 call")
    assert order(played) == (3, 4, 1, 2)
    played = to_last_round({1: 4, 2: 100, 3: 100, 4: 100}).play("2 check, 3 check, 4 check")
    assert order(played) == (2, 3, 4, 1), "no side pot was bet, but 1 was not in that round: he shows last clockwise"


def test_H2_a_winner_who_was_not_called_shows_nothing_but_may() -> None:
    played = to_last_round(THREE, button=3).play("1 bet, 2 fold, 3 fold")
    assert not shown(played)
    assert not played.all(table.HandMucked)
    assert played.last(table.ShowOffered).seats == (1,)
    assert played.refusal(commands.Show(), 2) == "nothing_to_show"
    played.do(commands.Show(), 1)
    assert shown(played) == [1]
    assert played.refusal(commands.Show(), 1) == "nothing_to_show"


def test_H2_he_may_muck_and_that_is_that() -> None:
    played = to_last_round(THREE, button=3).play("1 bet, 2 fold, 3 fold")
    played.do(commands.Muck(), 1)
    assert played.last(table.HandMucked).seat == 1
    assert played.refusal(commands.Show(), 1) == "nothing_to_show"


def test_H2_the_offer_ends_with_the_next_hand() -> None:
    played = to_last_round(THREE, button=3).play("1 bet, 2 fold, 3 fold")
    played.expire()
    assert played.refusal(commands.Show(), 1) == "nothing_to_show"


def test_H3_the_first_and_every_winner_are_shown_the_others_mucked_if_they_want_that() -> None:
    played = to_last_round(FOUR, wins="2 > 1 > 3 > 4")
    played.owner(4).auto_muck = False
    played.play("1 check, 2 check, 3 bet, 4 call, 1 call, 2 call")
    assert shown(played) == [3, 2]
    assert [event.seat for event in played.all(table.HandMucked)] == [1]
    assert set(played.last(table.ShowOffered).seats) == {1, 4}
    played.do(commands.Show(), 4)
    assert shown(played) == [3, 2, 4]


def test_H3_a_hand_that_wins_a_side_pot_only_is_shown() -> None:
    played = to_last_round({1: 4, 2: 100, 3: 100, 4: 100}, wins="1 > 4 > 2 > 3").play("2 bet, 3 call, 4 call")
    assert shown(played) == [2, 4, 1]


def test_H4_mucking_is_only_offered_to_who_has_lost_every_pot() -> None:
    played = to_last_round({1: 4, 2: 100, 3: 100, 4: 100}, wins="1 > 4 > 2 > 3").play("2 bet, 3 call, 4 call")
    assert set(played.last(table.ShowOffered).seats) == {3}
    for seat in (1, 4):
        assert played.refusal(commands.Muck(), seat) == "nothing_to_show"


def test_H4_cards_speak_and_the_dealers_word_has_to_fit() -> None:
    played = to_last_round(THREE, button=3, wins="2 > 1 > 3")
    played.dealer_answers = False
    played.play("1 check, 2 check, 3 check")
    answer = played.asked.pop()
    for winners in ((), ((),), ((4,),), ((2,), (2,)), ((2, 2),)):
        with pytest.raises(ValueError, match="showdown"):
            played.decide(table.ShowdownResolved(answer.request_id, answer.hand_id, winners, answer.hands))
    played.do(answer)
    assert played.stacks == {1: 96, 2: 108, 3: 96}
    played.do(answer)
    assert played.stacks == {1: 96, 2: 108, 3: 96}, "answered twice, paid once"


def test_H5_no_fact_of_the_table_names_a_mucked_or_folded_hand() -> None:
    played = to_last_round(FOUR, wins="2 > 1 > 3 > 4").play("1 bet, 2 call, 3 call, 4 fold")
    assert shown(played) == [1, 2]
    assert [event.seat for event in played.all(table.HandMucked)] == [3]
    assert played.refusal(commands.Show(), 4) == "nothing_to_show"


def test_H6_all_in_hands_stay_hidden_until_the_last_card_and_the_last_bettor_of_any_street_begins() -> None:
    up = {1: "Kh 7d 5c 2s", 2: "Qs Td 9c 8h", 3: "2d Ac As 4h"}
    played = stud({1: 13, 2: 13, 3: 13}, up, wins="3").play("3 bring_in, 1 complete, 2 raise 8, 3 raise 12, 1 call")
    played.play("2 call")
    assert played.state.hand is None
    river = max(place for place, event in enumerate(played.events) if isinstance(event, table.CardsDealt))
    first_shown = min(place for place, event in enumerate(played.events) if isinstance(event, table.HandShown))
    assert first_shown > river
    assert order(played) == (3, 1, 2)


def test_H6_all_but_one_all_in() -> None:
    played = to_last_round({1: 100, 2: 12, 3: 12}, button=3).play("1 check, 2 bet, 3 call, 1 call")
    assert order(played) == (2, 3, 1), "the final round had a bet"
    played = draw({1: 8, 2: 100, 3: 8}, button=3, wins="1").play(
        "3 call, 1 raise 8, 2 call, 3 call, 1 pat, 2 pat, 3 pat"
    )
    assert order(played) == (1, 2, 3)


def test_H6_without_any_bet_who_would_have_had_to_act_first() -> None:
    up = {1: "Kh 7d 5c 2s", 2: "Qs Td 9c 8h", 3: "2d Ac As 4h"}
    assert order(stud({1: 1, 2: 1, 3: 1}, up, wins="2")) == (3, 1, 2)
    assert order(draw({1: 4, 2: 2, 3: 4}, button=1, wins="2").play("1 call, 2 pat, 3 pat, 1 pat")) == (3, 1, 2)


def test_H7_the_last_side_pot_is_settled_first_the_main_pot_last() -> None:
    played = to_last_round({1: 4, 2: 12, 3: 100, 4: 100}, wins="1 > 2 > 3 > 4")
    played.play("2 bet, 3 raise, 4 call")
    awarded = played.all(table.PotAwarded)
    assert [(event.pot, event.amount, event.shares[0].seat) for event in awarded] == [
        (2, 16, 3),
        (1, 24, 2),
        (0, 16, 1),
    ]
    assert played.stacks == {1: 16, 2: 24, 3: 96, 4: 80}
