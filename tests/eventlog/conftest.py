"""Logs to try the contract on: in memory, the Valkey that comes with Brelan, the machine's Redis, a container's."""

import contextlib
import itertools
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import pytest
import redis
from testcontainers.core.container import DockerContainer

from brelan.eventlog.log import Log, Store
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.redis_log import RedisStore
from brelan.eventlog.server import EmbeddedServer
from tests.cluster.servers import ClusterServers
from tests.fixtures_redis import bundled_server, fresh_redis_url, redis_server, redis_url
from tests.requirements import need_program

__all__ = ["fresh_redis_url", "redis_server", "redis_url"]

STORES = [
    "memory",
    pytest.param("valkey", marks=pytest.mark.redis),
    pytest.param("redis", marks=pytest.mark.redis),
    pytest.param("valkey cluster", marks=pytest.mark.redis),
    pytest.param("redis cluster", marks=pytest.mark.redis),
    pytest.param("container", marks=pytest.mark.docker),
]

IMAGE = "redis:7.2-alpine"  # that of docker-compose.yml


class Servers:
    """One server of each kind for the session, started when first asked for."""

    def __init__(self, folders: pytest.TempPathFactory, running: contextlib.ExitStack) -> None:
        self._folders = folders
        self._running = running
        self._urls: dict[str, str] = {}
        self._clusters: dict[str, ClusterServers] = {}
        self._pairs: dict[str, tuple[EmbeddedServer, EmbeddedServer]] = {}

    def url(self, kind: str) -> str:
        """Of an empty server, or cluster."""
        if kind.endswith("cluster"):
            return self._cluster(kind)
        if kind == "container" and kind not in self._urls:
            self._urls[kind] = self._in_a_container()
        if kind not in self._urls:
            server = EmbeddedServer(self._folders.mktemp(kind), durable=False, program=_program(kind))
            self._urls[kind] = self._running.enter_context(server).url
        with redis.Redis.from_url(self._urls[kind]) as client:
            client.flushall()
        return self._urls[kind]

    def _cluster(self, kind: str) -> str:
        if kind not in self._clusters:
            made = ClusterServers(_program(kind.partition(" ")[0]), self._folders.mktemp("cluster"))
            self._clusters[kind] = self._running.enter_context(made)
        self._clusters[kind].flush()
        return self._clusters[kind].url

    def pair(self, kind: str) -> tuple[EmbeddedServer, EmbeddedServer]:
        """A master, emptied, and its replica."""
        if kind not in self._pairs:
            program = _program(kind)
            pair = [EmbeddedServer(self._folders.mktemp(kind), durable=False, program=program) for _ in range(2)]
            master, replica = (self._running.enter_context(server) for server in pair)
            follow(replica, master)
            self._pairs[kind] = master, replica
        with redis.Redis.from_url(self._pairs[kind][0].url) as client:
            client.flushall()
        return self._pairs[kind]

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


def _program(kind: str) -> str:
    return bundled_server() if kind == "valkey" else need_program("redis-server")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with contextlib.ExitStack() as running:
        yield Servers(tmp_path_factory, running)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, servers: Servers) -> AsyncIterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else RedisStore(servers.url(request.param))
    yield made
    await made.close()


class Replicated:
    """A store whose writes must reach one replica, and that replica."""

    def __init__(self, store: MemoryStore | RedisStore, replica: EmbeddedServer | None) -> None:
        self.store = store
        self._replica = replica

    def hold(self) -> None:
        """The replica does nothing any more."""
        self._set(False, signal.SIGSTOP)

    def go_on(self) -> None:
        self._set(True, signal.SIGCONT)

    def _set(self, acknowledging: bool, number: signal.Signals) -> None:
        if isinstance(self.store, MemoryStore):
            self.store.acknowledging = acknowledging
        else:
            assert self._replica is not None
            assert self._replica.pid is not None
            os.kill(self._replica.pid, number)


@pytest.fixture(params=["memory", *(pytest.param(kind, marks=pytest.mark.redis) for kind in ("valkey", "redis"))])
async def replicated(request: pytest.FixtureRequest, servers: Servers) -> AsyncIterator[Replicated]:
    if request.param == "memory":
        yield Replicated(MemoryStore(replicas=1), None)
        return
    master, replica = servers.pair(request.param)
    made = Replicated(RedisStore(master.url, replicas=1, wait_ms=300), replica)
    yield made
    made.go_on()
    await made.store.close()


def follow(replica: EmbeddedServer, master: EmbeddedServer) -> None:
    password = urlsplit(master.url).password
    with redis.Redis.from_url(replica.url) as client, redis.Redis.from_url(master.url) as leader:
        client.config_set("masterauth", password)
        client.config_set("repl-diskless-load", "swapdb")
        leader.config_set("repl-diskless-sync-delay", 0)
        client.execute_command("REPLICAOF", "127.0.0.1", master.port)
        end = time.monotonic() + 30
        while not leader.info("replication").get("slave0", {}).get("offset"):  # acknowledged for the first time
            assert time.monotonic() < end, "the replica does not follow"
            leader.set("touched", 1)
            time.sleep(0.02)


@pytest.fixture
def log(store: Store) -> Log:
    return store.log("s07")


@pytest.fixture
def nonces() -> Iterator[str]:
    return (f"nonce-{number}" for number in itertools.count())
