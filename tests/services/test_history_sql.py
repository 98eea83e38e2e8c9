"""History with its archive in a real database: killed at every step, trimmed behind its back, two at once."""

import asyncio
import itertools

import pytest

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.memory_log import MemoryStore, Stream
from brelan.events.dealing import HandRecord
from brelan.histories.queries import Histories
from brelan.sql.archive import SqlArchive
from brelan.telemetry.health import Health
from brelan_history.service import ShardHistory
from tests.histories.hands import STUD_RECORD, Log, hand_id, stud_hand
from tests.services.crashes import Crash, Fuse, Fused
from tests.services.history_room import OPENER, Tables, run_history
from tests.services.wallet_room import until

HANDS = 4
PER_HAND = len(stud_hand())


def evening(table_id: str) -> Log:
    log = Log(table_id=table_id)
    for number in range(1, HANDS + 1):
        log.play(stud_hand(number, table_id))
    return log


async def check(histories: Histories, log: Log) -> None:
    """Every hand once, with all its entries, none of them twice."""
    table_id = log.table_id
    rows = (await histories.hands_of("p2", limit=500)).hands
    numbers = [row.number for row in rows if row.table_id == table_id]
    assert sorted(numbers) == list(range(1, HANDS + 1))
    kept = [data for number in range(1, HANDS + 1) for data in await histories.entries_of(hand_id(number, table_id))]
    assert kept[-HANDS * PER_HAND :] == log.data[-HANDS * PER_HAND :]
    assert len(kept) == len(set(kept))


async def trim(store: MemoryStore, shard: str) -> None:
    """As the table service does: behind history's cursor, the entry at it stays."""
    position = await store.log(shard).fence(Service.HISTORY, f"look-{shard}")
    cursor = position.cursors.get(keys.feed(shard))
    stream = store.find(keys.feed(shard), Stream)
    if cursor and stream is not None:
        stream.keep_from(cursor)


@pytest.mark.parametrize("trimmed", [False, True], ids=["kept", "trimmed"])
async def test_killed_at_any_step_it_neither_misses_nor_doubles_a_hand(sql_url: str, trimmed: bool) -> None:
    """Between the archive's transaction and the cursor in the event log too."""
    archive, histories = SqlArchive(sql_url), Histories(sql_url)
    crashes = 0
    for place, (step, where) in enumerate(itertools.product(range(1, 16, 2), ("before", "after"))):
        shard = f"s{place:02d}"
        store, log = MemoryStore(), evening(f"{shard}-a")
        tables = Tables(store)
        fuse = Fuse(step, where)  # type: ignore[arg-type]
        history = ShardHistory(Fused(store, fuse), Fused(archive, fuse), shard, OPENER)
        try:
            await history.open()
            for first in range(1, len(log.entries) + 1, 9):
                await tables.commit(log, first, min(first + 8, len(log.entries)))
                await history.serve(block_ms=0)
        except Crash:
            crashes += 1
        if trimmed:
            await trim(store, shard)
        left = int((await store.log(shard).last_id(keys.table_log(log.table_id))).partition("-")[0])
        await tables.commit(log, left + 1, len(log.entries))
        await run_history(store, archive, shard)
        if trimmed:
            await trim(store, shard)
        await run_history(store, archive, shard)
        await check(histories, log)
    assert crashes > 10, "the steps of history's work are not all covered"
    await archive.close()
    await histories.close()


async def test_two_that_both_work_keep_every_hand_once(sql_url: str) -> None:
    """Neither waits for the lease: each is fenced by the other again and again."""
    store, log = MemoryStore(), evening("s00-a")
    tables, stop = Tables(store), asyncio.Event()
    archives = [SqlArchive(sql_url) for _ in range(2)]
    workers = [ShardHistory(store, archive, "s00", OPENER) for archive in archives]
    for worker in workers:
        worker._hold_lease = _always  # type: ignore[method-assign]
    running = [asyncio.create_task(worker.run(stop, Health("history"))) for worker in workers]
    histories = Histories(sql_url)
    for version in range(1, len(log.entries) + 1):
        await tables.commit(log, version, version)
        await asyncio.sleep(0)
    await tables.record(HandRecord("s00-a", hand_id(1, "s00-a"), STUD_RECORD.seats))

    async def all_are_kept() -> bool:
        return len((await histories.hands_of("p2", limit=50)).hands) == HANDS

    await until(all_are_kept, 60)
    stop.set()
    await asyncio.gather(*running)
    await check(histories, log)
    for archive in archives:
        await archive.close()
    await histories.close()


async def _always() -> bool:
    return True
