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
import contextlib
import itertools
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import Enum
from typing import Protocol, assert_never, runtime_checkable

import msgspec
import structlog

from brelan.eventlog import failpoints, keys
from brelan.eventlog.dead import dead_entry, encode_dead
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Attempt, BadCommit, Commit, Entry, Log, LogUnavailable, Outcome
from brelan.eventlog.outputs import Outputs
from brelan.eventlog.position import owner_of
from brelan.telemetry import metrics

__all__ = [
    "Distrusting",
    "Handler",
    "Looking",
    "Outputs",
    "Poisonable",
    "Processor",
    "Step",
    "StepResult",
    "Undecodable",
]

BATCH = 256  # entries of each inbox in one commit
BLOCK_MS = 500  # longest wait for entries: also how long a stop can take
HOUSEKEEPING_MS = 500
SUSPICIOUS_TAKEOVERS = 3  # so many owners without progress: the next one tries entries one by one
ALONE = 3  # owners that were not heard of again with the same single entry in hand: the entry is dead
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
        """About twice a second, also when nothing comes in: heartbeats, waits that ran out, trimming.

        Nothing to write (None, or empty outputs): no commit, and ``committed`` is not called.
        """

    def committed(self) -> None:
        """What ``handle``, ``housekeeping`` or ``poisoned`` decided last is now in the log: adopt it."""

    def discard(self) -> None:
        """Forget everything: somebody else wrote, or it is unknown what was written. ``load`` follows."""


@runtime_checkable
class Looking(Protocol):
    """A handler that looks around before its housekeeping: at how far its readers are, say. It only reads."""

    async def look(self, log: Log, now_ms: int) -> None: ...


@runtime_checkable
class Poisonable(Protocol):
    """A handler that answers for an entry that is buried: freezes its table, refuses the command."""

    def poisoned(self, entry: Entry, error: str) -> Outputs: ...


@runtime_checkable
class Distrusting(Protocol):
    """A handler that can leave one of its streams alone, so that the rest of the shard goes on."""

    def set_aside(self, stream: str, last_id: str) -> None:
        """It ends with ``last_id``, not where ``load`` found its end. Said after every ``load`` from now on."""


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
    commit: Commit | None = None
    adopt: bool = True  # the handler decided it, and hears that it was committed


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
        suspicious_takeovers: int = SUSPICIOUS_TAKEOVERS,
    ) -> None:
        """``name`` makes the nonces: no two processors may share one.

        A simulator chooses ``name``, for equal seeds, and raises ``suspicious_takeovers`` when it kills so often that
        innocent entries would be suspected.
        """
        self.next = Step.FENCE
        self.shard = log.shard
        self._log = log
        self._handler = handler
        self._inboxes = handler.inboxes(log.shard)
        name = name or secrets.token_hex(8)
        self._nonces = _nonces(name)
        self._owner = owner_of(f"{name}-0")
        self._batch = batch
        self._block_ms = block_ms
        self._housekeeping_ms = housekeeping_ms
        self._suspicious_takeovers = suspicious_takeovers
        self._number = 0
        self._cursors: dict[str, str] = {}
        self._attempt: Attempt | None = None
        self._careful = 0  # entries still to be tried one by one
        self._fenced_at: tuple[int, Commit] | None = None  # our last commit was fenced at this number
        self._unexpected: dict[str, str] = {}  # streams that did not end where it expected, though nobody else wrote
        self._set_aside: dict[str, str] = {}  # those that were found like that again, and where they end
        self._alone: deque[Entry] = deque()  # of a batch that raised
        self._work = Work()
        self._now_ms = 0
        self._housekeeping_due_ms = 0
        self._taking_over_since = 0.0
        self._metrics = _Metrics(handler.service)

    @property
    def at_rest(self) -> bool:
        """Between batches: a good moment to stop."""
        return self.next in {Step.FENCE, Step.LOAD} or (self.next is Step.READ and not self._alone)

    @property
    def loaded(self) -> bool:
        return self.next not in {Step.FENCE, Step.LOAD}

    async def run(self, stop: asyncio.Event, still_mine: Callable[[], Awaitable[bool]] | None = None) -> None:
        """Until ``stop``, or until fenced when ``still_mine`` says that the shard has another owner."""
        pause = FIRST_PAUSE
        while not (stop.is_set() and self.at_rest):
            result = await self.step()
            if result.error:
                logger.warning("event log unavailable", shard=self.shard, step=result.step.value, reason=result.error)
                if stop.is_set():
                    return
                await _pause(stop, pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            elif result.outcome is Outcome.FENCED:
                logger.info("fenced", shard=self.shard, service=self._handler.service.value)
                if still_mine is not None and not await still_mine():
                    return
                await _pause(stop, pause)  # two owners must not fence each other in step
                pause = min(pause * 2, LONGEST_PAUSE)
            elif result.outcome is not None:
                pause = FIRST_PAUSE

    async def step(self) -> StepResult:
        """Do the next thing. Between two calls the processor may be thrown away: nothing is lost."""
        step = self.next
        try:
            match step:
                case Step.FENCE:
                    return await self._fence()
                case Step.LOAD:
                    return await self._load()
                case Step.READ:
                    return await self._read()
                case Step.NOTE:
                    return await self._note()
                case Step.PREPARE:
                    return await self._prepare()
                case Step.HANDLE:
                    return self._handle()
                case Step.HOUSEKEEPING:
                    return await self._keep_house()
                case Step.COMMIT:
                    return await self._commit()
                case _:
                    assert_never(step)
        except LogUnavailable as error:
            self._metrics.store_errors.inc()
            if step in {Step.NOTE, Step.COMMIT}:  # whether it took effect is unknown
                self._forget()
            return StepResult(step, error=str(error) or repr(error))

    # --- taking over -------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._handler.discard()
        self._alone.clear()
        self._work = Work()
        self.next = Step.FENCE

    async def _fence(self) -> StepResult:
        self._taking_over_since = time.perf_counter()
        position = await self._log.fence(self._handler.service, next(self._nonces))
        self._number = position.number
        self._cursors = {stream: position.cursors.get(stream, BEGINNING) for stream in self._inboxes}
        self._attempt = position.attempt
        failpoints.reach(self._handler.service, "fence:after")
        if position.attempt is not None or position.takeovers >= self._suspicious_takeovers:
            self._careful = self._batch * len(self._inboxes)
            logger.warning("no progress since several takeovers: entries are tried one by one", shard=self.shard)
        await self._look_what_fenced()
        self.next = Step.LOAD
        return StepResult(Step.FENCE)

    async def _look_what_fenced(self) -> None:
        """When nobody else has written since our commit was refused, a stream does not end where it expected. Loading
        again mends what was only in memory; a stream that is found like that once more is set aside, or the shard would
        be fenced by itself for ever."""
        fenced, self._fenced_at = self._fenced_at, None
        if fenced is None or fenced[0] + 1 != self._number:
            return
        for stream, expected in fenced[1].expect.items():
            last = await self._log.last_id(stream)
            if last == expected:
                continue
            if self._unexpected.get(stream) == expected:
                self._metrics.streams_set_aside.inc()
                logger.error("stream set aside", shard=self.shard, stream=stream, ends=last, expected=expected)
                self._set_aside[stream] = last
            self._unexpected[stream] = expected

    async def _load(self) -> StepResult:
        await failpoints.inside(self._handler.service, "load:inside", self._handler.load(self._log))
        if isinstance(self._handler, Distrusting):
            for stream, last_id in self._set_aside.items():
                self._handler.set_aside(stream, last_id)
        self._metrics.takeovers.inc()
        self._metrics.takeover_seconds.observe(time.perf_counter() - self._taking_over_since)
        self.next = Step.READ
        return StepResult(Step.LOAD)

    # --- a batch -----------------------------------------------------------------------------------------------

    async def _read(self) -> StepResult:
        if self._alone:
            self._now_ms = await self._log.now_ms()
            entries = [self._alone.popleft()]
        else:
            block_ms = min(self._block_ms, max(0, self._housekeeping_due_ms - self._now_ms))
            batch = await self._log.read_batch(self._cursors, 1 if self._careful else self._batch, block_ms)
            self._now_ms = batch.now_ms
            entries = batch.entries[:1] if self._careful else batch.entries
            self._observe_lag(entries)
        if not entries:
            self._careful = 0
            self._settle()
            return StepResult(Step.READ)
        failpoints.reach(self._handler.service, "read:after")
        self._work = Work(entries)
        self.next = Step.NOTE if self._careful else Step.PREPARE
        return StepResult(Step.READ, len(entries))

    def _settle(self) -> None:
        """Nothing is in hand: what comes next?"""
        self._work = Work()
        due = self._now_ms >= self._housekeeping_due_ms and not self._alone
        self.next = Step.HOUSEKEEPING if due else Step.READ

    async def _note(self) -> StepResult:
        """Before an entry is tried alone: whoever takes over after our death will know which one it was."""
        entry = self._work.entries[0]
        name = f"{entry.stream}/{entry.id}"
        before = self._attempt.owners if self._attempt is not None and self._attempt.entry == name else ()
        deaths = len(before)
        if deaths > ALONE:  # even the handler's answer to its burial
            self._bury(entry, f"workers died {deaths} times with this entry in hand", ask=False)
            return StepResult(Step.NOTE, 1)
        attempt = Attempt(name, (*before, self._owner))
        outcome = await self._log.commit(self._commit_of(Outputs(), (), attempt))
        if outcome is Outcome.FENCED:
            return self._fenced(Step.NOTE)
        self._number += 1
        self._attempt = attempt
        if deaths == ALONE:
            self._bury(entry, f"workers died {deaths} times with this entry in hand")
        else:
            self.next = Step.PREPARE
        return StepResult(Step.NOTE, 1, outcome)

    async def _prepare(self) -> StepResult:
        entries = self._work.entries
        try:
            await self._handler.prepare(self._log, entries)
        except (LogUnavailable, OSError) as error:
            if isinstance(error, LogUnavailable):
                raise
            raise LogUnavailable(str(error) or repr(error)) from error
        except Exception as error:  # noqa: BLE001 - whatever an entry does to a handler must not stop the shard
            self._refuse(error)
        else:
            self.next = Step.HANDLE
        return StepResult(Step.PREPARE, len(entries))

    def _handle(self) -> StepResult:
        entries = self._work.entries
        try:
            outputs = self._handler.handle(entries, self._now_ms)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an entry does to a handler must not stop the shard
            self._refuse(error)
        else:
            self._ready(entries, outputs)
        return StepResult(Step.HANDLE, len(entries))

    async def _keep_house(self) -> StepResult:
        self._housekeeping_due_ms = self._now_ms + self._housekeeping_ms
        try:
            if isinstance(self._handler, Looking):
                await self._handler.look(self._log, self._now_ms)
            outputs = self._handler.housekeeping(self._now_ms)
        except LogUnavailable:
            raise
        except Exception:  # no entry is to blame, and the entries must go on
            self._metrics.processor_crashes.inc()
            logger.exception("housekeeping failed", shard=self.shard)
            outputs = None
        if outputs:
            self._ready((), outputs)
        else:
            self._settle()
        return StepResult(Step.HOUSEKEEPING)

    def _ready(self, entries: Sequence[Entry], outputs: Outputs, adopt: bool = True) -> None:
        self._work = Work(entries, self._commit_of(outputs, entries), adopt)
        self.next = Step.COMMIT

    def _commit_of(self, outputs: Outputs, entries: Sequence[Entry], attempt: Attempt | None = None) -> Commit:
        cursors = {entry.stream: entry.id for entry in entries}  # the last one of each stream stands
        return outputs.commit(self._handler.service, self._number, next(self._nonces), cursors, attempt)

    async def _commit(self) -> StepResult:
        work = self._work
        assert work.commit is not None
        started = time.perf_counter()
        failpoints.reach(self._handler.service, "commit:before")
        try:
            committing = self._log.commit(work.commit)
            outcome = await failpoints.inside(self._handler.service, "commit:inside", committing)
        except BadCommit as error:
            self._refuse(error)
            return StepResult(Step.COMMIT, len(work.entries))
        failpoints.reach(self._handler.service, "commit:after")
        if outcome is Outcome.FENCED:
            return self._fenced(Step.COMMIT)
        self._metrics.commit_seconds.observe(time.perf_counter() - started)
        self._metrics.commits.inc()
        self._metrics.commit_batch_entries.observe(len(work.entries))
        if work.adopt:
            self._handler.committed()
        self._number += 1
        self._cursors.update(work.commit.cursors)
        self._attempt = None
        self._careful = max(0, self._careful - len(work.entries))
        self._settle()
        return StepResult(Step.COMMIT, len(work.entries), outcome)

    def _fenced(self, step: Step) -> StepResult:
        self._metrics.commits_fenced.inc()
        entries, commit = len(self._work.entries), self._work.commit
        if commit is not None:
            self._fenced_at = self._number, commit
        self._forget()
        return StepResult(step, entries, Outcome.FENCED)

    # --- poison ------------------------------------------------------------------------------------------------

    def _refuse(self, error: Exception) -> None:
        """These entries cannot be handled together: one by one. An entry alone that cannot be handled: bury it."""
        entries = self._work.entries
        if not entries:  # housekeeping decided something that cannot be written
            self._metrics.processor_crashes.inc()
            logger.error("housekeeping cannot be committed", shard=self.shard, reason=str(error))
            self._settle()
        elif len(entries) > 1:
            logger.warning("a batch cannot be handled: one by one", shard=self.shard, reason=repr(error))
            self._alone.extend(entries)
            self._work = Work()
            self.next = Step.READ
        elif not self._work.adopt:
            raise error  # not even the bare burial can be committed: that is no entry's fault
        else:
            self._bury(entries[0], f"{type(error).__name__}: {error}", ask=not isinstance(error, BadCommit))

    def _bury(self, entry: Entry, error: str, ask: bool = True) -> None:
        """In one commit: the entry onto the dead stream, the cursor past it, and what the handler says to that."""
        self._metrics.dead_letters.inc()
        logger.error("dead entry", shard=self.shard, stream=entry.stream, id=entry.id, reason=error)
        answer = self._last_words(entry, error) if ask else None
        outputs = Outputs() if answer is None else answer
        outputs.append(keys.dead(self.shard, self._handler.service), encode_dead(dead_entry(entry, error)))
        self._ready((entry,), outputs, adopt=answer is not None)

    def _last_words(self, entry: Entry, error: str) -> Outputs | None:
        if not isinstance(self._handler, Poisonable):
            return None
        try:
            return self._handler.poisoned(entry, error)
        except Exception:  # the entry is buried all the same
            logger.exception("no answer to a dead entry", shard=self.shard, stream=entry.stream, id=entry.id)
            return None

    def _observe_lag(self, entries: Sequence[Entry]) -> None:
        self._metrics.inbox_waiting.set(len(entries))
        age_ms = self._now_ms - entries[0].at_ms if entries else 0
        if 0 <= age_ms < _DAY_MS:  # ids of some inboxes are no times
            self._metrics.inbox_lag.set(age_ms / 1000)


_DAY_MS = 86_400_000


class _Metrics:
    """The metrics of one service, found once."""

    def __init__(self, service: Service) -> None:
        label = service.value
        self.commits = metrics.commits.labels(label)
        self.commit_seconds = metrics.commit_seconds.labels(label)
        self.commit_batch_entries = metrics.commit_batch_entries.labels(label)
        self.commits_fenced = metrics.commits_fenced.labels(label)
        self.takeovers = metrics.takeovers.labels(label)
        self.takeover_seconds = metrics.takeover_seconds.labels(label)
        self.dead_letters = metrics.dead_letters.labels(label)
        self.streams_set_aside = metrics.streams_set_aside.labels(label)
        self.inbox_waiting = metrics.inbox_waiting_entries.labels(label)
        self.inbox_lag = metrics.inbox_lag_seconds.labels(label)
        self.store_errors = metrics.store_errors.labels(label)
        self.processor_crashes = metrics.processor_crashes.labels(label)


def _nonces(name: str) -> Iterator[str]:
    for number in itertools.count():
        yield f"{name}-{number}"


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
