"""What history makes of a batch of one shard: entries in, one page of the archive out. Pure.

``Shelf`` is the shard's state: a fold for every table heard of. It can be dropped at any time; ``missing`` says what
has to be read before an entry can be folded.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.log import Entry
from brelan.eventlog.tail import Taken, taken
from brelan.events import envelope
from brelan.events.bounds import check_storable, error_text
from brelan.events.dealing import HandRecord, SealedRecord
from brelan.events.envelope import TableCommitted
from brelan.histories.archive import DeadEntry, Lost, Page
from brelan.histories.table import StoredHand, TableFold, TableMark

OpenRecord = Callable[[SealedRecord], HandRecord]


class Gap(msgspec.Struct, frozen=True):
    """Versions of a table's log that have to be read before entry ``before``: after ``after``."""

    table_id: str
    after: int
    before: int


class Batch(msgspec.Struct):
    """A batch as it was understood."""

    entries: Sequence[Entry]
    committed: list[tuple[Entry, TableCommitted]] = []
    records: list[HandRecord] = []
    dead: list[DeadEntry] = []

    @property
    def read(self) -> dict[str, Taken]:
        """The last one of each stream."""
        last = {entry.stream: entry for entry in self.entries}
        return {stream: taken(entry) for stream, entry in last.items()}


def understand(shard: str, entries: Sequence[Entry], open_record: OpenRecord) -> Batch:
    """Refusals and repeated answers pass by; whatever cannot be read is dead."""
    batch = Batch(entries)
    for entry in entries:
        try:
            if entry.stream == keys.records(shard):
                batch.records.append(_record(entry, open_record))
                continue
            message = envelope.decode_feed(entry.data)
            if isinstance(message, TableCommitted):
                keys.shard_of(message.table_id)
                check_storable((message.table_id, message.epoch, message.version, message.at_ms))
                batch.committed.append((entry, message))
        except Exception as error:  # noqa: BLE001 - whatever an entry does to us must not stop its shard
            batch.dead.append(bury(entry, error))
    return batch


def bury(entry: Entry, error: Exception) -> DeadEntry:
    return DeadEntry(entry.stream, entry.id, entry.data, error_text(error))


def _record(entry: Entry, open_record: OpenRecord) -> HandRecord:
    sealed = envelope.decode_sealed_record(entry.data)
    check_storable((sealed.table_id, sealed.hand_id))
    record = open_record(sealed)
    if (record.table_id, record.hand_id) != (sealed.table_id, sealed.hand_id):
        raise ValueError(f"the record sealed for {sealed.hand_id} is of {record.hand_id}")
    return record


class Shelf:
    """The tables of a shard, as far as this worker has read."""

    def __init__(self) -> None:
        self._folds: dict[str, TableFold] = {}

    def knows(self, table_id: str) -> bool:
        return table_id in self._folds

    def add(self, fold: TableFold) -> None:
        self._folds[fold.table_id] = fold

    def fold(self, table_id: str) -> TableFold:
        return self._folds[table_id]

    def missing(self, committed: TableCommitted) -> Gap | None:
        """What lies between what was folded and this entry: when a worker starts in the middle of a hand."""
        fold = self._folds[committed.table_id]
        if committed.epoch < fold.epoch or committed.version <= fold.version + 1:
            return None
        return Gap(committed.table_id, fold.version, committed.version)

    def take(self, entry: Entry, committed: TableCommitted, kept: "Kept") -> None:
        """Fold one entry. One that was folded before passes by."""
        fold = self._folds[committed.table_id]
        if committed.epoch < fold.epoch or committed.version <= fold.version:
            return
        fold.epoch = committed.epoch
        if committed.version > fold.version + 1:
            kept.notes.append(f"{fold.table_id}: versions {fold.version + 1} to {committed.version - 1} are gone")
            fold.skip(committed.version - 1)
        try:
            hands = fold.apply(committed, entry.data)
            check_storable([hand.history for hand in hands])
        except Exception as error:  # noqa: BLE001 - whatever an entry does to us must not stop its shard
            kept.dead.append(bury(entry, error))
            fold.skip(committed.version)
            kept.marks[fold.table_id] = fold.mark
            return
        if hands:
            kept.hands += hands
            kept.marks[fold.table_id] = fold.mark


class Kept(msgspec.Struct):
    """What a batch leads to."""

    hands: list[StoredHand] = []
    marks: dict[str, TableMark] = {}
    dead: list[DeadEntry] = []
    lost: list[Lost] = []
    notes: list[str] = []  # for the log

    def page(self, shard: str, page: int, batch: Batch, read: Mapping[str, Taken]) -> Page:
        """``read``: the last entry taken of each inbox."""
        return Page(
            shard,
            page,
            {stream: last.id for stream, last in read.items()},
            self.hands,
            batch.records,
            tuple(self.marks.values()),
            (*batch.dead, *self.dead),
            self.lost,
            {stream: last.digest for stream, last in read.items()},
        )


def without(page: Page, hand_ids: Collection[str]) -> Page:
    """The page less these hands; their entries are put with the dead instead."""
    refused = [hand for hand in page.hands if hand.history.hand_id in hand_ids]
    dead = [
        DeadEntry(
            keys.table_log(hand.history.table_id),
            f"{entry.version}-0",
            entry.data,
            f"hand {hand.history.hand_id} is in the archive already",
        )
        for hand in refused
        for entry in hand.entries
    ]
    hands = [hand for hand in page.hands if hand not in refused]
    return msgspec.structs.replace(page, hands=hands, dead=[*page.dead, *dead])
