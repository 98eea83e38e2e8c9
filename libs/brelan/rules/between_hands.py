"""Between two hands: who leaves, whose chips are added, who sits out; then the pause, and who is asked to post.

- M2: chips bought during a hand are added when it is over. M3: who left is paid now. T7: who timed out sits out.
- S2: who has turned automatic posting off is asked before each hand in which he has to post. Whoever says no, or
  nothing, is dealt out of it, and sits out until he says that he is back.
"""

from brelan.events import commands, table
from brelan.rules import hand, seating
from brelan.rules.draft import Draft
from brelan.rules.rejections import rejected
from brelan.rules.state import Rejected, Seat, present, seat_at


def settle(draft: Draft) -> None:
    """What had to wait for the end of the hand."""
    for seat in draft.state.seats:
        if seat is not None and not seat.reserved:
            _settle_seat(draft, seat)


def _settle_seat(draft: Draft, seat: Seat) -> None:
    if seat.leave_asked:
        seating.pay_out(draft, seat)
        return
    if seat.chips_waiting:
        draft.emit(table.ChipsAdded(seat.seat, seat.chips_waiting))
    if seat.top_up_asked:
        seating.request_top_up(draft, seat, seat.top_up_asked)
    if seat.sitting_out:
        return
    if seat.away:
        draft.emit(table.SatOut(seat.seat, "timed_out"))
    elif seat.sit_out_asked:
        draft.emit(table.SatOut(seat.seat, "asked"))
    elif not seat.stack and not seat.chips_waiting:
        draft.emit(table.SatOut(seat.seat, "no_chips"))


def go_on(draft: Draft) -> bool:
    """Whether a hand has begun."""
    state = draft.state
    if state.status == "closing":
        close(draft)
        return False
    if state.status == "paused" or len(present(state)) < 2:
        _call_off(draft)
        return False
    if state.post_ask or state.next_hand_ms is not None:
        return False
    if state.post_deadline_ms:
        return ask_or_start(draft)  # all have answered
    if state.hands_played and draft.config.hand_pause_ms:
        draft.emit(table.NextHandScheduled(draft.now_ms + draft.config.hand_pause_ms))
        return False
    return ask_or_start(draft)


def _call_off(draft: Draft) -> None:
    if draft.state.next_hand_ms is not None or draft.state.post_deadline_ms:
        draft.emit(table.NextHandScheduled(0))


def ask_or_start(draft: Draft) -> bool:
    """S2, once the pause is over. Whether a hand has begun."""
    state = draft.state
    lineup = draft.game.lineup(state, state.next_config or draft.config)
    if lineup is None:
        _call_off(draft)
        return False
    posting = dict.fromkeys(post.seat for post in lineup.posts)
    asked = [seat for seat in posting if not seat_at(state, seat).auto_post and seat not in state.post_agreed]
    if asked:
        draft.emit(table.PostAsked(state.turns_opened + 1, tuple(asked), draft.turn_due_ms))
        return False
    hand.start(draft, lineup)
    return True


def answer(draft: Draft, command: commands.Act, seat: Seat) -> Rejected | None:
    """``post`` or ``decline``."""
    state = draft.state
    if not state.post_ask or command.turn_id != state.post_turn_id:
        return rejected("stale_turn")
    if seat.seat not in state.post_ask:
        return rejected("not_your_turn")
    if command.kind == "post":
        draft.emit(table.PostAgreed(seat.seat))
    else:
        draft.emit(table.SatOut(seat.seat, "declined_to_post"))
    return None


def take_silence_for_no(draft: Draft) -> None:
    for number in draft.state.post_ask:
        draft.emit(table.SatOut(number, "timed_out"))


def close(draft: Draft) -> None:
    """Everybody is paid; who was about to sit down is let go. Chips that nobody had are written off: none, unless a
    broken table is closed as it is."""
    for seat in draft.state.seats:
        if seat is None:
            continue
        if seat.reserved:
            seating.release(draft, seat, "The table is closing.")
        else:
            seating.pay_out(draft, seat)
    draft.emit(table.TableClosed(draft.state.chips))
