"""A commit, checked as far as it can be without the store, and grouped by key.

Both logs write from it. What is found here can never be applied: BadCommit.
"""

from collections.abc import Iterable

from brelan.eventlog import keys
from brelan.eventlog.log import BEGINNING, BadCommit, Commit

STREAM, HASH, SORTED_SET, STRING, DELETED = "stream", "hash", "zset", "string", "none"


def parse_id(text: str) -> tuple[int, int]:
    """``"12-3"`` to ``(12, 3)``. Raises ValueError."""
    first, _, second = text.partition("-")
    return int(first), int(second)


def check_slot(shard: str, key: str) -> None:
    """Raises ValueError for a key that is not the shard's."""
    if not key.startswith(keys.prefix(shard)):
        raise ValueError(f"the key {key!r} does not belong to shard {shard}")


class StreamPlan:
    """What happens to one stream."""

    __slots__ = ("data", "expected", "ids", "keep_from")

    def __init__(self) -> None:
        self.expected: str | None = None
        self.ids: list[str] = []  # explicit ones: empty, or one for each entry
        self.data: list[bytes] = []
        self.keep_from: str | None = None

    def check(self, stream: str) -> None:
        if not self.ids:
            return
        if len(self.ids) != len(self.data):
            raise BadCommit(f"{stream}: explicit ids and the server's own do not go together in one commit")
        top = parse_id(self.expected or BEGINNING)
        for text in self.ids:
            following = parse_id(text)
            if following <= top:
                raise BadCommit(f"{stream}: the id {text} is not above {top[0]}-{top[1]}")
            top = following


class Plan:
    """A commit's position and streams, and the kind that each of its keys must have (or be absent)."""

    __slots__ = ("commit", "kinds", "position", "streams")

    def __init__(self, shard: str, commit: Commit) -> None:
        self.commit = commit
        self.position = keys.position(shard, commit.service)
        self.streams = _streams(commit)
        self.kinds: dict[str, str] = {}
        self._note(commit.delete, DELETED)
        self._note(self.streams, STREAM)
        self._note(commit.hash_set, HASH)
        self._note(commit.hash_delete, HASH)
        self._note(commit.zset_add, SORTED_SET)
        self._note(commit.zset_remove, SORTED_SET)
        self._note(commit.string_set, STRING)
        self._check_slots(shard)

    def _note(self, names: Iterable[str], kind: str) -> None:
        for name in names:
            before = self.kinds.get(name, DELETED)
            if before is not kind and (before is not DELETED or (kind is STREAM and name in self.kinds)):
                raise BadCommit(f"{name} cannot be a {before} and a {kind} at once")
            self.kinds[name] = kind

    def _check_slots(self, shard: str) -> None:
        tag = keys.prefix(shard)
        for name in self.kinds:
            if not name.startswith(tag):
                raise BadCommit(f"the key {name!r} does not belong to shard {shard}")
        if self.position in self.kinds:
            raise BadCommit(f"{self.position} is written by the commit itself")


def _streams(commit: Commit) -> dict[str, StreamPlan]:
    streams: dict[str, StreamPlan] = {}
    for stream, last_id in commit.expect.items():
        streams[stream] = plan = StreamPlan()
        plan.expected = last_id
    for append in commit.appends:
        found = streams.get(append.stream)
        if found is None:
            found = streams[append.stream] = StreamPlan()
        found.data.append(append.data)
        if append.id is not None:
            found.ids.append(append.id)
    for stream, oldest_id in commit.trim.items():
        streams.setdefault(stream, StreamPlan()).keep_from = oldest_id
    for stream, plan in streams.items():
        plan.check(stream)
    return streams
