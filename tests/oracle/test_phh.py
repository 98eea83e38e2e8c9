"""Recorded stud hands through ``Replay`` and ``brelan replay``: 143 real ones and 100 made up."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from brelan.audit.replay import Replay, ReplayError
from brelan.cli.replay import replay
from brelan.histories.phh import PhhError, parse
from tests.requirements import SHARED_DATA

REAL = sorted((SHARED_DATA / "stud").glob("*.phh"))
MADE_UP = sorted((SHARED_DATA / "stud_made").glob("*.phh"))

HAND = """\
variant = "F7S"
antes = [1, 1]
bring_in = 2
small_bet = 5
big_bet = 10
starting_stacks = [282, 209]
actions = [
  "d dh p1 KhQc8d", "d dh p2 Jd7d4s", "p2 pb", "p1 cbr 5", "p2 cc",
  "d dh p1 Ah", "d dh p2 4h", "p2 cbr 5", "p1 cbr 15", "p2 f",
]
finishing_stacks = [293, 198]
"""


def expected() -> dict[str, list[int]]:
    """By file: what the real rooms would have paid without their rake."""
    file = SHARED_DATA / "stud" / "expected.json"
    return {name: hand["stacks_without_rake"] for name, hand in json.loads(file.read_text()).items()}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(replay, [str(argument) for argument in arguments])


@pytest.mark.parametrize("file", REAL, ids=lambda file: file.stem)
def test_real_hand(file: Path) -> None:
    """By our rules alone."""
    hand = Replay(parse(file.read_text()))
    assert list(hand.play()) == expected()[file.name]
    assert hand.read_by_the_file == []


@pytest.mark.parametrize("file", MADE_UP, ids=lambda file: file.stem)
def test_made_up_hand(file: Path) -> None:
    hand = parse(file.read_text())
    assert Replay(hand).play() == hand.finishing_stacks


def test_all_are_there(shared_data: Path) -> None:
    assert (len(REAL), len(MADE_UP)) == (143, 100)
    assert {file.name for file in REAL} == set(expected())


# --- the command -----------------------------------------------------------------------------------------------------


def test_json_is_an_object_a_line_and_nothing_else(shared_data: Path) -> None:
    result = run("--json", *REAL, *MADE_UP)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["file"] for line in lines] == [str(file) for file in (*REAL, *MADE_UP)]
    assert all(line["ok"] is True for line in lines)
    stacks = expected()
    assert all(line["finishing_stacks"] == stacks[Path(line["file"]).name] for line in lines[: len(REAL)])


def test_a_line_has_these_keys(tmp_path: Path) -> None:
    file = tmp_path / "hand.phh"
    file.write_text(HAND)
    result = run(file, "--json")
    assert result.stdout == f'{{"file":{json.dumps(str(file))},"finishing_stacks":[293,198],"ok":true}}\n'


def test_for_people_it_is_a_line_of_text(tmp_path: Path) -> None:
    file = tmp_path / "hand.phh"
    file.write_text(HAND)
    assert run(file).stdout == f"{file}: [293, 198]\n"


def test_a_short_all_in_is_played_as_the_file_means_it(tmp_path: Path) -> None:
    """The bring-in has 1 chip left of 2: the file's others call 1 (S13: 2). An all-in to 7 on a bet of 5 is no raise
    here, and the next one is to 10; the file's is to 12 (B7). It says so, and plays on."""
    file = tmp_path / "hand.phh"
    file.write_text(
        """\
variant = "F7S"
antes = [1, 1, 1, 1]
bring_in = 2
small_bet = 5
big_bet = 10
starting_stacks = [2, 100, 9, 100]
actions = [
  "d dh p1 KhQc2c", "d dh p2 Jd7d4s", "d dh p3 9d9c8s", "d dh p4 AdAc3h", "p1 pb", "p2 cc", "p3 cc", "p4 cc",
  "d dh p1 5d", "d dh p2 Jh", "d dh p3 9h", "d dh p4 Ah", "p4 cbr 5", "p2 cc", "p3 cbr 7", "p4 cbr 12", "p2 f",
  "d dh p1 6d", "d dh p3 Th", "d dh p4 Kc", "d dh p1 6c", "d dh p3 4h", "d dh p4 Kd", "d dh p1 8d", "d dh p3 5h",
  "d dh p4 Ks",
]
"""
    )
    result = run(file)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{file}: [0, 93, 0, 118]",
        "  'p2 cc' is played as the file means it, after a short all-in",
        "  'p4 cbr 12' is played as the file means it, after a short all-in",
    ]
    assert run(file, "--json").stdout.count("\n") == 1


BROKEN = {
    "not TOML": "variant = ",
    "another game": HAND.replace("F7S", "NT"),
    "no variant": HAND.replace('variant = "F7S"', ""),
    "no stacks": HAND.replace("starting_stacks = [282, 209]", ""),
    "one player": HAND.replace("[282, 209]", "[282]"),
    "nine players": HAND.replace("[282, 209]", str([100] * 9)),
    "a stack of nothing": HAND.replace("[282, 209]", "[282, 0]"),
    "half a chip": HAND.replace("[282, 209]", "[282.5, 209]"),
    "different antes": HAND.replace("[1, 1]", "[1, 2]"),
    "too few antes": HAND.replace("[1, 1]", "[1]"),
    "a bring-in of text": HAND.replace("bring_in = 2", 'bring_in = "2"'),
    "a negative bet": HAND.replace("big_bet = 10", "big_bet = -10"),
    "no limits": HAND.replace("small_bet = 5", "small_bet = 0"),
    "no actions": HAND.partition("actions")[0],
    "actions of one text": HAND.partition("actions")[0] + 'actions = "p1 f"',
    "an action that is a number": HAND.replace('"p2 pb"', "7"),
    "a stranger": HAND.replace("p2 pb", "p3 pb"),
    "an unknown action": HAND.replace("p2 pb", "p2 jam"),
    "a bet of nothing": HAND.replace("p1 cbr 15", "p1 cbr"),
    "a bet of text": HAND.replace("p1 cbr 15", "p1 cbr fifteen"),
    "a bet too large": HAND.replace("p1 cbr 15", "p1 cbr 20"),
    "an enormous bet": HAND.replace("p1 cbr 15", "p1 cbr 1" + "0" * 40),
    "a bet larger than his stack": HAND.replace("p1 cbr 15", "p1 cbr 400"),
    "no such card": HAND.replace("KhQc8d", "KhQc1d"),
    "unknown cards": HAND.replace("KhQc8d", "????8d"),
    "too few cards": HAND.replace("KhQc8d", "KhQc"),
    "too many cards": HAND.replace("p1 Ah", "p1 AhAd"),
    "a card twice": HAND.replace("p1 Ah", "p1 Jd"),
    "no cards": HAND.replace("d dh p1 KhQc8d", "d dh p1"),
    "cards for the wrong player": HAND.replace('"d dh p1 Ah", "d dh p2 4h"', '"d dh p2 4h", "d dh p1 Ah"'),
    "an action too early": HAND.replace('"d dh p1 Ah", ', ""),
    "the wrong player acts": HAND.replace("p2 cbr 5", "p1 cbr 5"),
    "the wrong player brings in": HAND.replace("p2 pb", "p1 pb"),
    "a fold instead of the bring-in": HAND.replace("p2 pb", "p2 f"),
    "a bring-in later on": HAND.replace("p2 cbr 5", "p2 pb"),
    "a community card too early": HAND.replace('"d dh p1 Ah", "d dh p2 4h"', '"d db Ah"'),
    "it stops in the middle": HAND.replace('"p2 f",', ""),
    "it goes on after the end": HAND.replace('"p2 f",', '"p2 f", "p1 cc"'),
    "the deal goes on after the end": HAND.replace('"p2 f",', '"p2 f", "d dh p1 2c"'),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_a_sentence(text: str, tmp_path: Path) -> None:
    assert text != HAND
    file = tmp_path / "broken.phh"
    file.write_text(text)
    result = run(file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{file}: ")
    assert result.stderr.endswith("1 of 1 could not be played.\n")
    assert "Traceback" not in result.stderr
    assert isinstance(result.exception, SystemExit), "it left by itself"

    line = json.loads(run(file, "--json").stdout)
    assert line["finishing_stacks"] is None
    assert line["ok"] is False
    assert line["error"]


def test_a_broken_file_among_others(tmp_path: Path) -> None:
    good, broken, missing = tmp_path / "good.phh", tmp_path / "broken.phh", tmp_path / "missing.phh"
    good.write_text(HAND)
    broken.write_bytes(b"\xff\xfe")
    result = run("--json", broken, good, missing, tmp_path)
    assert result.exit_code == 1
    assert [json.loads(line)["ok"] for line in result.stdout.splitlines()] == [False, True, False, False]
    assert run(broken, good, missing, tmp_path).stderr.endswith("3 of 4 could not be played.\n")


def test_without_files_it_says_how_it_is_called() -> None:
    assert run("--json").exit_code == 2


# --- parsing ---------------------------------------------------------------------------------------------------------


def test_comments_and_shows_are_read() -> None:
    hand = parse(HAND.replace('"p2 f",', '"# a remark", "p2 f # sighs", "p1 sm KhQc8dAh", "p2 sm ????"'))
    assert [action.kind for action in hand.actions[-3:]] == ["fold", "show", "show"]
    assert Replay(hand).play() == (293, 198)


def test_every_recorded_hand_has_what_is_read(shared_data: Path) -> None:
    for file in (*REAL, *MADE_UP):
        hand = parse(file.read_text())
        assert msgspec.json.encode(hand)
        assert hand.finishing_stacks is not None


def test_errors_are_of_two_kinds() -> None:
    with pytest.raises(PhhError, match="TOML"):
        parse("=")
    with pytest.raises(ReplayError, match="p2 has to act"):
        Replay(parse(HAND.replace("p2 pb", "p1 pb"))).play()
