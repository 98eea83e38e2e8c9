"""Logs to try the contract on: in memory, the Valkey that comes with Brelan, the machine's Redis, a container's."""

import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Iterator

import pytest
import redis
from testcontainers.core.container import DockerContainer

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
    pytest.param("container", marks=pytest.mark.docker),
]

IMAGE = "redis:7.2-alpine"  # that of docker-compose.yml


class Servers:
    """One server of each kind for the session, started when first asked for."""

    def __init__(self, folders: pytest.TempPathFactory, running: contextlib.ExitStack) -> None:
        self._folders = folders
        self._running = running
        self._urls: dict[str, str] = {}

    def url(self, kind: str) -> str:
        """Of an empty server."""
        if kind == "container" and kind not in self._urls:
            self._urls[kind] = self._in_a_container()
        if kind not in self._urls:
            program = bundled_server() if kind == "valkey" else need_program("redis-server")
            server = EmbeddedServer(self._folders.mktemp(kind), durable=False, program=program)
            self._urls[kind] = self._running.enter_context(server).url
        with redis.Redis.from_url(self._urls[kind]) as client:
            client.flushall()
        return self._urls[kind]

    def _in_a_container(self) -> str:
        container = self._running.enter_context(DockerContainer(IMAGE).with_exposed_ports(6379))
        url = f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}/0"
        end = time.monotonic() + 30
        with redis.Redis.from_url(url) as client:
            while True:
                try:
                    client.ping()
                except (redis.ConnectionError, redis.TimeoutError):
                    assert time.monotonic() < end, "the container's Redis does not answer"
                    time.sleep(0.1)
                else:
                    return url


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
