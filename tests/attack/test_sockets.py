"""Sockets are no player's or address's to use up, and a ticket opens one of them at one gateway."""

import contextlib
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from brelan.auth.accounts import AccountStore
from brelan.eventlog import keys
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.redis_log import RedisStore
from brelan.views import messages as views
from brelan_gateway.settings import GatewaySettings
from tests.fixtures_redis import fresh_redis_url, redis_server
from tests.services.gateway_room import GatewayRoom, Keys, database, gateway_room, receive, until

__all__ = ["fresh_redis_url", "redis_server"]


async def closed(socket: ClientConnection) -> tuple[int | None, str]:
    with contextlib.suppress(ConnectionClosed):
        while True:
            await socket.recv()
    return socket.close_code, socket.close_reason or ""


async def test_a_player_has_so_many_sockets_in_all(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, max_sockets_per_player=3) as room, contextlib.AsyncExitStack() as stack:
        tables = [room.open_table(f"s00-table{number}") for number in range(4)]
        for table in tables:
            await room.sees(table)
        for table in tables[:3]:
            await receive(await stack.enter_async_context(room.socket("Ana", table.table_id)))
        one_more = await stack.enter_async_context(room.socket("Ana", tables[3].table_id))
        code, reason = await closed(one_more)
        assert (code, "close a table" in reason) == (views.CLOSE_TOO_MANY_SOCKETS, True)
        await receive(await stack.enter_async_context(room.socket("Ben", tables[3].table_id)))


async def test_an_address_has_so_many_sockets_whoever_is_there(tmp_path: Path) -> None:
    async with (
        gateway_room(tmp_path, max_sockets_per_address=3, trusted_proxies="127.0.0.1") as room,
        contextlib.AsyncExitStack() as stack,
    ):
        await room.sees(room.open_table())

        async def come(name: str, address: str) -> ClientConnection:
            headers = {"X-Forwarded-For": address, "Authorization": f"Bearer {room.token(name)}"}
            return await stack.enter_async_context(room.socket("", additional_headers=headers))

        for name in ("Ana", "Ben", "Cem"):
            await receive(await come(name, "10.0.0.1"))
        code, reason = await closed(await come("Dag", "10.0.0.1"))
        assert (code, "address" in reason) == (views.CLOSE_TOO_MANY_SOCKETS, True)
        await receive(await come("Dag", "10.0.0.2"))
    assert not room.room.sockets._open


async def test_who_goes_makes_room(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, max_sockets_per_player=1, max_sockets_per_address=1) as room:
        await room.sees(room.open_table())
        for _ in range(3):
            async with room.socket("Ana") as ana:
                await receive(ana)
                async with room.socket("Ana") as another:
                    assert (await closed(another))[0] == views.CLOSE_TOO_MANY_SOCKETS
            await until(lambda: not len(room.room.sockets))


@pytest.mark.redis
async def test_a_ticket_opens_one_socket_at_two_gateways(tmp_path: Path, fresh_redis_url: str) -> None:
    settings = GatewaySettings(shards=1, data=tmp_path)
    await database(tmp_path)
    accounts, gateway_keys = AccountStore(settings.database_url), Keys()
    store, redis = MemoryStore(), RedisStore(fresh_redis_url)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(accounts.close)
        stack.push_async_callback(redis.close)
        gateways = [
            await stack.enter_async_context(GatewayRoom(store, accounts, gateway_keys, settings, uses=redis))
            for _ in range(2)
        ]
        table = gateways[0].open_table()
        for gateway in gateways:
            await gateway.sees(table)
        for first, second in (gateways, gateways[::-1]):
            async with first.http("Ana") as http:
                ticket = (await http.post("/api/socket-tickets")).json()["ticket"]
            async with second.socket("", query=f"?ticket={ticket}") as ana:
                await receive(ana)
            for gateway in gateways:
                async with gateway.socket("", query=f"?ticket={ticket}") as again:
                    assert (await closed(again))[0] == views.CLOSE_UNAUTHENTICATED
        used = await redis.read(keys.ROOM, "KEYS", keys.ticket("*"))
        assert len(used) == 2
        for key in used:
            assert 25_000 < await redis.read(keys.ROOM, "PTTL", key) <= 35_000


class Away:
    async def use_ticket(self, ticket_id: str, ttl_ms: int) -> bool:
        raise LogUnavailable("away")


async def test_a_ticket_that_cannot_be_noted_opens_nothing(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, uses=Away()) as room:
        await room.sees(room.open_table())
        async with room.http("Ana") as http:
            ticket = (await http.post("/api/socket-tickets")).json()["ticket"]
        async with room.socket("", query=f"?ticket={ticket}") as ana:
            assert (await closed(ana))[0] == views.CLOSE_TRY_LATER
