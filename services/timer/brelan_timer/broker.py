"""Handing tasks to Celery from an event loop. Celery's client blocks, so it works in a thread of its own."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from celery import Celery
from celery.exceptions import OperationalError

from brelan.telemetry import metrics
from brelan_timer.celery_app import EXPIRE_TURNS
from brelan_timer.sweeper import BrokerUnavailable, Due

Answer = TypeVar("Answer")


class Broker:
    def __init__(self, app: Celery) -> None:
        self.app = app
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="broker")
        self._expire_turns = app.tasks[EXPIRE_TURNS]
        self._dispatched = metrics.celery_tasks_dispatched.labels(EXPIRE_TURNS)

    async def hand_out(self, shard: str, due: Sequence[Due], now_ms: int) -> None:
        """Raises BrokerUnavailable: it may have been handed out all the same."""
        arguments = (shard, [list(one) for one in due], now_ms)
        await self._ask(lambda: self._expire_turns.apply_async(arguments, retry=False))
        self._dispatched.inc()

    async def ping(self) -> None:
        """Raises OSError when the broker does not answer."""
        try:
            await self._ask(self._connect)
        except BrokerUnavailable as error:
            raise OSError(str(error)) from error

    def _connect(self) -> None:
        with self.app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1)

    async def _ask(self, call: Callable[[], Answer]) -> Answer:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except (OperationalError, OSError) as error:
            raise BrokerUnavailable(f"Celery's broker cannot be reached: {error}") from error

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.app.close()
