"""Who is started again when it dies, and for how long."""

import asyncio
import sys
from pathlib import Path

import pytest

from brelan.cli import children
from brelan.cli.children import GIVE_UP_AFTER, Child

DIES = "import pathlib, sys; file = pathlib.Path(sys.argv[1]); file.write_text(file.read_text() + 'x'); sys.exit(1)"


def times(starts: Path) -> int:
    return len(starts.read_text())


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with one letter for each start."""
    monkeypatch.setattr(children, "RESTART_SECONDS", 0.01)
    monkeypatch.setattr(children, "LONGEST_RESTART_SECONDS", 0.05)
    file = tmp_path / "starts"
    file.write_text("")
    return file


def dying(starts: Path, said: list[str]) -> Child:
    return Child("dying", [sys.executable, "-c", DIES, str(starts)], {}, lambda _, line: said.append(line))


async def test_one_that_never_worked_is_given_up(starts: Path) -> None:
    said: list[str] = []
    child = dying(starts, said)
    await child.start()
    async with asyncio.timeout(20):
        await child.given_up.wait()
    await child.stop()
    assert times(starts) == GIVE_UP_AFTER
    assert "giving up" in said[-1]


async def test_one_that_has_worked_is_started_again_as_often_as_it_takes(starts: Path) -> None:
    """A room goes on for years: five bad seconds in a row, a crash in each, must not end it."""
    child = dying(starts, [])
    await child.start()
    child.trust()
    async with asyncio.timeout(30):
        while times(starts) < 2 * GIVE_UP_AFTER:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
    assert not child.given_up.is_set()
    await child.stop()
