"""Time.

- T1: the action time is the table's; the deadline stands in the turn. T9: it never moves for a connection's sake.
- T2, T3, T5: a player whose time runs out is folded, or, if he has put in a bet in this hand, all-in with what is in.
- T4: the bring-in is posted for him, and his next turn has its clock.
- T6: at the draw he stands pat, and nothing else happens to him: that is no betting turn.
- T7: he is marked away; the table's policy may be to fold, and may limit the protected all-ins of a day.
- M3: a player who has left is folded at his turn; a bring-in he owes is posted first, at the draw he stands pat.
"""

from brelan.events import table
from brelan.events.table import Action, Cause
from brelan.rules.draft import WAIT_MS, Draft, player_at
from brelan.rules.folding import DAY_MS
from brelan.rules.state import HandPlayer


def open_turn(draft: Draft, player: HandPlayer, actions: tuple[Action, ...], raises_left: int | None = None) -> None:
    """Whoever has left does not keep the others waiting."""
    state = draft.state
    deadline_ms = draft.now_ms + draft.config.action_time_ms
    draft.emit(table.TurnOpened(state.turns_opened + 1, player.seat, deadline_ms, actions, raises_left))
    seat = state.seats[player.seat - 1]
    if seat is not None and seat.leave_asked:
        act_for_leaver(draft)


def act(draft: Draft, seat: int, action: Action, cause: Cause) -> None:
    match action.kind:
        case "fold":
            draft.emit(table.Folded(seat, cause))
        case "check":
            draft.emit(table.Checked(seat, cause))
        case "call" | "bet" | "raise" | "complete" | "bring_in":
            draft.emit(table.BetPlaced(seat, action.kind, action.pay, action.to, action.all_in, cause))
        case _:
            raise ValueError(f"{action.kind} is no betting action")


def draw(draft: Draft, seat: int, positions: tuple[int, ...], cause: Cause) -> None:
    request_id = f"{draft.hand.hand_id}:draw:{seat}" if positions else ""
    due_ms = draft.now_ms + WAIT_MS if positions else 0
    draft.emit(table.DrawChosen(seat, positions, request_id, due_ms, cause))


def act_for_leaver(draft: Draft) -> None:
    """M3."""
    turn = draft.state.turn
    assert turn is not None
    for kind in ("draw", "bring_in", "fold"):
        for action in turn.actions:
            if action.kind == kind:
                if kind == "draw":
                    draw(draft, turn.seat, (), "left")
                else:
                    act(draft, turn.seat, action, "left")
                return


def run_out(draft: Draft) -> None:
    """The open turn's time is over."""
    turn = draft.state.turn
    assert turn is not None
    listed = {action.kind: action for action in turn.actions}
    if "draw" in listed:  # T6
        draw(draft, turn.seat, (), "time")
        return
    draft.emit(table.TimedOut(turn.seat, turn.turn_id))
    if "bring_in" in listed:  # T4
        act(draft, turn.seat, listed["bring_in"], "time")
    elif not _protects(draft, turn.seat):
        act(draft, turn.seat, listed.get("check") or listed["fold"], "time")
    elif player_at(draft.hand, turn.seat).has_bet:  # T2, T3, T5
        draft.emit(table.AllInByTime(turn.seat))
    else:
        draft.emit(table.Folded(turn.seat, "time"))


def _protects(draft: Draft, seat: int) -> bool:
    """T7."""
    config = draft.config
    if config.timeout_policy == "fold":
        return False
    if config.protected_all_ins_per_day is None:
        return True
    state, player_id = draft.state, player_at(draft.hand, seat).player_id
    used = state.protected.get(player_id, 0) if state.protected_day == draft.now_ms // DAY_MS else 0
    return used < config.protected_all_ins_per_day
