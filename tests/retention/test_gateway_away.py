"""A gateway that stood still while the feed was trimmed: it begins anew, and its players see the table as it is."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from brelan.eventlog import keys
from brelan.eventlog.log import Batch
from brelan.eventlog.memory_log import MemoryLog, MemoryStore, Stream, monotonic_ms
from brelan.eventlog.readers import FEED_KEPT_MS, LIVE_MS
from brelan.views import messages as views
from tests.services.gateway_room import gateway_room, receive, until


class StoppingLog(MemoryLog):
    """A log whose reader can be stopped between two reads, as by SIGSTOP."""

    def __init__(self, store: MemoryStore, shard: str) -> None:
        super().__init__(store, shard)
        self.goes = asyncio.Event()
        self.goes.set()
        self.stands = asyncio.Event()

    async def read_durable(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        if not self.goes.is_set():
            self.stands.set()
            await self.goes.wait()
        return await super().read_durable(cursors, count, min(block_ms, 20))


async def test_what_was_trimmed_while_it_stood_still_is_made_good_by_beginning_anew(tmp_path: Path) -> None:
    ahead_ms = 0
    store = MemoryStore(lambda: monotonic_ms() + ahead_ms)
    log = StoppingLog(store, "s00")
    async with gateway_room(tmp_path, store, logs={"s00": log}) as room:
        table, other = room.open_table(), room.open_table("s00-other")
        table.seat("ana", "ben")
        await room.sees(table)
        async with room.socket("ana") as socket:
            before = await receive(socket)
            while not isinstance(before, views.Snapshot):
                before = await receive(socket)
            log.goes.clear()
            await asyncio.wait_for(log.stands.wait(), 10)
            table.start_hand("ana", "ben")
            ahead_ms = FEED_KEPT_MS + LIVE_MS
            other.seat("cleo")
            feed = store.find(keys.feed("s00"), Stream)
            assert feed is not None
            feed.keep_from(f"{feed.last[0]}-{feed.last[1]}")  # nothing of the watched table is left
            log.goes.set()
            after = await asyncio.wait_for(receive(socket), 10)
            while not isinstance(after, views.Snapshot):
                after = await asyncio.wait_for(receive(socket), 10)
            assert after.version == table.version > before.version
            await until(lambda: not room.room.shards["s00"].feed.trouble)
