"""What tests of history need of a room: tables that commit, a dealer that seals."""

from brelan.deck.keys import x25519_public
from brelan.deck.sealing import RecordOpener, record_context, seal
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Append, Commit, Store
from brelan.events.dealing import HandRecord, SealedRecord
from brelan.events.envelope import CommandRefused, encode
from brelan.histories.archive import Archive
from brelan_history.service import ShardHistory
from tests.histories.hands import Log

SECRET = bytes(range(32))
OPENER = RecordOpener([SECRET])
PUBLIC = x25519_public(SECRET)


def sealed(record: HandRecord, key: bytes = PUBLIC) -> bytes:
    box = seal(key, encode(record), record_context(record.table_id, record.hand_id))
    return encode(SealedRecord(record.table_id, record.hand_id, box))


class Tables:
    """The table service and the dealer, as far as history reads them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._positions: dict[str, int] = {}
        self._commits = 0

    async def commit(self, log: Log, first: int, last: int) -> None:
        """Entries ``first`` to ``last`` of the table's log, as versions; a refusal in between."""
        shard = keys.shard_of(log.table_id)
        stream, feed = keys.table_log(log.table_id), keys.feed(shard)
        refusal = encode(CommandRefused(log.table_id, "p2", "c1", "not_your_turn", "It is not your turn."))
        for version in range(first, last + 1):
            data = log.data[version - 1]
            appends = [Append(stream, data, f"{version}-0"), Append(feed, data), Append(feed, refusal)]
            await self._write(shard, appends, {stream: f"{version - 1}-0" if version > 1 else BEGINNING})

    async def record(self, record: HandRecord, key: bytes = PUBLIC) -> None:
        shard = keys.shard_of(record.table_id)
        await self._store.log(shard).append(keys.records(shard), sealed(record, key))

    async def _write(self, shard: str, appends: list[Append], expect: dict[str, str]) -> None:
        log = self._store.log(shard)
        if shard not in self._positions:
            self._positions[shard] = (await log.fence(Service.TABLE, "tables")).number
        self._commits += 1
        number = self._positions[shard]
        await log.commit(Commit(Service.TABLE, number, f"tables-{self._commits}", appends=appends, expect=expect))
        self._positions[shard] += 1


async def run_history(store: Store, archive: Archive, shard: str = "s00") -> ShardHistory:
    """A worker that starts, does all there is to do, and is gone."""
    history = ShardHistory(store, archive, shard, OPENER)
    await history.open()
    while await history.serve(block_ms=0):
        pass
    return history
