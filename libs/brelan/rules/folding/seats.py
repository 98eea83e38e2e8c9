"""Facts of seats and money."""

from msgspec.structs import replace

from brelan.events import table as facts
from brelan.rules.games import game_of
from brelan.rules.state import NEVER, Departed, Seat, TableState, Transfer, config_of, hand_of, player_at, seat_at

RETURN_MS = 3_600_000  # M4: sixty minutes
MOST_DEPARTED = 64  # who left is remembered for M4; at most so many


def change_seat(state: TableState, number: int, **changes: object) -> Seat:
    """The seat is replaced, never changed: ``state.copy_of`` relies on it."""
    seat = replace(seat_at(state, number), **changes)
    _put(state, number, seat)
    return seat


def _put(state: TableState, number: int, seat: Seat | None) -> None:
    state.seats = [*state.seats[: number - 1], seat, *state.seats[number:]]


def seat_reserved(state: TableState, event: facts.SeatReserved) -> None:
    """D13: to be dealt in where there are blinds he posts, or waits for the big one."""
    owes = game_of(config_of(state)).has_blinds
    seat = Seat(event.seat, event.player_id, event.name, reserved=event.amount, entry=event.entry, owes_big_blind=owes)
    _put(state, event.seat, seat)
    _ask(state, Transfer("buy_in", event.transfer_id, event.amount, event.due_ms, event.player_id, event.seat))


def seat_released(state: TableState, event: facts.SeatReleased) -> None:
    """What was not answered is kept, for no seat: whoever sits here then, its money is not his buy-in."""
    _put(state, event.seat, None)
    if event.unanswered:
        put_transfer(state, replace(state.transfers[event.transfer_id], seat=0))
    else:
        forget_transfer(state, event.transfer_id)


def player_seated(state: TableState, event: facts.PlayerSeated) -> None:
    amount = seat_at(state, event.seat).reserved
    seat = change_seat(state, event.seat, stack=amount, reserved=0)
    state.chips += amount
    forget_transfer(state, event.transfer_id)
    state.departed = [one for one in state.departed if one.player_id != seat.player_id]


def top_up_asked(state: TableState, event: facts.TopUpAsked) -> None:
    change_seat(state, event.seat, top_up_asked=event.amount)


def top_up_requested(state: TableState, event: facts.TopUpRequested) -> None:
    seat = change_seat(state, event.seat, top_up_asked=0)
    _ask(state, Transfer("top_up", event.transfer_id, event.amount, event.due_ms, seat.player_id, event.seat))


def top_up_funded(state: TableState, event: facts.TopUpFunded) -> None:
    change_seat(state, event.seat, chips_waiting=seat_at(state, event.seat).chips_waiting + event.amount)
    state.chips += event.amount
    forget_transfer(state, event.transfer_id)


def chips_added(state: TableState, event: facts.ChipsAdded) -> None:
    seat = seat_at(state, event.seat)
    change_seat(state, event.seat, stack=seat.stack + event.amount, chips_waiting=seat.chips_waiting - event.amount)


def preferences_set(state: TableState, event: facts.PreferencesSet) -> None:
    change_seat(state, event.seat, auto_post=event.auto_post, auto_muck=event.auto_muck)


def seeds_brought(state: TableState, event: facts.SeedsBrought) -> None:
    change_seat(state, event.seat, seed=event.tip, seed_index=0, seed_epoch=state.epoch)


def key_brought(state: TableState, event: facts.KeyBrought) -> None:
    change_seat(state, event.seat, hole_key=event.hole_key, sign_key=event.sign_key)
    if event.hand_id:
        player = player_at(hand_of(state), event.seat)
        player.hole_key, player.sign_key = event.hole_key, event.sign_key


def sit_out_asked(state: TableState, event: facts.SitOutAsked) -> None:
    change_seat(state, event.seat, sit_out_asked=True)


def sat_out(state: TableState, event: facts.SatOut) -> None:
    change_seat(state, event.seat, sitting_out=True, sit_out_asked=False, away=False)
    _no_longer_asked(state, event.seat)


def came_back(state: TableState, event: facts.CameBack) -> None:
    change_seat(state, event.seat, sitting_out=False, sit_out_asked=False, away=False, entry=event.entry)


def entry_chosen(state: TableState, event: facts.EntryChosen) -> None:
    change_seat(state, event.seat, entry=event.entry)


def leave_asked(state: TableState, event: facts.LeaveAsked) -> None:
    change_seat(state, event.seat, leave_asked=True)


def player_left(state: TableState, event: facts.PlayerLeft) -> None:
    _put(state, event.seat, None)
    state.chips -= event.amount
    state.show_offered = tuple(one for one in state.show_offered if one != event.seat)
    _no_longer_asked(state, event.seat)
    _forget_before(state, event.seat)
    for transfer in state.transfers.values():
        if transfer.seat == event.seat:
            put_transfer(state, replace(transfer, seat=0))
    if event.amount:
        _ask(state, Transfer("cash_out", event.transfer_id, event.amount, event.due_ms, event.player_id))
        _remember(state, Departed(event.player_id, event.amount, event.until_ms))


def _forget_before(state: TableState, number: int) -> None:
    """D13: who comes back to the seat is new, whatever becomes of the hand that was on when he left."""
    hand = state.hand
    if hand is not None and hand.before is not None:
        owed = tuple(one for one in hand.before.owed if one.seat != number)
        hand.before = replace(hand.before, owed=owed)


def _remember(state: TableState, left: Departed) -> None:
    """M4. Who left longer ago is forgotten."""
    now_ms = left.until_ms - RETURN_MS
    kept = [one for one in state.departed if one.until_ms > now_ms and one.player_id != left.player_id]
    state.departed = [*kept[1 - MOST_DEPARTED :], left]


def _no_longer_asked(state: TableState, number: int) -> None:
    state.post_ask = tuple(one for one in state.post_ask if one != number)
    state.post_agreed = tuple(one for one in state.post_agreed if one != number)


# --- transfers ---------------------------------------------------------------------------------------------------


def put_transfer(state: TableState, transfer: Transfer) -> None:
    state.transfers = {**state.transfers, transfer.transfer_id: transfer}


def _ask(state: TableState, transfer: Transfer) -> None:
    put_transfer(state, transfer)
    state.transfers_made += 1


def forget_transfer(state: TableState, transfer_id: str) -> None:
    state.transfers = {name: transfer for name, transfer in state.transfers.items() if name != transfer_id}


def transfer_settled(state: TableState, event: facts.TransferSettled | facts.TopUpDeclined) -> None:
    forget_transfer(state, event.transfer_id)


def transfer_asked_again(state: TableState, event: facts.TransferAskedAgain) -> None:
    transfer = state.transfers[event.transfer_id]
    put_transfer(state, replace(transfer, due_ms=event.due_ms, asked=transfer.asked + 1))


def transfer_declined(state: TableState, event: facts.TransferDeclined) -> None:
    transfer = state.transfers[event.transfer_id]
    put_transfer(state, replace(transfer, due_ms=NEVER, declined=transfer.declined + 1))


def refund_requested(state: TableState, event: facts.RefundRequested) -> None:
    """It goes by the name of the transfer it undoes, and has no number of its own."""
    forget_transfer(state, event.transfer_id.removeprefix("refund:"))
    put_transfer(state, Transfer("refund", event.transfer_id, event.amount, event.due_ms, event.player_id))
