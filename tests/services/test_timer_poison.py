"""Rubbish among the deadlines, on a real server: members that are no text, scores that are no time."""

import time
from typing import Any

import pytest
from redis import Redis

from brelan.eventlog import keys
from brelan.eventlog.encoding import FIELD
from brelan.eventlog.redis_log import RedisStore
from brelan.events.commands import ExpireTurn
from brelan.events.envelope import TurnExpired, encode
from brelan_timer.tasks import expire_turns, report_overdue

pytestmark = pytest.mark.redis

SHARD = "s00"
DEADLINES = keys.deadlines(SHARD)


async def test_rubbish_among_the_deadlines_stops_neither_sweeper_nor_worker_nor_report(redis_url: str) -> None:
    with Redis.from_url(redis_url) as store:
        now_ms = int(time.time() * 1000)
        rubbish = {b"\xff\xfe": 1, b"": 2, b"s00-ever": float("-inf"), b"s00-half": 2.5, b"x" * 100_000: 4}
        store.zadd(DEADLINES, {**rubbish, b"s00-true": now_ms - 5_000})
        events = RedisStore(redis_url)
        try:
            due = await events.log(SHARD).due(DEADLINES, now_ms, 10)
        finally:
            await events.close()
        assert ("s00-true", now_ms - 5_000) in due
        assert len(due) == len(rubbish) + 1
        expire_turns(store, SHARD, due, now_ms)
        entries: Any = store.xrange(keys.commands(SHARD))
        found = [fields[FIELD] for _, fields in entries]
        assert encode(TurnExpired("s00-true", ExpireTurn(now_ms - 5_000))) in found
        assert report_overdue([(store, [SHARD])]) == len(rubbish) + 1
