"""The log's way to the right server: slots that move, masters that die, hang, and come back."""

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from redis.exceptions import RedisError

from brelan.eventlog import keys
from brelan.eventlog.blocking import BlockingStore
from brelan.eventlog.cluster import SlotRange, slot_of_shard, slot_ranges
from brelan.eventlog.connections import addresses, is_cluster, url_of
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Append, Commit, Log, LogUnavailable, Outcome
from brelan.eventlog.redis_log import RedisStore
from tests.cluster.servers import START_SECONDS, ClusterServers, Server
from tests.fixtures_redis import bundled_server
from tests.processes import wait_until
from tests.requirements import need_program

pytestmark = pytest.mark.timeout(180)

TABLE = Service.TABLE
SHARD = "s07"
FEED, COMMANDS, BEAT = keys.feed(SHARD), keys.commands(SHARD), keys.heartbeat(SHARD)


# --- words -------------------------------------------------------------------------------------------------------


def test_addresses_of_a_cluster() -> None:
    url = "rediss+cluster://ana:p%40ss@one:7000,two,[::1]:7002/?ssl_cert_reqs=none"
    assert is_cluster(url)
    assert addresses(url) == ["one:7000", "two:6379", "[::1]:7002"]
    assert url_of(url, "10.0.0.1:7001") == "rediss://ana:p%40ss@10.0.0.1:7001/0?ssl_cert_reqs=none"
    assert url_of(url, "fe80::1:7001") == "rediss://ana:p%40ss@[fe80::1]:7001/0?ssl_cert_reqs=none"
    assert not is_cluster("redis://one:7000/0")
    assert not is_cluster("unix:///run/cluster.sock")


def test_ranges_of_slots() -> None:
    answer = [
        [5461, 10922, [b"10.0.0.2", 7001, b"id"], [b"10.0.0.3", 7002, b"id"]],
        [0, 5460, [b"", 7000, b"id"]],  # it does not know its own host
        [10923, 16383, [b"?", 7003, b"id"]],  # nobody does
    ]
    assert slot_ranges(answer, "10.0.0.1:7000") == [
        SlotRange(0, 5460, "10.0.0.1:7000"),
        SlotRange(5461, 10922, "10.0.0.2:7001"),
    ]


# --- servers -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[pytest.param(kind, marks=pytest.mark.redis) for kind in ("valkey", "redis")])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterServers]:
    program = bundled_server() if request.param == "valkey" else need_program("redis-server")
    with ClusterServers(program, tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
async def store(cluster: ClusterServers) -> AsyncIterator[RedisStore]:
    await asyncio.to_thread(wait_until, cluster.healthy, 60, "the cluster is whole")
    cluster.flush()
    made = RedisStore(cluster.url, replicas=1, wait_ms=500)
    yield made
    await made.close()


@pytest.fixture
def log(store: RedisStore) -> Log:
    return store.log(SHARD)


async def committed(log: Log, data: bytes, seconds: float = 40.0) -> None:
    """As an owner does it: after trouble, fence and decide again."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                position = await log.fence(TABLE, f"fence {data.decode()} {time.monotonic_ns()}")
                again = Commit(TABLE, position.number, f"commit {time.monotonic_ns()}", appends=[Append(FEED, data)])
                assert await log.commit(again) is Outcome.COMMITTED
            except LogUnavailable:
                await asyncio.sleep(0.05)
            else:
                return


async def seen(log: Log) -> list[bytes]:
    return [entry.data for entry in (await log.read_durable({FEED: "0-0"}, 100_000, 0)).entries]


async def test_shards_lie_on_all_masters(cluster: ClusterServers, store: RedisStore) -> None:
    ids = [await store.log(keys.shard_name(number)).server_id() for number in range(16)]
    assert sorted(ids.count(one) for one in set(ids)) == [5, 5, 6]
    await store.ping()


def move_slot(cluster: ClusterServers, shard: str) -> Iterator[None]:
    """Key by key, as redis-cli does it; yields when half of it is done."""
    slot, source = slot_of_shard(shard), cluster.master_of(shard)
    target = next(cluster.server(one) for one in cluster.masters() if one != source.address)
    with source.client() as giver, target.client() as taker:
        ids = [_ask(client, "CLUSTER", "MYID").decode() for client in (giver, taker)]
        _ask(taker, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
        _ask(giver, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
        found = _ask(giver, "CLUSTER", "GETKEYSINSLOT", slot, 1_000)
        assert len(found) > 2
        for number, key in enumerate(found):
            if number == len(found) // 2:
                yield
            migrate = ("127.0.0.1", target.port, key, 0, 5_000, "AUTH", cluster.password)
            assert _ask(giver, "MIGRATE", *migrate) == b"OK"
        for client in (taker, giver):
            _ask(client, "CLUSTER", "SETSLOT", slot, "NODE", ids[1])
    wait_until(lambda: cluster.master_of(shard) is target, START_SECONDS, "the slot has moved")


def _ask(client: Any, *command: Any) -> Any:
    return client.execute_command(*command, NEVER_DECODE=True)


async def test_a_slot_that_moves_takes_its_shard_with_it(cluster: ClusterServers, store: RedisStore, log: Log) -> None:
    await committed(log, b"before")
    await log.append_many(COMMANDS, [b"1", b"2"])
    await log.commit(Commit(Service.DEALER, 0, "dealer", string_set={BEAT: b"1"}))
    with BlockingStore(cluster.url) as blocking:
        assert blocking.on(SHARD, lambda client: client.xlen(COMMANDS)) == 2
        moving = move_slot(cluster, SHARD)
        next(moving)
        refused = 0
        for call in (log.range(FEED), log.range(COMMANDS), log.get(BEAT), log.fence(TABLE, "while it moves")):
            (answer,) = await asyncio.gather(call, return_exceptions=True)
            assert answer, "nothing may seem to be empty"
            refused += isinstance(answer, LogUnavailable) and "moving this slot" in str(answer)
        assert refused > 0
        with contextlib.suppress(StopIteration):
            next(moving)
        assert await log.append(COMMANDS, b"3")
        await committed(log, b"after")
        assert await seen(log) == [b"before", b"after"]
        assert [entry.data for entry in await log.range(COMMANDS)] == [b"1", b"2", b"3"]
        assert await log.get(BEAT) == b"1"
        assert blocking.on(SHARD, lambda client: client.xlen(COMMANDS)) == 3


async def test_what_was_acknowledged_survives_the_master(
    cluster: ClusterServers, store: RedisStore, capsys: pytest.CaptureFixture[str]
) -> None:
    log, reader = store.log(SHARD), store.log(SHARD)
    server = await log.server_id()
    acknowledged: list[bytes] = []
    enough = asyncio.Event()
    master = cluster.master_of(SHARD)

    async def write() -> None:
        number = 0
        position = await log.fence(TABLE, "writer")
        while True:
            data = b"%d" % number
            commit = Commit(TABLE, position.number + number, f"write {number}", appends=[Append(FEED, data)])
            try:
                assert await log.commit(commit) is Outcome.COMMITTED
            except LogUnavailable:
                return
            acknowledged.append(data)
            number += 1
            if number == 200:
                enough.set()

    writing = asyncio.create_task(write())
    await enough.wait()
    shown = await seen(reader)
    await asyncio.to_thread(master.kill)
    await writing
    killed = time.monotonic()
    await asyncio.to_thread(wait_until, lambda: cluster.master_of(SHARD) is not master, START_SECONDS, "the fail-over")
    failed_over = time.monotonic() - killed
    with pytest.raises(LogUnavailable):  # it has no replica
        await log.fence(TABLE, "alone")
    master.start()
    await committed(log, b"after")
    found = await seen(reader)
    assert shown == found[: len(shown)]
    assert found[: len(acknowledged)] == acknowledged
    assert found[-1] == b"after"
    assert len(found) <= len(acknowledged) + 2  # the one whose answer was lost may be there too
    assert await log.server_id() != server
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(acknowledged)} commits acknowledged, {len(found)} there; "
            f"another master after {failed_over:.1f} s, acknowledged again after {time.monotonic() - killed:.1f} s\n"
        )


async def test_a_master_that_hangs_is_left(cluster: ClusterServers, log: Log) -> None:
    """It closes no connection: whoever waits for its answer is freed when that times out."""
    await committed(log, b"before")
    master = cluster.master_of(SHARD)
    waiting = asyncio.create_task(log.read({FEED: "9999999999999-0"}, 1, 30_000))
    await asyncio.sleep(0)
    try:
        master.signal(signal.SIGSTOP)
        with contextlib.suppress(LogUnavailable):
            await log.append(COMMANDS, b"lost or not")
        with pytest.raises(LogUnavailable):
            await waiting
        await asyncio.to_thread(wait_until, lambda: _moved_from(cluster, master), START_SECONDS, "the fail-over")
        async with asyncio.timeout(15):
            while True:
                with contextlib.suppress(LogUnavailable):
                    assert [entry.data for entry in await log.range(FEED)] == [b"before"]
                    break
                await asyncio.sleep(0.05)
    finally:
        master.signal(signal.SIGCONT)
    await committed(log, b"after")
    assert await seen(log) == [b"before", b"after"]


def _moved_from(cluster: ClusterServers, master: Server) -> bool:
    for server in cluster.servers:
        if server is not master:
            with contextlib.suppress(RedisError), server.client() as client:
                ranges = slot_ranges(_ask(client, "CLUSTER", "SLOTS"), server.address)
                return all(one.master != master.address for one in ranges)
    return False


async def test_a_cluster_that_is_not_there(cluster: ClusterServers) -> None:
    store = RedisStore("redis+cluster://127.0.0.1:1,127.0.0.1:2")
    with pytest.raises(LogUnavailable):
        await store.ping()
    with pytest.raises(LogUnavailable):
        await store.log(SHARD).append(COMMANDS, b"x")
    await store.close()


async def test_a_node_that_is_named_as_if_it_were_alone_says_so(cluster: ClusterServers, store: RedisStore) -> None:
    address = next(one for one in cluster.masters() if one != cluster.master_of(SHARD).address)
    alone = RedisStore(url_of(cluster.url, address))
    with pytest.raises(LogUnavailable, match=r"redis\+cluster://"):
        await alone.log(SHARD).append(COMMANDS, b"x")
    await alone.close()
