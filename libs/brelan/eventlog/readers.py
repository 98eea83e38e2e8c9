"""How far the readers of a shard's streams have come, for whoever trims them.

A stream is trimmed behind the slowest of its readers, and the entry that each of them took last stays: by it he knows,
when he comes back, that nothing was lost. A reader that has never been there holds everything; that is said, not
guessed at.
"""

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Log
from brelan.eventlog.plan import parse_id
from brelan.eventlog.position import position_of
from brelan.telemetry import metrics

FEED_KEPT_MS = 60_000  # also when all that leave a cursor have read it: gateways read the feed live, and leave none
LIVE_MS = 30_000  # a gateway that was away, or is behind, for longer begins anew: what it missed may be trimmed
LATE_MS = 600_000  # a reader that is so far behind is worth a line in the log ...
SAY_EVERY_MS = 60_000  # ... this often

logger = structlog.get_logger(__name__)


def is_before(entry_id: str, other: str) -> bool:
    return parse_id(entry_id) < parse_id(other)


def earliest(*entry_ids: str) -> str:
    return min(entry_ids, key=parse_id)


async def cursors_of(log: Log, services: Sequence[Service]) -> dict[Service, dict[str, str]]:
    """What each of them has committed to have read; nothing of one that was never here."""
    found = await asyncio.gather(*(log.hash_all(keys.position(log.shard, service)) for service in services))
    return {service: dict(position_of(fields).cursors) for service, fields in zip(services, found, strict=True)}


class Readers:
    """Of one stream. ``watched``: it is said when one of them is late, for nobody else would."""

    def __init__(self, shard: str, stream: str, services: Sequence[Service], *, watched: bool = True) -> None:
        self.stream = stream
        self.behind: str | None = None  # what lies before this entry nobody needs any more; None: somebody may
        self._shard = shard
        self._services = tuple(services)
        self._watched = watched
        self._said_ms = 0

    async def look(self, log: Log, cursors: Mapping[Service, Mapping[str, str]], now_ms: int) -> None:
        """Raises LogUnavailable."""
        stands = {service: cursors.get(service, {}).get(self.stream, BEGINNING) for service in self._services}
        behind = earliest(*stands.values())
        self.behind = None if behind == BEGINNING else behind
        if self._watched:
            for service, cursor in stands.items():
                waiting = await log.range(self.stream, after=cursor, count=1)
                late_ms = max(0, now_ms - waiting[0].at_ms) if waiting else 0
                _held_back.note(self._shard, service, late_ms)
                self._say(service, cursor, late_ms, now_ms)

    def _say(self, service: Service, cursor: str, late_ms: int, now_ms: int) -> None:
        if late_ms < LATE_MS or now_ms - self._said_ms < SAY_EVERY_MS:
            return
        self._said_ms = now_ms
        logger.warning(
            "a stream cannot be trimmed: a reader is away, or was never there",
            stream=self.stream,
            reader=service.value,
            cursor=cursor,
            seconds=late_ms // 1000,
        )


class _HeldBack:
    """The latest of a reader's shards, in one gauge."""

    def __init__(self) -> None:
        self._late_ms: dict[Service, dict[str, int]] = {}

    def note(self, shard: str, reader: Service, late_ms: int) -> None:
        shards = self._late_ms.setdefault(reader, {})
        if shards.get(shard) == late_ms:
            return
        shards[shard] = late_ms
        metrics.trimming_held_back_seconds.labels(reader.value).set(max(shards.values()) / 1000)


_held_back = _HeldBack()
