"""The sweeper: finds what is due on a shard, by the clock of that shard's store, and has it handed out. ADR 0003.

What has been handed out it remembers here, and nowhere else, until the table has moved its deadline. What is still due
a second later is handed out again, then after two, four and eight: the task, its worker or the broker was lost, or the
table's owner is away. A sweeper that dies forgets, and the next one hands out again what is still due.
"""

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import structlog

from brelan.eventlog import failpoints, keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Log, LogUnavailable
from brelan.telemetry import metrics

FRESH_AT_ONCE = 1_000  # deadlines looked at beyond those that are handed out already
CHUNK = 200  # deadlines in one task
AGAIN_MS = 1_000
MOST_DOUBLINGS = 3
LONGEST_WAIT_MS = 50  # a new deadline is found at the latest after this
LOOK_AHEAD_MS = 60  # so that a sweep knows when to be back
TICK_SECONDS = 0.02  # shards are swept together, what they ask goes out together, tasks come in handfuls
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds between tries while the store or the broker is away

Due = tuple[str, int]  # table, deadline in ms
HandOut = Callable[[str, Sequence[Due], int], Awaitable[None]]  # shard, deadlines, the store's time in ms

logger = structlog.get_logger(__name__)


class BrokerUnavailable(Exception):
    """Celery cannot be handed anything now."""


class Handed(msgspec.Struct, frozen=True):
    at_ms: int
    times: int = 1

    @property
    def again_ms(self) -> int:
        return self.at_ms + (AGAIN_MS << min(self.times - 1, MOST_DOUBLINGS))


class Backlog:
    """The timer's inbox: what is due on the shards of this process and has had no effect yet."""

    def __init__(self) -> None:
        self._waiting: dict[str, int] = {}
        self._late_ms: dict[str, int] = {}
        self._entries = metrics.inbox_waiting_entries.labels(Service.TIMER.value)
        self._lag = metrics.inbox_lag_seconds.labels(Service.TIMER.value)

    def note(self, shard: str, waiting: int, late_ms: int) -> None:
        if waiting == 0 == self._waiting.get(shard):
            return
        self._waiting[shard], self._late_ms[shard] = waiting, late_ms
        self._entries.set(sum(self._waiting.values()))
        self._lag.set(max(self._late_ms.values()) / 1000)


class Sweeper:
    """One shard."""

    def __init__(self, log: Log, hand_out: HandOut, backlog: "Backlog | None" = None) -> None:
        """``backlog``: shared by all shards of a process."""
        self.trouble = "not swept yet"  # why nothing is enforced; "" when all is well
        self._log = log
        self._key = keys.deadlines(log.shard)
        self._hand_out = hand_out
        self._backlog = backlog or Backlog()
        self._handed: dict[Due, Handed] = {}
        self._now_ms = 0  # the store's time at the last look ...
        self._looked_at = math.inf  # ... and ours

    async def run(self, stop: asyncio.Event) -> None:
        pause = FIRST_PAUSE
        while not stop.is_set():
            try:
                wait, pause = await self.sweep() / 1000, FIRST_PAUSE
                self._say("")
            except (LogUnavailable, BrokerUnavailable) as error:
                self._say(str(error))
                wait, pause = pause, min(pause * 2, LONGEST_PAUSE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _until_tick(wait))

    def _say(self, trouble: str) -> None:
        if trouble and trouble != self.trouble:
            logger.warning("deadlines cannot be enforced", shard=self._log.shard, reason=trouble)
        self.trouble = trouble

    async def sweep(self) -> int:
        """Hand out what is due; the milliseconds until the next sweep. Raises LogUnavailable, BrokerUnavailable."""
        found, now_ms = await self._look()
        due = [one for one in found if one[1] <= now_ms]  # our own clock never decides this
        await self._enforce(due, now_ms)
        soon = found[len(due)][1] - now_ms if len(due) < len(found) else LONGEST_WAIT_MS
        return max(0, min(soon, LONGEST_WAIT_MS))

    async def _look(self) -> tuple[list[Due], int]:
        """What is due now or soon, and the store's time: in one round trip, so "soon" is reckoned from the last one."""
        loop = asyncio.get_running_loop()
        while True:
            ahead_ms = self._now_ms + int(1000 * max(0.0, loop.time() - self._looked_at)) + LOOK_AHEAD_MS
            found, self._now_ms = await asyncio.gather(
                self._log.due(self._key, ahead_ms, FRESH_AT_ONCE + len(self._handed)), self._log.now_ms()
            )
            self._looked_at = loop.time()
            if self._now_ms <= ahead_ms:
                return found, self._now_ms

    async def _enforce(self, due: Sequence[Due], now_ms: int) -> None:
        self._backlog.note(self._log.shard, len(due), now_ms - due[0][1] if due else 0)
        self._handed = {one: self._handed[one] for one in due if one in self._handed}  # the others had their effect
        waiting = [one for one in due if one not in self._handed or self._handed[one].again_ms <= now_ms]
        for start in range(0, len(waiting), CHUNK):
            chunk = waiting[start : start + CHUNK]
            failpoints.reach(Service.TIMER, "hand_out:before")
            await self._hand_out(self._log.shard, chunk, now_ms)
            failpoints.reach(Service.TIMER, "hand_out:after")
            for one in chunk:
                before = self._handed.get(one)
                self._handed[one] = Handed(now_ms, before.times + 1 if before else 1)
                (metrics.deadlines_redispatched if before else metrics.deadlines_dispatched).inc()


def _until_tick(wait: float) -> float:
    """So long that at least ``wait`` has passed, and all shards wake up together."""
    now = asyncio.get_running_loop().time()
    return max(0.0, math.ceil((now + wait) / TICK_SECONDS) * TICK_SECONDS - now)
