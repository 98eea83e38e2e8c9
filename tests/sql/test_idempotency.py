"""An id is decided once, for as long as the ledger lives: the database itself sees to it, whoever writes."""

import asyncio
import itertools

import pytest
from sqlalchemy import Table, insert
from sqlalchemy.exc import IntegrityError

from brelan.audit.ledger import audit
from brelan.eventlog.memory_log import MemoryStore
from brelan.events import money
from brelan.events.money import BuyIn, CashOut, Deposit
from brelan.sql import create_engine, migrate, writing
from brelan.sql.books import SqlBooks
from brelan.sql.schema import ledger_outgoing, ledger_postings, ledger_transfers
from brelan.telemetry.health import Health
from brelan_wallet.service import Wallet
from tests.services.wallet_room import A, accounts, ask, replies, run_wallet, until

DEPOSIT = Deposit("d1", "ana", 1000, "tests")
BUY_IN = BuyIn("b1", A, "ana", 400)


async def started_again(store: MemoryStore, url: str) -> None:
    """A new process: connections, caches and the wallet's memory are gone, the migrations run again."""
    await migrate(url)
    books = SqlBooks(url)
    await run_wallet(store, books)
    await books.close()


async def test_the_same_id_gets_the_same_answer_after_any_number_of_starts(sql_url: str) -> None:
    store = MemoryStore()
    await ask(store, DEPOSIT)
    await started_again(store, sql_url)
    await ask(store, BUY_IN, BuyIn("b2", A, "ana", 700))
    for _ in range(4):
        await started_again(store, sql_url)
        await ask(store, DEPOSIT, BUY_IN, BuyIn("b2", A, "ana", 700))
    await ask(store, Deposit("d2", "ana", 5000, "tests"))  # now he could afford it, and that changes nothing
    await started_again(store, sql_url)
    await ask(store, BuyIn("b2", A, "ana", 700))
    await started_again(store, sql_url)
    answers = await replies(store)
    assert answers[0::2][:5] == [money.Funded("b1", A, "ana", 400)] * 5
    assert {one.code for one in answers if isinstance(one, money.Declined)} == {"insufficient_funds"}
    assert sum(isinstance(one, money.Declined) for one in answers) == 6
    assert (await audit(sql_url, {A: 400})).balanced


async def test_a_log_that_begins_anew_years_later_finds_its_ids_decided(sql_url: str) -> None:
    """Another event log, whose entry ids begin at nothing: only the ledger is old."""
    old = MemoryStore()
    await ask(old, DEPOSIT)
    await started_again(old, sql_url)
    new = MemoryStore(clock=itertools.count(10**12).__next__)
    await ask(new, DEPOSIT)
    await started_again(new, sql_url)
    books = SqlBooks(sql_url)
    assert await accounts(books) == {"cashier": -1000, "player:ana": 1000}
    await books.close()


@pytest.mark.parametrize(
    "other",
    [
        BuyIn("b1", A, "ana", 401),
        BuyIn("b1", A, "ben", 400),
        CashOut("b1", A, "ana", 400),
        BuyIn("b1", "s00-b", "ana", 400),
    ],
)
async def test_the_same_id_with_another_body_is_an_error_and_moves_nothing(
    sql_url: str, other: money.WalletRequest
) -> None:
    store = MemoryStore()
    await ask(store, DEPOSIT)
    await started_again(store, sql_url)
    await ask(store, BUY_IN)
    await started_again(store, sql_url)
    await ask(store, other, BUY_IN)
    await started_again(store, sql_url)
    funded, conflict, again = await replies(store)
    assert isinstance(conflict, money.Declined)
    assert conflict.code == "transfer_conflict"
    assert funded == again == money.Funded("b1", A, "ana", 400)
    assert (await audit(sql_url, {A: 400})).balanced


@pytest.mark.parametrize("table", [ledger_transfers, ledger_postings, ledger_outgoing], ids=lambda table: table.name)
async def test_the_database_refuses_a_second_row_of_the_same_id(sql_url: str, table: Table) -> None:
    """Whatever program writes it."""
    rows = {
        ledger_transfers: {
            "transfer_id": "d1",
            "kind": "deposit",
            "outcome": "booked",
            "code": "",
            "body": b"another",
            "at_ms": 0,
            "cause": "",
            "trace": "",
        },
        ledger_postings: {
            "account": "player:ana",
            "sequence": 1,
            "transfer_id": "d1",
            "amount": 5,
            "balance_after": 5,
        },
        ledger_outgoing: {"stream": "replies", "number": 1, "data": b"another"},
    }
    store = MemoryStore()
    await ask(store, DEPOSIT)
    await started_again(store, sql_url)
    engine = create_engine(sql_url)
    async with writing(engine) as connection:
        await connection.execute(insert(ledger_outgoing), [rows[ledger_outgoing]])
    with pytest.raises(IntegrityError):
        async with writing(engine) as connection:
            await connection.execute(insert(table), [rows[table]])
    await engine.dispose()


async def test_two_wallets_that_both_work_book_nothing_twice(sql_url: str) -> None:
    """Neither waits for the lease: each believes to be the only one, is fenced, and opens the books again."""
    store = MemoryStore()
    await ask(store, Deposit("d1", "ana", 100_000, "tests"))
    await started_again(store, sql_url)
    for number in range(60):
        await ask(store, BuyIn(f"b{number}", A, "ana", 10), CashOut(f"c{number}", A, "ana", 4))
    stop = asyncio.Event()
    wallets = [Wallet(store, SqlBooks(sql_url), ("s00",)) for _ in range(2)]
    for wallet in wallets:
        wallet._hold_lease = _always  # type: ignore[method-assign]
    running = [asyncio.create_task(wallet.run(stop, Health("wallet"))) for wallet in wallets]
    for number in range(60, 120):
        await ask(store, BuyIn(f"b{number}", A, "ana", 10), CashOut(f"c{number}", A, "ana", 4))
        await asyncio.sleep(0)

    async def all_are_answered() -> bool:
        return len(await replies(store)) == 240

    await until(all_are_answered, 60)
    stop.set()
    await asyncio.gather(*running)
    assert [one.transfer_id for one in await replies(store)] == [f"{kind}{n}" for n in range(120) for kind in "bc"]
    for wallet in wallets:
        await wallet._books.close()
    assert (await audit(sql_url, {A: 720})).balanced


async def _always() -> bool:
    return True
