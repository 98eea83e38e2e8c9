"""History as a process, on a real server and a real database. Killed, it misses and doubles no hand."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from brelan.deck.keys import HISTORY_PUBLIC, ensure_keys, load_keys
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import RedisStore
from brelan.events.dealing import HandRecord
from brelan.histories.queries import Histories
from brelan.sql import create_engine, reading
from brelan.sql.schema import history_hands
from tests.histories.hands import STUD_RECORD, Log, hand_id, stud_hand
from tests.services.history_room import Tables
from tests.services.processes import Process
from tests.services.wallet_room import until

pytestmark = pytest.mark.redis
LIVES = 4


@pytest.fixture
def history(redis_url: str, sqlite_url: str, tmp_path: Path) -> Iterator[Process]:
    ensure_keys(tmp_path)
    process = Process("history", redis_url, sqlite_url, tmp_path)
    yield process
    process.close()


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisStore]:
    store = RedisStore(redis_url)
    yield store
    await store.close()


async def test_killed_again_and_again(history: Process, store: RedisStore, sqlite_url: str, tmp_path: Path) -> None:
    """Two tables on two shards play on; each life of history ends in the middle of its work."""
    engine = create_engine(sqlite_url)
    tables, histories = Tables(store), Histories(engine)
    (key,) = load_keys(HISTORY_PUBLIC, tmp_path / "keys")
    played = {"s00-a": 0, "s01-b": 0}
    logs = {table_id: Log(table_id=table_id) for table_id in played}
    over = asyncio.Event()

    async def play() -> None:
        for log in logs.values():
            await tables.commit(log, 1, 1)
        while not over.is_set():
            for table_id, log in logs.items():
                played[table_id] += 1
                first = len(log.entries) + 1
                log.play(stud_hand(played[table_id], table_id))
                await tables.commit(log, first, len(log.entries))
                record = HandRecord(table_id, hand_id(played[table_id], table_id), STUD_RECORD.seats)
                await tables.record(record, key)
            await asyncio.sleep(0.03)

    async def stored() -> int:
        async with reading(engine) as connection:
            return int(await connection.scalar(select(func.count()).select_from(history_hands)) or 0)

    playing = asyncio.create_task(play())
    for life in range(LIVES):
        before = await stored()
        history.start()

        async def more_are_stored(before: int = before, life: int = life) -> bool:
            return await stored() > before + 3 * life

        await until(more_are_stored, 30)
        if life == LIVES - 1:
            break
        history.end(signal.SIGKILL)
        for shard in ("s00", "s01"):
            await store.read(shard, "DEL", keys.lease(shard, Service.HISTORY))
    over.set()
    await playing

    async def all_are_stored() -> bool:
        return await stored() == sum(played.values())

    await until(all_are_stored, 30)
    assert history.end(signal.SIGTERM)[0] == 0
    rows = (await histories.hands_of("p5", limit=200)).hands
    for table_id, hands in played.items():
        numbers = [row.number for row in rows if row.table_id == table_id]
        assert numbers == list(range(hands, hands - len(numbers), -1))
        entries = [
            data for number in range(1, hands + 1) for data in await histories.entries_of(hand_id(number, table_id))
        ]
        assert entries == logs[table_id].data
        view = await histories.hand_for("p5", hand_id(hands, table_id))
        assert view is not None
        assert [player.cards is not None for player in view.players] == [False, True, True]
    await histories.close()


async def test_without_its_key_it_says_so(history: Process, tmp_path: Path) -> None:
    (tmp_path / "keys" / "history.key").unlink()
    history.start()
    code, said = history.wait()
    assert code == 1
    assert "history.key" in said
    assert "Traceback" not in said
