"""Players' own cards on their way from the dealer to their sockets: read, opened, checked, never kept.

What is sealed to a player's own key goes on as it is: nobody but he can open it.
"""

from collections.abc import Callable, Iterable

import structlog

from brelan.deck.sealing import is_box
from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.events.dealing import HoleCards
from brelan.events.envelope import decode_players_boxes
from brelan.telemetry import metrics
from brelan.views.messages import OwnCards, SealedCards
from brelan.views.snapshot import DealtTo, own_cards, sealed_cards
from brelan_gateway.live import patiently

logger = structlog.get_logger(__name__)

Cards = OwnCards | SealedCards
Open = Callable[[str, int, bytes], HoleCards | None]  # table, seat, sealed; None: not ours to open


class HoleCardReader:
    def __init__(self, log: Log, open_sealed: Open) -> None:
        self._log = log
        self._open = open_sealed

    async def read(self, table_id: str, dealt: Iterable[DealtTo]) -> dict[DealtTo, Cards]:
        """The cards of those who have some. Waits while the store is away: an entry goes out with its cards."""
        wanted = list(dealt)
        if not wanted:
            return {}
        fields = [str(each.seat) for each in wanted]
        answers = await patiently(lambda: self._log.hash_get(keys.hole(table_id), fields))
        found = {}
        for each, sealed in zip(wanted, answers, strict=True):
            if sealed is not None and (cards := self._opened(table_id, each, sealed)) is not None:
                found[each] = cards
        return found

    def _opened(self, table_id: str, dealt: DealtTo, sealed: bytes) -> Cards | None:
        try:
            if not is_box(sealed):
                return sealed_cards(decode_players_boxes(sealed), dealt)
            hole = self._open(table_id, dealt.seat, sealed)
            return None if hole is None else own_cards(hole, dealt)
        except Exception as error:  # noqa: BLE001 - one player's cards must not stop everybody's feed
            metrics.dead_letters.labels("gateway").inc()
            logger.error("hole cards cannot be opened", table=table_id, seat=dealt.seat, reason=repr(error))
            return None
