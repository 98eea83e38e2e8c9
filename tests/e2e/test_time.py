"""Time, read back from the logs of a room in which bots and silent players played with the real Celery worker.

No turn was enforced before its deadline, none although a legal decision for it stood earlier on the commands stream,
and a silent player got exactly what T2-T6 say.
"""

import asyncio
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from brelan.eventlog import keys
from brelan.events import commands, envelope, table
from brelan.rules.state import Rejected, TableState, initial_state
from brelan.rules.table import apply_entry, decide
from tests.crash.record import Record
from tests.e2e.players import RawPlayer
from tests.room import Room, start_room

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(400)]

PLAY_S = 75.0
SHARDS = ("s00", "s01")


class Silent(RawPlayer):
    """Decides every other time, and otherwise says nothing; comes back when he is sat out."""

    async def _command(self, socket: Any, command: dict[str, Any]) -> None:
        if command["type"] in ("Act", "Draw") and self._chance.random() < 0.4:
            return
        await super()._command(socket, command)


class Logs:
    """What passed through the streams: each table's log, each shard's commands, in order."""

    def __init__(self, record: Record) -> None:
        self.tables = record.committed()
        self.commands = {
            shard: [(id_, envelope.decode_command(data)) for id_, data in record.entries[keys.commands(shard)]]
            for shard in SHARDS
        }

    def before(self, shard: str, entry_id: str) -> list[tuple[str, envelope.CommandEntry]]:
        ids = [one for one, _ in self.commands[shard]]
        return self.commands[shard][: ids.index(entry_id)]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logs]:
    with start_room(tmp_path_factory.mktemp("time"), "--no-bots", "--hand-pause-ms", "100") as room:
        record = Record(lambda: str(json.loads((room.data / "running.json").read_text())["redis_url"]), SHARDS)
        try:
            asyncio.run(_play(room))
        finally:
            record.stop()
        yield Logs(record)


async def _play(room: Room) -> None:
    async with asyncio.TaskGroup() as group:
        lister = RawPlayer(room.url, "lister", random.Random(0))
        await lister.register()
        for number, table_id in enumerate(await lister.tables()):
            for seat in range(4):
                kind = Silent if seat < 2 else RawPlayer
                player = kind(room.url, f"p{number}{seat}", random.Random(10 * number + seat))
                await player.register()
                group.create_task(_for_a_while(player, table_id))


async def _for_a_while(player: RawPlayer, table_id: str) -> None:
    try:
        async with asyncio.timeout(PLAY_S):
            await player.play(table_id, 8_000, asyncio.Event(), hands=10_000)
    except TimeoutError:
        return


def _enforced(logs: Logs) -> Iterator[tuple[TableState, table.TimedOut, envelope.TableCommitted]]:
    """Each enforced turn: the table before it, the event, the entry."""
    for log in logs.tables.values():
        state = initial_state()
        for entry in log:
            for event in entry.events:
                if isinstance(event, table.TimedOut):
                    yield state, event, entry
            apply_entry(state, entry)


def test_turns_were_enforced_and_none_before_its_deadline(logs: Logs) -> None:
    enforced = 0
    for before, event, entry in _enforced(logs):
        assert before.turn is not None
        assert before.turn.turn_id == event.turn_id
        stream, _, entry_id = entry.cause.partition("/")
        assert stream == "commands"
        assert int(entry_id.partition("-")[0]) >= before.turn.deadline_ms
        assert entry.at_ms >= before.turn.deadline_ms
        enforced += 1
    assert enforced >= 5


def test_no_enforced_turn_had_a_legal_decision_that_stood_earlier(logs: Logs) -> None:
    looked_at = 0
    for before, event, entry in _enforced(logs):
        entry_id = entry.cause.partition("/")[2]
        shard = keys.shard_of(before.table_id)
        for _, command in logs.before(shard, entry_id):
            if not isinstance(command, envelope.PlayerCommanded) or command.table_id != before.table_id:
                continue
            if getattr(command.command, "turn_id", None) != event.turn_id:
                continue
            decided = decide(before, command.command, now_ms=0, arrived_at_ms=0, player_id=command.player_id)
            assert isinstance(decided, Rejected), f"{command} stood before the enforcement {entry_id}"
        looked_at += 1
    assert looked_at >= 5


def test_a_silent_player_got_what_the_rules_say(logs: Logs) -> None:
    seen = set()
    for before, event, entry in _enforced(logs):
        hand, turn = before.hand, before.turn
        assert hand is not None
        assert turn is not None
        player = next(one for one in hand.players if one.seat == event.seat)
        after = entry.events[entry.events.index(event) + 1]
        kinds = {action.kind for action in turn.actions}
        if "draw" in kinds:  # T6
            expected: object = table.DrawChosen(event.seat, (), "", 0, "time")
        elif "bring_in" in kinds:  # T4
            bring_in = next(action for action in turn.actions if action.kind == "bring_in")
            expected = table.BetPlaced(event.seat, "bring_in", bring_in.pay, bring_in.to, bring_in.all_in, "time")
        elif player.has_bet:  # T2, T3, T5
            assert isinstance(after, table.AllInByTime)
            assert after.seat == event.seat
            seen.add("all-in")
            continue
        else:
            expected = table.Folded(event.seat, "time")
        assert after == expected
        seen.add(type(after).__name__)
    assert len(seen) >= 2, f"too little happened: {seen}"


def test_commands_of_the_timer_named_only_deadlines(logs: Logs) -> None:
    expired = [one for each in logs.commands.values() for _, one in each if isinstance(one, envelope.TurnExpired)]
    assert expired
    assert all(isinstance(one.command, commands.ExpireTurn) for one in expired)
