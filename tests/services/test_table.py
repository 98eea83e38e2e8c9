"""The table service with dealer and wallet, on the in-memory log: whole hands, repeats, outages, crashes, poison."""

import random

import pytest

from brelan.eventlog import keys
from brelan.events import commands, table
from brelan.events.config import TableConfig
from brelan.events.envelope import CommandRefused, CommandRepeated, TableCommitted
from brelan.rules.table import escrow
from tests.services.small_room import DRAW, SHARD, STUD, TABLE, SmallRoom


@pytest.mark.parametrize("config", [STUD, DRAW], ids=["stud", "draw"])
@pytest.mark.parametrize("seed", range(3))
async def test_whole_hands_are_played_and_the_money_is_all_there(config: TableConfig, seed: int) -> None:
    room = SmallRoom()
    chance = random.Random(seed)
    await room.open(config)
    for name in ("ana", "ben", "cleo", "dan"):
        await room.sit(name, 80_000)  # nobody runs out
    for _ in range(200):
        if not await room.act(chance):
            break
        state = await room.state()
        assert room.escrow() == escrow(state), "the ledger's escrow is not what the table accounts for"
    assert len(room.events(table.HandEnded)) >= 3
    assert not room.refusals()
    assert sum(balance.amount for balance in room.vault.balances.values()) == 0


async def test_a_repeated_command_id_gets_the_same_answer_and_no_second_effect() -> None:
    room = SmallRoom()
    await room.open(STUD)
    await room.deposit("ana")
    await room.settle()
    await room.command("ana", commands.SitDown(4000), command_id="once")
    await room.command("ana", commands.SitDown(4000), command_id="once")
    await room.settle()
    await room.command("ana", commands.SitDown(4000), command_id="once")
    await room.settle()
    first, *repeats = room.answer_to("once")
    assert isinstance(first, TableCommitted)
    assert [(type(repeat), repeat.version) for repeat in repeats if isinstance(repeat, CommandRepeated)] == [
        (CommandRepeated, first.version)
    ] * 2
    assert len(room.events(table.SeatReserved)) == 1


async def test_a_repeated_refusal_is_the_same_refusal_even_if_it_would_be_accepted_now() -> None:
    room = SmallRoom()
    await room.open(STUD)
    await room.command("ana", commands.SitOut(), command_id="early")
    await room.settle()
    await room.sit("ana")
    await room.command("ana", commands.SitOut(), command_id="early")
    await room.settle()
    refused, repeated = room.answer_to("early")
    assert isinstance(refused, CommandRefused)
    assert isinstance(repeated, CommandRepeated)
    assert (repeated.code, repeated.message) == (refused.code, refused.message)
    assert not room.events(table.SatOut)


async def test_answers_survive_a_crash_of_the_table_service() -> None:
    room = SmallRoom()
    await room.open(STUD)
    await room.command("ana", commands.SitOut(), command_id="early")
    await room.settle()
    room.start_table()
    await room.command("ana", commands.SitOut(), command_id="early")
    await room.settle()
    assert [type(answer) for answer in room.answer_to("early")] == [CommandRefused, CommandRepeated]


async def test_an_unknown_table_is_refused_with_a_sentence() -> None:
    room = SmallRoom()
    command_id = await room.command("ana", commands.SitDown(4000), table_id="s00-nowhere")
    await room.settle()
    (refused,) = room.answer_to(command_id)
    assert isinstance(refused, CommandRefused)
    assert refused.code == "unknown_table"


async def _in_a_turn(seed: int = 1) -> SmallRoom:
    room = SmallRoom()
    await room.open(STUD)
    for name in ("ana", "ben", "cleo"):
        await room.sit(name)
    assert (await room.state()).turn is not None
    return room


async def test_the_deadline_set_follows_the_open_turn() -> None:
    room = await _in_a_turn()
    turn = (await room.state()).turn
    assert turn is not None
    assert await room.log.due(keys.deadlines(SHARD), turn.deadline_ms, 10) == [(TABLE, turn.deadline_ms)]
    assert await room.log.due(keys.deadlines(SHARD), turn.deadline_ms - 1, 10) == []
    room.now_ms += 1
    await room.act(random.Random(0))
    later = (await room.state()).turn
    assert later is not None
    assert later.deadline_ms == turn.deadline_ms + 1
    assert await room.log.due(keys.deadlines(SHARD), 2**53, 10) == [(TABLE, later.deadline_ms)]


async def test_T8_an_enforcement_that_comes_too_early_or_for_another_deadline_is_ignored() -> None:
    room = await _in_a_turn()
    turn = (await room.state()).turn
    assert turn is not None
    await room.expire(TABLE, turn.deadline_ms)  # nothing is due yet
    await room.expire(TABLE, turn.deadline_ms - 5)
    await room.settle()
    assert not room.events(table.TimedOut)


async def test_T8_the_decision_that_stands_before_the_enforcement_wins() -> None:
    room = await _in_a_turn()
    turn = (await room.state()).turn
    assert turn is not None
    await room.pass_time(9_500)
    room.now_ms = turn.deadline_ms
    seat = (await room.state()).seats[turn.seat - 1]
    assert seat is not None
    bring_in = next(action for action in turn.actions if action.kind == "bring_in")
    decided = await room.command(seat.player_id, commands.Act(turn.turn_id, "bring_in", bring_in.to))
    await room.expire(TABLE, turn.deadline_ms)
    await room.settle()
    assert isinstance(room.answer_to(decided)[0], TableCommitted)
    assert not room.events(table.TimedOut)


async def test_T8_the_decision_that_stands_after_the_enforcement_is_refused() -> None:
    room = await _in_a_turn()
    turn = (await room.state()).turn
    assert turn is not None
    await room.pass_time(9_500)
    room.now_ms = turn.deadline_ms
    seat = (await room.state()).seats[turn.seat - 1]
    assert seat is not None
    await room.expire(TABLE, turn.deadline_ms)
    decided = await room.command(seat.player_id, commands.Act(turn.turn_id, "bring_in"))
    await room.settle()
    (refused,) = room.answer_to(decided)
    assert isinstance(refused, CommandRefused)
    assert refused.code == "stale_turn"
    assert len(room.events(table.TimedOut)) == 1


async def test_nobody_is_timed_out_while_no_gateway_is_heard() -> None:
    room = await _in_a_turn()
    before = (await room.state()).turn
    assert before is not None
    for _ in range(60):  # 30 s without a gateway; the table service lives
        room.now_ms += 500
        await room.expire_due()
        while (await room.table.step()).entries or not room.table.at_rest:
            pass
    await room.settle()
    assert not room.events(table.TimedOut)
    assert room.events(table.OutageEnded)
    after = (await room.state()).turn
    assert after is not None
    assert after.turn_id == before.turn_id
    assert after.deadline_ms > room.now_ms


async def test_nobody_is_timed_out_for_the_time_that_the_table_service_was_away() -> None:
    room = await _in_a_turn()
    await room.pass_time(2_000)
    room.now_ms += 60_000
    await room.expire_due()
    room.start_table()
    await room.settle()
    assert not room.events(table.TimedOut)
    turn = (await room.state()).turn
    assert turn is not None
    assert turn.deadline_ms == room.now_ms + STUD.action_time_ms


async def test_a_stopped_and_continued_table_service_starts_the_clocks_again_first() -> None:
    room = await _in_a_turn()
    await room.pass_time(2_000)
    room.now_ms += 60_000  # SIGSTOP, SIGCONT: the same process, nobody took over
    await room.expire_due()
    await room.settle()
    assert not room.events(table.TimedOut)


async def test_a_silent_player_is_timed_out_after_his_time() -> None:
    room = await _in_a_turn()
    await room.pass_time(10_500)
    assert len(room.events(table.TimedOut)) == 1


@pytest.mark.parametrize("service", ["table", "dealer"])
async def test_crashes_in_the_middle_of_hands_change_nothing(service: str) -> None:
    room = SmallRoom()
    chance = random.Random(7)
    await room.open(DRAW)
    for name in ("ana", "ben", "cleo", "dan"):
        await room.sit(name, 80_000)  # nobody runs out
    for step in range(120):
        assert await room.act(chance)
        if step % 3 == 0:
            room.start_table() if service == "table" else room.start_dealer()
    assert len(room.events(table.HandEnded)) >= 3
    assert room.escrow() == escrow(await room.state())


async def test_rubbish_on_every_inbox_is_buried_and_play_goes_on() -> None:
    room = await _in_a_turn()
    for inbox in (keys.commands(SHARD), keys.dealt(SHARD), keys.wallet_replies(SHARD), keys.feed(SHARD)):
        await room.log.append(inbox, b"\xc1rubbish")
    await room.log.append(keys.commands(SHARD), b"")
    room_feed = room.feed
    await _drain_ignoring_rubbish(room)
    assert len(await room.log.range(keys.dead(SHARD, room.table._handler.service))) == 4
    assert room_feed is room.feed
    assert await room.act(random.Random(0))


async def _drain_ignoring_rubbish(room: SmallRoom) -> None:
    """Settles; the rubbish on the feed is for the dealer only, this reader steps over it."""
    room._feed_cursor = await room.log.last_id(keys.feed(SHARD))
    await room.settle()
