"""What follows from a request: a transfer, or a refusal; and always the same answer for the same id.

``decide`` looks, ``record`` changes::

    decision = decide(ledger, request)
    record(ledger, decision)              # nothing, when it was decided before

The rules of the ledger, in this order:

1. An id is decided once. The same request again gets the same answer; another request under that id is refused
   (``transfer_conflict``) and changes nothing.
2. Amounts are above zero and not absurd (``bad_amount``).
3. A refund ``refund:<transfer>`` undoes one buy-in that was booked: same table, player and amount
   (``nothing_to_refund``).
4. No player and no table ever falls below zero (``insufficient_funds``, ``insufficient_escrow``).
5. Who was paid already for chips that he has at a table still (``ledger.lost``) is paid only what exceeds it.
"""

from collections.abc import Iterable
from typing import Literal, assert_never

import msgspec

from brelan.events import money
from brelan.events.money import CashierCommand, WalletReply, WalletRequest
from brelan.ledger.accounts import (
    CASHIER,
    HOUSE_RAKE,
    SUSPENSE,
    may_be_negative,
    player_account,
    player_of,
    table_account,
)
from brelan.ledger.transfers import MAX_AMOUNT, MAX_BALANCE, Kind, Posting, Transfer, move

Request = WalletRequest | CashierCommand
Outcome = Literal["booked", "declined"]
Verdict = Literal["booked", "declined", "repeated", "conflict"]
Claimed = tuple[str, str]  # a table, a player

REFUND = "refund:"
PAID_ALREADY = "paid_already"  # a refund that must not be paid (again), and that nobody need ask for any more

SENTENCES = {
    "bad_amount": "This amount cannot be moved. Choose a whole amount above zero.",
    "insufficient_funds": "Your balance does not cover this. Choose a smaller amount, or deposit more first.",
    "insufficient_escrow": "The table does not hold this much. It has to be looked at by an operator.",
    "nothing_to_refund": "No buy-in of this player, table and amount was booked under that id.",
    "transfer_conflict": "This transfer id was used before for something else. Nothing was moved.",
}


class Decided(msgspec.Struct, frozen=True):
    """What was decided under an id, once and for all. ``body``: the request's own bytes."""

    body: bytes
    kind: Kind
    outcome: Outcome
    code: str = ""  # why it was declined


class Ledger(msgspec.Struct):
    """As much of the books as the requests in hand touch (``touched``). An account not in here stands at zero."""

    balances: dict[str, int] = {}
    decided: dict[str, Decided] = {}
    claims: dict[Claimed, int] = {}  # of all tables: what players were paid already


class Decision(msgspec.Struct, frozen=True):
    """``decided`` and ``transfer`` are None when there is nothing to record; ``reply`` when nobody waits for one."""

    request: Request
    verdict: Verdict
    kind: Kind
    decided: Decided | None = None
    transfer: Transfer | None = None
    reply: WalletReply | None = None
    claim: tuple[Claimed, int] | None = None  # what stands open after it


encode_body = msgspec.msgpack.Encoder().encode


def kind_of(request: Request) -> Kind:
    match request:
        case money.BuyIn():
            return "buy_in"
        case money.CashOut():
            return "refund" if request.transfer_id.startswith(REFUND) else "cash_out"
        case money.TakeRake():
            return "rake"
        case money.Deposit():
            return "deposit"
        case money.Withdraw():
            return "withdrawal"
        case _:
            assert_never(request)


def touched(requests: Iterable[Request]) -> tuple[set[str], set[str]]:
    """The accounts and the transfer ids that have to be known to decide these."""
    accounts: set[str] = set()
    ids: set[str] = set()
    for request in requests:
        accounts.update(_route(request))
        ids.add(request.transfer_id)
        ids.add(request.transfer_id.removeprefix(REFUND))
    return accounts, ids


def decide(ledger: Ledger, request: Request) -> Decision:
    kind = kind_of(request)
    body = encode_body(request)
    before = ledger.decided.get(request.transfer_id)
    if before is not None:
        if before.body != body:
            return Decision(request, "conflict", kind, reply=answer(request, "transfer_conflict"))
        return Decision(request, "repeated", kind, reply=answer(request, before.code))
    code = _objection(ledger, request, kind)
    reply = answer(request, code)
    if code:
        return Decision(request, "declined", kind, Decided(body, kind, "declined", code), reply=reply)
    decided = Decided(body, kind, "booked")
    if isinstance(request, money.CashOut) and kind == "cash_out":
        claimed = request.table_id, request.player_id
        if claim := ledger.claims.get(claimed, 0):
            left = max(0, claim - request.amount)
            return Decision(request, "booked", kind, decided, _paid_before(request, claim), reply, (claimed, left))
    source, target = _route(request)
    transfer = move(request.transfer_id, kind, request.amount, source, target)
    return Decision(request, "booked", kind, decided, transfer, reply)


def record(ledger: Ledger, decision: Decision) -> None:
    """Take a decision into the ledger."""
    if decision.decided is not None:
        ledger.decided[decision.request.transfer_id] = decision.decided
    if decision.transfer is not None:
        for posting in decision.transfer.postings:
            ledger.balances[posting.account] = ledger.balances.get(posting.account, 0) + posting.amount

    if decision.claim is not None:
        claimed, ledger.claims[claimed] = decision.claim


def answer(request: Request, code: str) -> WalletReply | None:
    """To a table, what it is told; to a cashier nothing, he looks in the books. ``code`` "": booked."""
    match request:
        case money.CashOut() if code == PAID_ALREADY:
            return money.Booked(request.transfer_id, request.table_id, request.amount)
        case money.BuyIn() | money.CashOut() if code:
            return money.Declined(
                request.transfer_id, request.table_id, request.player_id, request.amount, SENTENCES[code], code
            )
        case money.TakeRake() if code:
            return money.Declined(request.transfer_id, request.table_id, "", request.amount, SENTENCES[code], code)
        case money.BuyIn():
            return money.Funded(request.transfer_id, request.table_id, request.player_id, request.amount)
        case money.CashOut() | money.TakeRake():
            return money.Booked(request.transfer_id, request.table_id, request.amount)
        case money.Deposit() | money.Withdraw():
            return None
        case _:
            assert_never(request)


def _route(request: Request) -> tuple[str, str]:
    """From which account to which."""
    match request:
        case money.BuyIn():
            return player_account(request.player_id), table_account(request.table_id)
        case money.CashOut():
            return table_account(request.table_id), player_account(request.player_id)
        case money.TakeRake():
            return table_account(request.table_id), HOUSE_RAKE
        case money.Deposit():
            return CASHIER, player_account(request.player_id)
        case money.Withdraw():
            return player_account(request.player_id), CASHIER
        case _:
            assert_never(request)


def _paid_before(request: money.CashOut, claim: int) -> Transfer:
    """What he was paid already goes to where that came from."""
    settled = min(claim, request.amount)
    postings = [Posting(table_account(request.table_id), -request.amount), Posting(SUSPENSE, settled)]
    if request.amount > settled:
        postings.append(Posting(player_account(request.player_id), request.amount - settled))
    return Transfer(request.transfer_id, "cash_out", tuple(postings))


def _objection(ledger: Ledger, request: Request, kind: Kind) -> str:
    """The code of what stands against it; "" when nothing does."""
    if not 0 < request.amount <= MAX_AMOUNT:
        return "bad_amount"
    if kind == "refund" and not _refundable(ledger, request):
        return "nothing_to_refund"
    source, target = _route(request)
    left = ledger.balances.get(source, 0) - request.amount
    if left < 0 and not may_be_negative(source):
        return "insufficient_funds" if player_of(source) is not None else "insufficient_escrow"
    if left < -MAX_BALANCE or ledger.balances.get(target, 0) + request.amount > MAX_BALANCE:
        return "bad_amount"
    return ""


def _refundable(ledger: Ledger, refund: Request) -> bool:
    original = ledger.decided.get(refund.transfer_id.removeprefix(REFUND))
    if original is None or original.outcome != "booked" or not isinstance(refund, money.CashOut):
        return False
    bought = money.BuyIn(refund.transfer_id.removeprefix(REFUND), refund.table_id, refund.player_id, refund.amount)
    return original.body == encode_body(bought)
