"""What Celery carries out, called directly on a real server."""

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from redis import Redis
from redis.exceptions import RedisError

from brelan.eventlog import keys
from brelan.eventlog.blocking import BlockingStore
from brelan.events.commands import ExpireTurn
from brelan.events.envelope import TurnExpired, decode_command
from brelan.telemetry import metrics
from brelan_timer.celery_app import EXPIRE_TURNS, REPORT_OVERDUE, make_app
from brelan_timer.settings import TimerSettings
from brelan_timer.tasks import expire_turns, report_overdue

pytestmark = pytest.mark.redis

SHARD = "s00"
DEADLINES = keys.deadlines(SHARD)


@pytest.fixture
def store(redis_url: str) -> Iterator[Redis]:
    with BlockingStore(redis_url) as store:
        yield store.client(SHARD)


def now_ms(store: Redis) -> int:
    seconds, microseconds = store.time()
    return int(seconds) * 1000 + int(microseconds) // 1000


def appended(store: Redis) -> list[TurnExpired]:
    entries: Any = store.xrange(keys.commands(SHARD))
    commands = [decode_command(fields[b"m"]) for _, fields in entries]
    assert all(isinstance(command, TurnExpired) for command in commands)
    return [command for command in commands if isinstance(command, TurnExpired)]


def test_every_deadline_that_still_stands_becomes_a_command(store: Redis) -> None:
    now = now_ms(store)
    store.zadd(DEADLINES, {"s00-a": now - 10, "s00-b": now - 5})
    assert expire_turns(store, SHARD, [("s00-a", now - 10), ("s00-b", now - 5)], now) == 2
    assert appended(store) == [
        TurnExpired("s00-a", ExpireTurn(now - 10)),
        TurnExpired("s00-b", ExpireTurn(now - 5)),
    ]


def test_a_deadline_that_was_moved_or_taken_away_is_dropped(store: Redis) -> None:
    now = now_ms(store)
    store.zadd(DEADLINES, {"s00-a": now + 10_000, "s00-b": now - 5})
    due = [("s00-a", now - 10), ("s00-b", now - 5), ("s00-gone", now - 1)]
    assert expire_turns(store, SHARD, due, now) == 1
    assert appended(store) == [TurnExpired("s00-b", ExpireTurn(now - 5))]


def test_nothing_is_enforced_early_even_when_it_was_asked_for(store: Redis) -> None:
    due_ms = now_ms(store) + 60_000
    store.zadd(DEADLINES, {"s00-a": due_ms})
    assert expire_turns(store, SHARD, [("s00-a", due_ms)], due_ms) == 0
    assert appended(store) == []


def test_a_task_that_waited_long_is_worth_a_line(store: Redis) -> None:
    now = now_ms(store)
    with structlog.testing.capture_logs() as lines:
        expire_turns(store, SHARD, [("s00-a", now)], now - 5_000)
    assert [line["event"] for line in lines] == ["the timer's worker is behind"]
    assert lines[0]["waited_ms"] >= 5_000


def test_a_server_that_is_away_is_an_error_and_is_not_tried_again() -> None:
    with BlockingStore("redis://127.0.0.1:1/0") as store, pytest.raises(RedisError):
        store.on(SHARD, lambda client: expire_turns(client, SHARD, [("s00-a", 1)], 1))


def test_overdue_deadlines_are_counted_over_all_shards(store: Redis) -> None:
    now = now_ms(store)
    store.zadd(DEADLINES, {"s00-a": now - 5_000, "s00-b": now - 500, "s00-c": now + 5_000})
    store.zadd(keys.deadlines("s01"), {"s01-a": now - 1_500})
    with structlog.testing.capture_logs() as lines:
        assert report_overdue([(store, ["s00", "s01"]), (store, ["s02"])]) == 2
    assert [(line["shard"], line["count"]) for line in lines] == [("s00", 1), ("s01", 1)]
    assert 5 <= metrics.inbox_lag_seconds.labels("timer")._value.get() < 10
    assert metrics.inbox_waiting_entries.labels("timer")._value.get() == 2


def test_nothing_overdue_is_no_line(store: Redis) -> None:
    with structlog.testing.capture_logs() as lines:
        assert report_overdue([(store, ["s00", "s01"])]) == 0
    assert lines == []
    assert metrics.inbox_lag_seconds.labels("timer")._value.get() == 0


def test_no_task_ever_waits_in_celery(redis_url: str) -> None:
    """No ETA, no countdown, no retry, no result, nothing acknowledged late."""
    app = make_app(TimerSettings(redis_url=redis_url, broker_url="redis://127.0.0.1:1/0"))
    for name in (EXPIRE_TURNS, REPORT_OVERDUE):
        task = app.tasks[name]
        assert task.ignore_result
        assert not task.acks_late
        assert not getattr(task, "autoretry_for", ())
    for entry in app.conf.beat_schedule.values():
        assert not {"eta", "countdown"} & set(entry.get("options", {}))
    assert app.conf.broker_transport_options["visibility_timeout"] == 60
    assert (app.conf.worker_pool, app.conf.worker_enable_remote_control) == ("threads", False)
