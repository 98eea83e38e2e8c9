"""What an operator is shown of a table, its log and dead letters. Never a card that does not lie open on the table.

A table's state and log hold no hidden card. A dead letter was never taken in, so nothing in it counts as shown: cards
are left out of it, like the places of cards that somebody threw (D10).
"""

from typing import Any

import msgspec

from brelan.eventlog.dead import DeadEntry
from brelan.events import commands, envelope, table
from brelan.rules.invariants import violations
from brelan.rules.state import NEVER, Hand, Seat, TableState, Transfer
from brelan.rules.table import escrow, pots_now

MOST_LETTERS = 500  # of a text in what is shown
CARDS = frozenset({"cards", "best", "up", "community", "shown", "hands", "hand"})  # fields that hold cards in a message


def table_report(state: TableState) -> dict[str, Any]:
    config = state.config
    return {
        "table_id": state.table_id,
        "name": config.name if config else "",
        "game": config.game if config else "",
        "status": state.status,
        "frozen_reason": state.frozen_reason,
        "frozen_from": state.frozen_from if state.status == "frozen" else None,
        "violations": _violations(state),
        "epoch": state.epoch,
        "version": state.version,
        "at_ms": state.now_ms,
        "chips": state.chips,
        "escrow": escrow(state),
        "hands_played": state.hands_played,
        "seats": [_seat(seat) for seat in state.seats if seat is not None],
        "hand": _hand(state, state.hand) if state.hand is not None else None,
        "next_hand_ms": state.next_hand_ms,
        "post_asked": list(state.post_ask),
        "transfers": [_transfer(transfer) for transfer in state.transfers.values()],
    }


def _violations(state: TableState) -> list[str]:
    try:
        return violations(state)
    except Exception as error:  # noqa: BLE001 - so broken that it cannot be checked; the rest is worth seeing
        return [f"the invariants cannot be checked: {error!r}"]


def _seat(seat: Seat) -> dict[str, Any]:
    return {
        "seat": seat.seat,
        "player_id": seat.player_id,
        "name": seat.name,
        "stack": seat.stack,
        "chips_waiting": seat.chips_waiting,
        "reserved": seat.reserved,
        "top_up_asked": seat.top_up_asked,
        "sitting_out": seat.sitting_out,
        "away": seat.away,
        "leave_asked": seat.leave_asked,
    }


def _hand(state: TableState, hand: Hand) -> dict[str, Any]:
    turn, wait = state.turn, state.dealer_wait
    return {
        "hand_id": hand.hand_id,
        "phase": hand.phase,
        "street": hand.street,
        "players": [
            {
                "seat": player.seat,
                "player_id": player.player_id,
                "starting_stack": player.starting_stack,
                "stack": player.stack,
                "put_in": player.put_in,
                "bet": player.bet,
                "folded": player.folded,
                "all_in": player.all_in,
                "cards": player.down + len(player.up),
            }
            for player in hand.players
        ],
        "pots": [{"amount": pot.amount, "seats": list(pot.seats)} for pot in pots_now(state)],
        "awarded": hand.awarded,
        "turn": None if turn is None else {"turn_id": turn.turn_id, "seat": turn.seat, "deadline_ms": turn.deadline_ms},
        "dealer_asked": None if wait is None else {"request_id": wait.request_id, "times": wait.asked},
    }


def _transfer(transfer: Transfer) -> dict[str, Any]:
    return {
        "transfer_id": transfer.transfer_id,
        "kind": transfer.kind,
        "amount": transfer.amount,
        "player_id": transfer.player_id,
        "seat": transfer.seat or None,
        "asked": transfer.asked,
        "declined": transfer.declined,
        "due_ms": None if transfer.due_ms == NEVER else transfer.due_ms,
    }


# --- the log -----------------------------------------------------------------------------------------------------


def log_entry(version: int, data: bytes) -> dict[str, Any]:
    """An entry of a table's log; one that cannot be read says why."""
    try:
        entry = envelope.decode_committed(data)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others are shown
        return {"version": version, "unreadable": _text(repr(error)), "size": len(data)}
    return {
        "version": entry.version,
        "epoch": entry.epoch,
        "at_ms": entry.at_ms,
        "cause": entry.cause,
        "trace": entry.trace,
        "player_id": entry.player_id,
        "command_id": entry.command_id,
        "events": [readable(event) for event in entry.events],
    }


def readable(value: Any, *, hide_cards: bool = False) -> Any:
    """As JSON has it, every message with its type. Bytes are counted, not shown; so are the places of thrown cards."""
    match value:
        case msgspec.Struct():
            return {"type": type(value).__name__} | {
                name: _field(value, name, inner, hide_cards) for name, inner in msgspec.structs.asdict(value).items()
            }
        case list() | tuple():
            return [readable(inner, hide_cards=hide_cards) for inner in value]
        case dict():
            return {str(key): readable(inner, hide_cards=hide_cards) for key, inner in value.items()}
        case bytes():
            return f"{len(value)} bytes"
        case str():
            return _text(value)
        case _:
            return value


def _field(of: msgspec.Struct, name: str, value: Any, hide_cards: bool) -> Any:
    if name == "positions" and isinstance(of, table.DrawChosen | commands.Draw):
        return f"{len(value)} cards"
    if hide_cards and name in CARDS and isinstance(of, _WITH_CARDS):
        return "hidden"
    return readable(value, hide_cards=hide_cards)


_WITH_CARDS = (table.CardsDealt, table.SeatCards, table.ShownHand, table.ShowdownResolved, table.HandShown)


def _text(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}… ({len(text)} letters)"


# --- dead letters ------------------------------------------------------------------------------------------------


class DeadLetter(msgspec.Struct, frozen=True):
    """``entry``: as it was buried; ``service``: by whom; ``at_ms``: when the entry came in, where its id says so."""

    service: str
    entry: DeadEntry


def dead_letter(letter: DeadLetter) -> dict[str, Any]:
    entry = letter.entry
    return {
        "service": letter.service,
        "stream": entry.stream,
        "id": entry.id,
        "error": _text(entry.error),
        "size": len(entry.data),
        "message": _message(entry),
    }


def _message(entry: DeadEntry) -> Any:
    """What it says, if it can be read at all."""
    name = entry.stream.partition("}:")[2]
    decode = _DECODERS.get(name.partition(":")[0])
    if decode is None:
        return None
    try:
        return readable(decode(entry.data), hide_cards=True)
    except Exception:  # noqa: BLE001 - that it cannot be read is why it is here
        return None


_DECODERS: dict[str, Any] = {
    "commands": envelope.decode_command,
    "dealt": envelope.decode_dealt,
    "wallet-replies": envelope.decode_wallet_reply,
    "wallet-requests": envelope.decode_wallet_request,
    "cashier": envelope.decode_cashier,
    "feed": envelope.decode_feed,
    "table": envelope.decode_committed,
    "records": envelope.decode_sealed_record,
}
