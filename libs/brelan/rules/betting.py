"""Betting rounds.

- B1: every bet and raise is the size of the street, ``L`` or ``U``. B2: check or bet; facing a bet fold, call or raise.
- B3: stud: a bet and three raises while three or more are in the hand; with two left raises are unlimited.
- B4: draw: four bets a round, always; the big blind is the first one of the first round.
- B5: those in the hand are those who have not folded, all-in or not; when folds leave two the cap of B3 is lifted, even
  if it was reached. A table may keep a cap that was reached (``cap_lifted_heads_up``).
- B6: completing the bring-in is the round's first bet.
- B7: all-in for less. ``F`` (``full_level``) is the last full level, ``W`` (``wager``) the size, ``A`` (``price``) the
  highest all-in above ``F``. ``A - F < W/2``: nothing but a higher price, the next raise is to ``F + W``. From ``W/2``
  on it counts as a bet or raise, and ``F`` becomes ``A``. Whoever has acted since ``F`` was set may only call or fold.
  On third street the completion is measured from the bring-in, and ``W`` is ``L`` until somebody has bet ``U`` (S9).
- B11: no bet or raise when no other player can act.
"""

from brelan.events.config import TableConfig
from brelan.events.table import Action, ActionKind, BetPlaced
from brelan.rules.game import BETS_A_ROUND
from brelan.rules.games import game_of
from brelan.rules.state import Hand, HandPlayer, can_act

FOLD, CHECK = Action("fold"), Action("check")

# --- whose turn --------------------------------------------------------------------------------------------------


def next_to_act(hand: Hand, start: int) -> HandPlayer | None:
    """Clockwise from ``start`` (an index in dealing order) the first whom the round has to wait for."""
    able = sum(map(can_act, hand.players))
    if able == 0:
        return None
    for player in hand.players[start:] + hand.players[:start]:
        if can_act(player) and _has_to_act(hand, player, alone=able == 1):
            return player
    return None


def _has_to_act(hand: Hand, player: HandPlayer, *, alone: bool) -> bool:
    """Who is alone with his chips only has to answer a bet that somebody really made (B11, S13)."""
    if alone:
        return player.bet < hand.price and any(other.bet > player.bet for other in hand.players if not other.folded)
    return player.acted_at < 0 or player.bet < hand.price


# --- what he may do ----------------------------------------------------------------------------------------------


def actions(hand: Hand, config: TableConfig, player: HandPlayer) -> tuple[Action, ...]:
    """All that he may do, and nothing else."""
    most = player.bet + player.stack
    if hand.forced and not hand.price:
        return _openings(hand, most)
    if player.bet < hand.price:
        to = min(hand.price, most)
        listed = [FOLD, Action("call", to, to - player.bet, to == most)]
    else:
        listed = [FOLD, CHECK]
    if most > hand.price and _may_raise(hand, player) and raises_left(hand, config) != 0:
        listed += _raises(hand, player, config, most)
    return tuple(listed)


def _openings(hand: Hand, most: int) -> tuple[Action, ...]:
    """S5: the bring-in may not be folded or checked. With fewer chips than it he is all-in for it (S13)."""
    bring_in = min(hand.forced, most)
    listed = [Action("bring_in", bring_in, bring_in, bring_in == most)]
    if most > hand.forced:
        full = min(hand.wager, most)
        listed.append(Action("bet", full, full, full == most))
    return tuple(listed)


def _may_raise(hand: Hand, player: HandPlayer) -> bool:
    """B7: not whoever has acted since the last full bet. B11: not when nobody else can act."""
    if player.acted_at >= hand.full_level:
        return False
    return any(can_act(other) for other in hand.players if other is not player)


def _raises(hand: Hand, player: HandPlayer, config: TableConfig, most: int) -> list[Action]:
    kind = _kind(hand)
    listed: list[Action] = []
    for size in sizes(hand, config):
        to = min(hand.full_level + size, most)
        if not listed or listed[-1].to < to:
            listed.append(Action(kind, to, to - player.bet, to == most))
    return listed


def _kind(hand: Hand) -> ActionKind:
    """B6: as long as no full bet was made, a higher one completes the bring-in, or the all-in for less."""
    if not hand.price:
        return "bet"
    return "raise" if hand.full_level else "complete"


def sizes(hand: Hand, config: TableConfig) -> tuple[int, ...]:
    """``W``; with an open pair either limit, until somebody has bet the upper one (S9)."""
    if hand.open_pair and hand.wager < config.upper_limit:
        return hand.wager, config.upper_limit
    return (hand.wager,)


def raises_left(hand: Hand, config: TableConfig) -> int | None:
    """B3, B4, B5: bets and raises that may still be made in this round; None: unlimited."""
    if not game_of(config).unlimited_heads_up or _players_left(hand) > 2:
        return max(0, BETS_A_ROUND - hand.bets_made)
    return 0 if hand.capped and not config.cap_lifted_heads_up else None


def _players_left(hand: Hand) -> int:
    return sum(not player.folded for player in hand.players)


# --- what a bet does ---------------------------------------------------------------------------------------------


def raise_price(hand: Hand, config: TableConfig, event: BetPlaced) -> None:
    """Fold a bet, raise or completion into the round (B6, B7, S9)."""
    hand.price = event.to
    hand.last_aggressor = hand.hand_aggressor = event.seat
    since = max(hand.full_level, hand.forced)
    full = hand.full_level + hand.wager
    if 2 * (event.to - since) < full - since:
        return
    if hand.open_pair and event.to - hand.full_level >= config.upper_limit:
        hand.wager = config.upper_limit
    hand.full_level = event.to
    hand.bets_made += 1
    if hand.bets_made >= BETS_A_ROUND and _players_left(hand) > 2:
        hand.capped = True
