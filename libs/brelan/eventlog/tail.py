"""What a reader outside the shard knows of the end of a stream, to notice when it is lost (ADR 0008).

The reader keeps id and digest of the last entry it took, where its own output goes. When it comes back to the stream,
after an interruption or a restart, it looks whether that entry is still the one it was.
"""

import hashlib
from enum import Enum

import msgspec

from brelan.eventlog.log import Entry, Log
from brelan.eventlog.plan import parse_id

LARGEST_SEQUENCE = 2**64 - 1


class Tail(Enum):
    THERE = "there"
    TRIMMED = "trimmed"  # what came next may be trimmed too: nothing is known of it
    LOST = "lost"  # the entry is gone or is another one: a fail-over, or a restored backup


class Taken(msgspec.Struct, frozen=True):
    """The last entry a reader took of a stream."""

    stream: str
    id: str
    digest: bytes  # b"": not kept


def taken(entry: Entry) -> Taken:
    return Taken(entry.stream, entry.id, digest(entry.data))


def digest(data: bytes) -> bytes:
    """8 bytes: enough to tell an entry from another one under the same id."""
    return hashlib.blake2b(data, digest_size=8).digest()


async def newest(log: Log, stream: str) -> Taken | None:
    """The entry that ends the stream. None: it is empty, or trimmed to its end."""
    last_id = await log.last_id(stream)
    found = await log.range(stream, after=_before(last_id), count=1)
    return taken(found[0]) if found else None


async def look_back(log: Log, last: Taken) -> Tail:
    """Raises LogUnavailable."""
    found = await log.range(last.stream, after=_before(last.id), count=1)
    if found and found[0].id == last.id:
        return Tail.THERE if last.digest in (b"", digest(found[0].data)) else Tail.LOST
    if not found and parse_id(await log.last_id(last.stream)) < parse_id(last.id):
        return Tail.LOST
    older = await log.range(last.stream, count=1)
    return Tail.LOST if older and parse_id(older[0].id) < parse_id(last.id) else Tail.TRIMMED


def _before(entry_id: str) -> str:
    first, second = parse_id(entry_id)
    if second:
        return f"{first}-{second - 1}"
    return f"{first - 1}-{LARGEST_SEQUENCE}" if first else "0-0"
