"""History on the in-memory log: hands are kept as they finish, each once, whatever dies when."""

import asyncio
import contextlib
import itertools

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.memory_log import Hash, MemoryStore, Stream
from brelan.events import table
from brelan.events.dealing import HandRecord
from brelan.events.envelope import TableCommitted, encode
from brelan.histories.archive import MemoryArchive, Shelves
from brelan.histories.queries import Histories
from brelan.sql.archive import SqlArchive
from brelan.telemetry.health import Health
from brelan_history.service import Fenced, ShardHistory, run_all
from tests.histories.hands import STUD, STUD_CARDS, STUD_RECORD, Log, hand_id, shown, stud_hand, walk
from tests.services.crashes import Crash, Fuse, Fused, Where
from tests.services.history_room import OPENER, Tables, run_history
from tests.services.wallet_room import until

HANDS = 3
PER_HAND = len(stud_hand())


def evening(table_id: str = "s00-a") -> Log:
    """Three hands with a showdown; after the second one the loser shows; then one without a showdown."""
    log = Log(table_id=table_id)
    for number in range(1, HANDS + 1):
        log.play(stud_hand(number, table_id))
        if number == 2:
            log.add(table.HandShown(shown(2, STUD_CARDS[2])))
    log.play(walk(HANDS + 1, table_id))
    return log


def records(table_id: str = "s00-a") -> list[HandRecord]:
    return [HandRecord(table_id, hand_id(number, table_id), STUD_RECORD.seats) for number in range(1, HANDS + 1)]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def check(shelves: Shelves, log: Log, hands: int = HANDS + 1) -> None:
    """Every hand of the evening once, each with all its entries, what was shown later included."""
    table_id = log.table_id
    of_the_table = {name: one for name, one in shelves.histories.items() if one.table_id == table_id}
    assert list(of_the_table) == [hand_id(number, table_id) for number in range(1, hands + 1)]
    entries = [entry for name in of_the_table for entry in shelves.entries[name]]
    assert [entry.version for entry in entries] == list(range(1, len(log.entries) + 1))
    assert [entry.data for entry in entries] == log.data
    two = of_the_table[hand_id(2, table_id)].player_at(2)
    assert two is not None
    assert two.shown is not None
    assert shelves.dead == []


async def test_hands_are_kept_as_they_finish(store: MemoryStore) -> None:
    shelves = Shelves()
    log, tables = evening(), Tables(store)
    await tables.commit(log, 1, PER_HAND)  # all but the last entry of the first hand
    await run_history(store, MemoryArchive(shelves))
    assert shelves.histories == {}
    await tables.commit(log, PER_HAND + 1, PER_HAND + 1)
    await tables.record(records()[0])
    await run_history(store, MemoryArchive(shelves))
    assert list(shelves.histories) == [hand_id(1)]
    assert shelves.cards[hand_id(1)] == STUD_RECORD.seats
    await tables.commit(log, PER_HAND + 2, len(log.entries))
    for record in records()[1:]:
        await tables.record(record)
    await run_history(store, MemoryArchive(shelves))
    check(shelves, log)
    assert len(shelves.cards) == HANDS


async def test_wherever_a_worker_stops_and_another_starts_no_hand_is_missed_or_doubled() -> None:
    log = evening()
    for stopped_at in range(1, len(log.entries) + 1):
        store, shelves = MemoryStore(), Shelves()
        tables = Tables(store)
        await tables.commit(log, 1, stopped_at)
        await run_history(store, MemoryArchive(shelves))
        await tables.commit(log, stopped_at + 1, len(log.entries))
        await run_history(store, MemoryArchive(shelves))
        check(shelves, log)


@pytest.mark.parametrize("where", ["before", "after"])
async def test_a_crash_at_any_step_misses_and_doubles_nothing(where: Where) -> None:
    crashes = 0
    log = evening()
    for step in range(1, 25):
        store, shelves = MemoryStore(), Shelves()
        tables = Tables(store)
        fuse = Fuse(step, where)
        history = ShardHistory(Fused(store, fuse), Fused(MemoryArchive(shelves), fuse), "s00", OPENER)
        try:
            await history.open()
            for first in range(1, len(log.entries) + 1, 9):
                await tables.commit(log, first, min(first + 8, len(log.entries)))
                await history.serve(block_ms=0)
        except Crash:
            crashes += 1
            left = int((await store.log("s00").last_id(keys.table_log("s00-a"))).partition("-")[0])
            await tables.commit(log, left + 1, len(log.entries))
        await run_history(store, MemoryArchive(shelves))
        check(shelves, log)
    assert crashes > 15, "the steps of history's work are not all covered"


async def test_an_old_cursor_changes_nothing(store: MemoryStore) -> None:
    """Read from the beginning again, everything passes by."""
    shelves = Shelves()
    log = evening()
    await Tables(store).commit(log, 1, len(log.entries))
    await run_history(store, MemoryArchive(shelves))
    shelves.cursors.clear()
    await run_history(store, MemoryArchive(shelves))
    check(shelves, log)


async def test_tables_of_a_shard_do_not_mix(store: MemoryStore) -> None:
    shelves = Shelves()
    first, second = evening("s00-a"), evening("s00-b")
    tables = Tables(store)
    for version in range(1, len(first.entries) + 1):
        await tables.commit(first, version, version)
        await tables.commit(second, version, version)
        if version % 11 == 0:
            await run_history(store, MemoryArchive(shelves))
    await run_history(store, MemoryArchive(shelves))
    check(shelves, first)
    check(shelves, second)


async def test_what_cannot_be_read_is_buried_and_the_others_go_on(store: MemoryStore) -> None:
    shelves = Shelves()
    log, tables = evening(), Tables(store)
    await store.log("s00").append(keys.feed("s00"), b"\xc1 no message")
    await store.log("s00").append(keys.records("s00"), b"no message either")
    await tables.record(records()[0], key=bytes(range(1, 33)))  # sealed to somebody else
    await tables.commit(log, 1, len(log.entries))
    await tables.record(records()[1])
    await run_history(store, MemoryArchive(shelves))
    assert [dead.error.partition(":")[0] for dead in shelves.dead] == ["DecodeError", "ValidationError", "CannotOpen"]
    assert list(shelves.cards) == [hand_id(2)]
    shelves.dead.clear()
    check(shelves, log)


async def test_a_record_sealed_for_another_hand_is_not_believed(store: MemoryStore) -> None:
    shelves = Shelves()
    await Tables(store).record(records()[0])
    (entry,) = await store.log("s00").range(keys.records("s00"))
    moved = entry.data.replace(b":1:1", b":1:2")
    assert moved != entry.data
    await store.log("s00").append(keys.records("s00"), moved)
    await run_history(store, MemoryArchive(shelves))
    assert list(shelves.cards) == [hand_id(1)]
    assert len(shelves.dead) == 1


async def test_an_entry_that_makes_no_sense_costs_its_hand_and_no_other(store: MemoryStore) -> None:
    shelves = Shelves()
    log = Log()
    log.play(stud_hand(1))
    second = stud_hand(2)
    log.play(second[:4])
    log.add(table.CardsDealt("x", hand_id(2), "fourth", (table.SeatCards(8, 0, (1,)),)))  # nobody sits in seat 8
    log.play(second[4:])
    log.play(stud_hand(3))
    await Tables(store).commit(log, 1, len(log.entries))
    await run_history(store, MemoryArchive(shelves))
    assert list(shelves.histories) == [hand_id(1), hand_id(3)]
    assert [dead.error for dead in shelves.dead] == ["KeyError: 8"]


async def test_versions_that_are_gone_cost_their_hand_and_no_other(store: MemoryStore) -> None:
    """The table's log was trimmed, or the feed was, before we had read it."""
    shelves = Shelves()
    log, tables = evening(), Tables(store)
    await tables.commit(log, 1, PER_HAND + 5)
    stream, feed = store.find(keys.table_log("s00-a"), Stream), store.find(keys.feed("s00"), Stream)
    assert stream is not None
    assert feed is not None
    stream.keep_from(f"{PER_HAND + 4}-0")
    del feed.ids[:-2], feed.data[:-2]
    store.put(keys.tables("s00"), Hash)["s00-a"] = encode(STUD)
    await tables.commit(log, PER_HAND + 6, len(log.entries))
    await run_history(store, MemoryArchive(shelves))
    assert list(shelves.histories) == [hand_id(3), hand_id(4)]
    assert shelves.dead == []


async def test_a_new_epoch_begins_where_the_log_went_back_to(store: MemoryStore) -> None:
    """The tail was lost: what was played in it is not kept, what follows is."""
    shelves = Shelves()
    log, tables = Log(), Tables(store)
    log.play(stud_hand(1))
    log.play(stud_hand(2)[:6])
    await tables.commit(log, 1, len(log.entries))
    await run_history(store, MemoryArchive(shelves))
    back_to = PER_HAND + 1
    again = [*stud_hand(2)]
    for place, events in enumerate(again, start=1):
        version = back_to + place
        entry = TableCommitted("s00-a", 2, version, log.entries[0].at_ms, tuple(events))
        await store.log("s00").append(keys.feed("s00"), encode(entry))
    await run_history(store, MemoryArchive(shelves))
    assert list(shelves.histories) == [hand_id(1), hand_id(2)]
    assert len(shelves.entries[hand_id(2)]) == PER_HAND
    assert {msgspec.msgpack.decode(one.data)[2] for one in shelves.entries[hand_id(2)]} == {2}


async def test_a_hand_whose_id_came_back_with_another_hand_is_put_aside(store: MemoryStore) -> None:
    """An event log was restored from a backup without a new epoch: it must not stop the shard."""
    shelves = Shelves()
    log, tables = evening(), Tables(store)
    await tables.commit(log, 1, len(log.entries))
    await run_history(store, MemoryArchive(shelves))
    restored = MemoryStore()
    shelves.marks.clear()
    shelves.cursors.clear()
    other = Log()
    other.play(stud_hand(1))
    other.play(stud_hand(9))
    await Tables(restored).commit(other, 1, len(other.entries))
    await run_history(restored, MemoryArchive(shelves))
    assert list(shelves.histories)[-1] == hand_id(9)
    assert {dead.error for dead in shelves.dead} == {f"hand {hand_id(1)} is in the archive already"}
    assert [dead.data for dead in shelves.dead] == other.data[: PER_HAND + 1]


async def test_two_workers_at_once_keep_nothing_twice(store: MemoryStore) -> None:
    shelves = Shelves()
    log, tables = evening(), Tables(store)
    first = ShardHistory(store, MemoryArchive(shelves), "s00", OPENER)
    second = ShardHistory(store, MemoryArchive(shelves), "s00", OPENER)
    await first.open()
    await second.open()
    await tables.commit(log, 1, PER_HAND + 3)
    with pytest.raises(Fenced):
        await first.serve(block_ms=0)
    await second.serve(block_ms=0)
    await first.open()
    await tables.commit(log, PER_HAND + 4, len(log.entries))
    await first.serve(block_ms=0)
    with pytest.raises(Fenced):
        await second.serve(block_ms=0)
    check(shelves, log)


async def test_one_worker_goes_on_when_another_stops(store: MemoryStore) -> None:
    shelves = Shelves()
    log, tables = evening(), Tables(store)
    stops = [asyncio.Event(), asyncio.Event()]
    workers = [
        asyncio.create_task(
            run_all([ShardHistory(store, MemoryArchive(shelves), "s00", OPENER)], stop, Health("history"))
        )
        for stop in stops
    ]

    async def has(hands: int) -> bool:
        return len(shelves.histories) == hands

    await tables.commit(log, 1, PER_HAND + 3)
    await until(lambda: has(1))
    stops[0].set()
    await workers[0]
    await tables.commit(log, PER_HAND + 4, len(log.entries))
    await until(lambda: has(HANDS + 1))
    stops[1].set()
    await workers[1]
    check(shelves, log)
    assert store.leases == {}


async def test_how_far_it_has_come_stands_in_the_event_log(store: MemoryStore) -> None:
    """Whoever trims the feed looks there."""
    log = evening()
    await Tables(store).commit(log, 1, len(log.entries))
    await run_history(store, MemoryArchive())
    position = await store.log("s00").fence(Service.HISTORY, "look")
    last = (await store.log("s00").range(keys.feed("s00")))[-1].id
    assert position.cursors[keys.feed("s00")] == last


steps = st.lists(
    st.one_of(
        st.integers(1, 15),  # so many entries more
        st.builds(Fuse, st.integers(1, 12), st.sampled_from(["before", "after"])),
        st.just("record"),
    ),
    max_size=14,
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(steps)
async def test_however_it_goes_every_hand_is_kept_once(steps: list[object]) -> None:
    store, shelves = MemoryStore(), Shelves()
    log, tables = evening(), Tables(store)
    done = 0
    waiting = itertools.cycle(records())
    for step in steps:
        if isinstance(step, int):
            more = min(step, len(log.entries) - done)
            await tables.commit(log, done + 1, done + more)
            done += more
        elif isinstance(step, Fuse):
            fuse = Fuse(step.at, step.where)
            with contextlib.suppress(Crash):
                await run_history(Fused(store, fuse), Fused(MemoryArchive(shelves), fuse))
        else:
            await tables.record(next(waiting))
    await tables.commit(log, done + 1, len(log.entries))
    for record in records():
        await tables.record(record)
    await run_history(store, MemoryArchive(shelves))
    check(shelves, log)
    assert shelves.cards == {record.hand_id: record.seats for record in records()}


async def test_in_sql_each_player_finds_his_hands(store: MemoryStore, sql_url: str) -> None:
    archive = SqlArchive(sql_url)
    log, tables = evening(), Tables(store)
    for first in range(1, len(log.entries) + 1, 7):
        await tables.commit(log, first, min(first + 6, len(log.entries)))
        await run_history(store, archive)
    for record in records():
        await tables.record(record)
    await run_history(store, archive)
    await archive.close()
    histories = Histories(sql_url)
    assert [row.number for row in (await histories.hands_of("p2")).hands] == [4, 3, 2, 1]
    assert [row.number for row in (await histories.hands_of("p5")).hands] == [3, 2, 1]
    view = await histories.hand_for("p5", hand_id(2))
    assert view is not None
    assert {player.seat: "".join(player.cards or ()) for player in view.players} == STUD_CARDS  # 2 showed later
    entries = [data for number in range(1, 5) for data in await histories.entries_of(hand_id(number))]
    assert entries == log.data
    await histories.close()
