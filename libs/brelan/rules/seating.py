"""Seats and money.

- M1: every purchase of chips, sitting down or topping up, is at least the posted minimum.
- M2: money comes from the wallet and goes to it. In a hand that he is in a player neither buys nor takes any.
- M3: who leaves during a hand is paid when it is over.
- M4: who comes back within sixty minutes brings at least what he left with.
- D13, D14: who has to wait for the big blind, or to post, chooses.

A purchase is asked of the wallet, and asked again under the same id until it answers. Whatever it funds that nobody
waits for any more is refunded.
"""

from brelan.events import commands, money, table
from brelan.events.config import TableConfig
from brelan.rules.draft import ANSWER_MS, Draft
from brelan.rules.folding.seats import RETURN_MS
from brelan.rules.rejections import rejected
from brelan.rules.state import NEVER, Rejected, Seat, Transfer, is_dealt_in, seat_of

OUTGOING = ("cash_out", "rake", "refund")
MOST_CHIPS = 10**12  # in one purchase
LONGEST_WAIT_MS = 300_000  # 5, 10, 20 ... seconds, then every five minutes

# --- sitting down ------------------------------------------------------------------------------------------------


def sit_down(draft: Draft, command: commands.SitDown, player_id: str, name: str) -> Rejected | None:
    state = draft.state
    if state.status == "closing":
        return rejected("table_closing")
    if seat_of(state, player_id) is not None:
        return rejected("already_seated")
    if refusal := _purchase_refused(draft.config, command.amount):
        return refusal
    if command.amount < (least := _left_with(draft, player_id)):
        return rejected("brings_too_little", least)
    number = _free_seat(draft, command.seat)
    if isinstance(number, Rejected):
        return number
    transfer_id = draft.next_transfer_id()
    draft.emit(
        table.SeatReserved(number, player_id, name, command.amount, transfer_id, command.entry, draft.answer_due_ms)
    )
    return None


def _free_seat(draft: Draft, wanted: int | None) -> int | Rejected:
    seats = draft.state.seats
    free = [index + 1 for index, seat in enumerate(seats) if seat is None]
    if wanted is not None and not 1 <= wanted <= len(seats):
        return rejected("no_such_seat", len(seats))
    if not free:
        return rejected("table_full")
    if wanted is None:
        return free[0]
    return wanted if wanted in free else rejected("seat_taken")


def _left_with(draft: Draft, player_id: str) -> int:
    """M4."""
    for departed in draft.state.departed:
        if departed.player_id == player_id and departed.until_ms > draft.now_ms:
            return departed.amount
    return 0


def _purchase_refused(config: TableConfig, amount: int) -> Rejected | None:
    """M1."""
    if amount < config.minimum_buy_in:
        return rejected("buy_in_too_small", config.minimum_buy_in)
    if amount > MOST_CHIPS:
        return rejected("buy_in_too_large", MOST_CHIPS)
    if amount % config.smallest_chip:
        return rejected("not_whole_chips", config.smallest_chip)
    return None


# --- at the table ------------------------------------------------------------------------------------------------


def top_up(draft: Draft, command: commands.TopUp, seat: Seat) -> Rejected | None:
    if seat.reserved:
        return rejected("buy_in_pending")
    if seat.leave_asked:
        return rejected("leaving_already")
    if refusal := _purchase_refused(draft.config, command.amount):
        return refusal
    if seat.top_up_asked or _pending(draft, "top_up", seat):
        return rejected("top_up_pending")
    if is_dealt_in(draft.state, seat.seat):
        draft.emit(table.TopUpAsked(seat.seat, command.amount))
    else:
        request_top_up(draft, seat, command.amount)
    return None


def request_top_up(draft: Draft, seat: Seat, amount: int) -> None:
    draft.emit(table.TopUpRequested(seat.seat, amount, draft.next_transfer_id(), draft.answer_due_ms))


def _pending(draft: Draft, kind: str, seat: Seat) -> Transfer | None:
    for transfer in draft.state.transfers.values():
        if (transfer.kind, transfer.seat, transfer.player_id) == (kind, seat.seat, seat.player_id):
            return transfer
    return None


def sit_out(draft: Draft, seat: Seat) -> Rejected | None:
    """In a hand: from its end on."""
    if seat.reserved:
        return rejected("buy_in_pending")
    if seat.sitting_out or seat.sit_out_asked:
        return rejected("sitting_out_already")
    if is_dealt_in(draft.state, seat.seat):
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


def choose_entry(draft: Draft, command: commands.ChooseEntry, seat: Seat) -> Rejected | None:
    if not (seat.owes_big_blind or seat.owes_small_blind):
        return rejected("nothing_to_choose")
    if seat.entry != command.entry:
        draft.emit(table.EntryChosen(seat.seat, command.entry))
    return None


def set_preferences(draft: Draft, command: commands.SetPreferences, seat: Seat) -> None:
    if (seat.auto_post, seat.auto_muck) != (command.auto_post, command.auto_muck):
        draft.emit(table.PreferencesSet(seat.seat, command.auto_post, command.auto_muck))
    if command.auto_post and seat.seat in draft.state.post_ask:
        draft.emit(table.PostAgreed(seat.seat))


# --- leaving -----------------------------------------------------------------------------------------------------


def leave(draft: Draft, seat: Seat) -> Rejected | None:
    """M3: at once, or when the hand is over."""
    if seat.leave_asked:
        return rejected("leaving_already")
    if seat.reserved:
        release(draft, seat, "You left before the buy-in was there.")
    elif is_dealt_in(draft.state, seat.seat):
        draft.emit(table.LeaveAsked(seat.seat))
    else:
        pay_out(draft, seat)
    return None


def pay_out(draft: Draft, seat: Seat) -> None:
    amount = max(0, seat.stack + seat.chips_waiting)  # below nothing only when a table is closed broken as it is
    transfer_id = draft.next_transfer_id() if amount else ""
    due_ms = draft.answer_due_ms if amount else 0
    until_ms = draft.now_ms + RETURN_MS
    draft.emit(table.PlayerLeft(seat.seat, seat.player_id, amount, transfer_id, due_ms, until_ms))


def release(draft: Draft, seat: Seat, reason: str) -> None:
    """Before the wallet has answered. The transfer is kept until it does."""
    transfer = _pending(draft, "buy_in", seat)
    if transfer is None:  # only when a table is closed broken as it is
        draft.emit(table.SeatReleased(seat.seat, "", reason))
        return
    draft.emit(table.SeatReleased(seat.seat, transfer.transfer_id, reason, unanswered=True))


# --- the wallet's answers ----------------------------------------------------------------------------------------


def funded(draft: Draft, reply: money.Funded) -> None:
    transfer = draft.state.transfers.get(reply.transfer_id)
    if transfer is None:
        if not _was_answered(draft, reply.transfer_id):
            if not 0 < reply.amount <= MOST_CHIPS:
                raise ValueError(f"the wallet funded {reply.amount} under {reply.transfer_id}, which nobody asked for")
            _refund(draft, reply.transfer_id, reply.player_id, reply.amount)
        return
    if transfer.kind in OUTGOING:
        return
    _check(transfer, reply)
    seat = _seat_waiting_for(draft, transfer)
    if seat is None:
        _refund(draft, transfer.transfer_id, transfer.player_id, transfer.amount)
    elif transfer.kind == "buy_in":
        draft.emit(table.PlayerSeated(seat.seat, transfer.transfer_id))
    else:
        draft.emit(table.TopUpFunded(seat.seat, transfer.amount, transfer.transfer_id))
        if not is_dealt_in(draft.state, seat.seat):
            draft.emit(table.ChipsAdded(seat.seat, transfer.amount))


def _check(transfer: Transfer, reply: money.Funded) -> None:
    if (transfer.player_id, transfer.amount) != (reply.player_id, reply.amount):
        raise ValueError(f"the wallet funded {reply} where {transfer} was asked for")


def _refund(draft: Draft, transfer_id: str, player_id: str, amount: int) -> None:
    refund_id = f"refund:{transfer_id}"
    if refund_id not in draft.state.transfers:
        draft.emit(table.RefundRequested(refund_id, player_id, amount, draft.answer_due_ms))


def _was_answered(draft: Draft, transfer_id: str) -> bool:
    """This table made it, and knows it no more: it was settled, and this is the same answer again.

    Of a former epoch only what the log still has: what was made in the part that was lost is unknown here.
    """
    state = draft.state
    prefix, _, number = transfer_id.rpartition(":")
    this_epoch = prefix == f"{state.table_id}:{state.epoch}"
    made = state.transfers_made if this_epoch else state.former_epochs.get(prefix, 0)
    return number.isdecimal() and 1 <= int(number) <= made


def _seat_waiting_for(draft: Draft, transfer: Transfer) -> Seat | None:
    """None when he has left since."""
    seat = seat_of(draft.state, transfer.player_id)
    if seat is None or seat.seat != transfer.seat:
        return None
    return seat if bool(seat.reserved) == (transfer.kind == "buy_in") else None


def declined(draft: Draft, reply: money.Declined) -> None:
    transfer = draft.state.transfers.get(reply.transfer_id)
    if transfer is None:
        return
    if transfer.kind in OUTGOING:
        _not_taken(draft, transfer, reply.reason)
        return
    seat = _seat_waiting_for(draft, transfer)
    if seat is None:
        draft.emit(table.TransferSettled(transfer.transfer_id))
    elif transfer.kind == "buy_in":
        draft.emit(table.SeatReleased(seat.seat, transfer.transfer_id, reply.reason))
    else:
        draft.emit(table.TopUpDeclined(seat.seat, transfer.transfer_id, reply.reason))


def _not_taken(draft: Draft, transfer: Transfer, reason: str) -> None:
    """The ledger decides once under an id: asked again, it would say the same. So what leaves the table stays in its
    escrow, and play stops until an operator has looked. When he has let play go on, it is no reason to stop again."""
    if transfer.due_ms == NEVER:
        return
    if transfer.kind == "refund":  # the ledger does not know what is to be undone, so there is nothing to give back
        draft.emit(table.TransferSettled(transfer.transfer_id))
        _stop_for(draft, transfer, reason)
        return
    draft.emit(table.TransferDeclined(transfer.transfer_id, reason))
    if not transfer.declined:
        _stop_for(draft, transfer, reason)


def _stop_for(draft: Draft, transfer: Transfer, reason: str) -> None:
    if draft.state.status not in ("frozen", "closed"):
        draft.emit(table.TableFrozen(f"The wallet does not book {transfer.transfer_id}: {reason}"))


def booked(draft: Draft, reply: money.Booked) -> None:
    transfer = draft.state.transfers.get(reply.transfer_id)
    if transfer is not None and transfer.kind in OUTGOING:
        draft.emit(table.TransferSettled(reply.transfer_id))


def ask_again(draft: Draft, transfer: Transfer) -> None:
    """Twice as long each time, for as long as it takes: whose money it is waits, and the table plays on."""
    wait_ms = min(ANSWER_MS * 2 ** min(transfer.asked, 10), LONGEST_WAIT_MS)
    draft.emit(table.TransferAskedAgain(transfer.transfer_id, draft.now_ms + wait_ms))
