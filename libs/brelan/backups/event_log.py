"""The event log of a room as files: one for each shard, all its keys as of one moment.

A shard's keys lie in one slot, so one script sees them all at once; the script blocks the shard for milliseconds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.redis_log import RedisStore
from brelan.events.envelope import Epoch, TailLost, decode_epoch, encode

WALLET = "wallet"  # the slot of what belongs to no shard
LEFT_OUT = ("lease", "workers", "durable", "ticket")  # of those who work now, of the replicas there are, of this minute
EPOCHS_AHEAD = 1_000  # more than a room ever had between a backup and its loss
TRIES = 5  # while tables are opened
AT_ONCE = 200  # keys

_DUMP = """
local answer = {redis.call('HKEYS', KEYS[1])}
for place = 1, #KEYS do answer[place + 1] = redis.call('DUMP', KEYS[place]) end
return answer
"""


class BackupError(Exception):
    """It cannot be taken or restored. The message is a sentence."""


class KeyDump(msgspec.Struct, frozen=True, array_like=True):
    """``data``: as the server's DUMP gives it, with the server's own check sum."""

    key: str
    data: bytes


class ShardDump(msgspec.Struct, frozen=True):
    shard: str
    keys: tuple[KeyDump, ...]


encode_dump = msgspec.msgpack.Encoder().encode
decode_dump = msgspec.msgpack.Decoder(ShardDump).decode


def shard_keys(shard: str, table_ids: list[str]) -> list[str]:
    """Every key of the catalogue that is kept; the hash of the tables first."""
    if shard == WALLET:
        return [keys.balances(), keys.cashier(), keys.position(WALLET, Service.WALLET)]
    of_the_shard = (
        keys.tables,
        keys.commands,
        keys.dealt,
        keys.wallet_requests,
        keys.wallet_replies,
        keys.feed,
        keys.records,
        keys.deadlines,
        keys.heartbeat,
        keys.epoch,
    )
    of_a_table = (keys.table_log, keys.snapshot, keys.answers, keys.deck, keys.hole)
    return [
        *(key(shard) for key in of_the_shard),
        *(keys.position(shard, service) for service in Service),
        *(keys.dead(shard, service) for service in (Service.TABLE, Service.DEALER)),
        *(key(table_id) for table_id in table_ids for key in of_a_table),
    ]


async def dump_shard(store: RedisStore, shard: str) -> ShardDump:
    """Raises LogUnavailable, BackupError."""
    table_ids: list[str] = []
    for _ in range(TRIES):
        names = shard_keys(shard, table_ids)
        found, *dumps = await store.read(shard, "EVAL", _DUMP, len(names), *names)
        there = sorted(name.decode() for name in found) if shard != WALLET else []
        if there == table_ids:
            kept = [KeyDump(name, bytes(data)) for name, data in zip(names, dumps, strict=True) if data is not None]
            return ShardDump(shard, tuple(kept))
        table_ids = there  # a table was opened in between
    raise BackupError(f"tables are being opened on shard {shard} all the time: try again.")


async def check_empty(store: RedisStore, shards: Sequence[str]) -> None:
    """Raises LogUnavailable, BackupError."""
    for shard in (WALLET, *shards):
        names = shard_keys(shard, [])
        if await store.read(shard, "EXISTS", *names):
            raise BackupError(f"the event log has something of shard {shard} already: restore into an empty one.")


async def restore_shard(store: RedisStore, dump: ShardDump) -> int:
    """Onto a server that has nothing of it. How many keys. Raises LogUnavailable, BackupError."""
    for some in _chunks(dump.keys):
        try:
            await store.append_many(dump.shard, [("RESTORE", one.key, 0, one.data) for one in some])
        except LogUnavailable as error:
            raise BackupError(
                f"the server takes no keys of shard {dump.shard} ({error}). It has to be empty, and no older than the "
                "one the backup was taken from."
            ) from error
    return len(dump.keys)


async def begin_anew(store: RedisStore, shard: str) -> int:
    """What was played since the backup is lost, and players have seen it: no epoch of that time comes again, and hands
    that were open are called off, bets returned. The epoch before the new one."""
    log = store.log(shard)
    stored = await log.get(keys.epoch(shard))
    number = (decode_epoch(stored).number if stored is not None else 0) + EPOCHS_AHEAD
    feed = keys.feed(shard)
    lost = TailLost("restore", number, feed, await log.last_id(feed))
    await store.append(shard, "SET", keys.epoch(shard), encode(Epoch(number, "restored")))
    await log.append(keys.commands(shard), encode(lost))
    return number


def write_dump(folder: Path, dump: ShardDump) -> None:
    (folder / f"{dump.shard}.shard").write_bytes(encode_dump(dump))


def read_dump(folder: Path, shard: str) -> ShardDump:
    path = folder / f"{shard}.shard"
    try:
        return decode_dump(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise BackupError(f"{path} cannot be read: {error}.") from None


def _chunks(dumps: tuple[KeyDump, ...]) -> Iterator[tuple[KeyDump, ...]]:
    for start in range(0, len(dumps), AT_ONCE):
        yield dumps[start : start + AT_ONCE]
