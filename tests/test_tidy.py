"""Tidy: what holds for the source itself.

No clock, chance or print outside their places, every rule number with a test of its name, every ADR in the index,
every module introducing itself.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.requirements import PROJECT

RULES = (
    *(f"B{number}" for number in range(1, 12)),
    *(f"D{number}" for number in range(1, 16)),
    *(f"S{number}" for number in range(1, 16)),
    *(f"T{number}" for number in range(1, 10)),
    *(f"H{number}" for number in range(1, 8)),
    *(f"M{number}" for number in range(1, 7)),
)

# Where each is at home: a file or a folder, and why.
PLACES = {
    "print": {},
    "the wall clock": {
        "libs/brelan/auth/": "a token is issued and expires in the world's time, not in the store's",
    },
    "random": {
        "libs/brelan/client/": "bots play and reconnect at random",
        "libs/brelan/bots/": "bots play and reconnect at random",
        "libs/brelan/sim/": "faults are drawn from the seed",
        "libs/brelan/bench/": "load is drawn from the seed",
    },
}
CLOCK_CALLS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"}


def sources() -> list[Path]:
    return sorted(path for top in ("libs", "services") for path in (PROJECT / top).rglob("*.py"))


def modules_of_tests() -> list[Path]:
    return sorted((PROJECT / "tests").rglob("test_*.py"))


def dotted(node: ast.expr) -> str:
    """``datetime.datetime.now`` of its expression; empty for anything but names."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if inner := dotted(value):
            return f"{inner}.{attr}"
        case _:
            return ""


def out_of_place(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What stands in a module that has a place of its own, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="print")):
                yield "print", node.lineno
            case ast.Attribute() if ".".join(dotted(node).split(".")[-2:]) in CLOCK_CALLS:
                yield "the wall clock", node.lineno
            case ast.Import(names=names) if any(alias.name == "random" for alias in names):
                yield "random", node.lineno
            case ast.ImportFrom(module="random"):
                yield "random", node.lineno
            case ast.ImportFrom(module="time", names=names) if {"time", "time_ns"} & {alias.name for alias in names}:
                yield "the wall clock", node.lineno
            case _:
                pass


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("print('a')", ["print"]),
        ("import datetime\ndatetime.datetime.now(datetime.UTC)", ["the wall clock"]),
        ("from time import time", ["the wall clock"]),
        ("import time\nclock = time.time", ["the wall clock"]),
        ("import random", ["random"]),
        ("from random import Random", ["random"]),
        ("import time\ntime.monotonic()\n'print(1)'\nmessage.time.timestamp", []),
    ],
)
def test_the_check_itself_finds(source: str, found: list[str]) -> None:
    assert [what for what, _ in out_of_place(ast.parse(source))] == found


@pytest.mark.parametrize("what", PLACES)
def test_has_its_place(what: str) -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{line}"
        for path in sources()
        if not str(path.relative_to(PROJECT)).startswith(tuple(PLACES[what]))
        for thing, line in out_of_place(ast.parse(path.read_text()))
        if thing == what
    ]
    assert not found, f"{what} has no place in {', '.join(found)}"


def test_every_module_introduces_itself() -> None:
    silent = [
        str(path.relative_to(PROJECT))
        for path in sources()
        if len(path.read_text().splitlines()) > 10 and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not silent, f"no docstring says what these are for: {', '.join(silent)}"


def rules_with_tests() -> set[str]:
    """The rule numbers in the names of test functions: ``S9`` of ``test_S9_open_pair_lets_anyone_bet_upper``."""
    names = (
        node.name
        for path in modules_of_tests()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {match[1] for name in names if (match := re.match(r"test_([A-Z]\d+)_", name))}


def test_every_rule_has_a_test_of_its_name() -> None:
    tested = rules_with_tests()
    untested = [rule for rule in RULES if rule not in tested]
    assert not untested, f"no test is named after {', '.join(untested)}"


def test_no_test_is_named_after_a_rule_that_does_not_exist() -> None:
    assert rules_with_tests() <= set(RULES)


def test_every_decision_is_in_the_index() -> None:
    folder = PROJECT / "docs" / "adr"
    decisions = {path.name for path in folder.glob("[0-9]*.md")}
    indexed = re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", (folder / "README.md").read_text())
    assert sorted(indexed) == sorted(decisions)


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = sorted(int(path.name[:4]) for path in (PROJECT / "docs" / "adr").glob("[0-9]*.md"))
    assert numbers == list(range(1, len(numbers) + 1))
