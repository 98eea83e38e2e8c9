"""The whole room on PostgreSQL, whose server is killed in the middle of play: it waits, goes on, and all is there."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from brelan.sql import create_engine, reading
from tests.fixtures_sql import own_postgres
from tests.processes import clean_environment, wait_until
from tests.room import Room, start_room

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(400)]


def ask(url: str, query: str) -> int:
    async def one() -> int:
        engine = create_engine(url)
        try:
            async with reading(engine) as connection:
                return int(await connection.scalar(text(query)) or 0)
        finally:
            await engine.dispose()

    return asyncio.run(one())


def hands(url: str) -> int:
    return ask(url, "SELECT count(*) FROM history_hands")


def verified(room: Room, url: str) -> subprocess.CompletedProcess[str]:
    env = {**clean_environment(), "BRELAN_DATA": str(room.data), "BRELAN_SQL_URL": url}
    command = [sys.executable, "-m", "brelan.cli", "verify-log", "--json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=env)


def test_a_database_server_that_is_killed_in_mid_play(tmp_path: Path) -> None:
    with own_postgres() as server:
        url = server.create("room")
        options = ("--think", "0.1", "--hand-pause-ms", "200")
        with start_room(tmp_path / "room", *options, env={"BRELAN_SQL_URL": url}) as room:
            for _ in range(2):
                before = hands(url)
                wait_until(lambda before=before: hands(url) >= before + 3, 90, "some hands in PostgreSQL")
                server.kill()
                stopped = len(room.lines)
                wait_until(
                    lambda stopped=stopped: any("a store is away" in line for line in room.lines[stopped:]),
                    60,
                    "somebody who says that the database is away",
                )
                server.start()
                wait_until(lambda before=before: hands(url) >= before + 6, 120, "hands after the server is back")
                assert ask(url, "SELECT sum(balance) FROM ledger_accounts") == 0
            answer = verified(room, url)
            assert answer.returncode == 0, answer.stdout + answer.stderr
            gaps = (
                "SELECT count(*) FROM (SELECT max(number) - min(number) + 1 - count(*) AS gap FROM history_hands "
                "GROUP BY table_id) AS tables WHERE gap <> 0"
            )
            assert ask(url, gaps) == 0, "history has missed or doubled a hand"
