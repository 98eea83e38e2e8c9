"""Commits and entries as Redis is sent and sends them. The scripts say what their arguments mean."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from brelan.eventlog.log import Entry
from brelan.eventlog.plan import DELETED, HASH, SORTED_SET, STREAM, STRING, Plan, StreamPlan, parse_id
from brelan.eventlog.position import position_fields

Argument = str | bytes | int

FIELD = b"m"  # the one field of every entry
MOST_ARGUMENTS = 2_000  # of one command within the script: Lua's unpack has a limit

_MUST = {STREAM: "s", HASH: "h", SORTED_SET: "z", STRING: "t", DELETED: "x"}


def script(name: str) -> str:
    """The text of ``<name>.lua``."""
    return Path(__file__).with_name(f"{name}.lua").read_text()


def commit_arguments(plan: Plan) -> tuple[list[str], list[Argument]]:
    """KEYS and ARGV of ``commit.lua``."""
    commit = plan.commit
    keys = [plan.position, *plan.kinds]
    place = {key: number for number, key in enumerate(keys, 1)}
    position = position_fields(commit)
    argv: list[Argument] = [commit.number, commit.nonce, 2 * len(position)]
    for pair in position.items():
        argv += pair
    for key, kind in plan.kinds.items():
        stream = plan.streams.get(key)
        argv += [_MUST[kind]] if stream is None else _stream_check(stream)
    for key in commit.delete:
        argv += ("DEL", place[key], 0)
    _collections(argv, place, "HDEL", commit.hash_delete, tuple)
    _collections(argv, place, "ZREM", commit.zset_remove, tuple)
    _collections(argv, place, "HSET", commit.hash_set, _fields)
    _collections(argv, place, "ZADD", commit.zset_add, _scores)
    for key, value in commit.string_set.items():
        argv += ("SET", place[key], 1, value)
    for key, stream in plan.streams.items():
        _appends(argv, place[key], stream)
    return keys, argv


def _stream_check(stream: StreamPlan) -> Sequence[Argument]:
    if stream.expected is not None:
        return ("=", stream.expected)
    if stream.ids:
        return ("<", *parse_id(stream.ids[0]))
    return ("s",)


def _appends(argv: list[Argument], place: int, stream: StreamPlan) -> None:
    if stream.ids:
        argv += ("+", place, 2 * len(stream.data))
        for pair in zip(stream.ids, stream.data, strict=True):
            argv += pair
    elif stream.data:
        argv += ("*", place, len(stream.data))
        argv += stream.data
    if stream.keep_from is not None:
        argv += ("XTRIM", place, 3, "MINID", "=", stream.keep_from)


def _collections(
    argv: list[Argument],
    place: Mapping[str, int],
    command: str,
    changes: Mapping[str, Any],
    flat: Callable[[Any], Sequence[Argument]],
) -> None:
    for key, change in changes.items():
        arguments = flat(change)
        for start in range(0, len(arguments), MOST_ARGUMENTS):
            some = arguments[start : start + MOST_ARGUMENTS]
            argv += (command, place[key], len(some))
            argv += some


def _fields(fields: Mapping[str, bytes]) -> list[Argument]:
    return [argument for pair in fields.items() for argument in pair]


def _scores(members: Mapping[str, int]) -> list[Argument]:
    return [argument for member, score in members.items() for argument in (score, member)]


def entries_of(stream: str, found: Iterable[Any]) -> list[Entry]:
    """From XRANGE: ``[[id, [field, value]], ...]``."""
    return [Entry(stream, entry_id.decode(), fields[1]) for entry_id, fields in found]


def entries_of_streams(answer: Iterable[Any] | None) -> list[Entry]:
    """From XREAD: ``[[stream, [[id, [field, value]], ...]], ...]``, or nothing."""
    entries: list[Entry] = []
    for stream, found in answer or ():
        entries += entries_of(stream.decode(), found)
    return entries


def milliseconds(time: Sequence[Any]) -> int:
    """From TIME: seconds and microseconds."""
    return int(time[0]) * 1000 + int(time[1]) // 1000
