"""What of a shard's streams nobody needs any more, and when the table service forgets it (docs/operating/retention.md).

=================  ==========================================================================================
stream             is trimmed
=================  ==========================================================================================
a table's log      behind the snapshot of a hand's end that history has read past: by then the archive has all
                   that came before. The last entries stay in any case, for players who come back.
``feed``           behind dealer and history, and after a minute: gateways read it live, and one that was away for
                   longer begins anew.
``commands``,      behind this service's own cursor
``dealt``,
``wallet-replies``
``wallet-requests``  behind the wallet's
=================  ==========================================================================================

The entry at a reader's cursor always stays. Nothing here is needed to go on: an owner that knows nothing yet trims
nothing, and finds out within seconds.
"""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Log
from brelan.eventlog.outputs import Outputs
from brelan.eventlog.readers import FEED_KEPT_MS, Readers, cursors_of, earliest, is_before

LOOK_MS = 2_000  # positions are read this often
LEAST_KEPT = 64  # entries of a table's log
STEP = 32  # a log is trimmed when so many of its entries can go
MOST_LOGS = 256  # trimmed in one commit


class Standing(NamedTuple):
    """Where a table stands, and where the last snapshot of it does."""

    table_id: str
    version: int
    snapshot: int


class TableLog:
    """What is known of one table's log."""

    __slots__ = ("awaited", "awaited_feed", "kept_from", "ripe")

    def __init__(self) -> None:
        self.awaited = 0  # the version of a snapshot ...
        self.awaited_feed = BEGINNING  # ... which history has read past when its cursor on the feed is here
        self.ripe = 0  # the version of the last one that it has read past
        self.kept_from = 1  # the log has nothing before this version


class Trimming:
    """Of one shard: ``look`` from time to time, ``trim`` into a commit, and ``committed`` when that is through."""

    def __init__(self, shard: str, *, feed_kept_ms: int = FEED_KEPT_MS, look_ms: int = LOOK_MS) -> None:
        self._shard = shard
        self._feed_kept_ms = feed_kept_ms
        self._look_ms = look_ms
        self._inboxes = [
            Readers(shard, stream, (Service.TABLE,), watched=False)
            for stream in (keys.commands(shard), keys.dealt(shard), keys.wallet_replies(shard))
        ]
        self._requests = Readers(shard, keys.wallet_requests(shard), (Service.WALLET,))
        self._feed = Readers(shard, keys.feed(shard), (Service.DEALER, Service.HISTORY))
        self.discard()

    def discard(self) -> None:
        """Nothing is known of the logs any more."""
        self._logs: dict[str, TableLog] = {}
        self._looked_ms: int | None = None
        self._fresh = False  # looked, and not trimmed since
        self._staged: dict[str, int] = {}

    # --- looking -----------------------------------------------------------------------------------------------

    async def look(self, log: Log, now_ms: int, standings: Iterable[Standing]) -> None:
        """``standings``: of all that this owner has committed, and nothing else. Raises LogUnavailable."""
        if self._looked_ms is not None and 0 <= now_ms - self._looked_ms < self._look_ms:
            return
        readers = (*self._inboxes, self._requests, self._feed)
        cursors = await cursors_of(log, (Service.TABLE, Service.DEALER, Service.WALLET, Service.HISTORY))
        await asyncio.gather(*(each.look(log, cursors, now_ms) for each in readers))
        feed_end = await log.last_id(self._feed.stream)
        archived = cursors[Service.HISTORY].get(self._feed.stream, BEGINNING)
        self._ripen(standings, archived, feed_end)
        self._looked_ms = now_ms
        self._fresh = True

    def _ripen(self, standings: Iterable[Standing], archived: str, feed_end: str) -> None:
        """A snapshot's entry lies on the feed no later than the feed's end does now. Once history's cursor is there,
        the archive has all up to that hand's end, and its mark stands no earlier than right before the snapshot."""
        for table_id, version, snapshot in standings:
            log = self._logs.setdefault(table_id, TableLog())
            if log.awaited and not is_before(archived, log.awaited_feed):
                log.ripe, log.awaited = log.awaited, 0
            if not log.awaited and snapshot > log.ripe and version >= snapshot:
                log.awaited, log.awaited_feed = snapshot, feed_end

    # --- trimming ----------------------------------------------------------------------------------------------

    def trim(self, now_ms: int, standings: Iterable[Standing], outputs: Outputs) -> None:
        """Once after each look."""
        self._staged = {}
        if not self._fresh:
            return
        self._fresh = False
        for each in (*self._inboxes, self._requests):
            if each.behind is not None:
                outputs.trim(each.stream, each.behind)
        if self._feed.behind is not None:
            outputs.trim(self._feed.stream, earliest(self._feed.behind, f"{max(0, now_ms - self._feed_kept_ms)}-0"))
        for table_id, version, _ in standings:
            self._trim_log(table_id, version, outputs)
            if len(self._staged) >= MOST_LOGS:
                return

    def _trim_log(self, table_id: str, version: int, outputs: Outputs) -> None:
        log = self._logs.get(table_id)
        if log is None:
            return
        keep_from = min(log.ripe, version - LEAST_KEPT + 1)
        if keep_from - log.kept_from >= STEP:
            outputs.trim(keys.table_log(table_id), f"{keep_from}-0")
            self._staged[table_id] = keep_from

    def committed(self) -> None:
        for table_id, keep_from in self._staged.items():
            self._logs[table_id].kept_from = keep_from
        self._staged = {}
