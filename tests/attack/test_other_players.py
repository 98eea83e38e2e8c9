"""Every route that takes an id, with the ids of others: never another's seat, hidden cards, wallet or statement.

The hands were really played, by table, dealer and wallet; one is in play. The routes are read from the gateway's own
description of itself: a new one is walked as well, or this test says what it does not know.
"""

import itertools
import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from brelan.auth.accounts import Player
from brelan.deck.sealing import HoleCardOpener, RecordOpener
from brelan.events import table as facts
from brelan.sql.archive import SqlArchive
from brelan.views import messages as views
from brelan_gateway.settings import GatewaySettings
from brelan_history.service import ShardHistory
from tests.services.gateway_room import PASSWORD, GatewayRoom, gateway_room, receive
from tests.services.small_room import GATEWAY_SECRET, HISTORY_SECRET, SHARD, STUD, TABLE, SmallRoom

HANDS = 6
PLAYERS = ("ana", "ben", "cyd")
WALLETS = {"ana": 77_137_713, "ben": 55_115_511, "cyd": 33_993_399}
BODIES: dict[str, dict[str, Any]] = {
    "/api/players": {"name": "Ana", "password": PASSWORD},
    "/api/sessions": {"name": "Ana", "password": "not her password"},
    "/api/tables": {"preset": "stud 2-4"},
    "/api/operator/tables/{table_id}/commands": {"type": "CloseTable"},
    "/api/socket-tickets": {},
}


class Played(NamedTuple):
    small: SmallRoom
    gateway: GatewayRoom
    hands: list[str]

    def http(self, player_id: str) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {self.token(player_id)}"}
        return httpx2.AsyncClient(base_url=self.gateway.url, headers=headers, trust_env=False)

    def token(self, player_id: str) -> str:
        return self.gateway.issuer.token_for(Player(player_id, player_id.title(), "player", 0))

    def socket(self, player_id: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token(player_id)}"}
        return self.gateway.socket("", TABLE, additional_headers=headers)


@pytest.fixture
async def played(tmp_path: Path) -> AsyncIterator[Played]:
    small, chance = SmallRoom(), random.Random(4)
    await small.open(STUD)
    for player_id in PLAYERS:
        await small.deposit(player_id, WALLETS[player_id])
        await small.sit(player_id, 40_000)  # nobody is broke before the last hand
    while len(small.events(facts.HandEnded)) < HANDS or (await small.state()).turn is None:
        if not await small.act(chance):
            await small.pass_time(1_000)
    hands = [event.hand_id for event in small.events(facts.HandEnded) if isinstance(event, facts.HandEnded)]
    async with gateway_room(
        tmp_path, small.store, open_hole_cards=HoleCardOpener([GATEWAY_SECRET]), welcome_amount=0
    ) as gateway:
        archive = SqlArchive(GatewaySettings(data=tmp_path).database_url)
        history = ShardHistory(small.store, archive, SHARD, RecordOpener([HISTORY_SECRET]))
        await history.open()
        while await history.serve(block_ms=0):
            pass
        await archive.close()
        await gateway.room.doorkeeper.register("Ana", PASSWORD)
        yield Played(small, gateway, hands)


def requests(document: dict[str, Any], hands: list[str]) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Method, address and body of every route, with every id there is. What it has no idea of is a KeyError."""
    ids = {"table_id": [TABLE], "hand_id": hands}
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            asked = [parameter for parameter in route.get("parameters", ()) if parameter["in"] != "header"]
            choices = [[(one, value) for value in values(one, ids, hands)] for one in asked]
            for chosen in itertools.product(*choices):
                address, query = path, []
                for parameter, value in chosen:
                    if parameter["in"] == "path":
                        address = address.replace(f"{{{parameter['name']}}}", value)
                    else:
                        query.append(f"{parameter['name']}={value}")
                body = BODIES[path] if method == "post" else None
                yield method.upper(), "?".join((address, *(["&".join(query)] if query else []))), body


def values(parameter: dict[str, Any], ids: dict[str, list[str]], hands: list[str]) -> list[str]:
    if parameter["in"] == "path":
        return ids[parameter["name"]]
    schema = parameter["schema"]
    kinds = {one.get("type") for one in schema.get("anyOf", (schema,))}
    if "enum" in schema:
        return list(schema["enum"])
    return ["9"] if "integer" in kinds else [hands[-1]]


def hidden_of(view: dict[str, Any], player_id: str) -> set[str]:
    """His cards, as he sees them himself, less those that everybody saw."""
    (player,) = [one for one in view["players"] if one["player_id"] == player_id]
    return set() if player["shown"] else set(player["cards"]) - set(player["up"])


def cards_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![0-9A-Za-z])[2-9TJQKA][cdhs](?![0-9A-Za-z])", text))


@pytest.mark.parametrize("who", ["eve", "ben"])
async def test_no_route_tells_of_another_what_is_his(played: Played, who: str) -> None:
    hidden: dict[str, set[str]] = {}
    proofs: dict[str, set[Proof]] = {}
    async with played.http("ana") as ana, played.http(who) as other, played.http("zoe") as stranger:
        for hand_id in played.hands:
            hidden[hand_id] = hidden_of((await ana.get(f"/api/hands/{hand_id}")).json(), "ana")
            address = f"/api/hands/{hand_id}/deal"
            proofs[hand_id] = proofs_in((await ana.get(address)).json()) - proofs_in(
                (await stranger.get(address)).json()
            )
        assert any(hidden.values())
        assert any(proofs.values())
        async with played.socket("ana") as socket:
            snapshot = await receive(socket)
        held = {card for card, up in zip(snapshot.cards.cards, snapshot.cards.up, strict=True) if not up}
        assert len(held) >= 2
        balance = (await ana.get("/api/me/balance")).json()["balance"]
        assert balance > 70_000_000
        document = (await other.get("/api/openapi.json")).json()
        before = played.gateway.commands()
        walked = set()
        for method, address, body in requests(document, played.hands):
            headers = {"Idempotency-Key": "ana's"}
            answer = await other.request(method, address, json=body, headers=headers)
            assert answer.status_code < 500, address
            walked.add(address.partition("?")[0])
            text = answer.text
            assert str(balance) not in text, address
            assert "ana" not in whose(text), address
            if "/hands/" in address:
                hand_id = address.partition("?")[0].split("/")[3]
                if address.partition("?")[0].endswith("/deal"):
                    assert not proofs_in(answer.json()) & proofs[hand_id], address
                else:
                    assert not cards_in(text) & hidden[hand_id], address
            else:
                assert not cards_in(text) & held, address
            if "/operator/" in address or (method, address) == ("POST", "/api/tables"):
                assert answer.status_code == 403, address
        assert len(walked) > 12 + len(played.hands)
    assert played.gateway.commands() == before


Proof = tuple[int, int]


def proofs_in(record: Any) -> set[Proof]:
    """The leaves of the deck that a record of a deal opens, by tree and place."""
    if isinstance(record, list):
        return set().union(*map(proofs_in, record))
    if not isinstance(record, dict):
        return set()
    own = {(record["epoch"], record["leaf"])} if {"epoch", "leaf", "salt"} <= set(record) else set()
    return own.union(*map(proofs_in, record.values()))


def whose(text: str) -> set[str]:
    """The players whose account, seat or hands an answer is about: what stands under "my" names."""
    try:
        answer = json.loads(text)
    except ValueError:
        return set()
    found = (
        {answer.get("player_id"), (answer.get("player") or {}).get("player_id")} if isinstance(answer, dict) else set()
    )
    return {one for one in found if one}


async def test_lists_are_of_who_asks(played: Played) -> None:
    seats = {}
    for player_id in (*PLAYERS, "eve"):
        async with played.http(player_id) as http:
            (row,) = (await http.get("/api/tables")).json()["tables"]
            seats[player_id] = row["my_seat"]
            assert (await http.get(f"/api/tables/{TABLE}")).json()["my_seat"] == row["my_seat"]
            for query in ("", f"?before={played.hands[-1]}", f"?before={played.hands[0]}"):
                mine = (await http.get(f"/api/me/hands{query}")).json()["hands"]
                assert {hand["seat"] for hand in mine} <= {row["my_seat"]} - {None}
                assert bool(mine) == (player_id != "eve" and not query.endswith(played.hands[0]))
    assert len({seats[player_id] for player_id in PLAYERS}) == 3
    assert seats["eve"] is None


@pytest.mark.parametrize("who", ["eve", "other"])
async def test_nobody_acts_in_anothers_place(played: Played, who: str) -> None:
    state = await played.small.state()
    assert state.turn is not None
    seat = state.seats[state.turn.seat - 1]
    assert seat is not None
    sender = who if who == "eve" else next(player for player in PLAYERS if player != seat.player_id)
    async with played.socket(sender) as socket:
        hidden = await receive(socket)
        assert hidden.you.player_id == sender
        assert (hidden.cards is None) == (who == "eve")
        command = {"type": "Act", "turn_id": state.turn.turn_id, "kind": "fold", "player_id": seat.player_id}
        frame = {"type": "command", "id": "x", "command": command, "player_id": seat.player_id, "operator": True}
        await socket.send(json.dumps({**frame, "seat": state.turn.seat}))
        found = [command for command in await sent(played) if command.command_id == "x"]
        assert [(command.player_id, command.operator) for command in found] == [(sender, False)]
        await played.small.settle()
        answer = await receive(socket)
        assert isinstance(answer, views.Refused)
        assert answer.code in {"not_your_turn", "not_seated", "no_seat"}
    assert (await played.small.state()).turn == state.turn


async def sent(played: Played) -> list[Any]:
    count = len(played.gateway.commands())
    await played.gateway.commanded(count + 1)
    return played.gateway.commands()
