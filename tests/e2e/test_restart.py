"""``brelan up`` stopped and started again: everything as it was, nothing left running; why it does not start."""

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import wait_until
from tests.room import Room, start_room

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(400)]


def _hands(data: Path) -> int:
    with sqlite3.connect(f"file:{data / 'brelan.db'}?mode=ro", uri=True) as database:
        return int(database.execute("SELECT count(*) FROM history_hands").fetchone()[0])


def _money(data: Path) -> int:
    """What players own, at the tables and away from them, and the house: it only moves."""
    with sqlite3.connect(f"file:{data / 'brelan.db'}?mode=ro", uri=True) as database:
        row = database.execute("SELECT sum(balance) FROM ledger_accounts WHERE account <> 'cashier'").fetchone()
    return int(row[0])


def _processes_of(data: Path) -> list[str]:
    """Processes that work on this room: its folder stands in their environment or on their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(data).encode() in told and int(process.name) != os.getpid():
            found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


def test_stopped_and_started_again_everything_is_as_it_was(tmp_path: Path) -> None:
    data = tmp_path / "room"
    with start_room(data, "--think", "0.1", "--hand-pause-ms", "200") as room:
        wait_until(lambda: _hands(data) >= 4, 60, "some hands")
        tables = sorted(line.split("opened ")[1] for line in room.lines if "opened " in line)
        assert len(tables) == 2
        assert room.stop() == 0
    assert _processes_of(data) == []
    verified = room.command("verify-log", "--json")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    money, hands = _money(data), _hands(data)
    assert money > 0
    with start_room(data, "--think", "0.1") as again:
        assert any("the tables are as they were" in line for line in again.lines)
        wait_until(lambda: _hands(data) >= hands + 4, 60, "hands after the start")
        assert _money(data) == money, "money was made or lost (the same bots came back: nobody new got play money)"
        assert again.command("verify-log", "--json").returncode == 0


def test_a_room_killed_as_a_whole_goes_on_when_it_is_started_again(tmp_path: Path) -> None:
    data = tmp_path / "room"
    room = Room(data, "--think", "0.1", "--hand-pause-ms", "200").wait_open()
    wait_until(lambda: _hands(data) >= 2, 60, "some hands")
    room.kill_all()
    wait_until(lambda: not _processes_of(data), 30, "its processes to end with it")
    hands = _hands(data)
    with start_room(data, "--think", "0.1") as again:
        wait_until(lambda: _hands(data) >= hands + 3, 60, "hands after the start")
        verified = again.command("verify-log", "--json")
        assert verified.returncode == 0, verified.stdout + verified.stderr


def _up(*options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "brelan.cli", "up", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **env},
    )


def test_what_keeps_a_room_from_opening_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "shards").write_text("16\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        cases = [
            (_up("--data", str(tmp_path / "a"), "--port", port), f"port {port} cannot be used"),
            (_up("--data", str(tmp_path / "file"), "--port", "0"), "cannot be used"),
            (_up("--data", str(tmp_path / "old"), "--port", "0"), "16 shards"),
            (_up("--data", str(tmp_path / "a"), BRELAN_PORT="http"), "it has to be a port number"),
            (_up("--data", str(tmp_path / "a"), "--port", "0", BRELAN_SHARDS="many"), "BRELAN_SHARDS is 'many'"),
        ]
    for done, sentence in cases:
        assert done.returncode != 0
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_one_room_a_folder(tmp_path: Path) -> None:
    with start_room(tmp_path / "room", "--no-bots"):
        second = _up("--data", str(tmp_path / "room"), "--port", "0")
        assert second.returncode == 1
        assert "another room is running" in second.stderr
