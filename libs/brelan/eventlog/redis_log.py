"""The event log on Redis Streams (Redis 6.2 or newer, Valkey).

A commit is one call of ``commit.lua``. A reply that got lost is no answer: the same commit is sent again, and its nonce
tells whether it had been applied. What is asked of the server is never cancelled half-way: the reply of a cancelled
call is awaited in the background, so that nobody else can be given it.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from redis.exceptions import RedisError, ResponseError

from brelan.eventlog import keys
from brelan.eventlog.connections import MAX_BLOCK_MS, Redirected, failure, is_answer
from brelan.eventlog.durable import marks_of, sent_outward
from brelan.eventlog.encoding import FIELD, commit_arguments, entries_of, entries_of_streams, milliseconds
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Batch, Commit, Entry, LogUnavailable, Outcome, Position
from brelan.eventlog.node import Node
from brelan.eventlog.plan import Plan, check_slot
from brelan.eventlog.position import MOST_OWNERS, owner_of, position_of
from brelan.eventlog.redis_durable import DurableMarks, last_id_of
from brelan.eventlog.routing import router
from brelan.settings import RoomSettings

Answer = TypeVar("Answer")

TRIES = 5  # of a commit whose reply got lost
FIRST_PAUSE = 0.05  # seconds between two tries, doubled each time
PAGE = 1_000  # entries of one XRANGE
MOST_REDIRECTIONS = 3  # of one call
WAIT_MS = 1_000  # for replicas

OUTCOMES = {0: Outcome.DONE, -1: Outcome.FENCED}


class RedisStore:
    """All shards of a room on one Redis, or on a Redis Cluster: connections shared by the shards' logs."""

    def __init__(self, url: str, *, replicas: int = 0, wait_ms: int = WAIT_MS) -> None:
        """``replicas``: how many must have what goes outside a shard, within ``wait_ms``, before it is acknowledged."""
        self.replicas = replicas
        self.wait_ms = wait_ms
        self._router = router(url)
        self._asked: set[asyncio.Future[Any]] = set()

    def log(self, shard: str) -> "RedisLog":
        return RedisLog(self, shard)

    async def ping(self) -> None:
        """Raises LogUnavailable when a server is not there, or not ready."""
        await self.ask(self._router.ping())

    # --- calls, each of them on the server that has the shard --------------------------------------------------

    async def on(self, shard: str, call: Callable[[Node], Awaitable[Answer]]) -> Answer:
        """The answer. Raises as ``failure`` says; a cancelled caller leaves the call to end by itself."""
        return await self._redirected(lambda: self.ask(call(self._router.of(shard))))

    async def until_answered(self, shard: str, call: Callable[[Node], Awaitable[Answer]]) -> Answer:
        """For what may be sent again: a lost reply is asked for anew. Raises LogUnavailable after some tries."""
        return await self._redirected(lambda: self.ask(_until_answered(lambda: call(self._router.of(shard)))))

    async def read(self, shard: str, *command: Any) -> Any:
        """Together with what others read. Raises LogUnavailable, or ValueError for another kind of value."""
        return await self._redirected(lambda: self._router.of(shard).reads.add(*command))

    async def append(self, shard: str, *command: Any) -> Any:
        """Together with what others write, in their order."""
        return await self._redirected(lambda: self._router.of(shard).appends.add(*command))

    async def append_many(self, shard: str, commands: Iterable[Sequence[Any]]) -> list[Any]:
        """What was not redirected is never sent again."""
        commands = list(commands)
        answers = await self._redirected(lambda: self._append(shard, commands))
        for _ in range(MOST_REDIRECTIONS):
            redirected = [place for place, answer in enumerate(answers) if isinstance(answer, Redirected)]
            if not redirected:
                break
            await self._router.follow(answers[redirected[0]])
            again = await self._redirected(partial(self._append, shard, [commands[place] for place in redirected]))
            for place, answer in zip(redirected, again, strict=True):
                answers[place] = answer
        for answer in answers:
            if isinstance(answer, Exception):
                self._router.doubt()
                raise answer
        return answers

    async def _append(self, shard: str, commands: Iterable[Sequence[Any]]) -> list[Any]:
        appends = self._router.of(shard).appends
        return await asyncio.gather(*(appends.add(*command) for command in commands), return_exceptions=True)

    async def _redirected(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        for _ in range(MOST_REDIRECTIONS):
            try:
                return await call()
            except Redirected as redirected:
                await self._router.follow(redirected)
            except LogUnavailable:
                self._router.doubt()
                raise
        return await call()

    async def ask(self, call: Awaitable[Answer]) -> Answer:
        asked = asyncio.ensure_future(call)
        self._asked.add(asked)
        asked.add_done_callback(self._answered)
        try:
            return await asyncio.shield(asked)
        except (RedisError, OSError) as error:
            raise failure(error) from error

    def _answered(self, asked: asyncio.Future[Any]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            asked.exception()  # seen, also when the caller is gone

    # --- workers -----------------------------------------------------------------------------------------------

    async def announce(self, service: Service, worker: str, ttl_ms: int) -> list[str]:
        key, now_ms = keys.workers(service), milliseconds(await self.read(keys.ROOM, "TIME"))
        announced = (
            ("ZADD", key, now_ms + ttl_ms, worker),
            ("ZREMRANGEBYSCORE", key, "-inf", now_ms),
            ("ZRANGE", key, 0, -1),
        )
        _, _, alive = await self.append_many(keys.ROOM, announced)
        return sorted(name.decode() for name in alive)

    async def withdraw(self, service: Service, worker: str) -> None:
        await self.append(keys.ROOM, "ZREM", keys.workers(service), worker)

    async def use_ticket(self, ticket_id: str, ttl_ms: int) -> bool:
        put = await self.append(keys.ROOM, "SET", keys.ticket(ticket_id), "", "NX", "PX", ttl_ms)
        return put is not None

    async def close(self) -> None:
        """Waits for what was asked, then closes the connections."""
        await self._router.finish()
        if self._asked:
            await asyncio.wait(self._asked, timeout=MAX_BLOCK_MS / 1000)
        for asked in self._asked:
            asked.cancel()
        await asyncio.gather(*self._asked, return_exceptions=True)
        await self._router.close()


def open_store(settings: RoomSettings) -> RedisStore:
    """The room's event log."""
    return RedisStore(settings.redis_url, replicas=settings.replicas, wait_ms=settings.replica_wait_ms)


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
        answer = await self._store.until_answered(self.shard, lambda node: node.fence(names, *arguments))
        await self._renew_mark(service)
        return position_of(_fields(answer))

    async def commit(self, commit: Commit) -> Outcome:
        plan = Plan(self.shard, commit)
        names, arguments = commit_arguments(plan)
        streams = sent_outward(self.shard, plan) if self._store.replicas else ()
        if streams:
            return await self._commit_and_wait(commit.service, streams, plan, names, arguments)
        return _outcome(await self._store.until_answered(self.shard, lambda node: node.commit(names, *arguments)))

    async def _commit_and_wait(
        self, service: Service, streams: Sequence[str], plan: Plan, names: Sequence[str], arguments: Sequence[Any]
    ) -> Outcome:
        answer, acknowledged = await self._store.until_answered(
            self.shard, lambda node: self._marks.commit(node.clients, *node.commit.calls(names, *arguments))
        )
        outcome = _outcome(answer)
        if outcome is Outcome.COMMITTED:
            numbered = [stream for stream, found in plan.streams.items() if found.data and not found.ids]
            ends = dict(zip(numbered, (last.decode() for last in answer[1:]), strict=True))
            mark = {stream: ends.get(stream) or plan.streams[stream].ids[-1] for stream in streams}
            await self._store.on(
                self.shard, lambda node: self._marks.advance(node.clients, service, acknowledged, mark)
            )
        elif outcome is Outcome.DONE:  # by an earlier try, on a connection that may be gone
            await self._renew_mark(service)
        return outcome

    async def _renew_mark(self, service: Service) -> None:
        if self._store.replicas and keys.outward(self.shard, service):
            await self._store.on(self.shard, lambda node: self._marks.renew(node.clients, service))

    async def append(self, stream: str, data: bytes) -> str:
        check_slot(self.shard, stream)
        entry_id: bytes = await self._store.append(self.shard, "XADD", stream, "*", FIELD, data)
        return entry_id.decode()

    async def append_many(self, stream: str, data: Sequence[bytes]) -> list[str]:
        check_slot(self.shard, stream)
        appended = await self._store.append_many(self.shard, [("XADD", stream, "*", FIELD, one) for one in data])
        return [entry_id.decode() for entry_id in appended]

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
        read_once: Callable[[Sequence[Any], Node], Awaitable[Batch]],
    ) -> Batch:
        for stream in cursors:
            check_slot(self.shard, stream)
        end = time.monotonic() + block_ms / 1000
        while True:
            block = ("BLOCK", min(block_ms, MAX_BLOCK_MS)) if block_ms > 0 else ()
            command = ("XREAD", "COUNT", count, *block, "STREAMS", *cursors.keys(), *cursors.values())
            batch = await self._store.on(self.shard, partial(read_once, command))
            block_ms = int((end - time.monotonic()) * 1000)
            if batch.entries or block_ms <= 0:
                return batch

    async def _read_once(self, command: Sequence[Any], node: Node) -> Batch:
        return Batch(entries_of_streams(await node.clients.read(*command)), 0)

    async def _read_once_with_time(self, command: Sequence[Any], node: Node) -> Batch:
        found, now = await node.clients.read_and(command, ("TIME",))  # answered when the reading is done
        return Batch(entries_of_streams(found), milliseconds(now))

    async def read_durable(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        if not self._store.replicas:
            return await self.read_batch(cursors, count, block_ms)
        for stream in cursors:
            check_slot(self.shard, stream)
        marks = marks_of(cursors)
        end = time.monotonic() + block_ms / 1000
        waiting = self._marks.bounds.reached(cursors)
        while True:
            block = min(block_ms, MAX_BLOCK_MS) if waiting else 0
            batch = await self._store.on(self.shard, partial(self._marks.read, marks, cursors, count, block))
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
        return await self._store.on(self.shard, lambda node: self._last_id(node, stream))

    async def _last_id(self, node: Node, stream: str) -> str:
        try:
            return last_id_of(await node.clients.command("XINFO", "STREAM", stream))
        except ResponseError as error:
            return last_id_of(error)

    async def now_ms(self) -> int:
        return milliseconds(await self._store.read(self.shard, "TIME"))

    async def server_id(self) -> str:
        return _run_id(await self._store.read(self.shard, "INFO", "server"))

    async def get(self, key: str) -> bytes | None:
        return _maybe_bytes(await self._ask("GET", key))

    async def hash_all(self, key: str) -> dict[str, bytes]:
        return _fields(await self._ask("HGETALL", key))

    async def hash_get(self, key: str, fields: Sequence[str]) -> list[bytes | None]:
        return [_maybe_bytes(value) for value in await self._ask("HMGET", key, *fields)]

    async def due(self, key: str, until: int, count: int) -> list[tuple[str, int]]:
        found = await self._ask("ZRANGEBYSCORE", key, "-inf", until, "WITHSCORES", "LIMIT", 0, count)
        return [
            (member.decode(errors="replace"), _score(score))
            for member, score in zip(found[::2], found[1::2], strict=True)
        ]

    async def _ask(self, command: str, key: str, *arguments: str | int) -> Any:
        check_slot(self.shard, key)
        return await self._store.read(self.shard, command, key, *arguments)

    # --- leases ------------------------------------------------------------------------------------------------

    async def acquire_lease(self, service: Service, owner: str, ttl_ms: int) -> bool:
        return bool(await self._lease(service, owner, ttl_ms) == 1)

    async def release_lease(self, service: Service, owner: str) -> None:
        await self._lease(service, owner, 0)

    async def _lease(self, service: Service, owner: str, ttl_ms: int) -> Any:
        names = (keys.lease(self.shard, service),)
        return await self._store.on(self.shard, lambda node: node.lease(names, owner, ttl_ms))

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


def _score(text: bytes) -> int:
    """Whoever put rubbish into a set must not stop those who read it: what is no time was due long ago."""
    try:
        return int(text)
    except ValueError:
        score = float(text)
        return int(score) if math.isfinite(score) else -(2**53)
