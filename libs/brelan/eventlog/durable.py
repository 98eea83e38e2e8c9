"""Durable marks: how far the replicas have what a service sends to who is not on its shard (ARCHITECTURE §7).

The mark of a service is the one entry of the stream ``keys.durable``: for each of its outward streams the id up to
which the replicas have it. Only a store with replicas has marks. Both logs write and read them as it is said here.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.log import BEGINNING, Entry
from brelan.eventlog.plan import Plan, parse_id

Mark = dict[str, str]  # outward stream -> id

encode_mark = msgspec.msgpack.Encoder().encode
decode_mark = msgspec.msgpack.Decoder(Mark).decode


def marks_of(streams: Iterable[str]) -> tuple[str, ...]:
    """The streams of the marks that bound these. Raises ValueError for a stream that has none."""
    return tuple(dict.fromkeys(keys.durable_of(stream) for stream in streams))


def sent_outward(shard: str, plan: Plan) -> list[str]:
    """The outward streams to which a commit appends."""
    outward = keys.outward(shard, plan.commit.service)
    return [stream for stream in outward if stream in plan.streams and plan.streams[stream].data]


class Bounds:
    """What a reader knows of the marks."""

    def __init__(self, marks: Sequence[Entry] = ()) -> None:
        self.ids = {mark.stream: mark.id for mark in marks}
        self._ends: Mark = {}
        for mark in marks:
            self._ends |= decode_mark(mark.data)

    def reached(self, cursors: Mapping[str, str]) -> bool:
        """Whether nothing can be read before a mark moves."""
        return bool(self.ids) and all(self._end(stream) <= parse_id(cursor) for stream, cursor in cursors.items())

    def within(self, entries: Iterable[Entry]) -> list[Entry]:
        return [entry for entry in entries if parse_id(entry.id) <= self._end(entry.stream)]

    def _end(self, stream: str) -> tuple[int, int]:
        return parse_id(self._ends.get(stream, BEGINNING))
