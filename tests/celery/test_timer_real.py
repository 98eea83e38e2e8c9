"""The timer with a real Celery and real servers: never early, hardly late, and every part of it may be killed."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from brelan.eventlog import keys
from brelan.eventlog.server import EmbeddedServer
from tests.celery.timer_room import Process, Tables, wait_until
from tests.fixtures_redis import bundled_server
from tests.processes import alive

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.timeout(180)]

SHARDS = ("s00", "s01")
USUALLY_MS, AT_MOST_MS = 400, 3_000  # on a machine that has much else to do; alone it is some 20


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path / "broker", durable=False, program=bundled_server()) as server:
        yield server


@pytest.fixture
def tables(redis_url: str) -> Iterator[Tables]:
    with Tables(redis_url, *SHARDS) as tables:
        yield tables


@pytest.fixture
def sweeper(redis_url: str, broker: EmbeddedServer) -> Iterator[Process]:
    with Process("sweeper", redis_url, broker.url) as process:
        yield process


@pytest.fixture
def worker(redis_url: str, broker: EmbeddedServer) -> Iterator[Process]:
    with Process("worker", redis_url, broker.url) as process:
        yield process


def test_deadlines_are_enforced_on_time_and_never_early(sweeper: Process, worker: Process, tables: Tables) -> None:
    sweeper.ready()
    worker.ready()
    armed = tables.arm("s00", 300, 300, 2_000) | tables.arm("s01", 300, 300, 2_000)
    late = tables.late(armed)
    assert late[0] >= 0
    assert late[len(late) // 2] < USUALLY_MS
    assert late[-1] < AT_MOST_MS
    assert sweeper.metric("brelan_deadlines_dispatched_total") == len(armed)
    repeated = sweeper.metric("brelan_deadlines_redispatched_total") or 0
    assert tables.entries - len(armed) <= repeated, "some were enforced twice without being handed out twice"
    assert (sweeper.metric('brelan_celery_tasks_dispatched_total{task="brelan.expire_turns"}') or 0) >= 4


def test_a_thousand_at_one_instant(sweeper: Process, worker: Process, tables: Tables) -> None:
    sweeper.ready()
    worker.ready()
    late = tables.late(tables.arm("s00", 1_000, 300))
    assert late[0] >= 0
    assert late[-1] < AT_MOST_MS


def test_a_worker_killed_and_started_again(sweeper: Process, worker: Process, tables: Tables) -> None:
    sweeper.ready()
    worker.ready()
    armed = tables.arm("s00", 200, 100, 1_000)
    wait_until(lambda: len(tables.enforced) >= 50, "some of them are enforced", sweeper.lines)
    worker.end(signal.SIGKILL)
    armed |= tables.arm("s01", 50, 100)
    wait_until(
        lambda: sweeper.metric("brelan_deadlines_redispatched_total"),
        "handed out again, as nobody enforces them",
        sweeper.lines,
    )
    assert not armed.keys() <= tables.enforced.keys()
    worker.start().ready()
    assert tables.late(armed, 15)[0] >= 0
    assert tables.late(tables.arm("s00", 50, 300))[-1] < AT_MOST_MS


def test_a_sweeper_killed_and_started_again(sweeper: Process, worker: Process, tables: Tables) -> None:
    sweeper.ready()
    worker.ready()
    armed = tables.arm("s00", 200, 100, 1_000)
    wait_until(lambda: len(tables.enforced) >= 50, "some of them are enforced", sweeper.lines)
    sweeper.end(signal.SIGKILL)
    armed |= tables.arm("s01", 50, 100)
    sweeper.start().ready()
    assert tables.late(armed, 15)[0] >= 0


def test_a_broker_that_loses_everything(
    sweeper: Process, worker: Process, tables: Tables, broker: EmbeddedServer
) -> None:
    sweeper.ready()
    worker.ready()
    broker.kill()
    armed = tables.arm("s00", 100, 50)
    wait_until(lambda: not sweeper.readiness()["ready"], "the sweeper says that the broker is away", sweeper.lines)
    wait_until(lambda: not worker.readiness()["ready"], "the worker says that it does not consume", worker.lines)
    assert "broker" in str(sweeper.readiness()["reasons"])
    broker.start()
    back_ms = tables.now_ms()
    assert tables.late(armed, 20)[0] >= 0
    assert max(tables.enforced.values()) - back_ms < 8_000
    sweeper.ready()
    worker.ready()
    assert tables.late(tables.arm("s00", 50, 300))[-1] < AT_MOST_MS


def test_tasks_that_the_broker_lost_are_handed_out_again(
    sweeper: Process, tables: Tables, broker: EmbeddedServer, redis_url: str
) -> None:
    """Nobody fetches them; the broker forgets them; then a worker comes."""
    sweeper.ready()
    armed = tables.arm("s00", 20, 0)
    wait_until(lambda: sweeper.metric("brelan_deadlines_dispatched_total") == 20, "handed out", sweeper.lines)
    with Redis.from_url(broker.url) as client:
        client.flushall()
    with Process("worker", redis_url, broker.url) as worker:
        worker.ready()
        assert tables.late(armed, 10)[0] >= 0


def test_what_waited_in_the_broker_while_the_table_moved_on_is_dropped(
    sweeper: Process, tables: Tables, broker: EmbeddedServer, redis_url: str
) -> None:
    sweeper.ready()
    armed = tables.arm("s00", 20, 0)
    wait_until(lambda: sweeper.metric("brelan_deadlines_dispatched_total") == 20, "handed out", sweeper.lines)
    with Redis.from_url(redis_url) as client:
        client.delete(keys.deadlines("s00"))
    with Process("worker", redis_url, broker.url) as worker:
        worker.ready()
        later = tables.arm("s01", 5, 200)
        tables.late(later)
    assert not armed.keys() & tables.enforced.keys()


def test_beat_has_overdue_deadlines_reported(
    worker: Process, tables: Tables, broker: EmbeddedServer, redis_url: str
) -> None:
    """No sweeper: nobody enforces anything."""
    worker.ready()
    tables.arm("s01", 7, -2_000)
    with Process("beat", redis_url, broker.url) as beat:
        beat.ready()
        wait_until(lambda: worker.events("deadlines are overdue"), "the worker reports", worker.lines)
        assert beat.end(signal.SIGTERM) == 0
    (said, *_) = worker.events("deadlines are overdue")
    assert (said["shard"], said["count"], said["level"]) == ("s01", 7, "warning")
    assert worker.metric('brelan_inbox_waiting_entries{service="timer"}') == 7
    assert worker.end(signal.SIGTERM) == 0


# --- all in one --------------------------------------------------------------------------------------------------


def test_all_of_it_with_one_command(tables: Tables, broker: EmbeddedServer, redis_url: str) -> None:
    with Process("all", redis_url, broker.url) as timer:
        timer.ready()
        assert tables.late(tables.arm("s00", 50, 200))[-1] < AT_MOST_MS
        children = _children(timer.pid)
        assert len(children) == 2
        assert timer.end(signal.SIGTERM) == 0
    wait_until(lambda: not any(map(alive, children)), "its children are gone", [])


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux ends children with their parent.")
def test_nothing_is_left_when_all_of_it_is_killed(broker: EmbeddedServer, redis_url: str) -> None:
    with Process("all", redis_url, broker.url) as timer:
        timer.ready()
        children = _children(timer.pid)
        timer.end(signal.SIGKILL)
    wait_until(lambda: not any(map(alive, children)), "its children are gone", [])


def test_a_child_that_dies_is_started_again(tables: Tables, broker: EmbeddedServer, redis_url: str) -> None:
    with Process("all", redis_url, broker.url) as timer:
        timer.ready()
        for pid in _children(timer.pid):
            subprocess.run(["kill", "-9", str(pid)], check=True)
        armed = tables.arm("s00", 20, 0)
        assert tables.late(armed, 20)[0] >= 0


def _children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=True)
    return [int(line) for line in found.stdout.split()]


# --- sentences ---------------------------------------------------------------------------------------------------


def test_without_a_broker_it_says_so(redis_url: str) -> None:
    with Process("sweeper", redis_url, "") as sweeper:
        wait_until(lambda: any("BRELAN_BROKER_URL is missing" in line for line in sweeper.lines), "said", sweeper.lines)


@pytest.mark.parametrize("arguments", [[], ["nobody"], ["worker", "beat"]])
def test_a_role_that_does_not_exist(arguments: list[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "brelan_timer", *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "sweeper | worker | beat | all" in ended.stderr
