"""What the table service does when a tail of its shard's log may be lost, or is (ADR 0008)."""

import random

from brelan.eventlog import keys
from brelan.eventlog.memory_log import String
from brelan.events import commands, table
from brelan.events.envelope import TailLost, TurnExpired, decode_committed, decode_epoch, encode
from brelan.rules.state import TURNS_LOST
from brelan.rules.table import apply_entry, escrow
from tests.services.small_room import SHARD, STUD, TABLE, SmallRoom


async def _room_in_mid_hand(seed: int = 1) -> SmallRoom:
    room = SmallRoom()
    await room.open(STUD)
    for name in ("ana", "ben", "cleo"):
        await room.sit(name)
    chance = random.Random(seed)
    for _ in range(4):
        await room.act(chance)
    state = await room.state()
    assert state.hand is not None
    assert state.turn is not None
    return room


async def _epoch(room: SmallRoom) -> int:
    stored = await room.log.get(keys.epoch(SHARD))
    assert stored is not None
    return decode_epoch(stored).number


async def _lose(room: SmallRoom, epoch: int, reader: str = "gateway/g1") -> None:
    await room.log.append(keys.commands(SHARD), encode(TailLost(reader, epoch, keys.feed(SHARD), "9-9")))
    await room.settle()


async def test_the_same_server_again_is_the_same_epoch() -> None:
    room = await _room_in_mid_hand()
    assert await _epoch(room) == 1
    room.start_table()
    await room.settle()
    assert await _epoch(room) == 1


async def test_another_server_is_another_epoch_and_play_goes_on_where_it_was() -> None:
    room = await _room_in_mid_hand()
    before = await room.state()
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    epoch = await _epoch(room)
    assert epoch > 1
    await room.act(random.Random(1))
    after = await room.state()
    assert after.epoch == epoch
    assert before.hand is not None
    assert after.hand is not None
    assert after.hand.hand_id == before.hand.hand_id
    assert not room.events(table.HandVoided)


async def test_an_epoch_that_was_lost_with_its_tail_does_not_come_again() -> None:
    """Two fail-overs to the same moment: what was decided after the first one may have been seen."""
    room = await _room_in_mid_hand()
    before = await room.log.get(keys.epoch(SHARD))
    assert before is not None
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    first = await _epoch(room)
    room.now_ms += 1_000
    room.store.values[keys.epoch(SHARD)] = String(before)
    room.store.server_id = "a third"
    room.start_table()
    await room.settle()
    assert await _epoch(room) > first


async def test_no_turn_of_the_new_epoch_has_the_number_of_one_that_may_be_lost() -> None:
    room = await _room_in_mid_hand()
    open_turn = (await room.state()).turn
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    assert open_turn is not None
    await room.act(random.Random(1))
    next_turn = (await room.state()).turn
    assert next_turn is not None
    assert next_turn.turn_id > open_turn.turn_id + TURNS_LOST - 1


async def test_a_lost_tail_that_somebody_saw_voids_the_open_hand_and_every_bet_goes_back() -> None:
    room = await _room_in_mid_hand()
    before = await room.state()
    assert before.hand is not None
    stacks = {player.seat: player.starting_stack for player in before.hand.players}
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    await _lose(room, 1)
    (voided,) = room.events(table.HandVoided)
    assert isinstance(voided, table.HandVoided)
    assert {share.seat: share.amount for share in voided.stacks} == stacks
    state = await room.state()
    assert state.epoch == await _epoch(room)
    assert room.escrow() == escrow(state)


async def test_the_second_reader_that_says_so_changes_nothing_more() -> None:
    room = await _room_in_mid_hand()
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    await _lose(room, 1)
    version = (await room.state()).version
    await _lose(room, 1, "wallet")
    await _lose(room, 1, "history")
    await room.act(random.Random(2))
    assert len(room.events(table.HandVoided)) == 1
    assert (await room.state()).version <= version + 2


async def test_a_hand_that_began_after_the_loss_is_played_on() -> None:
    room = await _room_in_mid_hand()
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    await _lose(room, 1)
    await room.pass_time(5_000)
    hand = (await room.state()).hand
    assert hand is not None, "the next hand has begun"
    await _lose(room, 1, "history")
    again = (await room.state()).hand
    assert again is not None
    assert again.hand_id == hand.hand_id


async def test_a_backup_that_somebody_has_seen_beyond_gets_an_epoch_above_all_he_saw() -> None:
    room = await _room_in_mid_hand()
    await _lose(room, 7)
    assert await _epoch(room) == 8
    assert (await room.state()).epoch == 8
    assert len(room.events(table.HandVoided)) == 1


async def test_a_table_without_a_hand_says_it_too_so_that_whoever_saw_more_starts_anew() -> None:
    room = SmallRoom()
    await room.open(STUD)
    await room.settle()
    await _lose(room, 1)
    assert (await room.state()).epoch == 2


async def test_the_log_folds_to_the_same_state_over_epochs() -> None:
    room = await _room_in_mid_hand()
    room.store.server_id = "another"
    room.start_table()
    await room.settle()
    await _lose(room, 1)
    await room.act(random.Random(3))
    state = await room.state()
    folded = type(state)()
    for entry in await room.log.range(keys.table_log(TABLE)):
        apply_entry(folded, decode_committed(entry.data))
    assert folded == state


async def test_an_outage_ends_although_the_batch_that_noticed_it_could_not_be_handled() -> None:
    """The entry that spoils the batch is tried alone after it: the clocks must have started again by then."""
    room = await _room_in_mid_hand()
    turn = (await room.state()).turn
    assert turn is not None
    room.start_table()
    room.now_ms = turn.deadline_ms + 60_000
    await room.log.append(keys.commands(SHARD), b"rubbish")
    await room.log.append(keys.commands(SHARD), encode(TurnExpired(TABLE, commands.ExpireTurn(turn.deadline_ms))))
    await room.settle()
    assert not room.events(table.TimedOut)
    assert room.events(table.OutageEnded)
