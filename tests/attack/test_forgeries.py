"""Forged tokens and tickets and malformed messages against a gateway that runs, on REST and on the socket."""

import contextlib
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from websockets.exceptions import ConnectionClosed

from brelan.auth import tickets, tokens
from brelan.auth.accounts import Player
from brelan.auth.tickets import TicketOffice
from brelan.auth.tokens import Claims, Issuer, key_id
from brelan.eventlog.memory_log import MemoryStore
from brelan.views import messages as views
from tests.services.gateway_room import TABLE, GatewayRoom, gateway_room, receive

Forge = Callable[[Ed25519PrivateKey], str]


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(tmp_path) as room:
        await room.sees(room.open_table())
        yield room


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    good = {
        "iss": tokens.ISSUER,
        "aud": tokens.AUDIENCE,
        "sub": "p-Olga",
        "name": "Olga",
        "role": "operator",
        "iat": now,
        "nbf": now,
        "exp": now + 600,
        "jti": "x",
    }
    return {**good, **changes}


def signed(
    key: Ed25519PrivateKey, given: dict[str, Any], signer: Ed25519PrivateKey | None = None, **header: Any
) -> str:
    headers = {"typ": tokens.KIND, "kid": key_id(key.public_key()), **header}
    return jwt.encode(given, signer or key, algorithm="EdDSA", headers=headers)


def by_hand(key: Ed25519PrivateKey, algorithm: str, secret: bytes | None = None, kind: str = tokens.KIND) -> str:
    """As no library would let one."""
    header = {"alg": algorithm, "typ": kind, "kid": key_id(key.public_key())}
    text = b".".join(jwt.utils.base64url_encode(json.dumps(part).encode()) for part in (header, claims()))
    signature = b"" if secret is None else hmac.digest(secret, text, hashlib.sha256)
    return (text + b"." + jwt.utils.base64url_encode(signature)).decode()


def pem(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def deep(key: Ed25519PrivateKey) -> str:
    header = jwt.utils.base64url_encode(b'{"typ":' + b"[" * 1_400).decode()
    return f"{header}.e30.AAAA"


def swapped(token: str, other: str) -> str:
    """With what the other one says."""
    head, _, signature = token.split(".")
    return ".".join((head, other.split(".")[1], signature))


FORGED: dict[str, Forge] = {
    "alg none": lambda key: by_hand(key, "none"),
    "alg nOnE": lambda key: by_hand(key, "nOnE"),
    "HS256 with the public key": lambda key: by_hand(key, "HS256", key.public_key().public_bytes_raw()),
    "HS256 with its PEM": lambda key: by_hand(key, "HS256", pem(key)),
    "EdDSA without a signature": lambda key: by_hand(key, "EdDSA"),
    "another key": lambda key: signed(key, claims(), Ed25519PrivateKey.generate()),
    "a key in the header": lambda key: signed(
        (other := Ed25519PrivateKey.generate()),
        claims(),
        jwk=json.loads(jwt.get_algorithm_by_name("EdDSA").to_jwk(other.public_key())),
    ),
    "another audience": lambda key: signed(key, claims(aud="brelan-socket")),
    "another issuer": lambda key: signed(key, claims(iss="somebody")),
    "expired": lambda key: signed(key, claims(exp=int(time.time()) - 60)),
    "not yet": lambda key: signed(key, claims(nbf=int(time.time()) + 60)),
    "another kind": lambda key: signed(key, claims(), typ="JWT"),
    "a role of no room": lambda key: signed(key, claims(role="god")),
    "deep": deep,
    "long": lambda key: signed(key, claims(name="x" * 4_000)),
    "changed": lambda key: swapped(signed(key, claims(role="player")), signed(key, claims())),
}  # fmt: skip


async def test_a_forged_token_opens_nothing(room: GatewayRoom) -> None:
    for kind, forge in FORGED.items():
        forged = forge(room.key)
        async with room.http() as http:
            http.headers["Authorization"] = f"Bearer {forged}"
            for path in ("/api/me", "/api/tables", "/api/operator/dead", f"/api/operator/tables/{TABLE}"):
                answer = await http.get(path)
                assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), (kind, path)
            assert (await http.post("/api/socket-tickets")).status_code == 401, kind
        assert await how_closed(room, headers={"Authorization": f"Bearer {forged}"}) == views.CLOSE_UNAUTHENTICATED, (
            kind
        )
        assert await how_closed(room, query=f"?ticket={forged}") == views.CLOSE_UNAUTHENTICATED, kind


async def test_a_good_one_does(room: GatewayRoom) -> None:
    """Or all the others would be refused for another reason."""
    async with room.http() as http:
        http.headers["Authorization"] = f"Bearer {signed(room.key, claims())}"
        assert (await http.get("/api/operator/dead")).status_code == 200


async def how_closed(room: GatewayRoom, query: str = "", headers: dict[str, str] | None = None) -> int | None:
    async with room.socket("", query=query, additional_headers=headers or {}) as socket:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code


def session(expires_in: int = 600) -> Claims:
    return Claims("p-Ben", "Ben", "player", 0, int(time.time()) + expires_in, "x")


FORGED_TICKETS: dict[str, Forge] = {
    "another key": lambda key: TicketOffice(Ed25519PrivateKey.generate(), MemoryStore()).issue(session()),
    "alg none": lambda key: by_hand(key, "none", kind=tickets.KIND),
    "HS256": lambda key: by_hand(key, "HS256", key.public_key().public_bytes_raw(), kind=tickets.KIND),
    "expired": lambda key: TicketOffice(key, MemoryStore(), clock=lambda: time.time() - 60).issue(session()),
    "of an ended session": lambda key: TicketOffice(key, MemoryStore()).issue(session(-1)),
    "a token": lambda key: Issuer(key).token_for(Player("p-Ben", "Ben", "player", 0)),
    "deep": deep,
}


async def test_a_forged_ticket_opens_nothing(room: GatewayRoom) -> None:
    for kind, forge in FORGED_TICKETS.items():
        assert await how_closed(room, query=f"?ticket={forge(room.key)}") == views.CLOSE_UNAUTHENTICATED, kind


async def test_another_players_ticket_is_his_and_used_once(room: GatewayRoom) -> None:
    """Whoever steals one before it was used is that player at that socket, and nobody's token comes into it."""
    async with room.http("Ben") as http:
        ticket = (await http.post("/api/socket-tickets")).json()["ticket"]
    headers = {"Authorization": f"Bearer {room.token('Eve')}"}
    async with room.socket("", query=f"?ticket={ticket}", additional_headers=headers) as socket:
        assert (await receive(socket)).you.player_id == "p-Ben"
    assert await how_closed(room, f"?ticket={ticket}", headers) == views.CLOSE_UNAUTHENTICATED
    async with room.http() as http:
        answer = await http.get("/api/me", headers={"Authorization": f"Bearer {ticket}"})
        assert answer.status_code == 401


# --- what is sent over a socket that is open ---------------------------------------------------------------------


async def test_a_frame_of_a_megabyte_is_not_read(room: GatewayRoom) -> None:
    async with room.socket("Eve") as eve:
        await receive(eve)
        with contextlib.suppress(ConnectionClosed):
            await eve.send("x" * 1_000_000)
        await eve.wait_closed()
        assert eve.close_code == 1009


@pytest.mark.parametrize(
    "text",
    [
        "[" * 4_000,
        '{"type":"ping","x":' + "[" * 4_000,
        '{"type":"ping","x":' + "[" * 2_000 + "]" * 2_000 + "}",
        '{"type":"ping","x":' + '{"a":' * 600 + "1" + "}" * 600 + "}",
        '{"type":"command","id":"1","command":{"type":"Act","turn_id":' + "[" * 3_900 + "}}",
    ],
    ids=["list", "open", "closed", "objects", "command"],
)
async def test_deep_json_on_the_socket_is_malformed_and_breaks_nothing(
    room: GatewayRoom, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with room.socket("Ana") as ana, room.socket("Eve") as eve:
        await receive(ana)
        await receive(eve)
        await eve.send(text)
        await eve.send('{"type":"ping","t":1}')
        with contextlib.suppress(ConnectionClosed):
            await receive(eve)
            await eve.close()
        assert eve.close_code in {views.CLOSE_MALFORMED, 1000}
        await ana.send('{"type":"ping","t":7}')
        assert (await receive(ana)).t == 7
    assert "socket failed" not in capsys.readouterr().out


async def test_deep_json_in_a_body_is_refused(room: GatewayRoom) -> None:
    bodies = {
        "/api/tables": '{"preset":"stud 2-4","name":%s}',
        f"/api/operator/tables/{TABLE}/commands": '{"type":"ConfigureTable","config":%s}',
        "/api/sessions": '{"name":%s,"password":"x"}',
    }
    async with room.http("Olga", "operator") as http:
        for path, body in bodies.items():
            for depth in (50, 200, 255, 256, 300, 500, 900, 960, 990, 2_000, 16_000):
                nested = '{"a":' * depth + "1" + "}" * depth if depth < 10_000 else "[" * depth + "]" * depth
                answer = await http.post(path, content=body % nested, headers={"Content-Type": "application/json"})
                found = (answer.status_code, answer.json()["code"])
                assert found in {(422, "invalid"), (413, "too_large")}, (path, depth)
    assert not room.commands()
