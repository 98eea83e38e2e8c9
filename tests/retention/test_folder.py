"""The small files of a room's folder: whole or not there, whenever the room ends."""

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from brelan.cli import main
from brelan.cli.running import keep_shards
from brelan.cli.setup import operator_file, operator_secret, read_operator


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Files are made, and nothing can be written into them: what a full disk does, and a kill in between."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_number_of_shards_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(OSError, match="too large"):
        keep_shards(tmp_path, 2)
    assert list(tmp_path.iterdir()) == []
    keep_shards(tmp_path, 2)
    assert (tmp_path / "shards").read_text() == "2\n"


def test_so_is_the_operators_key(tmp_path: Path) -> None:
    path = operator_file(tmp_path)
    path.parent.mkdir()
    with full_disk(), pytest.raises(OSError, match="too large"):
        operator_secret(path)
    assert list(path.parent.iterdir()) == []
    operator = operator_secret(path)
    assert operator_secret(path) == read_operator(path) == operator


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"name": "operator"}', "\0"])
def test_an_operators_key_that_is_damaged_is_a_sentence(tmp_path: Path, text: str) -> None:
    path = operator_file(tmp_path)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(OSError, match="holds no name and password"):
        read_operator(path)
    for command in (["table", "s00-a"], ["dead"], ["furnish"]):
        done = CliRunner().invoke(main, [*command, "--data", str(tmp_path)])
        assert (done.exit_code, "no name and password" in done.output) == (1, True), done.output
