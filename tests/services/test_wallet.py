"""The wallet on the in-memory log: what it answers, in which order, and what it must not take."""

import asyncio

import pytest

from brelan.audit.ledger import audit
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.memory_log import MemoryStore
from brelan.events import money
from brelan.events.envelope import encode
from brelan.events.money import BuyIn, CashOut, Deposit, TakeRake, WalletRequested, Withdraw
from brelan.ledger.decide import Decision, Ledger, Request, decide
from brelan.ledger.memory import MemoryBooks, Vault
from brelan.sql.books import SqlBooks
from brelan.telemetry.health import Health
from brelan_wallet.service import ROOM, BooksBehind, Fenced, Wallet
from tests.services.wallet_room import A, B, accounts, ask, copied, replies, run_wallet, serve_all, until

DEPOSIT = Deposit("d1", "ana", 1000, "tests")


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


async def test_a_buy_in_is_funded_and_a_cash_out_booked(store: MemoryStore) -> None:
    books = MemoryBooks()
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await ask(store, BuyIn("b1", A, "ana", 400), TakeRake("r1", A, 10), CashOut("c1", A, "ana", 390))
    await ask(store, BuyIn("b2", B, "ana", 100))
    await run_wallet(store, books)
    assert await replies(store) == [
        money.Funded("b1", A, "ana", 400),
        money.Booked("r1", A, 10),
        money.Booked("c1", A, 390),
    ]
    assert await replies(store, "s01") == [money.Funded("b2", B, "ana", 100)]
    assert await accounts(books) == {"player:ana": 890, f"table:{B}": 100, "house:rake": 10, "cashier": -1000}
    assert await copied(store) == {"ana": 890}


async def test_M2_without_the_money_there_is_no_seat(store: MemoryStore) -> None:
    books = MemoryBooks()
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await ask(store, BuyIn("b1", A, "ana", 1001), Withdraw("w1", "ana", 1001, "tests"))
    await run_wallet(store, books)
    (declined,) = await replies(store)
    assert isinstance(declined, money.Declined)
    assert declined.code == "insufficient_funds"
    assert await copied(store) == {"ana": 1000}


async def test_a_repeated_request_is_answered_again_and_has_no_second_effect(store: MemoryStore) -> None:
    books = MemoryBooks()
    await ask(store, DEPOSIT, DEPOSIT)
    await run_wallet(store, books)
    await ask(store, BuyIn("b1", A, "ana", 400), BuyIn("b1", A, "ana", 400))
    await run_wallet(store, books)
    await ask(store, BuyIn("b1", A, "ana", 400))
    await run_wallet(store, books)
    assert await replies(store) == [money.Funded("b1", A, "ana", 400)] * 3
    assert await copied(store) == {"ana": 600}


async def test_an_id_used_for_something_else_is_refused(store: MemoryStore) -> None:
    books = MemoryBooks()
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await ask(store, BuyIn("b1", A, "ana", 400), BuyIn("b1", A, "ana", 500))
    await run_wallet(store, books)
    codes = [reply.code for reply in await replies(store) if isinstance(reply, money.Declined)]
    assert codes == ["transfer_conflict"]
    assert await copied(store) == {"ana": 600}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1 no msgpack",
        encode(WalletRequested(BuyIn("b9", B, "ana", 400))),  # another shard's table
        encode(WalletRequested(CashOut("c9", "nonsense", "ana", 400))),
        encode(DEPOSIT),
    ],
)
async def test_what_is_no_request_of_this_shard_is_buried_and_the_others_go_on(store: MemoryStore, data: bytes) -> None:
    books = MemoryBooks()
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await store.log("s00").append(keys.wallet_requests("s00"), data)
    await ask(store, BuyIn("b1", A, "ana", 400))
    await run_wallet(store, books)
    assert await replies(store) == [money.Funded("b1", A, "ana", 400)]
    (dead,) = books.vault.dead
    assert (dead.stream, dead.data) == (keys.wallet_requests("s00"), data)
    assert await accounts(books) == {"player:ana": 600, f"table:{A}": 400, "cashier": -1000}


async def test_a_request_that_makes_the_core_raise_is_buried_alone(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug in the core must not stop a shard, nor take good requests with it."""
    books = MemoryBooks()
    await ask(store, DEPOSIT)
    await run_wallet(store, books)

    def buggy(ledger: Ledger, request: Request) -> Decision:
        if request.transfer_id == "evil":
            raise RuntimeError("a bug")
        return decide(ledger, request)

    monkeypatch.setattr("brelan_wallet.handlers.decide", buggy)
    await ask(store, BuyIn("b1", A, "ana", 1), BuyIn("evil", A, "ana", 1), BuyIn("b2", A, "ana", 1))
    await run_wallet(store, books)
    assert [reply.transfer_id for reply in await replies(store)] == ["b1", "b2"]
    assert [dead.error for dead in books.vault.dead] == ["RuntimeError: a bug"]


async def test_replies_whose_tail_redis_lost_are_published_again(store: MemoryStore) -> None:
    """A fail-over may lose acknowledged writes; what the ledger has answered stays answered."""
    books = MemoryBooks()
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await ask(store, *(BuyIn(f"b{number}", A, "ana", 1) for number in range(5)))
    await run_wallet(store, books)
    before = await replies(store)
    stream = store.values[keys.wallet_replies("s00")]
    del stream.ids[2:], stream.data[2:]  # type: ignore[union-attr]
    stream.last = (2, 0)  # type: ignore[union-attr]
    del store.values[keys.balances()]
    await run_wallet(store, books)
    assert await replies(store) == before
    assert await copied(store) == {"ana": 995}


async def test_books_that_are_older_than_the_event_log_are_not_written(store: MemoryStore) -> None:
    await ask(store, DEPOSIT, DEPOSIT)
    await run_wallet(store, books := MemoryBooks())
    await ask(store, BuyIn("b1", A, "ana", 400))
    await run_wallet(store, books)
    await ask(store, BuyIn("b2", A, "ana", 400))
    restored = MemoryBooks(Vault())  # from a backup made before all of that
    with pytest.raises(BooksBehind, match="older copy"):
        await run_wallet(store, restored, ("s00",))


async def test_two_wallets_at_once_book_nothing_twice(store: MemoryStore) -> None:
    vault = Vault()
    first, second = (Wallet(store, MemoryBooks(vault), ("s00",)) for _ in range(2))
    await ask(store, DEPOSIT)
    await first.open()
    await second.open()
    await serve_all(second)
    await ask(store, BuyIn("b1", A, "ana", 400))
    with pytest.raises(Fenced):
        await first.serve("s00", block_ms=0)
    await serve_all(second)
    with pytest.raises(Fenced):
        await first.serve(ROOM, block_ms=0)
    await first.open()
    await serve_all(first)
    await ask(store, BuyIn("b2", A, "ana", 400))
    with pytest.raises(Fenced):
        await serve_all(second)
    await first.open()
    await serve_all(first)
    assert [reply.transfer_id for reply in await replies(store)] == ["b1", "b2"]
    assert await copied(store) == {"ana": 200}


async def test_two_wallets_run_and_one_stands_by_until_the_other_stops(store: MemoryStore) -> None:
    vault = Vault()
    stops = [asyncio.Event(), asyncio.Event()]
    wallets = [Wallet(store, MemoryBooks(vault), ("s00",)) for _ in stops]
    running = [
        asyncio.create_task(wallet.run(stop, Health("wallet"))) for wallet, stop in zip(wallets, stops, strict=True)
    ]

    async def answered(number: int) -> bool:
        return len(await replies(store)) == number

    await ask(store, DEPOSIT, BuyIn("b1", A, "ana", 400))
    await until(lambda: answered(1))
    stops[0].set()
    await running[0]
    await ask(store, BuyIn("b2", A, "ana", 100))
    await until(lambda: answered(2))
    stops[1].set()
    await running[1]
    assert store.leases == {}
    assert sum(balance.amount for balance in vault.balances.values()) == 0


async def test_cursors_and_replies_are_in_the_same_commit_so_that_requests_may_be_trimmed(store: MemoryStore) -> None:
    await ask(store, DEPOSIT)
    await run_wallet(store, books := MemoryBooks())
    await ask(store, BuyIn("b1", A, "ana", 400))
    await run_wallet(store, books)
    position = await store.log("s00").fence(Service.WALLET, "look")
    last = await store.log("s00").last_id(keys.wallet_requests("s00"))
    assert position.cursors == {keys.wallet_requests("s00"): last}


async def test_in_sql_the_books_balance(store: MemoryStore, sql_url: str) -> None:
    books = SqlBooks(sql_url)
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await ask(store, *(BuyIn(f"b{number}", A, "ana", 10) for number in range(300)))
    await run_wallet(store, books)
    funded = [reply for reply in await replies(store) if isinstance(reply, money.Funded)]
    assert len(funded) == 100
    assert await copied(store) == {"ana": 0}
    await books.close()
    report = await audit(sql_url, {A: 1000})
    assert report.balanced
    assert (report.transfers, report.postings, report.escrow_total) == (301, 202, 1000)
