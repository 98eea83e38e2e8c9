"""The auditor finds whatever is wrong with the books."""

import pytest
from sqlalchemy import text

from brelan.audit.ledger import Difference, audit, escrow_differences
from brelan.events.money import BuyIn, Deposit, TakeRake
from brelan.ledger.books import Line, Page
from brelan.ledger.decide import decide, record, touched
from brelan.sql import create_engine, writing
from brelan.sql.books import SqlBooks
from tests.fixtures_sql import sqlite_url

__all__ = ["sqlite_url"]


@pytest.fixture
async def books_url(sqlite_url: str) -> str:
    """A deposit of 100, a buy-in of 60, a rake of 5, a buy-in that was declined."""
    requests = (
        Deposit("d1", "ana", 100, "tests"),
        BuyIn("b1", "s00-a", "ana", 60),
        TakeRake("r1", "s00-a", 5),
        BuyIn("b2", "s00-a", "ana", 41),
    )
    books = SqlBooks(sqlite_url)
    page = (await books.open()).page
    ledger = await books.known(*touched(requests))
    lines = []
    for request in requests:
        decision = decide(ledger, request)
        record(ledger, decision)
        assert decision.decided is not None
        lines.append(Line(request.transfer_id, decision.decided, decision.transfer, 0))
    await books.write(Page(page, lines=lines))
    await books.close()
    return sqlite_url


async def spoil(url: str, *statements: str) -> None:
    """Behind everybody's back: the triggers and checks that would refuse it are off."""
    engine = create_engine(url)
    async with writing(engine) as connection:
        await connection.execute(text("PRAGMA ignore_check_constraints = ON"))
        for table in ("ledger_postings", "ledger_transfers"):
            for change in ("update", "delete"):
                await connection.execute(text(f"DROP TRIGGER {table}_no_{change}"))
        for statement in statements:
            await connection.execute(text(statement))
    await engine.dispose()


async def test_good_books_are_reported_with_their_figures(books_url: str) -> None:
    report = await audit(books_url, {"s00-a": 55})
    assert report.balanced
    assert (report.accounts, report.transfers, report.postings) == (4, 4, 6)
    assert (report.players_total, report.escrow_total, report.rake_total, report.total) == (40, 55, 5, 0)


async def test_M6_escrow_that_is_not_what_lies_on_the_table_is_found(books_url: str) -> None:
    report = await audit(books_url, {"s00-a": 50, "s00-b": 5})
    assert report.escrow == (Difference("table:s00-a", 55, 50), Difference("table:s00-b", 0, 5))
    assert (await audit(books_url, {})).escrow == (Difference("table:s00-a", 55, 0),)
    assert escrow_differences({"table:x": 1, "player:ana": 7}, {"x": 1}) == ()


@pytest.mark.parametrize(
    ("statement", "problems"),
    [
        (
            "UPDATE ledger_accounts SET balance = 41 WHERE account = 'player:ana'",
            ["all accounts together are 1, not 0", "player:ana stands at 41, its postings add up to 40"],
        ),
        (
            "UPDATE ledger_postings SET amount = 61 WHERE account = 'table:s00-a' AND amount = 60",
            ["transfer b1 does not balance", "table:s00-a stands at 55, its postings add up to 56"],
        ),
        (
            "DELETE FROM ledger_postings WHERE transfer_id = 'r1'",
            [
                "transfer r1 does not balance",
                "house:rake stands at 5, its postings add up to 0",
                "table:s00-a stands at 55, its postings add up to 60",
            ],
        ),
        (
            "UPDATE ledger_transfers SET outcome = 'booked' WHERE transfer_id = 'b2'",
            ["transfer b2 does not balance"],
        ),
        (
            "UPDATE ledger_transfers SET outcome = 'declined' WHERE transfer_id = 'b1'",
            ["transfer b1 does not balance"],
        ),
        (
            "UPDATE ledger_accounts SET balance = -1 WHERE account = 'house:rake'",
            [
                "all accounts together are -6, not 0",
                "house:rake stands at -1, its postings add up to 5",
                "house:rake is below zero",
            ],
        ),
    ],
)
async def test_M6_whatever_is_wrong_is_found(books_url: str, statement: str, problems: list[str]) -> None:
    await spoil(books_url, statement)
    report = await audit(books_url)
    assert report.problems == problems
    assert not report.balanced
