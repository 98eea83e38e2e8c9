"""Redis servers in memory, each with a replica some writes behind, and the doors through which processes reach them."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.durable import Bounds, marks_of
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Batch, Commit, Entry, LogUnavailable, Outcome, Position
from brelan.eventlog.memory_log import AnyValue, Hash, MemoryLog, MemoryStore, SortedSet, Stream
from brelan.sim.faults import Faults, die
from brelan.sim.processes import Process

LATENCY_SECONDS = 0.002

Result = TypeVar("Result")


class Watching(Protocol):
    """Who is told of every write at the moment it is applied, and may end the world before any call."""

    def step(self) -> None:
        """Before a call. Raises Killed when the world is over."""

    def fenced(self, shard: str, service: Service) -> None: ...

    def committed(self, shard: str, commit: Commit) -> None: ...

    def appended(self, shard: str, stream: str, data: Sequence[bytes], ids: Sequence[str]) -> None: ...

    def replaced(self, node: "Node") -> None:
        """The server is another one, and lacks what the old one had not replicated."""


class Operation(msgspec.Struct, frozen=True):
    """A write as a replica gets it. ``marked``: the durable mark was moved with it."""

    now_ms: int
    shard: str
    what: Commit | tuple[Service, str] | tuple[str, tuple[bytes, ...]]
    marked: bool


class Node(MemoryStore):
    """A Redis server, master of some shards."""

    def __init__(self, clock: Callable[[], int], name: str, replicas: int) -> None:
        super().__init__(clock, replicas=replicas)
        self.name = name
        self.server_id = f"{name}-1"
        self.away = False
        self.lag = 0  # how many operations the replica is behind, at most
        self._servers = 1
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}
        self._late: deque[Operation] = deque()
        self._replica_ms = 0
        self._replica = MemoryStore(lambda: self._replica_ms, replicas=replicas)

    async def wait_for(self, streams: Sequence[str], seconds: float) -> None:
        """Until something is appended to one of them, or the time is over."""
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()
        for stream in streams:
            self._waiting.setdefault(stream, {})[woken] = None
        timer = loop.call_later(seconds, _wake, woken)
        try:
            await woken
        finally:
            timer.cancel()
            for stream in streams:
                del self._waiting[stream][woken]

    def append(self, stream: str, data: bytes, entry_id: str | None = None) -> str:
        for woken in self._waiting.get(stream, ()):
            _wake(woken)
        return super().append(stream, data, entry_id)

    def wrote(self, operation: Operation) -> None:
        self._late.append(operation)
        self._replicate(self.lag)

    def wrote_all(self) -> None:
        """It was waited for until the replica had everything."""
        self._replicate(0)

    def _replicate(self, behind: int) -> None:
        while len(self._late) > behind:
            operation = self._late.popleft()
            self._replica_ms = operation.now_ms
            self._replica.acknowledging = operation.marked
            log = MemoryLog(self._replica, operation.shard)
            match operation.what:
                case Commit() as commit:
                    _at_once(log.commit(commit))
                case (Service() as service, str(nonce)):
                    _at_once(log.fence(service, nonce))
                case (str(stream), data):
                    _at_once(log.append_many(stream, data))

    def scribble(self, shard: str, stream: str, data: bytes) -> None:
        """Somebody writes there by hand."""
        _at_once(MemoryLog(self, shard).append(stream, data))
        self.wrote(Operation(self.clock(), shard, (stream, (data,)), marked=True))

    def fail_over(self) -> int:
        """The replica is the master now. How many operations are lost."""
        lost = len(self._late)
        self._late.clear()
        self.values = self._replica.values
        self._replica.values = {key: _copied(value) for key, value in self.values.items()}
        self.leases.clear()
        self._restarted()
        return lost

    def restart(self) -> None:
        """Nothing is lost: every write was on the disk."""
        self._replicate(0)
        self._restarted()

    def _restarted(self) -> None:
        for waiting in self._waiting.values():
            for woken in waiting:
                _wake(woken)
        self._servers += 1
        self.server_id = f"{self.name}-{self._servers}"


def _wake(woken: "asyncio.Future[None]") -> None:
    if not woken.done():
        woken.set_result(None)


def _copied(value: AnyValue) -> AnyValue:
    match value:
        case Stream():
            stream = Stream()
            stream.ids, stream.data, stream.last = list(value.ids), list(value.data), value.last
            return stream
        case Hash():
            return Hash(value)
        case SortedSet():
            return SortedSet(value)
        case _:
            return value


def _at_once(call: Coroutine[Any, Any, object]) -> None:
    """Runs what never waits. That a replica's replica does not answer is nothing to it."""
    try:
        call.send(None)
    except (StopIteration, LogUnavailable):
        return
    raise AssertionError("the log in memory waited")


class Servers:
    """All nodes of a room: which shard is on which, and who watches."""

    def __init__(self, nodes: Sequence[Node], faults: Faults, watching: Watching) -> None:
        self.nodes = tuple(nodes)
        self.faults = faults
        self.watching = watching

    def node_of(self, shard: str) -> Node:
        number = int(shard[1:]) + 1 if shard[1:].isdigit() else 0
        return self.nodes[number % len(self.nodes)]

    def door(self, process: Process) -> "Door":
        return Door(self, process)


class Door:
    """``Store`` for one process."""

    def __init__(self, servers: Servers, process: Process) -> None:
        self._servers = servers
        self._process = process

    def log(self, shard: str) -> "DoorLog":
        return DoorLog(self._servers, self._process, shard)

    async def announce(self, service: Service, worker: str, ttl_ms: int) -> list[str]:
        return await self._servers.node_of("room").announce(service, worker, ttl_ms)

    async def withdraw(self, service: Service, worker: str) -> None:
        await self._servers.node_of("room").withdraw(service, worker)

    async def use_ticket(self, ticket_id: str, ttl_ms: int) -> bool:
        return await self._servers.node_of("room").use_ticket(ticket_id, ttl_ms)

    async def close(self) -> None:
        """Nothing is held."""


class DoorLog(MemoryLog):
    """The log of a shard, as a process reaches it: late, in vain, or with its last act."""

    def __init__(self, servers: Servers, process: Process, shard: str) -> None:
        self.node = servers.node_of(shard)
        super().__init__(self.node, shard)
        self._servers = servers
        self._faults = servers.faults
        self._process = process

    # --- writes ------------------------------------------------------------------------------------------------

    async def commit(self, commit: Commit) -> Outcome:
        outcome = await self._send(commit, lambda: MemoryLog.commit(self, commit))
        if outcome is Outcome.COMMITTED and commit.cursors:
            self._process.progressed()
        return outcome

    async def fence(self, service: Service, nonce: str) -> Position:
        return await self._send((service, nonce), lambda: MemoryLog.fence(self, service, nonce))

    async def append_many(self, stream: str, data: Sequence[bytes]) -> list[str]:
        return await self._send((stream, tuple(data)), lambda: MemoryLog.append_many(self, stream, data))

    async def _send(
        self,
        what: Commit | tuple[Service, str] | tuple[str, tuple[bytes, ...]],
        call: Callable[[], Coroutine[Any, Any, Result]],
    ) -> Result:
        await self._enter()
        server = self.node.server_id
        faults, rate = self._faults, self._faults.rates.commit
        if self._strikes_dead("crash_before_commit", rate):
            die()
        if faults.strikes("lost_commit", rate):
            raise LogUnavailable("the connection broke")
        inside = self._process.may_die and faults.strikes("crash_in_commit", rate)
        if inside and faults.chance.random() < 0.5:
            self._process.place.kill(self._soon())
            die()
        result = await self._apply(what, call)
        if inside:
            self._process.place.kill(self._soon())
            die()
        if self._strikes_dead("crash_after_commit", rate):
            die()
        if faults.strikes("lost_reply", rate):
            raise LogUnavailable("the connection broke")
        await self._linger()
        self._process.check()
        self._same_server(server)
        return result

    async def _apply(
        self,
        what: Commit | tuple[Service, str] | tuple[str, tuple[bytes, ...]],
        call: Callable[[], Coroutine[Any, Any, Result]],
    ) -> Result:
        node, before = self.node, self._marks()
        try:
            result = await call()
        except LogUnavailable:  # it is there, and the replicas did not acknowledge it
            self._note(Operation(node.clock(), self.shard, what, marked=False), what, Outcome.COMMITTED)
            raise
        moved = self._marks() != before
        self._note(Operation(node.clock(), self.shard, what, marked=True), what, result)
        if moved:
            node.wrote_all()
        return result

    def _marks(self) -> tuple[object, ...]:
        found = (
            self.node.find(keys.durable(self.shard, service), Stream) for service in (Service.TABLE, Service.DEALER)
        )
        return tuple(stream.last if stream else None for stream in found)

    def _note(self, operation: Operation, what: object, result: object) -> None:
        watching = self._servers.watching
        match what, result:
            case Commit() as commit, Outcome.COMMITTED:
                self.node.wrote(operation)
                watching.committed(self.shard, commit)
            case (str(stream), tuple(data)), list(ids):
                self.node.wrote(operation)
                watching.appended(self.shard, stream, data, ids)
            case Commit(), _:
                pass
            case (Service() as service, _), _:
                self.node.wrote(operation)
                watching.fenced(self.shard, service)
            case _:
                self.node.wrote(operation)

    def _strikes_dead(self, kind: str, rate: float) -> bool:
        if not (self._process.may_die and self._faults.strikes(kind, rate)):
            return False
        self._process.place.kill(self._soon())
        return True

    def _soon(self) -> float:
        return self._faults.chance.uniform(0.05, 2.5)

    # --- on the way --------------------------------------------------------------------------------------------

    async def _enter(self) -> None:
        self._servers.watching.step()
        await self._process.door()
        await self._linger()
        if self._faults.strikes("slow_store", self._faults.rates.slow):
            await asyncio.sleep(self._faults.chance.uniform(0.5, 3.0))
        await self._process.door()
        if self.node.away:
            raise LogUnavailable(f"{self.node.name} does not answer")

    def _same_server(self, server: str) -> None:
        """Who waits for an answer when the server goes hears of it; who does not may never know."""
        if self.node.server_id != server:
            raise LogUnavailable("the connection broke")

    async def _linger(self) -> None:
        chance = self._faults.chance
        if chance.random() < 0.2:
            await asyncio.sleep(chance.random() * LATENCY_SECONDS)

    # --- reads -------------------------------------------------------------------------------------------------

    async def read(self, cursors: Mapping[str, str], count: int, block_ms: int) -> list[Entry]:
        return await self._read((*cursors,), lambda: self._after(cursors, count), block_ms)

    async def read_durable(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        if not self.node.replicas:
            return await self.read_batch(cursors, count, block_ms)
        marks = dict.fromkeys(marks_of(cursors), BEGINNING)

        def found() -> list[Entry]:
            return Bounds(self._after(marks, None)).within(self._after(cursors, count))

        return Batch(await self._read((*cursors, *marks), found, block_ms), self.node.clock())

    async def _read(self, streams: Sequence[str], found: Callable[[], list[Entry]], block_ms: int) -> list[Entry]:
        """As in the log in memory, but who waits is woken by his own streams only: there are many who wait."""
        await self._enter()
        server, loop = self.node.server_id, asyncio.get_running_loop()
        await asyncio.sleep(0)
        end = loop.time() + block_ms / 1000
        while not (entries := found()) and (left := end - loop.time()) > 0 and self.node.server_id == server:
            await self.node.wait_for(streams, left)
        self._same_server(server)
        return entries

    async def range(self, stream: str, after: str = "0-0", count: int | None = None) -> list[Entry]:
        await self._enter()
        return await super().range(stream, after, count)

    async def last_id(self, stream: str) -> str:
        await self._enter()
        return await super().last_id(stream)

    async def now_ms(self) -> int:
        await self._enter()
        return await super().now_ms()

    async def server_id(self) -> str:
        await self._enter()
        return await super().server_id()

    async def get(self, key: str) -> bytes | None:
        await self._enter()
        return await super().get(key)

    async def hash_all(self, key: str) -> dict[str, bytes]:
        await self._enter()
        return await super().hash_all(key)

    async def hash_get(self, key: str, fields: Sequence[str]) -> list[bytes | None]:
        await self._enter()
        return await super().hash_get(key, fields)

    async def due(self, key: str, until: int, count: int) -> list[tuple[str, int]]:
        await self._enter()
        return await super().due(key, until, count)
