"""What a handler decides: a commit in the making.

The last word on a key, field or member counts: a field set and then deleted is deleted, a hash deleted and then filled
holds only what was filled in afterwards. Of several expectations of one stream the first counts, for that is the state
the batch was decided on.
"""

from collections.abc import Mapping

from brelan.eventlog.keys import Service
from brelan.eventlog.log import Append, Attempt, Commit


class Outputs:
    """Everything a ``Commit`` carries except service, number, nonce and cursors."""

    __slots__ = (
        "appends",
        "deleted",
        "expected",
        "fields_deleted",
        "fields_set",
        "members_added",
        "members_removed",
        "strings",
        "trims",
    )

    def __init__(self) -> None:
        self.appends: list[Append] = []
        self.expected: dict[str, str] = {}
        self.fields_set: dict[str, dict[str, bytes]] = {}
        self.fields_deleted: dict[str, dict[str, None]] = {}
        self.members_added: dict[str, dict[str, int]] = {}
        self.members_removed: dict[str, dict[str, None]] = {}
        self.strings: dict[str, bytes] = {}
        self.deleted: dict[str, None] = {}
        self.trims: dict[str, str] = {}

    def __bool__(self) -> bool:
        """Whether anything would be written."""
        return any(getattr(self, name) for name in self.__slots__)

    def append(self, stream: str, data: bytes, id: str | None = None) -> None:  # noqa: A002 - its name in the store
        """``id``: "<version>-0" in a table's log; None for the server's next id."""
        self.appends.append(Append(stream, data, id))

    def expect(self, stream: str, last_id: str) -> None:
        """The stream must end with this id ("0-0": be empty), else the commit is FENCED."""
        self.expected.setdefault(stream, last_id)

    def hash_set(self, key: str, field: str, value: bytes) -> None:
        self.fields_set.setdefault(key, {})[field] = value
        if gone := self.fields_deleted.get(key):
            gone.pop(field, None)

    def hash_delete(self, key: str, field: str) -> None:
        self.fields_deleted.setdefault(key, {})[field] = None
        if there := self.fields_set.get(key):
            there.pop(field, None)

    def zset_add(self, key: str, member: str, score: int) -> None:
        self.members_added.setdefault(key, {})[member] = score
        if gone := self.members_removed.get(key):
            gone.pop(member, None)

    def zset_remove(self, key: str, member: str) -> None:
        self.members_removed.setdefault(key, {})[member] = None
        if there := self.members_added.get(key):
            there.pop(member, None)

    def string_set(self, key: str, value: bytes) -> None:
        self.strings[key] = value

    def delete(self, key: str) -> None:
        """A hash, sorted set or string, whole. Streams are trimmed instead."""
        self.deleted[key] = None
        for kept in (
            self.fields_set,
            self.fields_deleted,
            self.members_added,
            self.members_removed,
            self.strings,
        ):
            kept.pop(key, None)

    def trim(self, stream: str, oldest_id: str) -> None:
        """Forget entries before ``oldest_id``."""
        self.trims[stream] = oldest_id

    def commit(
        self,
        service: Service,
        number: int,
        nonce: str,
        cursors: Mapping[str, str],
        attempt: Attempt | None = None,
    ) -> Commit:
        return Commit(
            service=service,
            number=number,
            nonce=nonce,
            cursors=cursors,
            expect=self.expected,
            appends=self.appends,
            hash_set={key: fields for key, fields in self.fields_set.items() if fields},
            hash_delete={key: tuple(fields) for key, fields in self.fields_deleted.items() if fields},
            zset_add={key: members for key, members in self.members_added.items() if members},
            zset_remove={key: tuple(members) for key, members in self.members_removed.items() if members},
            string_set=self.strings,
            delete=tuple(self.deleted),
            trim=self.trims,
            attempt=attempt,
        )
