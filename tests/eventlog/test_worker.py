"""Workers share shards evenly, hand them over, and replace each other."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable

import pytest

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Entry, Log, LogUnavailable, Store
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.worker import ShardWorker, quota
from brelan.telemetry.health import Health
from tests.eventlog.counting import Counting

SHARDS = [f"s{number:02d}" for number in range(5)]
LEASE_MS = 200


class Crew:
    """Workers on one store, that can be started, stopped and killed."""

    def __init__(self, store: Store, handler: Callable[[str], Counting]) -> None:
        self.store = store
        self._handler = handler
        self.workers: dict[str, ShardWorker] = {}
        self._running: dict[str, tuple[asyncio.Event, asyncio.Task[None]]] = {}

    def start(self, name: str, health: Health | None = None) -> ShardWorker:
        worker = ShardWorker(
            self.store, Service.TABLE, SHARDS, self._handler, name=name, lease_ms=LEASE_MS, health=health
        )
        stop = asyncio.Event()
        self.workers[name] = worker
        self._running[name] = stop, asyncio.create_task(worker.run(stop))
        return worker

    async def stop(self, name: str) -> None:
        stop, running = self._running.pop(name)
        stop.set()
        await running
        del self.workers[name]

    async def kill(self, name: str) -> None:
        """It gives nothing back: only time shows that it is gone."""
        _, running = self._running.pop(name)
        worker = self.workers.pop(name)
        store = worker._store
        worker._store = Gone(store)  # type: ignore[assignment]
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    async def stop_all(self) -> None:
        await asyncio.gather(*[self.stop(name) for name in list(self._running)])

    async def settled(self, *sizes: int) -> None:
        """Every shard has one owner, and so many shards each worker."""
        async with asyncio.timeout(5):
            while True:
                owned = [shard for worker in self.workers.values() for shard in worker.owned]
                sizes_now = sorted(len(worker.owned) for worker in self.workers.values())
                if sorted(owned) == SHARDS and sizes_now == sorted(sizes):
                    return
                await asyncio.sleep(0.01)


class Gone:
    """The store, of a worker that was killed."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def withdraw(self, service: Service, worker: str) -> None:
        """The dead do not say goodbye."""


@pytest.fixture
async def crew() -> AsyncIterator[Crew]:
    made = Crew(MemoryStore(), Counting)
    yield made
    await made.stop_all()


@pytest.mark.parametrize(("shards", "workers"), [(16, 1), (16, 3), (5, 2), (2, 5), (16, 16)])
def test_quotas_are_even_and_complete(shards: int, workers: int) -> None:
    quotas = [quota(shards, workers, rank) for rank in range(workers)]
    assert sum(quotas) == shards
    assert max(quotas) - min(quotas) <= 1


async def test_one_worker_takes_everything(crew: Crew) -> None:
    crew.start("a")
    await crew.settled(5)


async def test_a_new_worker_gets_its_share(crew: Crew) -> None:
    crew.start("a")
    await crew.settled(5)
    crew.start("b")
    await crew.settled(3, 2)
    crew.start("c")
    await crew.settled(2, 2, 1)


async def test_one_that_stops_hands_over(crew: Crew) -> None:
    crew.start("a")
    crew.start("b")
    await crew.settled(3, 2)
    await crew.stop("a")
    await crew.settled(5)


async def test_one_that_dies_is_replaced(crew: Crew) -> None:
    crew.start("a")
    crew.start("b")
    await crew.settled(3, 2)
    await crew.kill("a")
    await crew.settled(5)


async def test_more_workers_than_shards(crew: Crew) -> None:
    for name in "abcdefg":
        crew.start(name)
    await crew.settled(1, 1, 1, 1, 1, 0, 0)
    await crew.stop("a")
    await crew.settled(1, 1, 1, 1, 1, 0)


async def fed(log: Log, count: int) -> list[Entry]:
    """The feed, when so many entries are there."""
    entries: list[Entry] = []
    async with asyncio.timeout(8):
        while len(entries) < count:
            entries += await log.read({keys.feed("s00"): entries[-1].id if entries else BEGINNING}, 100, 100)
    return entries


async def test_entries_are_handled_once_while_shards_move(crew: Crew) -> None:
    log = crew.store.log("s00")

    async def command() -> None:
        for number in range(60):
            await log.append(keys.commands("s00"), b"%d" % number)
            await asyncio.sleep(0.02)

    commanding = asyncio.create_task(command())
    crew.start("a")
    for name, other in (("b", "a"), ("c", "b"), ("d", "c")):
        await asyncio.sleep(0.2)
        crew.start(name)
        await crew.kill(other)
    await commanding
    entries = await fed(log, 60)
    counted = Counter(entry.data.split(b": ")[1] for entry in entries)
    assert counted == {b"%d" % number: 1 for number in range(60)}


async def test_a_processor_that_crashes_is_started_again() -> None:
    tries = 0

    class Fragile(Counting):
        async def load(self, log: Log) -> None:
            nonlocal tries
            tries += 1
            if tries == 1:
                raise RuntimeError("a bug")
            await super().load(log)

    crew = Crew(MemoryStore(), Fragile)
    crew.start("a")
    await crew.settled(5)
    await crew.store.log("s00").append(keys.commands("s00"), b"x")
    await fed(crew.store.log("s00"), 1)
    await crew.stop_all()
    assert tries == 6


async def test_says_when_it_is_ready(crew: Crew) -> None:
    health = Health("table")
    crew.start("a", health)
    await asyncio.sleep(0)
    assert "shards" in health.reasons
    await crew.settled(5)
    await asyncio.sleep(0.15)
    assert not health.reasons


async def test_a_store_that_is_away_is_no_reason_to_stop(crew: Crew) -> None:
    worker = crew.start("a")
    await crew.settled(5)
    announce = crew.store.announce

    async def away(service: Service, worker: str, ttl_ms: int) -> list[str]:
        raise LogUnavailable("connection refused")

    crew.store.announce = away  # type: ignore[method-assign]
    await asyncio.sleep(0.3)
    assert worker.owned == tuple(SHARDS)
    crew.store.announce = announce  # type: ignore[method-assign]
    await crew.settled(5)
