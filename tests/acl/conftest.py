"""The machine's Redis 7 and the Valkey that comes with Brelan, each with the room's users."""

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from brelan.eventlog.server import EmbeddedServer
from tests.acl.servers import add_users
from tests.fixtures_redis import bundled_server
from tests.requirements import need_program


@pytest.fixture(scope="session", params=["redis", "valkey"])
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    program = bundled_server() if request.param == "valkey" else need_program("redis-server")
    with EmbeddedServer(tmp_path_factory.mktemp(request.param), durable=False, program=program) as server:
        add_users(server.url)
        yield server


@pytest.fixture
def url(guarded: EmbeddedServer) -> str:
    """Of the empty server, as one who may do everything."""
    with redis.Redis.from_url(guarded.url) as admin:
        admin.flushall()
    return guarded.url


@pytest.fixture
def admin(url: str) -> Iterator[Any]:
    with redis.Redis.from_url(url) as client:
        yield client
