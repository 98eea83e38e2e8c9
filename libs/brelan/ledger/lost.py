"""What becomes of transfers that are booked and that their table has lost: the end of its log is gone. Pure.

They crossed the ledger's border and stand for ever; the table goes on from a moment before them. Each is undone at the
table's account, in one page, so that the account holds again what the table accounts for:

1. A buy-in goes back to the player: as the refund that the table itself would ask for, so that asking changes nothing.
2. A cash-out stays paid. ``suspense`` gives the table the same amount, for the chips that the player has there once
   more; what he is paid when he leaves goes to ``suspense`` first, up to that amount (the *claim*).
3. Who has lost transfers of both kinds at one table is taken to have been paid his buy-ins with his cash-outs:
   nothing is refunded, the buy-ins go to ``suspense``, and make the claim smaller.
4. Rake goes back to the table: the hand is played again or called off.

Who does not sit there in what is left of the log has no chips there to be set against a claim; then there is none.
Whatever stands in ``suspense`` in the end is for somebody to look at.
"""

from collections.abc import Collection, Sequence

import msgspec

from brelan.events import money
from brelan.ledger.accounts import HOUSE_RAKE, SUSPENSE, player_account, table_account
from brelan.ledger.books import Line
from brelan.ledger.decide import PAID_ALREADY, REFUND, Claimed, Decided, encode_body
from brelan.ledger.transfers import move

SETTLE = "settle:"
_decode_body = msgspec.msgpack.Decoder(money.WalletRequest).decode


class Settlement(msgspec.Struct, frozen=True):
    """``claims``: what has to be added to those that stand open."""

    lines: list[Line]
    claims: dict[Claimed, int]


def request_of(body: bytes) -> money.WalletRequest | None:
    """The table's request that was decided; None when it was nothing of a table's."""
    try:
        return _decode_body(body)
    except msgspec.ValidationError:
        return None


def number_of(transfer_id: str) -> tuple[str, int, int] | None:
    """``"s07-k3f9x2:2:17"``: of table s07-k3f9x2, in epoch 2, the 17th. None for ids that are made otherwise."""
    table_id, _, numbers = transfer_id.partition(":")
    epoch, _, number = numbers.partition(":")
    return (table_id, int(epoch), int(number)) if epoch.isdecimal() and number.isdecimal() else None


def settle(table_id: str, lost: Sequence[money.WalletRequest], seated: Collection[str], at_ms: int) -> Settlement:
    """``lost``: booked transfers of a table, in the order of booking. ``seated``: who sits there, as it is now."""
    paid = {request.player_id for request in lost if isinstance(request, money.CashOut)}
    owed: dict[str, int] = {}
    lines: list[Line] = []
    for request in lost:
        match request:
            case money.BuyIn() if request.player_id in paid:
                owed[request.player_id] = owed.get(request.player_id, 0) - request.amount
                lines += [_paid_already(request, at_ms), _moved(request, table_account(table_id), SUSPENSE, at_ms)]
            case money.BuyIn():
                lines.append(_refund(request, at_ms))
            case money.CashOut():
                owed[request.player_id] = owed.get(request.player_id, 0) + request.amount
                lines.append(_moved(request, SUSPENSE, table_account(table_id), at_ms))
            case money.TakeRake():
                lines.append(_moved(request, HOUSE_RAKE, table_account(table_id), at_ms))
    claims = {(table_id, player): amount for player, amount in owed.items() if amount > 0 and player in seated}
    return Settlement(lines, claims)


def settled_by(transfer_id: str) -> tuple[str, str]:
    """The ids under which a transfer is settled, or was refunded: one of them known, and there is nothing to do."""
    return SETTLE + transfer_id, REFUND + transfer_id


def _moved(request: money.WalletRequest, source: str, target: str, at_ms: int) -> Line:
    transfer_id = SETTLE + request.transfer_id
    decided = Decided(encode_body(request), "settlement", "booked")
    return Line(transfer_id, decided, move(transfer_id, "settlement", request.amount, source, target), at_ms, "lost")


def _refund_of(request: money.BuyIn) -> money.CashOut:
    return money.CashOut(REFUND + request.transfer_id, request.table_id, request.player_id, request.amount)


def _refund(request: money.BuyIn, at_ms: int) -> Line:
    refund = _refund_of(request)
    source, target = table_account(request.table_id), player_account(request.player_id)
    transfer = move(refund.transfer_id, "refund", refund.amount, source, target)
    return Line(refund.transfer_id, Decided(encode_body(refund), "refund", "booked"), transfer, at_ms, "lost")


def _paid_already(request: money.BuyIn, at_ms: int) -> Line:
    """So that the table is told that it is done when it asks."""
    refund = _refund_of(request)
    decided = Decided(encode_body(refund), "refund", "declined", PAID_ALREADY)
    return Line(refund.transfer_id, decided, None, at_ms, "lost")
