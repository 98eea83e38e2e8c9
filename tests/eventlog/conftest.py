"""Logs to try the contract on: in memory, the Valkey that comes with Brelan, the Redis of the machine."""

import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator

import pytest
import redis

from brelan.eventlog.log import Log, Store
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.redis_log import RedisStore
from brelan.eventlog.server import EmbeddedServer
from tests.fixtures_redis import bundled_server, fresh_redis_url, redis_server, redis_url
from tests.requirements import need_program

__all__ = ["fresh_redis_url", "redis_server", "redis_url"]

STORES = [
    "memory",
    pytest.param("valkey", marks=pytest.mark.redis),
    pytest.param("redis", marks=pytest.mark.redis),
]


class Servers:
    """One server of each kind for the session, started when first asked for."""

    def __init__(self, folders: pytest.TempPathFactory, running: contextlib.ExitStack) -> None:
        self._folders = folders
        self._running = running
        self._urls: dict[str, str] = {}

    def url(self, kind: str) -> str:
        """Of an empty server."""
        if kind not in self._urls:
            program = bundled_server() if kind == "valkey" else need_program("redis-server")
            server = EmbeddedServer(self._folders.mktemp(kind), durable=False, program=program)
            self._urls[kind] = self._running.enter_context(server).url
        with redis.Redis.from_url(self._urls[kind]) as client:
            client.flushall()
        return self._urls[kind]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with contextlib.ExitStack() as running:
        yield Servers(tmp_path_factory, running)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, servers: Servers) -> AsyncIterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else RedisStore(servers.url(request.param))
    yield made
    await made.close()


@pytest.fixture
def log(store: Store) -> Log:
    return store.log("s07")


@pytest.fixture
def nonces() -> Iterator[str]:
    return (f"nonce-{number}" for number in itertools.count())
