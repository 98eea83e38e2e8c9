"""The event log on Redis Streams (Redis 6.2 or newer, Valkey).

A commit is one call of ``commit.lua``. A reply that got lost is no answer: the same commit is sent again, and its nonce
tells whether it had been applied. What is asked of the server is never cancelled half-way: the reply of a cancelled
call is awaited in the background, so that nobody else can be given it.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from redis.exceptions import NoScriptError, RedisError, ResponseError

from brelan.eventlog import keys
from brelan.eventlog.batching import Batcher
from brelan.eventlog.connections import MAX_BLOCK_MS, Clients, failure, is_answer
from brelan.eventlog.durable import marks_of, sent_outward
from brelan.eventlog.encoding import FIELD, commit_arguments, entries_of, entries_of_streams, milliseconds, script
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Batch, Commit, Entry, Outcome, Position
from brelan.eventlog.plan import Plan, check_slot
from brelan.eventlog.position import MOST_OWNERS, owner_of, position_of
from brelan.eventlog.redis_durable import DurableMarks, last_id_of

Answer = TypeVar("Answer")

TRIES = 5  # of a commit whose reply got lost
FIRST_PAUSE = 0.05  # seconds between two tries, doubled each time
PAGE = 1_000  # entries of one XRANGE
READS_IN_FLIGHT = 4
WAIT_MS = 1_000  # for replicas

OUTCOMES = {0: Outcome.DONE, -1: Outcome.FENCED}


class Script:
    """A Lua script, called by its digest."""

    def __init__(self, clients: Clients, name: str) -> None:
        self._clients = clients
        self._text = script(name)
        self._digest = hashlib.sha1(self._text.encode(), usedforsecurity=False).hexdigest()

    def calls(self, names: Sequence[str], *arguments: str | bytes | int) -> tuple[Sequence[Any], Sequence[Any]]:
        """By its digest, and in full for a server that does not know it."""
        keys_and_arguments = (len(names), *names, *arguments)
        return ("EVALSHA", self._digest, *keys_and_arguments), ("EVAL", self._text, *keys_and_arguments)

    async def __call__(self, names: Sequence[str], *arguments: str | bytes | int) -> Any:
        by_digest, by_text = self.calls(names, *arguments)
        try:
            return await self._clients.command(*by_digest)
        except NoScriptError:
            return await self._clients.command(*by_text)


class RedisStore:
    """All shards of a room on one Redis: connections shared by the shards' logs."""

    def __init__(self, url: str, *, replicas: int = 0, wait_ms: int = WAIT_MS) -> None:
        """``replicas``: how many must have what goes outside a shard, within ``wait_ms``, before it is acknowledged."""
        self.replicas = replicas
        self.wait_ms = wait_ms
        self.clients = Clients(url)
        self.commit = Script(self.clients, "commit")
        self.fence = Script(self.clients, "fence")
        self.lease = Script(self.clients, "lease")
        self.appends = Batcher(self.clients, in_flight=1)
        self.reads = Batcher(self.clients, in_flight=READS_IN_FLIGHT)
        self._asked: set[asyncio.Future[Any]] = set()

    def log(self, shard: str) -> "RedisLog":
        return RedisLog(self, shard)

    async def ping(self) -> None:
        """Raises LogUnavailable when the server is not there, or not ready."""
        await self.reads.add("PING")

    async def now_ms(self) -> int:
        return milliseconds(await self.reads.add("TIME"))

    async def ask(self, call: Awaitable[Answer]) -> Answer:
        """The answer. Raises as ``failure`` says; a cancelled caller leaves the call to end by itself."""
        asked = asyncio.ensure_future(call)
        self._asked.add(asked)
        asked.add_done_callback(self._answered)
        try:
            return await asyncio.shield(asked)
        except (RedisError, OSError) as error:
            raise failure(error) from error

    async def ask_until_answered(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """For what may be sent again: a lost reply is asked for anew. Raises LogUnavailable after some tries."""
        return await self.ask(_until_answered(call))

    def _answered(self, asked: asyncio.Future[Any]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            asked.exception()  # seen, also when the caller is gone

    async def announce(self, service: Service, worker: str, ttl_ms: int) -> list[str]:
        key, now_ms = keys.workers(service), await self.now_ms()
        _, _, alive = await asyncio.gather(
            self.appends.add("ZADD", key, now_ms + ttl_ms, worker),
            self.appends.add("ZREMRANGEBYSCORE", key, "-inf", now_ms),
            self.appends.add("ZRANGE", key, 0, -1),
        )
        return sorted(name.decode() for name in alive)

    async def withdraw(self, service: Service, worker: str) -> None:
        await self.appends.add("ZREM", keys.workers(service), worker)

    async def close(self) -> None:
        """Waits for what was asked, then closes the connections."""
        await self.appends.close()
        await self.reads.close()
        if self._asked:
            await asyncio.wait(self._asked, timeout=MAX_BLOCK_MS / 1000)
        for asked in self._asked:
            asked.cancel()
        await asyncio.gather(*self._asked, return_exceptions=True)
        await self.clients.close()


async def _until_answered(call: Callable[[], Awaitable[Answer]]) -> Answer:
    for attempt in range(TRIES - 1):
        try:
            return await call()
        except (RedisError, OSError) as error:
            if is_answer(error):
                raise
        await asyncio.sleep(FIRST_PAUSE * 2**attempt)
    return await call()


class RedisLog:
    """``Log`` on a ``RedisStore``."""

    def __init__(self, store: RedisStore, shard: str) -> None:
        self.shard = shard
        self._store = store
        self._marks = DurableMarks(shard, store.replicas, store.wait_ms)

    # --- commits -----------------------------------------------------------------------------------------------

    async def fence(self, service: Service, nonce: str) -> Position:
        names = (keys.position(self.shard, service),)
        arguments = (nonce, owner_of(nonce), MOST_OWNERS)
        answer = await self._store.ask_until_answered(lambda: self._store.fence(names, *arguments))
        await self._renew_mark(service)
        return position_of(_fields(answer))

    async def commit(self, commit: Commit) -> Outcome:
        plan = Plan(self.shard, commit)
        names, arguments = commit_arguments(plan)
        streams = sent_outward(self.shard, plan) if self._store.replicas else ()
        if streams:
            return await self._commit_and_wait(commit.service, streams, plan, names, arguments)
        return _outcome(await self._store.ask_until_answered(lambda: self._store.commit(names, *arguments)))

    async def _commit_and_wait(
        self, service: Service, streams: Sequence[str], plan: Plan, names: Sequence[str], arguments: Sequence[Any]
    ) -> Outcome:
        store, calls = self._store, self._store.commit.calls(names, *arguments)
        answer, acknowledged = await store.ask_until_answered(lambda: self._marks.commit(store.clients, *calls))
        outcome = _outcome(answer)
        if outcome is Outcome.COMMITTED:
            numbered = [stream for stream, found in plan.streams.items() if found.data and not found.ids]
            ends = dict(zip(numbered, (last.decode() for last in answer[1:]), strict=True))
            mark = {stream: ends.get(stream) or plan.streams[stream].ids[-1] for stream in streams}
            await store.ask(self._marks.advance(store.clients, service, acknowledged, mark))
        elif outcome is Outcome.DONE:  # by an earlier try, on a connection that may be gone
            await self._renew_mark(service)
        return outcome

    async def _renew_mark(self, service: Service) -> None:
        if self._store.replicas and keys.outward(self.shard, service):
            await self._store.ask(self._marks.renew(self._store.clients, service))

    async def append(self, stream: str, data: bytes) -> str:
        return (await self.append_many(stream, (data,)))[0]

    async def append_many(self, stream: str, data: Sequence[bytes]) -> list[str]:
        check_slot(self.shard, stream)
        appended = [self._store.appends.add("XADD", stream, "*", FIELD, one) for one in data]
        return [entry_id.decode() for entry_id in await asyncio.gather(*appended)]

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, cursors: Mapping[str, str], count: int, block_ms: int) -> list[Entry]:
        return (await self._read(cursors, count, block_ms, self._read_once)).entries

    async def read_batch(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        return await self._read(cursors, count, block_ms, self._read_once_with_time)

    async def _read(
        self,
        cursors: Mapping[str, str],
        count: int,
        block_ms: int,
        read_once: Callable[[Sequence[Any]], Awaitable[Batch]],
    ) -> Batch:
        for stream in cursors:
            check_slot(self.shard, stream)
        end = time.monotonic() + block_ms / 1000
        while True:
            block = ("BLOCK", min(block_ms, MAX_BLOCK_MS)) if block_ms > 0 else ()
            command = ("XREAD", "COUNT", count, *block, "STREAMS", *cursors.keys(), *cursors.values())
            batch = await self._store.ask(read_once(command))
            block_ms = int((end - time.monotonic()) * 1000)
            if batch.entries or block_ms <= 0:
                return batch

    async def _read_once(self, command: Sequence[Any]) -> Batch:
        return Batch(entries_of_streams(await self._store.clients.read(*command)), 0)

    async def _read_once_with_time(self, command: Sequence[Any]) -> Batch:
        found, now = await self._store.clients.read_and(command, ("TIME",))  # answered when the reading is done
        return Batch(entries_of_streams(found), milliseconds(now))

    async def read_durable(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        if not self._store.replicas:
            return await self.read_batch(cursors, count, block_ms)
        for stream in cursors:
            check_slot(self.shard, stream)
        marks, clients = marks_of(cursors), self._store.clients
        end = time.monotonic() + block_ms / 1000
        waiting = self._marks.bounds.reached(cursors)
        while True:
            block = min(block_ms, MAX_BLOCK_MS) if waiting else 0
            batch = await self._store.ask(self._marks.read(clients, marks, cursors, count, block))
            block_ms = int((end - time.monotonic()) * 1000)
            if batch.entries or block_ms <= 0:
                return batch
            waiting = True

    async def range(self, stream: str, after: str = BEGINNING, count: int | None = None) -> list[Entry]:
        entries: list[Entry] = []
        while True:
            page = PAGE if count is None else min(PAGE, count - len(entries))
            found = await self._ask("XRANGE", stream, f"({after}", "+", "COUNT", page)
            entries += entries_of(stream, found)
            if len(found) < page or len(entries) == count:
                return entries
            after = entries[-1].id

    async def last_id(self, stream: str) -> str:
        check_slot(self.shard, stream)
        return await self._store.ask(self._last_id(stream))

    async def _last_id(self, stream: str) -> str:
        try:
            return last_id_of(await self._store.clients.command("XINFO", "STREAM", stream))
        except ResponseError as error:
            return last_id_of(error)

    async def now_ms(self) -> int:
        return await self._store.now_ms()

    async def server_id(self) -> str:
        answer: bytes = await self._store.reads.add("INFO", "server")
        return _run_id(answer)

    async def get(self, key: str) -> bytes | None:
        return _maybe_bytes(await self._ask("GET", key))

    async def hash_all(self, key: str) -> dict[str, bytes]:
        return _fields(await self._ask("HGETALL", key))

    async def hash_get(self, key: str, fields: Sequence[str]) -> list[bytes | None]:
        return [_maybe_bytes(value) for value in await self._ask("HMGET", key, *fields)]

    async def due(self, key: str, until: int, count: int) -> list[tuple[str, int]]:
        found = await self._ask("ZRANGEBYSCORE", key, "-inf", until, "WITHSCORES", "LIMIT", 0, count)
        return [(member.decode(), int(score)) for member, score in zip(found[::2], found[1::2], strict=True)]

    async def _ask(self, command: str, key: str, *arguments: str | int) -> Any:
        check_slot(self.shard, key)
        return await self._store.reads.add(command, key, *arguments)

    # --- leases ------------------------------------------------------------------------------------------------

    async def acquire_lease(self, service: Service, owner: str, ttl_ms: int) -> bool:
        return bool(await self._lease(service, owner, ttl_ms) == 1)

    async def release_lease(self, service: Service, owner: str) -> None:
        await self._lease(service, owner, 0)

    async def _lease(self, service: Service, owner: str, ttl_ms: int) -> Any:
        names = (keys.lease(self.shard, service),)
        return await self._store.ask(self._store.lease(names, owner, ttl_ms))

    async def close(self) -> None:
        """The store holds the connections."""


def _fields(answer: Sequence[Any]) -> dict[str, Any]:
    """From HGETALL or XINFO: name, value, name, value ..."""
    return {name.decode(): value for name, value in zip(answer[::2], answer[1::2], strict=True)}


def _outcome(answer: Any) -> Outcome:
    return Outcome.COMMITTED if isinstance(answer, list) else OUTCOMES[answer]


def _maybe_bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def _run_id(info: bytes) -> str:
    for line in info.splitlines():
        if line.startswith(b"run_id:"):
            return line.partition(b":")[2].decode()
    raise ValueError("the server does not say its run_id")
