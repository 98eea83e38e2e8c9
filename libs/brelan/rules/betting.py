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

FOLD = Action("fold")
CHECK_OR_FOLD = (FOLD, Action("check"))

# --- whose turn --------------------------------------------------------------------------------------------------


def next_to_act(hand: Hand, start: int) -> HandPlayer | None:
    """Clockwise from ``start`` (an index in dealing order) the first whom the round has to wait for."""
    able, waited_for = 0, None
    price, players = hand.price, hand.players
    for player in players[start:] + players[:start]:
        if not (player.folded or player.all_in):
            able += 1
            if waited_for is None and (player.acted_at < 0 or player.bet < price):
                waited_for = player
    return _answering(hand) if able == 1 else waited_for


def _answering(hand: Hand) -> HandPlayer | None:
    """B11, S13: who is alone with his chips only has to answer a bet that somebody really made."""
    alone = next(player for player in hand.players if can_act(player))
    highest = max(player.bet for player in hand.players if not player.folded)
    return alone if alone.bet < hand.price and alone.bet < highest else None


# --- what he may do ----------------------------------------------------------------------------------------------


def actions(hand: Hand, config: TableConfig, player: HandPlayer, raises: int | None) -> tuple[Action, ...]:
    """All that he may do, and nothing else. ``raises`` are left (``raises_left``)."""
    bet, price = player.bet, hand.price
    most = bet + player.stack
    if hand.forced and not price:
        return _openings(hand, most)
    if bet >= price:
        listed: tuple[Action, ...] = CHECK_OR_FOLD
    elif most > price:
        listed = (FOLD, Action("call", price, price - bet))
    else:
        return FOLD, Action("call", most, most - bet, all_in=True)
    if raises != 0 and most > price and _may_raise(hand, player):
        return listed + _raises(hand, bet, most, config)
    return listed


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
    for other in hand.players:
        if other is player or other.folded or other.all_in:
            continue
        return True
    return False


def _raises(hand: Hand, bet: int, most: int, config: TableConfig) -> tuple[Action, ...]:
    """To the next full level, or all-in for less; with an open pair to either of two, until ``U`` was bet (S9)."""
    kind, full = _kind(hand), hand.full_level + hand.wager
    if full >= most:
        return (Action(kind, most, most - bet, all_in=True),)
    smaller = Action(kind, full, full - bet)
    if not hand.open_pair or hand.wager >= config.upper_limit:
        return (smaller,)
    larger = min(hand.full_level + config.upper_limit, most)
    return smaller, Action(kind, larger, larger - bet, larger == most)


def _kind(hand: Hand) -> ActionKind:
    """B6: as long as no full bet was made, a higher one completes the bring-in, or the all-in for less."""
    if not hand.price:
        return "bet"
    return "raise" if hand.full_level else "complete"


def raises_left(hand: Hand, config: TableConfig) -> int | None:
    """B3, B4, B5: bets and raises that may still be made in this round; None: unlimited."""
    if hand.left > 2 or not game_of(config).unlimited_heads_up:
        return max(0, BETS_A_ROUND - hand.bets_made)
    return 0 if hand.capped and not config.cap_lifted_heads_up else None


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
    if hand.bets_made >= BETS_A_ROUND and hand.left > 2:
        hand.capped = True
