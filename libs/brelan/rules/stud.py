"""Seven-Card Stud.

- S1: two to eight seats, no button; the dealer's left is the lowest seat. S2: everybody dealt in posts the ante.
- S3: third street: two down, one up, no burn. S6: one card is burned before every later street, the river comes down.
- S4: the lowest door card brings in, equal ranks by suit: cards are numbered in that order. S5: see ``betting``.
- S13: when he is all-in, the first clockwise from him who has chips brings in; nobody when fewer than two can act.
- S7, S12: from fourth street on the highest board showing acts first, of equal ones the nearest to the dealer's left.
- S8: ``L`` on third and fourth street, ``U`` on the others. S9: a pair showing on fourth street when it is dealt.
- S10: the river when the stub is short. S11: folded hands never come back, so they are not counted there.
"""

from typing import Literal

from brelan.events.config import TableConfig
from brelan.events.table import CardsDealt, Posted
from brelan.rules.cards import rank_of
from brelan.rules.evaluation import board_value
from brelan.rules.game import Deal, Lineup, Street
from brelan.rules.state import Hand, HandPlayer, TableState, can_act, in_hand, index_of, present

RiverPlan = Literal["normal", "reshuffle", "community"]
THIRD, FOURTH, RIVER = 0, 1, 4  # streets


class Stud:
    streets = (
        Street("third", "lower", down=2, up=1),
        Street("fourth", "lower", up=1, burns=True),
        Street("fifth", "upper", up=1, burns=True),
        Street("sixth", "upper", up=1, burns=True),
        Street("river", "upper", down=1, burns=True),
    )
    unlimited_heads_up = True
    has_blinds = False

    def deck_size(self, dealt_in: int) -> int:  # noqa: ARG002 - whoever plays
        return 52

    def lineup(self, state: TableState, config: TableConfig) -> Lineup | None:
        seats = tuple(present(state))
        if len(seats) < 2:
            return None
        return Lineup(seats, tuple(Posted(seat, "ante", config.ante) for seat in seats))

    def opener(self, hand: Hand) -> int:
        """S5, S7, S12."""
        if hand.street == THIRD:
            return 0 if hand.bring_in is None else index_of(hand, hand.bring_in)
        return _highest_board(hand)

    def deal(self, hand: Hand, street: int) -> Deal:
        wanted = self.streets[street]
        if street == RIVER:
            return _river(hand, wanted)
        return Deal(wanted.down, wanted.up, burned=int(wanted.burns))

    def dealt(self, hand: Hand, config: TableConfig, event: CardsDealt) -> None:  # noqa: ARG002
        if hand.street == THIRD:
            hand.bring_in = bring_in_seat(hand)
            hand.forced = 0 if hand.bring_in is None else config.bring_in
        elif hand.street == FOURTH:
            hand.open_pair = any(map(_shows_a_pair, hand.players))


def bring_in_seat(hand: Hand) -> int | None:
    """S4, S13."""
    if sum(map(can_act, hand.players)) < 2 or not all(player.up for player in hand.players):
        return None
    lowest = min(range(len(hand.players)), key=lambda index: hand.players[index].up[0])
    clockwise = hand.players[lowest:] + hand.players[:lowest]
    return next(player.seat for player in clockwise if can_act(player))


def _highest_board(hand: Hand) -> int:
    best, highest = 0, -1
    for index, player in enumerate(hand.players):
        if not player.folded and (value := board_value(player.up)) > highest:
            best, highest = index, value
    return best


def _shows_a_pair(player: HandPlayer) -> bool:
    """S9, on fourth street."""
    return not player.folded and len(player.up) == 2 and rank_of(player.up[0]) == rank_of(player.up[1])


def river_plan(stub: int, burned: int, players: int) -> RiverPlan:
    """S10, by numbers of cards: one is burned and everybody served; or all that is left serves them; or one for all."""
    if stub > players:
        return "normal"
    return "reshuffle" if stub + burned >= players else "community"


def _river(hand: Hand, river: Street) -> Deal:
    stub = hand.deck_size - hand.dealt - hand.burned
    match river_plan(stub, hand.burned, len(in_hand(hand))):
        case "normal":
            return Deal(river.down, river.up, burned=1)
        case "reshuffle":
            return Deal(river.down, river.up, reshuffled=True)
        case "community":
            return Deal(0, 0, reshuffled=True, community=True)
