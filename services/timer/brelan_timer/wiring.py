"""Everything the timer is made of, on one screen: three roles, each a process, or all of them for a small room."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import open_store
from brelan.telemetry.health import Health
from brelan.telemetry.service import Main, Running, StartError
from brelan_timer.broker import Broker
from brelan_timer.celery_app import make_app
from brelan_timer.children import Children
from brelan_timer.consumer import Beat, Worker
from brelan_timer.settings import TimerSettings
from brelan_timer.sweeper import Backlog, Sweeper

HEALTH_SECONDS = 0.25
BROKER_SECONDS = 2.0


async def sweep(running: Running[TimerSettings]) -> None:
    """Finds what is due and hands it to Celery."""
    async with _broker(running) as broker:
        store = open_store(running.settings)
        try:
            if await running.until_log_answers(store, Service.TIMER):
                backlog, shards = Backlog(), running.settings.shard_names
                sweepers = [Sweeper(store.log(shard), broker.hand_out, backlog) for shard in shards]
                async with _meanwhile(_watch(sweepers, running.health), _watch_broker(broker, running.health)):
                    await asyncio.gather(*(sweeper.run(running.stop) for sweeper in sweepers))
        finally:
            await store.close()


async def work(running: Running[TimerSettings]) -> None:
    """Celery's worker: carries out what is handed to it."""
    async with _broker(running) as broker:
        if await running.until_answers("broker", broker.ping):
            worker = Worker(broker.app)
            await worker.thread.run(
                running.stop, lambda: running.health.ready("broker", worker.consuming, "not consuming from the broker")
            )


async def beat(running: Running[TimerSettings]) -> None:
    """Celery's beat: the periodic work."""
    async with _broker(running) as broker:
        if await running.until_answers("broker", broker.ping):
            async with _meanwhile(_watch_broker(broker, running.health)):
                await Beat(broker.app).thread.run(running.stop)


async def everything(running: Running[TimerSettings]) -> None:
    """The sweeper, with worker and beat as child processes."""
    async with Children(running.health, "worker", "beat"):
        await sweep(running)


ROLES: dict[str, Main[TimerSettings]] = {"sweeper": sweep, "worker": work, "beat": beat, "all": everything}


@contextlib.asynccontextmanager
async def _broker(running: Running[TimerSettings]) -> AsyncIterator[Broker]:
    if not running.settings.broker_url:
        raise StartError(
            "BRELAN_BROKER_URL is missing: the timer needs a Redis of Celery's own, as redis://broker:6379/0."
        )
    broker = Broker(make_app(running.settings))
    try:
        yield broker
    finally:
        broker.close()


@contextlib.asynccontextmanager
async def _meanwhile(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Goes on until the block ends."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _watch(sweepers: list[Sweeper], health: Health) -> None:
    while True:
        trouble = "; ".join(sorted({sweeper.trouble for sweeper in sweepers if sweeper.trouble}))
        health.ready("sweeping", not trouble, trouble)
        await asyncio.sleep(HEALTH_SECONDS)


async def _watch_broker(broker: Broker, health: Health) -> None:
    while True:
        try:
            await broker.ping()
        except OSError as error:
            health.ready("broker", False, str(error))
        else:
            health.ready("broker", True)
        await asyncio.sleep(BROKER_SECONDS)
