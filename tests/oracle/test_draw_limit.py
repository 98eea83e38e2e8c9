"""Sixteen real fixed-limit five-card draw hands: others deal 52 cards to six players, the betting is ours.

Checked: who posts which blind, who has to act (D8, D10), that what was done was possible and what it cost (B1, B4, B7),
how many drew, the pot, and the stacks at the end without the room's rake.

Not checked: the deck and the 7-A ranking. Nobody's cards are known, so the answers of a dealer are made up: it deals
face down whatever is asked, and names as winners whoever had the best hand by standard ranking of those shown, who is
also who collected. Tables of six, which no table here may have, are set up past the configuration's checks.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from brelan.events import commands, table
from brelan.rules.cards import cards_from_text
from brelan.rules.evaluation import hand_value_standard_five
from tests.oracle.dealer import Answer, committed
from tests.oracle.playing import Playing, draw, seated
from tests.requirements import SHARED_DATA

Recorded = dict[str, Any]


def recorded_hands() -> list[Recorded]:
    file = SHARED_DATA / "draw_limit.json"
    return list(json.loads(file.read_text())["hands"]) if file.is_file() else []


class FaceDown:
    """Deals what nobody sees; ``best``: the seats whose hands are best."""

    def __init__(self, best: tuple[int, ...]) -> None:
        self._best = best
        self._hand_id = ""

    def answer(self, event: object) -> Answer | None:
        match event:
            case table.HandStarted(hand_id=hand_id):
                self._hand_id = hand_id
            case table.DeckRequested():
                return committed(event)
            case table.CardsRequested():
                cards = tuple(table.SeatCards(seat, 5) for seat in event.seats)
                return table.CardsDealt(event.request_id, event.hand_id, event.street, cards)
            case table.DrawChosen(request_id=request_id) if request_id:
                return table.CardsDrawn(request_id, self._hand_id, event.seat, len(event.positions))
            case table.ShowdownRequested():
                winners = tuple(tuple(seat for seat in self._best if seat in pot.seats) for pot in event.pots)
                return table.ShowdownResolved(event.request_id, event.hand_id, winners, ())
        return None


def number(player: str) -> int:
    return int(player.removeprefix("p"))


def best_of_the_shown(hand: Recorded) -> tuple[int, ...]:
    values = {number(player): hand_value_standard_five(cards_from_text(text)) for player, text in hand["shown"].items()}
    return tuple(seat for seat, value in values.items() if value == max(values.values()))


def collectors(hand: Recorded) -> tuple[int, ...]:
    return tuple(seat for seat, amount in enumerate(hand["collected"], start=1) if amount)


def stacks_without_rake(hand: Recorded) -> list[int]:
    """The room took its rake from the pot of its one winner."""
    (winner,) = collectors(hand)
    return [stack + hand["rake"] * (seat == winner) for seat, stack in enumerate(hand["finishing_stacks"], start=1)]


def play(hand: Recorded) -> Playing:
    """Seats as listed, from the small blind on; the button is last."""
    count = hand["players"]
    small, big = (amount for _, _, amount in hand["blinds"])
    config = draw(hand["small_bet"], hand["big_bet"], small_blind=small, seats=count)
    assert big == hand["small_bet"]
    stacks = dict(enumerate(hand["starting_stacks"], start=1))
    playing = Playing(seated(config, stacks, button=count), FaceDown(best_of_the_shown(hand))).deal()
    for event in hand["events"]:
        match event:
            case ["act", betting_round, player, kind, amount]:
                assert playing.hand.street == betting_round - 1
                act(playing, number(player), kind, amount)
            case ["draw", player, drawn, _]:
                draw_cards(playing, number(player), drawn)
    return playing


def act(playing: Playing, seat: int, kind: str, amount: int) -> None:
    """``amount``: what a call pays, and to where a bet or raise goes."""
    if kind == "cbr":
        kind = next(action.kind for action in playing.turn.actions if action.kind in ("bet", "raise"))
        return void(playing.play(f"{seat} {kind} {amount}"))
    playing.play(f"{seat} {kind}")
    if kind == "call":
        placed = playing.all(table.BetPlaced)[-1]
        assert (placed.seat, placed.pay) == (seat, amount)
    return None


def void(_: object) -> None:
    pass


def draw_cards(playing: Playing, seat: int, drawn: int) -> None:
    assert playing.turn.seat == seat
    playing.do(commands.Draw(playing.turn.turn_id, tuple(range(drawn))), seat)
    assert playing.last(table.DrawChosen).seat == seat
    assert len(playing.last(table.DrawChosen).positions) == drawn


@pytest.mark.parametrize("hand", recorded_hands(), ids=lambda hand: hand["id"])
def test_real_draw_hand(hand: Recorded) -> None:
    playing = play(hand)
    assert playing.state.hand is None, "the hand is over"
    posted = [[event.seat, event.kind.replace("_", " "), event.amount] for event in playing.all(table.Posted)]
    assert posted == hand["blinds"]
    if hand["shown"]:
        assert best_of_the_shown(hand) == collectors(hand)
    assert sum(event.amount for event in playing.all(table.PotAwarded)) == sum(hand["contributed"])
    returned = [0] * hand["players"]
    for event in playing.all(table.BetReturned):
        returned[event.seat - 1] += event.amount
    assert returned == hand["returned"]
    assert list(playing.stacks.values()) == stacks_without_rake(hand)


def test_all_sixteen_are_there(shared_data: Path) -> None:
    assert len(recorded_hands()) == 16
