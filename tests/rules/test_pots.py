"""B8-B10, M5: what goes back, pots and side pots, odd chips, rake."""

import pytest
from msgspec.structs import replace

from brelan.events import table
from brelan.events.config import Rake, RakeCap
from brelan.events.table import Pot, PotShare
from brelan.rules import pots
from brelan.rules.state import HandPlayer
from tests.rules.kit import DRAW, STUD, Table, draw, stud

UP = {1: "Kh Kd 9c 8c", 2: "Qs 7d 6h 5c", 3: "Jd 6c 4h 3h", 4: "2c 5d 9h 8d"}  # 4 brings in, 1 acts first later


def players(text: str) -> list[HandPlayer]:
    """``"1:20 all-in, 2:40, 3:15 folded, 4:40+2"``: chips put in, a dead blind after the plus."""
    found = []
    for line in text.split(","):
        amounts, *how = line.split()
        seat, put_in = amounts.split(":")
        live, _, dead = put_in.partition("+")
        player = HandPlayer(int(seat), f"p{seat}", f"p{seat}", 0, 0, int(live) + int(dead or 0), int(dead or 0))
        player.all_in, player.folded = "all-in" in how, "folded" in how
        found.append(player)
    return found


def formed(text: str) -> list[tuple[int, tuple[int, ...]]]:
    return [(pot.amount, pot.seats) for pot in pots.form(players(text))]


def returned(text: str) -> tuple[int, int] | None:
    back = pots.unmatched(players(text))
    return None if back is None else (back.seat, back.amount)


@pytest.mark.parametrize(
    ("given", "pots_expected"),
    [
        ("1:20, 2:20, 3:20", [(60, (1, 2, 3))]),
        ("1:20 all-in, 2:40, 3:40", [(60, (1, 2, 3)), (40, (2, 3))]),
        ("1:20 all-in, 2:30 all-in, 3:40, 4:40", [(80, (1, 2, 3, 4)), (30, (2, 3, 4)), (20, (3, 4))]),
        ("1:20 all-in, 2:20 all-in, 3:40, 4:40", [(80, (1, 2, 3, 4)), (40, (3, 4))]),  # one level, one pot
        ("1:20 all-in, 2:10 folded, 3:40, 4:40", [(70, (1, 3, 4)), (40, (3, 4))]),
        ("1:20 all-in, 2:30 folded, 3:40, 4:40", [(80, (1, 3, 4)), (50, (3, 4))]),
        ("1:20 all-in, 2:20 folded, 3:20", [(60, (1, 3))]),
        ("1:20 all-in, 2:40 folded, 3:40", [(60, (1, 3)), (40, (3,))]),  # 3 alone can win the side pot
        ("1:10 folded, 2:30 folded, 3:20 all-in, 4:20 all-in", [(80, (3, 4))]),  # what only folded players reach
        ("1:40+2, 2:40, 3:5 all-in", [(17, (1, 2, 3)), (70, (1, 2))]),  # a dead blind is no level
        ("1:0+2 all-in, 2:40, 3:40", [(2, (1, 2, 3)), (80, (2, 3))]),
        ("1:3 all-in, 2:5, 3:5", [(9, (1, 2, 3)), (4, (2, 3))]),  # S13: a short ante
    ],
)
def test_B9_one_pot_for_each_all_in_level(given: str, pots_expected: list[tuple[int, tuple[int, ...]]]) -> None:
    assert formed(given) == pots_expected


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ("1:20, 2:20, 3:20", None),
        ("1:28, 2:20, 3:20 all-in", (1, 8)),
        ("1:28 all-in, 2:20 folded, 3:24 all-in", (1, 4)),
        ("1:28, 2:20 folded, 3:12 folded", (1, 8)),
        ("1:20+2, 2:20", None),  # nobody has to match a dead blind
        ("1:7, 2:6 all-in", (1, 1)),  # S13, heads-up
        ("1:7, 2:6 all-in, 3:7", None),
        ("1:4, 2:2 all-in, 3:2 folded", (1, 2)),
    ],
)
def test_B8_the_part_that_nobody_matched_goes_back(given: str, back: tuple[int, int] | None) -> None:
    assert returned(given) == back


def test_B8_what_goes_back_is_in_no_pot_and_won_by_nobody() -> None:
    played = stud({1: 100, 2: 100, 3: 100}, UP, rake=Rake(1000))
    played.play("3 bring_in, 1 call, 2 call, 1 bet 4, 2 fold, 3 fold")
    assert played.returned == [(1, 4)]
    awarded = played.last(table.PotAwarded)
    assert (awarded.amount, awarded.rake) == (9, 0)
    assert played.stacks == {1: 106, 2: 97, 3: 97}


def test_B8_an_uncalled_bring_in_goes_back_too() -> None:
    played = stud({1: 100, 2: 100, 3: 100}, UP).play("3 bring_in, 1 fold, 2 fold")
    assert played.returned == [(3, 2)]
    assert played.stacks == {1: 99, 2: 99, 3: 102}


def test_B8_a_bet_that_a_protected_player_only_partly_matched_goes_back() -> None:
    played = draw({1: 100, 2: 100, 3: 100}, wins="3 > 1").play("1 raise 8, 2 fold, 3 time")
    assert played.player(3).protected
    assert played.returned == [(1, 4)]
    assert played.pots == [(10, {1, 3})]
    played.play("1 pat")
    assert played.stacks == {1: 96, 2: 98, 3: 106}


def test_B9_a_protected_all_in_is_a_level_like_any_other() -> None:
    played = draw({1: 100, 2: 100, 3: 100}, wins="3 > 2 > 1").play("1 raise 8, 2 call, 3 time")
    assert played.pots == [(12, {1, 2, 3}), (8, {1, 2})]
    played.play("2 pat, 1 pat, 2 check, 1 check")
    assert played.stacks == {1: 92, 2: 100, 3: 108}, "96 were left in front of him and stay his"


def test_B9_several_all_ins_with_betting_on_the_side() -> None:
    played = draw({1: 6, 2: 100, 3: 9, 4: 100}, button=1, wins="1 > 3 > 2 > 4")
    played.play("4 raise 8, 1 call 6, 2 call, 3 raise 9, 4 call, 2 call")
    assert played.pots == [(24, {1, 2, 3, 4}), (9, {2, 3, 4})]
    played.play("2 pat, 3 pat, 4 pat, 1 pat, 2 bet 8, 4 call")
    assert played.pots == [(24, {1, 2, 3, 4}), (9, {2, 3, 4}), (16, {2, 4})]
    assert played.stacks == {1: 24, 2: 99, 3: 9, 4: 83}


def test_B9_a_pot_that_one_player_alone_can_win_goes_back_to_him_unraked() -> None:
    played = draw({1: 4, 2: 100, 3: 100}, wins="1 > 2 > 3", rake=Rake(1000))
    played.play("1 call, 2 raise 8, 3 call, 2 pat, 3 pat, 1 pat, 2 bet, 3 fold")
    side, main = played.all(table.PotAwarded)
    assert (side.amount, side.rake, side.shares) == (8, 0, (PotShare(2, 8),))
    assert (main.amount, main.rake, main.shares) == (12, 1, (PotShare(1, 11),))


@pytest.mark.parametrize(
    ("amount", "winners", "chip", "shares"),
    [
        (100, (2, 3, 1), 1, [(2, 34), (3, 33), (1, 33)]),
        (101, (2, 3, 1), 1, [(2, 34), (3, 34), (1, 33)]),
        (51, (1, 4), 1, [(1, 26), (4, 25)]),
        (75, (1, 4), 25, [(1, 50), (4, 25)]),  # the smallest chip is 25
        (100, (3,), 25, [(3, 100)]),
        (1, (2, 3), 1, [(2, 1)]),
    ],
)
def test_B10_odd_chips_go_one_by_one_in_seat_order(
    amount: int, winners: tuple[int, ...], chip: int, shares: list[tuple[int, int]]
) -> None:
    assert [(share.seat, share.amount) for share in pots.split(amount, winners, chip)] == shares


def test_B10_in_draw_the_odd_chip_goes_left_of_the_button() -> None:
    played = draw({1: 100, 2: 100, 3: 100}, button=2, wins="1 = 2 > 3", small_blind=1)
    assert played.posts == ["3 small_blind 1", "1 big_blind 4"]
    played.play("2 call, 3 fold, 1 check, 1 pat, 2 pat, 1 check, 2 check")
    assert played.last(table.PotAwarded).shares == (PotShare(1, 5), PotShare(2, 4))


def test_B10_in_stud_it_goes_to_the_lowest_seat_and_suits_do_not_matter() -> None:
    played = stud({2: 100, 5: 100, 7: 100}, {2: "2c 3h", 5: "Kh Qd", 7: "As Kd"}, wins="5 = 7 > 2")
    played.play("2 bring_in, 5 call, 7 call, 7 bet, 2 fold, 5 call")
    for _ in range(3):
        first = played.turn_seat
        played.play(f"{first} check, {12 - (first or 0)} check")
    assert played.last(table.PotAwarded).shares == (PotShare(5, 9), PotShare(7, 8))


def test_B10_each_pot_is_split_on_its_own() -> None:
    played = draw({1: 5, 2: 100, 3: 100}, wins="1 = 2 = 3", small_blind=2)
    played.play("1 raise 5, 2 call, 3 call, 2 pat, 3 pat, 1 pat, 2 bet, 3 call")
    side, main = played.all(table.PotAwarded)
    assert side.shares == (PotShare(2, 8), PotShare(3, 8))
    assert main.shares == (PotShare(2, 5), PotShare(3, 5), PotShare(1, 5))


# --- M5 ----------------------------------------------------------------------------------------------------------

CAPPED = Rake(500, (RakeCap(2, 100), RakeCap(4, 200)))


@pytest.mark.parametrize(
    ("amounts", "dealt_in", "rake", "taken"),
    [
        ([1000], 3, CAPPED, [50]),
        ([5000], 3, CAPPED, [100]),
        ([5000], 4, CAPPED, [200]),
        ([5000], 8, CAPPED, [200]),
        ([3000, 1000], 4, CAPPED, [150, 50]),
        ([3000, 1000, 400], 4, CAPPED, [150, 50, 0]),  # one cap for the hand, main pot first
        ([3000, 2000], 4, CAPPED, [150, 50]),
        ([39], 2, Rake(500), [1]),  # 1.95, rounded down
        ([19], 2, Rake(500), [0]),
        ([5000], 2, Rake(500), [250]),  # no caps
        ([5000], 2, Rake(500, (RakeCap(3, 100),)), [0]),  # below the smallest table named
        ([5000], 2, Rake(), [0]),
    ],
)
def test_M5_percentage_and_one_cap_for_the_hand(
    amounts: list[int], dealt_in: int, rake: Rake, taken: list[int]
) -> None:
    made = [Pot(amount, tuple(range(1, 5 - place))) for place, amount in enumerate(amounts)]
    assert pots.rakes(made, replace(STUD, rake=rake), dealt_in) == taken


def test_M5_rounded_down_to_the_smallest_chip_the_cap_too() -> None:
    config = replace(DRAW, smallest_chip=25, rake=Rake(500, (RakeCap(2, 90),)))
    assert pots.rakes([Pot(1975, (1, 2))], config, 2) == [75]
    assert pots.rakes([Pot(5000, (1, 2))], config, 2) == [75]


def test_M5_the_cap_goes_by_the_number_dealt_in_not_by_those_left() -> None:
    rake = Rake(1000, (RakeCap(2, 1), RakeCap(3, 3)))
    played = draw({1: 100, 2: 100, 3: 100}, wins="1", rake=rake)
    played.play("1 raise 8, 2 fold, 3 raise 12, 1 raise 16, 3 call, 3 pat, 1 pat, 3 check, 1 check")
    assert played.last(table.PotAwarded).rake == 3


@pytest.mark.parametrize(
    ("acts", "rake"),
    [
        ("1 raise 8, 2 raise 12, 3 fold, 1 fold", 0),  # no draw, no drop
        ("1 raise 8, 2 fold, 3 call, 3 pat, 1 pat, 3 bet, 1 fold", 1),  # 18 without the bet that went back
    ],
)
def test_M5_nothing_before_the_first_round_is_complete_and_nothing_from_returned_bets(acts: str, rake: int) -> None:
    played = draw({1: 100, 2: 100, 3: 100}, rake=Rake(1000)).play(acts)
    assert played.last(table.HandEnded).rake == rake


def test_M5_no_fourth_street_no_drop_but_all_in_on_third_street_is_raked() -> None:
    up = {1: "Kh Kd", 2: "Qs 7d", 3: "2d 6c"}
    rake = Rake(1000)
    assert (
        stud({1: 50, 2: 50, 3: 50}, up, rake=rake)
        .play("3 bring_in, 1 complete, 2 fold, 3 fold")
        .last(table.HandEnded)
        .rake
        == 0
    )
    played: Table = stud({1: 5, 2: 50, 3: 5}, up, wins="1", rake=rake).play("3 bring_in, 1 complete, 2 call, 3 call")
    assert played.last(table.HandEnded).rake == 1
    assert played.last(table.HandEnded).transfer_id == f"rake:{played.last(table.HandStarted).hand_id}"
    assert sum(played.stacks.values()) == 59
