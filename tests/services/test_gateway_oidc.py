"""A gateway whose accounts an identity provider keeps."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from pydantic import ValidationError

from brelan.auth import names
from brelan.telemetry.service import sentences_of
from brelan.views import messages as views
from brelan_gateway.settings import GatewaySettings
from tests.auth.oidc_provider import AUDIENCE, OidcProvider, SigningKey
from tests.services.gateway_room import PASSWORD, TABLE, GatewayRoom, gateway_room, receive


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with OidcProvider() as provider:
        yield provider


@pytest.fixture
async def room(tmp_path: Path, provider: OidcProvider) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(
        tmp_path, oidc_issuer=provider.issuer, oidc_audience=AUDIENCE, oidc_role_claim="roles"
    ) as room:
        yield room


def bearing(room: GatewayRoom, token: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=room.url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)


async def test_who_comes_for_the_first_time_is_a_new_player_with_play_money(
    room: GatewayRoom, provider: OidcProvider
) -> None:
    async with bearing(room, provider.token("s1")) as http:
        me = (await http.get("/api/me")).json()
    assert (me["name"], me["role"]) == ("Ana", "player")
    assert [deposit.player_id for deposit in room.deposits()] == [me["player_id"]]
    async with bearing(room, provider.token("s1", preferred_username="Another")) as http:
        assert (await http.get("/api/me")).json() == me
    assert len(room.deposits()) == 1


async def test_the_same_subject_is_one_player_at_every_gateway_and_at_once(
    room: GatewayRoom, provider: OidcProvider, tmp_path: Path
) -> None:
    tokens = [provider.token("s1")] * 6 + [provider.token("s2")] * 6

    async def who(token: str) -> tuple[str, str]:
        async with bearing(room, token) as http:
            me = (await http.get("/api/me")).json()
        return me["player_id"], me["name"]

    found = await asyncio.gather(*map(who, tokens))
    assert len(set(found[:6])) == len(set(found[6:])) == 1
    assert {found[0][0]}.isdisjoint({found[6][0]})
    assert names.key_of(found[0][1]) != names.key_of(found[6][1])


@pytest.mark.parametrize(
    "called", ["", "x", "admin", "Оля", "A" * 80, "<script>", "Zoë  Ünal", "😀😀😀", "ana@example.org", "1234567"]
)
async def test_everybody_gets_a_name_that_the_rules_allow(
    room: GatewayRoom, provider: OidcProvider, called: str
) -> None:
    found = []
    for subject in ("s1", "s2", "s3"):
        async with bearing(room, provider.token(subject, preferred_username=called)) as http:
            found.append((await http.get("/api/me")).json()["name"])
    assert [names.problem_of(name) for name in found] == [""] * 3
    assert len({names.key_of(name) for name in found}) == 3
    assert "example" not in "".join(found)


async def test_roles_are_those_of_the_token(room: GatewayRoom, provider: OidcProvider) -> None:
    async with bearing(room, provider.token("s1", roles=["operator"])) as http:
        assert (await http.get("/api/operator/dead")).status_code == 200
    async with bearing(room, provider.token("s1")) as http:
        answer = await http.get("/api/operator/dead")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("path", ["/api/players", "/api/sessions"])
async def test_passwords_are_refused_with_the_way_to_go(room: GatewayRoom, provider: OidcProvider, path: str) -> None:
    async with room.http() as http:
        answer = await http.post(path, json={"name": "Ana", "password": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (403, "accounts_elsewhere")
    assert provider.issuer in answer.json()["message"]
    assert not room.deposits()


async def test_a_token_of_the_rooms_own_is_none_here(room: GatewayRoom) -> None:
    async with room.http("Olga", "operator") as http:
        assert (await http.get("/api/me")).status_code == 401


async def test_a_ticket_opens_a_socket_and_so_does_the_token(room: GatewayRoom, provider: OidcProvider) -> None:
    await room.sees(room.open_table())
    token = provider.token("s1")
    async with bearing(room, token) as http:
        ticket = (await http.post("/api/socket-tickets")).json()["ticket"]
    async with room.socket("", query=f"?ticket={ticket}") as socket:
        by_ticket = (await receive(socket)).you
    async with room.socket("", additional_headers={"Authorization": f"Bearer {token}"}) as socket:
        assert (await receive(socket)).you == by_ticket
    assert by_ticket == views.You(by_ticket.player_id, "Ana", None)


async def test_when_the_provider_is_away_who_is_known_plays_on_and_who_is_not_is_told(
    room: GatewayRoom, provider: OidcProvider
) -> None:
    known = provider.token("s1")
    stranger = provider.token("s2", key=SigningKey("new", "RS256"))
    async with bearing(room, known) as http:
        await http.get("/api/me")
        provider.go()
        assert (await http.get("/api/me")).status_code == 200
    room.room.doorkeeper._guests._provider._keys._tried_at -= 10  # type: ignore[union-attr]
    async with bearing(room, stranger) as http:
        answer = await http.get("/api/me")
    assert (answer.status_code, answer.json()["code"]) == (503, "provider_unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    await room.sees(room.open_table(TABLE))
    async with room.socket("", additional_headers={"Authorization": f"Bearer {stranger}"}) as socket:
        await socket.wait_closed()
        assert socket.close_code == views.CLOSE_TRY_LATER


async def test_nobody_logs_in_with_a_password_as_who_came_from_there(
    room: GatewayRoom, provider: OidcProvider, tmp_path: Path
) -> None:
    async with bearing(room, provider.token("s1")) as http:
        await http.get("/api/me")
    accounts = room.room.doorkeeper._accounts
    assert await accounts.by_name("Ana") is not None
    for password in ("", PASSWORD, "\x00"):
        assert await accounts.verify("Ana", password) is None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"oidc_issuer": "https://id.example"}, "AUDIENCE"),
        ({"oidc_audience": "x"}, "ISSUER"),
        ({"oidc_issuer": "http://id.example", "oidc_audience": "x"}, "https"),
        ({"allowed_origins": ("*",)}, "origin"),
        ({"allowed_origins": ("https://play.example/",)}, "origin"),
        ({"allowed_origins": ("null",)}, "origin"),
        ({"allowed_origins": ("https://Play.example",)}, "origin"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings: dict[str, object], says: str) -> None:
    given = {"sql_url": "postgresql://user:geheim@host/name", **settings}
    with pytest.raises(ValidationError) as refused:
        GatewaySettings(**given)  # type: ignore[arg-type]
    (sentence,) = sentences_of(refused.value)
    assert says in sentence
    assert "geheim" not in sentence


async def test_the_rooms_own_accounts_know_no_provider(tmp_path: Path, provider: OidcProvider) -> None:
    async with gateway_room(tmp_path) as room, bearing(room, provider.token()) as http:
        assert (await http.get("/api/me")).status_code == 401
    assert not provider.asked
