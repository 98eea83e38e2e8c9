"""The event log in memory: for tests of services and for the simulator, which brings its own clock.

It keeps exactly what a Redis server would keep, and nothing else decides: same calls at the same times, same bytes.
"""

import asyncio
import bisect
import contextlib
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from brelan.eventlog import keys
from brelan.eventlog.durable import Bounds, decode_mark, encode_mark, marks_of, sent_outward
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, BadCommit, Batch, Commit, Entry, LogUnavailable, Outcome, Position
from brelan.eventlog.plan import DELETED, HASH, SORTED_SET, STREAM, STRING, Plan, StreamPlan, check_slot, parse_id
from brelan.eventlog.position import fence_fields, position_fields, position_of

Value = TypeVar("Value")


class Stream:
    """Entries in the order of their ids. Trimming keeps the last id."""

    kind = STREAM

    def __init__(self) -> None:
        self.ids: list[tuple[int, int]] = []
        self.data: list[bytes] = []
        self.last = (0, 0)

    def next_id(self, now_ms: int) -> tuple[int, int]:
        return max((now_ms, 0), (self.last[0], self.last[1] + 1))

    def append(self, entry_id: tuple[int, int], data: bytes) -> None:
        self.ids.append(entry_id)
        self.data.append(data)
        self.last = entry_id

    def after(self, entry_id: str, count: int | None) -> list[tuple[str, bytes]]:
        start = bisect.bisect_right(self.ids, parse_id(entry_id))
        end = None if count is None else start + count
        return [(_text(found), data) for found, data in zip(self.ids[start:end], self.data[start:end], strict=True)]

    def keep_from(self, entry_id: str) -> None:
        start = bisect.bisect_left(self.ids, parse_id(entry_id))
        del self.ids[:start], self.data[:start]


class Hash(dict[str, bytes]):
    kind = HASH


class SortedSet(dict[str, int]):
    kind = SORTED_SET


class String(bytes):
    kind = STRING


AnyValue = Stream | Hash | SortedSet | String


def monotonic_ms() -> int:
    """A clock that begins somewhere: good for everything that compares only the store's own times."""
    return time.monotonic_ns() // 1_000_000


class MemoryStore:
    """All shards, shared by their logs. ``clock`` gives the store's milliseconds.

    With ``replicas`` it keeps durable marks; ``acknowledging`` False: the replicas do not answer.
    """

    def __init__(self, clock: Callable[[], int] = monotonic_ms, *, replicas: int = 0) -> None:
        self.replicas = replicas
        self.acknowledging = True
        self.clock = clock
        self.server_id = "memory-1"
        self.values: dict[str, AnyValue] = {}
        self.leases: dict[str, tuple[str, int]] = {}  # key -> owner, end
        self.workers: dict[str, dict[str, int]] = {}  # key -> worker -> end
        self.tickets: dict[str, int] = {}  # used ones -> end
        self._appended: dict[asyncio.Event, None] = {}  # in the order of their waiting, so that runs are alike

    def log(self, shard: str) -> "MemoryLog":
        return MemoryLog(self, shard)

    async def announce(self, service: Service, worker: str, ttl_ms: int) -> list[str]:
        now_ms = self.clock()
        workers = self.workers.setdefault(keys.workers(service), {})
        workers[worker] = now_ms + ttl_ms
        for gone in [name for name, end in workers.items() if end <= now_ms]:
            del workers[gone]
        return sorted(workers)

    async def withdraw(self, service: Service, worker: str) -> None:
        self.workers.get(keys.workers(service), {}).pop(worker, None)

    async def use_ticket(self, ticket_id: str, ttl_ms: int) -> bool:
        now_ms = self.clock()
        for gone in [name for name, end in self.tickets.items() if end <= now_ms]:
            del self.tickets[gone]
        first = ticket_id not in self.tickets
        if first:
            self.tickets[ticket_id] = now_ms + ttl_ms
        return first

    async def close(self) -> None:
        """Nothing is held."""

    def find(self, key: str, kind: type[Value]) -> Value | None:
        """The value of a key. Raises ValueError if it is of another kind."""
        value = self.values.get(key)
        if value is None or isinstance(value, kind):
            return value
        raise ValueError(f"{key} holds a {value.kind}")

    def put(self, key: str, kind: type[Value]) -> Value:
        value = self.find(key, kind)
        if value is None:
            value = kind()
            self.values[key] = value  # type: ignore[assignment]  # kind is one of AnyValue
        return value

    def append(self, stream: str, data: bytes, entry_id: str | None = None) -> str:
        found = self.put(stream, Stream)
        new = found.next_id(self.clock()) if entry_id is None else parse_id(entry_id)
        found.append(new, data)
        for appended in self._appended:
            appended.set()
        return _text(new)

    async def wait_for_append(self, seconds: float) -> None:
        appended = asyncio.Event()
        self._appended[appended] = None
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(appended.wait(), seconds)
        finally:
            self._appended.pop(appended, None)


class MemoryLog:
    """``Log`` on a ``MemoryStore``."""

    def __init__(self, store: MemoryStore, shard: str) -> None:
        self.shard = shard
        self._store = store

    # --- commits -----------------------------------------------------------------------------------------------

    async def fence(self, service: Service, nonce: str) -> Position:
        position = self._store.put(keys.position(self.shard, service), Hash)
        if position.get("nonce") != nonce.encode():
            position.update(fence_fields(position, nonce))
        self._mark(service, keys.outward(self.shard, service))
        return position_of(position)

    async def commit(self, commit: Commit) -> Outcome:
        plan = Plan(self.shard, commit)
        position = self._store.find(plan.position, Hash) or Hash()
        if position.get("nonce") == commit.nonce.encode():
            self._mark(commit.service, sent_outward(self.shard, plan))
            return Outcome.DONE
        if int(position.get("number", b"0")) != commit.number:
            return Outcome.FENCED
        self._check_kinds(plan)
        if any(not self._is_as_expected(stream, found) for stream, found in plan.streams.items()):
            return Outcome.FENCED
        self._write(plan)
        self._store.put(plan.position, Hash).update(position_fields(commit))
        self._mark(commit.service, sent_outward(self.shard, plan))
        return Outcome.COMMITTED

    def _mark(self, service: Service, streams: Sequence[str]) -> None:
        """The replicas have these streams, and the mark says so. Raises LogUnavailable when they do not answer."""
        if not self._store.replicas or not streams:
            return
        if not self._store.acknowledging:
            raise LogUnavailable("the replicas do not acknowledge")
        ends = {stream: _text(found.last) for stream in streams if (found := self._store.find(stream, Stream))}
        key = keys.durable(self.shard, service)
        marks = self._store.put(key, Stream)
        before = decode_mark(marks.data[-1]) if marks.data else {}
        marks.keep_from(self._store.append(key, encode_mark(before | ends)))

    def _check_kinds(self, plan: Plan) -> None:
        for key, kind in plan.kinds.items():
            found = self._store.values.get(key)
            if found is not None and (found.kind is STREAM if kind is DELETED else found.kind is not kind):
                raise BadCommit(f"{key} holds a {found.kind}")

    def _is_as_expected(self, stream: str, plan: StreamPlan) -> bool:
        found = self._store.find(stream, Stream)
        last = found.last if found else (0, 0)
        if plan.expected is not None:
            return last == parse_id(plan.expected)
        if plan.ids and parse_id(plan.ids[0]) <= last:
            raise BadCommit(f"{stream}: the id {plan.ids[0]} is not above {_text(last)}")
        return True

    def _write(self, plan: Plan) -> None:
        store, commit = self._store, plan.commit
        for key in commit.delete:
            store.values.pop(key, None)
        for key, fields in commit.hash_delete.items():
            self._remove(key, Hash, fields)
        for key, members in commit.zset_remove.items():
            self._remove(key, SortedSet, members)
        for key, values in commit.hash_set.items():
            store.put(key, Hash).update(values)
        for key, scores in commit.zset_add.items():
            store.put(key, SortedSet).update(scores)
        for key, value in commit.string_set.items():
            store.values[key] = String(value)
        for stream, found in plan.streams.items():
            for data, entry_id in itertools.zip_longest(found.data, found.ids):
                store.append(stream, data, entry_id)
            if found.keep_from is not None and (kept := store.find(stream, Stream)):
                kept.keep_from(found.keep_from)

    def _remove(self, key: str, kind: type[Hash] | type[SortedSet], names: Sequence[str]) -> None:
        found = self._store.find(key, kind)
        if found is None:
            return
        for name in names:
            found.pop(name, None)
        if not found:  # as in Redis, nothing is empty
            del self._store.values[key]

    async def append(self, stream: str, data: bytes) -> str:
        return (await self.append_many(stream, (data,)))[0]

    async def append_many(self, stream: str, data: Sequence[bytes]) -> list[str]:
        check_slot(self.shard, stream)
        self._store.find(stream, Stream)
        return [self._store.append(stream, one) for one in data]

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, cursors: Mapping[str, str], count: int, block_ms: int) -> list[Entry]:
        await asyncio.sleep(0)  # a reader that always finds something lets others run
        loop = asyncio.get_running_loop()
        end = loop.time() + block_ms / 1000
        while not (entries := self._after(cursors, count)) and (left := end - loop.time()) > 0:
            await self._store.wait_for_append(left)
        return entries

    async def read_batch(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        return Batch(await self.read(cursors, count, block_ms), self._store.clock())

    async def read_durable(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        if not self._store.replicas:
            return await self.read_batch(cursors, count, block_ms)
        marks = dict.fromkeys(marks_of(cursors), BEGINNING)
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        end = loop.time() + block_ms / 1000
        while True:
            entries = Bounds(self._after(marks, None)).within(self._after(cursors, count))
            if entries or (left := end - loop.time()) <= 0:
                return Batch(entries, self._store.clock())
            await self._store.wait_for_append(left)

    def _after(self, cursors: Mapping[str, str], count: int | None) -> list[Entry]:
        entries = []
        for stream, cursor in cursors.items():
            check_slot(self.shard, stream)
            if found := self._store.find(stream, Stream):
                entries += [Entry(stream, entry_id, data) for entry_id, data in found.after(cursor, count)]
        return entries

    async def range(self, stream: str, after: str = BEGINNING, count: int | None = None) -> list[Entry]:
        return self._after({stream: after}, count)

    async def last_id(self, stream: str) -> str:
        check_slot(self.shard, stream)
        found = self._store.find(stream, Stream)
        return _text(found.last) if found else BEGINNING

    async def now_ms(self) -> int:
        return self._store.clock()

    async def server_id(self) -> str:
        return self._store.server_id

    async def get(self, key: str) -> bytes | None:
        check_slot(self.shard, key)
        value = self._store.find(key, String)
        return None if value is None else bytes(value)

    async def hash_all(self, key: str) -> dict[str, bytes]:
        check_slot(self.shard, key)
        return dict(self._store.find(key, Hash) or {})

    async def hash_get(self, key: str, fields: Sequence[str]) -> list[bytes | None]:
        check_slot(self.shard, key)
        found = self._store.find(key, Hash) or Hash()
        return [found.get(field) for field in fields]

    async def due(self, key: str, until: int, count: int) -> list[tuple[str, int]]:
        check_slot(self.shard, key)
        members = self._store.find(key, SortedSet) or SortedSet()
        ready = sorted((score, member) for member, score in members.items() if score <= until)
        return [(member, score) for score, member in ready[:count]]

    # --- leases ------------------------------------------------------------------------------------------------

    async def acquire_lease(self, service: Service, owner: str, ttl_ms: int) -> bool:
        key, now_ms = keys.lease(self.shard, service), self._store.clock()
        holder, end = self._store.leases.get(key, ("", 0))
        if end > now_ms and holder != owner:
            return False
        self._store.leases[key] = (owner, now_ms + ttl_ms)
        return True

    async def release_lease(self, service: Service, owner: str) -> None:
        key = keys.lease(self.shard, service)
        if self._store.leases.get(key, ("", 0))[0] == owner:
            del self._store.leases[key]

    async def close(self) -> None:
        """Nothing is held."""


def _text(entry_id: tuple[int, int]) -> str:
    return f"{entry_id[0]}-{entry_id[1]}"
