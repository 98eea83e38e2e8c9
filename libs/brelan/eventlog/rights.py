"""Who may do what with which keys, command by command: it follows from the catalogue and from what the log sends.

``acl`` writes Redis users of it, ``dry_run`` tries it when a service starts. Scripts run with their caller's rights:
whoever may call one needs every right that its commands need, and has no other by it.
"""

from collections.abc import Iterator, Sequence

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.keys import FAMILIES, Family, Service

READ, WRITE, BOTH = "%R~", "%W~", "~"  # as Redis writes them

_STREAM, _HASH, _ZSET, _STRING = "stream", "hash", "zset", "string"

READING = {
    _STREAM: ("xread", "xrange", "xrevrange", "xinfo|stream"),
    _HASH: ("hgetall", "hmget"),
    _ZSET: ("zrange", "zrangebyscore", "zcount", "zmscore"),
    _STRING: ("get",),
}
WRITING = {  # with what a commit checks before it writes
    _STREAM: ("xadd", "xtrim", "xlen"),
    _HASH: ("hset", "hdel", "hincrby", "hlen", "del", "type"),
    _ZSET: ("zadd", "zrem", "zremrangebyscore", "zcard", "del", "type"),
    _STRING: ("set", "strlen", "del", "type"),
}
APPENDING = ("xadd",)
PUTTING = ("set",)
ADDING = ("xadd", "xlen")
TRIMMING = ("xtrim", "xlen")
SCRIPTS = ("eval", "evalsha")
DUMPING = ("dump", "hkeys")

KEYLESS = (
    "ping",
    "hello",
    "select",
    "time",
    "info",
    "wait",
    "cluster|slots",
    "acl|whoami",
    "acl|dryrun",
)


class Right(msgspec.Struct, frozen=True):
    """``commands`` on the keys of one family: where each service has a key of its own, on that of ``whose``."""

    commands: tuple[str, ...]
    access: str
    family: Family
    whose: Service | None = None  # None: whoever's

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(f"{tag}:{self.family.name}{self._ending('*', '*')}" for tag in self.family.tags)

    def key_of(self, shard: str) -> str:
        """A key of the family, as there might be one on this shard."""
        return f"{keys.prefix(shard)}{self.family.name}{self._ending(f'{shard}-x', Service.HISTORY.value)}"

    def _ending(self, table_id: str, service: str) -> str:
        if self.family.per in {"table", "ticket"}:
            return f":{table_id}"
        if self.family.per == "service":
            return f":{self.whose.value if self.whose else service}"
        return ""


def rights_of(service: Service) -> tuple[Right, ...]:
    return tuple(_rights(service))


def _rights(service: Service) -> Iterator[Right]:
    for family in FAMILIES:
        kind, trims = family.kind, service is family.trimmer
        whose = service if family.per == "service" else None
        shared = len(family.writers) > 1 and whose is None
        owns = service in family.writers and not shared and _commits(service)
        if owns:
            others_trim = family.trimmer is not None
            yield Right(READING[kind], READ, family, whose)
            yield Right(ADDING if others_trim else WRITING[kind], BOTH, family, whose)
        elif service in family.writers:
            yield Right(APPENDING if kind == _STREAM else PUTTING, WRITE, family)
        if service in family.readers:
            yield Right(READING[kind], READ, family)
        if trims:
            yield Right(TRIMMING, BOTH, family)
        if owns or trims:
            yield Right(SCRIPTS, BOTH, family, whose)


def _commits(service: Service) -> bool:
    """By script. The others only append to inboxes, put what is theirs, and read."""
    return any(family.name == "position" and service in family.writers for family in FAMILIES)


def auditors_rights() -> tuple[Right, ...]:
    """What ``brelan verify-log`` reads."""
    read = ("tables", "table", "snapshot")
    return tuple(Right(READING[family.kind], READ, family) for family in FAMILIES if family.name in read)


def backups_rights() -> tuple[Right, ...]:
    """What ``brelan backup`` reads: everything, and by a script, so that it is of one moment."""
    return tuple(right for family in FAMILIES for right in (Right(DUMPING, READ, family), Right(SCRIPTS, BOTH, family)))


_SAMPLES: dict[str, Sequence[str]] = {
    "xread": ("XREAD", "COUNT", "1", "STREAMS", "{}", "0-0"),
    "xrange": ("XRANGE", "{}", "-", "+"),
    "xrevrange": ("XREVRANGE", "{}", "+", "-"),
    "xinfo|stream": ("XINFO", "STREAM", "{}"),
    "xadd": ("XADD", "{}", "*", "m", "x"),
    "xtrim": ("XTRIM", "{}", "MINID", "=", "0-0"),
    "xlen": ("XLEN", "{}"),
    "hgetall": ("HGETALL", "{}"),
    "hkeys": ("HKEYS", "{}"),
    "hmget": ("HMGET", "{}", "f"),
    "hset": ("HSET", "{}", "f", "x"),
    "hdel": ("HDEL", "{}", "f"),
    "hincrby": ("HINCRBY", "{}", "f", "0"),
    "hlen": ("HLEN", "{}"),
    "zrange": ("ZRANGE", "{}", "0", "0"),
    "zrangebyscore": ("ZRANGEBYSCORE", "{}", "-inf", "0"),
    "zcount": ("ZCOUNT", "{}", "-inf", "0"),
    "zmscore": ("ZMSCORE", "{}", "x"),
    "zadd": ("ZADD", "{}", "0", "x"),
    "zrem": ("ZREM", "{}", "x"),
    "zremrangebyscore": ("ZREMRANGEBYSCORE", "{}", "-inf", "0"),
    "zcard": ("ZCARD", "{}"),
    "get": ("GET", "{}"),
    "set": ("SET", "{}", "x"),
    "strlen": ("STRLEN", "{}"),
    "dump": ("DUMP", "{}"),
    "del": ("DEL", "{}"),
    "type": ("TYPE", "{}"),
    "eval": ("EVAL", "return 0", "1", "{}"),
    "evalsha": ("EVALSHA", "0" * 40, "1", "{}"),
}


def sample(command: str, key: str) -> list[str]:
    """The command on this key, as it might be sent."""
    return [key if word == "{}" else word for word in _SAMPLES[command]]


ALL_COMMANDS = tuple(_SAMPLES)
