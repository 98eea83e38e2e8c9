"""Time.

- T1: a decision has the table's action time; the deadline stands in the turn. T9: it is the same for everybody.
- T2: whoever lets it run out is folded, or all-in with what he has in when he has put in a bet in this hand.
- T3: blinds, bring-in, completion, bet, call and raise are bets (``has_bet``), antes and dead blinds are not.
- T4: the bring-in is posted for him, and his next turn has its clock. T5: what he faced does not matter.
- T6: at the draw he stands pat, and nothing else happens to him: that is no betting turn.
- T7: he is marked away, and sits out from the end of the hand. A table may fold instead of protecting (``fold``), or
  protect only so often a day: then he checks if that is free, else he is folded.
- T8: applied when the wait is still open and its time had come when the time-out arrived; otherwise ignored.
"""

from brelan.events import table
from brelan.rules import between_hands, dealing, seating, seeds
from brelan.rules.draft import Draft
from brelan.rules.state import DAY_MS, NEVER, HandPlayer, Turn, player_at


def expire(draft: Draft, deadline_ms: int, arrived_at_ms: int) -> None:
    """Every wait that was due by then. One at most of turn, dealer, seeds, pause and question is open."""
    state, due_ms = draft.state, min(deadline_ms, arrived_at_ms)
    for transfer in list(state.transfers.values()):
        if transfer.due_ms != NEVER and transfer.due_ms <= due_ms:
            seating.ask_again(draft, transfer)
    if state.status == "frozen":
        return
    if state.turn is not None:
        if state.turn.deadline_ms <= due_ms:
            run_out(draft, state.turn)
    elif state.dealer_wait is not None:
        if state.dealer_wait.due_ms <= due_ms:
            dealing.ask_again(draft)
    elif state.hand is not None and state.hand.seeds_asked:
        if state.hand.seeds_due_ms <= due_ms:
            seeds.run_out(draft)
            between_hands.settle(draft)
    elif state.next_hand_ms is not None:
        if state.next_hand_ms <= due_ms:
            between_hands.ask_or_start(draft)
    elif state.post_ask and state.post_deadline_ms <= due_ms:
        between_hands.take_silence_for_no(draft)


def run_out(draft: Draft, turn: Turn) -> None:
    """T2, T4-T7."""
    player = player_at(draft.hand, turn.seat)
    listed = {action.kind: action for action in turn.actions}
    if "draw" in listed:
        dealing.choose_draw(draft, turn.seat, (), "time")
        return
    draft.emit(table.TimedOut(turn.seat, turn.turn_id))
    if "bring_in" in listed:
        posted = listed["bring_in"]
        draft.emit(table.BetPlaced(turn.seat, "bring_in", posted.pay, posted.to, posted.all_in, "time"))
    elif draft.config.timeout_policy == "protect" and not player.has_bet:
        draft.emit(table.Folded(turn.seat, "time"))
    elif _is_protected(draft, player):
        draft.emit(table.AllInByTime(turn.seat, draft.now_ms // DAY_MS))
    elif "check" in listed:
        draft.emit(table.Checked(turn.seat, "time"))
    else:
        draft.emit(table.Folded(turn.seat, "time"))


def _is_protected(draft: Draft, player: HandPlayer) -> bool:
    """T7."""
    config = draft.config
    if config.timeout_policy == "fold":
        return False
    if config.protected_all_ins_per_day is None:
        return True
    state = draft.state
    used_today = state.protected.get(player.player_id, 0) if state.protected_day == draft.now_ms // DAY_MS else 0
    return used_today < config.protected_all_ins_per_day
