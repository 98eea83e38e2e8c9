"""Players' own cards on their way from the dealer to their sockets: read, opened, checked, never kept."""

from collections.abc import Callable, Iterable

from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.events.dealing import HoleCards
from brelan.views.messages import OwnCards
from brelan.views.snapshot import DealtTo, own_cards
from brelan_gateway.live import patiently

Open = Callable[[str, int, bytes], HoleCards | None]  # table, seat, sealed; None: not ours to open


class HoleCardReader:
    def __init__(self, log: Log, open_sealed: Open) -> None:
        self._log = log
        self._open = open_sealed

    async def read(self, table_id: str, dealt: Iterable[DealtTo]) -> dict[DealtTo, OwnCards]:
        """The cards of those who have some. Waits while the store is away: an entry goes out with its cards."""
        wanted = list(dealt)
        if not wanted:
            return {}
        fields = [str(each.seat) for each in wanted]
        answers = await patiently(lambda: self._log.hash_get(keys.hole(table_id), fields))
        found = {}
        for each, sealed in zip(wanted, answers, strict=True):
            hole = self._open(table_id, each.seat, sealed) if sealed is not None else None
            if hole is not None and (cards := own_cards(hole, each)) is not None:
                found[each] = cards
        return found
