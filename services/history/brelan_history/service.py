"""History at work: read the feed, fold hands, keep those that are over, with the cursor, in one SQL transaction.

A hand in play is kept nowhere but in memory, and need not be: every table's mark in the archive says where its last
kept hand ended, and what came since stands in the table's log. So a worker that starts in the middle of a hand reads
back to the mark first. What is already behind the mark passes by: reading the feed again from an old cursor changes
nothing.
"""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Iterator, Sequence

import msgspec
import structlog

from brelan.eventlog import failpoints, keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Commit, LogUnavailable, Outcome, Store
from brelan.eventlog.tail import Tail, Taken, look_back
from brelan.events import envelope
from brelan.events.config import TableConfig
from brelan.histories.archive import Archive, ArchiveUnavailable, Page, Refused
from brelan.histories.table import TableFold, TableMark
from brelan.telemetry import metrics
from brelan.telemetry.health import Health
from brelan_history.handlers import Batch, Kept, OpenRecord, Shelf, understand, without
from brelan_history.rewind import rewound, went_back

BATCH = 256
BLOCK_MS = 500
LEASE_MS = 2_000  # how long a dead worker's shards wait for the next one
RENEW_MS = 500
CURSOR_MS = 1_000  # a cursor that nothing was kept with is written this often
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds between tries while a store is away

logger = structlog.get_logger(__name__)
decode_config = msgspec.msgpack.Decoder(TableConfig).decode


class Fenced(Exception):
    """Another worker has opened the shard: open it again, if the lease is still ours."""


class ShardHistory:
    """History of one shard: ``open``, then ``serve`` again and again; ``run`` does both until it is told to stop."""

    def __init__(
        self, store: Store, archive: Archive, shard: str, open_record: OpenRecord, name: str | None = None
    ) -> None:
        """``name`` must be this worker's own; a simulator chooses it."""
        self.shard = shard
        self.name = name or secrets.token_hex(8)
        self._log = store.log(shard)
        self._archive = archive
        self._open_record = open_record
        self._nonces = _nonces(f"{self.name}-{shard}")
        self._inboxes = (keys.feed(shard), keys.records(shard))
        self._shelf = Shelf()
        self._page = 0
        self._number = 0  # of our next commit to the event log
        self._read: dict[str, Taken] = {}  # how far was read: the last entry of each inbox ...
        self._written: dict[str, str] = {}  # ... and how far the archive knows
        self._written_ms = 0

    async def open(self) -> None:
        """Take the shard over. Raises LogUnavailable, ArchiveUnavailable."""
        position = await self._log.fence(Service.HISTORY, next(self._nonces))
        opened = await self._archive.open(self.shard)
        self._number = position.number
        self._page = opened.page
        self._written = {stream: opened.cursors[stream] for stream in self._inboxes if stream in opened.cursors}
        known = [Taken(stream, last, opened.digests.get(stream, b"")) for stream, last in self._written.items()]
        self._read = {one.stream: one for one in known if await self._is_there(one)}
        self._shelf = Shelf()
        if self._written:  # they may be of a restored backup: nothing is trimmed that has to be read again
            await self._tell_how_far()
        metrics.takeovers.labels(Service.HISTORY).inc()

    async def _is_there(self, last: Taken) -> bool:
        """If the end of an inbox was lost it is read again from its beginning: what is kept already passes by."""
        if await look_back(self._log, last) is not Tail.LOST:
            return True
        logger.error("the end of an inbox was lost", stream=last.stream, id=last.id)
        return False

    def _cursors(self) -> dict[str, str]:
        read = self._read
        return {stream: read[stream].id if stream in read else BEGINNING for stream in self._inboxes}

    async def serve(self, block_ms: int = BLOCK_MS) -> int:
        """Read one batch, keep what is over. Answers how many entries were read.

        Raises Fenced, LogUnavailable, ArchiveUnavailable; after each of them ``open`` comes next.
        """
        read = await self._log.read_durable(self._cursors(), BATCH, block_ms)
        metrics.inbox_waiting_entries.labels(Service.HISTORY).set(len(read.entries))
        if read.entries:
            lag_ms = max(0, read.now_ms - read.entries[0].at_ms)
            metrics.inbox_lag_seconds.labels(Service.HISTORY).set(lag_ms / 1000)
        await self._keep(understand(self.shard, read.entries, self._open_record), read.now_ms)
        return len(read.entries)

    async def _keep(self, batch: Batch, now_ms: int) -> None:
        kept = Kept()
        for entry, committed in batch.committed:
            await self._know(committed)
            if await went_back(self._log, self._shelf.fold(committed.table_id), committed):
                await self._rewind(committed, kept)
            await self._fill_gap(committed, kept)
            self._shelf.take(entry, committed, kept)
        self._read.update(batch.read)
        page = kept.page(self.shard, self._page, batch, self._read)
        waiting = page.cursors != self._written and now_ms - self._written_ms >= CURSOR_MS
        if page.hands or page.records or page.marks or page.dead or page.lost or waiting:
            await self._write(page, now_ms)
        for note in kept.notes:
            logger.warning("history", note=note)

    async def _write(self, page: Page, now_ms: int) -> None:
        failpoints.reach(Service.HISTORY, "archive:before")
        try:
            written = await failpoints.inside(Service.HISTORY, "archive:inside", self._archive.write(page))
        except Refused as refused:  # a hand id came back with another hand: keep both, and go on
            page = without(page, refused.hand_ids)
            written = await self._archive.write(page)
        failpoints.reach(Service.HISTORY, "archive:after")
        if not written:
            raise Fenced
        self._page += 1
        self._written = dict(page.cursors)
        self._written_ms = now_ms
        metrics.commits.labels(Service.HISTORY).inc()
        metrics.hands_stored.inc(sum(hand.new for hand in page.hands))
        for dead in page.dead:
            metrics.dead_letters.labels(Service.HISTORY).inc()
            logger.error("dead entry", stream=dead.stream, id=dead.entry_id, reason=dead.error)
        await self._tell_how_far()

    async def _tell_how_far(self) -> None:
        """In the event log too, for whoever trims it: so far everything is in the archive."""
        commit = Commit(Service.HISTORY, self._number, next(self._nonces), dict(self._written))
        told = failpoints.inside(Service.HISTORY, "cursor:inside", self._log.commit(commit))
        if await told is Outcome.FENCED:
            raise Fenced
        failpoints.reach(Service.HISTORY, "cursor:after")
        self._number += 1

    # --- what came before --------------------------------------------------------------------------------------

    async def _know(self, committed: envelope.TableCommitted) -> None:
        """The table's fold, from its mark if it is not there yet."""
        if not self._shelf.knows(committed.table_id):
            self._shelf.add(await self._fold_of(committed.table_id))

    async def _rewind(self, committed: envelope.TableCommitted, kept: Kept) -> None:
        """What was folded, and perhaps kept, is not what the log says: back to where both agree."""
        table_id, seen = committed.table_id, self._shelf.fold(committed.table_id).epoch
        lost, mark = await rewound(self._log, self._archive, committed, seen, await self._config_of(table_id))
        kept.hands = [hand for hand in kept.hands if hand.history.hand_id not in lost.hand_ids]
        kept.lost.append(lost)
        kept.marks[table_id] = mark
        self._shelf.add(TableFold(mark, await self._archive.history(mark.last_hand_id) if mark.last_hand_id else None))
        logger.error("the end of a table's log was lost", table=table_id, version=lost.version, hands=lost.hand_ids)
        report = envelope.TailLost(Service.HISTORY, seen, keys.table_log(table_id), f"{lost.version}-0")
        await self._log.append(keys.commands(self.shard), envelope.encode(report))

    async def _fill_gap(self, committed: envelope.TableCommitted, kept: Kept) -> None:
        """So that the entry can be folded: the table's log from where its fold is."""
        table_id = committed.table_id
        gap = self._shelf.missing(committed)
        if gap is None:
            return
        stream = keys.table_log(table_id)
        for entry in await self._log.range(stream, f"{gap.after}-0", gap.before - gap.after - 1):
            earlier = envelope.decode_committed(entry.data)
            if earlier.version < committed.version and earlier.epoch <= committed.epoch:
                self._shelf.take(entry, earlier, kept)

    async def _fold_of(self, table_id: str) -> TableFold:
        mark = await self._archive.mark(table_id)
        if mark is None:
            return TableFold(TableMark(table_id, config=await self._config_of(table_id)))
        last = await self._archive.history(mark.last_hand_id) if mark.last_hand_id else None
        return TableFold(mark, last)

    async def _config_of(self, table_id: str) -> TableConfig | None:
        """Only for a table whose opening was trimmed before we ever saw it: its log begins with it otherwise."""
        (config,) = await self._log.hash_get(keys.tables(self.shard), [table_id])
        return None if config is None else decode_config(config)

    # --- running -----------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event, health: Health) -> None:
        """While the lease is ours the shard is served; otherwise we stand by."""
        pause = FIRST_PAUSE
        health.ready(self.shard, False, "not open yet")
        while not stop.is_set():
            try:
                if await self._hold_lease():
                    await self.open()
                    health.ready(self.shard, True)
                    pause = FIRST_PAUSE
                    await self._serve_until(stop)
                else:
                    health.ready(self.shard, True)  # standing by is a good state to be in
                    await _pause(stop, RENEW_MS / 1000)
            except Fenced:
                logger.info("fenced: another worker has taken over", shard=self.shard)
                metrics.commits_fenced.labels(Service.HISTORY).inc()
            except (LogUnavailable, ArchiveUnavailable) as error:
                metrics.store_errors.labels(Service.HISTORY).inc()
                logger.warning("a store is away", shard=self.shard, reason=str(error))
                health.ready(self.shard, False, str(error))
                await _pause(stop, pause)
                pause = min(pause * 2, LONGEST_PAUSE)
        with contextlib.suppress(LogUnavailable):
            await self._log.release_lease(Service.HISTORY, self.name)

    async def _hold_lease(self) -> bool:
        return await self._log.acquire_lease(Service.HISTORY, self.name, LEASE_MS)

    async def _serve_until(self, stop: asyncio.Event) -> None:
        """Until it is time to stop, or the lease is lost."""
        owned = metrics.owned_shards.labels(Service.HISTORY)
        owned.inc()
        loop = asyncio.get_running_loop()
        renewed = loop.time()
        try:
            while not stop.is_set():
                await self.serve()
                if loop.time() - renewed >= RENEW_MS / 1000:
                    if not await self._hold_lease():
                        return
                    renewed = loop.time()
        finally:
            owned.dec()


async def run_all(histories: Sequence[ShardHistory], stop: asyncio.Event, health: Health) -> None:
    """Every shard by itself; what ends one for good ends all, and is raised."""
    tasks = [asyncio.create_task(history.run(stop, health)) for history in histories]
    try:
        await asyncio.gather(*tasks)
    finally:
        stop.set()
        await asyncio.gather(*tasks, return_exceptions=True)


def _nonces(name: str) -> Iterator[str]:
    for number in itertools.count():
        yield f"{name}-{number}"


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
