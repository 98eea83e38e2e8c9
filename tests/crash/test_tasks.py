"""Celery's tasks while the event log takes nothing: a line each, no page, and no bytes of commands in the logs."""

from pathlib import Path

import pytest
import structlog
from celery import _state
from redis import Redis

from brelan.eventlog import keys
from brelan.eventlog.server import EmbeddedServer
from brelan_timer.celery_app import EXPIRE_TURNS, REPORT_OVERDUE, make_app
from brelan_timer.settings import TimerSettings
from tests.fixtures_redis import bundled_server

pytestmark = pytest.mark.redis

NOBODY = "redis://127.0.0.1:1/0"


@pytest.fixture(autouse=True)
def one_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """Celery gives the tasks of one app to all others of its process, where a service has but one."""
    monkeypatch.setattr(_state, "_on_app_finalizers", set())


def test_a_log_that_is_away_is_a_line() -> None:
    app = make_app(TimerSettings(redis_url=NOBODY, broker_url=NOBODY))
    with structlog.testing.capture_logs() as lines:
        assert app.tasks[EXPIRE_TURNS]("s00", [("s00-a", 1)], 1) == 0
        assert app.tasks[REPORT_OVERDUE]() == 0
    assert [line["task"] for line in lines] == [EXPIRE_TURNS, REPORT_OVERDUE]
    assert all("refused" in line["reason"] for line in lines)


def test_a_log_without_memory_is_a_line_and_the_deadline_stays(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path, durable=False, program=bundled_server())
    with server, Redis.from_url(server.url) as client:
        app = make_app(TimerSettings(redis_url=server.url, broker_url=NOBODY))
        client.zadd(keys.deadlines("s00"), {"s00-a": 5})
        client.config_set("maxmemory", "1kb")
        with structlog.testing.capture_logs() as lines:
            assert app.tasks[EXPIRE_TURNS]("s00", [("s00-a", 5)], 5) == 0
        assert lines[-1]["reason"].startswith("command not allowed when used memory")
        assert "XADD" not in lines[-1]["reason"]
        client.config_set("maxmemory", "0")
        assert app.tasks[EXPIRE_TURNS]("s00", [("s00-a", 5)], 5) == 1
