"""Celery's worker and beat as threads of a service, so that health, metrics, logs and signals are like everybody's.

Celery's own programs bring their own; what they run, ``WorkController`` and ``beat.Service``, is the same here.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from celery import Celery
from celery.beat import Service as BeatService
from celery.worker import state

POLL_SECONDS = 0.2

for _chatty in ("celery.worker.strategy", "celery.app.trace", "celery.beat"):  # a line or two for every task
    logging.getLogger(_chatty).setLevel(logging.WARNING)


class CeleryThread:
    """Runs until it is told to stop. Ends by itself only when something is broken."""

    def __init__(self, name: str, start: Callable[[], None], stop: Callable[[], None]) -> None:
        self._name = name
        self._start = start
        self._stop = stop
        self._error: BaseException | None = None

    async def run(self, stop: asyncio.Event, meanwhile: Callable[[], None] = lambda: None) -> None:
        """``meanwhile`` is called some times a second. Raises RuntimeError when it ended by itself."""
        ended = asyncio.Event()
        target = partial(self._run, asyncio.get_running_loop(), ended)
        threading.Thread(target=target, name=self._name, daemon=True).start()
        while not stop.is_set() and not ended.is_set():
            meanwhile()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), POLL_SECONDS)
        if not stop.is_set():
            raise RuntimeError(f"{self._name} has ended by itself") from self._error
        self._stop()
        await ended.wait()

    def _run(self, loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
        try:
            self._start()
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            self._error = error
        with contextlib.suppress(RuntimeError):  # nobody waits any more
            loop.call_soon_threadsafe(ended.set)


class Worker:
    """Celery's worker."""

    def __init__(self, app: Celery) -> None:
        self._worker: Any = app.WorkController(
            pool="threads",
            concurrency=app.conf.worker_concurrency,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        self.thread = CeleryThread("Celery's worker", self._worker.start, _stop_worker)

    @property
    def consuming(self) -> bool:
        consumer: Any = getattr(self._worker, "consumer", None)
        connection: Any = getattr(consumer, "connection", None)
        return bool(connection is not None and connection.connected and consumer.task_consumer is not None)


def _stop_worker() -> None:
    """Its loop looks at this at least once a second."""
    state.should_stop = 0


class Beat:
    """Celery's beat."""

    def __init__(self, app: Celery) -> None:
        service = BeatService(app, scheduler_cls=app.conf.beat_scheduler)
        self.thread = CeleryThread("Celery's beat", service.start, service.stop)
