"""The ledger's rules as tables: who had what, what was asked, what was answered, who has what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brelan.events import money
from brelan.ledger.accounts import may_be_negative
from brelan.ledger.decide import SENTENCES, Ledger, decide, record, touched
from brelan.ledger.transfers import MAX_AMOUNT, MAX_BALANCE, Posting, Transfer, move
from tests.ledger.tables import play, request_of


def test_money_goes_from_the_cashier_to_the_table_and_back() -> None:
    play("""
        deposit   d1  ana   -  1000   booked
        deposit   d2  ben   -   500   booked
        buy_in    b1  ana   A   400   Funded
        buy_in    b2  ben   A   500   Funded
        = ana 600, A 900, cashier -1500
        rake      r1  -     A    20   Booked
        cash_out  c1  ana   A   880   Booked     # she won it all
        = ana 1480, rake 20, cashier -1500
        withdraw  w1  ana   -  1480   booked
        = rake 20, cashier -20
    """)


def test_M2_a_seat_costs_what_the_wallet_has() -> None:
    play("""
        deposit   d1  ana   -   100   booked
        buy_in    b1  ana   A   101   insufficient_funds
        = ana 100, cashier -100
        buy_in    b2  ana   A   100   Funded
        buy_in    b3  ana   B     1   insufficient_funds
        = A 100, cashier -100
        buy_in    b4  zoe   A     1   insufficient_funds   # never heard of her
    """)


def test_M6_nobody_falls_below_zero() -> None:
    play("""
        deposit   d1  ana   -   100   booked
        buy_in    b1  ana   A    60   Funded
        cash_out  c1  ana   A    61   insufficient_escrow
        rake      r1  -     A    61   insufficient_escrow
        cash_out  c2  ana   B     1   insufficient_escrow   # a table that holds nothing
        withdraw  w1  ana   -    41   insufficient_funds
        = ana 40, A 60, cashier -100
    """)


def test_the_same_request_has_one_effect_and_one_answer() -> None:
    play("""
        deposit   d1  ana   -   100   booked
        deposit   d1  ana   -   100   again silence
        buy_in    b1  ana   A    60   Funded
        buy_in    b1  ana   A    60   again Funded
        cash_out  c1  ana   A    60   Booked
        cash_out  c1  ana   A    60   again Booked
        = ana 100, cashier -100
    """)


def test_a_refusal_stands_for_its_id_even_when_the_money_is_there_later() -> None:
    play("""
        buy_in    b1  ana   A    60   insufficient_funds
        deposit   d1  ana   -   100   booked
        buy_in    b1  ana   A    60   again insufficient_funds
        = ana 100, cashier -100
        buy_in    b2  ana   A    60   Funded
        = ana 40, A 60, cashier -100
    """)


def test_an_id_cannot_be_used_for_something_else() -> None:
    play("""
        deposit   d1  ana   -   100   booked
        buy_in    b1  ana   A    60   Funded
        buy_in    b1  ana   A    61   transfer_conflict
        buy_in    b1  ana   B    60   transfer_conflict
        buy_in    b1  ben   A    60   transfer_conflict
        cash_out  b1  ana   A    60   transfer_conflict
        rake      b1  -     A    60   transfer_conflict
        deposit   b1  ana   -    60   silence
        = ana 40, A 60, cashier -100
        buy_in    b1  ana   A    60   again Funded
    """)


def test_a_refund_undoes_one_booked_buy_in_and_nothing_else() -> None:
    play("""
        deposit   d1           ana   -   100   booked
        buy_in    b1           ana   A    60   Funded
        cash_out  refund:b1    ana   A    59   nothing_to_refund
        = ana 40, A 60, cashier -100
        buy_in    b2           ana   A    10   Funded
        cash_out  refund:b2    ana   A    10   Booked
        cash_out  refund:b2    ana   A    10   again Booked
        = ana 40, A 60, cashier -100
        buy_in    b3           ana   A   999   insufficient_funds
        cash_out  refund:b3    ana   A   999   nothing_to_refund
        cash_out  refund:none  ana   A     1   nothing_to_refund
        cash_out  c1           ana   A     5   Booked
        cash_out  refund:c1    ana   A     5   nothing_to_refund
        = ana 45, A 55, cashier -100
    """)


def test_amounts_are_above_zero_and_not_absurd() -> None:
    play(f"""
        deposit   d0  ana   -    0                   bad_amount
        deposit   d1  ana   -   -5                   bad_amount
        buy_in    b1  ana   A    0                   bad_amount
        cash_out  c1  ana   A   -1                   bad_amount
        deposit   d2  ana   -   {MAX_AMOUNT + 1}     bad_amount
        deposit   d3  ana   -   {MAX_AMOUNT}         booked
        = ana {MAX_AMOUNT}, cashier -{MAX_AMOUNT}
    """)


def test_no_balance_outgrows_its_column() -> None:
    full = Ledger({"player:ana": MAX_BALANCE, "cashier": -MAX_BALANCE})
    for request in (money.Deposit("d1", "ana", 1, "tests"), money.Deposit("d2", "ben", 1, "tests")):
        assert decide(full, request).verdict == "declined"


@pytest.mark.parametrize("code", SENTENCES)
def test_every_refusal_says_why_in_a_sentence(code: str) -> None:
    assert SENTENCES[code][0].isupper()
    assert SENTENCES[code].endswith(".")


@pytest.mark.parametrize(
    "postings",
    [
        (Posting("player:ana", 5), Posting("table:A", -4)),
        (Posting("player:ana", 5),),
        (Posting("player:ana", 0), Posting("table:A", 0)),
        (Posting("player:ana", 5), Posting("player:ana", -5)),
        (),
    ],
)
def test_an_unbalanced_transfer_cannot_exist(postings: tuple[Posting, ...]) -> None:
    with pytest.raises(ValueError, match="transfer t1"):
        Transfer("t1", "deposit", postings)


def test_a_transfer_moves_from_one_account_to_another() -> None:
    assert move("t1", "rake", 7, "table:A", "house:rake").postings == (
        Posting("table:A", -7),
        Posting("house:rake", 7),
    )


ids = st.sampled_from([f"t{number}" for number in range(6)] + [f"refund:t{number}" for number in range(3)])
requests = st.builds(
    request_of,
    st.sampled_from(["deposit", "withdraw", "buy_in", "cash_out", "rake"]),
    ids,
    st.sampled_from(["ana", "ben"]),
    st.sampled_from(["A", "B"]),
    st.integers(-1, 30),
)


@given(st.lists(requests, max_size=40))
def test_M6_whatever_is_asked_the_books_balance_and_an_answer_never_changes(asked: list[money.WalletRequest]) -> None:
    ledger = Ledger()
    answers: dict[bytes, object] = {}
    for request in asked:
        before = dict(ledger.balances)
        decision = decide(ledger, request)
        record(ledger, decision)
        if decision.verdict != "booked":
            assert ledger.balances == before
        assert sum(ledger.balances.values()) == 0
        assert all(amount >= 0 or may_be_negative(account) for account, amount in ledger.balances.items())
        if decision.verdict != "conflict":
            body = ledger.decided[request.transfer_id].body
            assert answers.setdefault(body, decision.reply) == decision.reply


@given(requests)
def test_what_is_touched_is_all_that_is_looked_at(request: money.WalletRequest) -> None:
    """With more in the ledger than ``touched`` names, the decision is the same: a store may load only that."""
    everything = Ledger({"player:ana": 20, "player:ben": 20, "table:A": 20, "table:B": 20, "cashier": -80})
    for place in range(3):
        record(everything, decide(everything, money.BuyIn(f"t{place}", "A", "ana", 5)))
    accounts, transfer_ids = touched([request])
    some = Ledger(
        {account: everything.balances[account] for account in accounts if account in everything.balances},
        {one: everything.decided[one] for one in transfer_ids if one in everything.decided},
    )
    assert decide(some, request) == decide(everything, request)
