"""A worker of one service: takes shards by lease, spread evenly among the workers that live, and serves them.

Leases save work and guard nothing: correctness is the fence's. A worker that stops finishes its batches, gives its
leases back, and the next one goes on from the cursors. One that dies is replaced when its leases have run out.
"""

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from functools import partial

import structlog

from brelan.eventlog.keys import Service
from brelan.eventlog.log import Log, LogUnavailable, Store
from brelan.eventlog.processor import Handler, Processor, Step
from brelan.telemetry import metrics
from brelan.telemetry.health import Health

LEASE_MS = 2_000  # how long a dead worker's shards wait for the next one
ROUNDS_PER_LEASE = 4
SETTLING_SECONDS = 0.05  # between rounds while shards are being loaded, or waited for
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds before a crashed processor is started again

logger = structlog.get_logger(__name__)


def worker_name() -> str:
    """``"host-4711-a1b2c3"``."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


def quota(shards: int, workers: int, rank: int) -> int:
    """How many shards the worker of this rank owns when all is settled."""
    return shards // workers + (rank < shards % workers)


class Serving:
    """A shard that this worker owns."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.stop = asyncio.Event()
        self.processor: Processor | None = None
        self.running: asyncio.Task[None] | None = None  # the processor
        self.task: asyncio.Task[None] | None = None  # one after the other

    def give_back(self) -> None:
        """After the batch in hand. One that only waits for entries need not wait any longer."""
        self.stop.set()
        if self.processor and self.running and self.processor.next is Step.READ and self.processor.at_rest:
            self.running.cancel()

    @property
    def loaded(self) -> bool:
        return self.processor is not None and self.processor.loaded


class ShardWorker:
    """``handler`` makes the handler of a shard: a new one at every start of its processor."""

    def __init__(
        self,
        store: Store,
        service: Service,
        shards: Sequence[str],
        handler: Callable[[str], Handler],
        *,
        health: Health | None = None,
        name: str | None = None,
        lease_ms: int = LEASE_MS,
    ) -> None:
        self.name = name or worker_name()
        self._store = store
        self._service = service
        self._shards = tuple(shards)
        self._handler = handler
        self._health = health
        self._lease_ms = lease_ms
        self._serving: dict[str, Serving] = {}
        self._owned_shards = metrics.owned_shards.labels(service.value)
        self._crashes = metrics.processor_crashes.labels(service.value)

    @property
    def owned(self) -> tuple[str, ...]:
        return tuple(sorted(self._serving))

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop``; then everything is handed over."""
        self._say_ready("no shard asked for yet")
        try:
            while not stop.is_set():
                pause = await self._round()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), pause)
        except asyncio.CancelledError:
            for task in self._tasks:
                task.cancel()
            raise
        finally:
            await self._hand_over()

    async def _round(self) -> float:
        """Announce, renew, take, give back. The seconds to wait before the next one."""
        try:
            workers = await self._store.announce(self._service, self.name, self._lease_ms)
            await self._renew()
            rank = workers.index(self.name) if self.name in workers else 0
            wanted = quota(len(self._shards), len(workers), rank)
            self._give_back(len(self._working) - wanted)
            await self._take(wanted - len(self._working), rank * wanted)
        except LogUnavailable as error:  # the processors wait for themselves; the fence guards them
            logger.warning("leases cannot be renewed", reason=str(error))
            self._say_ready(str(error))
            return self._lease_ms / 1000 / ROUNDS_PER_LEASE
        self._owned_shards.set(len(self._serving))
        loading = [shard for shard, serving in self._serving.items() if not serving.loaded]
        self._say_ready(f"loading {', '.join(sorted(loading))}" if loading else "")
        waiting = len(self._working) < wanted  # for a shard that another worker is about to release
        return SETTLING_SECONDS if loading or waiting else self._lease_ms / 1000 / ROUNDS_PER_LEASE

    def _say_ready(self, missing: str) -> None:
        if self._health is not None:
            self._health.ready("shards", not missing, missing)

    @property
    def _tasks(self) -> list[asyncio.Task[None]]:
        return [serving.task for serving in self._serving.values() if serving.task is not None]

    @property
    def _working(self) -> list[str]:
        return [shard for shard, serving in self._serving.items() if not serving.stop.is_set()]

    async def _renew(self) -> None:
        owned = list(self._serving.items())
        leases = [serving.log.acquire_lease(self._service, self.name, self._lease_ms) for _, serving in owned]
        for (shard, serving), mine in zip(owned, await asyncio.gather(*leases), strict=True):
            if not mine:
                logger.warning("lease lost", shard=shard)
                serving.give_back()

    def _give_back(self, surplus: int) -> None:
        for shard in self._working[: max(0, surplus)]:
            self._serving[shard].give_back()

    async def _take(self, missing: int, first: int) -> None:
        """Take free shards, each worker beginning elsewhere."""
        for number in range(len(self._shards)):
            if missing <= 0:
                return
            shard = self._shards[(first + number) % len(self._shards)]
            if shard in self._serving:
                continue
            log = self._store.log(shard)
            if await log.acquire_lease(self._service, self.name, self._lease_ms):
                self._start(shard, log)
                missing -= 1

    def _start(self, shard: str, log: Log) -> None:
        logger.info("shard taken", shard=shard, worker=self.name)
        serving = self._serving[shard] = Serving(log)
        serving.task = asyncio.create_task(self._serve(shard, serving))

    async def _serve(self, shard: str, serving: Serving) -> None:
        """A processor after the other, until the shard is given back or lost."""
        try:
            await self._process(shard, serving)
        finally:
            self._serving.pop(shard, None)
        with contextlib.suppress(LogUnavailable):
            await serving.log.release_lease(self._service, self.name)
        logger.info("shard left", shard=shard, worker=self.name)

    async def _process(self, shard: str, serving: Serving) -> None:
        pause = FIRST_PAUSE
        while True:
            serving.processor = Processor(serving.log, self._handler(shard))
            still_mine = partial(self._still_mine, serving.log)
            serving.running = asyncio.create_task(serving.processor.run(serving.stop, still_mine))
            try:
                await serving.running
            except asyncio.CancelledError:
                if _is_cancelled():
                    raise
                return  # given back
            except Exception:
                self._crashes.inc()
                logger.exception("processor crashed", shard=shard, again_in_seconds=pause)
            else:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(serving.stop.wait(), pause)
            if serving.stop.is_set():
                return
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _still_mine(self, log: Log) -> bool:
        try:
            return await log.acquire_lease(self._service, self.name, self._lease_ms)
        except LogUnavailable:
            return True  # the fence will tell

    async def _hand_over(self) -> None:
        """Withdrawn first, so that the others wait for each shard when it is released."""
        for serving in self._serving.values():
            serving.give_back()
        with contextlib.suppress(LogUnavailable):
            await self._store.withdraw(self._service, self.name)
        if tasks := self._tasks:
            await asyncio.wait(tasks)
        self._owned_shards.set(0)


def _is_cancelled() -> bool:
    """This task, and not only the one that it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
