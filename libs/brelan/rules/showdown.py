"""Showdown and payment.

- H1: the last to bet or raise on the final round shows first; if all checked, who had to act first; then clockwise.
  With a side pot its players show first. H6: with no betting left, the last who bet on any street begins.
- H2: a winner who was not called need not show. H3: winners and the first to show are shown, the others may.
- H4: cards speak: the dealer compares. H7: the last side pot is settled first.
- B8: what nobody matched goes back first. M5: no rake from a hand that ended before the first round was complete.
"""

from collections.abc import Sequence

from brelan.events import table
from brelan.events.table import PotShare
from brelan.rules import pots
from brelan.rules.betting import in_hand
from brelan.rules.draft import WAIT_MS, Draft, clockwise_from
from brelan.rules.games import Game, game_of
from brelan.rules.state import Hand, HandPlayer


def collect(draft: Draft) -> None:
    """The round is over: B8, then the pots."""
    back = pots.uncalled(draft.hand.players)
    while back is not None:
        draft.emit(table.BetReturned(*back))
        back = pots.uncalled(draft.hand.players)
    draft.emit(table.PotsFormed(pots.pots(draft.hand.players)))


def request(draft: Draft) -> None:
    """To the dealer: compare."""
    hand = draft.hand
    request_id = f"{hand.hand_id}:showdown"
    order = tuple(_order(hand, game_of(draft.config)))
    draft.emit(table.ShowdownRequested(request_id, hand.hand_id, hand.pots, order, draft.now_ms + WAIT_MS))


def _order(hand: Hand, game: Game) -> list[int]:
    """H1, H6. With no bet and no turn in the whole hand: who would have had to act first."""
    seats = [player.seat for player in in_hand(hand)]
    starts = (hand.last_aggressor, hand.first_to_act, hand.hand_aggressor)
    first = next((seat for seat in starts if seat is not None), game.first_to_act(hand).seat)
    around = [player.seat for player in clockwise_from(hand, first) if player.seat in seats]
    deepest = {seat: max(place for place, pot in enumerate(hand.pots) if seat in pot.seats) for seat in seats}
    return sorted(around, key=lambda seat: -deepest[seat])


def resolve(draft: Draft, resolved: table.ShowdownResolved) -> None:
    """The dealer's answer: show, pay, muck."""
    hand = draft.hand
    _check(hand, resolved)
    draft.emit(resolved)
    for shown in resolved.hands:
        draft.emit(table.HandShown(shown))
    award(draft, resolved.winners, raked=True)
    losers = [player.seat for player in in_hand(hand) if player.shown is None]
    for seat in losers:
        owner = draft.state.seats[seat - 1]
        if owner is not None and owner.auto_muck:
            draft.emit(table.HandMucked(seat))
    finish(draft, losers)


def _check(hand: Hand, resolved: table.ShowdownResolved) -> None:
    if len(resolved.winners) != len(hand.pots):
        raise ValueError("the dealer resolved another number of pots")
    for pot, winners in zip(hand.pots, resolved.winners, strict=True):
        if not winners or not set(winners) <= set(pot.seats):
            raise ValueError("the dealer named a winner who is not in the pot")


def uncontested(draft: Draft, winner: HandPlayer) -> None:
    """Everybody else has folded."""
    raked = draft.hand.first_round_complete
    collect(draft)
    award(draft, [(winner.seat,)] * len(draft.hand.pots), raked=raked)
    finish(draft, [winner.seat])


def award(draft: Draft, winners: Sequence[Sequence[int]], *, raked: bool) -> None:
    """H7. The rake is worked out from the main pot on, the payment goes the other way."""
    hand, config = draft.hand, draft.config
    order = [player.seat for player in game_of(config).from_the_left(hand)]
    rakes: list[int] = []
    for pot in hand.pots:
        contested = raked and (len(pot.seats) > 1 or len(hand.pots) == 1)
        taken = sum(rakes)
        rakes.append(pots.rake_of(pot.amount, config, len(hand.players), taken) if contested else 0)
    for place in reversed(range(len(hand.pots))):
        pot, rake = hand.pots[place], rakes[place]
        seats = [seat for seat in order if seat in winners[place]]
        shares = pots.split(pot.amount - rake, seats, config.smallest_chip)
        draft.emit(table.PotAwarded(place, pot.amount, rake, shares))


def finish(draft: Draft, may_show: list[int]) -> None:
    hand = draft.hand
    if may_show:
        draft.emit(table.ShowOffered(tuple(may_show)))
    stacks = tuple(PotShare(player.seat, player.stack) for player in hand.players)
    transfer_id = f"rake:{hand.hand_id}" if hand.rake else ""
    draft.emit(table.HandEnded(hand.hand_id, hand.rake, stacks, transfer_id))
