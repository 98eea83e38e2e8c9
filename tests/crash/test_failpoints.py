"""Fail-points themselves: they kill where and when they are told to, once, and are not there otherwise."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from brelan.eventlog import failpoints
from brelan.eventlog.failpoints import POINTS, BadFailPoint, FailPoint
from brelan.eventlog.keys import Service
from tests.requirements import PROJECT

PASSING = """
from brelan.eventlog import failpoints
from brelan.eventlog.keys import Service

for number in range(1, 6):
    failpoints.reach(Service.TABLE, "read:after")
    failpoints.reach(Service.TABLE, "commit:before")
    with open("passed", "w") as file:
        file.write(str(number))
"""
INSIDE = """
import asyncio
from brelan.eventlog import failpoints
from brelan.eventlog.keys import Service

async def ask():
    open("asked", "w").close()
    await asyncio.sleep(5)

asyncio.run(failpoints.inside(Service.WALLET, "book:inside", ask()))
"""


def run(folder: Path, source: str, armed: str | None, variable: bool = True) -> int:
    if armed is not None:
        (folder / "failpoint").write_text(armed)
    env = {**os.environ, **({failpoints.VARIABLE: str(folder / "failpoint")} if variable else {})}
    return subprocess.run([sys.executable, "-c", source], cwd=folder, env=env, timeout=30, check=False).returncode


def test_kills_at_its_point_when_its_number_has_come_and_only_once(tmp_path: Path) -> None:
    assert run(tmp_path, PASSING, "table:commit:before:3") == -signal.SIGKILL
    assert (tmp_path / "passed").read_text() == "2"
    assert not (tmp_path / "failpoint").exists()
    assert run(tmp_path, PASSING, None) == 0, "started again, it is not killed again"
    assert (tmp_path / "passed").read_text() == "5"


@pytest.mark.parametrize("armed", ["table:commit:before:6", "dealer:commit:before:1", "table:commit:after:1"])
def test_other_points_and_later_numbers_kill_nobody(tmp_path: Path, armed: str) -> None:
    assert run(tmp_path, PASSING, armed) == 0
    assert (tmp_path / "failpoint").exists()


def test_without_the_variable_a_file_means_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, PASSING, "table:commit:before:1", variable=False) == 0


def test_inside_is_after_the_asking_and_before_the_answer(tmp_path: Path) -> None:
    assert run(tmp_path, INSIDE, "wallet:book:inside:1") == -signal.SIGKILL
    assert (tmp_path / "asked").exists()


def test_stops_instead_of_killing_when_told_to() -> None:
    assert FailPoint.parse("dealer:commit:before:2:stop\n") == FailPoint("dealer:commit:before", 2, signal.SIGSTOP)


@pytest.mark.parametrize(
    "text", ["", "table", "table:commit:before", "table:commit:beside:3", "table:commit:before:x", "a:b:c:1:stop"]
)
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(BadFailPoint, match=r"is no fail-point: .*such as table:commit:before:40"):
        FailPoint.parse(text)


def test_a_service_says_so_and_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "failpoint").write_text("kill the table")
    started = subprocess.run(
        [sys.executable, "-m", "brelan_table"],
        env={**os.environ, failpoints.VARIABLE: str(tmp_path / "failpoint")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert started.returncode == 2
    assert "brelan table: 'kill the table' is no fail-point" in started.stderr


def test_every_point_is_documented_and_stands_in_the_code() -> None:
    """The calls in the source: their service is a name, or the processor's handler's, which is either of two."""
    there: set[str] = set()
    for top in ("libs", "services"):
        for path in (PROJECT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Call(
                        func=ast.Attribute(value=ast.Name(id="failpoints"), attr="reach" | "inside"),
                        args=[service, ast.Constant(value=str() as point), *_],
                    ):
                        named = ast.unparse(service).rpartition(".")[2]
                        services = ("table", "dealer") if named == "service" else (Service[named].value,)
                        there |= {f"{one}:{point}" for one in services}
    assert there == set(POINTS)
    page = (PROJECT / "docs" / "internals" / "failpoints.md").read_text()
    for point in POINTS:
        for word in point.split(":"):
            assert word in page, f"{point} is not described"
