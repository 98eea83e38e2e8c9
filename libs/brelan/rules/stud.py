"""Seven-Card Stud.

- S2: antes, dead money. S3: third street: two down, one up, from the dealer's left, no burn.
- S4: the lowest door card brings in; suits count here only. S5: the bring-in, or a bet of ``L``; never a fold or check.
- S6: a card is burned before each later street; the river comes face down.
- S7, S12: the highest board begins; a tie goes to the player nearest the dealer's left.
- S8: ``L`` on third and fourth street, ``U`` afterwards. S9: with an open pair on fourth street, either.
- S10: when the stub is short on the river. S13: all-in for the ante, or the bring-in.
"""

from typing import Literal

from brelan.events.config import TableConfig
from brelan.events.table import Action, HandStarted, Posted
from brelan.rules.betting import can_act
from brelan.rules.cards import rank_of
from brelan.rules.evaluation import board_value
from brelan.rules.games import GAMES, LineUp, Street, clear_street, index_of
from brelan.rules.state import Hand, HandPlayer, TableState

THIRD, FOURTH = 0, 1


class Stud:
    streets = (
        Street("third", "lower", down=2, up=1),
        Street("fourth", "lower", up=1),
        Street("fifth", "upper", up=1),
        Street("sixth", "upper", up=1),
        Street("river", "upper", down=1),
    )
    capped_heads_up = False
    has_blinds = False

    def deck_size(self, _players: int) -> int:
        return 52

    def line_up(self, _state: TableState, config: TableConfig, ready: list[int]) -> LineUp | None:
        if len(ready) < 2:
            return None
        return LineUp(tuple(ready), tuple(Posted(seat, "ante", config.ante) for seat in ready))

    def pass_blinds(self, state: TableState, started: HandStarted) -> None:
        """There are none."""

    def open_first_street(self, hand: Hand, config: TableConfig) -> None:
        hand.wager = config.lower_limit

    def open_street(self, hand: Hand, config: TableConfig, name: str) -> None:
        street = index_of(self, name)
        clear_street(self, hand, config, street)
        hand.open_pair = street == FOURTH and any(_open_pair(player) for player in hand.players)

    def draws_after(self, _hand: Hand) -> bool:
        return False

    def forced(self, hand: Hand, config: TableConfig) -> tuple[HandPlayer, tuple[Action, ...]] | None:
        """S4, S5, S13. No bring-in when fewer than two can act."""
        if hand.street != THIRD or hand.price or sum(map(can_act, hand.players)) < 2:
            return None
        lowest = min(range(len(hand.players)), key=lambda index: hand.players[index].up[0])
        around = hand.players[lowest:] + hand.players[:lowest]
        player = next(one for one in around if can_act(one))
        short = min(config.bring_in, player.stack)
        listed = [Action("bring_in", short, short, short == player.stack)]
        if player.stack > config.bring_in:
            to = min(config.lower_limit, player.stack)
            listed.append(Action("complete", to, to, to == player.stack))
        return player, tuple(listed)

    def first_to_act(self, hand: Hand) -> HandPlayer:
        if hand.street == THIRD:
            lowest = min(range(len(hand.players)), key=lambda index: hand.players[index].up[0])
            return hand.players[lowest]
        best = None
        for player in hand.players:
            if not player.folded and (best is None or board_value(player.up) > board_value(best.up)):
                best = player
        assert best is not None
        return best

    def sizes(self, hand: Hand, config: TableConfig) -> tuple[int, ...]:
        if hand.open_pair and hand.wager == config.lower_limit:
            return config.lower_limit, config.upper_limit
        return (hand.wager,)

    def counts_from(self, hand: Hand, config: TableConfig) -> int:
        """B7. On third street a completion is measured from the bring-in."""
        if hand.street == THIRD and not hand.full_level:
            return config.bring_in + (config.lower_limit - config.bring_in + 1) // 2
        return hand.full_level + (hand.wager + 1) // 2

    def settle_size(self, hand: Hand, config: TableConfig, to: int) -> None:
        if hand.open_pair and to - hand.full_level >= config.upper_limit:
            hand.wager = config.upper_limit

    def from_the_left(self, hand: Hand) -> list[HandPlayer]:
        return hand.players


def _open_pair(player: HandPlayer) -> bool:
    return not player.folded and len(player.up) == 2 and rank_of(player.up[0]) == rank_of(player.up[1])


def river_plan(stub: int, burned: int, players: int) -> Literal["normal", "reshuffle", "community"]:
    """S10, by the numbers of cards."""
    if stub >= players + 1:
        return "normal"
    return "reshuffle" if stub + burned >= players else "community"


GAMES["stud"] = Stud()
