"""Facts of a hand's end: showdown, pots awarded, stacks."""

from brelan.events import table as facts
from brelan.rules.state import DealerWait, TableState, Transfer, hand_of, player_at, seat_at

Fact = (
    facts.ShowdownRequested
    | facts.ShowdownResolved
    | facts.HandShown
    | facts.HandMucked
    | facts.PotAwarded
    | facts.HandEnded
    | facts.HandVoided
    | facts.ShowOffered
    | facts.ShowRequested
)


def showdown_requested(state: TableState, event: facts.ShowdownRequested) -> None:
    hand = hand_of(state)
    hand.phase = "showdown"
    hand.showdown = event.order
    state.dealer_wait = DealerWait(event.request_id, event.due_ms)


def hand_shown(state: TableState, event: facts.HandShown) -> None:
    number = event.hand.seat
    if state.hand is not None:
        player_at(state.hand, number).shown = event.hand
        return
    state.show_requests = {name: seat for name, seat in state.show_requests.items() if seat != number}
    state.show_offered = tuple(one for one in state.show_offered if one != number)


def hand_mucked(state: TableState, event: facts.HandMucked) -> None:
    if state.hand is not None:
        player_at(state.hand, event.seat).mucked = True
        return
    state.show_offered = tuple(one for one in state.show_offered if one != event.seat)


def pot_awarded(state: TableState, event: facts.PotAwarded) -> None:
    hand = hand_of(state)
    hand.awarded += event.amount
    hand.rake += event.rake
    for share in event.shares:
        player_at(hand, share.seat).stack += share.amount


def hand_ended(state: TableState, event: facts.HandEnded) -> None:
    state.chips -= event.rake
    if event.transfer_id:
        state.transfers[event.transfer_id] = Transfer("rake", event.transfer_id, event.rake, event.due_ms)
    hand_over(state, event.stacks)


def hand_over(state: TableState, stacks: tuple[facts.PotShare, ...]) -> None:
    """Ended or voided."""
    for stack in stacks:
        seat_at(state, stack.seat).stack = stack.amount
    state.hand = state.turn = state.dealer_wait = None
