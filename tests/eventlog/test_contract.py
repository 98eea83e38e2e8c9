"""What every event log promises, tried on all of them."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Append, Attempt, BadCommit, Commit, Log, Outcome, Store
from brelan.eventlog.position import MOST_OWNERS

TABLE = Service.TABLE
COMMANDS = keys.commands("s07")
DEALT = keys.dealt("s07")
FEED = keys.feed("s07")
DEADLINES = keys.deadlines("s07")
TABLES = keys.tables("s07")
BEAT = keys.heartbeat("s07")
ONE = keys.table_log("s07-one")
TWO = keys.table_log("s07-two")
POSITION = keys.position("s07", TABLE)
FOREIGN = keys.feed("s08")

COMMITTED, DONE, FENCED = Outcome.COMMITTED, Outcome.DONE, Outcome.FENCED


def commit(number: int, nonce: str = "", **contents: Any) -> Commit:
    return Commit(TABLE, number, nonce or f"commit {number}", **contents)


async def everything(log: Log) -> tuple[Any, ...]:
    """All that the tests write, to see that nothing of it has changed."""
    streams = [await log.range(stream) for stream in (COMMANDS, FEED, ONE, TWO)]
    last_ids = [await log.last_id(stream) for stream in (COMMANDS, FEED, ONE, TWO)]
    others = [await log.hash_all(TABLES), await log.due(DEADLINES, 10**15, 100), await log.get(BEAT)]
    return streams, last_ids, others, await log.hash_all(POSITION)


async def data(log: Log, stream: str) -> list[bytes]:
    return [entry.data for entry in await log.range(stream)]


# --- commits -----------------------------------------------------------------------------------------------------


async def test_a_commit_applies_everything(log: Log) -> None:
    everything_at_once = commit(
        0,
        cursors={COMMANDS: "5-0"},
        expect={ONE: "0-0"},
        appends=[Append(ONE, b"opened", "1-0"), Append(FEED, b"opened"), Append(ONE, b"seated", "2-0")],
        hash_set={TABLES: {"s07-one": b"\x00\xff", "s07-two": b""}},
        zset_add={DEADLINES: {"s07-one": 1_700_000_000_123, "s07-two": 5}},
        string_set={BEAT: b"12"},
    )
    assert await log.commit(everything_at_once) is COMMITTED
    assert [(entry.id, entry.data) for entry in await log.range(ONE)] == [("1-0", b"opened"), ("2-0", b"seated")]
    assert await data(log, FEED) == [b"opened"]
    assert await log.hash_all(TABLES) == {"s07-one": b"\x00\xff", "s07-two": b""}
    assert await log.due(DEADLINES, 10**15, 10) == [("s07-two", 5), ("s07-one", 1_700_000_000_123)]
    assert await log.get(BEAT) == b"12"
    assert (await log.fence(TABLE, "next owner")).cursors == {COMMANDS: "5-0"}


async def test_a_commit_takes_away(log: Log) -> None:
    await log.commit(
        commit(
            0,
            hash_set={TABLES: {"a": b"1", "b": b"2"}},
            zset_add={DEADLINES: {"a": 1, "b": 2}},
            string_set={BEAT: b"x"},
        )
    )
    await log.commit(commit(1, hash_delete={TABLES: ["a", "c"]}, zset_remove={DEADLINES: ["b", "c"]}, delete=[BEAT]))
    assert await log.hash_all(TABLES) == {"b": b"2"}
    assert await log.due(DEADLINES, 9, 9) == [("a", 1)]
    assert await log.get(BEAT) is None


async def test_deletes_and_takes_away_before_it_puts(log: Log) -> None:
    await log.commit(commit(0, hash_set={TABLES: {"a": b"1", "b": b"2"}}, zset_add={DEADLINES: {"a": 1}}))
    again = commit(
        1,
        delete=[TABLES],
        hash_set={TABLES: {"b": b"3"}},
        zset_remove={DEADLINES: ["a"]},
        zset_add={DEADLINES: {"a": 7}},
    )
    assert await log.commit(again) is COMMITTED
    assert await log.hash_all(TABLES) == {"b": b"3"}
    assert await log.due(DEADLINES, 9, 9) == [("a", 7)]


async def test_what_is_empty_is_gone(log: Log) -> None:
    await log.commit(commit(0, hash_set={TABLES: {"a": b"1"}}))
    await log.commit(commit(1, hash_delete={TABLES: ["a"]}))
    assert await log.commit(commit(2, string_set={TABLES: b"now a string"})) is COMMITTED


async def test_an_empty_commit_moves_the_number(log: Log) -> None:
    assert await log.commit(commit(0)) is COMMITTED
    assert await log.commit(commit(1)) is COMMITTED


async def test_large_commits(log: Log) -> None:
    fields = {f"field {number}": b"%d" % number for number in range(9_000)}
    members = {f"member {number}": number for number in range(9_000)}
    appends = [Append(FEED, b"%d" % number) for number in range(9_000)]
    assert (
        await log.commit(commit(0, appends=appends, hash_set={TABLES: fields}, zset_add={DEADLINES: members}))
        is COMMITTED
    )
    assert await log.hash_all(TABLES) == fields
    assert len(await log.due(DEADLINES, 10**6, 10**6)) == 9_000
    assert await data(log, FEED) == [b"%d" % number for number in range(9_000)]
    gone = commit(1, hash_delete={TABLES: list(fields)}, zset_remove={DEADLINES: list(members)})
    assert await log.commit(gone) is COMMITTED
    assert await log.hash_all(TABLES) == {}


async def test_the_same_commit_again_is_done(log: Log) -> None:
    first = commit(0, appends=[Append(FEED, b"once")], cursors={COMMANDS: "1-0"})
    assert await log.commit(first) is COMMITTED
    before = await everything(log)
    assert await log.commit(first) is DONE
    assert await everything(log) == before


async def test_an_older_commit_again_is_fenced(log: Log) -> None:
    first = commit(0, appends=[Append(FEED, b"once")])
    await log.commit(first)
    await log.commit(commit(1))
    assert await log.commit(first) is FENCED
    assert await data(log, FEED) == [b"once"]


@pytest.mark.parametrize("number", [0, 2, 7])
async def test_another_number_is_fenced_and_changes_nothing(log: Log, number: int) -> None:
    await log.commit(commit(0, appends=[Append(FEED, b"a")]))
    before = await everything(log)
    late = commit(number, "late", appends=[Append(FEED, b"b")], string_set={BEAT: b"b"}, cursors={COMMANDS: "9-0"})
    assert await log.commit(late) is FENCED
    assert await everything(log) == before


async def test_services_do_not_fence_each_other(log: Log) -> None:
    await log.commit(commit(0))
    dealer = Commit(Service.DEALER, 0, "a", cursors={FEED: "4-0"})
    assert await log.commit(dealer) is COMMITTED
    assert await log.commit(commit(1)) is COMMITTED
    assert (await log.fence(Service.DEALER, "b")).cursors == {FEED: "4-0"}


# --- versions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expected", ["0-0", "1-0", "2-1", "3-0"])
async def test_a_stream_that_ends_elsewhere_fences_the_commit(log: Log, expected: str) -> None:
    await log.commit(commit(0, appends=[Append(ONE, b"a", "1-0"), Append(ONE, b"b", "2-0"), Append(TWO, b"a", "1-0")]))
    before = await everything(log)
    torn = commit(
        1,
        expect={TWO: "1-0", ONE: expected},
        appends=[Append(TWO, b"b", "2-0"), Append(FEED, b"c"), Append(ONE, b"c", "4-0")],
        hash_set={TABLES: {"a": b"b"}},
    )
    assert await log.commit(torn) is FENCED
    assert await everything(log) == before
    assert await log.commit(msgspec.structs.replace(torn, expect={TWO: "1-0", ONE: "2-0"})) is COMMITTED


async def test_an_expectation_outlives_trimming(log: Log) -> None:
    await log.commit(commit(0, appends=[Append(ONE, b"a", "1-0"), Append(ONE, b"b", "2-0")]))
    await log.commit(commit(1, trim={ONE: "3-0"}))
    assert await log.range(ONE) == []
    assert await log.last_id(ONE) == "2-0"
    assert await log.commit(commit(2, "wrong", expect={ONE: "0-0"}, appends=[Append(ONE, b"c", "3-0")])) is FENCED
    assert await log.commit(commit(2, expect={ONE: "2-0"}, appends=[Append(ONE, b"c", "3-0")])) is COMMITTED


async def test_an_expectation_needs_no_append(log: Log) -> None:
    assert await log.commit(commit(0, expect={ONE: "0-0"}, string_set={BEAT: b"1"})) is COMMITTED
    assert await log.commit(commit(1, expect={ONE: "1-0"}, string_set={BEAT: b"2"})) is FENCED
    assert await log.get(BEAT) == b"1"


@pytest.mark.parametrize("late", ["5-3", "5-2", "4-9", "1-0"])
async def test_an_id_that_is_not_above_the_top_is_refused(log: Log, late: str) -> None:
    await log.commit(commit(0, appends=[Append(ONE, b"a", "5-3")]))
    before = await everything(log)
    refused = commit(1, appends=[Append(FEED, b"c"), Append(TWO, b"x", "1-0"), Append(ONE, b"b", late)])
    with pytest.raises(BadCommit, match="s07-one"):
        await log.commit(refused)
    assert await everything(log) == before


async def test_ids_may_leave_gaps(log: Log) -> None:
    appends = [Append(ONE, b"a", "5-3"), Append(ONE, b"b", "5-4"), Append(ONE, b"c", "70-0")]
    assert await log.commit(commit(0, appends=appends)) is COMMITTED
    assert [entry.id for entry in await log.range(ONE)] == ["5-3", "5-4", "70-0"]


@pytest.mark.parametrize(
    "bad",
    [
        {"appends": [Append(ONE, b"a", "2-0"), Append(ONE, b"b", "2-0")]},
        {"appends": [Append(ONE, b"a", "2-0"), Append(ONE, b"b", "1-5")]},
        {"appends": [Append(ONE, b"a", "0-0")]},
        {"expect": {ONE: "7-0"}, "appends": [Append(ONE, b"a", "7-0")]},
        {"appends": [Append(ONE, b"a", "2-0"), Append(ONE, b"b")]},
    ],
    ids=["same", "descending", "zero", "not above what is expected", "some by the server"],
)
async def test_ids_out_of_order_are_refused_before_anything_is_written(log: Log, bad: dict[str, Any]) -> None:
    with pytest.raises(BadCommit):
        await log.commit(commit(0, hash_set={TABLES: {"a": b"b"}}, **bad))
    assert await log.hash_all(TABLES) == {}


# --- what cannot be written --------------------------------------------------------------------------------------

KINDS = {
    "stream": {"appends": [Append(BEAT, b"x")]},
    "stream with ids": {"appends": [Append(BEAT, b"x", "1-0")]},
    "expected stream": {"expect": {BEAT: "0-0"}},
    "trimmed stream": {"trim": {BEAT: "1-0"}},
    "hash": {"hash_set": {BEAT: {"a": b"b"}}},
    "less of a hash": {"hash_delete": {BEAT: ["a"]}},
    "sorted set": {"zset_add": {BEAT: {"a": 1}}},
    "less of a sorted set": {"zset_remove": {BEAT: ["a"]}},
}


@pytest.mark.parametrize("contents", KINDS.values(), ids=KINDS)
async def test_another_kind_of_value_is_refused_before_anything_is_written(log: Log, contents: dict[str, Any]) -> None:
    await log.commit(commit(0, string_set={BEAT: b"a string"}))
    before = await everything(log)
    mixed: dict[str, Any] = {"appends": [Append(FEED, b"c")], "hash_set": {TABLES: {"a": b"b"}}}
    for name, value in contents.items():
        mixed[name] = [*mixed[name], *value] if name == "appends" else {**mixed.get(name, {}), **value}
    with pytest.raises(BadCommit, match="heartbeat"):
        await log.commit(commit(1, **mixed))
    assert await everything(log) == before
    assert await log.commit(commit(1)) is COMMITTED


@pytest.mark.parametrize("contents", [{"string_set": {FEED: b"x"}}, {"delete": [FEED]}], ids=["overwritten", "deleted"])
async def test_a_stream_is_never_lost(log: Log, contents: dict[str, Any]) -> None:
    await log.append(FEED, b"a")
    with pytest.raises(BadCommit, match="feed"):
        await log.commit(commit(0, hash_set={TABLES: {"a": b"b"}}, **contents))
    assert await data(log, FEED) == [b"a"]
    assert await log.hash_all(TABLES) == {}


@pytest.mark.parametrize(
    "contents",
    [
        {"appends": [Append(FOREIGN, b"x")]},
        {"expect": {FOREIGN: "0-0"}},
        {"trim": {FOREIGN: "1-0"}},
        {"hash_set": {FOREIGN: {"a": b"b"}}},
        {"hash_delete": {FOREIGN: ["a"]}},
        {"zset_add": {FOREIGN: {"a": 1}}},
        {"zset_remove": {FOREIGN: ["a"]}},
        {"string_set": {FOREIGN: b"x"}},
        {"delete": [FOREIGN]},
        {"string_set": {"no tag at all": b"x"}},
    ],
    ids=str,
)
async def test_a_key_of_another_shard_is_refused(log: Log, contents: dict[str, Any]) -> None:
    with pytest.raises(BadCommit, match="does not belong to shard s07"):
        await log.commit(commit(0, **contents))


async def test_no_other_method_takes_a_key_of_another_shard(log: Log) -> None:
    for call in (
        log.append(FOREIGN, b"a"),
        log.append_many(FOREIGN, [b"a"]),
        log.read({FOREIGN: "0-0"}, 1, 0),
        log.read_batch({FOREIGN: "0-0"}, 1, 0),
        log.range(FOREIGN),
        log.last_id(FOREIGN),
        log.get(FOREIGN),
        log.hash_all(FOREIGN),
        log.hash_get(FOREIGN, ["a"]),
        log.due(FOREIGN, 1, 1),
    ):
        with pytest.raises(ValueError, match="does not belong to shard s07"):
            await call


async def test_reading_another_kind_of_value_is_a_bug(log: Log) -> None:
    await log.commit(commit(0, string_set={BEAT: b"a string"}))
    for call in (log.append(BEAT, b"a"), log.range(BEAT), log.last_id(BEAT), log.hash_all(BEAT), log.due(BEAT, 1, 1)):
        with pytest.raises(ValueError, match=r"kind|holds"):
            await call


async def test_the_position_belongs_to_the_commit(log: Log) -> None:
    with pytest.raises(BadCommit):
        await log.commit(commit(0, hash_set={POSITION: {"number": b"9"}}))


# --- fencing -----------------------------------------------------------------------------------------------------


async def test_a_fence_beats_the_old_owner(log: Log, nonces: Iterator[str]) -> None:
    old = await log.fence(TABLE, next(nonces))
    assert await log.commit(commit(old.number, cursors={COMMANDS: "1-0"})) is COMMITTED
    new = await log.fence(TABLE, next(nonces))
    assert new.cursors == {COMMANDS: "1-0"}
    assert await log.commit(commit(old.number + 1, "old", appends=[Append(FEED, b"old")])) is FENCED
    assert await log.commit(commit(new.number, "new", appends=[Append(FEED, b"new")])) is COMMITTED
    assert await data(log, FEED) == [b"new"]


async def test_a_commit_sent_again_after_a_fence_is_fenced(log: Log) -> None:
    first = commit(0, appends=[Append(FEED, b"once")])
    await log.commit(first)
    await log.fence(TABLE, "fence")
    assert await log.commit(first) is FENCED
    assert await data(log, FEED) == [b"once"]


async def test_a_fence_sent_again_changes_nothing(log: Log) -> None:
    position = await log.fence(TABLE, "a")
    assert await log.fence(TABLE, "a") == position
    assert await log.commit(commit(position.number)) is COMMITTED


async def test_of_two_owners_one_commits(store: Store) -> None:
    logs = [store.log("s07") for _ in range(8)]
    position = await logs[0].fence(TABLE, "all at once")
    commits = [commit(position.number, f"of {n}", appends=[Append(FEED, b"%d" % n)]) for n in range(8)]
    outcomes = await asyncio.gather(*[log.commit(one) for log, one in zip(logs, commits, strict=True)])
    assert sorted(outcome.value for outcome in outcomes) == ["committed"] + ["fenced"] * 7
    winner = outcomes.index(COMMITTED)
    assert await data(logs[0], FEED) == [b"%d" % winner]


async def test_counts_other_owners_since_a_cursor_moved(log: Log) -> None:
    assert [(await log.fence(TABLE, f"{name}-0")).takeovers for name in "abc"] == [0, 1, 2]
    await log.commit(commit(3, string_set={BEAT: b"1"}))
    assert (await log.fence(TABLE, "a-1")).takeovers == 2, "a is there again, and counts once"
    assert (await log.fence(TABLE, "d e-0")).takeovers == 3
    assert (await log.fence(TABLE, "d e-1")).takeovers == 3
    await log.commit(commit(7, cursors={COMMANDS: "1-0"}))
    assert (await log.fence(TABLE, "b-1")).takeovers == 0
    for number in range(100):
        await log.fence(TABLE, f"worker {number}-0")
    assert (await log.fence(TABLE, "b-2")).takeovers == MOST_OWNERS - 1, "no more are remembered"


async def test_keeps_what_was_tried_alone_until_the_next_commit(log: Log) -> None:
    attempt = Attempt(f"{COMMANDS}/1-0", ("a", "b"))
    await log.commit(commit(0, attempt=attempt))
    assert (await log.fence(TABLE, "c-0")).attempt == attempt
    assert (await log.fence(TABLE, "c-1")).attempt == attempt
    assert (await log.fence(TABLE, "a-7")).attempt == Attempt(f"{COMMANDS}/1-0", ("b",)), "it did not kill a"
    assert (await log.fence(TABLE, "b-7")).attempt == Attempt(f"{COMMANDS}/1-0", ())
    await log.commit(commit(5))
    assert (await log.fence(TABLE, "c-2")).attempt is None


# --- appending and reading ---------------------------------------------------------------------------------------


async def test_appends_keep_their_order(log: Log) -> None:
    ids = await log.append_many(COMMANDS, [b"%d" % number for number in range(2_500)])
    ids += await asyncio.gather(*[log.append(COMMANDS, b"%d" % number) for number in range(2_500, 2_600)])
    entries = await log.range(COMMANDS)
    assert [entry.id for entry in entries] == ids
    assert [entry.data for entry in entries] == [b"%d" % number for number in range(2_600)]


async def test_whoever_was_answered_may_ask_again_at_once(log: Log) -> None:
    async with asyncio.timeout(20):
        for number in range(50):
            await log.append(COMMANDS, b"%d" % number)
            await log.now_ms()
    assert await data(log, COMMANDS) == [b"%d" % number for number in range(50)]


async def test_ids_are_the_stores_milliseconds(log: Log) -> None:
    before = await log.now_ms()
    await log.append(COMMANDS, b"a")
    after = await log.now_ms()
    [entry] = await log.range(COMMANDS)
    assert before <= entry.at_ms <= after


async def test_nothing_to_append_is_nothing(log: Log) -> None:
    assert await log.append_many(COMMANDS, []) == []


async def test_reads_after_the_cursors(log: Log) -> None:
    first, second = await log.append_many(COMMANDS, [b"a", b"b"])
    await log.append(DEALT, b"c")
    entries = await log.read({COMMANDS: first, DEALT: "0-0"}, 10, 0)
    assert [(entry.stream, entry.data) for entry in entries] == [(COMMANDS, b"b"), (DEALT, b"c")]
    assert entries[0].id == second
    assert await log.read({COMMANDS: second}, 10, 0) == []


async def test_reads_a_number_of_entries_of_each_stream(log: Log) -> None:
    await log.append_many(COMMANDS, [b"a", b"b", b"c"])
    await log.append_many(DEALT, [b"d", b"e", b"f"])
    entries = await log.read({DEALT: "0-0", COMMANDS: "0-0"}, 2, 0)
    assert [entry.data for entry in entries] == [b"d", b"e", b"a", b"b"]


async def test_reads_the_clock_with_the_entries(log: Log) -> None:
    before = await log.now_ms()
    await log.append(COMMANDS, b"a")
    batch = await log.read_batch({COMMANDS: "0-0"}, 10, 0)
    assert [entry.data for entry in batch.entries] == [b"a"]
    assert before <= batch.entries[0].at_ms <= batch.now_ms <= await log.now_ms()
    assert (await log.read_batch({DEALT: "0-0"}, 10, 0)).entries == []


async def test_waits_for_an_entry(log: Log) -> None:
    reading = asyncio.create_task(log.read_batch({COMMANDS: "0-0", DEALT: "0-0"}, 10, 5_000))
    await asyncio.sleep(0.1)
    started = await log.now_ms()
    await log.append(DEALT, b"a")
    batch = await asyncio.wait_for(reading, 2)
    assert [entry.data for entry in batch.entries] == [b"a"]
    assert batch.now_ms >= started


async def test_wakes_for_a_commit_too(log: Log) -> None:
    reading = asyncio.create_task(log.read({FEED: "0-0"}, 10, 5_000))
    await asyncio.sleep(0.05)
    await log.commit(commit(0, appends=[Append(FEED, b"a")]))
    assert [entry.data for entry in await asyncio.wait_for(reading, 2)] == [b"a"]


async def test_waits_no_longer_than_it_was_told(log: Log) -> None:
    started = time.monotonic()
    assert await log.read({COMMANDS: "0-0"}, 10, 200) == []
    assert 0.15 <= time.monotonic() - started < 1.5


@pytest.mark.slow
async def test_waits_longer_than_one_blocking_read(log: Log) -> None:
    started = time.monotonic()
    assert await log.read({COMMANDS: "0-0"}, 10, 2_600) == []
    assert 2.5 <= time.monotonic() - started < 4


async def test_many_wait_at_once(store: Store) -> None:
    reading = [
        asyncio.create_task(store.log(f"s{n:02}").read({keys.feed(f"s{n:02}"): "0-0"}, 1, 5_000)) for n in range(80)
    ]
    await asyncio.sleep(0.2)
    await asyncio.gather(*[store.log(f"s{n:02}").append(keys.feed(f"s{n:02}"), b"%d" % n) for n in range(80)])
    assert [entry.data for [entry] in await asyncio.gather(*reading)] == [b"%d" % n for n in range(80)]


async def test_a_cancelled_call_leaves_no_answer_to_others(log: Log) -> None:
    await log.commit(commit(0, string_set={BEAT: b"secret"}, hash_set={TABLES: {"a": b"b"}}))
    for delay in (0.0, 0.0001, 0.0003, 0.001):
        for _ in range(10):
            calls = [
                asyncio.create_task(call)
                for call in (log.get(BEAT), log.read({DEALT: "0-0"}, 1, 5), log.commit(commit(99)), log.last_id(FEED))
            ]
            await asyncio.sleep(delay)
            for call in calls:
                call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*calls)
            assert await log.hash_all(TABLES) == {"a": b"b"}
            assert await log.read({COMMANDS: "0-0"}, 1, 0) == []
            assert await log.hash_get(TABLES, ["a"]) == [b"b"]


async def test_ranges(log: Log) -> None:
    appends = [Append(ONE, b"%d" % version, f"{version}-0") for version in range(1, 2_501)]
    await log.commit(commit(0, appends=appends))
    assert [entry.at_ms for entry in await log.range(ONE)] == list(range(1, 2_501))
    assert [entry.at_ms for entry in await log.range(ONE, after="2498-0")] == [2499, 2500]
    assert [entry.at_ms for entry in await log.range(ONE, after="1-0", count=2)] == [2, 3]
    assert len(await log.range(ONE, count=1_001)) == 1_001
    assert await log.range(ONE, after="2500-0") == []
    assert await log.range(TWO) == []


async def test_trimming_keeps_the_named_entry_and_the_last_id(log: Log) -> None:
    await log.commit(commit(0, appends=[Append(ONE, b"%d" % version, f"{version}-0") for version in range(1, 301)]))
    assert await log.commit(commit(1, trim={ONE: "299-0", TWO: "5-0"})) is COMMITTED
    assert [entry.id for entry in await log.range(ONE)] == ["299-0", "300-0"]
    assert await log.last_id(ONE) == "300-0"
    assert await log.last_id(TWO) == "0-0"


async def test_appends_come_before_trimming(log: Log) -> None:
    await log.commit(commit(0, appends=[Append(ONE, b"a", "1-0"), Append(ONE, b"b", "2-0")], trim={ONE: "2-0"}))
    assert await data(log, ONE) == [b"b"]


async def test_what_is_not_there_is_empty(log: Log) -> None:
    assert await log.last_id(ONE) == "0-0"
    assert await log.get(BEAT) is None
    assert await log.hash_all(TABLES) == {}
    assert await log.hash_get(TABLES, ["a", "b"]) == [None, None]
    assert await log.due(DEADLINES, 10, 10) == []


async def test_fields_come_in_the_order_asked_for(log: Log) -> None:
    await log.commit(commit(0, hash_set={TABLES: {"a": b"1", "b": b"2"}}))
    assert await log.hash_get(TABLES, ["b", "none", "a"]) == [b"2", None, b"1"]


async def test_due_members_come_earliest_first(log: Log) -> None:
    await log.commit(commit(0, zset_add={DEADLINES: {"c": 3, "a": 1, "d": 4, "b": 2}}))
    assert await log.due(DEADLINES, 3, 10) == [("a", 1), ("b", 2), ("c", 3)]
    assert await log.due(DEADLINES, 3, 2) == [("a", 1), ("b", 2)]
    await log.commit(commit(1, zset_add={DEADLINES: {"a": 9}}))
    assert await log.due(DEADLINES, 3, 1) == [("b", 2)]


# --- leases and workers ------------------------------------------------------------------------------------------


async def test_one_owner_holds_a_lease(log: Log) -> None:
    assert await log.acquire_lease(TABLE, "one", 5_000)
    assert not await log.acquire_lease(TABLE, "two", 5_000)
    assert await log.acquire_lease(TABLE, "one", 5_000)
    assert await log.acquire_lease(Service.DEALER, "two", 5_000)


async def test_a_lease_runs_out(log: Log) -> None:
    await log.acquire_lease(TABLE, "one", 30)
    await asyncio.sleep(0.06)
    assert await log.acquire_lease(TABLE, "two", 5_000)
    assert not await log.acquire_lease(TABLE, "one", 5_000)


async def test_only_the_owner_releases_a_lease(log: Log) -> None:
    await log.acquire_lease(TABLE, "one", 5_000)
    await log.release_lease(TABLE, "two")
    assert not await log.acquire_lease(TABLE, "two", 5_000)
    await log.release_lease(TABLE, "one")
    assert await log.acquire_lease(TABLE, "two", 5_000)


async def test_workers_are_known_while_they_live(store: Store) -> None:
    assert await store.announce(TABLE, "b", 5_000) == ["b"]
    assert await store.announce(TABLE, "a", 5_000) == ["a", "b"]
    assert await store.announce(Service.DEALER, "c", 5_000) == ["c"]
    await store.withdraw(TABLE, "b")
    assert await store.announce(TABLE, "a", 30) == ["a"]
    await asyncio.sleep(0.06)
    assert await store.announce(TABLE, "d", 5_000) == ["d"]


async def test_a_ticket_is_used_once_and_forgotten_when_it_is_no_good_anyway(store: Store) -> None:
    first = await asyncio.gather(*(store.use_ticket("t1", 150) for _ in range(20)))
    assert sorted(first) == [False] * 19 + [True]
    assert await store.use_ticket("t2", 150)
    await asyncio.sleep(0.2)
    assert await store.use_ticket("t1", 10_000)
    assert not await store.use_ticket("t1", 10_000)
