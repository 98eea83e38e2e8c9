"""One entry of a table's log, encoded once for all who watch, and once more for each owner it tells something else."""

from collections.abc import Iterable

import msgspec

from brelan.events import table as facts
from brelan.events.envelope import TableCommitted
from brelan.events.table import TableEvent
from brelan.rules.state import TableState
from brelan.views.messages import AnyEventView, Events, OwnCards, encode
from brelan.views.projection import Seen, view_of


class EntryView(msgspec.Struct, frozen=True):
    """``everybody``: the message. ``owners``: by player id, the message for those who get another one."""

    version: int
    everybody: bytes
    owners: dict[str, bytes]

    def message_for(self, player_id: str) -> bytes:
        return self.owners.get(player_id, self.everybody)


def entry_view(entry: TableCommitted, before: TableState) -> EntryView:
    """``before``: the table before this entry, which knows whose seats are spoken of."""
    seen = [view_of(event) for event in entry.events]
    everybody = _encode(entry, (each.public for each in seen))
    seats = {each.seat for each in seen if each.own is not None}
    if not seats:
        return EntryView(entry.version, everybody, {})
    owners = _owners(before, entry.events)
    copies = {owners[seat]: _encode(entry, _for_owner(seen, seat)) for seat in seats if seat in owners}
    return EntryView(entry.version, everybody, copies)


def with_cards(message: bytes, cards: OwnCards) -> bytes:
    """The message, and the reader's own cards beside its events."""
    return message[:-1] + b',"cards":' + encode(cards) + b"}"


def _encode(entry: TableCommitted, events: Iterable[AnyEventView | None]) -> bytes:
    shown = tuple(event for event in events if event is not None)
    return encode(Events(version=entry.version, epoch=entry.epoch, at=entry.at_ms, events=shown))


def _for_owner(seen: list[Seen], seat: int) -> Iterable[AnyEventView | None]:
    return (each.own if each.own is not None and each.seat == seat else each.public for each in seen)


def _owners(before: TableState, events: Iterable[TableEvent]) -> dict[int, str]:
    """Seat to player: who sat there before, or takes the seat in this very entry."""
    owners = {seat.seat: seat.player_id for seat in before.seats if seat is not None}
    owners.update((event.seat, event.player_id) for event in events if isinstance(event, facts.SeatReserved))
    return owners
