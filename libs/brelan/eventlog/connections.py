"""Connections to Redis: the one place where clients are made, and what their errors mean.

Automatic retries are off: whether a lost write is sent again is decided where its meaning is known (``redis_log``).
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

import hiredis
from redis import Redis as SynchronousRedis
from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, MovedError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry as SynchronousRetry

from brelan.eventlog.log import BadCommit, LogUnavailable

MAX_BLOCK_MS = 2_000  # one XREAD waits no longer: a moved or dead server is noticed
COMMAND_SECONDS = 3.0
READER_SECONDS = MAX_BLOCK_MS / 1000 + COMMAND_SECONDS
CONNECT_SECONDS = 2.0
PROBE_SECONDS = 0.5
MOST_CONNECTIONS = 64  # for commands; each blocked reader has one more of its own


class Clients:
    """What a store talks through: one client for commands, one for blocking reads."""

    def __init__(self, url: str) -> None:
        commands = BlockingConnectionPool.from_url(
            url, max_connections=MOST_CONNECTIONS, timeout=COMMAND_SECONDS, **_options(COMMAND_SECONDS)
        )
        self._commands = _client(commands)
        self._readers = _client(ConnectionPool.from_url(url, **_options(READER_SECONDS)))
        self.command: Callable[..., Awaitable[Any]] = self._commands.execute_command
        self.read: Callable[..., Awaitable[Any]] = self._readers.execute_command

    async def commands(self, commands: Iterable[Sequence[Any]]) -> list[Any]:
        """Several commands in one round trip: their answers, errors of the server among them."""
        return await _pipelined(self._commands, commands)

    async def read_and(self, *commands: Sequence[Any]) -> list[Any]:
        """A blocking read and what is asked after it."""
        answers = await _pipelined(self._readers, commands)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    async def close(self) -> None:
        await self._commands.aclose()
        await self._readers.aclose()


class Probe:
    """One connection that gives up soon: for asking a node of a cluster that may be gone."""

    def __init__(self, url: str) -> None:
        pool = BlockingConnectionPool.from_url(
            url, max_connections=1, timeout=PROBE_SECONDS, **(_options(PROBE_SECONDS) | _SOON)
        )
        self._client = _client(pool)
        self.command: Callable[..., Awaitable[Any]] = self._client.execute_command

    async def close(self) -> None:
        await self._client.aclose()


def blocking_client(url: str) -> SynchronousRedis:
    """For threads."""
    return SynchronousRedis.from_url(
        url,
        protocol=2,
        retry=SynchronousRetry(NoBackoff(), 0),
        socket_timeout=COMMAND_SECONDS,
        socket_connect_timeout=COMMAND_SECONDS,
        health_check_interval=0,
    )


async def _pipelined(client: Redis, commands: Iterable[Sequence[Any]]) -> list[Any]:
    pipeline: Any = client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    answers: list[Any] = await pipeline.execute(raise_on_error=False)
    return answers


def _options(socket_seconds: float) -> dict[str, Any]:
    return {
        "protocol": 2,
        "decode_responses": False,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": socket_seconds,
        "socket_connect_timeout": CONNECT_SECONDS,
        "health_check_interval": 0,
        "driver_info": None,
    }


_SOON = {"socket_connect_timeout": PROBE_SECONDS}


def _client(pool: ConnectionPool) -> Redis:
    pool.connection_class = _packing(pool.connection_class)
    client: Any = Redis.from_pool(pool)
    for command in ("XREAD", "XRANGE", "XREVRANGE", "HGETALL", "TIME", "XINFO", "PING", "INFO"):
        client.set_response_callback(command, _as_it_is)
    return cast(Redis, client)


def _as_it_is(answer: Any, **_: Any) -> Any:
    return answer


def _packing(kind: type[AbstractConnection]) -> type[AbstractConnection]:
    """Packs with hiredis, as redis-py does outside asyncio: six times as fast for a commit of hundreds of arguments."""

    class PackingConnection(kind):  # type: ignore[misc,valid-type]
        def pack_command(self, *args: Any) -> list[bytes]:
            return [hiredis.pack_command(args)]

        def pack_commands(self, commands: Any) -> list[bytes]:
            return [b"".join([hiredis.pack_command(args) for args in commands])]

    return PackingConnection


# --- addresses ---------------------------------------------------------------------------------------------------

CLUSTER = "+cluster"


def is_cluster(url: str) -> bool:
    """``redis+cluster://user:password@one:7000,two:7000`` (``rediss+cluster`` with TLS): some nodes of a cluster."""
    return urlsplit(url).scheme.endswith(CLUSTER)


def addresses(url: str) -> list[str]:
    """``["one:7000", "two:7000"]``."""
    return [_with_port(one) for one in urlsplit(url).netloc.rpartition("@")[2].split(",") if one]


def _with_port(address: str) -> str:
    return address if address.rpartition(":")[2].isdigit() else f"{address}:6379"


def url_of(url: str, address: str) -> str:
    """The URL of one node, with the cluster's credentials and options."""
    parts = urlsplit(url)
    credentials, at, _ = parts.netloc.rpartition("@")
    host, _, port = address.rpartition(":")
    if ":" in host and not host.startswith("["):  # IPv6, as a node says it
        host = f"[{host}]"
    netloc = f"{credentials}{at}{host}:{port}"
    return urlunsplit((parts.scheme.removesuffix(CLUSTER), netloc, "/0", parts.query, ""))


# --- errors ------------------------------------------------------------------------------------------------------


class Redirected(LogUnavailable):
    """Another node of the cluster has the slot. Nothing was written."""

    def __init__(self, sentence: str, slot: int, address: str) -> None:
        super().__init__(sentence)
        self.slot = slot
        self.address = address  # "" when nobody said


_SENTENCES = {
    "OOM": "is out of memory and takes no writes: give it more (maxmemory), or trim",
    "MISCONF": "cannot write to its disk and takes no writes",
    "READONLY": "is a replica and takes no writes: name the master in BRELAN_REDIS_URL",
    "LOADING": "is loading its data",
    "BUSY": "is busy with a script",
    "NOREPLICAS": "has too few replicas and takes no writes",
    "MASTERDOWN": "is a replica that has lost its master",
    "CLUSTERDOWN": "is a cluster with missing nodes",
    "ASK": "is a cluster that is moving this slot: it waits until that is done",
    "TRYAGAIN": "is a cluster that is moving this slot: it waits until that is done",
    "NOAUTH": "asks for a password: BRELAN_REDIS_URL has to hold one",
    "WRONGPASS": "does not know the user or password in BRELAN_REDIS_URL",
    "NOPERM": "does not let this service's user do that",
}


def failure(error: RedisError | OSError) -> LogUnavailable | ValueError:
    """What to raise instead: ValueError for what can never work, LogUnavailable for everything else."""
    code = _code(error)
    if isinstance(error, MovedError):
        sentence = f"this is a node of a cluster: name it so, redis+cluster://..., in BRELAN_REDIS_URL ({error})"
        return Redirected(sentence, error.slot_id, f"{error.host}:{error.port}")
    if code == "BADCOMMIT":
        return BadCommit(str(error).removeprefix("BADCOMMIT "))
    if code == "WRONGTYPE":
        return ValueError(str(error))
    if code in _SENTENCES:
        return LogUnavailable(f"the event log {_SENTENCES[code]} ({error})")
    if isinstance(error, RedisTimeoutError):
        return LogUnavailable(f"the event log did not answer in time ({error})")
    return LogUnavailable(f"the event log cannot be reached or refused: {str(error) or type(error).__name__}")


def is_answer(error: RedisError | OSError) -> bool:
    """Whether the server said no: then nothing was written, and asking again at once is of no use."""
    return _code(error) in {"BADCOMMIT", "WRONGTYPE", "MOVED", *_SENTENCES}


def _code(error: Exception) -> str:
    """The first word of the server's error; redis-py takes it off those it knows."""
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    return "LOADING" if isinstance(error, BusyLoadingError) else str(code)
