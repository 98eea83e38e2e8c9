"""Which card goes where, by the rulebook's numbers. Decks are stacked; cards are text."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brelan.deck.dealing import DealError, Shuffle, changed_seats, hole_cards, seat_records, stacked
from brelan.deck.events import Reshuffled
from brelan.deck.shuffle import secret_shuffle
from brelan.events.table import CardsRequested, DrawChosen, HandShown, ShowdownRequested, ShowRequested
from brelan.rules.cards import deck, text_of
from tests.deck.hands import HAND, DealtHand, fresh_deck, reversing

FIRST_FOUR = ("third", "fourth", "fifth", "sixth")
STREETS = (*FIRST_FOUR, "river")


# --- draw --------------------------------------------------------------------------------------------------------


def test_D1_the_table_says_how_many_cards_there_are() -> None:
    assert DealtHand(32, 4).everywhere() == list(deck(32))
    assert DealtHand(36, 5).everywhere() == list(deck(36))
    assert text_of(DealtHand(36, 5).state.stub[:4]) == "6c6d6h6s"


def test_D9_five_cards_one_at_a_time() -> None:
    hand = DealtHand(32, 2, "AsKsAhKhAdKdAcKcQs7c")
    answer = hand.street("deal", seats=(2, 1))
    assert [(cards.seat, cards.down, cards.up) for cards in answer.cards] == [(2, 5, ()), (1, 5, ())]
    assert hand.cards(2) == "AsAhAdAcQs"
    assert hand.cards(1) == "KsKhKdKc7c"
    assert (answer.burned, answer.reshuffled, answer.community) == (0, False, None)


def test_D10_kept_cards_stay_in_order_and_the_new_ones_follow() -> None:
    hand = DealtHand(32, 2, "AsKsAhKhAdKdAcKcQs7cJsTs")
    hand.street("deal")
    assert hand.draw(1, 4, 1).count == 2
    assert hand.cards(1) == "AsAdAcJsTs"
    assert text_of(hand.state.hands[1].discards) == "AhQs"
    assert hole_cards(hand.state, 1).up == (False,) * 5


def test_D11_the_stub_is_used_up_first_then_the_earlier_discards_come_back() -> None:
    hand = DealtHand(36, 5, reversing())
    hand.street("deal")
    first, second = hand.cards(1), hand.cards(2)
    assert not hand.draw(1, 0, 1, 2, 3, 4).reshuffled
    assert not hand.draw(2, 0, 1, 2, 3, 4).reshuffled
    assert hand.stub() == "As"
    assert hand.draw(3, 0, 1, 2, 3, 4).reshuffled
    assert hand.cards(3).startswith("As")
    assert set(hand.cards(3)[2:]) <= set(first + second)
    thrown = {*hand.state.hands[1].discards, *hand.state.hands[2].discards}
    assert set(hand.state.hands[3].cards[1:]) | set(hand.state.stub) == thrown


def test_D11_nobody_gets_back_what_he_has_just_thrown() -> None:
    hand = DealtHand(36, 5, secret_shuffle)
    hand.street("deal")
    for seat in range(1, 6):
        thrown = set(hand.state.hands[seat].cards)
        hand.draw(seat, 0, 1, 2, 3, 4)
        assert not thrown & set(hand.state.hands[seat].cards)


def test_D11_cards_that_came_back_once_are_not_shuffled_in_again_as_discards() -> None:
    hand = DealtHand(36, 5, reversing())
    hand.street("deal")
    for seat in (1, 2, 3):
        hand.draw(seat, 0, 1, 2, 3, 4)
    assert set(hand.state.discards) == set(hand.state.hands[3].discards)
    hand.draw(4, 0, 1, 2, 3, 4)
    assert hand.draw(5, 0, 1, 2, 3, 4).reshuffled
    assert hand.everywhere() == list(deck(36))


def test_D11_the_hands_of_those_who_folded_stay_out() -> None:
    """Seats 1 and 2 folded before the draw: ten cards nobody can get."""
    hand = DealtHand(36, 5, reversing())
    hand.street("deal")
    folded = {*hand.state.hands[1].cards, *hand.state.hands[2].cards}
    for seat in (3, 4, 5):
        hand.draw(seat, 0, 1, 2, 3, 4)
        assert not folded & set(hand.state.hands[seat].cards)
    assert {*hand.state.hands[1].cards, *hand.state.hands[2].cards} == folded


# --- stud --------------------------------------------------------------------------------------------------------


def test_S3_two_down_then_one_up_one_at_a_time_without_a_burn() -> None:
    hand = DealtHand(52, 3, "2c3c4c5c6c7c8c9cTcJc")
    answer = hand.street("third")
    assert [hand.cards(seat) for seat in (1, 2, 3)] == ["2c5c8c", "3c6c9c", "4c7cTc"]
    assert [(cards.seat, cards.down, text_of(cards.up)) for cards in answer.cards] == [
        (1, 2, "8c"),
        (2, 2, "9c"),
        (3, 2, "Tc"),
    ]
    assert (answer.burned, hand.stub()[:2]) == (0, "Jc")
    assert hole_cards(hand.state, 1).up == (False, False, True)


def test_S6_one_card_is_burned_before_each_later_street() -> None:
    hand = DealtHand(52, 2, "2c2d2h2s3c3d" "9c4c4d" "9d5c5d" "9h6c6d" "9s7c7d")  # fmt: skip
    hand.street("third")
    ups = [[text_of(cards.up) for cards in hand.street(street).cards] for street in FIRST_FOUR[1:]]
    assert ups == [["4c", "4d"], ["5c", "5d"], ["6c", "6d"]]
    river = hand.street("river")
    assert [(cards.down, cards.up) for cards in river.cards] == [(1, ()), (1, ())]
    assert (river.burned, river.reshuffled) == (1, False)
    assert text_of(hand.state.burned) == "9c9d9h9s"
    assert hand.cards(2) == "2d2s3d4d5d6d7d"
    assert hole_cards(hand.state, 2).up == (False, False, True, True, True, True, False)


def test_S10_enough_for_a_burn_and_everybody() -> None:
    hand = DealtHand(52, 6, reversing())
    hand.streets(*FIRST_FOUR)
    assert len(hand.state.stub) == 13
    assert hand.street("river").burned == 1


def test_S10_burned_cards_are_shuffled_in_when_they_serve_everybody() -> None:
    hand = DealtHand(52, 7, reversing())
    hand.streets(*FIRST_FOUR)
    left = {*hand.state.stub, *hand.state.burned}
    assert (len(hand.state.stub), len(left)) == (7, 10)  # one to burn and seven to deal would be eight
    river = hand.street("river")
    assert (river.burned, river.reshuffled, river.community) == (0, True, None)
    assert [cards.down for cards in river.cards] == [1] * 7
    dealt = [hand.state.hands[seat].cards[-1] for seat in hand.seats]
    assert dealt == sorted(left, reverse=True)[:7]


@pytest.mark.parametrize(
    ("fifth", "sixth", "river", "how"),
    [
        (7, 5, 4, "burn"),  # five left: one to burn, four to deal
        (7, 5, 5, "reshuffle"),  # five left and nothing to burn, three burned ones come in
        (8, 6, 6, "reshuffle"),  # three left and three burned: just enough
        (8, 7, 5, "reshuffle"),  # two and three: just enough
        (8, 7, 6, "community"),  # two and three for six
    ],
)
def test_S10_to_the_card(fifth: int, sixth: int, river: int, how: str) -> None:
    hand = DealtHand(52, 8, reversing())
    hand.streets("third", "fourth")
    hand.street("fifth", range(1, fifth + 1))
    hand.street("sixth", range(1, sixth + 1))
    answer = hand.street("river", range(1, river + 1))
    assert (answer.burned, answer.reshuffled, answer.community is not None) == {
        "burn": (1, False, False),
        "reshuffle": (0, True, False),
        "community": (0, True, True),
    }[how]
    assert hand.everywhere() == list(deck(52))


def test_S10_one_community_card_when_even_the_burned_ones_do_not_serve_everybody() -> None:
    hand = DealtHand(52, 8, reversing())
    hand.streets(*FIRST_FOUR)
    left = {*hand.state.stub, *hand.state.burned}
    assert len(left) == 4
    river = hand.street("river")
    assert [(cards.seat, cards.down, cards.up) for cards in river.cards] == [(seat, 0, ()) for seat in hand.seats]
    assert (river.burned, river.reshuffled, changed_seats(river)) == (0, True, ())
    assert river.community == max(left) == hand.state.community
    assert all(len(held.cards) == 6 for held in hand.state.hands.values())
    assert hand.everywhere() == list(deck(52))


def test_S10_a_community_card_is_everybodys_seventh() -> None:
    hand = DealtHand(52, 8, reversing())
    hand.streets(*STREETS)
    resolved = hand.showdown(*hand.seats)
    assert all(len(shown.cards) == 6 for shown in resolved.hands)
    assert all(set(shown.best) <= {*shown.cards, hand.state.community} for shown in resolved.hands)


def test_S11_folded_hands_never_come_back_into_play() -> None:
    hand = DealtHand(52, 8, reversing())
    hand.streets("third", "fourth")
    folded = {seat: hand.state.hands[seat].cards for seat in (3, 8)}
    staying = (1, 2, 4, 5, 6, 7)
    hand.streets("fifth", "sixth", "river", seats=staying)
    for seat, cards in folded.items():
        assert hand.state.hands[seat].cards == cards
        assert not any(set(cards) & set(hand.state.hands[other].cards) for other in staying)


# --- showdown ----------------------------------------------------------------------------------------------------


def test_H4_cards_speak_the_best_five_of_seven_win() -> None:
    top = "9c2h" "8c9d" "7cJd" "2s" "6c9h" "2d" "5cJh" "2c" "KsAs" "3s" "QsJc"  # fmt: skip
    hand = DealtHand(52, 2, top)
    hand.streets(*STREETS)
    assert (hand.cards(1), hand.cards(2)) == ("9c8c7c6c5cKsQs", "2h9dJd9hJhAsJc")
    resolved = hand.showdown(2, 1)
    assert resolved.winners == ((1,),)
    full_house, straight_flush = resolved.hands
    assert (text_of(full_house.best), full_house.category, full_house.ranks) == ("JhJdJc9h9d", "full_house", ("J", "9"))
    assert (text_of(straight_flush.best), straight_flush.category) == ("9c8c7c6c5c", "straight_flush")


def test_H3_the_first_to_show_and_every_winner_are_shown_in_order() -> None:
    # seat 1 holds aces, seat 2 kings, seat 3 queens; 4 has nothing
    top = "AsKsQs2c" "AhKhQh3d" "2d3h4h5s" "7c" "8c9c7d8d" "6c" "9dTcJcTh" "6d" "3c2s5d7s" "6h" "4cJh6s8s"  # fmt: skip
    hand = DealtHand(52, 4, top)
    hand.streets(*STREETS)
    resolved = hand.showdown(4, 2, 3, 1, pots=((1, 2, 3, 4), (2, 3, 4), (3, 4)))
    assert resolved.winners == ((1,), (2,), (3,))
    assert [shown.seat for shown in resolved.hands] == [4, 2, 3, 1]
    again = DealtHand(52, 4, top)
    again.streets(*STREETS)
    assert [shown.seat for shown in again.showdown(2, 3, 4, 1).hands] == [2, 1]
    alone = DealtHand(52, 4, top)
    alone.streets(*STREETS)
    assert [shown.seat for shown in alone.showdown(2, 1, 4, pots=((1, 2, 4), (4,))).hands] == [2, 1]


def test_H4_equal_hands_share() -> None:
    hand = DealtHand(32, 2, "AsAhKsKhQsQhJsJh9s9h")
    hand.street("deal")
    resolved = hand.showdown(2, 1)
    assert resolved.winners == ((2, 1),)
    assert [(shown.category, shown.ranks) for shown in resolved.hands] == [("flush", ("A",))] * 2


def test_D2_the_flush_beats_the_full_house_with_the_short_deck_only() -> None:
    hand = DealtHand(32, 2, "AsKsAhJsAdTsKh8sKd7s")
    hand.street("deal")
    resolved = hand.showdown(1, 2)
    assert resolved.winners == ((2,),)
    assert [shown.category for shown in resolved.hands] == ["full_house", "flush"]
    assert text_of(resolved.hands[0].best) == "AsAhAdKhKd"


def test_H2_whoever_was_not_called_shows_what_he_has_even_three_cards() -> None:
    hand = DealtHand(52, 2, "AsKsAhKh7c8d")
    hand.street("third")
    hand.finish()
    shown = hand.ask(ShowRequested("show:1", HAND, 1))
    assert isinstance(shown, HandShown)
    assert (text_of(shown.hand.cards), shown.hand.category, shown.hand.ranks) == ("AsAh7c", "one_pair", ("A",))


def test_nobody_shows_while_the_hand_is_played() -> None:
    hand = DealtHand(52, 2, "AsKsAhKh7c8d")
    hand.street("third")
    with pytest.raises(DealError, match="while the hand is played"):
        hand.ask(ShowRequested("show:1", HAND, 1))


def test_a_hand_is_not_compared_before_all_its_cards_are_dealt() -> None:
    hand = DealtHand(52, 2, secret_shuffle)
    hand.streets(*FIRST_FOUR)
    with pytest.raises(DealError, match="6 of 7 cards"):
        hand.showdown(1, 2)


# --- promises ----------------------------------------------------------------------------------------------------


def test_the_same_request_gets_the_same_answer_and_never_another_card() -> None:
    hand = DealtHand(52, 3, secret_shuffle)
    once = hand.street("third")
    stub, log = hand.state.stub, list(hand.log)
    assert hand.street("third") == once
    assert hand.street("third", seats=(3, 2, 1)) == once
    assert (hand.state.stub, hand.log) == (stub, log)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (CardsRequested("r", "another", "third", (1, 2), 0), "is s00-a-1-1, not another"),
        (CardsRequested("r", HAND, "fourth", (1, 2), 0), "seat 1 holds 0 cards before fourth"),
        (CardsRequested("r", HAND, "deal", (1, 2), 0), "no street 'deal' with 52"),
        (CardsRequested("r", HAND, "third", (1, 1), 0), "not players of the hand, each once"),
        (CardsRequested("r", HAND, "third", (1, 9), 0), "not players of the hand"),
        (CardsRequested("r", HAND, "third", (), 0), "not players of the hand"),
        (ShowdownRequested("r", HAND, (), (1, 2), 0), "0 of 7 cards"),
        (ShowRequested("r", HAND, 1), "cannot show"),
    ],
)
def test_what_does_not_fit_the_hand_is_refused(
    request_: CardsRequested | ShowdownRequested | ShowRequested, reason: str
) -> None:
    hand = DealtHand(52, 2, secret_shuffle)
    with pytest.raises(DealError, match=reason):
        hand.ask(request_)


@pytest.mark.parametrize("positions", [(), (0, 0), (5,), (-1,), (0, 1, 2, 3, 4, 5)])
def test_a_draw_names_cards_that_he_holds(positions: tuple[int, ...]) -> None:
    hand = DealtHand(32, 2, secret_shuffle)
    hand.street("deal")
    with pytest.raises(DealError, match="positions"):
        hand.draw(1, *positions)


def test_nobody_draws_twice() -> None:
    hand = DealtHand(32, 2, secret_shuffle)
    hand.street("deal")
    hand.draw(1, 0)
    with pytest.raises(DealError, match="drawn before"):
        hand.ask(DrawChosen(1, (1,), "again"))


def test_a_shuffle_that_loses_or_doubles_a_card_is_refused() -> None:
    broken: list[Shuffle] = [lambda cards: tuple(cards[1:]), lambda cards: (*cards[:-1], cards[0])]
    for shuffle in broken:
        with pytest.raises(DealError, match="other cards"):
            fresh_deck(52, 2, shuffle)


def test_nothing_that_knows_cards_prints_them() -> None:
    hand = DealtHand(36, 5, secret_shuffle)
    hand.street("deal")
    for seat in range(1, 6):
        hand.draw(seat, 0, 1, 2, 3, 4)
    assert any(isinstance(event, Reshuffled) for event in hand.log)
    for secret in (hand.state, *hand.log, *hand.state.hands.values()):
        assert repr(secret) == f"<{type(secret).__name__}>"
        assert list(secret.__rich_repr__()) == []


def test_the_record_holds_what_every_seat_held_and_threw() -> None:
    hand = DealtHand(32, 2, "AsKsAhKhAdKdAcKcQs7cJs")
    hand.street("deal")
    hand.draw(1, 4)
    seats = seat_records(hand.state)
    assert [(seat.seat, seat.player_id, text_of(seat.cards), text_of(seat.discards)) for seat in seats] == [
        (1, "p1", "AsAhAdAcJs", "Qs"),
        (2, "p2", "KsKhKdKc7c", ""),
    ]


@settings(max_examples=150, deadline=None)
@given(chance=st.randoms(use_true_random=False), stud=st.booleans(), data=st.data())
def test_no_card_is_lost_or_doubled_and_the_log_tells_the_same(
    chance: random.Random, stud: bool, data: st.DataObject
) -> None:
    players = data.draw(st.integers(2, 8 if stud else 5))
    size = 52 if stud else 36 if players == 5 else 32
    hand = DealtHand(size, players, lambda cards: tuple(chance.sample(list(cards), len(cards))))
    alive = list(hand.seats)
    for street in STREETS if stud else ("deal",):
        hand.street(street, alive)
        check(hand)
        if len(alive) > 2 and chance.random() < 0.3:
            alive.remove(chance.choice(alive))
    for seat in () if stud else alive:
        thrown = chance.sample(range(5), chance.randint(0, 5))
        if thrown:
            before = {hand.state.hands[seat].cards[place] for place in thrown}
            hand.draw(seat, *thrown)
            assert not before & set(hand.state.hands[seat].cards)
            check(hand)
    resolved = hand.showdown(*alive)
    assert {shown.seat for shown in resolved.hands} == {alive[0], *resolved.winners[0]}
    assert isinstance(hand.ask(ShowRequested("show", HAND, alive[-1])), HandShown)
    check(hand)


def check(hand: DealtHand) -> None:
    assert hand.everywhere() == list(deck(hand.state.deck_size))
    assert hand.replayed() == hand.state


def test_a_stacked_deck_is_still_a_deck() -> None:
    order = stacked(51, 0)(deck(52))
    assert order[:3] == (51, 0, 1)
    assert sorted(order) == list(deck(52))
