"""Showdown, and how a hand ends.

- H1: the last to bet or raise on the final round shows first; if all checked, who had to act first. The others follow
  clockwise, those who contest a side pot before those who only contest the main pot.
- H2: a winner who was not called need not show. H3: a hand that wins a pot is shown, and the first one; the others may
  be shown or mucked. H4: cards speak: the dealer compares, and mucking is only for a hand that lost all its pots.
- H6: with no betting left H1 begins at the last who bet or raised on any street.
- H7: the last side pot is settled first. B8: what nobody matched goes back before anything else.
- M5: no rake when the hand ends before the first betting round is complete.
"""

from collections.abc import Sequence

from brelan.events import table
from brelan.events.table import Pot, PotShare, ShownHand
from brelan.rules import pots
from brelan.rules.dealing import is_awaited
from brelan.rules.draft import Draft
from brelan.rules.rejections import rejected
from brelan.rules.state import Hand, HandPlayer, Rejected, Seat, epoch_of, in_hand, index_of, player_at, seat_at


def collect_bets(draft: Draft) -> None:
    """The round is over: B8, then B9."""
    players = draft.hand.players
    returned = pots.unmatched(players)
    if returned is not None:
        draft.emit(returned)
    draft.emit(table.PotsFormed(pots.form(players)))


# --- who shows ---------------------------------------------------------------------------------------------------


def request_comparison(draft: Draft) -> None:
    hand = draft.hand
    request_id = f"{hand.hand_id}:showdown"
    order = show_order(hand, draft.game.opener(hand))
    draft.emit(table.ShowdownRequested(request_id, hand.hand_id, hand.pots, order, draft.answer_due_ms))


def show_order(hand: Hand, opener: int) -> tuple[int, ...]:
    """H1, H6. ``opener``: index of who acts first on the street when there is nothing else to go by."""
    first = _first_to_show(hand)
    start = opener if first is None else index_of(hand, first)
    clockwise = [player.seat for player in hand.players[start:] + hand.players[:start] if not player.folded]
    return tuple(sorted(clockwise, key=lambda seat: -_deepest_contested(hand.pots, seat)))


def _first_to_show(hand: Hand) -> int | None:
    if hand.last_aggressor is not None:
        return hand.last_aggressor
    if hand.first_to_act is not None:
        return hand.first_to_act
    return hand.hand_aggressor


def _deepest_contested(all_pots: Sequence[Pot], seat: int) -> int:
    places = [place for place, pot in enumerate(all_pots) if seat in pot.seats and len(pot.seats) > 1]
    return max(places, default=0)


# --- the dealer's answer -----------------------------------------------------------------------------------------


def resolve(draft: Draft, answer: table.ShowdownResolved) -> bool:
    """Whether the hand is over by it."""
    if not is_awaited(draft.state, answer.request_id):
        return False
    hand = draft.hand
    _check(hand, answer)
    draft.emit(answer)
    for shown in answer.hands:
        draft.emit(table.HandShown(shown))
    losers = _losers(hand, answer)
    for seat in losers:
        if seat_at(draft.state, seat).auto_muck:
            draft.emit(table.HandMucked(seat))
    _pay(draft, answer.winners, pots.rakes(hand.pots, draft.config, len(hand.players)), losers)
    return True


def _losers(hand: Hand, answer: table.ShowdownResolved) -> list[int]:
    """H3, H4: who lost every pot that he contested with somebody, and was not the first to show."""
    contested = zip(hand.pots, answer.winners, strict=True)
    won = {seat for pot, winners in contested if len(pot.seats) > 1 for seat in winners}
    return [player.seat for player in in_hand(hand) if player.shown is None and player.seat not in won]


def _check(hand: Hand, answer: table.ShowdownResolved) -> None:
    """Raises ValueError when the answer does not fit what was asked."""
    if (answer.hand_id, answer.request_id) != (hand.hand_id, f"{hand.hand_id}:showdown"):
        raise ValueError(f"{answer.request_id} was asked for, not {answer.hand_id}")
    if len(answer.winners) != len(hand.pots):
        raise ValueError(f"{answer.request_id}: {len(hand.pots)} pots, {len(answer.winners)} answers")
    for pot, winners in zip(hand.pots, answer.winners, strict=True):
        if not winners or len(set(winners)) != len(winners) or not set(winners) <= set(pot.seats):
            raise ValueError(f"{answer.request_id}: {winners} cannot have won a pot of {pot.seats}")
    for shown in answer.hands:
        check_shown(hand, shown)
    held = [card for shown in answer.hands for card in shown.cards]
    if len(set(held)) != len(held):
        raise ValueError(f"{answer.request_id}: two hands hold the same card")


def check_shown(hand: Hand, shown: ShownHand) -> None:
    """As many cards as he was dealt, his up cards among them. Raises ValueError."""
    player = player_at(hand, shown.seat)
    if player.folded or len(set(shown.cards)) != player.down + len(player.up) or not set(player.up) <= set(shown.cards):
        raise ValueError(f"seat {shown.seat} cannot show {shown.cards}")
    common = set() if hand.community is None else {hand.community}
    if len(set(shown.best)) != 5 or not set(shown.best) <= set(shown.cards) | common:
        raise ValueError(f"seat {shown.seat} does not hold {shown.best}")


# --- paying ------------------------------------------------------------------------------------------------------


def pay_uncontested(draft: Draft, winner: HandPlayer) -> None:
    """Everybody else has folded (H2)."""
    hand = draft.hand
    collect_bets(draft)
    nothing = [0] * len(hand.pots)
    taken = pots.rakes(hand.pots, draft.config, len(hand.players)) if hand.first_round_complete else nothing
    _pay(draft, [(winner.seat,)] * len(hand.pots), taken, [winner.seat])


def _pay(draft: Draft, winners: Sequence[Sequence[int]], rakes: list[int], may_show: list[int]) -> None:
    """H7."""
    hand, chip = draft.hand, draft.config.smallest_chip
    if may_show:
        draft.emit(table.ShowOffered(tuple(may_show)))
    for place in reversed(range(len(hand.pots))):
        amount, rake = hand.pots[place].amount, rakes[place]
        in_order = [player.seat for player in hand.players if player.seat in winners[place]]
        draft.emit(table.PotAwarded(place, amount, rake, pots.split(amount - rake, in_order, chip)))
    stacks = tuple(PotShare(player.seat, player.stack) for player in hand.players)
    transfer_id = _rake_id(draft.state.epoch, hand.hand_id) if hand.rake else ""
    draft.emit(table.HandEnded(hand.hand_id, hand.rake, stacks, transfer_id, draft.answer_due_ms if hand.rake else 0))


def _rake_id(epoch: int, hand_id: str) -> str:
    """A hand that began in another epoch may have ended in what was lost of it, and its rake be booked already."""
    return f"rake:{hand_id}" if epoch_of(hand_id) == epoch else f"rake:{hand_id}:{epoch}"


# --- afterwards --------------------------------------------------------------------------------------------------


def show(draft: Draft, seat: Seat) -> Rejected | None:
    """H2, H3: the winner who was not called, and every loser, until the next hand."""
    state = draft.state
    if seat.seat not in state.show_offered:
        return rejected("nothing_to_show")
    request_id = f"{state.last_hand_id}:show:{seat.seat}"
    if request_id not in state.show_requests:
        draft.emit(table.ShowRequested(request_id, state.last_hand_id, seat.seat))
    return None


def muck(draft: Draft, seat: Seat) -> Rejected | None:
    if seat.seat not in draft.state.show_offered:
        return rejected("nothing_to_show")
    draft.emit(table.HandMucked(seat.seat))
    return None


def shown(draft: Draft, answer: table.HandShown) -> None:
    """The dealer turned up a hand that somebody wanted seen. Too late once the next hand has begun."""
    state = draft.state
    if answer.hand.seat in state.show_requests.values():
        draft.emit(answer)


def void(draft: Draft, reason: str) -> None:
    """The hand is called off: every bet goes back."""
    hand = draft.hand
    stacks = tuple(PotShare(player.seat, player.starting_stack) for player in hand.players)
    draft.emit(table.HandVoided(hand.hand_id, reason, stacks))
