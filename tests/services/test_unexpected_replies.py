"""A reply that nobody waits for is refunded, never dropped; and one that comes again changes nothing.

Table and wallet together, to the end of it: what the player has, what the table's account holds, nothing left open.
"""

import random

import pytest

from brelan.audit.room import audit_escrow
from brelan.eventlog import keys
from brelan.events import commands, money
from brelan.events.envelope import encode
from brelan.events.money import WalletRequested
from brelan.ledger.memory import MemoryBooks
from tests.services.small_room import SHARD, STUD, TABLE, SmallRoom

PAID = 100_000


@pytest.fixture
async def room() -> SmallRoom:
    """Ana and Ben play; Cleo has money and no seat."""
    room = SmallRoom()
    await room.open(STUD)
    for name in ("ana", "ben"):
        await room.sit(name)
    await room.deposit("cleo")
    await room.settle()
    return room


def balance(room: SmallRoom, player_id: str) -> int:
    return room.vault.balances[f"player:{player_id}"].amount


async def drain_table(room: SmallRoom) -> None:
    """The table alone: the wallet has not heard of it yet."""
    while (await room.table.step()).entries or not room.table.at_rest:
        pass


async def forge(room: SmallRoom, request: money.WalletRequest) -> None:
    await room.log.append(keys.wallet_requests(SHARD), encode(WalletRequested(request)))
    await room.settle()


async def check(room: SmallRoom) -> None:
    assert (await room.state()).transfers == {}
    assert await audit_escrow({SHARD: room.log}, MemoryBooks(room.vault)) == {}
    assert sum(one.amount for one in room.vault.balances.values()) == 0


async def play_on(room: SmallRoom) -> None:
    chance = random.Random(1)
    while await room.act(chance):
        pass


async def test_he_left_before_the_buy_in_was_there(room: SmallRoom) -> None:
    await room.command("cleo", commands.SitDown(4000, entry="post"))
    await room.command("cleo", commands.Leave())
    await room.settle()
    assert balance(room, "cleo") == PAID
    assert f"refund:{TABLE}:1:3" in room.vault.lines
    await check(room)


async def test_somebody_else_has_the_seat_now(room: SmallRoom) -> None:
    await room.command("cleo", commands.SitDown(4000, seat=5, entry="post"))
    await room.command("cleo", commands.Leave())
    await room.deposit("dora")
    await room.command("dora", commands.SitDown(2000, seat=5, entry="post"))
    await room.settle()
    seat = (await room.state()).seats[4]
    assert seat is not None
    assert (seat.player_id, seat.stack) == ("dora", 2000)
    assert balance(room, "cleo") == PAID
    await check(room)


async def test_he_sits_again_and_the_first_buy_in_is_not_added_to_the_second(room: SmallRoom) -> None:
    await room.command("cleo", commands.SitDown(4000, seat=5, entry="post"))
    await room.command("cleo", commands.Leave())
    await room.command("cleo", commands.SitDown(2000, seat=5, entry="post"))
    await room.settle()
    seat = (await room.state()).seats[4]
    assert seat is not None
    assert seat.stack == 2000
    assert balance(room, "cleo") == PAID - 2000
    await check(room)


async def test_he_left_before_the_top_up_was_there(room: SmallRoom) -> None:
    await room.command("ana", commands.SitOut())
    await room.settle()
    await play_on(room)
    before = balance(room, "ana")
    stack = next(seat.stack for seat in (await room.state()).seats if seat and seat.player_id == "ana")
    await room.command("ana", commands.TopUp(2000))
    await room.command("ana", commands.Leave())
    await room.settle()
    assert balance(room, "ana") == before + stack
    await check(room)


async def test_a_reply_that_comes_again_changes_nothing(room: SmallRoom) -> None:
    requests = await room.log.range(keys.wallet_requests(SHARD))
    before = {account: one.amount for account, one in room.vault.balances.items()}
    for entry in requests:
        await room.log.append(keys.wallet_requests(SHARD), entry.data)
    await room.settle()
    assert len(await room.log.range(keys.wallet_replies(SHARD), after="2-0")) == len(requests)
    assert {account: one.amount for account, one in room.vault.balances.items()} == before
    await check(room)


async def test_a_refund_is_asked_for_once_however_often_the_reply_comes(room: SmallRoom) -> None:
    for _ in range(3):
        await forge(room, money.BuyIn(f"{TABLE}:1:900", TABLE, "cleo", 500))
    assert balance(room, "cleo") == PAID
    assert [name for name in room.vault.lines if name.startswith("refund:")] == [f"refund:{TABLE}:1:900"]
    await check(room)


async def test_a_table_that_was_closed_gives_it_back(room: SmallRoom) -> None:
    await room.command("cleo", commands.SitDown(4000, entry="post"))
    await drain_table(room)
    await room.command("operator", commands.CloseTable())
    await drain_table(room)
    await room.settle()
    await play_on(room)
    await room.pass_time(10_000)
    assert (await room.state()).status == "closed"
    assert balance(room, "cleo") == PAID
    await forge(room, money.BuyIn(f"{TABLE}:1:901", TABLE, "cleo", 500))
    assert balance(room, "cleo") == PAID
    assert room.escrow() == 0
    await check(room)


async def test_of_a_former_epoch_what_was_settled_is_known_and_what_was_not_is_refunded(room: SmallRoom) -> None:
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    await room.command("cleo", commands.SitDown(4000, entry="post"))
    await room.settle()
    await play_on(room)
    state = await room.state()
    assert state.epoch > 1
    assert state.former_epochs == {f"{TABLE}:1": 2}
    first = money.BuyIn(f"{TABLE}:1:1", TABLE, "ana", 4000)
    await forge(room, first)
    assert balance(room, "ana") == PAID - 4000
    await forge(room, money.BuyIn(f"{TABLE}:1:3", TABLE, "ben", 700))
    assert balance(room, "ben") == PAID - 4000
    assert [name for name in room.vault.lines if name.startswith("refund:")] == [f"refund:{TABLE}:1:3"]
    await check(room)
