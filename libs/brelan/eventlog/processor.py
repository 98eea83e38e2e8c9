"""The runtime of a service that turns entries into entries (table, dealer): one handler on one shard.

A handler decides; the processor reads, commits, fences, retries and buries what cannot be handled::

    class Greeter:
        service = Service.TABLE

        def inboxes(self, shard): return (keys.commands(shard),)

        async def load(self, log):                  # after the fence: read snapshots and logs, forget the rest
            self.greeted = self.staged = len(await log.hash_all(keys.tables(log.shard)))

        async def prepare(self, log, entries): ...  # I/O that these entries need

        def handle(self, entries, now_ms):          # pure: starts from what was committed last, every time
            outputs, self.staged = Outputs(), self.greeted
            for entry in entries:
                self.staged += 1
                outputs.append(keys.feed("s00"), b"hello " + entry.data)
            return outputs

        def committed(self): self.greeted = self.staged
        def discard(self): self.greeted = self.staged = 0
        def housekeeping(self, now_ms): return None

    await Processor(log, Greeter()).run(stop)

``step`` does one thing at a time, so a simulator can crash a processor between any two. ``worker.ShardWorker`` runs one
for every shard it owns. Who stands where: ARCHITECTURE §1.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Protocol, assert_never, runtime_checkable

import msgspec
import structlog

from brelan.eventlog import keys
from brelan.eventlog.dead import DeadEntry, encode_dead
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Attempt, BadCommit, Commit, Entry, Log, LogUnavailable, Outcome
from brelan.eventlog.outputs import Outputs
from brelan.telemetry import metrics

__all__ = ["Handler", "Outputs", "Poisonable", "Processor", "Step", "StepResult", "Undecodable"]

BATCH = 256  # entries of each inbox in one commit
BLOCK_MS = 500  # longest wait for entries: also how long a stop can take
HOUSEKEEPING_MS = 500
SUSPICIOUS_TAKEOVERS = 3  # more than these without progress: entries are tried one by one
ALONE = 3  # deaths of a worker with the same single entry in hand: the entry is dead
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds between tries while the store is away

logger = structlog.get_logger(__name__)


class Undecodable(Exception):
    """Raised by a handler: these bytes are no message it knows. The entry is put on the dead stream."""


class Handler(Protocol):
    """What a service decides on one shard. Only ``load`` and ``prepare`` do I/O, and they only read."""

    @property
    def service(self) -> Service: ...

    def inboxes(self, shard: str) -> tuple[str, ...]:
        """Streams to consume, in the order in which a batch is handled."""

    async def load(self, log: Log) -> None:
        """Build the state of the shard from the log; whatever was known before is worthless."""

    async def prepare(self, log: Log, entries: Sequence[Entry]) -> None:
        """Read what these entries need that is not in memory yet."""

    def handle(self, entries: Sequence[Entry], now_ms: int) -> Outputs:
        """Decide, from the state last committed. May be called again for the same entries, or for some of them.

        Raises Undecodable or anything else for an entry that cannot be handled: the entries are then tried one by one,
        and the guilty one is buried.
        """

    def housekeeping(self, now_ms: int) -> Outputs | None:
        """About twice a second, also when nothing comes in: heartbeats, waits that ran out, trimming."""

    def committed(self) -> None:
        """What ``handle``, ``housekeeping`` or ``poisoned`` decided last is now in the log: adopt it."""

    def discard(self) -> None:
        """Forget everything: somebody else wrote, or it is unknown what was written. ``load`` follows."""


@runtime_checkable
class Poisonable(Protocol):
    """A handler that answers for an entry that is buried: freezes its table, refuses the command."""

    def poisoned(self, entry: Entry, error: str) -> Outputs: ...


class Step(Enum):
    """What a processor does next."""

    FENCE = "fence"
    LOAD = "load"
    READ = "read"
    NOTE = "note"  # that this entry is tried alone
    PREPARE = "prepare"
    HANDLE = "handle"
    HOUSEKEEPING = "housekeeping"
    COMMIT = "commit"


class StepResult(msgspec.Struct, frozen=True):
    """What one step did. With an ``error`` the outside world is at fault: pause before the next one."""

    step: Step
    entries: int = 0
    outcome: Outcome | None = None
    error: str = ""


class Work(msgspec.Struct):
    """A commit being made: of which entries, and with what."""

    entries: Sequence[Entry] = ()
    outputs: Outputs | None = None
    commit: Commit | None = None
    attempt: Attempt | None = None


class Processor:
    """One handler on one shard. Make a new one, with a new handler, after it raised."""

    def __init__(
        self,
        log: Log,
        handler: Handler,
        *,
        name: str | None = None,
        batch: int = BATCH,
        block_ms: int = BLOCK_MS,
        housekeeping_ms: int = HOUSEKEEPING_MS,
    ) -> None:
        """``name`` makes the nonces: no two processors may share one. A simulator chooses it, for equal seeds."""
        self.next = Step.FENCE
        self.shard = log.shard
        self._log = log
        self._handler = handler
        self._inboxes = handler.inboxes(log.shard)
        self._nonces = _nonces(name or secrets.token_hex(8))
        self._batch = batch
        self._block_ms = block_ms
        self._housekeeping_ms = housekeeping_ms
        self._number = 0
        self._cursors: dict[str, str] = {}
        self._attempt: Attempt | None = None
        self._careful = 0  # entries still to be tried one by one
        self._alone: deque[Entry] = deque()  # of a batch that raised
        self._work = Work()
        self._now_ms = 0
        self._housekeeping_due_ms = 0
        self._taking_over_since = 0.0
        self._metrics = _Metrics(handler.service)
