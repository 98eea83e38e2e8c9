"""Where finished hands are kept: one writer a shard, one transaction a page.

``brelan.sql.archive.SqlArchive`` and ``MemoryArchive`` pass one suite of tests. What a page holds and how far the
inboxes were read is written whole or not at all, and only by the writer that opened the shard last.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from brelan.events.dealing import HandRecord, SeatRecord
from brelan.histories.hand import HandHistory
from brelan.histories.table import StoredEntry, StoredHand, TableMark


class DeadEntry(msgspec.Struct, frozen=True):
    """An entry that could not be handled."""

    stream: str
    entry_id: str
    data: bytes
    error: str


class Opened(msgspec.Struct, frozen=True):
    page: int
    cursors: dict[str, str]


class Page(msgspec.Struct, frozen=True):
    """``page``: the number the writer was given by ``open``, one more after every page."""

    shard: str
    page: int
    cursors: Mapping[str, str] = {}
    hands: Sequence[StoredHand] = ()
    records: Sequence[HandRecord] = ()
    marks: Sequence[TableMark] = ()
    dead: Sequence[DeadEntry] = ()


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

    async def write(self, page: Page) -> bool:
        """False: somebody else opened the shard since, and nothing was written. Raises Refused too."""

    async def close(self) -> None: ...


def new_hands(page: Page) -> list[str]:
    return [hand.history.hand_id for hand in page.hands if hand.new]


class Shelves:
    """What was written, in memory."""

    def __init__(self) -> None:
        self.pages: dict[str, int] = {}
        self.cursors: dict[str, str] = {}
        self.marks: dict[str, TableMark] = {}
        self.histories: dict[str, HandHistory] = {}  # by hand id, in the order written
        self.entries: dict[str, list[StoredEntry]] = {}
        self.cards: dict[str, tuple[SeatRecord, ...]] = {}
        self.dead: list[DeadEntry] = []


class MemoryArchive:
    """For the simulator and fast tests. ``Shelves`` outlive it."""

    def __init__(self, shelves: Shelves | None = None) -> None:
        self.shelves = shelves or Shelves()

    async def open(self, shard: str) -> Opened:
        shelves = self.shelves
        shelves.pages[shard] = shelves.pages.get(shard, 0) + 1
        return Opened(shelves.pages[shard], dict(shelves.cursors))

    async def mark(self, table_id: str) -> TableMark | None:
        return self.shelves.marks.get(table_id)

    async def history(self, hand_id: str) -> HandHistory | None:
        return self.shelves.histories.get(hand_id)

    async def write(self, page: Page) -> bool:
        shelves = self.shelves
        if page.page != shelves.pages.get(page.shard):
            return False
        if known := [hand_id for hand_id in new_hands(page) if hand_id in shelves.histories]:
            raise Refused(known)
        shelves.pages[page.shard] += 1
        shelves.cursors.update(page.cursors)
        for hand in page.hands:
            hand_id = hand.history.hand_id
            shelves.histories[hand_id] = hand.history
            kept = [] if hand.new else shelves.entries.get(hand_id, [])
            shelves.entries[hand_id] = [*kept, *hand.entries]
        shelves.cards.update((record.hand_id, record.seats) for record in page.records)
        shelves.marks.update((mark.table_id, mark) for mark in page.marks)
        shelves.dead.extend(page.dead)
        return True

    async def close(self) -> None:
        """Nothing to let go of."""
