"""What is booked for a table that has lost it: undone at the table's account, and nobody is paid twice unnoticed."""

from hypothesis import given
from hypothesis import strategies as st

from brelan.events import money
from brelan.ledger.accounts import may_be_negative
from brelan.ledger.decide import Ledger, Request, decide, record
from brelan.ledger.lost import number_of, request_of, settle

A = "s00-a"
BUY_IN = money.BuyIn(f"{A}:1:7", A, "ana", 400)
CASH_OUT = money.CashOut(f"{A}:1:8", A, "ana", 500)


def booked(*requests: Request) -> Ledger:
    """After deposits of 1000 for ana and ben, and a buy-in of ben's that the table knows."""
    ledger = Ledger()
    begun = [money.Deposit(f"d-{name}", name, 1000, "tests") for name in ("ana", "ben")]
    for request in (*begun, money.BuyIn(f"{A}:1:1", A, "ben", 600), *requests):
        decision = decide(ledger, request)
        assert decision.verdict == "booked", request
        record(ledger, decision)
    return ledger


def settled(ledger: Ledger, lost: list[money.WalletRequest], seated: list[str]) -> Ledger:
    settlement = settle(A, lost, seated, 0)
    for line in settlement.lines:
        assert line.transfer_id not in ledger.decided
        ledger.decided[line.transfer_id] = line.decided
        for posting in line.transfer.postings if line.transfer else ():
            ledger.balances[posting.account] = ledger.balances.get(posting.account, 0) + posting.amount
    ledger.claims.update(settlement.claims)
    return ledger


def test_a_refund_that_the_table_asks_for_afterwards_changes_nothing() -> None:
    ledger = settled(booked(BUY_IN), [BUY_IN], [])
    assert (ledger.balances["player:ana"], ledger.balances[f"table:{A}"]) == (1000, 600)
    refund = money.CashOut(f"refund:{BUY_IN.transfer_id}", A, "ana", 400)
    decision = decide(ledger, refund)
    assert (decision.verdict, decision.reply) == ("repeated", money.Booked(refund.transfer_id, A, 400))


def test_who_was_paid_gets_no_refund_and_the_table_hears_that_it_is_done() -> None:
    ledger = settled(booked(BUY_IN, CASH_OUT), [BUY_IN, CASH_OUT], [])
    assert (ledger.balances["player:ana"], ledger.balances[f"table:{A}"]) == (1100, 600)
    assert (ledger.balances["suspense"], ledger.claims) == (-100, {})
    refund = money.CashOut(f"refund:{BUY_IN.transfer_id}", A, "ana", 400)
    decision = decide(ledger, refund)
    assert (decision.verdict, decision.reply) == ("repeated", money.Booked(refund.transfer_id, A, 400))
    assert decision.transfer is None


def test_who_sits_there_still_owes_what_he_was_paid_of_his_next_cash_outs() -> None:
    cash_out = money.CashOut(f"{A}:1:8", A, "ben", 600)
    ledger = settled(booked(cash_out), [cash_out], ["ben"])
    assert (ledger.balances["suspense"], ledger.claims) == (-600, {(A, "ben"): 600})
    first = decide(ledger, money.CashOut(f"{A}:2:1", A, "ben", 250))
    assert first.transfer is not None
    assert [(one.account, one.amount) for one in first.transfer.postings] == [(f"table:{A}", -250), ("suspense", 250)]
    record(ledger, first)
    assert ledger.claims == {(A, "ben"): 350}
    ledger.balances[f"table:{A}"] += 1000  # he wins
    second = decide(ledger, money.CashOut(f"{A}:2:2", A, "ben", 1000))
    assert second.transfer is not None
    assert [one.amount for one in second.transfer.postings] == [-1000, 350, 650]
    record(ledger, second)
    assert (ledger.balances["suspense"], ledger.claims) == (0, {(A, "ben"): 0})


def test_a_claim_takes_nothing_of_a_refund_nor_at_another_table() -> None:
    ledger = booked()
    ledger.claims[A, "ana"] = 100
    requests: tuple[Request, ...] = (
        BUY_IN,
        money.BuyIn("s00-b:1:1", "s00-b", "ana", 50),
        money.CashOut(f"refund:{BUY_IN.transfer_id}", A, "ana", 400),
        money.CashOut("c", "s00-b", "ana", 50),
    )
    for request in requests:
        record(ledger, decide(ledger, request))
    assert ledger.balances["player:ana"] == 1000
    assert ledger.claims == {(A, "ana"): 100}


def test_what_is_not_a_table_s_request_is_not_read_as_one() -> None:
    assert request_of(b"\x81\xa4type\xa7Deposit") is None
    assert number_of("s00-a:2:17") == ("s00-a", 2, 17)
    assert number_of("refund:s00-a:2:17") is None
    assert number_of("d1") is None


kinds = st.sampled_from(["buy_in", "cash_out", "rake"])
players = st.sampled_from(["ana", "ben", "cleo"])
amounts = st.integers(1, 300)


def request_named(kind: str, number: int, player: str, amount: int) -> money.WalletRequest:
    match kind:
        case "buy_in":
            return money.BuyIn(f"{A}:1:{number}", A, player, amount)
        case "cash_out":
            return money.CashOut(f"{A}:1:{number}", A, player, amount)
    return money.TakeRake(f"rake:{A}-1-{number}", A, amount)


@given(st.lists(st.tuples(kinds, players, amounts), max_size=12), st.lists(players))
def test_M6_the_table_s_account_is_what_it_was_and_all_balances(
    asked: list[tuple[str, str, int]], seated: list[str]
) -> None:
    ledger = Ledger()
    begun: list[Request] = [money.Deposit(f"d-{name}", name, 5000, "tests") for name in ("ana", "ben", "cleo", "zoe")]
    for first in (*begun, money.BuyIn(f"{A}:1:1", A, "zoe", 4000)):
        record(ledger, decide(ledger, first))
    lost = []
    for number, (kind, player, amount) in enumerate(asked, start=2):
        request = request_named(kind, number, player, amount)
        decision = decide(ledger, request)
        record(ledger, decision)
        if decision.verdict == "booked":
            lost.append(request)
    before = {name: ledger.balances.get(f"player:{name}", 0) for name in ("ana", "ben", "cleo")}
    settled(ledger, lost, seated)
    assert ledger.balances[f"table:{A}"] == 4000
    assert sum(ledger.balances.values()) == 0
    assert all(amount >= 0 or may_be_negative(account) for account, amount in ledger.balances.items())
    for name, had in before.items():
        assert had <= ledger.balances.get(f"player:{name}", 0) <= max(5000, had), "refunded, and never more than that"
