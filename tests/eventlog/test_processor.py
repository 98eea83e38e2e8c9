"""The processor: exactly once whatever dies in between, poison buried, owners fenced."""

import asyncio
import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brelan.eventlog import keys
from brelan.eventlog.dead import DeadEntry, decode_dead
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Append, Commit, Entry, Log, LogUnavailable, Outcome, Store
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.processor import ALONE, SUSPICIOUS_TAKEOVERS, Outputs, Processor, Step, StepResult
from brelan.telemetry import metrics
from tests.eventlog.counting import Counting, log_of

COMMANDS = keys.commands("s00")
DEALT = keys.dealt("s00")
FEED = keys.feed("s00")
DEAD = keys.dead("s00", Service.TABLE)

NEVER = 10**9  # suspicious takeovers
NAMES = itertools.count()


def processor(log: Log, handler: Counting | None = None, **options: Any) -> Processor:
    return Processor(log, handler or Counting(), name=f"p{next(NAMES)}", block_ms=0, **options)


async def run_dry(worker: Processor) -> list[StepResult]:
    """Steps until there was nothing to read."""
    results = []
    while True:
        results.append(await worker.step())
        if results[-1].step is Step.READ and not results[-1].entries and not results[-1].error:
            return results


async def fed(log: Log) -> list[bytes]:
    return [entry.data for entry in await log.range(FEED)]


async def buried(log: Log) -> list[DeadEntry]:
    return [decode_dead(entry.data) for entry in await log.range(DEAD)]


def counted(*data: bytes) -> list[bytes]:
    return [b"%d: %s" % (number, one) for number, one in enumerate(data, 1)]


async def is_exactly_once(log: Log, data: Sequence[bytes]) -> None:
    """Every command has had its one effect, in order; the feed and the log of its own agree."""
    assert await fed(log) == counted(*data)
    assert [entry.data for entry in await log.range(log_of("s00"))] == counted(*data)
    assert [entry.id for entry in await log.range(log_of("s00"))] == [
        f"{number}-0" for number in range(1, len(data) + 1)
    ]


@pytest.fixture
def memory() -> MemoryStore:
    clock = itertools.count(1_000)
    return MemoryStore(lambda: next(clock))


class Faulty:
    """A log whose calls fail when ``fate`` says so: before they take effect, or after."""

    def __init__(self, log: Log, fate: Callable[[str], str]) -> None:
        self._log = log
        self.shard = log.shard
        self.fate = fate

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._log, name)

        async def call(*arguments: Any) -> Any:
            fate = self.fate(name)
            if fate == "before":
                raise LogUnavailable("connection refused")
            answer = await method(*arguments)
            if fate == "after":
                raise LogUnavailable("the reply was lost")
            return answer

        return call


# --- on every log ------------------------------------------------------------------------------------------------


async def test_handles_what_comes_in(store: Store) -> None:
    log = store.log("s00")
    data = [b"%d" % number for number in range(600)]
    await log.append_many(COMMANDS, data[:500])
    worker = processor(log)
    await run_dry(worker)
    await log.append_many(COMMANDS, data[500:])
    await run_dry(worker)
    await is_exactly_once(log, data)


async def test_takes_many_entries_at_once(store: Store) -> None:
    log = store.log("s00")
    await log.append_many(COMMANDS, [b"c%d" % number for number in range(300)])
    await log.append_many(DEALT, [b"d%d" % number for number in range(10)])
    handler = Counting()
    results = await run_dry(processor(log, handler))
    assert [len(batch) for batch in handler.batches] == [266, 44]
    commits = [result.entries for result in results if result.step is Step.COMMIT and result.entries]
    assert commits == [266, 44]


async def test_a_second_owner_fences_the_first(store: Store) -> None:
    first, second = processor(store.log("s00")), processor(store.log("s00"))
    log = store.log("s00")
    await run_dry(first)
    await run_dry(second)
    await log.append_many(COMMANDS, [b"a", b"b"])
    while (result := await first.step()).step is not Step.COMMIT:
        pass
    assert result.outcome is Outcome.FENCED
    assert first.next is Step.FENCE
    await run_dry(second)
    await is_exactly_once(log, [b"a", b"b"])


async def test_two_owners_at_once_have_the_effect_of_one(store: Store) -> None:
    log = store.log("s00")
    stop = asyncio.Event()
    owners = [Processor(store.log("s00"), Counting(), batch=3, block_ms=20, housekeeping_ms=10) for _ in range(2)]
    running = [asyncio.create_task(owner.run(stop)) for owner in owners]
    data = [b"%d" % number for number in range(60)]
    for one in data:
        await log.append(COMMANDS, one)
        await asyncio.sleep(0.002)
    entries: list[Entry] = []
    async with asyncio.timeout(20):
        while len(entries) < len(data):
            entries += await log.read({FEED: entries[-1].id if entries else "0-0"}, 100, 100)
    stop.set()
    await asyncio.gather(*running)
    await is_exactly_once(log, data)


# --- crashes -----------------------------------------------------------------------------------------------------

COMMANDED = [b"%d" % number for number in range(7)]


async def with_crashes(memory: MemoryStore, crashes: Sequence[tuple[int, str]]) -> bool:
    """One owner after the other; each dies after so many steps, its last call failing as ``how`` says.

    Answers whether all of them died before they had done everything.
    """
    log = memory.log("s00")
    await log.append_many(COMMANDS, COMMANDED)
    for steps, how in crashes:
        fates = {"now": "ok"}
        worker = processor(Faulty(log, lambda name, fates=fates: fates["now"]), batch=3)  # type: ignore[misc]
        for _ in range(steps):
            result = await worker.step()
            if result.step is Step.READ and not result.entries and not result.error:
                return False
        fates["now"] = how
        await worker.step()
    await run_dry(processor(log, batch=3))
    await is_exactly_once(log, COMMANDED)
    return True


HOWS = ("ok", "before", "after")


async def test_one_crash_between_any_two_steps() -> None:
    for how in HOWS:
        steps = 0
        while await with_crashes(MemoryStore(), [(steps, how)]):
            steps += 1
        assert steps > 15  # fence, load, then read, prepare, handle, commit for each of three batches, housekeeping


async def test_two_crashes_between_any_two_steps() -> None:
    for first, second in itertools.product(range(8), range(14)):
        for hows in itertools.product(HOWS, repeat=2):
            await with_crashes(MemoryStore(), [(first, hows[0]), (second, hows[1])])


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), owners=st.integers(1, 3), trouble=st.floats(0, 0.4))
def test_any_interleaving_of_owners_crashes_and_lost_replies(seed: int, owners: int, trouble: float) -> None:
    asyncio.run(interleaved(random.Random(seed), owners, trouble))


async def interleaved(chance: random.Random, owners: int, trouble: float) -> None:
    clock = itertools.count(1_000, 7)
    log = MemoryStore(lambda: next(clock)).log("s00")

    def fate(name: str) -> str:
        return chance.choice(("before", "after")) if chance.random() < trouble else "ok"

    def new() -> Processor:
        return processor(
            Faulty(log, fate),
            batch=chance.randint(1, 4),
            housekeeping_ms=chance.choice((10, 500)),
            suspicious_takeovers=NEVER,
        )

    workers = [new() for _ in range(owners)]
    commanded = []
    for number in range(120):
        if chance.random() < 0.2:
            commanded.append(b"%s%d" % (chance.choice((b"", b"", b"bad ")), number))
            await log.append(COMMANDS, commanded[-1])
        place = chance.randrange(owners)
        await workers[place].step()
        if chance.random() < trouble / 4:
            workers[place] = new()
    trouble = 0.0
    await run_dry(processor(log))
    await is_exactly_once(log, [one for one in commanded if not one.startswith(b"bad")])
    assert [dead.data for dead in await buried(log)] == [one for one in commanded if one.startswith(b"bad")]


async def test_the_same_seed_gives_the_same_bytes() -> None:
    async def play() -> list[Entry]:
        clock = itertools.count(1_000)
        log = MemoryStore(lambda: next(clock)).log("s00")
        await log.append_many(COMMANDS, COMMANDED)
        await run_dry(Processor(log, Counting(), name="p", block_ms=0))
        return await log.range(FEED)

    assert await play() == await play()


async def test_an_unknown_commit_is_forgotten_and_found_out(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append(COMMANDS, b"a")
    fates = iter(["after"])
    handler = Counting()
    worker = processor(Faulty(log, lambda name: next(fates, "ok") if name == "commit" else "ok"), handler)
    while (result := await worker.step()).step is not Step.COMMIT:
        pass
    assert "lost" in result.error
    assert handler.count is None
    assert worker.next is Step.FENCE
    await run_dry(worker)
    await is_exactly_once(log, [b"a"])


@pytest.mark.parametrize("call", ["fence", "last_id", "read_batch"])
async def test_a_store_that_is_away_is_asked_again(memory: MemoryStore, call: str) -> None:
    log = memory.log("s00")
    await log.append(COMMANDS, b"a")
    fates = iter(["before", "before"])
    worker = processor(Faulty(log, lambda name: next(fates, "ok") if name == call else "ok"))
    results = await run_dry(worker)
    assert sum(bool(result.error) for result in results) == 2
    await is_exactly_once(log, [b"a"])
    assert await buried(log) == []


# --- poison ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("poison", [b"bad", b"unreadable", b"foreign"])
async def test_poison_is_buried_and_the_others_are_handled(store: Store, poison: bytes) -> None:
    log = store.log("s00")
    ids = await log.append_many(COMMANDS, [b"a", b"b", poison, b"c"])
    await run_dry(processor(log))
    await is_exactly_once(log, [b"a", b"b", b"c"])
    [dead] = await buried(log)
    assert (dead.stream, dead.id, dead.data) == (COMMANDS, ids[2], poison)
    assert {b"bad": "ValueError: cannot count bad", b"unreadable": "Undecodable: no message"}.get(
        poison, "s99"
    ) in dead.error


async def test_poison_alone_is_buried(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append(COMMANDS, b"bad")
    await run_dry(processor(log))
    assert await fed(log) == []
    assert len(await buried(log)) == 1


async def test_the_burial_moves_the_cursor_in_the_same_commit(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"bad", b"b"])
    for steps in range(1, 25):
        worker = processor(log, suspicious_takeovers=NEVER)
        for _ in range(steps):
            await worker.step()
        assert len(await buried(log)) <= 1
    await is_exactly_once(log, [b"a", b"b"])
    assert len(await buried(log)) == 1


async def test_what_was_to_be_tried_one_by_one_is_forgotten_when_fenced(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"bad", b"b", b"c"])
    first = processor(log)
    while (await first.step()).step is not Step.HANDLE:
        pass
    await run_dry(processor(log))
    await run_dry(first)
    await is_exactly_once(log, [b"a", b"b", b"c"])
    assert len(await buried(log)) == 1


class Answering(Counting):
    """Answers for what is buried: counts it too."""

    def poisoned(self, entry: Entry, error: str) -> Outputs:
        assert self.count is not None
        outputs, self.staged = Outputs(), self.count
        self._count(b"buried " + entry.data, outputs)
        if entry.data == b"bad answer":
            raise RuntimeError("no answer")
        if entry.data == b"bad foreign":
            outputs.append(keys.feed("s99"), b"not mine")
        return outputs


async def test_the_handler_answers_for_what_is_buried(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"bad", b"b"])
    await run_dry(processor(log, Answering()))
    await is_exactly_once(log, [b"a", b"buried bad", b"b"])
    assert len(await buried(log)) == 1


@pytest.mark.parametrize("poison", [b"bad answer", b"bad foreign"])
async def test_without_an_answer_it_is_buried_all_the_same(memory: MemoryStore, poison: bytes) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", poison, b"b"])
    results = await run_dry(processor(log, Answering()))
    assert Outcome.FENCED not in {result.outcome for result in results}  # nothing undecided was adopted
    await is_exactly_once(log, [b"a", b"b"])
    assert len(await buried(log)) == 1


async def test_trouble_with_the_store_is_never_poison(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"b"])
    tries = 0

    class Reading(Counting):
        async def prepare(self, log: Log, entries: Sequence[Entry]) -> None:
            nonlocal tries
            tries += 1
            if tries < 4:
                raise OSError("no route") if tries == 2 else LogUnavailable("connection refused")
            await super().prepare(log, entries)

    results = await run_dry(processor(log, Reading()))
    assert [result.step for result in results if result.error] == [Step.PREPARE] * 3
    await is_exactly_once(log, [b"a", b"b"])
    assert await buried(log) == []


async def test_what_cannot_be_prepared_is_poison(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"odd", b"b"])

    class Preparing(Counting):
        async def prepare(self, log: Log, entries: Sequence[Entry]) -> None:
            if any(entry.data == b"odd" for entry in entries):
                raise KeyError("odd")
            await super().prepare(log, entries)

    await run_dry(processor(log, Preparing()))
    await is_exactly_once(log, [b"a", b"b"])
    assert len(await buried(log)) == 1


# --- entries that kill -------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process is gone."""


class Mortal(Counting):
    """Dies of ``deadly`` entries, whenever they are in the batch."""

    def handle(self, entries: Sequence[Entry], now_ms: int) -> Outputs:
        if any(entry.data.startswith(b"deadly") for entry in entries):
            raise Killed
        return super().handle(entries, now_ms)


async def lives(log: Log, make: Callable[[], Counting], most: int = 60) -> int:
    """How many owners died until everything was handled."""
    for deaths in range(most):
        try:
            await run_dry(processor(log, make(), batch=4))
        except Killed:
            continue
        return deaths
    raise AssertionError("they die for ever")


@pytest.mark.parametrize(("place", "progress"), [(0, 0), (3, 0), (6, 1)])
async def test_an_entry_that_kills_is_buried(memory: MemoryStore, place: int, progress: int) -> None:
    log = memory.log("s00")
    data = list(COMMANDED)
    data[place] = b"deadly"
    await log.append_many(COMMANDS, data)
    assert await lives(log, Mortal) == progress + SUSPICIOUS_TAKEOVERS + ALONE
    await is_exactly_once(log, [one for one in data if one != b"deadly"])
    [dead] = await buried(log)
    assert dead.data == b"deadly"
    assert "workers died 3 times with this entry in hand" in dead.error


async def test_two_entries_that_kill_are_buried(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"deadly 1", b"b", b"deadly 2", b"c"])
    await lives(log, Mortal)
    await is_exactly_once(log, [b"a", b"b", b"c"])
    assert [dead.data for dead in await buried(log)] == [b"deadly 1", b"deadly 2"]


async def test_a_burial_that_kills_is_done_without_an_answer(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"deadly", b"b"])

    class Doomed(Mortal):
        def poisoned(self, entry: Entry, error: str) -> Outputs:
            raise Killed

    assert await lives(log, Doomed) == SUSPICIOUS_TAKEOVERS + ALONE + 1
    await is_exactly_once(log, [b"a", b"b"])


async def test_takeovers_with_progress_arouse_no_suspicion(memory: MemoryStore) -> None:
    log = memory.log("s00")
    for number in range(12):
        await log.append(COMMANDS, b"%d" % number)
        results = await run_dry(processor(log))
        assert Step.NOTE not in {result.step for result in results}


async def test_trouble_with_the_store_arouses_no_suspicion(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a"])
    fates = iter(["before"] * 20)
    worker = processor(Faulty(log, lambda name: next(fates, "ok") if name == "commit" else "ok"))
    results = await run_dry(worker)
    assert sum(bool(result.error) for result in results) == 20
    assert Step.NOTE not in {result.step for result in results}
    await is_exactly_once(log, [b"a"])


async def test_a_suspect_that_is_innocent_is_not_buried_for_trouble_with_the_store(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a"])
    for number in range(5):
        await log.fence(Service.TABLE, f"dead {number}")
    calls = itertools.count()
    worker = processor(
        Faulty(log, lambda name: "before" if name == "commit" and next(calls) % 2 and next(calls) < 40 else "ok")
    )
    results = await run_dry(worker)
    assert Step.NOTE in {result.step for result in results}
    assert sum(bool(result.error) for result in results) > 5
    assert await buried(log) == []
    await is_exactly_once(log, [b"a"])


async def test_owners_that_fence_each_other_bury_nothing(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a"])
    duelling = [processor(log) for _ in range(2)]
    for _ in range(30):  # each fences the other just before its commit
        for duellist in duelling:
            while duellist.next is not Step.COMMIT:
                await duellist.step()
        for duellist in duelling:
            await log.fence(Service.TABLE, f"interloper {next(NAMES)}")
            await duellist.step()
    assert await buried(log) == []
    await run_dry(processor(log))
    await is_exactly_once(log, [b"a"])


# --- housekeeping and running ------------------------------------------------------------------------------------


async def test_housekeeping_comes_twice_a_second_also_when_idle() -> None:
    now = 10_000
    log = MemoryStore(lambda: now).log("s00")
    worker = processor(log)
    await run_dry(worker)
    beats = []
    for _ in range(20):
        now += 100
        for _ in range(4):
            await worker.step()
        beats.append(await log.get(keys.heartbeat("s00")))
    assert len(set(beats)) == 4 + 1


async def test_housekeeping_that_fails_does_not_stop_the_entries(memory: MemoryStore) -> None:
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a"])

    class Messy(Counting):
        def housekeeping(self, now_ms: int) -> Outputs | None:
            raise RuntimeError("a bug")

    await run_dry(processor(log, Messy()))
    await is_exactly_once(log, [b"a"])


async def test_housekeeping_with_nothing_to_write_commits_nothing(memory: MemoryStore) -> None:
    log = memory.log("s00")

    class Tidy(Counting):
        def housekeeping(self, now_ms: int) -> Outputs | None:
            return Outputs()

    results = await run_dry(processor(log, Tidy()))
    assert Step.COMMIT not in {result.step for result in results}


async def test_stops_between_batches(memory: MemoryStore) -> None:
    log = memory.log("s00")
    stop = asyncio.Event()

    class Stopping(Counting):
        def handle(self, entries: Sequence[Entry], now_ms: int) -> Outputs:
            stop.set()
            return super().handle(entries, now_ms)

    await log.append_many(COMMANDS, COMMANDED)
    await asyncio.wait_for(processor(log, Stopping(), batch=3).run(stop), 5)
    await is_exactly_once(log, COMMANDED[:3])


async def test_stops_although_the_store_is_away(memory: MemoryStore) -> None:
    stop = asyncio.Event()
    away = Faulty(memory.log("s00"), lambda name: "before")
    running = asyncio.create_task(processor(away).run(stop))
    await asyncio.sleep(0.02)
    stop.set()
    await asyncio.wait_for(running, 1)


async def test_ends_when_fenced_and_the_shard_is_another_s(memory: MemoryStore) -> None:
    log = memory.log("s00")
    stop = asyncio.Event()

    async def no() -> bool:
        return False

    running = asyncio.create_task(Processor(log, Counting(), block_ms=10, housekeeping_ms=10).run(stop, no))
    await asyncio.sleep(0.05)
    await log.fence(Service.TABLE, "another")
    await log.append(COMMANDS, b"a")
    await asyncio.wait_for(running, 2)
    assert await fed(log) == []


async def test_owners_that_fence_each_other_over_a_suspect_bury_nothing(memory: MemoryStore) -> None:
    """Each has noted that it tries the entry alone, and is fenced before it can commit: nobody died of it."""
    log = memory.log("s00")
    await log.append_many(COMMANDS, [b"a", b"b"])
    for number in range(5):
        await log.fence(Service.TABLE, f"dead{number}-0")
    duelling = [processor(log) for _ in range(2)]
    for _ in range(20):
        for duellist in duelling:
            duellist.next = Step.FENCE  # fenced meanwhile
            while duellist.next is not Step.COMMIT:
                await duellist.step()
    assert await buried(log) == []
    assert (await log.hash_all(keys.position("s00", Service.TABLE)))["attempt"], "they were suspicious"
    await run_dry(processor(log))
    assert await buried(log) == []
    await is_exactly_once(log, [b"a", b"b"])


class Leaving(Counting):
    """Can leave its count alone."""

    def __init__(self) -> None:
        super().__init__()
        self.left_alone: dict[str, str] = {}

    def set_aside(self, stream: str, last_id: str) -> None:
        self.left_alone[stream] = last_id

    def handle(self, entries: Sequence[Entry], now_ms: int) -> Outputs:
        outputs = super().handle(entries, now_ms)
        return Outputs() if self.left_alone else outputs


async def test_a_stream_that_ends_where_nobody_left_it_is_set_aside_and_the_shard_goes_on(store: Store) -> None:
    log = store.log("s00")
    await log.append_many(COMMANDS, [b"a", b"b"])
    await run_dry(processor(log, batch=1))
    position = await log.fence(Service.TABLE, "vandal-0")
    stranger = Append(log_of("s00"), b"nobody's", "77-0")
    await log.commit(Commit(Service.TABLE, position.number, "vandal-1", appends=[stranger]))

    class Blind(Leaving):
        """Does not see what the vandal wrote, however often it loads."""

        async def load(self, log: Log) -> None:
            self.count = 2

    await log.append_many(COMMANDS, [b"c", b"d"])
    handler = Blind()
    before = metrics.streams_set_aside.labels("table")._value.get()
    results = await run_dry(processor(log, handler))
    fenced = [result for result in results if result.outcome is Outcome.FENCED]
    assert len(fenced) == 2, "the first time loading again might have helped"
    assert handler.left_alone == {log_of("s00"): "77-0"}
    assert metrics.streams_set_aside.labels("table")._value.get() == before + 1
    assert await buried(log) == [], "no entry is to blame"
