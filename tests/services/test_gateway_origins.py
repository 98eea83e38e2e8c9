"""Pages of other origins: what their visitors' browsers are let do."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from brelan_gateway.security import origin_allowed
from tests.services.gateway_room import GatewayRoom, gateway_room, receive

FRIEND = "https://play.example"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(tmp_path, allowed_origins=(FRIEND,)) as room:
        yield room


@pytest.mark.parametrize(
    ("origin", "scheme", "host", "allowed"),
    [
        (None, "ws", "room.example", True),
        ("http://room.example", "ws", "room.example", True),
        ("https://room.example", "wss", "room.example", True),
        ("https://room.example", "wss", "room.example:443", True),
        ("http://room.example:8000", "ws", "room.example:8000", True),
        ("http://ROOM.example", "ws", "room.EXAMPLE", True),
        ("http://[::1]:8000", "ws", "[::1]:8000", True),
        (FRIEND, "ws", "room.example", True),
        ("http://room.example", "wss", "room.example", False),
        ("https://room.example", "ws", "room.example", False),
        ("http://room.example:8001", "ws", "room.example:8000", False),
        ("http://evil.example", "ws", "room.example", False),
        ("http://room.example.evil.example", "ws", "room.example", False),
        ("http://play.example", "ws", "room.example", False),
        (FRIEND + ".evil.example", "ws", "room.example", False),
        ("null", "ws", "null", False),
        ("", "ws", "", False),
        ("file://", "ws", "", False),
        ("http://", "ws", "", False),
        ("http://[", "ws", "[", False),
        ("http://x:y", "ws", "x:y", False),
        ("chrome-extension://abc", "ws", "abc", False),
        ("http://room.example", "ws", None, False),
    ],
)
def test_who_is_of_the_rooms_own_origin(origin: str | None, scheme: str, host: str | None, allowed: bool) -> None:
    assert origin_allowed(origin, scheme, host, (FRIEND,)) is allowed


async def test_a_page_of_the_same_host_without_tls_gets_no_socket(tmp_path: Path) -> None:
    """TLS ends in front of the gateway, which is told so."""
    async with gateway_room(tmp_path, trusted_proxies="127.0.0.1") as room:
        await room.sees(room.open_table())
        for forwarded, good, bad in (("https", "https", "http"), ("http", "http", "https")):
            headers = {"X-Forwarded-Proto": forwarded, "Authorization": f"Bearer {room.token('Ana')}"}
            async with room.socket("", origin=f"{good}://{room.host}", additional_headers=headers) as socket:
                await receive(socket)
            with pytest.raises(InvalidStatus):
                async with room.socket("", origin=f"{bad}://{room.host}", additional_headers=headers):
                    pass


async def test_a_configured_origin_reads_the_answers_and_no_other_does(room: GatewayRoom) -> None:
    async with room.http("Ana") as http:
        for origin, read in ((FRIEND, FRIEND), ("http://play.example", None), ("null", None), ("*", None)):
            for path, headers in (("/api/me", {}), ("/api/nothing", {}), ("/api/me", {"Authorization": "Bearer x"})):
                answer = await http.get(path, headers={"Origin": origin, **headers})
                assert answer.headers.get("access-control-allow-origin") == read
                assert "access-control-allow-credentials" not in answer.headers
            preflight = await http.options("/api/socket-tickets", headers={"Origin": origin, **PREFLIGHT})
            assert preflight.headers.get("access-control-allow-origin") == read
            assert (preflight.status_code == 200) == (read is not None)


async def test_by_default_no_other_origin_reads_anything(tmp_path: Path) -> None:
    async with gateway_room(tmp_path) as room, room.http("Ana") as http:
        for answer in (
            await http.get("/api/me", headers={"Origin": FRIEND}),
            await http.options("/api/me", headers={"Origin": FRIEND, **PREFLIGHT}),
        ):
            assert not [name for name in answer.headers if name.startswith("access-control-")]
