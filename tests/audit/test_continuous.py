"""The auditor that runs all the time: what is new at once, everything again in slices, every fault found."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from brelan.audit.continuous import Auditor, Unpublished
from brelan.eventlog import keys
from brelan.eventlog.log import Append, Commit
from brelan.eventlog.memory_log import MemoryStore
from brelan.events.money import BuyIn, CashOut, Deposit
from brelan.ledger.books import Line, Page
from brelan.ledger.decide import Request, decide, record, touched
from brelan.sql import create_engine, writing
from brelan.sql.books import SqlBooks
from tests.fixtures_sql import empty_postgres_url, postgres_server, postgres_url, sql_url, sqlite_url

__all__ = ["empty_postgres_url", "postgres_server", "postgres_url", "sql_url", "sqlite_url"]

TABLE = "s00-a"


class Ledger:
    """Books in SQL, to write in and to spoil."""

    def __init__(self, url: str) -> None:
        self.engine = create_engine(url)
        self.books = SqlBooks(self.engine)
        self._page = 0

    async def write(self, *requests: Request) -> None:
        self._page = self._page or (await self.books.open()).page
        known = await self.books.known(*touched(requests))
        lines = []
        for request in requests:
            decision = decide(known, request)
            record(known, decision)
            assert decision.decided is not None
            lines.append(Line(request.transfer_id, decision.decided, decision.transfer, 0))
        assert await self.books.write(Page(self._page, lines=lines)) is not None
        self._page += 1

    async def spoil(self, *statements: str) -> None:
        """Behind everybody's back: the triggers and checks that would refuse it are off."""
        async with writing(self.engine) as connection:
            if self.engine.dialect.name == "sqlite":
                await connection.execute(text("PRAGMA ignore_check_constraints = ON"))
                for table in ("ledger_postings", "ledger_transfers"):
                    for change in ("update", "delete"):
                        await connection.execute(text(f"DROP TRIGGER IF EXISTS {table}_no_{change}"))
            else:
                await connection.execute(text("SET LOCAL session_replication_role = replica"))
                await connection.execute(
                    text("ALTER TABLE ledger_accounts DROP CONSTRAINT IF EXISTS ck_ledger_accounts_never_negative")
                )
            for statement in statements:
                await connection.execute(text(statement))


@pytest.fixture
async def ledger(sql_url: str) -> AsyncIterator[Ledger]:
    """Ana and Ben with 100 each, a buy-in of 60, one that was declined."""
    ledger = Ledger(sql_url)
    await ledger.write(Deposit("d1", "ana", 100, "tests"), Deposit("d2", "ben", 100, "tests"))
    await ledger.write(BuyIn("b1", TABLE, "ana", 60), BuyIn("b2", TABLE, "ana", 41))
    yield ledger
    await ledger.engine.dispose()


def statements_of(engine: AsyncEngine) -> list[str]:
    """What is executed from here on."""
    said: list[str] = []
    event.listen(engine.sync_engine, "before_cursor_execute", lambda *arguments: said.append(arguments[2]))
    return said


async def test_it_reports_its_figures(ledger: Ledger) -> None:
    auditor = Auditor(ledger.engine)
    first = await auditor.round()
    assert (first.accounts, first.total, first.negative, first.suspense) == (4, 0, 0, 0)
    assert (first.new_transfers, first.swept_transfers, first.swept_postings, first.sweeps) == (0, 4, 6, 1)
    await ledger.write(CashOut("c1", TABLE, "ana", 10), BuyIn("b3", TABLE, "ben", 200))
    second = await auditor.round()
    assert (second.new_transfers, second.new_postings, second.swept_postings) == (2, 2, 8)
    third = await auditor.round()
    assert (third.new_transfers, third.new_postings) == (0, 0)
    assert (first.problems, second.problems, third.problems) == ((), (), ())


@pytest.mark.parametrize("at_once", [1, 2, 3, 7])
async def test_a_sweep_in_slices_sees_everything_while_more_is_written(ledger: Ledger, at_once: int) -> None:
    auditor = Auditor(ledger.engine, at_once)
    postings = transfers = 0
    for number in range(200):
        if number < 3:
            await ledger.write(Deposit(f"e{number}", "ana", 1, "tests"), Deposit(f"f{number}", "zoe", 1, "tests"))
        figures = await auditor.round()
        assert figures.problems == ()
        assert max(figures.swept_postings, figures.swept_transfers, figures.new_transfers) <= max(2, at_once)
        postings, transfers = postings + figures.swept_postings, transfers + figures.swept_transfers
        if figures.sweeps:
            break
    else:
        pytest.fail("the sweep did not end")
    assert postings >= 6
    assert transfers >= 4


ANA_AT_41 = "UPDATE ledger_accounts SET balance = 41 WHERE account = 'player:ana'"


@pytest.mark.parametrize(
    ("statement", "problems"),
    [
        (ANA_AT_41, {"all accounts together are 1, not 0", "player:ana stands at 41, its postings add up to 40"}),
        (
            "UPDATE ledger_postings SET amount = 61, balance_after = 61 WHERE account = 'table:s00-a'",
            {"transfer b1 does not balance", "table:s00-a stands at 60, its postings add up to 61"},
        ),
        (
            "UPDATE ledger_postings SET amount = 61 WHERE account = 'table:s00-a'",
            {"transfer b1 does not balance", "posting 1 of table:s00-a does not follow the one before it"},
        ),
        (
            "DELETE FROM ledger_postings WHERE account = 'table:s00-a'",
            {"transfer b1 does not balance", "table:s00-a has no postings"},
        ),
        (
            "DELETE FROM ledger_postings WHERE account = 'player:ana' AND sequence = 2",
            {"transfer b1 does not balance", "player:ana stands at 40, its postings add up to 100"},
        ),
        ("UPDATE ledger_transfers SET outcome = 'booked' WHERE transfer_id = 'b2'", {"transfer b2 does not balance"}),
        ("UPDATE ledger_transfers SET outcome = 'declined' WHERE transfer_id = 'b1'", {"transfer b1 does not balance"}),
        (
            "UPDATE ledger_accounts SET balance = -1 WHERE account = 'table:s00-a'",
            {
                "all accounts together are -61, not 0",
                "1 accounts are below zero",
                "table:s00-a stands at -1, its postings add up to 60",
            },
        ),
    ],
)
async def test_M6_whatever_is_wrong_is_found_by_the_sweep(ledger: Ledger, statement: str, problems: set[str]) -> None:
    await ledger.spoil(statement)
    assert set((await Auditor(ledger.engine).round()).problems) == problems


async def test_what_is_wrong_with_a_new_page_is_found_at_once(ledger: Ledger) -> None:
    """However slow the sweep is."""
    auditor = Auditor(ledger.engine, at_once=1)
    await auditor.round()
    await ledger.write(CashOut("c1", TABLE, "ana", 10))
    await ledger.spoil("UPDATE ledger_postings SET amount = 11 WHERE transfer_id = 'c1' AND account = 'player:ana'")
    problems = (await auditor.round()).problems
    assert "transfer c1 does not balance" in problems
    assert "posting 3 of player:ana does not follow the one before it" in problems


async def test_what_was_set_right_is_forgotten_after_the_next_sweep(ledger: Ledger) -> None:
    auditor = Auditor(ledger.engine)
    await ledger.spoil(ANA_AT_41)
    assert (await auditor.round()).problems
    await ledger.spoil("UPDATE ledger_accounts SET balance = 40 WHERE account = 'player:ana'")
    assert (await auditor.round()).problems, "the sweep that begins after it has not ended"
    assert (await auditor.round()).problems == ()


async def test_a_round_costs_the_same_however_much_there_is(ledger: Ledger) -> None:
    """The same statements, and slices of the same size."""
    auditor = Auditor(ledger.engine, at_once=50)
    said = statements_of(ledger.engine)
    await auditor.round()
    few = len(said)
    for page in range(10):
        await ledger.write(*(Deposit(f"m{page}-{number}", f"p{number}", 1, "tests") for number in range(100)))
    for _ in range(40):
        said.clear()
        figures = await auditor.round()
        assert max(figures.swept_postings, figures.swept_transfers) <= 50
        assert figures.new_transfers <= 100, "a page is taken whole"
        assert len(said) <= few + 3
        assert figures.problems == ()


async def test_replies_that_do_not_get_out_are_counted(ledger: Ledger) -> None:
    store, now = MemoryStore(), 0.0
    log, stream = store.log("s00"), keys.wallet_replies("s00")
    unpublished = Unpublished({"s00": log}, ledger.books, lambda: now)
    assert await unpublished.look() == (0, 0.0)
    page = (await ledger.books.open()).page
    await ledger.books.write(Page(page, outgoing=[(stream, b"1"), (stream, b"2")]))
    assert await unpublished.look() == (2, 0.0)
    now = 30.0
    assert await unpublished.look() == (2, 30.0)
    position = await log.fence(keys.Service.WALLET, "w")
    await log.commit(Commit(keys.Service.WALLET, position.number, "w1", appends=[Append(stream, b"1", "1-0")]))
    now = 40.0
    assert await unpublished.look() == (1, 0.0)
    now = 45.0
    assert await unpublished.look() == (1, 5.0)
