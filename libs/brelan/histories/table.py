"""A table's log as a sequence of hands: ``TableFold`` takes entries one by one and says what is to be kept.

It can be dropped at any time: what it has to know beyond the archive is the log after ``TableMark.version``.
"""

from collections.abc import Sequence

import msgspec

from brelan.events import table
from brelan.events.config import TableConfig
from brelan.events.envelope import TableCommitted
from brelan.histories.hand import HandBuilder, HandHistory


class StoredEntry(msgspec.Struct, frozen=True):
    """An entry of the table's log, as it is there."""

    version: int
    data: bytes


class StoredHand(msgspec.Struct, frozen=True):
    """To be kept: a hand that is over, or one in which something was shown later.

    ``entries``: all of the table's log since something was last kept. So what happened between two hands lies with the
    later one, and all hands of a table together hold its whole log.
    """

    history: HandHistory
    entries: tuple[StoredEntry, ...]
    new: bool


class TableMark(msgspec.Struct, frozen=True):
    """Where the archive of a table ends, and what has to be known to go on from there."""

    table_id: str
    epoch: int = 0
    version: int = 0
    config: TableConfig | None = None
    next_config: TableConfig | None = None
    last_hand_id: str = ""  # between hands: in this one hands may still be shown
    partial: bool = False  # of the entry after ``version`` all is kept but the hand that begins in it


encode_mark = msgspec.msgpack.Encoder().encode
decode_mark = msgspec.msgpack.Decoder(TableMark).decode


class TableFold:
    def __init__(self, mark: TableMark, last_hand: HandHistory | None = None) -> None:
        self.table_id = mark.table_id
        self.epoch = mark.epoch
        self.version = mark.version
        self._config = mark.config
        self._next_config = mark.next_config
        self._last = last_hand
        self._partial = mark.partial
        self._hand: HandBuilder | None = None
        self._entries: list[StoredEntry] = []

    @property
    def mark(self) -> TableMark:
        """When something has just been kept. A new hand may have begun in the very entry that ended the last one."""
        partial = self._hand is not None
        version = self.version - 1 if partial else self.version
        last_hand_id = self._last.hand_id if self._last else ""
        return TableMark(self.table_id, self.epoch, version, self._config, self._next_config, last_hand_id, partial)

    def skip(self, version: int) -> None:
        """Something cannot be folded: go on behind it, without the hand it was in."""
        self.version = version
        self._partial = False
        self._hand = None
        self._last = None
        self._entries = []

    def apply(self, committed: TableCommitted, data: bytes) -> list[StoredHand]:
        """``data``: the entry's own bytes. Raises when it does not follow what came before."""
        if committed.version != self.version + 1:
            raise ValueError(f"version {committed.version} of {self.table_id} does not follow {self.version}")
        self._entries.append(StoredEntry(committed.version, data))
        events = committed.events
        if self._partial:
            events = events[_last_start(events) :]
            self._partial = False
        kept = [hand for event in events if (hand := self._apply(event, committed.at_ms)) is not None]
        if kept:
            self._entries = self._entries[-1:] if self._hand is not None else []
        self.version = committed.version
        return _merged(kept)

    def _apply(self, event: table.TableEvent, at_ms: int) -> StoredHand | None:
        match event:
            case table.TableOpened():
                self._config, self._next_config = event.config, None
            case table.TableConfigured():
                self._next_config = event.config
            case table.HandStarted():
                self._start(event, at_ms)
            case table.HandEnded() | table.HandVoided() if self._hand is not None:
                self._last, self._hand = self._hand.ended(event, at_ms), None
                return StoredHand(self._last, tuple(self._entries), new=True)
            case table.HandShown() if self._hand is None and self._last is not None:
                self._last = self._last.with_hand_shown(event.hand)
                return StoredHand(self._last, tuple(self._entries), new=False)
            case table.HandMucked() if self._hand is None and self._last is not None:
                self._last = self._last.with_hand_mucked(event.seat)
                return StoredHand(self._last, tuple(self._entries), new=False)
            case _ if self._hand is not None:
                self._hand.apply(event)
            case _:
                pass
        return None

    def _start(self, event: table.HandStarted, at_ms: int) -> None:
        self._config, self._next_config = self._next_config or self._config, None
        self._last = None
        if self._config is None:
            raise ValueError(f"a hand of {self.table_id}, whose configuration is unknown")
        self._hand = HandBuilder(self.table_id, self._config, event, at_ms)


def _last_start(events: Sequence[table.TableEvent]) -> int:
    return max((place for place, event in enumerate(events) if isinstance(event, table.HandStarted)), default=0)


def _merged(kept: list[StoredHand]) -> list[StoredHand]:
    """One entry may end a hand and show something of it, or show several: the last state counts, once."""
    by_hand: dict[str, StoredHand] = {}
    for hand in kept:
        before = by_hand.get(hand.history.hand_id)
        entries = {one.version: one for one in (*(before.entries if before else ()), *hand.entries)}
        new = hand.new or (before is not None and before.new)
        by_hand[hand.history.hand_id] = StoredHand(hand.history, tuple(entries.values()), new)
    return list(by_hand.values())
