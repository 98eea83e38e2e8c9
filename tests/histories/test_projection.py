"""Who may see what of a hand that is over: never a card too many, whoever looks."""

import re
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brelan.events.dealing import SeatRecord
from brelan.histories.hand import HandHistory
from brelan.histories.projection import HandView, project
from brelan.histories.text import as_text, money
from brelan.rules.cards import TEXTS
from brelan.rules.cards import cards_from_text as cards
from tests.histories.hands import DRAW, DRAW_CARDS, DRAW_RECORD, STUD_CARDS, STUD_RECORD, draw_hand, stud_hand, walk
from tests.histories.test_table import history_of

STUD_HAND = history_of(stud_hand())
DRAW_HAND = history_of(draw_hand(), DRAW)
WALK = history_of(walk())
_CARD = re.compile(r"(?<![0-9A-Za-z])[2-9TJQKA][cdhs](?![0-9A-Za-z])")


def cards_in(view: HandView) -> set[str]:
    """Every card that stands anywhere in what is sent: as JSON or as text."""
    return set(_CARD.findall(msgspec.json.encode(view).decode() + as_text(view)))


def cards_of(view: HandView, seat: int) -> str | None:
    (player,) = (player for player in view.players if player.seat == seat)
    return None if player.cards is None else "".join(player.cards)


@pytest.mark.parametrize(
    ("viewer", "disclose", "seen"),
    [
        ("p2", False, {2: STUD_CARDS[2], 4: STUD_CARDS[4], 5: None}),  # his own, and what was shown
        ("p4", False, {2: None, 4: STUD_CARDS[4], 5: None}),
        ("p5", False, {2: None, 4: STUD_CARDS[4], 5: STUD_CARDS[5]}),  # a folded hand: its owner's
        ("p4", True, {2: STUD_CARDS[2], 4: STUD_CARDS[4], 5: None}),  # H5: mucked at showdown, never folded
        ("p5", True, {2: STUD_CARDS[2], 4: STUD_CARDS[4], 5: STUD_CARDS[5]}),
        ("p9", False, {2: None, 4: STUD_CARDS[4], 5: None}),
        ("p9", True, {2: None, 4: STUD_CARDS[4], 5: None}),  # H5 is for the players of that hand
        (None, True, {2: None, 4: STUD_CARDS[4], 5: None}),
    ],
)
def test_H5_who_sees_which_hand(viewer: str | None, disclose: bool, seen: dict[int, str | None]) -> None:
    view = project(STUD_HAND, STUD_RECORD.seats, viewer, disclose)
    assert {seat: cards_of(view, seat) for seat in seen} == seen


def test_H2_a_winner_who_was_not_called_is_never_disclosed() -> None:
    record = [SeatRecord(2, "p2", (5, 9, 0)), SeatRecord(4, "p4", (13, 17, 51))]
    view = project(WALK, record, "p4", disclose=True)
    assert cards_of(view, 2) is None
    assert cards_in(view) == {TEXTS[0], TEXTS[51], TEXTS[13], TEXTS[17]}


def test_cards_stand_where_they_were_dealt() -> None:
    view = project(STUD_HAND, STUD_RECORD.seats, "p2")
    dealt = [(step.street, step.seat, " ".join(step.cards)) for step in view.steps if step.kind == "dealt"]
    assert dealt[:4] == [
        ("third", 2, "Kh Ks 2c"),
        ("third", 4, "Ah As 4c"),
        ("third", 5, "?? ?? 9c"),
        ("fourth", 2, "3d"),
    ]
    assert dealt[-2:] == [("river", 2, "9s"), ("river", 4, "Js")]


def test_D10_what_was_thrown_is_its_owner_s() -> None:
    own = project(DRAW_HAND, DRAW_RECORD.seats, "p1")
    others = project(DRAW_HAND, DRAW_RECORD.seats, "p2")
    assert [player.discards for player in own.players if player.seat == 1] == [("7d",)]
    assert "7d" not in cards_in(others)
    dealt = {step.seat: step.cards for step in own.steps if step.kind == "dealt"}
    drew = {step.seat: step.cards for step in own.steps if step.kind == "drew"}
    assert dealt[1] == ("Ah", "As", "Kd", "Qc", "7d")
    assert drew[1] == ("9h",)
    assert dealt[3] == ("??",) * 5  # he folded
    dealt = {step.seat: step.cards for step in others.steps if step.kind == "dealt"}
    assert dealt[1] == ("Ah", "As", "Kd", "Qc", "??")  # shown in the end, the thrown one not


def test_a_record_of_another_player_in_that_seat_is_not_believed() -> None:
    record = [SeatRecord(5, "p9", cards("2d2h9c"))]
    assert cards_of(project(STUD_HAND, record, "p5"), 5) is None
    assert cards_of(project(STUD_HAND, record, "p9"), 5) is None


def test_before_the_record_has_come_the_hand_can_be_seen_without_it() -> None:
    view = project(STUD_HAND, (), "p2")
    assert cards_of(view, 2) is None
    assert cards_of(view, 4) == STUD_CARDS[4]


viewers = st.sampled_from([None, "p1", "p2", "p3", "p4", "p5", "p9"])


def may_see(history: HandHistory, seat: int, viewer: str | None, disclose: bool) -> bool:
    """The rule in its own words, apart from the projection's."""
    player = history.player_at(seat)
    assert player is not None
    in_the_hand = any(other.player_id == viewer for other in history.players)
    mucked_at_showdown = history is STUD_HAND and seat == 2
    return player.player_id == viewer or player.shown is not None or (disclose and in_the_hand and mucked_at_showdown)


@given(st.sampled_from([STUD_HAND, DRAW_HAND, WALK]), viewers, st.booleans(), st.randoms(use_true_random=False))
def test_H5_no_export_ever_holds_a_hidden_card(
    history: HandHistory, viewer: str | None, disclose: bool, chance: Random
) -> None:
    """Whatever the hidden cards are: what a viewer gets holds none of them, and would be the same with any others."""
    first, second = (_record_with_any_hidden_cards(history, viewer, disclose, chance) for _ in range(2))
    view = project(history, first, viewer, disclose)
    hidden = {
        TEXTS[card]
        for seat in first
        if not may_see(history, seat.seat, viewer, disclose)
        for card in (*seat.cards, *seat.discards)
    }
    public = {TEXTS[card] for player in history.players for card in player.up}
    seen = {TEXTS[card] for seat in first if may_see(history, seat.seat, viewer, disclose) for card in seat.cards}
    seen |= {TEXTS[card] for seat in first if seat.player_id == viewer for card in seat.discards}
    assert cards_in(view) & (hidden - public - seen) == set()
    other = project(history, second, viewer, disclose)
    assert msgspec.json.encode(view) == msgspec.json.encode(other)
    assert as_text(view) == as_text(other)


def _record_with_any_hidden_cards(
    history: HandHistory, viewer: str | None, disclose: bool, chance: Random
) -> list[SeatRecord]:
    """What this viewer may see is as it was; the rest is any of the cards that he does not see."""
    fixed = {
        "stud": {seat: cards(text) for seat, text in STUD_CARDS.items()},
        "draw": {seat: cards(text) for seat, (text, _) in DRAW_CARDS.items()},
    }[history.game]
    rest = list(range(52))
    chance.shuffle(rest)
    records = []
    for player in history.players:
        own = fixed.get(player.seat, (1, 2, 3))
        thrown = cards("7d") if player.player_id == viewer and history.game == "draw" and player.seat == 1 else ()
        if not may_see(history, player.seat, viewer, disclose):
            own = tuple(rest.pop() for _ in own)
            thrown = (rest.pop(),)
        records.append(SeatRecord(player.seat, player.player_id, own, thrown))
    return records


def test_a_stud_hand_as_text() -> None:
    assert as_text(project(STUD_HAND, STUD_RECORD.seats, "p2")) == STUD_TEXT


def test_a_draw_hand_as_text() -> None:
    assert as_text(project(DRAW_HAND, DRAW_RECORD.seats, "p1")) == DRAW_TEXT


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [(0, 100, "0"), (1250, 100, "12.50"), (1200, 100, "12"), (-5, 100, "-0.05"), (125, 10, "12.5"), (7, 1, "7")],
)
def test_money_is_written_in_whole_units(amount: int, unit: int, text: str) -> None:
    assert money(amount, unit) == text


STUD_TEXT = """\
Brelan hand s00-a:1:1: Seven-Card Stud, fixed limit 2/4
Table Stud two four (s00-a), 2025-12-01 03:00:02 to 2025-12-01 03:00:20 UTC
Seat 2: Player2 (40 in chips)
Seat 4: Player4 (40 in chips)
Seat 5: Player5 (40 in chips)
Player2 posts the ante of 0.40
Player4 posts the ante of 0.40
Player5 posts the ante of 0.40
*** Third street ***
Dealt to Player2: [Kh Ks] 2c
Dealt to Player4: [Ah As] 4c
Dealt to Player5: [?? ??] 9c
Player2 brings in for 1
Player4 completes to 2
Player5 folds
Player2 calls 1
*** Fourth street ***
Dealt to Player2: 3d
Dealt to Player4: 6d
Player2 checks
Player4 checks
*** Fifth street ***
Dealt to Player2: 5h
Dealt to Player4: 8h
Player2 checks
Player4 checks
*** Sixth street ***
Dealt to Player2: 7c
Dealt to Player4: Tc
Player2 checks
Player4 checks
*** River ***
Dealt to Player2: [9s]
Dealt to Player4: [Js]
Player2 checks
Player4 checks
*** Showdown ***
Player4 shows [Ah As 4c 6d 8h Tc Js] (Pair of aces)
Player4 wins 4.94 from the pot
Player2 mucks
*** Summary ***
Pot 5.20, rake 0.26
Seat 2: Player2 [Kh Ks 2c 3d 5h 7c 9s], mucked: -2.40, 37.60 left
Seat 4: Player4 [Ah As 4c 6d 8h Tc Js]: +2.54, 42.54 left
Seat 5: Player5: -0.40, 39.60 left
"""
DRAW_TEXT = """\
Brelan hand s00-a:1:1: 5 Card Draw 7-A, fixed limit 2/4
Table Draw two four (s00-a), 2025-12-01 03:00:02 to 2025-12-01 03:00:14 UTC
Seat 1 has the button
Seat 2: Player2 (40 in chips)
Seat 3: Player3 (40 in chips)
Seat 1: Player1 (40 in chips)
Player2 posts the small blind of 1
Player3 posts the big blind of 2
*** First round ***
Dealt to Player2: [7h 8h 9c Td Js]
Dealt to Player3: [?? ?? ?? ?? ??]
Dealt to Player1: [Ah As Kd Qc 7d]
Player1 calls 2
Player2 has run out of time
Player2 is all-in with what he has put in
Player3 checks
*** Draw ***
Player2 stands pat (time ran out)
Player3 stands pat
Player1 draws 1 [9h]
*** Second round ***
Player3 checks
Player1 bets 4
Player3 folds
4 not called, back to Player1
Player1 wins 2 from side pot 1
*** Showdown ***
Player1 shows [Ah As Kd Qc 9h] (Pair of kings)
Player2 shows [7h 8h 9c Td Js] (Straight, king high)
Player2 wins 3 from the main pot
*** Summary ***
Pot 5, rake 0
Seat 2: Player2 [7h 8h 9c Td Js]: +2, 42 left
Seat 3: Player3: -2, 38 left
Seat 1: Player1 [Ah As Kd Qc 9h], threw [7d]: 0, 40 left
"""
