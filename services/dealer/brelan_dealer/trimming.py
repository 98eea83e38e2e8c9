"""What of the dealer's streams nobody needs any more (docs/operating/retention.md).

``records`` go behind history, which keeps every hand's cards. A deck's log is trimmed by the hand that follows it.
"""

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Log
from brelan.eventlog.outputs import Outputs
from brelan.eventlog.readers import Readers, cursors_of

LOOK_MS = 2_000


class Trimming:
    """Of one shard: ``look`` from time to time, then ``trim`` into a commit."""

    def __init__(self, shard: str, *, look_ms: int = LOOK_MS) -> None:
        self._records = Readers(shard, keys.records(shard), (Service.HISTORY,))
        self._look_ms = look_ms
        self.discard()

    def discard(self) -> None:
        """It is not known any more how far anybody is."""
        self._records.behind = None
        self._looked_ms: int | None = None
        self._trimmed = ""

    async def look(self, log: Log, now_ms: int) -> None:
        """Raises LogUnavailable."""
        if self._looked_ms is not None and 0 <= now_ms - self._looked_ms < self._look_ms:
            return
        await self._records.look(log, await cursors_of(log, (Service.HISTORY,)), now_ms)
        self._looked_ms = now_ms

    def trim(self, outputs: Outputs) -> None:
        behind = self._records.behind
        if behind is not None and behind != self._trimmed:
            outputs.trim(self._records.stream, behind)
            self._trimmed = behind
