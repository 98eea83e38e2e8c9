"""Betting rounds.

- B1, B2: every bet and raise is the size of the street; check or bet, or fold, call or raise.
- B3, B4: one bet and three raises a round; in stud no limit with two players left, in draw always.
- B5: players in the hand are those who have not folded; the cap is lifted when folds leave two (a table may keep it).
- B6: completing the bring-in is the round's first bet.
- B7: all-in for less. ``F`` (``full_level``) is the last full level, ``W`` the size, ``A`` the highest all-in above
  ``F``. Below ``F + W/2`` it is nothing but a higher price; from there on it counts as a bet or raise, and it is the
  new ``F``.
  Whoever has acted since ``F`` was set may then only call or fold.
- B11: no bet when nobody else can act.
"""

from brelan.events.config import TableConfig
from brelan.events.table import Action, ActionKind, BetPlaced
from brelan.rules.games import game_of
from brelan.rules.state import Hand, HandPlayer

BETS_A_ROUND = 4  # B3, B4


def can_act(player: HandPlayer) -> bool:
    return not player.folded and not player.all_in


def in_hand(hand: Hand) -> list[HandPlayer]:
    return [player for player in hand.players if not player.folded]


def others_who_can_act(hand: Hand, player: HandPlayer) -> bool:
    return any(can_act(other) for other in hand.players if other is not player)


def price_for(hand: Hand, player: HandPlayer) -> int:
    """The bet to match. With nobody else to act, no more than what somebody has really put in."""
    if others_who_can_act(hand, player):
        return hand.price
    return min(hand.price, max(other.bet for other in hand.players if other is not player and not other.folded))


def owes_decision(hand: Hand, player: HandPlayer) -> bool:
    """Whether the round has to wait for him."""
    if not can_act(player):
        return False
    if player.bet < price_for(hand, player):
        return True
    return player.acted_at < 0 and others_who_can_act(hand, player)


def next_to_decide(hand: Hand, order: list[HandPlayer]) -> HandPlayer | None:
    return next((player for player in order if owes_decision(hand, player)), None)


def raises_left(hand: Hand, config: TableConfig) -> int | None:
    """B3-B5. None: unlimited."""
    if game_of(config).capped_heads_up or len(in_hand(hand)) > 2:
        return max(0, BETS_A_ROUND - hand.bets_made)
    return 0 if hand.capped and not config.cap_lifted_heads_up else None


def actions(hand: Hand, config: TableConfig, player: HandPlayer) -> tuple[Action, ...]:
    """B2: all that he may do now."""
    most = player.bet + player.stack
    price = price_for(hand, player)
    if player.bet < price:
        to = min(price, most)
        listed = [Action("fold"), Action("call", to, to - player.bet, to == most)]
    else:
        listed = [Action("fold"), Action("check")]
    return (*listed, *_raises(hand, config, player, most))


def _raises(hand: Hand, config: TableConfig, player: HandPlayer, most: int) -> list[Action]:
    if player.acted_at == hand.full_level or most <= hand.price or not others_who_can_act(hand, player):
        return []
    if raises_left(hand, config) == 0:
        return []
    game = game_of(config)
    kind = _kind(hand)
    levels = {min(hand.full_level + size, most) for size in game.sizes(hand, config)}
    return [Action(kind, to, to - player.bet, to == most) for to in sorted(levels) if to > hand.price]


def _kind(hand: Hand) -> ActionKind:
    if not hand.price:
        return "bet"
    return "raise" if hand.full_level else "complete"


def raise_level(hand: Hand, config: TableConfig, event: BetPlaced) -> None:
    """B7: what a bet or raise to ``event.to`` does to price, full level and cap."""
    game = game_of(config)
    hand.price = max(hand.price, event.to)
    if event.to < game.counts_from(hand, config):
        return
    game.settle_size(hand, config, event.to)
    hand.full_level = event.to
    hand.bets_made += 1
    hand.capped = hand.capped or (hand.bets_made >= BETS_A_ROUND and len(in_hand(hand)) > 2)
    hand.last_aggressor = hand.hand_aggressor = event.seat
