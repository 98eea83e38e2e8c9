"""Where finished hands are kept: one writer a shard, one transaction a page.

``brelan.sql.archive.SqlArchive`` and ``MemoryArchive`` pass one suite of tests. What a page holds and how far the
inboxes were read is written whole or not at all, and only by the writer that opened the shard last.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from brelan.eventlog import keys
from brelan.events.dealing import HandRecord, SeatRecord
from brelan.events.envelope import decode_committed
from brelan.histories.hand import HandHistory
from brelan.histories.table import StoredEntry, StoredHand, TableMark


class DeadEntry(msgspec.Struct, frozen=True):
    """An entry that could not be handled."""

    stream: str
    entry_id: str
    data: bytes
    error: str


class Opened(msgspec.Struct, frozen=True):
    """``digests`` of the entries the cursors name: a reader that comes back knows them again by these."""

    page: int
    cursors: dict[str, str]
    digests: dict[str, bytes] = {}


class Lost(msgspec.Struct, frozen=True):
    """The table's log went on otherwise from ``version``: what was kept from there on did not happen (ADR 0008)."""

    table_id: str
    version: int
    hand_ids: tuple[str, ...]  # those that had ended there


class Page(msgspec.Struct, frozen=True):
    """``page``: the number the writer was given by ``open``, one more after every page.

    What was lost is taken out first: its entries stay with the dead.
    """

    shard: str
    page: int
    cursors: Mapping[str, str] = {}
    hands: Sequence[StoredHand] = ()
    records: Sequence[HandRecord] = ()
    marks: Sequence[TableMark] = ()
    dead: Sequence[DeadEntry] = ()
    lost: Sequence[Lost] = ()
    digests: Mapping[str, bytes] = {}


class ArchiveUnavailable(Exception):
    """The store cannot be reached or refused; whether a page was written may be unknown: open again, and see."""


class Refused(Exception):
    """New hands whose ids are in the archive already; nothing was written."""

    def __init__(self, hand_ids: Sequence[str]) -> None:
        super().__init__(f"in the archive already: {', '.join(hand_ids)}")
        self.hand_ids = tuple(hand_ids)


class Archive(Protocol):
    """Every method may raise ArchiveUnavailable."""

    async def open(self, shard: str) -> Opened:
        """Become the shard's writer: every earlier one is fenced off."""

    async def mark(self, table_id: str) -> TableMark | None: ...

    async def history(self, hand_id: str) -> HandHistory | None: ...

    async def kept_from(self, table_id: str, version: int) -> list[tuple[str, StoredEntry]]:
        """What is kept of the table's log from this version on, each with its hand, in order."""

    async def kept_until(self, table_id: str, version: int) -> tuple[str, StoredEntry] | None:
        """The last entry kept before this version, and its hand."""

    async def write(self, page: Page) -> bool:
        """False: somebody else opened the shard since, and nothing was written. Raises Refused too."""

    async def close(self) -> None: ...


def new_hands(page: Page) -> list[str]:
    return [hand.history.hand_id for hand in page.hands if hand.new]


def lost_entry(table_id: str, entry: StoredEntry) -> DeadEntry:
    """Under an id of its epoch: its version comes again."""
    entry_id = f"{decode_committed(entry.data).epoch}:{entry.version}-0"
    error = "this part of the log was lost; play went on otherwise"
    return DeadEntry(keys.table_log(table_id), entry_id, entry.data, error)


class Shelves:
    """What was written, in memory."""

    def __init__(self) -> None:
        self.pages: dict[str, int] = {}
        self.cursors: dict[str, str] = {}
        self.digests: dict[str, bytes] = {}
        self.marks: dict[str, TableMark] = {}
        self.histories: dict[str, HandHistory] = {}  # by hand id, in the order written
        self.entries: dict[str, list[StoredEntry]] = {}
        self.cards: dict[str, tuple[SeatRecord, ...]] = {}
        self.deals: dict[str, HandRecord] = {}
        self.dead: list[DeadEntry] = []


class MemoryArchive:
    """For the simulator and fast tests. ``Shelves`` outlive it."""

    def __init__(self, shelves: Shelves | None = None) -> None:
        self.shelves = shelves or Shelves()

    async def open(self, shard: str) -> Opened:
        shelves = self.shelves
        shelves.pages[shard] = shelves.pages.get(shard, 0) + 1
        return Opened(shelves.pages[shard], dict(shelves.cursors), dict(shelves.digests))

    async def mark(self, table_id: str) -> TableMark | None:
        return self.shelves.marks.get(table_id)

    async def history(self, hand_id: str) -> HandHistory | None:
        return self.shelves.histories.get(hand_id)

    async def kept_from(self, table_id: str, version: int) -> list[tuple[str, StoredEntry]]:
        return [(hand_id, entry) for hand_id, entry in self._kept(table_id) if entry.version >= version]

    async def kept_until(self, table_id: str, version: int) -> tuple[str, StoredEntry] | None:
        before = [(hand_id, entry) for hand_id, entry in self._kept(table_id) if entry.version < version]
        return before[-1] if before else None

    def _kept(self, table_id: str) -> list[tuple[str, StoredEntry]]:
        shelves = self.shelves
        kept = [
            (hand_id, entry)
            for hand_id, entries in shelves.entries.items()
            if shelves.histories[hand_id].table_id == table_id
            for entry in entries
        ]
        return sorted(kept, key=lambda one: one[1].version)

    def _take_out(self, lost: Lost) -> None:
        shelves = self.shelves
        for hand_id, entry in self._kept(lost.table_id):
            if entry.version >= lost.version or hand_id in lost.hand_ids:
                shelves.entries[hand_id].remove(entry)
                shelves.dead.append(lost_entry(lost.table_id, entry))
        for hand_id in lost.hand_ids:
            del shelves.histories[hand_id], shelves.entries[hand_id]

    async def write(self, page: Page) -> bool:
        shelves = self.shelves
        if page.page != shelves.pages.get(page.shard):
            return False
        gone = {hand_id for lost in page.lost for hand_id in lost.hand_ids}
        if known := [hand_id for hand_id in new_hands(page) if hand_id in shelves.histories and hand_id not in gone]:
            raise Refused(known)
        shelves.pages[page.shard] += 1
        shelves.cursors.update(page.cursors)
        shelves.digests.update(page.digests)
        for lost in page.lost:
            self._take_out(lost)
        for hand in page.hands:
            hand_id = hand.history.hand_id
            shelves.histories[hand_id] = hand.history
            kept = [] if hand.new else shelves.entries.get(hand_id, [])
            shelves.entries[hand_id] = [*kept, *hand.entries]
        shelves.cards.update((record.hand_id, record.seats) for record in page.records)
        shelves.deals.update((record.hand_id, record) for record in page.records if record.deal is not None)
        shelves.marks.update((mark.table_id, mark) for mark in page.marks)
        shelves.dead.extend(page.dead)
        return True

    async def close(self) -> None:
        """Nothing to let go of."""
