"""Commands on their way to one shard's tables, and who waits for their answers.

Commands are appended in batches, in order, by one writer. When the store does not say whether it has a batch, the batch
is sent again: a command id that a table knows gets the same answer, and nothing happens twice.
"""

import asyncio
import itertools
import time
from collections.abc import Callable

import msgspec
import structlog

from brelan.eventlog import failpoints, keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Log, LogUnavailable
from brelan.events.envelope import GatewayAlive, PlayerCommanded, TailLost, encode
from brelan.telemetry import metrics
from brelan_gateway import refusals

logger = structlog.get_logger(__name__)

BATCH = 256
WAITING_LIMIT = 4_096  # commands not yet appended
LOST_AFTER = 4  # times as long as makes a shard busy: such an answer is not waited for any more
LARGEST_NUMBER = 2**53  # in a command: beyond it JavaScript's numbers have gaps, and no amount is that large
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds
HEARTBEAT_SECONDS = 0.5

CommandKey = tuple[str, str, str]  # table, player, command id


class Answer(msgspec.Struct, frozen=True):
    """``version`` of the entry that accepted it; 0 when it was refused, with a code and a sentence."""

    version: int
    code: str = ""
    message: str = ""


Waiter = Callable[[Answer], None]


class Waiting:
    """A command without its answer. ``arrived``: when its client sent it, in seconds of the monotonic clock.

    ``first`` and ``last``: which of the commands sent from here it was, when it was sent first and last.
    """

    __slots__ = ("arrived", "first", "last", "waiters")

    def __init__(self, arrived: float, number: int) -> None:
        self.arrived = arrived
        self.first = self.last = number
        self.waiters: list[Waiter] = []


class Inbox:
    def __init__(self, log: Log, gateway: str, busy_after_ms: int) -> None:
        self.gateway = gateway
        self._log = log
        self._busy_after_seconds = busy_after_ms / 1000
        self._stream = keys.commands(log.shard)
        self._outgoing: list[bytes] = []
        self._wake = asyncio.Event()
        self._sent = 0
        self._waiting: dict[CommandKey, Waiting] = {}  # in the order they were first sent

    # --- commands ----------------------------------------------------------------------------------------------

    def send(self, command: PlayerCommanded, arrived: float, waiter: Waiter) -> None:
        """``waiter`` is called once, when the answer comes. Raises Refusal: then nothing is sent."""
        data = _encoded(command)
        key = (command.table_id, command.player_id, command.command_id)
        waiting = self._waiting.get(key)
        if waiting is None:
            if self._behind(arrived):
                raise refusals.busy()
            waiting = self._waiting[key] = Waiting(arrived, self._sent)
        waiting.waiters.append(waiter)
        waiting.last = self._sent
        self._sent += 1
        self._append(data)

    def report(self, lost: TailLost) -> None:
        """What this gateway has seen is not there any more."""
        self._append(encode(lost))

    def arrived(self, key: CommandKey) -> float | None:
        """When the command came in, if it came in here and is not answered yet."""
        waiting = self._waiting.get(key)
        return waiting.arrived if waiting else None

    def answered(self, key: CommandKey, answer: Answer) -> None:
        waiting = self._waiting.get(key)
        if waiting is None:
            return
        self._forget_lost(key, waiting.first)
        del self._waiting[key]
        metrics.action_to_ack_seconds.observe(time.monotonic() - waiting.arrived)
        for waiter in waiting.waiters:
            waiter(answer)

    def _forget_lost(self, answered: CommandKey, first: int) -> None:
        """A shard answers in the order of its commands: whatever was sent for the last time before this one and has no
        answer was lost on the way. Its client asks again; it is no measure for how far behind the shard is."""
        before = itertools.takewhile(lambda key: key != answered, self._waiting)
        for key in [key for key in before if self._waiting[key].last < first]:
            del self._waiting[key]

    def _behind(self, now: float) -> bool:
        if len(self._outgoing) >= WAITING_LIMIT:
            return True
        self._forget_old(now)
        oldest = next(iter(self._waiting.values()), None)
        return oldest is not None and now - oldest.arrived > self._busy_after_seconds

    def _forget_old(self, now: float) -> None:
        """Nothing that comes after a lost command would ever be sent if it counted for ever: its answer never comes,
        and everybody else is told that the shard is busy."""
        lost_before = now - LOST_AFTER * self._busy_after_seconds
        old = itertools.takewhile(lambda key: self._waiting[key].arrived < lost_before, self._waiting)
        for key in list(old):
            del self._waiting[key]

    def _append(self, data: bytes) -> None:
        self._outgoing.append(data)
        self._wake.set()

    # --- the writer --------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop``, and until what was taken by then is written."""
        async with asyncio.TaskGroup() as tasks:
            heartbeat = tasks.create_task(self._beat())
            tasks.create_task(self._wake_at(stop))
            while not (stop.is_set() and not self._outgoing):
                await self._wake.wait()
                self._wake.clear()
                await self._write()
            heartbeat.cancel()

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    async def _write(self) -> None:
        while batch := self._outgoing[:BATCH]:
            pause = FIRST_PAUSE
            while True:
                try:
                    failpoints.reach(Service.GATEWAY, "append:before")
                    appending = asyncio.shield(self._log.append_many(self._stream, batch))
                    await failpoints.inside(Service.GATEWAY, "append:inside", appending)
                    failpoints.reach(Service.GATEWAY, "append:after")
                except LogUnavailable as error:
                    metrics.store_errors.labels("gateway").inc()
                    logger.warning("commands cannot be sent", shard=self._log.shard, reason=str(error))
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, LONGEST_PAUSE)
                else:
                    del self._outgoing[: len(batch)]
                    break

    async def _beat(self) -> None:
        """ARCHITECTURE §7: while no gateway is heard, no clock is enforced."""
        alive = encode(GatewayAlive(self.gateway))
        while True:
            if len(self._outgoing) < BATCH:  # else the store is away
                self._append(alive)
            await asyncio.sleep(HEARTBEAT_SECONDS)


def _encoded(command: PlayerCommanded) -> bytes:
    """Raises Refusal for numbers and texts that no command means."""
    try:
        data = encode(command)
    except (OverflowError, UnicodeEncodeError):
        raise refusals.out_of_range() from None
    if not _in_range(msgspec.to_builtins(command.command)):
        raise refusals.out_of_range()
    return data


def _in_range(value: object) -> bool:
    match value:
        case int():
            return abs(value) <= LARGEST_NUMBER
        case dict():
            return all(map(_in_range, value.values()))
        case tuple() | list():
            return all(map(_in_range, value))
        case _:
            return True
