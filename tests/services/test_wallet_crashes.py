"""A wallet killed between any two steps: nothing is lost, nothing has two effects, every request one answer."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brelan.audit.ledger import audit
from brelan.eventlog.memory_log import MemoryStore
from brelan.events import money
from brelan.events.money import BuyIn, CashOut, Deposit, TakeRake
from brelan.ledger.accounts import may_be_negative
from brelan.ledger.memory import MemoryBooks, Vault
from brelan.sql.books import SqlBooks
from brelan_wallet.service import Wallet
from tests.services.crashes import Crash, Fuse, Fused, Where
from tests.services.wallet_room import A, B, Request, accounts, ask, copied, replies, run_wallet, serve_all

DEPOSITS = (Deposit("d1", "ana", 1000, "tests"), Deposit("d2", "ben", 500, "tests"))
REQUESTS = (
    BuyIn("b1", A, "ana", 400),
    BuyIn("b2", A, "ben", 500),
    BuyIn("b3", A, "ben", 1),
    BuyIn("b4", B, "ana", 100),
    TakeRake("r1", A, 20),
    CashOut("c1", A, "ana", 880),
    BuyIn("b1", A, "ana", 400),
)
ANSWERS = [
    money.Funded("b1", A, "ana", 400),
    money.Funded("b2", A, "ben", 500),
    "insufficient_funds",
    money.Booked("r1", A, 20),
    money.Booked("c1", A, 880),
    money.Funded("b1", A, "ana", 400),
]
ACCOUNTS = {"player:ana": 1380, f"table:{B}": 100, "house:rake": 20, "cashier": -1500}
MOST_STEPS = 60


async def crash_once(store: MemoryStore, books: object, fuse: Fuse) -> bool:
    """Whether it came to that."""
    wallet = Wallet(Fused(store, fuse), Fused(books, fuse), ("s00", "s01"))
    try:
        await wallet.open()
        await serve_all(wallet)
    except Crash:
        return True
    return False


async def check(store: MemoryStore, books: MemoryBooks | SqlBooks) -> None:
    answers = [reply.code if isinstance(reply, money.Declined) else reply for reply in await replies(store)]
    assert answers == ANSWERS
    assert await replies(store, "s01") == [money.Funded("b4", B, "ana", 100)]
    assert await accounts(books) == ACCOUNTS
    assert await copied(store) == {"ana": 1380, "ben": 0}


@pytest.mark.parametrize("where", ["before", "after"])
async def test_a_crash_at_any_step_loses_and_doubles_nothing(where: Where) -> None:
    crashes = 0
    for step in range(1, MOST_STEPS):
        store, vault = MemoryStore(), Vault()
        await ask(store, *DEPOSITS)
        await run_wallet(store, MemoryBooks(vault))
        await ask(store, *REQUESTS)
        crashes += await crash_once(store, MemoryBooks(vault), Fuse(step, where))
        await run_wallet(store, MemoryBooks(vault))
        await check(store, MemoryBooks(vault))
    assert 20 < crashes < MOST_STEPS - 5, "the steps of a wallet's work are not all covered"


@pytest.mark.parametrize(("first", "second"), list(itertools.product(["before", "after"], repeat=2)))
async def test_a_crash_while_recovering_from_a_crash(first: Where, second: Where) -> None:
    for step, again in itertools.product(range(1, 40, 3), range(1, 30, 3)):
        store, vault = MemoryStore(), Vault()
        await ask(store, *DEPOSITS)
        await run_wallet(store, MemoryBooks(vault))
        await ask(store, *REQUESTS)
        await crash_once(store, MemoryBooks(vault), Fuse(step, first))
        await crash_once(store, MemoryBooks(vault), Fuse(again, second))
        await run_wallet(store, MemoryBooks(vault))
        await check(store, MemoryBooks(vault))


async def test_a_crash_at_any_step_with_the_books_in_sql(sql_url: str) -> None:
    """One database: after each crash a deposit and a buy-in of their own are finished."""
    books = SqlBooks(sql_url)
    store = MemoryStore()
    number = 0
    for step, where in itertools.product(range(1, 20), ("before", "after")):
        number += 1
        await ask(store, Deposit(f"d{number}", "ana", 10, "tests"))
        await ask(store, BuyIn(f"b{number}", A, "ana", 10))
        await crash_once(store, books, Fuse(step, where))  # type: ignore[arg-type]
        await run_wallet(store, books)
        answers = [reply.transfer_id for reply in await replies(store)]
        assert answers == [f"b{place}" for place in range(1, number + 1)]
    assert all(isinstance(reply, money.Funded) for reply in await replies(store))
    await books.close()
    report = await audit(sql_url, {A: 10 * number})
    assert report.balanced
    assert report.escrow_total == 10 * number


transfer_ids = st.integers(0, 12)
amounts = st.integers(1, 60)
players = st.sampled_from(["ana", "ben"])
tables = st.sampled_from([A, B])
request = st.one_of(
    st.builds(lambda n, p, a: Deposit(f"d{n}", p, a, "tests"), transfer_ids, players, amounts),
    st.builds(lambda n, t, p, a: BuyIn(f"b{n}", t, p, a), transfer_ids, tables, players, amounts),
    st.builds(lambda n, t, p, a: CashOut(f"c{n}", t, p, a), transfer_ids, tables, players, amounts),
    st.builds(lambda n, t, p, a: CashOut(f"refund:b{n}", t, p, a), transfer_ids, tables, players, amounts),
    st.builds(lambda n, t, a: TakeRake(f"r{n}", t, a), transfer_ids, tables, amounts),
)
crash = st.builds(Fuse, st.integers(1, 40), st.sampled_from(["before", "after"]))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.one_of(request, request, request, crash), min_size=4, max_size=40))
async def test_M6_deposits_buy_ins_cash_outs_rake_repeats_and_crashes(steps: list[Request | Fuse]) -> None:
    """Whatever comes in which order: balanced, never negative, one effect an id, one answer a request."""
    store, vault = MemoryStore(), Vault()
    asked: list[Request] = []
    for step in steps:
        if isinstance(step, Fuse):
            await crash_once(store, MemoryBooks(vault), Fuse(step.at, step.where))
        else:
            await ask(store, step)
            asked.append(step)
    await run_wallet(store, MemoryBooks(vault))
    balances = {account: balance.amount for account, balance in vault.balances.items()}
    assert sum(balances.values()) == 0
    assert all(amount >= 0 or may_be_negative(account) for account, amount in balances.items())
    for shard, table_id in (("s00", A), ("s01", B)):
        of_the_shard = [one for one in asked if getattr(one, "table_id", "") == table_id]
        answers = await replies(store, shard)
        assert [reply.transfer_id for reply in answers] == [one.transfer_id for one in of_the_shard]
        booked = {reply.transfer_id for reply in answers if not isinstance(reply, money.Declined)}
        moved = sum(map(_into_escrow, _once(of_the_shard, booked)))
        assert balances.get(f"table:{table_id}", 0) == moved
    assert await copied(store) == {
        account.removeprefix("player:"): amount for account, amount in balances.items() if account.startswith("player:")
    }


def _once(asked: list[Request], booked: set[str]) -> list[Request]:
    """The request that each booked id stands for: the first under that id."""
    first: dict[str, Request] = {}
    for one in asked:
        first.setdefault(one.transfer_id, one)
    return [one for transfer_id, one in first.items() if transfer_id in booked]


def _into_escrow(one: Request) -> int:
    return one.amount if isinstance(one, BuyIn) else -one.amount
