"""What operators do with a table, and what the table service finds out about it.

A paused table plays its hand to the end and starts no other. A closing one pays everybody out after the hand. A frozen
one keeps its log and its players' money, takes the wallet's answers and nothing else, until an operator unfreezes it.
"""

from typing import assert_never

from brelan.events import commands, table
from brelan.events.commands import OperatorCommand
from brelan.events.config import TableConfig
from brelan.rules import between_hands, hand
from brelan.rules.configuration import problems
from brelan.rules.draft import Draft
from brelan.rules.rejections import rejected
from brelan.rules.state import Rejected


def operate(draft: Draft, command: OperatorCommand, by: str) -> Rejected | None:
    status = draft.state.status
    if isinstance(command, commands.OpenTable):
        return _open_table(draft, command.config, by)
    if status in ("none", "closed"):
        return rejected("table_closed")
    if isinstance(command, commands.UnfreezeTable):
        return _unfreeze(draft, command, by)
    if status == "frozen":
        return rejected("table_frozen")
    match command:
        case commands.ConfigureTable():
            return _configure(draft, command.config, by)
        case commands.PauseTable():
            if status != "open":
                return rejected("not_open")
            draft.emit(table.TablePaused(by))
        case commands.ResumeTable():
            if status != "paused":
                return rejected("not_paused")
            draft.emit(table.TableResumed(by))
        case commands.CloseTable():
            if status == "closing":
                return rejected("table_closing")
            draft.emit(table.TableClosing(by))
        case _:
            assert_never(command)
    return None


def _open_table(draft: Draft, config: TableConfig, by: str) -> Rejected | None:
    if draft.state.status != "none":
        return rejected("table_exists")
    if found := problems(config):
        return rejected("bad_configuration", " ".join(found))
    draft.emit(table.TableOpened(draft.state.table_id, config, by))
    return None


def _configure(draft: Draft, config: TableConfig, by: str) -> Rejected | None:
    """Takes effect from the next hand. What seats and stacks were made for stays."""
    found = problems(config)
    now = draft.config
    if (config.game, config.seats, config.currency_unit) != (now.game, now.seats, now.currency_unit):
        found.append("Game, number of seats and currency unit stay as they are: open another table instead.")
    if now.smallest_chip % config.smallest_chip:
        found.append("Chips already on the table have to remain whole: the smallest chip can only be divided.")
    if found:
        return rejected("bad_configuration", " ".join(found))
    draft.emit(table.TableConfigured(config, by))
    return None


def _unfreeze(draft: Draft, command: commands.UnfreezeTable, by: str) -> Rejected | None:
    """Play goes on where it stopped, or the hand is voided. Every wait has its full time again."""
    state = draft.state
    if state.status != "frozen":
        return rejected("not_frozen")
    before = state.frozen_from
    draft.emit(table.TableUnfrozen(by))
    if before != "open":
        draft.emit(table.TablePaused(by) if before == "paused" else table.TableClosing(by))
    if command.void_hand and state.hand is not None:
        hand.void(draft, by)
        between_hands.settle(draft)
    end_outage(draft, draft.now_ms)
    if state.dealer_wait is not None:
        draft.emit(table.DealerAskedAgain(state.dealer_wait.request_id, draft.answer_due_ms))
    return None


def freeze(draft: Draft, reason: str) -> None:
    if draft.state.status not in ("none", "closed", "frozen"):
        draft.emit(table.TableFrozen(reason))


def end_outage(draft: Draft, from_ms: int) -> None:
    """Nobody is folded because the room was away. A frozen table has its full time when it is unfrozen."""
    state = draft.state
    waits = state.turn or state.dealer_wait or state.post_ask or state.transfers or state.next_hand_ms is not None
    if waits and state.status != "frozen":
        draft.emit(table.OutageEnded(from_ms, draft.now_ms))
