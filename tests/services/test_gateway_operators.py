"""What operators see and say over REST: a table, its log, the dead letters. Nobody else does, and no hidden card."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from brelan.eventlog import keys
from brelan.eventlog.dead import DeadEntry, encode_dead
from brelan.eventlog.keys import Service
from brelan.events import table as facts
from brelan.events.commands import Draw, UnfreezeTable
from brelan.events.dealing import Dealt
from brelan.events.envelope import PlayerCommanded, encode
from brelan.sql.engine import create_engine, writing
from brelan.sql.schema import history_dead, ledger_dead
from tests.services.gateway_room import TABLE, GatewayRoom, ScriptedTable, gateway_room


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(tmp_path) as room:
        yield room


@pytest.fixture
async def made(room: GatewayRoom) -> ScriptedTable:
    made = room.open_table()
    made.seat("ana", "ben")
    await room.sees(made)
    return made


@pytest.fixture
async def operator(room: GatewayRoom) -> AsyncIterator[httpx2.AsyncClient]:
    async with room.http("op", "operator") as http:
        yield http


PATHS = (f"/api/operator/tables/{TABLE}", f"/api/operator/tables/{TABLE}/log", "/api/operator/dead")


@pytest.mark.usefixtures("made")
async def test_nobody_but_an_operator_is_shown_anything(room: GatewayRoom) -> None:
    for name, status, code in (("", 401, "unauthenticated"), ("ana", 403, "forbidden")):
        async with room.http(name) as http:
            answers = [await http.get(path) for path in PATHS]
            answers.append(await http.post(f"/api/operator/tables/{TABLE}/commands", json={"type": "UnfreezeTable"}))
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(status, code)] * 4
    assert room.commands() == []


@pytest.mark.parametrize("table_id", ["s00-nobody", "s77-x", "rubbish", "s00-" + "x" * 300])
async def test_a_table_that_is_not_there(room: GatewayRoom, operator: httpx2.AsyncClient, table_id: str) -> None:
    answers = [
        await operator.get(f"/api/operator/tables/{table_id}"),
        await operator.get(f"/api/operator/tables/{table_id}/log"),
        await operator.post(f"/api/operator/tables/{table_id}/commands", json={"type": "PauseTable"}),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(404, "unknown_table")] * 3
    assert room.commands() == []


async def test_a_frozen_table_as_it_stands(operator: httpx2.AsyncClient, made: ScriptedTable) -> None:
    made.start_hand("ana", "ben")
    made.commit(
        facts.CardsRequested("h1:third", "h1", "third", (1, 2), 5),
        facts.CardsDealt("h1:third", "h1", "third", (facts.SeatCards(1, 2, (7,)), facts.SeatCards(2, 2, (11,)))),
        facts.TurnOpened(1, 2, 99, (facts.Action("fold"),)),
    )
    made.commit(facts.TopUpRequested(1, 500, "t9", 77), facts.TableFrozen("A card lies on the table twice."))
    report = (await operator.get(f"/api/operator/tables/{TABLE}")).json()
    assert report["problem"] == ""
    shown = report["table"]
    assert (shown["status"], shown["frozen_from"]) == ("frozen", "open")
    assert shown["frozen_reason"] == "A card lies on the table twice."
    assert (shown["version"], shown["epoch"]) == (made.version, 1)
    assert [(seat["seat"], seat["player_id"], seat["stack"]) for seat in shown["seats"]] == [
        (1, "p-ana", 4000),
        (2, "p-ben", 4000),
    ]
    assert shown["hand"]["hand_id"] == "h1"
    assert [player["cards"] for player in shown["hand"]["players"]] == [3, 3]
    assert shown["hand"]["turn"] == {"turn_id": 1, "seat": 2, "deadline_ms": 99}
    assert [(one["transfer_id"], one["kind"], one["amount"]) for one in shown["transfers"]] == [("t9", "top_up", 500)]
    assert (shown["chips"], shown["escrow"], shown["violations"]) == (8000, 8000, [])


async def test_a_table_whose_log_cannot_be_read_says_why(
    room: GatewayRoom, operator: httpx2.AsyncClient, made: ScriptedTable
) -> None:
    room.store.append(keys.table_log(TABLE), b"\xc1 rubbish", f"{made.version + 1}-0")
    report = (await operator.get(f"/api/operator/tables/{TABLE}")).json()
    assert report["table"] is None
    assert "cannot be read" in report["problem"]
    log = (await operator.get(f"/api/operator/tables/{TABLE}/log?count=2")).json()
    assert "unreadable" in log["entries"][-1]
    assert log["entries"][0]["events"][0]["type"] == "SeatReserved"


async def test_the_tail_of_the_log_page_by_page(operator: httpx2.AsyncClient, made: ScriptedTable) -> None:
    made.commit(facts.DrawChosen(1, (0, 3), "r"), facts.TableFrozen("so"))
    page = (await operator.get(f"/api/operator/tables/{TABLE}/log?count=2")).json()
    assert [entry["version"] for entry in page["entries"]] == [made.version - 1, made.version]
    assert page["entries"][-1]["events"] == [
        {"type": "DrawChosen", "seat": 1, "positions": "2 cards", "request_id": "r", "due_ms": 0, "cause": "player"},
        {"type": "TableFrozen", "reason": "so"},
    ]
    seen = [entry["version"] for entry in page["entries"]]
    while page["next"] is not None:
        page = (await operator.get(f"/api/operator/tables/{TABLE}/log?count=2&before={page['next']}")).json()
        seen = [entry["version"] for entry in page["entries"]] + seen
    assert seen == list(range(1, made.version + 1))


async def test_a_command_is_sent_as_the_operators_and_answered(
    room: GatewayRoom, operator: httpx2.AsyncClient, made: ScriptedTable
) -> None:
    asked = asyncio.create_task(
        operator.post(
            f"/api/operator/tables/{TABLE}/commands",
            json={"type": "UnfreezeTable", "void_hand": True},
            headers={"Idempotency-Key": "k1"},
        )
    )
    command = await room.commanded()
    assert (command.command, command.command_id, command.operator) == (UnfreezeTable(void_hand=True), "k1", True)
    version = made.commit(facts.TableUnfrozen("op"), command=command)
    answer = await asked
    assert (answer.status_code, answer.json()) == (200, {"table_id": TABLE, "version": version})


async def test_a_command_that_is_refused_says_so(
    room: GatewayRoom, operator: httpx2.AsyncClient, made: ScriptedTable
) -> None:
    asked = asyncio.create_task(operator.post(f"/api/operator/tables/{TABLE}/commands", json={"type": "UnfreezeTable"}))
    made.refuse(await room.commanded(), "not_frozen")
    answer = await asked
    assert (answer.status_code, answer.json()["code"]) == (409, "not_frozen")


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "Leave"},
        {"type": "OpenTable", "config": {}},
        {"type": "ConfigureTable"},
        {"type": "ConfigureTable", "config": {"name": 5}},
        {"type": "UnfreezeTable", "more": 1},
    ],
)
async def test_what_is_no_operators_command_is_not_sent(
    room: GatewayRoom, operator: httpx2.AsyncClient, body: dict[str, object]
) -> None:
    answer = await operator.post(f"/api/operator/tables/{TABLE}/commands", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert room.commands() == []


async def test_dead_letters_of_every_service_in_readable_form_without_a_card(
    room: GatewayRoom, operator: httpx2.AsyncClient
) -> None:
    shown = facts.ShownHand(1, (40, 41, 42, 43, 44), (40, 41, 42, 43, 44), "flush")
    showdown = Dealt(TABLE, "h:showdown", facts.ShowdownResolved("h:showdown", "h", ((1,),), (shown,)))
    dealt = Dealt(
        TABLE, "h:third", facts.CardsDealt("h:third", "h", "third", (facts.SeatCards(1, 2, (37,)),), 0, False, 38)
    )
    thrown = PlayerCommanded(TABLE, "p-ana", "Ana", "c1", Draw(7, (1, 2, 4)))
    buried = [
        (Service.TABLE, keys.dealt("s00"), encode(showdown)),
        (Service.TABLE, keys.dealt("s00"), encode(dealt)),
        (Service.TABLE, keys.commands("s00"), encode(thrown)),
        (Service.DEALER, keys.feed("s00"), b"\xc1 rubbish"),
    ]
    now_ms = room.store.clock()
    for number, (service, stream, data) in enumerate(buried):
        entry = DeadEntry(stream, f"{now_ms}-{number}", data, "ValueError: so")
        room.store.append(keys.dead("s00", service), encode_dead(entry))
    engine = create_engine(room.settings.database_url)
    async with writing(engine) as connection:
        for dead, stream in ((ledger_dead, keys.cashier()), (history_dead, keys.records("s01"))):
            row = {"stream": stream, "entry_id": f"{now_ms}-0", "data": b"\x00", "error": "no message"}
            await connection.execute(dead.insert().values(**row))
    await engine.dispose()
    answer = await operator.get("/api/operator/dead?hours=8784")
    found = answer.json()["dead"]
    assert [letter["service"] for letter in found] == ["table", "table", "table", "dealer", "wallet", "history"]
    assert [letter["size"] for letter in found[:4]] == [len(data) for _, _, data in buried]
    assert found[0]["message"]["answer"]["type"] == "ShowdownResolved"
    assert found[2]["message"]["command"] == {"type": "Draw", "turn_id": 7, "positions": "3 cards"}
    assert found[3]["message"] is None
    for card in ("40", "41", "42", "43", "44", "37", "38"):
        assert card not in json.dumps([letter["message"] for letter in found]), "no card that was never taken in"
