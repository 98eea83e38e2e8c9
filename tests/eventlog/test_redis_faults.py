"""A bad network and a server that dies: nothing acknowledged is lost, nothing is written twice."""

import asyncio
import contextlib
import os
import random
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import redis
from redis.exceptions import ResponseError

from brelan.eventlog import connections, keys, redis_log
from brelan.eventlog.connections import failure
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Append, Commit, LogUnavailable, Outcome
from brelan.eventlog.position import MOST_OWNERS
from brelan.eventlog.processor import Processor
from brelan.eventlog.redis_log import RedisLog, RedisStore
from brelan.eventlog.server import EmbeddedServer
from tests.eventlog.counting import Counting
from tests.eventlog.proxy import Proxy
from tests.fixtures_redis import bundled_server

pytestmark = pytest.mark.redis

TABLE = Service.TABLE
COMMANDS = keys.commands("s00")
FEED = keys.feed("s00")


def numbered(number: int, nonce: str) -> Commit:
    return Commit(TABLE, number, nonce, {COMMANDS: f"{number + 1}-0"}, appends=[Append(FEED, b"%d" % number)])


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[RedisLog]:
    store = RedisStore(url)
    try:
        yield store.log("s00")
    finally:
        await store.close()


@pytest.fixture
def proxy(redis_url: str) -> Iterator[Proxy]:
    with Proxy(redis_url) as made:
        yield made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "COMMAND_SECONDS", 0.2)
    monkeypatch.setattr(redis_log, "FIRST_PAUSE", 0.01)


def sometimes(what: str, share: float, marks: tuple[bytes, ...], seed: int = 7) -> Callable[[bytes], str]:
    chance = random.Random(seed)
    return lambda request: what if any(mark in request for mark in marks) and chance.random() < share else "pass"


async def until(true: Callable[[], bool], seconds: float = 15.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what it waits for sets no event
            await asyncio.sleep(0.01)


# --- a bad network -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("fate", "commits"), [("lose request", 150), ("lose reply", 150), ("hold reply", 15)], ids=str)
async def test_no_commit_is_lost_or_doubled(proxy: Proxy, fate: str, commits: int) -> None:
    async with connected(proxy.url) as log:
        proxy.fate = sometimes(fate, 0.3, (b"EVAL",))
        outcomes = [await log.commit(numbered(number, f"nonce {number}")) for number in range(commits)]
        proxy.fate = lambda request: "pass"
        entries = await log.range(FEED)
    assert proxy.lost > commits // 10
    assert Outcome.FENCED not in outcomes
    assert (Outcome.DONE in outcomes) == (fate != "lose request")
    assert [entry.data for entry in entries] == [b"%d" % number for number in range(commits)]


@pytest.mark.usefixtures("impatient")
async def test_a_commit_that_is_never_answered_is_unknown_and_found_out_by_the_fence(proxy: Proxy) -> None:
    async with connected(proxy.url) as log:
        proxy.fate = lambda request: "lose reply" if b"EVAL" in request else "pass"
        with pytest.raises(LogUnavailable):
            await log.commit(numbered(0, "nonce"))
        proxy.fate = lambda request: "pass"
        position = await log.fence(TABLE, "fence")
        assert position.cursors == {COMMANDS: "1-0"}
        assert await log.commit(numbered(0, "nonce")) is Outcome.FENCED
        assert len(await log.range(FEED)) == 1


@pytest.mark.usefixtures("impatient")
async def test_a_fence_is_asked_for_until_it_is_answered(proxy: Proxy) -> None:
    async with connected(proxy.url) as log:
        proxy.fate = sometimes("lose reply", 0.2, (b"EVAL",))
        for number in range(1, 21):
            position = await log.fence(TABLE, f"fence {number}")
            assert (position.number, position.takeovers) == (number, min(number, MOST_OWNERS) - 1)


async def test_an_append_is_never_sent_twice(proxy: Proxy) -> None:
    async with connected(proxy.url) as log:
        proxy.fate = sometimes("lose reply", 0.3, (b"XADD",))
        stored, unknown = [], []
        for number in range(100):
            try:
                await log.append(COMMANDS, b"%d" % number)
            except LogUnavailable:
                unknown.append(b"%d" % number)
            else:
                stored.append(b"%d" % number)
        proxy.fate = lambda request: "pass"
        found = [entry.data for entry in await log.range(COMMANDS)]
    assert unknown
    assert len(found) == len(set(found))
    assert set(stored) <= set(found) <= {*stored, *unknown}


async def test_reads_fail_with_a_sentence_and_work_again(proxy: Proxy) -> None:
    async with connected(proxy.url) as log:
        await log.append(COMMANDS, b"a")
        proxy.fate = lambda request: "lose reply"
        for call in (
            lambda: log.range(COMMANDS),
            lambda: log.read({COMMANDS: "0-0"}, 1, 100),
            lambda: log.read_batch({COMMANDS: "0-0"}, 1, 100),
            lambda: log.get(keys.heartbeat("s00")),
            lambda: log.last_id(FEED),
            log.now_ms,
        ):
            with pytest.raises(LogUnavailable, match="the event log"):
                await call()
        proxy.fate = lambda request: "pass"
        assert [entry.data for entry in await log.read({COMMANDS: "0-0"}, 1, 100)] == [b"a"]


# --- a server that dies ------------------------------------------------------------------------------------------


@pytest.fixture(params=["valkey", "redis"])
def durable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EmbeddedServer]:
    program = bundled_server() if request.param == "valkey" else shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed.")
    with EmbeddedServer(tmp_path / "server", durable=True, program=program) as server:
        yield server


async def test_every_acknowledged_commit_survives_kill_9(durable: EmbeddedServer) -> None:
    acknowledged = 0
    stop = asyncio.Event()

    async def commit_on_and_on(log: RedisLog) -> None:
        nonlocal acknowledged
        while not stop.is_set():
            outcome = await log.commit(numbered(acknowledged, f"nonce {acknowledged}"))
            assert outcome is not Outcome.FENCED
            acknowledged += 1

    async with connected(durable.url) as log:
        committing = asyncio.create_task(commit_on_and_on(log))
        for _ in range(4):
            enough = acknowledged + 100
            await until(lambda: acknowledged >= enough)  # noqa: B023 - it is over before the next round
            durable.kill()
            assert not committing.done()
            durable.start()
        stop.set()
        await committing
        assert [entry.data for entry in await log.range(FEED)] == [b"%d" % number for number in range(acknowledged)]


async def test_a_processor_goes_on_when_the_server_is_back(durable: EmbeddedServer) -> None:
    stop = asyncio.Event()
    async with connected(durable.url) as log:
        await log.append_many(COMMANDS, [b"%d" % number for number in range(50)])
        handler = Counting()
        running = asyncio.create_task(Processor(log, handler, batch=8).run(stop))
        await until(lambda: handler.count == 50)
        durable.kill()
        await asyncio.sleep(1.5)
        assert not running.done()
        durable.start()
        await log.append_many(COMMANDS, [b"%d" % number for number in range(50, 100)])
        await until(lambda: handler.count == 100)
        stop.set()
        await running
        assert [entry.data for entry in await log.range(FEED)] == [b"%d: %d" % (n + 1, n) for n in range(100)]


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_hangs_is_not_waited_for_for_ever(durable: EmbeddedServer) -> None:
    assert durable.pid is not None
    async with connected(durable.url) as log:
        assert await log.commit(numbered(0, "nonce 0")) is Outcome.COMMITTED
        os.kill(durable.pid, signal.SIGSTOP)
        try:
            with pytest.raises(LogUnavailable, match="did not answer in time"):
                await log.now_ms()
            hanging = asyncio.create_task(log.commit(numbered(1, "nonce 1")))
            await asyncio.sleep(0.5)
            assert not hanging.done()
        finally:
            os.kill(durable.pid, signal.SIGCONT)
        assert await hanging in {Outcome.COMMITTED, Outcome.DONE}
        assert len(await log.range(FEED)) == 2


# --- a server that says no ---------------------------------------------------------------------------------------


@pytest.fixture
async def refused(fresh_redis_url: str) -> AsyncIterator[tuple[RedisLog, redis.Redis]]:
    with redis.Redis.from_url(fresh_redis_url) as client:
        async with connected(fresh_redis_url) as log:
            await log.commit(numbered(0, "nonce 0"))
            yield log, client


async def refuses(log: RedisLog, sentence: str) -> None:
    """Nothing of a commit is written, and a sentence says why."""
    mixed = Commit(
        TABLE,
        1,
        "refused",
        hash_delete={keys.tables("s00"): ["a"]},
        appends=[Append(FEED, b"x")],
        string_set={keys.heartbeat("s00"): b"x" * 100},
    )
    with pytest.raises(LogUnavailable, match=sentence):
        await log.commit(mixed)
    assert len(await log.range(FEED)) == 1


async def test_out_of_memory(refused: tuple[RedisLog, redis.Redis]) -> None:
    log, client = refused
    client.config_set("maxmemory", 1)
    await refuses(log, "is out of memory and takes no writes")
    with pytest.raises(LogUnavailable, match="is out of memory"):
        await log.append(COMMANDS, b"x")
    client.config_set("maxmemory", 0)
    assert await log.commit(numbered(1, "nonce 1")) is Outcome.COMMITTED


async def test_a_replica(refused: tuple[RedisLog, redis.Redis]) -> None:
    log, client = refused
    client.replicaof("127.0.0.1", 1)
    await refuses(log, "is a replica and takes no writes")


async def test_too_few_replicas(refused: tuple[RedisLog, redis.Redis]) -> None:
    log, client = refused
    client.config_set("min-replicas-to-write", 1)
    await refuses(log, "has too few replicas")


async def test_busy_with_a_script(refused: tuple[RedisLog, redis.Redis]) -> None:
    log, client = refused
    client.config_set("lua-time-limit", 10)
    looping = asyncio.create_task(asyncio.to_thread(client.eval, "while true do end", 0))
    await asyncio.sleep(0.3)
    with pytest.raises(LogUnavailable, match="is busy with a script"):
        await log.commit(numbered(1, "nonce 1"))
    await asyncio.to_thread(redis.Redis.from_url(_url_of(client)).script_kill)
    with pytest.raises(redis.ResponseError):
        await looping
    assert len(await log.range(FEED)) == 1


def _url_of(client: redis.Redis) -> str:
    options = client.get_connection_kwargs()
    return f"redis://:{options['password']}@{options['host']}:{options['port']}"


async def test_a_user_without_the_right(refused: tuple[RedisLog, redis.Redis]) -> None:
    _, client = refused
    client.acl_setuser("reader", enabled=True, passwords=["+pw"], keys=["*"], categories=["+@read", "+@connection"])
    url = _url_of(client).replace("//:", "//reader:").replace(client.get_connection_kwargs()["password"], "pw")
    async with connected(url) as reading:
        await refuses(reading, "does not let this service's user do that")
    with pytest.raises(LogUnavailable, match="does not know the user or password"):
        async with connected(url.replace(":pw@", ":wrong@")) as stranger:
            await stranger.now_ms()
    with pytest.raises(LogUnavailable, match="asks for a password"):
        async with connected(url.replace("reader:pw@", "")) as stranger:
            await stranger.now_ms()


async def test_nobody_there(unused_tcp_port: int) -> None:
    async with connected(f"redis://127.0.0.1:{unused_tcp_port}") as log:
        for call in (
            log.now_ms(),
            log.append(FEED, b"x"),
            log.read({FEED: "0-0"}, 1, 100),
            log.commit(numbered(0, "a")),
        ):
            with pytest.raises(LogUnavailable, match="cannot be reached"):
                await call


async def test_close_answers_everybody(redis_url: str) -> None:
    store = RedisStore(redis_url)
    log = store.log("s00")
    calls = [asyncio.create_task(log.append(FEED, b"x")) for _ in range(3_000)]
    await asyncio.sleep(0)
    await store.close()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, str | LogUnavailable) for answer in answers)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("MISCONF Errors writing to the AOF file", "cannot write to its disk"),
        ("CLUSTERDOWN The cluster is down", "is a cluster with missing nodes"),
        ("MASTERDOWN Link with MASTER is down", "has lost its master"),
        ("ERR something else", "cannot be reached or refused: ERR something else"),
    ],
)
def test_every_refusal_is_a_sentence(error: str, sentence: str) -> None:
    assert sentence in str(failure(ResponseError(error)))
