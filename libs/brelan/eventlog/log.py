"""The event log of one shard: read entries, commit their consequences all at once.

``Log`` is what services see; ``RedisLog`` (redis_log) and ``MemoryLog`` (memory_log) implement it and pass one contract
suite. Streams and keys are named by ``brelan.eventlog.keys``; a log refuses keys of another shard's slot.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

import msgspec

from brelan.eventlog.keys import Service

BEGINNING = "0-0"


class Entry(msgspec.Struct, frozen=True):
    stream: str
    id: str  # "<ms>-<seq>" or, in a table's log, "<version>-0"
    data: bytes

    @property
    def at_ms(self) -> int:
        """When the server appended it, for streams with the server's own ids; the version, in a table's log."""
        return int(self.id.partition("-")[0])


class Append(msgspec.Struct, frozen=True):
    stream: str
    data: bytes
    id: str | None = None  # None: the server's next id


class Batch(msgspec.Struct, frozen=True):
    """What a processor read, and the store's clock when it did."""

    entries: list[Entry]
    now_ms: int


class Attempt(msgspec.Struct, frozen=True):
    """An entry that is being handled alone because it may have killed its workers (ARCHITECTURE §1, Poison)."""

    entry: str  # "<stream>/<id>"
    owners: tuple[str, ...]  # who have noted it, and have not come back since


class Position(msgspec.Struct, frozen=True):
    """Where a service stands on a shard: what the next commit must find there."""

    number: int
    cursors: dict[str, str]  # stream -> id of the last entry consumed
    takeovers: int = 0  # how many others have taken over since a commit last moved a cursor
    attempt: Attempt | None = None  # noted by the last commit, if it was a note of this kind; whoever fences lives


class Commit(msgspec.Struct, frozen=True):
    """All that follows from a batch. It is applied whole, or not at all.

    Applied in this order: deletions, then what is removed from hashes and sets, then what is put there, then appends,
    then trimming. ``processor.Outputs`` builds one in which the last word on a key, field or member counts.
    """

    service: Service
    number: int  # the Position.number this commit was decided at
    nonce: str  # unique to this commit: sending it again is answered DONE
    cursors: Mapping[str, str] = {}
    expect: Mapping[str, str] = {}  # stream -> the last id it must have ("0-0": it must be empty)
    appends: Sequence[Append] = ()
    hash_set: Mapping[str, Mapping[str, bytes]] = {}
    hash_delete: Mapping[str, Sequence[str]] = {}
    zset_add: Mapping[str, Mapping[str, int]] = {}
    zset_remove: Mapping[str, Sequence[str]] = {}
    string_set: Mapping[str, bytes] = {}
    delete: Sequence[str] = ()  # never a stream: deleting one would forget its last id
    trim: Mapping[str, str] = {}  # stream -> the oldest id that stays
    attempt: Attempt | None = None


class Outcome(Enum):
    COMMITTED = "committed"
    DONE = "done"  # this very commit had been applied before
    FENCED = "fenced"  # somebody else committed since: reload everything


class LogUnavailable(Exception):
    """The store cannot be reached or refused for lack of room; whether a commit took effect may be unknown."""


class BadCommit(ValueError):
    """It can never be applied: a key of another shard, a key that holds another kind of value, an id out of order."""


class Log(Protocol):
    """One shard. Every method may raise LogUnavailable; nothing else about the outside world leaks through.

    A key of another shard's slot is a ValueError (in a commit, BadCommit) and nothing is written.
    """

    shard: str

    async def fence(self, service: Service, nonce: str) -> Position:
        """Take the shard over: an empty commit that fences every earlier owner. Read nothing before it.

        With replicas the durable mark is renewed: all that is in the log now has reached them, else LogUnavailable.
        """

    async def commit(self, commit: Commit) -> Outcome:
        """With replicas, what goes outside the shard has reached them and the mark has moved; else LogUnavailable.

        FENCED also when a stream does not end where ``expect`` says: what was decided on is not what is there.
        """

    async def append(self, stream: str, data: bytes) -> str:
        """Append to an inbox (gateway, timer). Not idempotent: a lost reply leaves it unknown whether it was stored."""

    async def append_many(self, stream: str, data: Sequence[bytes]) -> list[str]: ...

    async def read(self, cursors: Mapping[str, str], count: int, block_ms: int) -> list[Entry]:
        """Entries after the cursors, at most ``count`` of each stream; waits up to ``block_ms`` (0: not at all)."""

    async def read_batch(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        """``read``, and the store's clock after it."""

    async def read_durable(self, cursors: Mapping[str, str], count: int, block_ms: int) -> Batch:
        """``read_batch`` of outward streams, for who is not on this shard: no further than the durable marks.

        In a store without replicas it is ``read_batch``.
        """

    async def range(self, stream: str, after: str = BEGINNING, count: int | None = None) -> list[Entry]: ...

    async def last_id(self, stream: str) -> str:
        """The id of the newest entry ever appended (trimming keeps it), "0-0" for an empty stream."""

    async def now_ms(self) -> int:
        """The store's clock."""

    async def server_id(self) -> str:
        """Which server's memory this is: another one after every restart and fail-over."""

    async def get(self, key: str) -> bytes | None: ...

    async def hash_all(self, key: str) -> dict[str, bytes]: ...

    async def hash_get(self, key: str, fields: Sequence[str]) -> list[bytes | None]: ...

    async def due(self, key: str, until: int, count: int) -> list[tuple[str, int]]:
        """Members of a sorted set with a score up to ``until``, lowest first, with their scores."""

    async def acquire_lease(self, service: Service, owner: str, ttl_ms: int) -> bool:
        """Take or renew the lease. True when ``owner`` holds it now."""

    async def release_lease(self, service: Service, owner: str) -> None: ...

    async def close(self) -> None: ...


class Store(Protocol):
    """All shards, and who works on them. ``RedisStore`` and ``MemoryStore``."""

    def log(self, shard: str) -> Log: ...

    async def announce(self, service: Service, worker: str, ttl_ms: int) -> list[str]:
        """Say that this worker lives; the names of all that do, sorted."""

    async def withdraw(self, service: Service, worker: str) -> None: ...

    async def use_ticket(self, ticket_id: str, ttl_ms: int) -> bool:
        """True the first time, whoever asks; remembered for so long. Raises LogUnavailable: then it counts as used."""

    async def close(self) -> None: ...
