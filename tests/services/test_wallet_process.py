"""The wallet as a process, on a real server and a real database. Killed, it loses and doubles nothing."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

from brelan.audit.ledger import audit
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import RedisStore
from brelan.events import money
from brelan.events.money import BuyIn, CashOut, Deposit
from tests.processes import free_port
from tests.services.processes import Process
from tests.services.wallet_room import A, ask, copied, replies, until

pytestmark = pytest.mark.redis
LIVES = 5


@pytest.fixture
def wallet(redis_url: str, sqlite_url: str, tmp_path: Path) -> Iterator[Process]:
    process = Process("wallet", redis_url, sqlite_url, tmp_path)
    yield process
    process.close()


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisStore]:
    store = RedisStore(redis_url)
    yield store
    await store.close()


async def release(store: RedisStore) -> None:
    """A killed wallet's lease would run out by itself; tests have no time to wait for that."""
    await store.read("wallet", "DEL", keys.lease("wallet", Service.WALLET))


async def test_killed_again_and_again(wallet: Process, store: RedisStore, sqlite_url: str) -> None:
    """Requests keep coming; each life of the wallet ends in the middle of its work."""
    asked = 0
    feeding = asyncio.Event()

    async def feed() -> None:
        nonlocal asked
        while not feeding.is_set():
            asked += 1
            await ask(store, BuyIn(f"b{asked}", A, "ana", 10), CashOut(f"c{asked}", A, "ana", 4))
            await asyncio.sleep(0.001)

    await ask(store, Deposit("d1", "ana", 1_000_000, "tests"))
    feeder = asyncio.create_task(feed())
    for life in range(LIVES):
        before = len(await replies(store))
        wallet.start()

        async def more_are_answered(before: int = before, life: int = life) -> bool:
            return len(await replies(store)) > before + 10 * life

        await until(more_are_answered, 30)
        if life < LIVES - 1:
            wallet.end(signal.SIGKILL)
            await release(store)
    feeding.set()
    await feeder

    async def all_are_answered() -> bool:
        return len(await replies(store)) == 2 * asked

    await until(all_are_answered, 30)
    code, _ = wallet.end(signal.SIGTERM)
    assert code == 0
    expected: list[money.WalletReply] = []
    for number in range(1, asked + 1):
        expected += [money.Funded(f"b{number}", A, "ana", 10), money.Booked(f"c{number}", A, 4)]
    assert await replies(store) == expected
    assert await copied(store) == {"ana": 1_000_000 - 6 * asked}
    report = await audit(sqlite_url, {A: 6 * asked})
    assert report.balanced


async def test_it_says_whether_it_is_ready_and_shows_its_figures(
    wallet: Process, store: RedisStore, tmp_path: Path
) -> None:
    port = free_port()
    wallet.start(BRELAN_HTTP_PORT=str(port), BRELAN_AUDIT_SECONDS="0.2")
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:

        async def is_ready() -> bool:
            with contextlib.suppress(httpx2.HTTPError):
                return (await http.get("/readyz")).status_code == 200
            return False

        await until(is_ready, 30)
        await ask(store, Deposit("d1", "ana", 100, "tests"), BuyIn("b1", A, "zoe", 10))

        async def is_counted() -> bool:
            metrics = (await http.get("/metrics")).text
            return 'brelan_wallet_transfers_total{kind="buy_in",outcome="declined"} 1.0' in metrics

        await until(is_counted)
        assert "brelan_ledger_imbalance_minor_units 0.0" in (await http.get("/metrics")).text
        assert json.loads((await http.get("/readyz")).text)["ready"]
    assert wallet.end(signal.SIGTERM)[0] == 0


async def test_a_database_that_cannot_be_used_is_said_in_a_sentence(wallet: Process) -> None:
    wallet.start(BRELAN_SQL_URL="mysql://ana:secret@nowhere/brelan")
    code, said = wallet.wait()
    assert code == 1
    assert "BRELAN_SQL_URL names mysql" in said
    assert "Traceback" not in said
    assert "secret" not in said
