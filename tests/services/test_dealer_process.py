"""The dealer as a process on a real server: killed again and again it deals every hand once, from one deck each."""

import asyncio
import re
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis

from brelan.deck.keys import DEALER_DECK, GATEWAY_HOLE_PUBLIC, ensure_keys, load_record_opener
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Log
from brelan.eventlog.redis_log import RedisStore
from brelan.events.envelope import decode_sealed_record
from tests.processes import clean_environment, start, wait_until
from tests.services.dealer_room import SHARD, TABLE, FeedWriter, dealt, draw_hand, stud_hand

pytestmark = [pytest.mark.redis, pytest.mark.timeout(120)]

SEATS = (1, 2, 3, 4, 5)


class Process:
    """``python -m brelan_dealer``."""

    def __init__(self, redis_url: str, data: Path) -> None:
        room = {"BRELAN_REDIS_URL": redis_url, "BRELAN_DATA": str(data), "BRELAN_HTTP_PORT": "0"}
        self._env = {**clean_environment(), **room, "BRELAN_SHARDS": "1"}
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "brelan_dealer"]
        self._process = start(command, env=self._env, stderr=subprocess.PIPE)

    def end(self, number: signal.Signals | None = None) -> tuple[int, str]:
        """Its exit code, and what it had to say. Without a signal it ends by itself."""
        assert self._process is not None
        if number is not None:
            self._process.send_signal(number)
        _, said = self._process.communicate(timeout=20)
        code, self._process = self._process.returncode, None
        return code, said

    def close(self) -> None:
        if self._process is not None:
            self.end(signal.SIGKILL)


@pytest.fixture
def dealer(redis_url: str, tmp_path: Path) -> Iterator[Process]:
    process = Process(redis_url, tmp_path)
    yield process
    process.close()


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisStore]:
    store = RedisStore(redis_url)
    await store.read(SHARD, "HSET", keys.tables(SHARD), TABLE, b"")
    yield store
    await store.close()


async def test_killed_again_and_again(dealer: Process, store: RedisStore, tmp_path: Path) -> None:
    """Hands keep coming; each life of the dealer ends in the middle of one."""
    folder = ensure_keys(tmp_path)
    table, log = FeedWriter(store), store.log(SHARD)
    asked, played = asyncio.Event(), 0

    async def ask() -> None:
        nonlocal played
        while not asked.is_set():
            played += 1
            for events in stud_hand(played, SEATS) if played % 2 else draw_hand(played, SEATS):
                await table.commit(*events)
                await asyncio.sleep(0.001)

    asking = asyncio.create_task(ask())
    for _ in range(4):
        before = len(await log.range(keys.records(SHARD)))
        dealer.start()
        await until(log, before + 5)
        dealer.end(signal.SIGKILL)
        await store.read(SHARD, "DEL", keys.lease(SHARD, Service.DEALER))  # it would run out by itself
    asked.set()
    await asking
    dealer.start()
    await until(log, played)
    code, _ = dealer.end(signal.SIGTERM)
    assert code == 0
    open_record = load_record_opener(folder)
    records = [open_record(decode_sealed_record(entry.data)) for entry in await log.range(keys.records(SHARD))]
    assert [record.hand_id for record in records] == [f"{TABLE}-1-{number}" for number in range(1, played + 1)]
    for record in records:
        held = [card for seat in record.seats for card in seat.cards]
        assert len(set(held)) == len(held)
    answers = [answer.request_id for answer in await dealt(log)]
    assert len(set(answers)) == len(answers)
    assert not await log.range(keys.dead(SHARD, Service.DEALER))


async def until(log: Log, records: int) -> None:
    deadline = asyncio.get_running_loop().time() + 40
    while len(await log.range(keys.records(SHARD))) < records:
        assert asyncio.get_running_loop().time() < deadline, f"no {records} hands in time"
        await asyncio.sleep(0.05)


def test_without_keys_it_says_how_to_make_them(dealer: Process) -> None:
    dealer.start()
    code, said = dealer.end()
    assert code == 1
    assert f"{DEALER_DECK.name} is missing. `brelan keys` makes it." in said
    assert "Traceback" not in said


def test_it_leaves_no_core_dump(dealer: Process, tmp_path: Path) -> None:
    ensure_keys(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))  # it comes with as much as this machine allows
    dealer.start()
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    assert dealer._process is not None
    limits = Path(f"/proc/{dealer._process.pid}/limits")
    wait_until(
        lambda: re.search(r"^Max core file size +0 +0 ", limits.read_text(), re.MULTILINE), 20, "core dumps to be off"
    )
    assert dealer.end(signal.SIGSEGV)[0] == -signal.SIGSEGV


def test_it_needs_nobodys_private_key(dealer: Process, tmp_path: Path, store: RedisStore, redis_url: str) -> None:
    """Public keys and its own seal are all it is given."""
    folder = ensure_keys(tmp_path)
    for name in ("gateway-hole.key", "history.key", "auditor.key", "gateway-token.pem"):
        (folder / name).unlink()
    dealer.start()
    with redis.Redis.from_url(redis_url) as client:
        wait_until(lambda: client.exists(keys.lease(SHARD, Service.DEALER)), 40, "it serves the shard")
    assert dealer.end(signal.SIGTERM)[0] == 0
    (folder / GATEWAY_HOLE_PUBLIC.name).unlink()
    dealer.start()
    assert "gateway-hole.pub is missing" in dealer.end()[1]
