"""The catalogue of Redis keys: every key of the room, who writes it and who reads it.

Every key of a shard carries the shard's hash tag (``{s07.1344}``), so one commit touches one slot of a Redis Cluster. A
table's id begins with its shard ("s07-k3f9x2"), so the key of anything about a table follows from its id alone.
"""

import binascii
import re
from enum import StrEnum
from functools import cache

import msgspec


class Service(StrEnum):
    GATEWAY = "gateway"
    TABLE = "table"
    DEALER = "dealer"
    TIMER = "timer"
    WALLET = "wallet"
    HISTORY = "history"


class Family(msgspec.Struct, frozen=True):
    """One kind of key. ``writers`` holds one service, except for append-only inboxes (ARCHITECTURE §1), and where every
    service has a key of its own. What each may do with it follows from here (``rights``)."""

    name: str
    kind: str  # stream | hash | zset | string
    per: str  # shard | table | service | ticket | room
    writers: tuple[Service, ...]
    readers: tuple[Service, ...]
    holds: str
    outward: bool = False  # read by who is not on this shard: no further than the durable mark
    trimmer: Service | None = None  # who trims it, where that is not its writer
    tags: tuple[str, ...] = ("{s[0-9]*}",)  # what its keys begin with, as a pattern


T, D, G, W, H, C = Service.TABLE, Service.DEALER, Service.GATEWAY, Service.WALLET, Service.HISTORY, Service.TIMER

WALLET_TAG = "{wallet}"
ROOM = "room"  # like a shard of its own, for what belongs to none

FAMILIES: tuple[Family, ...] = (
    Family(
        "commands",
        "stream",
        "shard",
        (G, C, W, H),
        (T,),
        "client commands, gateways' heartbeats, ExpireTurn, TailLost; append-only for its writers",
        trimmer=T,
    ),
    Family("dealt", "stream", "shard", (D,), (T,), "the dealer's answers", trimmer=T),
    Family("wallet-requests", "stream", "shard", (T,), (W,), "buy-ins, cash-outs, rake, refunds", True),
    Family("wallet-replies", "stream", "shard", (W,), (T,), "funded, declined, done", trimmer=T),
    Family("feed", "stream", "shard", (T,), (G, D, H), "every committed table entry and every refusal, in order", True),
    Family(
        "records", "stream", "shard", (D,), (H,), "hole cards of finished hands, sealed to the history service", True
    ),
    Family("dead", "stream", "service", (T, D), (G,), "poison entries with their errors; each service its own stream"),
    Family("deadlines", "zset", "shard", (T,), (C,), "table id by the time its open wait is due, in ms"),
    Family("tables", "hash", "shard", (T,), (G, D, W, H), "table id to its configuration"),
    Family("heartbeat", "string", "shard", (T,), (G,), "when the table service last committed, in ms"),
    Family("epoch", "string", "shard", (T,), (G, W, H), "the shard's epoch, and the server that it began on"),
    Family("table", "stream", "table", (T,), (G, W, H), "the table's log, ids <version>-0"),
    Family("snapshot", "string", "table", (T,), (G, W, H), "the table's state at the end of a hand"),
    Family("answers", "hash", "table", (T,), (G,), "answers to the last 64 commands of each player"),
    Family("deck", "stream", "table", (D,), (), "the dealer's sealed log"),
    Family("hole", "hash", "table", (D,), (G,), "hole cards of the hand in play, sealed to who may see them"),
    Family("durable", "stream", "service", (T, D), (G, W, H), "up to where the replicas have what it sends outside"),
    Family(
        "position",
        "hash",
        "service",
        (T, D, W, H),
        (T, D),
        "commit number, nonce and cursors of one service; the others' tell how far may be trimmed",
        tags=("{s[0-9]*}", WALLET_TAG),
    ),
    Family(
        "lease",
        "string",
        "service",
        (T, D, W, H),
        (),
        "which worker holds the shard; saves work, guards nothing",
        tags=("{s[0-9]*}", WALLET_TAG),
    ),
    Family(
        "workers",
        "zset",
        "service",
        (T, D),
        (),
        "live workers of one service, by when they count as gone",
        tags=(f"{{{ROOM}}}",),
    ),
    Family(
        "ticket",
        "string",
        "ticket",
        (G,),
        (),
        "that a socket ticket was used; gone when the ticket would be no good anyway",
        tags=(f"{{{ROOM}}}",),
    ),
    Family(
        "cashier",
        "stream",
        "room",
        (G,),
        (W,),
        "deposits and withdrawals asked for",
        trimmer=W,
        tags=(WALLET_TAG,),
    ),
    Family(
        "balances",
        "hash",
        "room",
        (W,),
        (G,),
        "player id to balance, in minor units; a copy of the ledger's",
        tags=(WALLET_TAG,),
    ),
)


def shard_name(number: int) -> str:
    return f"s{number:02d}"


def shard_of(table_id: str) -> str:
    """``"s07-k3f9x2"`` to ``"s07"``. Raises ValueError when the text is no table id."""
    shard, dash, rest = table_id.partition("-")
    if not (dash and rest and shard[:1] == "s" and shard[1:].isdigit()):
        raise ValueError(f"{table_id!r} is no table id: it should look like 's07-k3f9x2'")
    return shard


SLOTS = 16_384  # of a Redis Cluster
MOST_SHARDS = 1_024


def slot_of(tag: str) -> int:
    """The slot of every key with this hash tag, given without its braces."""
    return binascii.crc_hqx(tag.encode(), 0) % SLOTS


@cache
def prefix(shard: str) -> str:
    """``"{s07.1344}:"``, what every key of a shard begins with.

    Plain names would lie together: s00 to s15 leave two of six nodes without a shard. The number after the dot is the
    first that puts the shard near its place when the first 2, 4, 8, ... shards are spread evenly over all slots.
    """
    numbered = re.fullmatch(r"s(\d+)", shard)
    if numbered is None:  # "wallet"
        return f"{{{shard}}}:"
    room = SLOTS // MOST_SHARDS  # slots for each shard
    place = _spread(int(numbered[1]) % MOST_SHARDS) * room
    number = next(number for number in range(SLOTS**2) if 0 <= slot_of(f"{shard}.{number}") - place < room)
    return f"{{{shard}.{number}}}:"


def _spread(number: int) -> int:
    """0, 512, 256, 768, 128, ...: its binary digits from behind."""
    return int(f"{number:0{MOST_SHARDS.bit_length() - 1}b}"[::-1], 2)


# Streams and other keys of a shard.


def commands(shard: str) -> str:
    return prefix(shard) + "commands"


def dealt(shard: str) -> str:
    return prefix(shard) + "dealt"


def wallet_requests(shard: str) -> str:
    return prefix(shard) + "wallet-requests"


def wallet_replies(shard: str) -> str:
    return prefix(shard) + "wallet-replies"


def feed(shard: str) -> str:
    return prefix(shard) + "feed"


def records(shard: str) -> str:
    return prefix(shard) + "records"


def dead(shard: str, service: Service) -> str:
    return f"{prefix(shard)}dead:{service}"


def deadlines(shard: str) -> str:
    return prefix(shard) + "deadlines"


def tables(shard: str) -> str:
    return prefix(shard) + "tables"


def heartbeat(shard: str) -> str:
    return prefix(shard) + "heartbeat"


def epoch(shard: str) -> str:
    return prefix(shard) + "epoch"


def durable(shard: str, service: Service) -> str:
    return f"{prefix(shard)}durable:{service}"


def outward(shard: str, service: Service) -> tuple[str, ...]:
    """The streams by which a service speaks to who is not on the shard."""
    return tuple(prefix(shard) + family.name for family in FAMILIES if family.outward and service in family.writers)


def durable_of(stream: str) -> str:
    """The mark that tells how far this outward stream may be read. Raises ValueError for any other stream."""
    tag, colon, name = stream.rpartition(":")
    for family in FAMILIES:
        if family.outward and family.name == name:
            return f"{tag}{colon}durable:{family.writers[0]}"
    raise ValueError(f"{stream!r} is no stream with a durable mark")


def position(shard: str, service: Service) -> str:
    return f"{prefix(shard)}position:{service}"


def lease(shard: str, service: Service) -> str:
    return f"{prefix(shard)}lease:{service}"


# Keys of a table.


def table_log(table_id: str) -> str:
    return f"{prefix(shard_of(table_id))}table:{table_id}"


def snapshot(table_id: str) -> str:
    return f"{prefix(shard_of(table_id))}snapshot:{table_id}"


def answers(table_id: str) -> str:
    return f"{prefix(shard_of(table_id))}answers:{table_id}"


def deck(table_id: str) -> str:
    return f"{prefix(shard_of(table_id))}deck:{table_id}"


def hole(table_id: str) -> str:
    return f"{prefix(shard_of(table_id))}hole:{table_id}"


# Keys of the room.


def workers(service: Service) -> str:
    return f"{prefix(ROOM)}workers:{service}"


def ticket(ticket_id: str) -> str:
    return f"{prefix(ROOM)}ticket:{ticket_id}"


def cashier() -> str:
    return f"{WALLET_TAG}:cashier"


def balances() -> str:
    return f"{WALLET_TAG}:balances"
