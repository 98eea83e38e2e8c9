"""Entries that could not be handled, kept with their errors on ``keys.dead(shard, service)`` for an operator."""

import msgspec

from brelan.eventlog.log import Entry


class DeadEntry(msgspec.Struct, frozen=True, array_like=True, tag=True):
    stream: str
    id: str
    data: bytes
    error: str


MOST_BYTES = 65_536  # of an entry are kept
MOST_WORDS = 2_000  # characters of its error


def dead_entry(entry: Entry, error: str) -> DeadEntry:
    """Of one that is enormous the beginning: what is dead must not fill the store."""
    data = entry.data
    if len(data) > MOST_BYTES:
        data, error = data[:MOST_BYTES], f"(the first {MOST_BYTES} of {len(data)} bytes) {error}"
    return DeadEntry(entry.stream, entry.id, data, error[:MOST_WORDS])


encode_dead = msgspec.msgpack.Encoder().encode
decode_dead = msgspec.msgpack.Decoder(DeadEntry).decode
