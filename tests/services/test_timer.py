"""The sweeper on the in-memory store: what is due is handed out, never early, again while it has no effect."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brelan.eventlog import keys
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.memory_log import MemoryLog, MemoryStore, SortedSet
from brelan.telemetry import metrics
from brelan_timer.sweeper import (
    AGAIN_MS,
    CHUNK,
    FRESH_AT_ONCE,
    LONGEST_WAIT_MS,
    Backlog,
    BrokerUnavailable,
    Due,
    Sweeper,
)

SHARD = "s00"
KEY = keys.deadlines(SHARD)


class Room:
    """A store whose clock stands still, a sweeper, and what it has handed out."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.store = MemoryStore(lambda: self.now_ms)
        self.handed: list[Due] = []
        self.chunks: list[int] = []
        self.broken = False
        self.restart()

    def restart(self) -> None:
        """Another sweeper, which knows nothing."""
        self.sweeper = Sweeper(self.store.log(SHARD), self.hand_out)

    async def hand_out(self, shard: str, due: Sequence[Due], now_ms: int) -> None:
        assert (shard, now_ms) == (SHARD, self.now_ms)
        assert all(due_ms <= now_ms for _, due_ms in due), "early"
        if self.broken:
            raise BrokerUnavailable("no broker")
        self.handed += due
        self.chunks.append(len(due))

    def arm(self, **deadlines: int) -> None:
        """As the tables' commits do: ``a=5`` is due in 5 ms, ``a=-5`` since 5 ms."""
        self.store.put(KEY, SortedSet).update({f"s00-{name}": self.now_ms + in_ms for name, in_ms in deadlines.items()})

    def disarm(self, *names: str) -> None:
        for name in names:
            self.store.put(KEY, SortedSet).pop(f"s00-{name}", None)

    async def sweep(self, after_ms: int = 0) -> list[str]:
        """Which tables it handed out this time."""
        self.now_ms += after_ms
        before = len(self.handed)
        await self.sweeper.sweep()
        return [table_id.removeprefix("s00-") for table_id, _ in self.handed[before:]]


@pytest.fixture
def room() -> Room:
    return Room()


async def test_what_is_due_is_handed_out_and_nothing_else(room: Room) -> None:
    room.arm(past=-200, now=0, soon=1, later=5_000)
    assert await room.sweep() == ["past", "now"]
    assert await room.sweep(1) == ["soon"]
    assert await room.sweep(4_998) == ["past", "now", "soon"]
    assert await room.sweep(1) == ["later"]


async def test_our_own_clock_never_decides_that_something_is_due(room: Room) -> None:
    """The store's time stands still while ours goes on."""
    await room.sweep()
    room.arm(soon=30)
    await asyncio.sleep(0.1)
    assert await room.sweep() == []
    assert await room.sweep(29) == []
    assert await room.sweep(1) == ["soon"]


async def test_handed_out_once_while_the_table_has_its_second(room: Room) -> None:
    room.arm(a=0)
    assert await room.sweep() == ["a"]
    for _ in range(9):
        assert await room.sweep(100) == []
    assert await room.sweep(99) == []
    assert await room.sweep(1) == ["a"]


async def test_again_after_one_second_then_two_four_eight_and_every_eight(room: Room) -> None:
    room.arm(a=0)
    start, times = room.now_ms, []
    while room.now_ms - start < 40_000:
        times += [room.now_ms - start] * len(await room.sweep())
        room.now_ms += 50
    assert times == [0, 1_000, 3_000, 7_000, 15_000, 23_000, 31_000, 39_000]
    assert AGAIN_MS == 1_000


async def test_a_deadline_that_was_moved_is_forgotten(room: Room) -> None:
    room.arm(a=0)
    await room.sweep()
    room.arm(a=10_000)
    assert await room.sweep(5_000) == []
    assert await room.sweep(5_000) == ["a"]


async def test_the_next_deadline_of_the_same_table_does_not_wait_for_the_last_one(room: Room) -> None:
    room.arm(a=0)
    assert await room.sweep() == ["a"]
    room.arm(a=3)
    assert await room.sweep(3) == ["a"]


async def test_a_table_that_waits_for_nothing_is_left_alone(room: Room) -> None:
    room.arm(a=0, b=0)
    await room.sweep()
    room.disarm("a")
    assert await room.sweep(2_000) == ["b"]


async def test_a_sweeper_that_takes_over_hands_out_what_is_still_due(room: Room) -> None:
    room.arm(a=0, b=0)
    await room.sweep()
    room.disarm("b")
    room.restart()
    assert await room.sweep(1) == ["a"]


async def test_two_sweepers_only_repeat(room: Room) -> None:
    room.arm(a=0)
    await room.sweep()
    room.restart()
    assert await room.sweep() == ["a"]
    assert await room.sweep() == []


async def test_without_a_broker_nothing_counts_as_handed_out(room: Room) -> None:
    room.arm(a=0)
    room.broken = True
    for _ in range(3):
        with pytest.raises(BrokerUnavailable):
            await room.sweep(10)
    room.broken = False
    assert await room.sweep(10) == ["a"]


async def test_many_go_into_one_task_but_not_too_many(room: Room) -> None:
    room.arm(**{f"t{number:04}": 0 for number in range(2 * CHUNK + 50)})
    assert len(await room.sweep()) == 2 * CHUNK + 50
    assert room.chunks == [CHUNK, CHUNK, 50]


async def test_tables_that_never_answer_do_not_stand_in_the_way_of_others(room: Room) -> None:
    room.arm(**{f"stuck{number:04}": -10_000 for number in range(3 * FRESH_AT_ONCE)})
    for _ in range(3):
        assert len(await room.sweep(1)) == FRESH_AT_ONCE
    room.arm(a=0)
    assert await room.sweep(1) == ["a"]


async def test_it_comes_back_in_time(room: Room) -> None:
    await room.sweeper.sweep()
    assert await room.sweeper.sweep() == LONGEST_WAIT_MS
    room.arm(later=1_000)
    assert await room.sweeper.sweep() == LONGEST_WAIT_MS
    room.arm(soon=17)
    assert await room.sweeper.sweep() == 17
    room.arm(due=-3)
    assert await room.sweeper.sweep() == 17


async def test_what_it_does_is_counted(room: Room) -> None:
    def counted() -> tuple[float, float]:
        counters = metrics.deadlines_dispatched, metrics.deadlines_redispatched
        first, again = (counter._value.get() for counter in counters)
        return first, again

    first, again = counted()
    room.arm(a=-400, b=0)
    await room.sweep()
    await room.sweep(1_000)
    assert counted() == (first + 2, again + 2)
    assert metrics.inbox_lag_seconds.labels("timer")._value.get() == 1.4
    assert metrics.inbox_waiting_entries.labels("timer")._value.get() == 2
    room.disarm("a", "b")
    await room.sweep()
    assert metrics.inbox_lag_seconds.labels("timer")._value.get() == 0


async def test_the_backlog_is_that_of_all_shards_together() -> None:
    backlog = Backlog()
    backlog.note("s00", 2, 40)
    backlog.note("s01", 3, 70)
    backlog.note("s00", 0, 0)
    backlog.note("s02", 0, 0)
    assert metrics.inbox_waiting_entries.labels("timer")._value.get() == 3
    assert metrics.inbox_lag_seconds.labels("timer")._value.get() == 0.07


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-50, 400), st.integers(0, 300)), max_size=40))
async def test_every_deadline_that_stands_is_handed_out_and_none_before_its_time(
    steps: list[tuple[int, int, int]],
) -> None:
    """Tables arm and re-arm at random; what stands when its time comes is handed out at the next sweep."""
    room = Room()
    for table, in_ms, pass_ms in steps:
        room.arm(**{f"t{table}": in_ms})
        await room.sweep(pass_ms)
        stands = room.store.put(KEY, SortedSet)
        missed = [one for one in stands.items() if one[1] <= room.now_ms and one not in room.handed]
        assert not missed


# --- running -----------------------------------------------------------------------------------------------------


class Flaky(MemoryLog):
    """A store that is away for the first so many calls."""

    away = 0

    async def due(self, key: str, until: int, count: int) -> list[tuple[str, int]]:
        if self.away:
            self.away -= 1
            raise LogUnavailable("the event log cannot be reached")
        return await super().due(key, until, count)


async def test_it_runs_until_it_is_told_to_stop_and_says_what_is_wrong_meanwhile() -> None:
    store, handed = MemoryStore(), asyncio.Queue[tuple[Due, int]]()

    async def hand_out(_shard: str, due: Sequence[Due], _now_ms: int) -> None:
        for one in due:
            handed.put_nowait((one, store.clock()))

    log = Flaky(store, SHARD)
    sweeper, stop = Sweeper(log, hand_out), asyncio.Event()
    assert sweeper.trouble == "not swept yet"
    running = asyncio.create_task(sweeper.run(stop))
    try:
        late = []
        for number in range(5):
            due_ms = store.clock() + 120
            store.put(KEY, SortedSet)["s00-a"] = due_ms
            (_, found_ms), at_ms = await asyncio.wait_for(handed.get(), 2)
            assert found_ms == due_ms
            late.append(at_ms - due_ms)
            if number == 2:
                log.away = 1
                store.put(KEY, SortedSet).clear()
                await asyncio.sleep(0.06)
        assert min(late) >= 0
        assert sorted(late)[2] < 200
        log.away = 1_000_000
        await until(lambda: sweeper.trouble == "the event log cannot be reached")
        log.away = 0
        await until(lambda: sweeper.trouble == "")
    finally:
        stop.set()
        await asyncio.wait_for(running, 2)


async def until(true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("not in time")
