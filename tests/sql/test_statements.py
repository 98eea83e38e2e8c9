"""The books as they are shown to a player and to an operator."""

from collections.abc import AsyncIterator

import pytest

from brelan.eventlog.memory_log import MemoryStore
from brelan.events.money import BuyIn, CashOut, Deposit
from brelan.ledger.transfers import Posting
from brelan.sql.books import SqlBooks
from brelan.sql.statements import Statements
from tests.services.wallet_room import A, ask, run_wallet


@pytest.fixture
async def statements(sql_url: str) -> AsyncIterator[Statements]:
    store, books = MemoryStore(), SqlBooks(sql_url)
    await ask(store, Deposit("d1", "ana", 1000, "tests"))
    await run_wallet(store, books)
    await ask(store, BuyIn("b1", A, "ana", 400), BuyIn("b2", A, "ana", 601), CashOut("c1", A, "ana", 150))
    await run_wallet(store, books)
    await books.close()
    statements = Statements(sql_url)
    yield statements
    await statements.close()


async def test_a_statement_has_every_posting_newest_first(statements: Statements) -> None:
    lines = (await statements.statement("player:ana")).lines
    assert [(line.sequence, line.transfer_id, line.kind, line.amount, line.balance_after) for line in lines] == [
        (3, "c1", "cash_out", 150, 750),
        (2, "b1", "buy_in", -400, 600),
        (1, "d1", "deposit", 1000, 1000),
    ]
    assert (await statements.statement("player:ben")).lines == ()


async def test_a_statement_comes_a_page_at_a_time(statements: Statements) -> None:
    first = await statements.statement("player:ana", limit=2)
    second = await statements.statement("player:ana", before=first.next, limit=2)
    assert [line.sequence for line in (*first.lines, *second.lines)] == [3, 2, 1]
    assert second.next is None


async def test_a_transfer_tells_what_became_of_it_and_why(statements: Statements) -> None:
    booked = await statements.transfer("b1")
    declined = await statements.transfer("b2")
    assert booked is not None
    assert declined is not None
    assert (booked.outcome, booked.postings) == ("booked", (Posting("player:ana", -400), Posting(f"table:{A}", 400)))
    assert booked.cause.startswith("wallet-requests/")
    assert (declined.outcome, declined.code, declined.postings) == ("declined", "insufficient_funds", ())
    assert await statements.transfer("b9") is None
