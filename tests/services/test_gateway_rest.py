"""The gateway's REST interface: accounts, lobby, opening tables, refusals, headers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import msgspec
import pytest
from websockets.exceptions import ConnectionClosed

from brelan.eventlog import keys
from brelan.eventlog.memory_log import MemoryStore
from brelan.events import table as facts
from brelan.events.commands import OpenTable
from brelan.events.config import TableConfig
from brelan.events.money import Deposit
from brelan_gateway.refusals import Refusal
from tests.services.gateway_room import PASSWORD, TABLE, GatewayRoom, ScriptedTable, gateway_room, until
from tests.tables import STUD


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(tmp_path) as room:
        yield room


async def register(room: GatewayRoom, http: httpx2.AsyncClient, name: str = "Ana") -> httpx2.Response:
    """A new player, whose money the wallet books."""
    asked = asyncio.create_task(http.post("/api/players", json={"name": name, "password": PASSWORD}))
    await until(lambda: room.deposits() or asked.done())
    if room.deposits():
        room.wallet_books(room.deposits()[-1].player_id, room.deposits()[-1].amount)
    return await asked


# --- accounts ----------------------------------------------------------------------------------------------------


async def test_a_new_player_is_logged_in_and_has_play_money(room: GatewayRoom) -> None:
    async with room.http() as http:
        answer = await register(room, http)
        assert answer.status_code == 201
        session = answer.json()
        http.headers["Authorization"] = f"Bearer {session['token']}"
        assert (await http.get("/api/me")).json() == {**session["player"], "name": "Ana", "role": "player"}
        assert (await http.get("/api/me/balance")).json() == {"balance": 100_000}
    player_id = session["player"]["player_id"]
    assert room.deposits() == [Deposit(f"welcome:{player_id}", player_id, 100_000, "room", "welcome")]


async def test_the_same_session_comes_from_a_login(room: GatewayRoom) -> None:
    async with room.http() as http:
        registered = (await register(room, http)).json()
        answer = await http.post("/api/sessions", json={"name": "ana", "password": PASSWORD})
    assert answer.status_code == 200
    assert answer.json()["player"] == registered["player"]
    assert len(room.deposits()) == 1


async def test_money_that_was_never_booked_is_asked_for_again_at_the_next_login(room: GatewayRoom) -> None:
    async with room.http() as http:
        await http.post("/api/players", json={"name": "Ana", "password": PASSWORD})  # the wallet is away
        await http.post("/api/sessions", json={"name": "Ana", "password": PASSWORD})
    first, second = room.deposits()
    assert first == second  # one transfer id: the wallet books it once


async def test_a_name_is_had_by_one_player(room: GatewayRoom) -> None:
    async with room.http() as http:
        await register(room, http)
        answer = await http.post("/api/players", json={"name": "ANA", "password": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (409, "name_taken")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": "x", "password": PASSWORD}, "bad_name"),
        ({"name": "operator", "password": PASSWORD}, "bad_name"),
        ({"name": "Ana", "password": "short"}, "invalid"),
        ({"name": "Ana"}, "invalid"),
        ({"name": "Ana", "password": PASSWORD, "role": "operator"}, "invalid"),
        ([], "invalid"),
    ],
)
async def test_what_makes_no_player_is_refused_with_a_sentence(room: GatewayRoom, body: object, code: str) -> None:
    async with room.http() as http:
        answer = await http.post("/api/players", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["message"].endswith(".")
    assert "short" not in answer.text


async def test_a_wrong_password_and_an_unknown_name_are_answered_alike(room: GatewayRoom) -> None:
    async with room.http() as http:
        await register(room, http)
        wrong = await http.post("/api/sessions", json={"name": "Ana", "password": "another password"})
        unknown = await http.post("/api/sessions", json={"name": "Ben", "password": "another password"})
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json() == unknown.json()


async def test_whoever_guesses_passwords_has_to_wait(room: GatewayRoom) -> None:
    async with room.http() as http:
        answers = [
            await http.post("/api/sessions", json={"name": "Ana", "password": f"guess {number}"}) for number in range(8)
        ]
    assert [answer.status_code for answer in answers[:6]] == [401] * 6
    assert answers[7].status_code == 429
    assert int(answers[7].headers["Retry-After"]) >= 1


async def guesses(room: GatewayRoom, names: list[str], address: str = "127.0.0.1") -> list[int]:
    """All at once; how each was answered."""

    async def guess(number: int, name: str) -> int:
        try:
            await room.room.doorkeeper.log_in(name, f"guess {number}", address)
        except Refusal as refusal:
            return refusal.status
        return 200

    return sorted(await asyncio.gather(*(guess(number, name) for number, name in enumerate(names))))


async def test_guesses_made_at_once_count_as_many(room: GatewayRoom) -> None:
    async with room.http() as http:
        await register(room, http)
    assert await guesses(room, ["Ana"] * 20) == [401] * 6 + [429] * 14


async def test_a_name_written_another_way_is_the_same_account(room: GatewayRoom) -> None:
    async with room.http() as http:
        await register(room, http)
    assert await guesses(room, ["Ana", "ana", "A-na", "A.n.a", "Ána", "an a", "ANA", "a_na"]) == [401] * 6 + [429] * 2


async def test_who_guesses_elsewhere_keeps_nobody_out_and_does_not_go_on_for_ever(room: GatewayRoom) -> None:
    async with room.http() as http:
        await register(room, http)
        assert await guesses(room, ["Ana"] * 8, "10.0.0.1") == [401] * 6 + [429] * 2
        assert (await http.post("/api/sessions", json={"name": "Ana", "password": PASSWORD})).status_code == 200
        answers = [code for number in range(2, 12) for code in await guesses(room, ["Ana"] * 6, f"10.0.0.{number}")]
    assert answers.count(429) >= 5, "from many addresses it comes to an end too"


async def test_the_right_password_uses_nothing_up(room: GatewayRoom) -> None:
    async with room.http() as http:
        await register(room, http)
        answers = [await http.post("/api/sessions", json={"name": "Ana", "password": PASSWORD}) for _ in range(9)]
    assert [answer.status_code for answer in answers] == [200] * 9


async def test_an_address_that_asks_for_too_much_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, requests_per_second=1) as room, room.http() as http:
        answers = await asyncio.gather(*(http.get("/api/tables") for _ in range(20)))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 5 <= len(refused) < 20
    assert all("Retry-After" in answer.headers and answer.json()["code"] == "rate_limited" for answer in refused)


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/me"), ("GET", "/api/me/balance"), ("GET", "/api/me/hands")])
@pytest.mark.parametrize("header", ["", "Bearer x", "Basic eA==", "Bearer"])
async def test_without_a_good_token_nobody_is_anybody(room: GatewayRoom, method: str, path: str, header: str) -> None:
    async with room.http() as http:
        answer = await http.request(method, path, headers={"Authorization": header} if header else {})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_a_ticket_is_no_token(room: GatewayRoom) -> None:
    async with room.http("Ana") as http:
        ticket = (await http.post("/api/socket-tickets")).json()["ticket"]
        answer = await http.get("/api/me", headers={"Authorization": f"Bearer {ticket}"})
    assert answer.status_code == 401


# --- tables ------------------------------------------------------------------------------------------------------


async def test_the_lobby_follows_the_tables(room: GatewayRoom) -> None:
    table = room.open_table()
    table.seat("Ana", "Ben")
    table.start_hand("Ana", "Ben")
    table.commit(facts.PotAwarded(0, 800, 0, (facts.PotShare(1, 800),)), facts.HandEnded("h1", 0, ()))
    table.commit(facts.TablePaused("p-operator"))
    async with room.http("Ben") as http:
        await room.sees(table)
        (row,) = (await http.get("/api/tables")).json()["tables"]
    assert row == {
        "table_id": TABLE,
        "name": "Stud 2-4",
        "game": "stud",
        "status": "paused",
        "lower_limit": 200,
        "upper_limit": 400,
        "seats": 8,
        "players": 2,
        "minimum_buy_in": 2000,
        "action_time_ms": 10_000,
        "currency_unit": 100,
        "average_pot": 800,
        "hands_per_hour": None,
        "my_seat": 2,
    }


async def test_tables_that_were_there_before_the_gateway_are_in_its_lobby(tmp_path: Path) -> None:
    store = MemoryStore()
    ScriptedTable(store, TABLE, STUD).seat("Ana")
    async with gateway_room(tmp_path, store) as room, room.http() as http:
        (row,) = (await http.get("/api/tables")).json()["tables"]
    assert row["players"] == 1
    assert row["my_seat"] is None


async def test_the_lobby_reads_from_the_log_what_the_feed_lost(room: GatewayRoom) -> None:
    table = room.open_table()
    await room.sees(table)
    for number, name in enumerate(("Ana", "Ben"), start=1):
        reserved = facts.SeatReserved(number, f"p-{name}", name, 4000, f"t{number}", "wait")
        table.commit(reserved, feed=number == 2)
    await room.sees(table)
    assert len(room.room.row_of(TABLE).players) == 2


async def test_a_table_that_cannot_be_read_does_not_close_the_room(tmp_path: Path) -> None:
    store = MemoryStore()
    ScriptedTable(store, "s00-sound0", STUD)
    broken = ScriptedTable(store, TABLE, STUD)
    store.append(keys.table_log(TABLE), b"nonsense", "2-0")
    async with gateway_room(tmp_path, store) as room, room.http() as http:
        rows = (await http.get("/api/tables")).json()["tables"]
        assert [row["table_id"] for row in rows] == ["s00-sound0"]
        assert broken.version == 1
        async with room.socket("Ana") as socket:
            with contextlib.suppress(ConnectionClosed):
                await socket.recv()
            assert socket.close_code == 4404


async def test_a_table_by_its_id_with_its_configuration(room: GatewayRoom) -> None:
    table = room.open_table()
    async with room.http() as http:
        await room.sees(table)
        answer = (await http.get(f"/api/tables/{TABLE}")).json()
        missing = [await http.get(f"/api/tables/{name}") for name in ("s00-nothere", "s77-abc123", "nonsense")]
    assert msgspec.convert(answer["config"], TableConfig) == STUD
    assert [(each.status_code, each.json()["code"]) for each in missing] == [(404, "unknown_table")] * 3


async def test_a_closed_table_is_no_longer_in_the_lobby(room: GatewayRoom) -> None:
    table = room.open_table()
    table.commit(facts.TableClosed())
    async with room.http() as http:
        await room.sees(table)
        assert (await http.get("/api/tables")).json() == {"tables": []}


async def test_an_operator_opens_a_table_and_the_answer_waits_for_it(room: GatewayRoom) -> None:
    async with room.http("Olga", "operator") as http:
        body = {"preset": "stud 2-4", "name": "Evening", "action_time_ms": 15_000}
        asked = asyncio.create_task(http.post("/api/tables", json=body, headers={"Idempotency-Key": "k1"}))
        command = await room.commanded()
        assert isinstance(command.command, OpenTable)
        assert command.operator
        assert (command.command.config.name, command.command.config.action_time_ms) == ("Evening", 15_000)
        assert not asked.done()
        table = room.open_table(command.table_id, command.command.config)
        table.commit(facts.TableResumed("p-Olga"), command=command)
        answer = await asked
        assert (answer.status_code, answer.json()) == (201, {"table_id": command.table_id, "version": 2})
        again = asyncio.create_task(http.post("/api/tables", json=body, headers={"Idempotency-Key": "k1"}))
        repeated = await room.commanded(2)
        assert (repeated.table_id, repeated.command_id) == (command.table_id, command.command_id)
        table.repeat(repeated, 2)
        assert (await again).json() == answer.json()


async def test_a_table_that_is_refused_says_why(room: GatewayRoom) -> None:
    async with room.http("Olga", "operator") as http:
        asked = asyncio.create_task(http.post("/api/tables", json={"preset": "draw 2-4"}))
        command = await room.commanded()
        room.open_table(command.table_id).refuse(command, "table_exists")
        answer = await asked
    assert (answer.status_code, answer.json()["code"]) == (409, "table_exists")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"preset": "omaha 2-4"}, "no preset"),
        ({"preset": "stud 2-4", "seats": "many"}, "seats"),
        ({"preset": "stud 2-4", "seats": 1}, "."),
        ({"config": {"name": "x"}}, "configuration"),
        ({}, "configuration"),
    ],
)
async def test_a_configuration_that_cannot_be_is_refused_before_it_is_sent(
    room: GatewayRoom, body: object, says: str
) -> None:
    async with room.http("Olga", "operator") as http:
        answer = await http.post("/api/tables", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert says in answer.json()["message"]
    assert not room.commands()


@pytest.mark.parametrize(
    ("name", "role", "status"), [("", "player", 401), ("Ana", "player", 403), ("Sue", "support", 403)]
)
async def test_only_operators_open_tables(room: GatewayRoom, name: str, role: str, status: int) -> None:
    async with room.http(name, role) as http:
        answer = await http.post("/api/tables", json={"preset": "stud 2-4"})
    assert answer.status_code == status
    assert not room.commands()


# --- hands -------------------------------------------------------------------------------------------------------


async def test_a_new_player_has_no_hands(room: GatewayRoom) -> None:
    async with room.http("Ana") as http:
        assert (await http.get("/api/me/hands")).json() == {"hands": [], "next": None}
        for path in ("/api/hands/other", "/api/hands/other?format=text"):
            answer = await http.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_hand")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/players", '{"name":"A\\ud800na","password":"a long password"}'),
        ("POST", "/api/players", '{"name":"Ana","password":"a long passw\\ud800rd"}'),
        ("POST", "/api/players", '{"name":"Ana\\u0000","password":"a long password"}'),
        ("POST", "/api/sessions", '{"name":"A\\ud800na","password":"\\ud800"}'),
        ("POST", "/api/sessions", '{"name":"' + "x" * 70 + '","password":"x"}'),
        ("POST", "/api/sessions", "{"),
        ("POST", "/api/sessions", '{"name":' + "[" * 5000),
        ("POST", "/api/tables", '{"preset":"stud 2-4","name":"\\ud800"}'),
        ("POST", "/api/tables", '{"preset":"stud 2-4","protected_all_ins_per_day":' + "9" * 30 + "}"),
        ("POST", "/api/tables", '{"preset":"stud 2-4","currency_unit":' + "9" * 19 + "}"),
        ("POST", "/api/tables", '{"preset":"stud 2-4","seats":1e400}'),
        ("POST", "/api/tables", '{"config":[]}'),
        ("GET", "/api/hands/%00", ""),
        ("GET", "/api/hands/" + "x" * 500, ""),
        ("GET", "/api/me/hands?before=%00", ""),
        ("GET", "/api/me/hands?limit=0", ""),
    ],
)
async def test_nothing_that_is_sent_breaks_the_room(room: GatewayRoom, method: str, path: str, body: str) -> None:
    async with room.http("Olga", "operator") as http:
        answer = await http.request(method, path, content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500, answer.text
    assert set(answer.json()) == {"code", "message"}
    assert not room.commands()


async def test_a_body_that_is_too_large_is_not_read(room: GatewayRoom) -> None:
    async with room.http() as http:
        answer = await http.post("/api/sessions", content="x" * 100_000, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


# --- around it ---------------------------------------------------------------------------------------------------


async def test_the_page_is_served_at_the_root_and_asked_for_again(room: GatewayRoom) -> None:
    async with room.http() as http:
        page = await http.get("/")
        assert "<html" in page.text
        assert page.headers["cache-control"] == "no-cache"
        again = await http.get("/", headers={"If-None-Match": page.headers["etag"]})
        script = await http.get("/app.js")
    assert again.status_code == 304
    assert script.headers["content-type"].startswith(("text/javascript", "application/javascript"))


@pytest.mark.parametrize("path", ["/", "/app.js", "/api/tables", "/api/me", "/nothing", "/livez"])
async def test_every_answer_has_its_security_headers(room: GatewayRoom, path: str) -> None:
    async with room.http() as http:
        headers = (await http.get(path)).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers
    if path.startswith("/api/"):
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/api/nothing", 404), ("DELETE", "/api/tables", 405)])
async def test_unknown_addresses_and_methods_are_refused_in_the_same_form(
    room: GatewayRoom, method: str, path: str, status: int
) -> None:
    async with room.http() as http:
        answer = await http.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()) == {"code", "message"}


async def test_load_balancers_are_told_whether_it_is_ready_and_nothing_else(room: GatewayRoom) -> None:
    async with room.http() as http:
        assert (await http.get("/livez")).json()["alive"]
        assert (await http.get("/readyz")).json() == {"service": "gateway", "ready": True}
        assert (await http.get("/metrics")).status_code == 404


async def test_the_interface_describes_itself(room: GatewayRoom) -> None:
    async with room.http() as http:
        document = (await http.get("/api/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {
        "/api/players",
        "/api/sessions",
        "/api/me",
        "/api/me/balance",
        "/api/me/hands",
        "/api/hands/{hand_id}",
        "/api/hands/{hand_id}/deal",
        "/api/fairness",
        "/api/tables",
        "/api/tables/{table_id}",
        "/api/socket-tickets",
        "/api/operator/tables/{table_id}",
        "/api/operator/tables/{table_id}/log",
        "/api/operator/tables/{table_id}/commands",
        "/api/operator/dead",
    }


async def test_gateways_say_that_they_live_twice_a_second(room: GatewayRoom) -> None:
    await asyncio.sleep(1.2)
    assert 2 <= room.heartbeats() <= 4
