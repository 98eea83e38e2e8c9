"""Facts of a hand's end: showdown, pots awarded, stacks."""

from msgspec.structs import replace

from brelan.events import table as facts
from brelan.rules.folding.seats import change_seat, put_transfer
from brelan.rules.state import DealerWait, TableState, Transfer, hand_of, player_at


def showdown_requested(state: TableState, event: facts.ShowdownRequested) -> None:
    hand = hand_of(state)
    hand.phase = "showdown"
    hand.showdown = event.order
    state.dealer_wait = DealerWait(event.request_id, event.due_ms)


def showdown_resolved(state: TableState, _: facts.ShowdownResolved) -> None:
    state.dealer_wait = None


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
        put_transfer(state, Transfer("rake", event.transfer_id, event.rake, event.due_ms))
    _hand_over(state, event.stacks)


def hand_voided(state: TableState, event: facts.HandVoided) -> None:
    """It was never dealt: the button has not moved, and who owed a blind owes it still."""
    before = state.hand.before if state.hand is not None else None
    if before is not None:
        state.last_players, state.last_button = before.players, before.button
        state.last_small_blind, state.last_big_blind = before.small_blind, before.big_blind
        for owed in before.owed:
            seat = state.seats[owed.seat - 1]
            if seat is not None and seat.player_id == owed.player_id:
                change_seat(state, owed.seat, owes_big_blind=owed.big_blind, owes_small_blind=owed.small_blind)
    _hand_over(state, event.stacks)


def _hand_over(state: TableState, stacks: tuple[facts.PotShare, ...]) -> None:
    left_with = {stack.seat: stack.amount for stack in stacks}
    state.seats = [
        replace(seat, stack=left_with[seat.seat]) if seat is not None and seat.seat in left_with else seat
        for seat in state.seats
    ]
    state.hand = state.turn = state.dealer_wait = None


# --- afterwards --------------------------------------------------------------------------------------------------


def show_offered(state: TableState, event: facts.ShowOffered) -> None:
    state.show_offered = event.seats


def show_requested(state: TableState, event: facts.ShowRequested) -> None:
    state.show_requests = {**state.show_requests, event.request_id: event.seat}
