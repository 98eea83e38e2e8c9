"""The table socket: who gets in, what he is sent and in which order, what his commands come to, how it ends."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec import UNSET
from prometheus_client import REGISTRY
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from brelan.eventlog import keys
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.memory_log import MemoryLog, MemoryStore
from brelan.events import commands
from brelan.events import table as facts
from brelan.events.envelope import encode
from brelan.rules.cards import cards_from_text
from brelan.views import messages as views
from brelan_gateway import feed, sockets
from tests.services.gateway_room import GatewayRoom, ScriptedTable, gateway_room, receive, send, until

ACE_KING = cards_from_text("AsKh")


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(tmp_path) as room:
        yield room


@pytest.fixture
async def table(room: GatewayRoom) -> ScriptedTable:
    table = room.open_table()
    table.seat("Ana", "Ben")
    await room.sees(table)
    return table


async def first(socket: ClientConnection) -> views.Snapshot:
    message = await receive(socket)
    assert isinstance(message, views.Snapshot)
    return message


async def closed(socket: ClientConnection) -> tuple[int | None, str | None]:
    """The code and reason, once it is closed."""
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(10):
            while True:
                await socket.recv()
    return socket.close_code, socket.close_reason


# --- getting in --------------------------------------------------------------------------------------------------


async def ticket_for(room: GatewayRoom, name: str) -> str:
    async with room.http(name) as http:
        answer = await http.post("/api/socket-tickets")
    assert answer.status_code == 201
    return str(answer.json()["ticket"])


async def test_a_ticket_opens_one_socket(room: GatewayRoom, table: ScriptedTable) -> None:
    ticket = await ticket_for(room, "Ana")
    async with room.socket("", query=f"?ticket={ticket}") as socket:
        assert (await first(socket)).you == views.You("p-Ana", "Ana", 1)
    async with room.socket("", query=f"?ticket={ticket}") as socket:
        assert (await closed(socket))[0] == views.CLOSE_UNAUTHENTICATED


@pytest.mark.parametrize("query", ["", "?ticket=", "?ticket=x.y.z"])
async def test_without_a_good_ticket_nobody_comes_in(room: GatewayRoom, table: ScriptedTable, query: str) -> None:
    async with room.socket("", query=query) as socket:
        code, reason = await closed(socket)
    assert code == views.CLOSE_UNAUTHENTICATED
    assert reason


async def test_a_token_is_no_ticket(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("", query=f"?ticket={room.token('Ana')}") as socket:
        assert (await closed(socket))[0] == views.CLOSE_UNAUTHENTICATED


@pytest.mark.parametrize("table_id", ["s00-nothere", "s55-abc123", "nonsense"])
async def test_a_table_that_is_not_there(room: GatewayRoom, table: ScriptedTable, table_id: str) -> None:
    async with room.socket("Ana", table_id) as socket:
        assert (await closed(socket))[0] == views.CLOSE_UNKNOWN_TABLE


async def test_a_page_of_another_host_gets_no_socket(room: GatewayRoom, table: ScriptedTable) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with room.socket("Ana", origin="http://evil.example"):
            pass
    assert refused.value.response.status_code == 403
    async with room.socket("Ana", origin=f"http://{room.host}") as socket:
        await first(socket)


async def test_another_origin_may_be_allowed(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, allowed_origins=("https://play.example",)) as room:
        await room.sees(room.open_table())
        async with room.socket("Ana", origin="https://play.example") as socket:
            await first(socket)


async def test_a_player_has_so_many_sockets_at_a_table(room: GatewayRoom, table: ScriptedTable) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(sockets.SOCKETS_PER_TABLE):
            await first(await stack.enter_async_context(room.socket("Ana")))
        one_more = await stack.enter_async_context(room.socket("Ana"))
        assert (await closed(one_more))[0] == views.CLOSE_TOO_MANY_SOCKETS
        await first(await stack.enter_async_context(room.socket("Ben")))


# --- what is sent ------------------------------------------------------------------------------------------------


async def test_first_a_snapshot_then_every_entry(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Eve") as socket:
        snapshot = await first(socket)
        assert (snapshot.version, snapshot.epoch, snapshot.you.seat) == (table.version, 1, None)
        assert [seat.name for seat in snapshot.table.seats if seat] == ["Ana", "Ben"]
        for _ in range(5):
            table.commit(facts.NextHandScheduled(1), facts.NextHandScheduled(2))
        versions = [(await receive(socket)).version for _ in range(5)]
    assert versions == list(range(snapshot.version + 1, snapshot.version + 6))


async def test_own_cards_go_to_their_owner_and_nobody_else(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana, room.socket("Ben") as ben, room.socket("Eve") as eve:
        for socket in (ana, ben, eve):
            await first(socket)
        table.start_hand("Ana", "Ben")
        table.hold(1, "Ana", ACE_KING)
        table.hold(2, "Ben", cards_from_text("2c3d"))
        table.deal(1, 2)
        got = []
        for socket in (ana, ben, eve):
            await receive(socket)
            got.append(await receive(socket))
    assert got[0].cards == views.OwnCards("h1", 1, ("As", "Kh"), (False, False))
    assert got[1].cards == views.OwnCards("h1", 2, ("2c", "3d"), (False, False))
    assert got[2].cards is UNSET
    assert got[0].events == got[1].events == got[2].events


async def test_a_card_never_arrives_for_a_hand_that_is_gone(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana:
        await first(ana)
        table.start_hand("Ana", "Ben", hand_id="h2")
        table.hold(1, "Ana", ACE_KING, hand_id="h1")
        table.deal(1, 2, hand_id="h2")
        await receive(ana)
        assert (await receive(ana)).cards is UNSET


async def test_a_street_that_the_table_has_not_seen_is_not_told_before_it_has(
    room: GatewayRoom, table: ScriptedTable
) -> None:
    table.start_hand("Ana", "Ben")
    table.hold(1, "Ana", cards_from_text("AsKhQd"))  # the dealer is ahead
    table.deal(1, 2)
    await room.sees(table)
    async with room.socket("Ana") as ana:
        assert (await first(ana)).cards == views.OwnCards("h1", 1, ("As", "Kh"), (False, False))
        table.deal(1, 2, down=1)
        assert (await receive(ana)).cards == views.OwnCards("h1", 1, ("As", "Kh", "Qd"), (False,) * 3)


async def test_reconnecting_shows_the_own_cards_again(room: GatewayRoom, table: ScriptedTable) -> None:
    table.start_hand("Ana", "Ben")
    table.hold(1, "Ana", ACE_KING)
    table.deal(1, 2)
    await room.sees(table)
    for _ in range(2):
        async with room.socket("Ana") as ana:
            snapshot = await first(ana)
            assert snapshot.cards is not None
            assert snapshot.cards.cards == ("As", "Kh")
    async with room.socket("Eve") as eve:
        assert (await first(eve)).cards is None


async def test_what_is_for_one_player_only_leaves_no_gap_for_others(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana, room.socket("Ben") as ben:
        version = (await first(ana)).version
        await first(ben)
        table.commit(facts.LeaveAsked(1))
        to_ana, to_ben = await receive(ana), await receive(ben)
    assert to_ana.events == (views.LeaveAsked(1),)
    assert to_ben.events == ()
    assert to_ana.version == to_ben.version == version + 1


# --- resuming ----------------------------------------------------------------------------------------------------


async def test_whoever_comes_back_gets_what_he_missed(room: GatewayRoom, table: ScriptedTable) -> None:
    since = table.version
    table.start_hand("Ana", "Ben")
    table.hold(1, "Ana", ACE_KING)
    table.deal(1, 2)
    table.commit(facts.SitOutAsked(1))
    await room.sees(table)
    async with room.socket("Ana", query=f"?since={since}&epoch=1") as ana:
        resumed = await receive(ana)
        assert (resumed.version, resumed.epoch, resumed.you) == (since, 1, views.You("p-Ana", "Ana", 1))
        missed = [await receive(ana) for _ in range(3)]
        table.commit(facts.NextHandScheduled(1))
        live = await receive(ana)
    assert [entry.version for entry in (*missed, live)] == [since + 1, since + 2, since + 3, since + 4]
    assert [type(entry.events[0]).__name__ for entry in missed] == ["HandStarted", "CardsDealt", "SitOutAsked"]
    assert missed[-1].cards.cards == ("As", "Kh")
    assert live.cards is UNSET


async def test_whoever_missed_nothing_gets_nothing_again(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana", query=f"?since={table.version}&epoch=1") as ana:
        assert isinstance(await receive(ana), views.Resumed)
        table.commit(facts.NextHandScheduled(1))
        assert (await receive(ana)).version == table.version


@pytest.mark.parametrize("query", ["?since=0&epoch=7", "?since=1", "?epoch=1", "?since=-5&epoch=1"])
async def test_another_epoch_or_half_a_question_gets_a_snapshot(
    room: GatewayRoom, table: ScriptedTable, query: str
) -> None:
    async with room.socket("Ana", query=query) as ana:
        await first(ana)


async def test_whoever_missed_too_much_gets_a_snapshot(
    room: GatewayRoom, table: ScriptedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "RESUME_LIMIT", 3)
    since = table.version
    for _ in range(4):
        table.commit(facts.NextHandScheduled(1))
    await room.sees(table)
    async with room.socket("Ana", query=f"?since={since}&epoch=1") as ana:
        assert (await first(ana)).version == table.version
    async with room.socket("Ana", query=f"?since={since + 1}&epoch=1") as ana:
        assert isinstance(await receive(ana), views.Resumed)


async def test_when_seats_changed_hands_meanwhile_a_snapshot_is_sent(room: GatewayRoom, table: ScriptedTable) -> None:
    since = table.version
    table.commit(facts.PlayerLeft(1, "p-Ana", 4000, "t9"))
    await room.sees(table)
    async with room.socket("Ana", query=f"?since={since}&epoch=1") as ana:
        assert (await first(ana)).you.seat is None


async def test_whoever_is_ahead_of_this_gateway_is_shown_nothing_older(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ben") as ben:
        await first(ben)
        ahead = table.commit(facts.NextHandScheduled(1), feed=False)  # another gateway has read it
        async with room.socket("Ana", query=f"?since={ahead}&epoch=1") as ana:
            with pytest.raises(TimeoutError):
                await receive(ana, 0.2)
            table.store.append(keys.feed("s00"), feed_entry(table))
            assert isinstance(await receive(ana), views.Resumed)


async def test_a_gateway_that_stays_behind_sends_him_elsewhere(
    room: GatewayRoom, table: ScriptedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CATCH_UP_SECONDS", 0.1)
    async with room.socket("Ana", query=f"?since={table.version + 1}&epoch=1") as ana:
        assert (await closed(ana))[0] == views.CLOSE_TRY_LATER


def feed_entry(table: ScriptedTable) -> bytes:
    return encode(table.entries[-1])


async def test_what_the_feed_lost_is_read_from_the_log(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana:
        start = (await first(ana)).version
        table.commit(facts.NextHandScheduled(1), feed=False)
        table.commit(facts.NextHandScheduled(1), feed=False)
        table.commit(facts.NextHandScheduled(1))
        assert [(await receive(ana)).version for _ in range(3)] == [start + 1, start + 2, start + 3]


async def test_a_new_epoch_starts_everybody_anew(room: GatewayRoom, table: ScriptedTable) -> None:
    """The tail of the log was lost, or a backup restored: what was seen last is no more."""
    async with room.socket("Ana") as ana, room.socket("Eve") as eve:
        before = await first(ana)
        await first(eve)
        table.start_hand("Ana", "Ben")
        await receive(ana)
        await receive(eve)
        table.lose_tail(1)
        table.epoch = 2
        table.start_hand("Ana", "Ben", hand_id="h2")
        for socket in (ana, eve):
            snapshot = await first(socket)
            assert (snapshot.epoch, snapshot.version) == (2, before.version + 1)
            assert snapshot.table.hand is not None
            assert snapshot.table.hand.hand_id == "h2"
        table.hold(1, "Ana", ACE_KING, hand_id="h2")
        table.deal(1, 2, hand_id="h2")
        assert (await receive(ana)).cards.cards == ("As", "Kh")
        assert (await receive(eve)).version == before.version + 2


async def test_a_table_that_cannot_be_shown_closes_its_sockets_and_no_others(
    room: GatewayRoom, table: ScriptedTable
) -> None:
    other = room.open_table("s00-other0")
    await room.sees(other)
    async with room.socket("Ana") as ana, room.socket("Ben", "s00-other0") as ben:
        await first(ana)
        await first(ben)
        table.commit(facts.PlayerLeft(7, "p-nobody", 0, ""), facts.SatOut(7, "asked"))  # nobody sits there
        assert (await closed(ana))[0] == views.CLOSE_BROKEN
        other.commit(facts.NextHandScheduled(1))
        assert (await receive(ben)).version == 2


async def test_an_entry_that_comes_twice_is_sent_once(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana:
        start = (await first(ana)).version
        table.commit(facts.NextHandScheduled(1))
        table.store.append(keys.feed("s00"), feed_entry(table))
        table.commit(facts.NextHandScheduled(1))
        assert [(await receive(ana)).version for _ in range(2)] == [start + 1, start + 2]


# --- commands ----------------------------------------------------------------------------------------------------


async def test_a_command_goes_to_the_table_and_its_entry_comes_before_its_answer(
    room: GatewayRoom, table: ScriptedTable
) -> None:
    async with room.socket("Ana") as ana, room.socket("Ben") as ben:
        await first(ana)
        await first(ben)
        await send(ana, commands.Act(3, "check"), "c-1")
        command = await room.commanded()
        assert (command.player_id, command.name, command.command_id) == ("p-Ana", "Ana", "c-1")
        assert (command.command, command.operator) == (commands.Act(3, "check"), False)
        assert command.trace
        version = table.commit(facts.NextHandScheduled(1), command=command)
        assert (await receive(ana)).version == version
        assert await receive(ana) == views.Ack("c-1", version)
        assert (await receive(ben)).version == version
        table.commit(facts.NextHandScheduled(1))
        assert isinstance(await receive(ben), views.Events)  # no answer for others


async def test_a_refusal_and_a_repeat_are_answers(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana:
        await first(ana)
        await send(ana, commands.Muck(), "c-1")
        table.refuse(await room.commanded(1))
        assert await receive(ana) == views.Refused("c-1", "not_your_turn", "It is not your turn.")
        await send(ana, commands.Muck(), "c-2")
        table.repeat(await room.commanded(2), 3)
        assert await receive(ana) == views.Ack("c-2", 3)


async def test_a_command_sent_twice_before_its_answer_is_sent_on_twice_and_answered(
    room: GatewayRoom, table: ScriptedTable
) -> None:
    async with room.socket("Ana") as ana:
        await first(ana)
        await send(ana, commands.Muck(), "c-1")
        await send(ana, commands.Muck(), "c-1")
        command = await room.commanded(2)
        version = table.commit(facts.HandMucked(1), command=command)
        table.repeat(command, version)
        await receive(ana)
        answers = [await receive(ana) for _ in range(2)]
    assert answers == [views.Ack("c-1", version)] * 2


@pytest.mark.parametrize(("role", "sent"), [("player", 0), ("support", 0), ("operator", 1)])
async def test_only_operators_pause_a_table(room: GatewayRoom, table: ScriptedTable, role: str, sent: int) -> None:
    async with room.socket("Olga", role=role) as olga:
        await first(olga)
        await send(olga, commands.PauseTable())
        if sent:
            assert (await room.commanded()).operator
        else:
            assert (await receive(olga)).code == "forbidden"
            assert not room.commands()


async def test_opening_a_table_is_no_message_of_a_socket(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Olga", role="operator") as olga:
        await first(olga)
        await olga.send('{"type":"command","id":"1","command":{"type":"OpenTable","config":{}}}')
        assert (await closed(olga))[0] == views.CLOSE_MALFORMED


async def test_a_shard_that_does_not_answer_is_busy(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, busy_after_ms=100) as room:
        table = room.open_table()
        await room.sees(table)
        async with room.socket("Ana") as ana:
            await first(ana)
            await send(ana, commands.Muck(), "c-1")
            command = await room.commanded()
            await asyncio.sleep(0.15)
            await send(ana, commands.Muck(), "c-2")
            refused = await receive(ana)
            assert (refused.id, refused.code, refused.retry_in_ms) == ("c-2", "busy", 1000)
            await send(ana, commands.Muck(), "c-1")  # the same again is not refused: it may have been sent on
            await room.commanded(2)
            table.refuse(command)
            assert (await receive(ana)).id == "c-1"
            await send(ana, commands.Muck(), "c-3")
            assert (await room.commanded(3)).command_id == "c-3"


async def test_a_command_that_got_lost_does_not_make_the_shard_look_busy(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, busy_after_ms=100) as room:
        table = room.open_table()
        await room.sees(table)
        async with room.socket("Ana") as ana:
            await first(ana)
            await send(ana, commands.Muck(), "lost")
            await send(ana, commands.Muck(), "found")
            table.refuse(await room.commanded(2))
            assert (await receive(ana)).id == "found"
            await asyncio.sleep(0.15)
            await send(ana, commands.Muck(), "next")
            assert (await room.commanded(3)).command_id == "next"


class StumblingLog(MemoryLog):
    """Its appends fail for a while, after having been written or not."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store, "s00")
        self.failures: list[bool] = []  # for each to come: whether it is written

    async def append_many(self, stream: str, data: Any) -> list[str]:
        if self.failures:
            if self.failures.pop(0):
                await super().append_many(stream, data)
            raise LogUnavailable("the reply got lost")
        return await super().append_many(stream, data)


async def test_a_command_whose_fate_is_unknown_is_sent_again_under_its_id(tmp_path: Path) -> None:
    store = MemoryStore()
    log = StumblingLog(store)
    async with gateway_room(tmp_path, store, {"s00": log}) as room:
        table = room.open_table()
        await room.sees(table)
        async with room.socket("Ana") as ana:
            await first(ana)
            log.failures = [True, False, True]
            await send(ana, commands.Muck(), "c-1")
            command = await room.commanded(3)
            assert {each.command_id for each in room.commands()} == {"c-1"}
            version = table.commit(facts.HandMucked(1), command=command)
            table.repeat(command, version)
            await receive(ana)
            assert await receive(ana) == views.Ack("c-1", version)


# --- what does not belong here -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{}",
        "[]",
        '{"type":"snapshot"}',
        '{"type":"command","id":"","command":{"type":"Muck"}}',
        '{"type":"command","id":"1","command":{"type":"ExpireTurn","deadline_ms":1}}',
        '{"type":"command","id":"1","command":{"type":"Act","turn_id":"x","kind":"fold"}}',
        '{"type":"command","id":"1","command":{"type":"Act","turn_id":1,"kind":"win"}}',
        '{"type":"command","id":1,"command":{"type":"Muck"}}',
    ],
)
async def test_what_is_no_message_closes_the_socket_with_a_reason(
    room: GatewayRoom, table: ScriptedTable, text: str
) -> None:
    async with room.socket("Ana") as ana:
        await first(ana)
        await ana.send(text)
        code, reason = await closed(ana)
    assert (code, bool(reason)) == (views.CLOSE_MALFORMED, True)
    assert not room.commands()


@pytest.mark.parametrize("amount", ["9007199254740993", "-9007199254740993", "1" + "0" * 40])
async def test_a_number_that_no_amount_has_is_refused(room: GatewayRoom, table: ScriptedTable, amount: str) -> None:
    async with room.socket("Ana") as ana:
        await first(ana)
        await ana.send(f'{{"type":"command","id":"1","command":{{"type":"TopUp","amount":{amount}}}}}')
        assert (await receive(ana)).code == "invalid"
        assert not room.commands()


async def test_a_frame_that_is_too_large_closes_the_socket(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana:
        await first(ana)
        with contextlib.suppress(ConnectionClosed):
            await ana.send("x" * 5_000)
        assert (await closed(ana))[0] == 1009


async def test_too_many_commands_are_refused_and_a_flood_is_cut_off(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, commands_per_second=5) as room:
        await room.sees(room.open_table())
        async with room.socket("Ana") as ana, room.socket("Ben") as ben:
            await first(ana)
            await first(ben)
            for number in range(15):
                await send(ana, commands.Muck(), f"c-{number}")
            notice, refused = await receive(ana), await receive(ana)
            assert (notice.code, refused.code) == ("slow_down", "rate_limited")
            assert refused.retry_in_ms > 0
            started = asyncio.get_running_loop().time()
            with contextlib.suppress(ConnectionClosed):
                for _ in range(1000):
                    await ana.send('{"type":"ping"}')
            assert (await closed(ana))[0] == views.CLOSE_FLOODING
            assert asyncio.get_running_loop().time() - started < 1.0
            await ben.send('{"type":"ping","t":7}')
            assert (await receive(ben)).t == 7
        assert len(room.commands()) <= 12


async def test_a_ping_is_answered_with_the_rooms_clock(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana:
        await first(ana)
        await ana.send('{"type":"ping","t":1764558000123}')
        pong = await receive(ana)
    assert pong.t == 1764558000123
    assert abs(pong.now - room.store.clock()) < 1000


async def test_a_silent_socket_is_closed(
    room: GatewayRoom, table: ScriptedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "SILENT_SECONDS", 0.2)
    async with room.socket("Ana") as ana:
        assert (await closed(ana))[0] == views.CLOSE_SILENT


async def test_a_session_that_has_ended_ends_its_socket(room: GatewayRoom, table: ScriptedTable) -> None:
    room.issuer.lifetime_seconds = 1
    async with room.socket("Ana") as ana:
        await first(ana)
        await asyncio.sleep(1.1)
        await ana.send('{"type":"ping"}')
        assert (await closed(ana))[0] == views.CLOSE_UNAUTHENTICATED


# --- slow readers, many sockets, the end -------------------------------------------------------------------------


async def test_a_slow_reader_is_cut_off_and_others_are_not_hurt(
    room: GatewayRoom, table: ScriptedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "OUTBOX_MESSAGES", 20)
    before = REGISTRY.get_sample_value("brelan_slow_reader_closes_total") or 0
    async with room.socket("Ana") as ana, room.socket("Eve", max_queue=1) as eve:
        start = (await first(ana)).version
        await first(eve)
        eve.transport.pause_reading()
        long_name = "x" * 30_000
        reading = asyncio.create_task(read_versions(ana, 400))
        for _ in range(400):
            table.commit(facts.SeatReserved(8, "p-x", long_name, 4000, "t8", "wait"), facts.SeatReleased(8, "t8", ""))
            await asyncio.sleep(0.001)
        assert await reading == list(range(start + 1, start + 401))
        await until(lambda: len(room.room.sockets) == 1)
        eve.transport.resume_reading()
        assert (await closed(eve))[0] == 1006
    assert REGISTRY.get_sample_value("brelan_slow_reader_closes_total") == before + 1


async def read_versions(socket: ClientConnection, count: int) -> list[int]:
    return [(await receive(socket)).version for _ in range(count)]


async def test_sockets_that_come_and_go_leave_nothing_behind(room: GatewayRoom, table: ScriptedTable) -> None:
    async def visit(number: int) -> None:
        with contextlib.suppress(ConnectionClosed, httpx2.HTTPError):
            async with room.socket(f"Eve {number % 50}") as socket:
                await first(socket)
                if number % 3 == 0:
                    socket.transport.abort()

    gate = asyncio.Semaphore(20)

    async def one(number: int) -> None:
        async with gate:
            await visit(number)

    await asyncio.gather(*map(one, range(200)))
    shard = room.room.shards["s00"]
    await until(lambda: len(room.room.sockets) == 0 and not shard.feed._tables)
    assert REGISTRY.get_sample_value("brelan_sockets") == 0


async def test_a_gateway_that_goes_says_so_and_closes_in_time(tmp_path: Path) -> None:
    async with gateway_room(tmp_path) as room:
        await room.sees(room.open_table())
        async with room.socket("Ana") as ana:
            await first(ana)
            started = asyncio.get_running_loop().time()
            room.stop.set()
            notice = await receive(ana)
            assert (notice.code, notice.retry_in_ms > 0) == ("restarting", True)
            assert (await closed(ana))[0] == views.CLOSE_RESTART
        assert room.serving is not None
        await room.serving
        assert asyncio.get_running_loop().time() - started < 8


async def test_a_command_that_was_taken_before_the_end_is_still_sent_on(tmp_path: Path) -> None:
    async with gateway_room(tmp_path) as room:
        await room.sees(room.open_table())
        async with room.socket("Ana") as ana:
            await first(ana)
            await send(ana, commands.Muck(), "last")
            await asyncio.sleep(0.02)
            room.stop.set()
            await closed(ana)
    assert [command.command_id for command in room.commands()] == ["last"]


async def test_from_command_to_answer_and_to_every_socket_is_measured(room: GatewayRoom, table: ScriptedTable) -> None:
    def count(name: str) -> float:
        return REGISTRY.get_sample_value(f"brelan_action_to_{name}_seconds_count") or 0

    acks, broadcasts = count("ack"), count("broadcast")
    async with room.socket("Ana") as ana, room.socket("Ben") as ben:
        await first(ana)
        await first(ben)
        await send(ana, commands.Muck())
        table.commit(facts.HandMucked(1), command=await room.commanded())
        await receive(ana)
        await receive(ana)
        await receive(ben)
    assert count("ack") == acks + 1
    assert count("broadcast") == broadcasts + 2
