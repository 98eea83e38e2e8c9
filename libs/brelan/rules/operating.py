"""What operators do with a table, and what the table service finds out about it.

A paused table plays its hand to the end and starts no other. A closing one pays everybody out after the hand. A frozen
one keeps its log and its players' money, takes the wallet's answers and nothing else, until an operator unfreezes it:
play goes on where it stopped, or its hand is voided and the next one dealt. Closing it voids the hand too, and pays
everybody what he had when it began; that works whatever is wrong with the table.
"""

from typing import assert_never

from brelan.events import commands, table
from brelan.events.commands import OperatorCommand
from brelan.events.config import TableConfig
from brelan.rules import between_hands, showdown
from brelan.rules.configuration import problems
from brelan.rules.draft import Draft
from brelan.rules.rejections import rejected
from brelan.rules.state import Rejected, epoch_of


def operate(draft: Draft, command: OperatorCommand, by: str) -> Rejected | None:
    status = draft.state.status
    if isinstance(command, commands.OpenTable):
        return _open_table(draft, command.config, by)
    if status in ("none", "closed"):
        return rejected("table_closed")
    if isinstance(command, commands.UnfreezeTable):
        return _unfreeze(draft, command, by)
    if status == "frozen":
        if not isinstance(command, commands.CloseTable):
            return rejected("table_frozen")
        _close_frozen(draft, by)
        return None
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
    if command.void_hand:
        _begin_anew(draft, by)
    end_outage(draft, draft.now_ms)
    if state.dealer_wait is not None:
        draft.emit(table.DealerAskedAgain(state.dealer_wait.request_id, draft.answer_due_ms))
    return None


def _begin_anew(draft: Draft, by: str) -> None:
    """Without the hand in play, or without whatever the next one waits for."""
    state = draft.state
    if state.hand is not None:
        showdown.void(draft, f"{by} voided the hand.")
        between_hands.settle(draft)
    elif state.next_hand_ms is not None or state.post_ask or state.post_deadline_ms:
        draft.emit(table.NextHandScheduled(0))


def _close_frozen(draft: Draft, by: str) -> None:
    """What there is for a table that can neither go on nor begin anew."""
    draft.emit(table.TableUnfrozen(by))
    draft.emit(table.TableClosing(by))
    for transfer in tuple(draft.state.transfers.values()):
        if transfer.amount <= 0:  # nothing the wallet would ever book
            draft.emit(table.TransferSettled(transfer.transfer_id))
    if draft.state.hand is not None:
        showdown.void(draft, f"{by} closed the table.")
    between_hands.close(draft)


def freeze(draft: Draft, reason: str) -> None:
    if draft.state.status not in ("none", "closed", "frozen"):
        draft.emit(table.TableFrozen(reason))


def lose_tail(draft: Draft, epoch: int) -> None:
    """A hand of which somebody has seen what is not in the log any more cannot be played on: every bet goes back. The
    entry is made in any case, so that whoever had seen more hears of the new epoch. What a frozen table has in play is
    the operator's to decide."""
    state = draft.state
    if state.status in ("none", "closed"):
        return
    draft.emit(table.OutageEnded(draft.now_ms, draft.now_ms))
    if state.hand is not None and state.status != "frozen" and epoch_of(state.hand.hand_id) <= epoch:
        showdown.void(draft, "Part of this hand's record was lost. Every bet went back.")
        between_hands.settle(draft)


def end_outage(draft: Draft, from_ms: int) -> None:
    """Nobody is folded because the room was away. A frozen table has its full time when it is unfrozen."""
    state = draft.state
    waits = state.hand is not None or state.post_ask or state.transfers or state.next_hand_ms is not None
    if waits and state.status != "frozen":
        draft.emit(table.OutageEnded(from_ms, draft.now_ms))
