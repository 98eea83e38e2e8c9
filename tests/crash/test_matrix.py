"""Twenty tables play while everything that can die dies, one after the other, in one room.

Every service at every one of its fail-points, the servers, Celery, the room itself; owners that are stopped and go on
when others have taken over; a full disk, a full memory, a log that is away. After each, play goes on by itself. At the
end: logs equal to states and ledger, no command without its answer or with two effects, nobody folded by an outage.
"""

import os
import signal
import time
from collections.abc import Iterator

import pytest
import redis

from brelan.eventlog.failpoints import POINTS
from tests.crash.arena import Arena, Mishap, arena, facts, mishaps, state_of
from tests.processes import wait_until
from tests.requirements import missing

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(300)]

AWAY_S = 30.0
FULL_S = 4.0
FROZEN_S = 6.0
TAKING_OVER = ("fence:after", "load:inside")  # what only somebody who takes a shard over comes to
STOPPED = {  # an owner, and where it stops with something in hand that it will write when it goes on
    "table": "table:commit:before",
    "dealer": "dealer:commit:before",
    "wallet": "wallet:book:before",
    "history": "history:archive:before",
}


@pytest.fixture(scope="module")
def playing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena(tmp_path_factory.mktemp("crash")) as made:
        yield made


@pytest.mark.parametrize("point", POINTS)
def test_a_service_killed_at_a_fail_point(playing: Arena, point: str) -> None:
    service, _, step = point.partition(":")
    with playing.mishap(f"kill -9 {point}") as mishap:
        if step in TAKING_OVER:
            playing.arm(f"{point}:1")
            playing.room.kill(service)
            mishap.times += 1
            wait_until(lambda: not playing.armed, 40, f"{point} to be come to")
        else:
            playing.fire(point, 2 if service in ("wallet", "history") else 5)
        mishap.times += 1


def test_logs_and_ledger_after_the_services(playing: Arena) -> None:
    playing.verify()


@pytest.mark.parametrize("role", ["worker", "beat"])
def test_celery_killed(playing: Arena, role: str) -> None:
    with playing.mishap(f"kill -9 Celery's {role}") as mishap:
        playing.kill_and_see_it_again(lambda: playing.timer_child(role), f"Celery's {role}")
        mishap.times += 1


@pytest.mark.parametrize("folder", ["broker", "redis"])
def test_a_server_killed(playing: Arena, folder: str) -> None:
    what = {"broker": "Celery's broker", "redis": "the event log's Redis"}[folder]
    with playing.mishap(f"kill -9 {what}") as mishap:
        playing.kill_and_see_it_again(lambda: playing.server_pid(folder), what)
        mishap.times += 1


@pytest.mark.parametrize("service", STOPPED)
def test_an_owner_that_was_stopped_is_fenced_when_it_goes_on(playing: Arena, service: str) -> None:
    with playing.mishap(f"SIGSTOP {service}, SIGCONT") as mishap, playing.second(service):
        fenced = playing.fenced(service)
        playing.fire(f"{STOPPED[service]}", 2, "stop")
        owner, before = playing.room.pid_of(service), playing.owners(service)
        assert state_of(owner) == "T"
        try:
            wait_until(lambda: _another(before, playing.owners(service)), 15, f"another {service} to take over")
            playing.goes_on(Mishap(f"{service} is stopped"))
            assert state_of(owner) == "T"
        finally:
            os.kill(owner, signal.SIGCONT)
        wait_until(lambda: playing.fenced(service) > fenced, 15, f"the old owner of {service} to be fenced")
        mishap.times += 1


def _another(before: dict[str, bytes | None], now: dict[str, bytes | None]) -> bool:
    """Every shard has an owner, and one of them has another."""
    return None not in now.values() and now != before


def test_a_full_memory(playing: Arena) -> None:
    with playing.mishap("OOM from Redis") as mishap, redis.Redis.from_url(playing.redis_url) as client:
        said = len(playing.room.lines)
        client.config_set("maxmemory", "1mb")
        try:
            wait_until(lambda: playing.said("out of memory", "", said), 15, "somebody to notice")
            time.sleep(FULL_S)
        finally:
            client.config_set("maxmemory", "0")
        mishap.times += 1


def test_a_full_disk(playing: Arena) -> None:
    """Of Redis and SQLite alike. With ``appendfsync always`` Redis dies of it, again and again."""
    if not playing.disk_is_small:
        missing("mount", "No small file system can be mounted here to be filled.")
    with playing.mishap("full disk of Redis and SQLite") as mishap:
        said = len(playing.room.lines)
        with playing.full_disk():
            wait_until(lambda: playing.said("event log's server ended", "room", said), 30, "Redis to die of it")
            time.sleep(FULL_S)
        mishap.times += 1


def test_a_log_that_does_not_answer(playing: Arena) -> None:
    with playing.mishap(f"SIGSTOP of Redis, {FROZEN_S:.0f} s") as mishap:
        server = playing.server_pid()
        os.kill(server, signal.SIGSTOP)
        try:
            time.sleep(FROZEN_S)
        finally:
            os.kill(server, signal.SIGCONT)
        mishap.times += 1


def test_a_log_that_is_away_for_longer_than_a_turn(playing: Arena) -> None:
    with playing.mishap(f"Redis away for {AWAY_S:.0f} s") as mishap:
        with playing.server_away():
            os.kill(playing.server_pid(), signal.SIGKILL)
            time.sleep(AWAY_S)
        mishap.times += 1


def test_the_room_itself_killed(playing: Arena) -> None:
    with playing.mishap("kill -9 brelan up") as mishap:
        playing.kill_room()
        mishap.times += 1


def test_what_must_hold_at_the_end(playing: Arena) -> None:
    result = playing.bots.finish()
    playing.record.stop()
    assert result["violations"] == []
    assert result["unanswered"] == 0
    playing.verify()
    playing.record.nothing_lost_or_twice()
    playing.record.no_table_was_frozen()
    assert not playing.buried()
    commands = playing.record.every_command_was_answered()
    assert commands > 500
    overslept = {(table_id, turn_id) for table_id, turn_id in result["overslept"]}
    enforced = playing.record.nobody_was_folded_by_an_outage(overslept)
    assert enforced or len(mishaps) < len(POINTS), "no clock was enforced in a whole run: that proves nothing"
    facts["hands"] = playing.hands()
    facts["commands"] = commands
    facts["commands accepted"] = result["acked"]
    facts["turns overslept by bots"] = len(overslept)
    facts["clocks enforced"] = enforced
