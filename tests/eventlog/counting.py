"""The simplest service with a state: it numbers what comes in, and knows the number only from the log."""

from collections.abc import Sequence

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Entry, Log
from brelan.eventlog.processor import Outputs, Undecodable


def log_of(shard: str) -> str:
    return keys.table_log(f"{shard}-count")


class Counting:
    """``b"x"`` on commands becomes ``b"<count>: x"`` on the feed and in a log with ids of its own.

    ``bad``: raises for it; ``unreadable``: Undecodable; ``foreign``: decides something that cannot be written.
    """

    service = Service.TABLE

    def __init__(self, shard: str = "s00") -> None:
        self.shard = shard
        self.count: int | None = None
        self.staged = 0
        self.prepared: list[bytes] = []
        self.batches: list[list[bytes]] = []

    def inboxes(self, shard: str) -> tuple[str, ...]:
        return keys.commands(shard), keys.dealt(shard)

    async def load(self, log: Log) -> None:
        self.count = int((await log.last_id(log_of(self.shard))).partition("-")[0])

    async def prepare(self, log: Log, entries: Sequence[Entry]) -> None:
        self.prepared = [entry.data for entry in entries]

    def handle(self, entries: Sequence[Entry], now_ms: int) -> Outputs:
        self.batches.append([entry.data for entry in entries])
        assert self.prepared == self.batches[-1]
        assert self.count is not None
        outputs, self.staged = Outputs(), self.count
        for entry in entries:
            self._handle(entry, outputs)
        return outputs

    def _handle(self, entry: Entry, outputs: Outputs) -> None:
        if entry.data.startswith(b"bad"):
            raise ValueError(f"cannot count {entry.data.decode()}")
        if entry.data.startswith(b"unreadable"):
            raise Undecodable("no message")
        if entry.data.startswith(b"foreign"):
            outputs.append(keys.feed("s99"), b"not mine")
        self._count(entry.data, outputs)

    def _count(self, data: bytes, outputs: Outputs) -> None:
        log = log_of(self.shard)
        outputs.expect(log, f"{self.staged}-0" if self.staged else BEGINNING)
        self.staged += 1
        counted = b"%d: %s" % (self.staged, data)
        outputs.append(log, counted, id=f"{self.staged}-0")
        outputs.append(keys.feed(self.shard), counted)

    def housekeeping(self, now_ms: int) -> Outputs | None:
        assert self.count is not None
        self.staged = self.count
        outputs = Outputs()
        outputs.string_set(keys.heartbeat(self.shard), b"%d" % now_ms)
        return outputs

    def committed(self) -> None:
        self.count = self.staged

    def discard(self) -> None:
        self.count = None
