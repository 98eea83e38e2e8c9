"""What a store with replicas promises: outside a shard nobody sees what they do not have (ARCHITECTURE §7)."""

import asyncio
import contextlib
import time
from typing import Any

import pytest

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Append, Commit, Log, LogUnavailable, Outcome, Store
from tests.eventlog.conftest import Replicated

TABLE, DEALER = Service.TABLE, Service.DEALER
FEED, REQUESTS, RECORDS = keys.feed("s07"), keys.wallet_requests("s07"), keys.records("s07")
BEGINNING = {FEED: "0-0"}


@pytest.fixture
def log(replicated: Replicated) -> Log:
    return replicated.store.log("s07")


@pytest.fixture
def outside(replicated: Replicated) -> Log:
    """Another process's."""
    return replicated.store.log("s07")


def commit(number: int, *appends: tuple[str, bytes], service: Service = TABLE, **contents: Any) -> Commit:
    return Commit(service, number, f"{service} {number}", appends=[Append(*one) for one in appends], **contents)


async def seen(log: Log, cursors: dict[str, str], block_ms: int = 0) -> list[bytes]:
    return [entry.data for entry in (await log.read_durable(cursors, 100, block_ms)).entries]


async def eventually_committed(log: Log, wanted: Commit) -> None:
    """As an owner does it: after trouble, fence and decide again."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(LogUnavailable):
                position = await log.fence(wanted.service, f"fence {time.monotonic_ns()}")
                again = Commit(wanted.service, position.number, f"again {position.number}", appends=wanted.appends)
                assert await log.commit(again) is Outcome.COMMITTED
                return


async def test_without_replicas_it_is_a_plain_read(store: Store) -> None:
    log = store.log("s07")
    await log.commit(commit(0, (FEED, b"a")))
    batch = await log.read_durable(BEGINNING, 10, 0)
    assert [entry.data for entry in batch.entries] == [b"a"]
    assert batch.now_ms > 0
    assert await log.range(keys.durable("s07", TABLE)) == []


async def test_reads_what_the_replicas_have(log: Log, outside: Log) -> None:
    await log.fence(TABLE, "owner")
    assert await seen(outside, BEGINNING) == []
    assert await log.commit(commit(1, (FEED, b"a"), (REQUESTS, b"buy in"), (FEED, b"b"))) is Outcome.COMMITTED
    assert await seen(outside, {FEED: "0-0", REQUESTS: "0-0"}) == [b"a", b"b", b"buy in"]
    assert await log.commit(commit(2, (FEED, b"c"))) is Outcome.COMMITTED
    assert await seen(outside, {FEED: "0-0", REQUESTS: "0-0"}) == [b"a", b"b", b"c", b"buy in"]
    batch = await outside.read_durable(BEGINNING, 2, 0)
    assert [entry.data for entry in batch.entries] == [b"a", b"b"]
    assert batch.now_ms > 0
    assert len(await log.range(keys.durable("s07", TABLE))) == 1


async def test_a_commit_without_a_fence_knows_no_other_marks_and_looks_them_up(log: Log, outside: Log) -> None:
    await log.commit(commit(0, (REQUESTS, b"buy in")))
    await outside.commit(commit(1, (FEED, b"a")))
    assert await seen(log, {FEED: "0-0", REQUESTS: "0-0"}) == [b"a", b"buy in"]


async def test_each_service_has_its_own_mark(log: Log, outside: Log) -> None:
    await log.commit(commit(0, (FEED, b"a")))
    await log.commit(commit(0, (RECORDS, b"cards"), service=DEALER))
    assert await seen(outside, {FEED: "0-0", RECORDS: "0-0"}) == [b"a", b"cards"]


async def test_what_stays_inside_needs_no_replica(replicated: Replicated, log: Log) -> None:
    replicated.hold()
    inside = commit(0, (keys.dealt("s07"), b"cards"), service=DEALER, string_set={keys.heartbeat("s07"): b"1"})
    assert await log.commit(inside) is Outcome.COMMITTED


async def test_a_stream_without_a_mark_cannot_be_read_so(log: Log) -> None:
    with pytest.raises(ValueError, match="durable mark"):
        await log.read_durable({keys.commands("s07"): "0-0"}, 10, 0)
    with pytest.raises(ValueError, match="belong"):
        await log.read_durable({keys.feed("s08"): "0-0"}, 10, 0)


async def test_nothing_is_acknowledged_or_seen_while_the_replica_is_away(
    replicated: Replicated, log: Log, outside: Log
) -> None:
    await log.fence(TABLE, "owner")
    await log.commit(commit(1, (FEED, b"a")))
    replicated.hold()
    with pytest.raises(LogUnavailable):
        await log.commit(commit(2, (FEED, b"b")))
    assert [entry.data for entry in await log.range(FEED)] == [b"a", b"b"]  # inside the shard it is there
    assert await seen(outside, BEGINNING) == [b"a"]
    with pytest.raises(LogUnavailable):
        await log.fence(TABLE, "next owner")
    assert await seen(outside, BEGINNING) == [b"a"]
    replicated.go_on()
    await eventually_committed(log, commit(0, (FEED, b"c")))
    assert await seen(outside, BEGINNING) == [b"a", b"b", b"c"]


async def test_a_commit_sent_again_is_acknowledged_when_the_replica_has_it(
    replicated: Replicated, log: Log, outside: Log
) -> None:
    await log.fence(TABLE, "owner")
    replicated.hold()
    wanted = commit(1, (FEED, b"a"))
    with pytest.raises(LogUnavailable):
        await log.commit(wanted)
    with pytest.raises(LogUnavailable):
        await outside.commit(wanted)
    assert await seen(outside, BEGINNING) == []
    replicated.go_on()
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(LogUnavailable):
                assert await log.commit(wanted) is Outcome.DONE
                break
    assert await seen(outside, BEGINNING) == [b"a"]


async def test_readers_wait_for_the_mark(replicated: Replicated, log: Log, outside: Log) -> None:
    await log.fence(TABLE, "owner")
    waiting = asyncio.create_task(seen(outside, BEGINNING, 10_000))
    replicated.hold()
    with pytest.raises(LogUnavailable):
        await log.commit(commit(1, (FEED, b"a")))
    assert not waiting.done()
    replicated.go_on()
    await eventually_committed(log, commit(0, (FEED, b"b")))
    found = await waiting
    assert found in ([b"a"], [b"a", b"b"])


async def test_waits_no_longer_than_it_was_told(log: Log, outside: Log) -> None:
    await log.fence(TABLE, "owner")
    await log.commit(commit(1, (FEED, b"a")))
    (entry,) = (await outside.read_durable(BEGINNING, 10, 0)).entries
    started = time.monotonic()
    assert await seen(outside, {FEED: entry.id}, 150) == []
    assert 0.12 < time.monotonic() - started < 1.5


async def test_a_reader_behind_the_trimmed_part_waits(log: Log, outside: Log) -> None:
    await log.fence(TABLE, "owner")
    await log.commit(commit(1, (FEED, b"a")))
    (entry,) = (await outside.read_durable(BEGINNING, 10, 0)).entries
    trimmed = f"{int(entry.id.partition('-')[0]) + 100_000}-0"
    await log.commit(commit(2, trim={FEED: trimmed}))
    started = time.monotonic()
    assert await seen(outside, BEGINNING, 150) == []
    assert 0.12 < time.monotonic() - started < 1.5


async def test_the_server_has_an_id(log: Log, outside: Log) -> None:
    assert await log.server_id()
    assert await log.server_id() == await outside.server_id()
