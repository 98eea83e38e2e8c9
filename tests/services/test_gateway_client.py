"""The Python client against a gateway whose tables a test writes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from brelan.client import Client, CommandRefused, RequestRefused, Table, TableClosed
from brelan.client import table as client_table
from brelan.eventlog.memory_log import MemoryStore
from brelan.events import commands
from brelan.events import table as facts
from brelan.rules.cards import cards_from_text
from brelan.views import messages as views
from tests.services.gateway_room import PASSWORD, TABLE, GatewayRoom, ScriptedTable, gateway_room, hole_box, until
from tests.tables import STUD


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(tmp_path, welcome_amount=0) as room:
        yield room


@pytest.fixture
async def client(room: GatewayRoom) -> AsyncIterator[Client]:
    async with Client(room.url) as client:
        await client.register("Ana", PASSWORD)
        yield client


@pytest.fixture
async def table(room: GatewayRoom) -> ScriptedTable:
    table = room.open_table()
    await room.sees(table)
    return table


def seat(table: ScriptedTable, client: Client, seat: int = 1) -> None:
    table.commit(
        facts.SeatReserved(seat, client.player_id, client.name, 4000, f"t{seat}", "wait"),
        facts.PlayerSeated(seat, f"t{seat}"),
    )


# --- REST --------------------------------------------------------------------------------------------------------


async def test_register_log_in_and_enter(room: GatewayRoom, client: Client) -> None:
    assert client.player_id.startswith("p_")
    async with Client(room.url) as again:
        await again.log_in("ana", PASSWORD)
        assert again.player_id == client.player_id
        await again.enter("Ana", PASSWORD)
        assert again.player_id == client.player_id
        with pytest.raises(RequestRefused, match="wrong_password"):
            await again.enter("Ana", "another password")


async def test_balance_and_tables(room: GatewayRoom, client: Client, table: ScriptedTable) -> None:
    assert await client.balance() == 0
    room.wallet_books(client.player_id, 777)
    assert await client.balance() == 777
    assert [row["table_id"] for row in await client.tables()] == [TABLE]
    assert (await client.table_details(TABLE))["config"]["name"] == "Stud 2-4"
    assert await client.hands() == {"hands": [], "next": None}
    with pytest.raises(RequestRefused, match="forbidden"):
        await client.open_table(preset="stud 2-4")


async def test_a_request_that_is_too_much_is_asked_again_when_it_may_be(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, requests_per_second=2) as room, Client(room.url) as client:
        await asyncio.gather(*(client.tables() for _ in range(22)))


# --- a table -----------------------------------------------------------------------------------------------------


async def test_a_player_acts_and_sees_what_came_of_it(room: GatewayRoom, client: Client, table: ScriptedTable) -> None:
    async with client.table(TABLE) as mine:
        sitting = asyncio.create_task(mine.sit(4000))
        command = await room.commanded()
        assert command.command == commands.SitDown(4000)
        version = table.commit(facts.SeatReserved(1, client.player_id, "Ana", 4000, "t1", "wait"), command=command)
        assert await sitting == version
        assert mine.model.my_seat == 1
        assert mine.model.version == version
        with pytest.raises(CommandRefused, match="not_your_turn"):
            await mine.act("fold")
        showing = asyncio.create_task(mine.command(commands.Show()))
        table.refuse(await room.commanded(2), "nothing_to_show")
        with pytest.raises(CommandRefused, match="nothing_to_show"):
            await showing
        assert not mine.violations


async def test_turns_and_cards(room: GatewayRoom, client: Client, table: ScriptedTable) -> None:
    seat(table, client)
    players = (facts.HandSeat(1, client.player_id, "Ana", 4000), facts.HandSeat(2, "p-Ben", "Ben", 4000))
    table.commit(
        facts.SeatReserved(2, "p-Ben", "Ben", 4000, "t2", "wait"),
        facts.PlayerSeated(2, "t2"),
        facts.HandStarted("h1", 1, 52, players),
    )
    async with client.table(TABLE) as mine:
        await until(lambda: mine.model.version == table.version)
        from brelan.eventlog import keys
        from brelan.eventlog.memory_log import Hash
        from brelan.events.dealing import HoleCards

        hole = HoleCards("h1", 1, client.player_id, cards_from_text("AsKh"), (False, False))
        room.store.put(keys.hole(TABLE), Hash)["1"] = hole_box(TABLE, hole)
        dealt = facts.CardsDealt("r", "h1", "third", (facts.SeatCards(1, 2), facts.SeatCards(2, 2)))
        table.commit(dealt, facts.TurnOpened(1, 1, 99, (facts.Action("bring_in", 100, 100),)))
        await until(lambda: mine.turn is not None)
        assert mine.model.cards is not None
        assert mine.model.cards.cards == ("As", "Kh")
        acting = asyncio.create_task(mine.act("bring_in", 100))
        command = await room.commanded()
        assert command.command == commands.Act(1, "bring_in", 100)
        table.commit(facts.BetPlaced(1, "bring_in", 100, 100), command=command)
        await acting
        assert mine.turn is None
        assert mine.model.me is not None
        assert (mine.model.me.stack, mine.model.me.bet) == (3900, 100)


async def test_a_lost_connection_comes_back_and_goes_on_from_where_it_was(
    room: GatewayRoom, client: Client, table: ScriptedTable
) -> None:
    async with client.table(TABLE) as mine:
        versions = asyncio.create_task(read(mine, 6))
        for _ in range(3):
            table.commit(facts.NextHandScheduled(1))
        await until(lambda: mine.model.version == table.version)
        await mine.drop()
        for _ in range(3):
            table.commit(facts.NextHandScheduled(1))
        assert await versions == list(range(2, 8))
        assert mine.reconnects == 1
        assert not mine.violations


async def read(table: Table, count: int) -> list[int]:
    """The versions of the next entries; other messages pass by."""
    versions: list[int] = []
    async for message in table:
        if isinstance(message, views.Events):
            versions.append(message.version)
            if len(versions) == count:
                break
    return versions


async def test_a_command_is_sent_again_under_its_id_until_it_is_answered(
    room: GatewayRoom, client: Client, table: ScriptedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_table, "ASK_AGAIN_SECONDS", 0.3)
    async with client.table(TABLE) as mine:
        mucking = asyncio.create_task(mine.command(commands.Muck()))
        first = await room.commanded(1)
        again = await room.commanded(2)
        assert first.command_id == again.command_id
        await mine.drop()  # and when it comes back, once more
        third = await room.commanded(3)
        table.repeat(third, 1)
        assert await mucking == 1


async def test_what_was_sent_before_is_not_given_up_when_a_gateway_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway that never heard of the command says busy: it may have been accepted all the same."""
    monkeypatch.setattr(client_table, "ASK_AGAIN_SECONDS", 0.3)
    monkeypatch.setattr("brelan_gateway.inbox.LOST_AFTER", 1_000)
    async with gateway_room(tmp_path, welcome_amount=0, busy_after_ms=100) as room, Client(room.url) as client:
        table = room.open_table()
        await room.sees(table)
        await client.register("Ana", PASSWORD)
        async with client.table(TABLE) as mine:
            mucking = asyncio.create_task(mine.command(commands.Muck(), "c-1"))
            await room.commanded()
            inbox = room.room.shards["s00"].inbox
            waiting = inbox._waiting.pop((TABLE, client.player_id, "c-1"))  # as another gateway would have it
            inbox._waiting[TABLE, "p-Ben", "c-9"] = waiting
            await asyncio.sleep(1.2)
            assert not mucking.done()
            inbox._waiting.clear()
            table.repeat(await room.commanded(2), 1)
            assert await mucking == 1


async def test_a_gateway_restart_is_survived(tmp_path: Path) -> None:
    store = MemoryStore()
    table = ScriptedTable(store, TABLE, STUD)
    async with gateway_room(tmp_path, store, welcome_amount=0) as room, Client(room.url) as client:
        await client.register("Ana", PASSWORD)
        async with client.table(TABLE) as mine:
            room.stop.set()
            assert room.serving is not None
            await room.serving
            table.commit(facts.NextHandScheduled(1))
            await asyncio.sleep(0.2)
            assert mine.model.version == 1
            await room.start_again()
            await until(lambda: mine.model.version == 2, 10)
            assert not mine.violations


async def test_a_table_that_is_not_there_cannot_be_entered(room: GatewayRoom, client: Client) -> None:
    with pytest.raises(TableClosed, match="no table"):
        async with client.table("s00-nothere"):
            pass


async def test_leaving_ends_what_waits(room: GatewayRoom, client: Client, table: ScriptedTable) -> None:
    async with client.table(TABLE) as mine:
        mucking = asyncio.create_task(mine.command(commands.Muck()))
        await room.commanded()
    with pytest.raises(TableClosed):
        await mucking
    assert [message async for message in mine]  # what had arrived is still there, then it ends
    with pytest.raises(TableClosed):
        await mine.next(1)


async def test_messages_and_events_that_are_not_known_are_left_out() -> None:
    assert client_table._decode('{"type":"weather","sunny":true}') is None
    frame = (
        '{"type":"events","version":2,"epoch":1,"at":3,"events":[{"type":"Sneezed","seat":1},{"type":"TablePaused"}]}'
    )
    assert client_table._decode(frame) == views.Events(version=2, epoch=1, at=3, events=(views.TablePaused(),))
