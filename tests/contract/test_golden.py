"""Every message that ever shipped decodes for ever: its bytes lie in ``golden/``, with what they meant.

A line is a value in MessagePack (hex), a tab, and the same value as JSON with field names. A message that gained a
field gets new lines; old ones stay. ``BRELAN_WRITE_GOLDEN=1 pytest tests/contract`` writes what is missing, and never
changes or removes a line.
"""

import os
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from brelan.events import commands, dealing, envelope, money, table
from brelan.rules.state import TableState
from tests.contract.samples import samples

GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("BRELAN_WRITE_GOLDEN") == "1"

UNIONS: dict[str, Any] = {
    "table": table.TableEvent,
    "commands": commands.ClientCommand | commands.InternalCommand,
    "money": money.WalletRequest | money.WalletReply | money.CashierCommand,
    "envelope": envelope.FeedEntry | envelope.CommandEntry | envelope.Epoch,
}
PLAIN: dict[str, tuple[type[msgspec.Struct], ...]] = {
    "money": (money.WalletRequested, money.WalletReplied, money.CashierRequested),
    "dealing": (dealing.Dealt, dealing.HoleCards, dealing.HandRecord, dealing.SealedRecord),
    "state": (TableState,),
}
MESSAGES = [(folder, kind, union) for folder, union in UNIONS.items() for kind in get_args(union)]
MESSAGES += [(folder, kind, kind) for folder, kinds in PLAIN.items() for kind in kinds]
BY_NAME = {f"{folder}/{kind.__name__}": (kind, union) for folder, kind, union in MESSAGES}

encode = msgspec.msgpack.Encoder().encode


def named(value: Any) -> Any:
    """The value as plain data with field names, whatever its layout on the wire."""
    if isinstance(value, msgspec.Struct):
        return {"": type(value).__name__, **{name: named(getattr(value, name)) for name in value.__struct_fields__}}
    if isinstance(value, tuple | list):
        return [named(item) for item in value]
    if isinstance(value, dict):
        return {key: named(item) for key, item in value.items()}
    return value.hex() if isinstance(value, bytes) else value


def says_the_same(was: Any, now: Any) -> bool:
    """Every field that ``was`` there has its value still; ``now`` may have gained fields."""
    if isinstance(was, dict) and isinstance(now, dict):
        return all(key in now and says_the_same(value, now[key]) for key, value in was.items())
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(says_the_same, was, now))
    return bool(was == now)


def path_of(name: str) -> Path:
    return GOLDEN / f"{name}.txt"


def lines_of(name: str) -> list[tuple[bytes, Any]]:
    path = path_of(name)
    if not path.exists():
        return []
    pairs = (line.split("\t") for line in path.read_text().splitlines())
    return [(bytes.fromhex(data), msgspec.json.decode(meaning)) for data, meaning in pairs]


def write_missing(name: str, kind: type[msgspec.Struct]) -> None:
    known = {data for data, _ in lines_of(name)}
    missing = [value for value in samples(kind) if encode(value) not in known]
    path_of(name).parent.mkdir(parents=True, exist_ok=True)
    with path_of(name).open("a") as file:
        file.writelines(f"{encode(value).hex()}\t{msgspec.json.encode(named(value)).decode()}\n" for value in missing)


@pytest.mark.parametrize("name", BY_NAME)
def test_todays_bytes_are_kept(name: str) -> None:
    kind, _ = BY_NAME[name]
    if WRITE:
        write_missing(name, kind)
    known = {data for data, _ in lines_of(name)}
    unknown = [value for value in samples(kind) if encode(value) not in known]
    assert not unknown, f"{kind.__name__} is written differently than before: see the docstring of {__file__}"


@pytest.mark.parametrize("name", BY_NAME)
def test_old_bytes_are_read_and_mean_the_same(name: str) -> None:
    _, union = BY_NAME[name]
    for data, meaning in lines_of(name):
        assert says_the_same(meaning, named(msgspec.msgpack.decode(data, type=union)))


def test_no_message_that_shipped_is_gone() -> None:
    shipped = {str(path.relative_to(GOLDEN).with_suffix("")) for path in GOLDEN.rglob("*.txt")}
    assert shipped <= set(BY_NAME)


def test_a_field_that_changed_its_place_would_be_noticed() -> None:
    was = named(table.ChipsAdded(seat=1, amount=2))
    assert says_the_same(was, named(table.ChipsAdded(seat=1, amount=2)))
    assert not says_the_same(was, named(table.ChipsAdded(seat=2, amount=1)))
