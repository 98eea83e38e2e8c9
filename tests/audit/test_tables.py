"""Tables held against the ledger, while they play and when something of them is damaged."""

import asyncio
import random

import msgspec
import pytest

from brelan.audit import room as audit
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Commit
from brelan.eventlog.tables import encode_state
from brelan.events import commands
from brelan.ledger.accounts import table_account
from brelan.ledger.memory import MemoryBooks
from tests.services.small_room import SHARD, STUD, TABLE, SmallRoom

OTHER = f"{SHARD}-other"


@pytest.fixture
async def room() -> SmallRoom:
    room = SmallRoom()
    for table_id in (TABLE, OTHER):
        await room.open(STUD, table_id)
        for name in ("ana", "ben"):
            await room.sit(f"{name}-{table_id}", table_id=table_id)
    return room


async def book_too_much(room: SmallRoom, table_id: str) -> None:
    account = table_account(table_id)
    balance = room.vault.balances[account]
    room.vault.balances[account] = msgspec.structs.replace(balance, amount=balance.amount + 85)


async def put_snapshot(room: SmallRoom, table_id: str, data: bytes) -> None:
    """As if somebody had written there by hand."""
    number = int((await room.log.hash_all(keys.position(SHARD, Service.TABLE)))["number"])
    written = {keys.snapshot(table_id): data}
    await room.log.commit(Commit(Service.TABLE, number, "by hand", string_set=written))


async def test_a_table_that_never_holds_still_is_audited_all_the_same(
    room: SmallRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "PAUSE_SECONDS", 0.01)
    books = MemoryBooks(room.vault)
    stop = asyncio.Event()

    async def play() -> None:
        while not stop.is_set():
            await room.command("operator", commands.PauseTable())
            await room.command("operator", commands.ResumeTable())
            await room.settle()
            await asyncio.sleep(0.002)

    playing = asyncio.create_task(play())
    try:
        assert await audit.audit_escrow({SHARD: room.log}, books) == {}
        await book_too_much(room, TABLE)
        assert await audit.audit_escrow({SHARD: room.log}, books) == {TABLE: 85}
        report = await audit.verify_table(room.log, books, TABLE)
        assert report.problems == ["the ledger's escrow differs from the table by 85"]
    finally:
        stop.set()
        await playing


async def test_one_damaged_table_does_not_stop_the_audit_of_the_others(room: SmallRoom) -> None:
    books = MemoryBooks(room.vault)
    await put_snapshot(room, TABLE, b"\xc1 rubbish")
    await book_too_much(room, OTHER)
    assert await audit.audit_escrow({SHARD: room.log}, books) == {OTHER: 85}
    one, other = sorted(
        await audit.verify_tables({SHARD: room.log}, books), key=lambda report: report.table_id != TABLE
    )
    assert len(one.problems) == 1
    assert "cannot be read" in one.problems[0]
    assert other.problems == ["the ledger's escrow differs from the table by 85"]


async def test_a_log_that_ends_before_its_snapshot_is_found(room: SmallRoom) -> None:
    chance = random.Random(1)
    while await room.act(chance):
        pass
    state = await room.state()
    await put_snapshot(room, TABLE, encode_state(msgspec.structs.replace(state, version=state.version + 3)))
    report = await audit.verify_table(room.log, MemoryBooks(room.vault), TABLE)
    assert report.problems == [f"the log ends with version {state.version}, the snapshot is of a later one"]
