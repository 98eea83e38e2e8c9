"""What a table may be configured to: S1, S15, D1, D5, M1, M5, T1, T7."""

from typing import Any

import pytest
from msgspec.structs import replace

from brelan.events import commands, table
from brelan.events.config import Game, Rake, RakeCap
from brelan.rules.configuration import LIMITS, preset, problems
from tests.rules.kit import DRAW, STUD, Table, stud


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("game", ["stud", "draw"])
def test_S15_a_preset_for_each_posted_limit(game: Game, limit: str) -> None:
    config = preset(game, limit)
    lower, upper = limit.split("-")
    assert problems(config) == []
    assert (config.lower_limit, config.upper_limit) == (int(lower) * 100, int(upper) * 100)
    assert config.upper_limit == 2 * config.lower_limit
    assert config.minimum_buy_in == 10 * config.lower_limit
    if game == "stud":
        assert 0 < config.ante <= config.bring_in < config.lower_limit
        assert 0.15 <= config.ante / config.lower_limit <= 0.25
        assert 0.4 <= config.bring_in / config.lower_limit <= 0.6


def test_S1_limits_from_1_2_to_20_40() -> None:
    assert (LIMITS[0], LIMITS[-1]) == ("1-2", "20-40")
    with pytest.raises(KeyError):
        preset("stud", "40-80")


@pytest.mark.parametrize(
    "changed",
    [
        {"ante": 0},
        {"ante": -1},
        {"ante": 3},  # above the bring-in
        {"bring_in": 4},  # not below the limit
        {"bring_in": 0},
        {"minimum_buy_in": 39},
        {"lower_limit": 0},
        {"upper_limit": 3},
        {"small_blind": 2},
        {"seats": 1},
        {"seats": 9},
        {"name": " "},
        {"smallest_chip": 0},
        {"smallest_chip": 3},
        {"currency_unit": 0},
        {"action_time_ms": 0},
        {"hand_pause_ms": -1},
        {"protected_all_ins_per_day": -1},
        {"rake": Rake(-1)},
        {"rake": Rake(1001)},
        {"rake": Rake(500, (RakeCap(2, 1), RakeCap(2, 2)))},
        {"rake": Rake(500, (RakeCap(2, -1),))},
    ],
)
def test_S15_what_a_stud_table_cannot_be(changed: dict[str, Any]) -> None:
    (sentence, *_) = problems(replace(STUD, **changed))
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    "changed", [{"ante": 2}, {"ante": 1, "bring_in": 1}, {"bring_in": 3}, {"minimum_buy_in": 40}, {"seats": 2}]
)
def test_S15_what_it_can_be(changed: dict[str, Any]) -> None:
    assert problems(replace(STUD, **changed)) == []


@pytest.mark.parametrize("seats", [1, 6])
def test_D1_a_draw_table_has_two_to_five_seats(seats: int) -> None:
    assert problems(replace(DRAW, seats=seats)) == ["A draw table has two to five seats."]


def test_D5_the_small_blind_has_to_be_payable() -> None:
    assert problems(replace(DRAW, small_blind=0)) != []
    assert problems(replace(DRAW, small_blind=5)) != []
    assert problems(replace(DRAW, small_blind=4)) == []
    awkward = replace(
        DRAW, lower_limit=900, upper_limit=1800, minimum_buy_in=9000, currency_unit=100, smallest_chip=300
    )
    assert problems(awkward) != [], "500 cannot be paid in chips of 300"
    assert problems(replace(awkward, small_blind=300)) == []
    assert problems(replace(DRAW, ante=1)) != []


def test_S15_bad_configuration_is_refused_with_the_reason() -> None:
    made = Table(STUD)
    made.state.status = "none"
    assert made.refusal(commands.OpenTable(replace(STUD, ante=0)), player="op", operator=True) == "bad_configuration"
    assert made.refusal(commands.OpenTable(STUD), player="ann") == "not_operator"
    made.do(commands.OpenTable(STUD), player="op", operator=True)
    assert made.refusal(commands.OpenTable(STUD), player="op", operator=True) == "table_exists"


def test_S15_a_changed_configuration_holds_from_the_next_hand_on() -> None:
    played = stud({1: 100, 2: 100, 3: 100}, {1: "Kh", 2: "Qs", 3: "2d"})
    played.do(commands.ConfigureTable(replace(STUD, ante=2)), operator=True)
    assert played.state.config == STUD
    played.play("3 bring_in, 1 fold, 2 fold").expire()
    assert played.posts == ["1 ante 2", "2 ante 2", "3 ante 2"]
    for changed in ({"seats": 7}, {"game": "draw", "seats": 5, "ante": 0, "bring_in": 0}):
        command = commands.ConfigureTable(replace(STUD, **changed))
        assert played.refusal(command, operator=True) == "bad_configuration"


def test_T1_the_documents_ten_seconds_are_the_default() -> None:
    assert STUD.action_time_ms == preset("draw", "2-4").action_time_ms == 10_000
    assert STUD.timeout_policy == "protect"
    assert STUD.protected_all_ins_per_day is None


def test_M1_the_posted_minimum_is_the_tables() -> None:
    made = Table(replace(STUD, minimum_buy_in=75))
    assert made.refusal(commands.SitDown(74), player="ann") == "buy_in_too_small"
    made.do(commands.SitDown(75), player="ann")
    assert made.last(table.PlayerSeated).seat == 1
