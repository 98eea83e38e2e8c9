"""Ledger tests as text::

    deposit   d1  ana   cashier  1000   booked
    buy_in    b1  ana   A         400   Funded
    = ana 600, A 400, cashier -1000

A line is a request: kind, transfer id, player, table (``-``: none), amount, and what is answered: ``Funded``,
``Booked``, ``booked`` (a cashier gets no reply), or a code; ``again`` before it when the id was decided before. ``=``
compares all accounts that do not stand at zero. ``#`` is a comment.
"""

from brelan.events import money
from brelan.ledger.accounts import CASHIER, HOUSE_RAKE, SUSPENSE, player_account, table_account
from brelan.ledger.decide import Decision, Ledger, Request, decide, record

OF_THE_HOUSE = {CASHIER: CASHIER, SUSPENSE: SUSPENSE, "rake": HOUSE_RAKE}


def account_of(name: str) -> str:
    """``ana`` is a player, ``A`` a table."""
    return OF_THE_HOUSE.get(name) or (table_account(name) if name.isupper() else player_account(name))


def request_of(kind: str, transfer_id: str, player: str, table: str, amount: int) -> Request:
    match kind:
        case "deposit":
            return money.Deposit(transfer_id, player, amount, "tests")
        case "withdraw":
            return money.Withdraw(transfer_id, player, amount, "tests")
        case "buy_in":
            return money.BuyIn(transfer_id, table, player, amount)
        case "cash_out":
            return money.CashOut(transfer_id, table, player, amount)
        case "rake":
            return money.TakeRake(transfer_id, table, amount)
    raise ValueError(f"{kind} is no request")


def answer_of(decision: Decision) -> str:
    again = "again " if decision.verdict == "repeated" else ""
    match decision.reply, decision.decided:
        case money.Declined(code=code), _:
            return again + code
        case None, None:
            return again + "silence"
        case None, decided if decided is not None:
            return again + (decided.code or "booked")
        case reply, _:
            return again + type(reply).__name__


def standing(ledger: Ledger) -> dict[str, int]:
    return {account: amount for account, amount in ledger.balances.items() if amount}


def play(text: str) -> Ledger:
    ledger = Ledger()
    for number, line in enumerate(text.strip().splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] == "=":
            pairs = [pair.split() for pair in " ".join(words[1:]).split(",") if pair.strip()]
            wanted = {account_of(name): int(amount) for name, amount in pairs}
            assert standing(ledger) == wanted, f"line {number}: {line.strip()}"
            continue
        kind, transfer_id, player, table, amount, *answer = words
        decision = decide(ledger, request_of(kind, transfer_id, player, table, int(amount)))
        assert answer_of(decision) == " ".join(answer), f"line {number}: {line.strip()}"
        record(ledger, decision)
        assert sum(ledger.balances.values()) == 0, f"line {number}: {line.strip()}"
    return ledger
