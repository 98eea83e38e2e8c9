"""The simulator: the same every time, finds what it should, prints what it promises."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from brelan.sim.faults import FAULTS, UnknownFault, parse_faults
from brelan.sim.report import setups, simulate
from brelan.sim.shrink import shrink
from brelan.sim.world import Setup, play

ALL = tuple(sorted(FAULTS))
BRELAN = (sys.executable, "-m", "brelan.cli")


def brelan(*words: str, hash_seed: str = "0") -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run((*BRELAN, *words), capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def test_without_faults_every_promise_is_kept() -> None:
    for seed in ("quiet/0", "quiet/1", "quiet/2"):
        outcome = play(Setup(seed, 10))
        assert outcome.found is None, outcome.found
        assert outcome.hands >= 10
        assert outcome.faults == {}
        assert len(outcome.checks) >= 20


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_same_seed_gives_the_same_bytes() -> None:
    """Whatever Python's hash seed is, and on however many processors."""
    words = ("simulate", "--hands", "16", "--seed", "bytes/7", "--faults", "all", "--json")
    one, two = (brelan(*words, hash_seed=hash_seed) for hash_seed in ("1", "4711"))
    assert one[0] == two[0] == 0, (one, two)
    first, second = (json.loads(done[1]) for done in (one, two))
    for name in ("log_hash", "hands", "steps", "faults", "checks", "room_seconds"):
        assert first[name] == second[name], name


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing() -> None:
    worlds = setups(12, "processes", ALL, world_hands=4)
    assert [world.seed for world in worlds] == ["processes/0", "processes/1", "processes/2"]
    assert list(simulate(worlds, 1)) == list(simulate(worlds, 3))


def test_other_seeds_are_other_worlds() -> None:
    assert play(Setup("one", 2)).log_hash != play(Setup("other", 2)).log_hash


def test_a_broken_promise_is_brought_down_to_one_command() -> None:
    outcome = play(Setup("shrink/0", 20, ("lost_reply", "socket_dropped"), defect="snapshot_wrong"))
    assert outcome.found is not None
    shrunk = shrink(outcome)
    assert shrunk.setup.hands == 1
    assert shrunk.setup.faults == ()
    again = play(shrunk.setup)
    assert again.found == shrunk.found
    earlier = play(Setup(shrunk.setup.seed, 1, (), shrunk.found.step, "snapshot_wrong"))
    assert earlier.found is None, "the prefix is not the shortest"
    assert shrunk.command.startswith("brelan simulate --hands 1 --seed shrink/0 --faults none --steps ")


# --- the command -------------------------------------------------------------------------------------------------


def test_the_report_is_one_json_object() -> None:
    code, out, err = brelan(
        "simulate", "--hands", "3", "--seed", "report", "--faults", "lost_reply,crash_after_commit", "--json"
    )
    assert (code, err) == (0, "")
    report: dict[str, Any] = json.loads(out)
    assert report["hands"] >= 3
    assert report["seed"] == "report"
    assert report["violations"] == 0
    assert set(report["faults"]) <= {"lost_reply", "crash_after_commit"}
    assert len(report["log_hash"]) == 64
    assert report["checks"]["a command has one effect"] > 0
    assert report["seconds"] > 0


def test_it_says_how_far_it_is_to_whoever_waits() -> None:
    code, _, err = brelan("simulate", "--hands", "4", "--world-hands", "2", "--seed", "progress", "--faults", "none")
    assert code == 0
    assert [line.rpartition(":")[0] for line in err.splitlines()] == [
        "world 1 of 2 (progress/0)",
        "world 2 of 2 (progress/1)",
    ]


def test_a_broken_promise_ends_with_1_and_says_how_to_see_it_again() -> None:
    code, out, err = brelan(
        "simulate", "--hands", "4", "--seed", "broken", "--faults", "none", "--defect", "snapshot_wrong", "--json"
    )
    assert code == 1
    report = json.loads(out)
    assert report["violations"] == 1
    assert report["violation"]["check"] == "a snapshot is what the log says"
    assert report["violation"]["again"] in err
    words = report["violation"]["again"].split()
    assert words[0] == "brelan"
    assert brelan(*words[1:])[0] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--hands", "0"), "Invalid value for '--hands'"),
        (("--faults", "earthquake"), "There is no fault earthquake. There are: all, none, crash_before_commit"),
        (("--steps", "-1"), "Invalid value for '--steps'"),
        (("--wings", "2"), "No such option"),
    ],
)
def test_wrong_flags_get_a_sentence(words: Sequence[str], sentence: str) -> None:
    code, out, err = brelan("simulate", *words)
    assert (code, out) == (2, "")
    assert sentence in err


def test_kinds_of_faults_are_read() -> None:
    assert parse_faults("all") == frozenset(FAULTS)
    assert parse_faults("none") == frozenset()
    assert parse_faults("lost_reply, tail_lost") == {"lost_reply", "tail_lost"}
    with pytest.raises(UnknownFault, match="There is no fault rain"):
        parse_faults("lost_reply,rain")


# --- seeds -------------------------------------------------------------------------------------------------------


def _seeds() -> list[dict[str, Any]]:
    folder = Path(__file__).parent / "seeds"
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", _seeds(), ids=lambda seed: str(seed["seed"]))
def test_what_a_seed_once_found_is_not_there_any_more(seed: dict[str, Any]) -> None:
    faults = tuple(sorted(parse_faults(seed["faults"])))
    outcome = play(Setup(seed["seed"], seed["hands"], faults))
    assert outcome.found is None, f"{outcome.found}; it once was: {seed['found']}"


@pytest.mark.slow
@pytest.mark.timeout(1_500)
def test_200_seeds_of_20_hands() -> None:
    code, out, err = brelan("simulate", "--hands", "4000", "--world-hands", "20", "--seed", "many", "--json")
    report = json.loads(out)
    assert (code, report["violations"], report["worlds"]) == (0, 0, 200), err
    assert report["hands"] >= 4000
    assert set(report["faults"]) == set(ALL), f"never befell: {set(ALL) - set(report['faults'])}"
