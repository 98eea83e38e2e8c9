"""Seats and money.

- M1: every purchase of chips is at least the posted minimum. M2: only from the wallet, and not during a hand he is in.
- M3: who leaves in a hand is folded at his turn, and paid when it is over.
- M4: who comes back within sixty minutes brings what he left with.
- T7: who timed out sits out from the end of the hand. D13, D14: entering and coming back (see ``draw``).
"""

from brelan.events import commands, money, table
from brelan.rules.draft import WAIT_MS, Draft, dealt_in
from brelan.rules.rejections import rejected
from brelan.rules.state import Rejected, Seat, Transfer

LONGEST_WAIT = 6  # the wallet is asked again after 5, 10, 20 ... 320 s
OUTGOING = ("cash_out", "rake", "refund")


def sit_down(draft: Draft, command: commands.SitDown, player_id: str, name: str) -> Rejected | None:
    seats, config = draft.state.seats, draft.config
    if problem := _bad_purchase(draft, command.amount):
        return problem
    left_with = max(
        (one.amount for one in draft.state.departed if _still_bound(draft, one.player_id, player_id, one.until_ms)),
        default=0,
    )
    if command.amount < left_with:
        return rejected("brings_too_little", left_with)
    free = [index + 1 for index, seat in enumerate(seats) if seat is None]
    if command.seat is not None and not 1 <= command.seat <= config.seats:
        return rejected("no_such_seat", config.seats)
    if not free:
        return rejected("table_full")
    if command.seat is not None and command.seat not in free:
        return rejected("seat_taken")
    seat = command.seat or free[0]
    draft.emit(table.SeatReserved(seat, player_id, name, command.amount, draft.transfer_id, command.entry))
    return None


def _still_bound(draft: Draft, departed: str, player_id: str, until_ms: int) -> bool:
    return departed == player_id and until_ms > draft.now_ms


def _bad_purchase(draft: Draft, amount: int) -> Rejected | None:
    config = draft.config
    if amount < config.minimum_buy_in:
        return rejected("buy_in_too_small", config.minimum_buy_in)
    if amount % config.smallest_chip:
        return rejected("not_whole_chips", config.smallest_chip)
    if amount > 10**12:
        return rejected("buy_in_too_large", 10**12)
    return None


def top_up(draft: Draft, command: commands.TopUp, seat: Seat) -> Rejected | None:
    if problem := _bad_purchase(draft, command.amount):
        return problem
    if seat.reserved:
        return rejected("buy_in_pending")
    if seat.leave_asked:
        return rejected("leaving_already")
    asked = any(transfer.kind == "top_up" and transfer.seat == seat.seat for transfer in draft.state.transfers.values())
    if asked or seat.top_up_asked:
        return rejected("top_up_pending")
    if dealt_in(draft.state, seat.seat):
        draft.emit(table.TopUpAsked(seat.seat, command.amount))
    else:
        draft.emit(table.TopUpRequested(seat.seat, command.amount, draft.transfer_id))
    return None


def sit_out(draft: Draft, seat: Seat) -> Rejected | None:
    if seat.sitting_out or seat.sit_out_asked:
        return rejected("sitting_out_already")
    if seat.reserved:
        return rejected("buy_in_pending")
    if dealt_in(draft.state, seat.seat):
        draft.emit(table.SitOutAsked(seat.seat))
    else:
        draft.emit(table.SatOut(seat.seat, "asked"))
    return None


def come_back(draft: Draft, command: commands.ComeBack, seat: Seat) -> Rejected | None:
    if not (seat.sitting_out or seat.sit_out_asked or seat.away):
        return rejected("not_sitting_out")
    if seat.sitting_out and not seat.stack:
        return rejected("no_chips")
    draft.emit(table.CameBack(seat.seat, command.entry))
    return None


def leave(draft: Draft, seat: Seat) -> Rejected | None:
    if seat.reserved:
        return rejected("buy_in_pending")
    if seat.leave_asked:
        return rejected("leaving_already")
    if dealt_in(draft.state, seat.seat):
        draft.emit(table.LeaveAsked(seat.seat))
    else:
        _go(draft, seat)
    return None


def _go(draft: Draft, seat: Seat) -> None:
    amount = seat.stack + seat.chips_waiting
    draft.emit(table.PlayerLeft(seat.seat, seat.player_id, amount, draft.transfer_id if amount else ""))


# --- the wallet's answers ----------------------------------------------------------------------------------------


def funded(draft: Draft, reply: money.Funded) -> None:
    transfer = draft.state.transfers.get(reply.transfer_id)
    if transfer is None:
        _refund_unexpected(draft, reply)
        return
    if transfer.kind in OUTGOING:  # no answer to that
        return
    if not transfer.seat:  # nobody waits for it any more
        draft.emit(table.RefundRequested(f"refund:{reply.transfer_id}", transfer.player_id, transfer.amount))
    elif transfer.kind == "buy_in":
        draft.emit(table.PlayerSeated(transfer.seat, reply.transfer_id))
    else:
        draft.emit(table.TopUpFunded(transfer.seat, transfer.amount, reply.transfer_id))
        if not dealt_in(draft.state, transfer.seat):
            draft.emit(table.ChipsAdded(transfer.seat, transfer.amount))


def _refund_unexpected(draft: Draft, reply: money.Funded) -> None:
    refund_id = f"refund:{reply.transfer_id}"
    if refund_id not in draft.state.transfers and not _answered_before(draft, reply.transfer_id):
        draft.emit(table.RefundRequested(refund_id, reply.player_id, reply.amount))


def _answered_before(draft: Draft, transfer_id: str) -> bool:
    """A transfer that was asked for twice is answered twice. Its number says that this table made it and settled it."""
    prefix, _, number = transfer_id.rpartition(":")
    state = draft.state
    ours = prefix == f"{state.table_id}:{state.epoch}" and number.isdigit()
    return ours and 1 <= int(number) <= state.transfers_made


def declined(draft: Draft, reply: money.Declined) -> None:
    transfer = draft.state.transfers.get(reply.transfer_id)
    if transfer is None or transfer.kind in OUTGOING:  # what leaves the table cannot be declined: it is asked again
        return
    if not transfer.seat:
        draft.emit(table.TransferSettled(reply.transfer_id))
    elif transfer.kind == "buy_in":
        draft.emit(table.SeatReleased(transfer.seat, reply.transfer_id, reply.reason))
        draft.emit(table.TransferSettled(reply.transfer_id))
    else:
        draft.emit(table.TopUpDeclined(transfer.seat, reply.transfer_id, reply.reason))


def booked(draft: Draft, reply: money.Booked) -> None:
    transfer = draft.state.transfers.get(reply.transfer_id)
    if transfer is not None and transfer.kind in OUTGOING:
        draft.emit(table.TransferSettled(reply.transfer_id))


def ask_again(draft: Draft, transfer: Transfer) -> None:
    wait_ms = WAIT_MS * 2 ** min(transfer.asked, LONGEST_WAIT)
    draft.emit(table.TransferAskedAgain(transfer.transfer_id, draft.now_ms + wait_ms))


# --- between hands -----------------------------------------------------------------------------------------------


def after_hand(draft: Draft) -> None:
    """Waiting chips, leavers, who asked to sit out, who timed out, who has nothing left."""
    for seat in list(draft.state.seats):
        if seat is None or seat.reserved:
            continue
        if seat.leave_asked:
            _go(draft, seat)
            continue
        if seat.chips_waiting:
            draft.emit(table.ChipsAdded(seat.seat, seat.chips_waiting))
        if seat.top_up_asked:
            draft.emit(table.TopUpRequested(seat.seat, seat.top_up_asked, draft.transfer_id))
        _maybe_sit_out(draft, seat)


def _maybe_sit_out(draft: Draft, seat: Seat) -> None:
    if seat.sitting_out:
        return
    if seat.away:
        draft.emit(table.SatOut(seat.seat, "timed_out"))
    elif seat.sit_out_asked:
        draft.emit(table.SatOut(seat.seat, "asked"))
    elif not seat.stack:
        draft.emit(table.SatOut(seat.seat, "no_chips"))


def close(draft: Draft) -> None:
    """Everybody is paid; who was about to sit down is let go."""
    for seat in list(draft.state.seats):
        if seat is None:
            continue
        if seat.reserved:
            pending = next(
                one for one in draft.state.transfers.values() if one.seat == seat.seat and one.kind == "buy_in"
            )
            draft.emit(table.SeatReleased(seat.seat, pending.transfer_id, "The table is closing."))
        else:
            _go(draft, seat)
    draft.emit(table.TableClosed())


def ready(draft: Draft) -> list[int]:
    """Seats present and playing, ascending."""
    return [
        seat.seat
        for seat in draft.state.seats
        if seat is not None and not seat.reserved and not seat.sitting_out and not seat.leave_asked and seat.stack > 0
    ]
