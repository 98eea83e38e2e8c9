"""Facts of the table itself: its status and configuration, and what it waits for between hands."""

from msgspec.structs import replace

from brelan.events import table as facts
from brelan.rules.folding.seats import put_transfer
from brelan.rules.state import NEVER, TableState, config_of

ANSWER_MS = 5_000  # for the dealer or the wallet, before they are asked again


def table_opened(state: TableState, event: facts.TableOpened) -> None:
    state.table_id = event.table_id
    state.config = event.config
    state.status = "open"
    state.seats = [None] * event.config.seats


def table_configured(state: TableState, event: facts.TableConfigured) -> None:
    """Holds from the next hand on."""
    state.next_config = event.config


def table_paused(state: TableState, _: facts.TablePaused) -> None:
    state.status = "paused"


def table_resumed(state: TableState, _: facts.TableResumed) -> None:
    state.status = "open"


def table_closing(state: TableState, _: facts.TableClosing) -> None:
    call_off(state)
    state.status = "closing"


def table_closed(state: TableState, event: facts.TableClosed) -> None:
    state.status = "closed"
    state.chips -= event.written_off
    state.turn = state.dealer_wait = None  # a broken table may have had one


def table_frozen(state: TableState, event: facts.TableFrozen) -> None:
    state.frozen_from = state.status
    state.status = "frozen"
    state.frozen_reason = event.reason


def table_unfrozen(state: TableState, _: facts.TableUnfrozen) -> None:
    """Open; that it was paused or closing is said again.

    Dealer and wallet are given as long as before to answer, or nothing would come of it while they are away.
    """
    state.status = "open"
    state.frozen_reason = ""
    if state.dealer_wait is not None:
        state.dealer_wait = replace(state.dealer_wait, asked=0)  # and is asked again at once
    for transfer in state.transfers.values():
        due_ms = state.now_ms if transfer.due_ms == NEVER else transfer.due_ms  # whoever unfreezes it has looked
        put_transfer(state, replace(transfer, asked=1, due_ms=due_ms))


def outage_ended(state: TableState, event: facts.OutageEnded) -> None:
    """Every open wait has its full time again."""
    config = config_of(state)
    if state.turn is not None:
        state.turn = replace(state.turn, deadline_ms=event.to_ms + config.action_time_ms)
    if state.post_ask:
        state.post_deadline_ms = event.to_ms + config.action_time_ms
    if state.next_hand_ms is not None:
        state.next_hand_ms = event.to_ms + config.hand_pause_ms
    if state.dealer_wait is not None:
        state.dealer_wait = replace(state.dealer_wait, due_ms=event.to_ms + ANSWER_MS)
    if state.hand is not None and state.hand.seeds_asked:
        state.hand.seeds_due_ms = event.to_ms + config.action_time_ms
    due_ms = event.to_ms + ANSWER_MS
    for transfer in state.transfers.values():
        if transfer.due_ms != NEVER:
            put_transfer(state, replace(transfer, due_ms=due_ms))


def next_hand_scheduled(state: TableState, event: facts.NextHandScheduled) -> None:
    call_off(state)
    state.next_hand_ms = event.at_ms or None


def post_asked(state: TableState, event: facts.PostAsked) -> None:
    state.next_hand_ms = None
    state.post_ask = event.seats
    state.post_turn_id = state.turns_opened = event.turn_id
    state.post_deadline_ms = event.deadline_ms


def post_agreed(state: TableState, event: facts.PostAgreed) -> None:
    state.post_ask = tuple(seat for seat in state.post_ask if seat != event.seat)
    state.post_agreed += (event.seat,)


def call_off(state: TableState) -> None:
    """Neither pause nor question is open any more."""
    state.next_hand_ms = None
    state.post_deadline_ms = 0
    state.post_ask = state.post_agreed = ()
