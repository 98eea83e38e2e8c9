"""What Celery carries out. Run twice, or late, these do no harm: the table decides whether a deadline still stands."""

import math
from collections.abc import Iterable, Sequence

import structlog
from redis import Redis

from brelan.eventlog import failpoints, keys
from brelan.eventlog.encoding import FIELD, milliseconds
from brelan.eventlog.keys import Service
from brelan.events.commands import ExpireTurn
from brelan.events.envelope import TurnExpired, encode
from brelan.telemetry import metrics

BEHIND_MS = 1_000  # a task that waited longer than this is worth a line
OVERDUE_MS = 1_000

logger = structlog.get_logger(__name__)


def expire_turns(store: Redis, shard: str, due: Sequence[tuple[str, int]], dispatched_ms: int) -> int:
    """``ExpireTurn`` for each deadline that has not been moved meanwhile; how many. Raises RedisError, OSError."""
    scores, now_ms = _scores(store, shard, [table_id for table_id, _ in due])
    if now_ms - dispatched_ms > BEHIND_MS:
        logger.warning("the timer's worker is behind", shard=shard, waited_ms=now_ms - dispatched_ms)
    pipeline = store.pipeline(transaction=False)
    for command in standing(due, scores, now_ms):
        pipeline.xadd(keys.commands(shard), {FIELD: command})
    failpoints.reach(Service.TIMER, "expire:before")
    expired = len(pipeline.execute())
    failpoints.reach(Service.TIMER, "expire:after")
    return expired


def standing(due: Sequence[tuple[str, int]], scores: Sequence[float | None], now_ms: int) -> list[bytes]:
    """The commands for those deadlines whose tables still have them; ``scores``: where they stand now."""
    return [
        encode(TurnExpired(table_id, ExpireTurn(due_ms)))
        for (table_id, due_ms), score in zip(due, scores, strict=True)
        if score == due_ms <= now_ms
    ]


def report_overdue(stores: Iterable[tuple[Redis, Sequence[str]]]) -> int:
    """Deadlines that nobody has enforced for a second: something on their way does not work.

    ``stores``: each server with its shards.
    """
    counts: dict[str, int] = {}
    late_ms = 0
    for store, shards in stores:
        found, oldest_ms = _overdue(store, shards)
        counts |= found
        late_ms = max(late_ms, oldest_ms)
    metrics.inbox_waiting_entries.labels(Service.TIMER).set(sum(counts.values()))
    metrics.inbox_lag_seconds.labels(Service.TIMER).set(late_ms / 1000)
    for shard, count in counts.items():
        if count:
            logger.warning("deadlines are overdue", shard=shard, count=count, oldest_ms=late_ms)
    return sum(counts.values())


def _overdue(store: Redis, shards: Sequence[str]) -> tuple[dict[str, int], int]:
    """How many of each shard, and for how long the oldest is due."""
    pipeline = store.pipeline(transaction=False)
    pipeline.time()
    for shard in shards:
        pipeline.zrange(keys.deadlines(shard), 0, 0, withscores=True)
    now, *lowest = pipeline.execute()
    now_ms = milliseconds(now)
    for shard in shards:
        pipeline.zcount(keys.deadlines(shard), "-inf", now_ms - OVERDUE_MS)
    counts = dict(zip(shards, pipeline.execute(), strict=True))
    times = [score for found in lowest for _, score in found if math.isfinite(score)]  # rubbish is counted, not timed
    oldest_ms = int(min(times, default=now_ms))
    return counts, now_ms - oldest_ms


def _scores(store: Redis, shard: str, table_ids: Sequence[str]) -> tuple[list[float | None], int]:
    """Where the tables' deadlines stand now, and the store's time."""
    pipeline = store.pipeline(transaction=False)
    pipeline.zmscore(keys.deadlines(shard), list(table_ids))
    pipeline.time()
    scores, now = pipeline.execute()
    return scores, milliseconds(now)
