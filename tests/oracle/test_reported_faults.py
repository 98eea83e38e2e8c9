"""Faults that users of other poker software reported, each told again as a test of its name.

Seats count from 1 here. Where the rulebook decides otherwise than the report (B5, B10) the test says so and follows the
rulebook. What is not about the rules alone is tested where it can go wrong, see ``ELSEWHERE``.
"""

import ast
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from brelan.events import commands, table
from brelan.rules.cards import card_from_text, cards_from_text
from brelan.rules.evaluation import category, hand_value_draw
from tests.oracle.dealer import Dealer, RoomDealer
from tests.oracle.playing import Playing, draw, seated, stud
from tests.requirements import PROJECT

ELSEWHERE = {
    "hidden-cards-in-payload": "tests/e2e/test_leaks.py::test_every_card_a_socket_got_was_dealt_to_it_or_shown_to_all",
}


def playing_stud(
    lower: int, upper: int, stacks: dict[int, int], wanted: dict[int, str], *, ante: int, bring_in: int, seed: int = 0
) -> Playing:
    config = stud(lower, upper, ante=ante, bring_in=bring_in)
    return Playing(seated(config, stacks), Dealer("stud", seed, wanted)).deal()


def playing_draw(
    lower: int,
    upper: int,
    stacks: dict[int, int],
    wanted: dict[int, str] | None = None,
    *,
    small_blind: int,
    button: int,
    seed: int = 0,
) -> Playing:
    config = draw(lower, upper, small_blind=small_blind)
    return Playing(seated(config, stacks, button=button), Dealer("draw", seed, wanted)).deal()


def alike(seats: range, stack: int) -> dict[int, int]:
    return dict.fromkeys(seats, stack)


def wagers(playing: Playing) -> set[str]:
    return {text for text in playing.legal if text.split()[0] in ("bet", "raise", "complete")}


# --- hands -----------------------------------------------------------------------------------------------------------


def test_wheel_36() -> None:
    """With the sixes in, A-6-7-8-9 is a straight and A-7-8-9-10 is none (D3)."""
    wheel, no_straight = "Ah6s7d8c9h", "Ad7c8h9dTc"
    assert category(hand_value_draw(cards_from_text(wheel), 36)) == "straight"
    assert category(hand_value_draw(cards_from_text(no_straight), 36)) == "high_card"
    playing = playing_draw(4, 8, alike(range(1, 6), 100), {1: wheel, 2: no_straight}, small_blind=2, button=5)
    assert playing.hand.deck_size == 36
    playing.play("3 fold\n4 fold\n5 fold\n1 call\n2 check\n1 draw\n2 draw\n1 check\n2 check")
    assert playing.stacks == {1: 104, 2: 96, 3: 100, 4: 100, 5: 100}


def test_flush_over_full_house() -> None:
    """In 7-A a flush beats a full house beats a straight (D2)."""
    hands = {1: "KhJh9h8h7h", 2: "AsAdAcKsKd", 3: "TsJdQcKcAh"}
    playing = playing_draw(4, 8, alike(range(1, 4), 100), hands, small_blind=2, button=3)
    playing.play("3 call\n1 call\n2 check\n1 draw\n2 draw\n3 draw\n1 check\n2 check\n3 check")
    assert playing.stacks == {1: 108, 2: 96, 3: 96}
    playing = playing_draw(4, 8, alike(range(1, 4), 100), hands, small_blind=2, button=3)
    playing.play("3 call\n1 fold\n2 check\n2 draw\n3 draw\n2 check\n3 check")
    assert playing.stacks == {1: 98, 2: 106, 3: 96}


# --- order of action -------------------------------------------------------------------------------------------------


def test_bb_option_limped() -> None:
    """The big blind may check or raise when only the small blind has limped (D6)."""
    playing = playing_draw(4, 8, alike(range(1, 5), 100), small_blind=2, button=4)
    playing.play("3 fold\n4 fold\n1 call 4")
    assert playing.turn.seat == 2
    assert playing.legal >= {"check", "raise 8"}
    playing.play("2 raise 8\n1 call 8")
    assert playing.hand.phase == "drawing"


def test_headsup_button() -> None:
    """Heads-up the button posts the small blind, acts first before the draw and last after it (D7)."""
    playing = playing_draw(4, 8, alike(range(1, 3), 100), small_blind=2, button=1)
    posted = [(event.seat, event.kind, event.amount) for event in playing.all(table.Posted)]
    assert posted == [(1, "small_blind", 2), (2, "big_blind", 4)]
    playing.play("1 call\n2 check\n2 draw 01\n1 draw 2\n2 check")
    assert playing.turn.seat == 1


def test_opener_tie_position() -> None:
    """Q-6 and Q-6: the first one dealt acts first, suits decide nothing (S7)."""
    wanted = {1: "2c3cQs6c", 2: "4c4d5s3h", 3: "7c7dJc9d", 4: "8c8dTd9s", 5: "2d3d6sQh", 6: "TcTh9h5h"}
    playing = playing_stud(80, 160, alike(range(1, 7), 2000), wanted, ante=10, bring_in=20)
    playing.play("2 bring_in\n3 call\n4 call\n5 call\n6 call\n1 call")
    assert playing.turn.seat == 1


def test_sixth_card_missing() -> None:
    """Five betting rounds, seven cards."""
    playing = playing_stud(4, 8, alike(range(1, 3), 200), {1: "2c3c4c", 2: "KdKhKs"}, ante=1, bring_in=2)
    playing.play("1 bring_in\n2 call")
    rounds = 1
    while playing.state.hand is not None:
        first, second = playing.turn.seat, 3 - playing.turn.seat
        playing.play(f"{first} check\n{second} check")
        rounds += 1
    assert rounds == 5
    dealt = [each for event in playing.all(table.CardsDealt) for each in event.cards if each.seat == 1]
    assert sum(each.down + len(each.up) for each in dealt) == 7
    assert [event.street for event in playing.all(table.CardsDealt)] == ["third", "fourth", "fifth", "sixth", "river"]


# --- blinds and the button -------------------------------------------------------------------------------------------


def test_bb_busts_next_hand() -> None:
    """Button 1, small blind 2; the big blind 3 leaves: button 2, small blind 4, big blind 5 (D15, a moving button)."""
    playing = playing_draw(4, 8, alike(range(1, 6), 100), small_blind=2, button=1)
    assert (playing.hand.button, playing.hand.small_blind, playing.hand.big_blind) == (1, 2, 3)
    playing.play("4 fold\n5 fold\n1 fold\n3 leave\n2 fold")
    playing.deal()
    assert (playing.hand.button, playing.hand.small_blind, playing.hand.big_blind) == (2, 4, 5)
    playing.play("1 fold\n2 fold\n4 fold")
    playing.deal()
    assert playing.hand.big_blind != 5, "nobody posts the big blind twice in a row"


def test_bb_four_times() -> None:
    """Of three seats one sits out: the blinds of the other two alternate (D7, D15)."""
    playing = playing_draw(4, 8, alike(range(1, 4), 100), small_blind=2, button=3)
    playing.play("3 sit_out\n3 fold\n1 fold")
    big_blinds = []
    for _ in range(4):
        playing.deal()
        assert playing.hand.big_blind is not None
        assert {player.seat for player in playing.hand.players} == {1, 2}
        big_blinds.append(playing.hand.big_blind)
        playing.play(f"{playing.turn.seat} fold")
    assert big_blinds in ([1, 2, 1, 2], [2, 1, 2, 1])
    assert big_blinds[0] != 2, "2 had the big blind in the hand before"


def test_missed_small_blind_only() -> None:
    """He paid the big blind and missed the small one: he owes that, dead, and no second big blind (D14)."""
    playing = playing_draw(4, 8, alike(range(1, 5), 100), small_blind=2, button=1)
    playing.play("4 fold\n1 fold\n3 sit_out\n2 fold")
    playing.deal()
    assert (playing.hand.button, playing.hand.small_blind, playing.hand.big_blind) == (2, 4, 1)
    playing.play("2 fold\n4 fold")
    playing.do(commands.ComeBack("post"), 3)
    before = playing.seat(3).stack
    playing.deal()
    assert (playing.hand.button, playing.hand.small_blind, playing.hand.big_blind) == (4, 1, 2)
    posted = [(event.kind, event.amount) for event in playing.all(table.Posted) if event.seat == 3][-2:]
    assert ("dead_small_blind", 2) in posted
    assert ("live_post", 4) not in posted
    assert playing.player(3).stack == before - 2
    assert playing.player(3).bet == 0, "it is dead"
    assert playing.turn.seat == 3
    assert playing.legal == {"fold", "call 4", "raise 8"}


def test_new_player_free_hands() -> None:
    """At draw a new player is dealt in when the big blind reaches him or he posts one (D13); at stud at once."""
    for entry, dealt in (("wait", False), ("post", True)):
        playing = playing_draw(4, 8, alike(range(1, 4), 100), small_blind=2, button=1)
        playing.do(commands.SitDown(100, 5, "post" if entry == "post" else "wait"), 5)
        playing.play("1 fold\n2 fold")
        playing.deal()  # button 2, small blind 3, then 5 is next
        assert (playing.hand.button, playing.hand.small_blind, playing.hand.big_blind) == (2, 3, 5)

        playing = playing_draw(4, 8, alike(range(1, 4), 100), small_blind=2, button=3)
        playing.do(commands.SitDown(100, 5, "post" if entry == "post" else "wait"), 5)
        playing.play("3 fold\n1 fold")
        playing.deal()  # button 1, small blind 2, big blind 3, 5 is two seats after him
        assert (playing.hand.button, playing.hand.small_blind, playing.hand.big_blind) == (1, 2, 3)
        assert (5 in {player.seat for player in playing.hand.players}) is dealt
        live = [(event.seat, event.amount) for event in playing.all(table.Posted) if event.kind == "live_post"]
        assert live == ([(5, 4)] if dealt else [])

    playing = playing_stud(4, 8, alike(range(1, 3), 100), {1: "AsAdKc", 2: "QsQd2c"}, ante=1, bring_in=2)
    playing.do(commands.SitDown(100, 5), 5)
    playing.play("2 bring_in\n1 complete\n2 fold")
    playing.deal()
    assert playing.player(5).put_in == 1


# --- betting ---------------------------------------------------------------------------------------------------------


def test_ante_counted_as_bet() -> None:
    """Antes are no part of a bet (S2): 10 to complete, 10 to call; the pot is 38."""
    wanted = {1: "AsAd2c", 2: "KsKdKh", 3: "QsQdQh"}
    playing = playing_stud(10, 20, alike(range(1, 4), 100), wanted, ante=5, bring_in=3)
    playing.play("1 bring_in 3\n2 complete 10\n3 call 10")
    assert [(event.seat, event.pay) for event in playing.all(table.BetPlaced)] == [(1, 3), (2, 10), (3, 10)]
    assert sum(player.put_in for player in playing.hand.players) == 38
    assert playing.turn.seat == 1
    assert playing.legal == {"fold", "call 10", "raise 20"}


def test_fourth_street_open_pair() -> None:
    """An open pair: 5 may be raised by 5 or by 10; after a raise of 10 it is 10 (S9)."""
    wanted = {1: "KhQc8dAh", 2: "Jd7d4s4h"}
    playing = playing_stud(5, 10, {1: 282, 2: 209}, wanted, ante=1, bring_in=2)
    playing.play("2 bring_in\n1 complete 5\n2 call")
    assert playing.legal >= {"check", "bet 5", "bet 10"}
    playing.play("2 bet 5")
    assert playing.legal == {"fold", "call 5", "raise 10", "raise 15"}
    playing.play("1 raise 15")
    assert playing.legal == {"fold", "call 15", "raise 25"}
    playing.refused(commands.Act(playing.turn.turn_id, "raise", 20), 2)
    playing.play("2 raise 25\n1 call 25")


def test_fourth_street_pair_of_a_folded_player() -> None:
    """The right was there when the street was dealt: it stays when the pair's owner checks and folds (S9)."""
    wanted = {1: "AsAdKcKd", 2: "8s8d2cTh", 3: "9s9d7cTd", 4: "QsQd6cTs"}
    playing = playing_stud(5, 10, alike(range(1, 5), 500), wanted, ante=1, bring_in=2)
    playing.play("2 bring_in\n3 call\n4 call\n1 call")
    playing.play("1 check\n2 bet 10\n3 raise 20")
    assert playing.turn.seat == 4
    assert playing.legal == {"fold", "call 20", "raise 30"}
    playing.refused(commands.Act(playing.turn.turn_id, "raise", 25), 4)
    playing.play("4 call\n1 fold")
    assert playing.legal == {"fold", "call 20", "raise 30"}

    playing = playing_stud(5, 10, alike(range(1, 5), 500), wanted, ante=1, bring_in=2)
    playing.play("2 bring_in\n3 call\n4 call\n1 call")
    playing.play("1 check\n2 bet 5\n3 call\n4 call\n1 fold")
    assert playing.hand.street == 2, "the round is over"

    playing = playing_stud(5, 10, alike(range(1, 5), 500), wanted, ante=1, bring_in=2)
    playing.play("2 bring_in\n3 call\n4 call\n1 call")
    playing.play("1 check\n2 bet 5\n3 raise 10\n4 fold\n1 fold")
    assert playing.legal == {"fold", "call 10", "raise 15", "raise 20"}, "the right stays when its owner has folded"


def test_cap_becomes_headsup_mid_round() -> None:
    """C folds before the cap: unlimited (B3). After it: the report refuses a fifth bet, the rulebook lifts the cap
    unless the table keeps it (B5)."""
    before = "1 bet 8\n2 raise 16\n3 fold\n1 raise 24\n2 raise 32\n1 raise 40\n2 raise 48"
    after = "1 bet 8\n2 raise 16\n3 call\n1 raise 24\n2 raise 32\n3 fold"
    assert _on_fifth_street(lifted=True).play(before).legal == {"fold", "call 48", "raise 56"}
    assert _on_fifth_street(lifted=False).play(before).legal == {"fold", "call 48", "raise 56"}
    assert _on_fifth_street(lifted=True).play(after).legal == {"fold", "call 32", "raise 40"}
    assert _on_fifth_street(lifted=False).play(after).legal == {"fold", "call 32"}


def _on_fifth_street(*, lifted: bool) -> Playing:
    wanted = {1: "AsAdKcKd4c", 2: "8s8d2cTh4d", 3: "9s9d7cTd4h"}
    config = replace(stud(4, 8, ante=1, bring_in=2), cap_lifted_heads_up=lifted)
    playing = Playing(seated(config, alike(range(1, 4), 500)), Dealer("stud", 0, wanted)).deal()
    return playing.play("2 bring_in\n3 call\n1 call\n1 check\n2 check\n3 check")


def test_short_allin_raise_does_not_reopen() -> None:
    """8, called, all-in to 11: less than half a bet more, those who acted call 3 or fold (B7)."""
    playing = playing_draw(4, 8, {1: 504, 2: 504, 3: 15}, small_blind=2, button=3)
    playing.play("3 call\n1 call\n2 check\n1 draw\n2 draw\n3 draw\n1 bet 8\n2 call 8\n3 raise 11")
    assert playing.legal == {"fold", "call 11"}
    playing.refused(commands.Act(playing.turn.turn_id, "raise", 16), 1)
    playing.play("1 call")
    assert playing.legal == {"fold", "call 11"}


def test_cumulative_short_allins() -> None:
    """+4 and +4 on a bet of 10 are more than half a bet together: A may raise; +4 and a call are not (B7)."""

    def until_d(c_has: int) -> Playing:
        playing = playing_draw(5, 10, {1: 505, 2: 19, 3: c_has + 5, 4: 505}, small_blind=2, button=4)
        playing.play("3 call\n4 call\n1 call\n2 check\n1 draw\n2 draw\n3 draw\n4 draw")
        return playing.play("1 bet 10\n2 raise 14")

    playing = until_d(18).play("3 raise 18")
    assert playing.legal == {"fold", "call 18", "raise 28"}
    playing.play("4 call")
    assert playing.turn.seat == 1
    assert playing.legal == {"fold", "call 18", "raise 28"}

    playing = until_d(14).play("3 call 14")
    assert playing.legal == {"fold", "call 14", "raise 20"}, "D has not acted"
    playing.play("4 call")
    assert playing.legal == {"fold", "call 14"}


# --- all-in, pots, odd chips -----------------------------------------------------------------------------------------


def test_sidepot_allin_dropped() -> None:
    """All-in before the draw, two bet on: the main pot is still his (B9)."""
    hands = {1: "KhKdKcQs9d", 2: "QhQdTcTd9c", 3: "AsAdAcJsJd"}
    playing = playing_draw(50, 100, {3: 100, 1: 1000, 2: 1000}, hands, small_blind=25, button=3)
    playing.play("3 raise 100\n1 call\n2 call\n1 draw\n2 draw")
    playing.play("3 draw\n1 bet 100\n2 call")
    assert playing.pots == [(300, (1, 2, 3)), (200, (1, 2))]
    assert playing.stacks == {3: 300, 1: 1000, 2: 800}


@pytest.mark.parametrize(
    ("lower", "shares"),
    [(10, [(1, 34), (2, 33), (3, 33)]), (11, [(1, 35), (2, 35), (3, 34)])],
    ids=["pot of 100", "pot of 104"],
)
def test_split_remainder_lost(lower: int, shares: list[tuple[int, int]]) -> None:
    """100 for three are 34, 33, 33, the odd chip to the first left of the button; two odd chips go to two (B10)."""
    hands = {1: "AsKdQhJc9s", 2: "AdKhQcJs9d", 3: "AhKcQsJd9h", 4: "7c7d8c8dTh"}
    playing = playing_draw(lower, 20, alike(range(1, 5), 100), hands, small_blind=5, button=4)
    playing.play("3 call\n4 call\n1 call\n2 check\n1 draw\n2 draw\n3 draw\n4 draw")
    playing.play("1 bet\n2 call\n3 call\n4 fold")
    assert sorted((share.seat, share.amount) for share in playing.last(table.PotAwarded).shares) == shares
    assert playing.stacks == {seat: 100 - lower - 20 + share for seat, share in shares} | {4: 100 - lower}


@pytest.mark.parametrize(("first", "second"), [("9s", "9h"), ("9h", "9s")])
def test_odd_chip_stud_suit(first: str, second: str) -> None:
    """Two nine-high straights split 51: the report goes by suit, the rulebook by seat (B10): 26 for the first seat."""
    wanted = {1: f"{first}8h7d6c5cKdKh", 2: f"{second}8s7c6d5dKcKs", 3: "AsAd2c"}
    playing = playing_stud(3, 6, alike(range(1, 4), 500), wanted, ante=1, bring_in=2)
    playing.play("3 bring_in\n1 call\n2 call")
    _check_down(playing, bets={"fourth": 3, "fifth": 6, "sixth": 6, "river": 6}, folding=3)
    assert playing.pots == [(51, (1, 2))]
    assert {share.seat: share.amount for share in playing.last(table.PotAwarded).shares} == {1: 26, 2: 25}


def _check_down(playing: Playing, bets: dict[str, int], folding: int) -> None:
    """Everybody checks to the river; on streets of ``bets`` it is bet once and called, except by ``folding``."""
    streets = ("third", "fourth", "fifth", "sixth", "river")
    while playing.state.turn is not None:
        seat = playing.turn.seat
        kinds = {action.kind for action in playing.turn.actions}
        if "call" in kinds:
            playing.play(f"{seat} {'fold' if seat == folding else 'call'}")
        elif streets[playing.hand.street] in bets and seat != folding:
            playing.play(f"{seat} bet {bets[streets[playing.hand.street]]}")
        else:
            playing.play(f"{seat} check")


@pytest.mark.parametrize("short_is_first", [True, False])
def test_overcall_two_allins(short_is_first: bool) -> None:
    """98 against 102, in both orders: a pot of 196, 4 stay with the other (B8)."""
    button = 1 if short_is_first else 2
    hands = {1: "KhKdKcQs9d", 2: "QhQdTcTd9c"}
    playing = playing_draw(100, 200, {1: 98, 2: 102}, hands, small_blind=50, button=button)
    playing.play(f"{button} call")
    playing.play("2 draw\n1 draw" if short_is_first else "1 draw\n2 draw")
    assert playing.pots == [(196, (1, 2))]
    assert playing.stacks == {1: 196, 2: 4}


def test_short_call_logged_as_raise() -> None:
    """Fewer chips than the bet: a call, 82 go back, the pot is 396 (B7, B8)."""
    hands = {1: "QhQdTcTd9c", 2: "KhKdKcQs9d"}
    playing = playing_draw(140, 280, {1: 300, 2: 198}, hands, small_blind=70, button=1)
    playing.play("1 raise 280")
    assert playing.legal == {"fold", "call 198"}
    playing.play("2 call")
    assert [(event.seat, event.amount) for event in playing.all(table.BetReturned)] == [(1, 82)]
    playing.play("2 draw\n1 draw")
    assert playing.pots == [(396, (1, 2))]
    assert playing.stacks == {1: 102, 2: 396}


def test_ante_allin_short() -> None:
    """6 of an ante of 7: heads-up a pot of 12, 1 goes back; with more players a side pot of what is above 6."""
    wanted = {1: "3s5d9cJh7cQd2s", 2: "AsAdAcAhKdKcKs", 3: "8s8d8cTh4c4d6s"}
    playing = playing_stud(40, 80, {1: 994, 2: 6}, wanted, ante=7, bring_in=14)
    assert playing.state.hand is None, "all cards are dealt without betting"
    assert playing.all(table.TurnOpened) == []
    assert playing.pots == [(12, (1, 2))]
    assert playing.stacks == {1: 988, 2: 12}

    playing = playing_stud(40, 80, {1: 994, 2: 6, 3: 994}, wanted, ante=7, bring_in=14)
    _check_down_from_bring_in(playing)
    assert playing.pots[0] == (18, (1, 2, 3))
    assert playing.pots[1][1] == (1, 3)
    assert playing.stacks[2] == 18
    assert sum(playing.stacks.values()) == 1994


def _check_down_from_bring_in(playing: Playing) -> None:
    playing.play(f"{playing.turn.seat} bring_in")
    while playing.state.turn is not None:
        _call_or_check(playing)


def test_one_player_with_chips() -> None:
    """B gets the chance to call; once he has, the cards are dealt and nobody is asked again (B11, H6)."""
    wanted = {1: "AsAdKc", 2: "QsQd2c"}
    playing = playing_stud(40, 80, {1: 45, 2: 245}, wanted, ante=5, bring_in=10)
    playing.play("2 bring_in\n1 complete 40")
    assert playing.turn.seat == 2
    assert playing.legal == {"fold", "call 40"}
    playing.play("2 call")
    assert playing.state.turn is None
    assert playing.state.hand is None
    assert len(playing.all(table.CardsDealt)) == 5
    assert sum(playing.stacks.values()) == 290


# --- the deck --------------------------------------------------------------------------------------------------------


def test_draw_own_discards_excluded() -> None:
    """A and B have drawn five each, two cards are left, C draws five: those two, then of what A and B threw (D11)."""
    for seed in range(20):
        dealer = RoomDealer(seed)
        playing = Playing(seated(draw(4, 8, small_blind=2), alike(range(1, 5), 100), button=4), dealer).deal()
        playing.play("3 call\n4 call\n1 call\n2 check\n1 draw 01234\n2 draw 01234")
        left, thrown, own = set(dealer.now.stub), set(dealer.now.discards), set(dealer.cards(3))
        assert (len(left), len(thrown)) == (2, 10)
        playing.play("3 draw 01234")
        assert playing.last(table.CardsDrawn).reshuffled
        drawn = set(dealer.cards(3))
        assert left <= drawn <= left | thrown
        assert not drawn & own
        playing.play("4 draw 01234")
        held = [card for seat in range(1, 5) for card in dealer.cards(seat)]
        assert len(held) == len(set(held)) == 20


def test_seventh_street_exactly_enough_with_burns() -> None:
    """Eight dealt, one folds on third street: on the river 4 cards and 3 burned ones serve seven players (S10, S11)."""
    for seed in range(20):
        dealer = RoomDealer(seed)
        playing = Playing(seated(stud(4, 8, ante=1, bring_in=2), alike(range(1, 9), 100)), dealer).deal()
        playing.play(f"{playing.turn.seat} bring_in")
        folded = playing.turn.seat
        playing.play(f"{folded} fold")
        while playing.hand.street < 3:
            _call_or_check(playing)
        left = {*dealer.now.stub, *dealer.now.burned}
        assert len(left) == 7
        while playing.hand.street < 4:
            _call_or_check(playing)
        dealt = playing.last(table.CardsDealt)
        assert (dealt.burned, dealt.reshuffled, dealt.community) == (0, True, None)
        assert {each.seat for each in dealt.cards} == set(range(1, 9)) - {folded}
        assert {dealer.cards(each.seat)[6] for each in dealt.cards} == left


def _call_or_check(playing: Playing) -> None:
    kinds = {action.kind for action in playing.turn.actions}
    playing.play(f"{playing.turn.seat} {'call' if 'call' in kinds else 'check'}")


# --- time ------------------------------------------------------------------------------------------------------------


def test_timeout_before_cards() -> None:
    """Antes are posted for him; his clock starts when his turn is opened. Asked to post, silence costs him the hand
    and nothing else (S2)."""
    config = stud(4, 8, ante=1, bring_in=2)
    playing = Playing(seated(config, alike(range(1, 4), 100)), Dealer("stud"))
    playing.now = 5000
    playing.deal()
    assert [event.seat for event in playing.all(table.Posted)] == [1, 2, 3]
    assert playing.turn.deadline_ms == playing.now + config.action_time_ms

    playing = Playing(seated(config, alike(range(1, 4), 100)), Dealer("stud"))
    playing.do(commands.SetPreferences(auto_post=False, auto_muck=True), 2)
    playing.deal()
    asked = playing.last(table.PostAsked)
    assert asked.seats == (2,)
    assert playing.state.hand is None
    playing.now = asked.deadline_ms
    playing.do(commands.ExpireTurn(asked.deadline_ms))
    assert {player.seat for player in playing.hand.players} == {1, 3}
    assert playing.seat(2).stack == 100
    assert playing.all(table.Folded) == []


def test_late_action_vs_timeout() -> None:
    """The order of the log decides, and a time-out of a turn that is past does nothing (T8)."""

    def silent() -> Playing:
        return playing_stud(4, 8, alike(range(1, 3), 100), {1: "AsAd2c", 2: "KsKdQh"}, ante=1, bring_in=2).play(
            "1 bring_in"
        )

    playing = silent()
    turn = playing.turn
    playing.now = turn.deadline_ms + 10  # both are decided late; he was first
    playing.do(commands.Act(turn.turn_id, "call"), 2)
    played = list(playing.events)
    playing.do(commands.ExpireTurn(turn.deadline_ms))
    assert playing.events == played

    playing = silent()
    turn = playing.turn
    playing.now = turn.deadline_ms + 10
    playing.do(commands.ExpireTurn(turn.deadline_ms))
    assert playing.last(table.Folded) == table.Folded(2, "time")
    playing.refused(commands.Act(turn.turn_id, "call"), 2)


def test_timeout_blocks_table() -> None:
    """Nobody answers at all: every time-out counts once and the hand ends."""
    playing = playing_stud(4, 8, alike(range(1, 5), 100), {3: "AsAd2c"}, ante=1, bring_in=2)
    turns = 0
    while playing.state.turn is not None:
        turn = playing.turn
        playing.play(f"{turn.seat} time")
        played = list(playing.events)
        playing.do(commands.ExpireTurn(turn.deadline_ms))
        assert playing.events == played, "the same time-out again does nothing"
        turns += 1
        assert turns < 20
    assert playing.state.hand is None
    assert [event.turn_id for event in playing.all(table.TimedOut)] == sorted(
        {event.turn_id for event in playing.all(table.TimedOut)}
    )
    assert sum(playing.stacks.values()) == 400


def test_timeout_no_money_in() -> None:
    """An ante is no bet: he is folded (T2, T3). Who only called the bring-in has bet: he is all-in for it."""
    wanted = {1: "AsAd2c", 2: "KsKdQh", 3: "9s9d8h"}
    playing = playing_stud(4, 8, alike(range(1, 4), 100), wanted, ante=1, bring_in=2)
    playing.play("1 bring_in 2\n2 call 2\n3 time")
    assert playing.all(table.Folded) == [table.Folded(3, "time")]
    assert playing.all(table.AllInByTime) == []

    playing = playing_stud(4, 8, alike(range(1, 4), 100), wanted, ante=1, bring_in=2)
    playing.play("1 bring_in\n2 call\n3 complete 4\n1 call\n2 time")
    assert playing.all(table.AllInByTime) == [table.AllInByTime(2)]
    assert playing.player(2).stack == 97
    assert playing.player(2).put_in == 3


def test_bringin_timeout() -> None:
    """The bring-in is posted, never folded; it is a bet, so his next silence makes him all-in (T4, T2)."""
    wanted = {1: "AsAd2c", 2: "KsKdQh", 3: "9s9d8h"}
    playing = playing_stud(10, 20, alike(range(1, 4), 200), wanted, ante=2, bring_in=5)
    playing.play("1 time")
    assert playing.last(table.BetPlaced) == table.BetPlaced(1, "bring_in", 5, 5, cause="time")
    assert not playing.player(1).all_in
    assert playing.seat(1).away
    playing.play("2 complete 10\n3 call")
    assert playing.turn.seat == 1
    playing.play("1 time")
    assert playing.all(table.AllInByTime) == [table.AllInByTime(1)]
    assert playing.player(1).put_in == 7


# --- showdown --------------------------------------------------------------------------------------------------------


def test_showdown_order_checked() -> None:
    """No bet on the river: the highest board, who acted first, shows first, then clockwise (H1)."""
    wanted = {1: "4c4dKc7d5h2s3d", 2: "5c5dTc8d6h3s3c", 3: "QdKdAcQhJs9c2d"}
    playing = playing_stud(4, 8, alike(range(1, 4), 200), wanted, ante=1, bring_in=2)
    _check_down_from_bring_in(playing)
    assert playing.last(table.ShowdownRequested).order == (3, 1, 2)


def test_showdown_sidepot_first() -> None:
    """Who is in the side pot shows, and is paid, before who is all-in for the main pot alone (H1, H7)."""
    wanted = {1: "AhAsAd5d9h2h3h", 2: "KcKdKsTh9s2s3s", 3: "8c8dQhTd9c2d3c"}
    playing = playing_stud(40, 80, {1: 45, 2: 500, 3: 500}, wanted, ante=5, bring_in=10)
    playing.play("3 bring_in\n1 complete 40\n2 call\n3 call")
    _check_down(playing, bets={"fourth": 40}, folding=0)
    order = playing.last(table.ShowdownRequested).order
    assert set(order[:2]) == {2, 3}
    assert order[2] == 1
    assert playing.pots == [(135, (1, 2, 3)), (80, (2, 3))]
    assert [event.pot for event in playing.all(table.PotAwarded)] == [1, 0]
    assert playing.stacks[1] == 135


def test_mucked_cards_visible() -> None:
    """The loser mucks: what the table tells has none of his cards. Who may learn them later is H5's matter."""
    wanted = {1: "AsAd2cAh5d9h2h", 2: "KcQdJh8h7s3s2s"}
    playing = playing_stud(4, 8, alike(range(1, 3), 200), wanted, ante=1, bring_in=2)
    playing.play("1 bring_in\n2 call\n1 bet\n2 call")
    _check_down(playing, bets={"river": 8}, folding=0)
    assert [event.seat for event in playing.all(table.HandMucked)] == [2]
    assert [hand.seat for hand in playing.last(table.ShowdownResolved).hands] == [1]
    hidden = {card_from_text(text) for text in ("Kc", "Qd", "2s")}
    told = {card for event in playing.all(table.HandShown) for card in event.hand.cards}
    told |= {card for event in playing.all(table.CardsDealt) for each in event.cards for card in each.up}
    told |= {card for hand in playing.last(table.ShowdownResolved).hands for card in (*hand.cards, *hand.best)}
    assert not hidden & told


# --- seats -----------------------------------------------------------------------------------------------------------


def test_sitout_then_exit() -> None:
    """Folded, sat out and left within a second: not dealt in again, and his stack goes back exactly once (M3)."""
    playing = playing_draw(4, 8, alike(range(1, 4), 100), small_blind=2, button=3)
    playing.play("3 call\n1 fold\n1 sit_out\n1 leave")
    assert playing.all(table.PlayerLeft) == [] or playing.all(table.PlayerLeft)[0].amount == 98
    playing.play("2 check\n2 draw\n3 draw\n2 check\n3 check")
    left = playing.all(table.PlayerLeft)
    assert [(event.player_id, event.amount) for event in left] == [("p1", 98)]
    playing.deal()
    assert {player.seat for player in playing.hand.players} == {2, 3}
    assert playing.all(table.PlayerLeft) == left


def test_leave_while_in_hand() -> None:
    """The loser walks away before the showdown: the winner is paid all the same, and the seat is freed (M3)."""
    hands = {1: "KhKdKcQs9d", 2: "QhQdTcTd9c"}
    playing = playing_draw(400, 800, {1: 1600, 2: 400}, hands, small_blind=200, button=1)
    playing.play("1 call")
    playing.play("2 leave\n1 draw")
    assert playing.state.hand is None
    assert playing.stacks == {1: 2000}
    assert [(event.seat, event.amount, event.transfer_id) for event in playing.all(table.PlayerLeft)] == [(2, 0, "")]


# --- all of them -----------------------------------------------------------------------------------------------------


def _functions(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_reported_fault_has_its_test(shared_data: Path) -> None:
    here = _functions(Path(__file__))
    faults = {fault["id"] for fault in json.loads((shared_data / "reported_faults.json").read_text())}
    missing = [name for name in faults - set(ELSEWHERE) if f"test_{name.replace('-', '_')}" not in here]
    assert not missing


@pytest.mark.parametrize("where", ELSEWHERE.values())
def test_tests_elsewhere_are_there(where: str) -> None:
    file, name = where.split("::")
    assert name in _functions(PROJECT / file)
