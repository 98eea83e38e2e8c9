"""``kill -9`` of each service in turn while bots play: play goes on, nothing is lost, nothing happens twice."""

import json
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from tests.room import Room, start_room, wait_until

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(600)]

SERVICES = ("table", "dealer", "timer", "wallet", "history", "gateway")
PLAY_S = 100
GOES_ON_WITHIN_S = 45.0


class Bots:
    """Bots of our own, so that what each command came to can be read at the end."""

    def __init__(self, room: Room) -> None:
        command = [sys.executable, "-m", "brelan.cli", "bots", "--url", room.url, "--seconds", str(PLAY_S), "--json"]
        self._process = subprocess.Popen(
            [*command, "--think", "0.05"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def result(self) -> dict[str, object]:
        stdout, stderr = self._process.communicate(timeout=PLAY_S + 120)
        assert self._process.returncode == 0, stderr
        return dict(json.loads(stdout))

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Room, dict[str, object]]]:
    """A room in which every service was killed once, and what the bots say of it."""
    with start_room(tmp_path_factory.mktemp("kill"), "--no-bots", "--hand-pause-ms", "300") as room:
        bots = Bots(room)
        try:
            wait_until(lambda: _hands(room) >= 3, 60, "the first hands")
            for service in SERVICES:
                _kill_and_see_it_go_on(room, service)
            assert bots.running, "the bots ended before every service was killed: PLAY_S is too short"
            yield room, bots.result()
        finally:
            bots.stop()


def _kill_and_see_it_go_on(room: Room, service: str) -> None:
    before = _hands(room)
    killed = room.kill(service)
    wait_until(lambda: room.pid_of(service) not in (0, killed), 20, f"{service} started again")
    wait_until(lambda: _hands(room) >= before + 3, GOES_ON_WITHIN_S, f"hands after {service} was killed")


def _hands(room: Room) -> int:
    """Hands that ended, by the archive's count of them: it asks the whole chain, from action to SQL."""
    with sqlite3.connect(f"file:{room.data / 'brelan.db'}?mode=ro", uri=True) as database:
        return int(database.execute("SELECT count(*) FROM history_hands").fetchone()[0])


def test_every_command_of_a_bot_ended_once_accepted_or_refused(killed: tuple[Room, dict[str, object]]) -> None:
    _, result = killed
    assert result["violations"] == [], result
    assert result["unanswered"] == 0, result
    assert result["acked"], result


def test_log_and_ledger_are_equal_and_balanced_afterwards(killed: tuple[Room, dict[str, object]]) -> None:
    room, _ = killed
    verified = room.command("verify-log", "--json")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    report = json.loads(verified.stdout)
    assert report["ok"], report


def test_nothing_was_frozen_or_buried(killed: tuple[Room, dict[str, object]]) -> None:
    room, _ = killed
    for service in ("table", "dealer"):
        with urllib.request.urlopen(f"http://127.0.0.1:{room.ports[service]}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        for name in ("brelan_frozen_tables", "brelan_dead_letters_total"):
            values = [float(line.split()[-1]) for line in lines if line.startswith(name)]
            assert sum(values) == 0, (service, name)
