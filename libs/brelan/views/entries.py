"""One entry of a table's log, encoded once for all who watch, and once more for each owner it tells something else."""

from collections.abc import Iterable, Mapping

import msgspec

from brelan.events import table as facts
from brelan.events.envelope import TableCommitted
from brelan.rules.state import TableState
from brelan.views.messages import AnyEventView, Events, OwnCards, SealedCards, encode
from brelan.views.projection import Seen, view_of


class EntryView(msgspec.Struct, frozen=True):
    """``everybody``: the message. ``owners``: by player id, the message for those who get another one."""

    version: int
    everybody: str
    owners: dict[str, str]

    def message_for(self, player_id: str) -> str:
        return self.owners.get(player_id, self.everybody)


def owners_of(state: TableState) -> dict[int, str]:
    """Seat to player, reserved seats included."""
    return {seat.seat: seat.player_id for seat in state.seats if seat is not None}


def entry_view(entry: TableCommitted, owners: Mapping[int, str]) -> EntryView:
    """``owners``: before this entry, to know whose seats are spoken of."""
    seen = [view_of(event) for event in entry.events]
    everybody = _encode(entry, (each.public for each in seen))
    seats = {each.seat for each in seen if each.own is not None}
    if not seats:
        return EntryView(entry.version, everybody, {})
    taken = {event.seat: event.player_id for event in entry.events if isinstance(event, facts.SeatReserved)}
    copies = {
        owner: _encode(entry, _for_owner(seen, seat))
        for seat in seats
        if (owner := taken.get(seat) or owners.get(seat)) is not None
    }
    return EntryView(entry.version, everybody, copies)


def with_cards(message: str, cards: OwnCards | SealedCards) -> str:
    """The message, and the reader's own cards beside its events."""
    return f'{message[:-1]},"{"cards" if isinstance(cards, OwnCards) else "sealed"}":{encode(cards)}}}'


def _encode(entry: TableCommitted, events: Iterable[AnyEventView | None]) -> str:
    shown = tuple(event for event in events if event is not None)
    return encode(Events(version=entry.version, epoch=entry.epoch, at=entry.at_ms, events=shown))


def _for_owner(seen: list[Seen], seat: int) -> Iterable[AnyEventView | None]:
    return (each.own if each.own is not None and each.seat == seat else each.public for each in seen)
