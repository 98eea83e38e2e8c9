"""A gateway that has seen more of the feed than is there any more (ADR 0008)."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from websockets.asyncio.client import ClientConnection

from brelan.eventlog import keys
from brelan.eventlog.log import Batch, LogUnavailable
from brelan.eventlog.memory_log import MemoryLog, MemoryStore, Stream
from brelan.eventlog.plan import parse_id
from brelan.eventlog.tail import Tail, look_back, newest
from brelan.events import table as facts
from brelan.events.envelope import TableCommitted, TailLost, decode_command, encode
from brelan.views import messages as views
from tests.services.gateway_room import GatewayRoom, ScriptedTable, gateway_room, receive, until


class FailingLog(MemoryLog):
    """A log whose connection can break."""

    broken = False

    async def read_durable(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        if self.broken:
            raise LogUnavailable("the master is gone")
        batch = await super().read_durable(cursors, count, min(block_ms, 20))
        if self.broken:
            raise LogUnavailable("the master is gone")
        return batch


def lose_feed(store: MemoryStore, entries: int) -> None:
    feed = store.find(keys.feed("s00"), Stream)
    assert feed is not None
    del feed.ids[-entries:], feed.data[-entries:]
    feed.last = feed.ids[-1]


def reports(store: MemoryStore) -> list[TailLost]:
    found = store.find(keys.commands("s00"), Stream)
    return [one for data in (found.data if found else []) if isinstance(one := decode_command(data), TailLost)]


async def snapshot_of(socket: ClientConnection) -> views.Snapshot:
    while True:
        message = await receive(socket)
        if isinstance(message, views.Snapshot):
            return message


async def _break(room: GatewayRoom, log: FailingLog) -> None:
    log.broken = True
    await until(lambda: room.room.shards["s00"].feed.trouble)


async def _mend(room: GatewayRoom, log: FailingLog) -> None:
    log.broken = False
    await until(lambda: not room.room.shards["s00"].feed.trouble)


@contextlib.asynccontextmanager
async def seated_room(folder: Path) -> AsyncIterator[tuple[GatewayRoom, ScriptedTable, FailingLog]]:
    """A gateway that has seen two players sit down."""
    store = MemoryStore()
    log = FailingLog(store, "s00")
    async with gateway_room(folder, store, logs={"s00": log}) as room:
        table = room.open_table()
        table.seat("ana", "ben")
        await room.sees(table)
        yield room, table, log


async def test_what_was_seen_and_is_gone_is_reported_and_shown_again_only_in_a_higher_epoch(tmp_path: Path) -> None:
    async with seated_room(tmp_path) as (room, table, log), room.socket("ana") as socket:
        first = await snapshot_of(socket)
        table.start_hand("ana", "ben")
        await room.sees(table)
        seen = table.version
        await _break(room, log)
        table.lose_tail(2)
        lose_feed(room.store, 2)
        await _mend(room, log)
        await until(lambda: reports(room.store))
        (report,) = reports(room.store)
        assert report.reader == "gateway/g1"
        assert report.epoch == first.epoch == 1
        table.epoch = 2
        table.commit(facts.OutageEnded(0, 1))
        again = await snapshot_of(socket)
        assert (again.epoch, again.version) == (2, table.version)
        assert again.version < seen


async def test_an_entry_that_is_lost_before_its_table_is_read_shows_nobody_an_older_one(tmp_path: Path) -> None:
    async with seated_room(tmp_path) as (room, table, _), room.socket("ana") as socket:
        await snapshot_of(socket)
        table.start_hand("ana", "ben")
        await room.sees(table)
        seen = table.version
        lost = TableCommitted(table.table_id, 2, seen - 1, 0, (facts.OutageEnded(0, 1),))  # on the feed, not in the log
        entry_id = await room.store.log("s00").append(keys.feed("s00"), encode(lost))
        await until(lambda: room.room.shards["s00"].feed._cursor == entry_id)
        table.epoch = 3
        table.commit(facts.OutageEnded(0, 2))
        again = await snapshot_of(socket)
        assert (again.epoch, again.version) == (3, seen + 1)


async def test_an_interruption_without_loss_reports_nothing_and_resumes(tmp_path: Path) -> None:
    async with seated_room(tmp_path) as (room, table, log), room.socket("ana") as socket:
        await snapshot_of(socket)
        await _break(room, log)
        table.start_hand("ana", "ben")
        await _mend(room, log)
        message = await receive(socket)
        while not isinstance(message, views.Events):
            message = await receive(socket)
        assert message.version == table.version
        assert not reports(room.store)


async def test_a_feed_trimmed_past_the_cursor_begins_anew(tmp_path: Path) -> None:
    async with seated_room(tmp_path) as (room, table, log), room.socket("ana") as socket:
        await snapshot_of(socket)
        await _break(room, log)
        table.start_hand("ana", "ben")
        table.commit(facts.OutageEnded(0, 1))
        feed = room.store.find(keys.feed("s00"), Stream)
        assert feed is not None
        feed.keep_from("{}-{}".format(*feed.ids[-1]))
        await _mend(room, log)
        again = await snapshot_of(socket)
        assert again.version == table.version
        assert not reports(room.store)


async def test_looking_back_tells_there_from_trimmed_from_lost() -> None:
    now_ms = 1_000
    store = MemoryStore(lambda: now_ms)
    log, stream = store.log("s00"), keys.feed("s00")
    assert await newest(log, stream) is None
    for data in (b"a", b"b", b"c"):
        await log.append(stream, data)
    last = await newest(log, stream)
    assert last is not None
    assert await look_back(log, last) is Tail.THERE
    await log.append(stream, b"d")
    assert await look_back(log, last) is Tail.THERE
    feed = store.find(stream, Stream)
    assert feed is not None
    feed.keep_from("1000-3")
    assert await look_back(log, last) is Tail.TRIMMED
    feed.keep_from("1000-9")
    assert await look_back(log, last) is Tail.TRIMMED
    feed.last = parse_id("1000-1")
    assert await look_back(log, last) is Tail.LOST, "the stream ends before it"
    await log.append(stream, b"another c")
    assert await look_back(log, last) is Tail.LOST, "another entry has its id"
    feed.ids[0] = parse_id("1000-1")
    feed.ids.append(parse_id("1000-4"))
    feed.data.append(b"e")
    assert await look_back(log, last) is Tail.LOST, "older entries are there, it is not"
