"""What follows from a table's events elsewhere: requests to the wallet. Pure."""

from collections.abc import Iterable

from brelan.events import money, table
from brelan.events.table import TableEvent
from brelan.rules.state import TableState, Transfer


def wallet_requests(events: Iterable[TableEvent], after: TableState) -> list[money.WalletRequest]:
    """``after``: the state once the events are folded. The transfer's id makes asking twice harmless."""
    return [request for event in events if (request := _wallet_request(event, after)) is not None]


def _wallet_request(event: TableEvent, after: TableState) -> money.WalletRequest | None:
    match event:
        case table.SeatReserved() | table.TopUpRequested() | table.RefundRequested() | table.TransferAskedAgain():
            transfer = after.transfers.get(event.transfer_id)
        case table.PlayerLeft() | table.HandEnded() if event.transfer_id:
            transfer = after.transfers.get(event.transfer_id)
        case _:
            return None
    return _as_request(transfer, after.table_id) if transfer else None


def _as_request(transfer: Transfer, table_id: str) -> money.WalletRequest:
    match transfer.kind:
        case "buy_in" | "top_up":
            return money.BuyIn(transfer.transfer_id, table_id, transfer.player_id, transfer.amount)
        case "cash_out" | "refund":
            return money.CashOut(transfer.transfer_id, table_id, transfer.player_id, transfer.amount)
        case "rake":
            return money.TakeRake(transfer.transfer_id, table_id, transfer.amount)
