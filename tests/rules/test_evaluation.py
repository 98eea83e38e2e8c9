"""Hands and boards (D2, D3, S4, S7, S14), against published counts, a plain second computation and pokerkit."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, permutations
from math import comb
from random import Random

import pytest
from pokerkit import Hand, ShortDeckHoldemHand, StandardHighHand

from brelan.rules.cards import cards_from_text, deck, text_of
from brelan.rules.evaluation import (
    HandName,
    HandValue,
    best_five,
    best_hand_stud,
    board_value,
    category,
    hand_value_draw,
    hand_value_standard_five,
    name_of_hand,
    sentence_of,
)

DRAW_CATEGORIES = (  # D2, low to high
    "high_card",
    "one_pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "full_house",
    "flush",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
)


def draw(text: str, deck_size: int) -> HandValue:
    return hand_value_draw(cards_from_text(text), deck_size)


def stud(text: str) -> HandValue:
    return best_hand_stud(cards_from_text(text))


def board(text: str) -> HandValue:
    return board_value(cards_from_text(text))


def assert_ranks_as_written(table: str, evaluate: Callable[[str], HandValue]) -> None:
    """Each line beats the next; hands on one line are equal."""
    lines = table.strip().splitlines()
    for line in lines:
        assert len({evaluate(hand) for hand in line.split()}) == 1, f"{line} should tie"
    for better, worse in pairwise(lines):
        assert evaluate(better.split()[0]) > evaluate(worse.split()[0]), f"{better} should beat {worse}"


# --- D2, D3: 7-A -------------------------------------------------------------------------------------------------

DRAW_32 = """
AsKsQsJsTs AhKhQhJhTh
KdQdJdTd9d
JcTc9c8c7c
Tc9c8c7cAc TdAd9d7d8d
AsAhAdAc7c
7s7h7d7cAc
7s7h7d7c8c
AsKsQsJs9s AdKdQdJd9d
KsQsJsTs8s
Qs9s8s7sTs
AsAhAdKsKh
AsAhAd7s7h
7s7h7dAsAh
AsKsQsJsTh
JsTs9s8s7h
AsTs9s8s7h AhTs9d8c7c
AsAhAdKs7h
7s7h7d9s8h
AsAhKsKhQd
AsAhKsKh7d
8s8h7s7hAd
AsAh9s8h7d
KsKhAsQhJd
7s7hTs9h8d
AsKsQsJh9d
AsJs9s8h7d
KsQsJsTh8d
QsTs9s8h7d
"""

DRAW_36 = """
AsKsQsJsTs
Ts9s8s7s6s
9s8s7s6sAs
6s6h6d6c7c
AsTs9s8s7s
Js9s8s7s6s
AsAhAd6s6h
6s6h6d7s7h
AsKsQsJsTh
Ts9s8s7s6h
As9s8s7s6h 9h8h7h6hAd
6s6h6d8s7h
AsAh6s6h7d
6s6h9s8h7d
AsKsQsJh9d
AsTs9s8h7d AhTh9h8s7c
KsQsJsTh8d
"""


@pytest.mark.parametrize(("deck_size", "table"), [(32, DRAW_32), (36, DRAW_36)])
def test_D2_hands_of_7_A_rank_as_in_this_table(deck_size: int, table: str) -> None:
    assert_ranks_as_written(table, lambda hand: draw(hand, deck_size))


@pytest.mark.parametrize("deck_size", [32, 36])
def test_D2_flush_beats_full_house(deck_size: int) -> None:
    assert draw("QsTs9s8s7s", deck_size) > draw("AsAhAdKsKh", deck_size) > draw("AsKsQsJsTh", deck_size)


def test_D3_ace_plays_below_the_seven_with_32_cards() -> None:
    assert category(draw("As7h8d9cTs", 32)) == "straight"
    assert draw("As7h8d9cTs", 32) < draw("7h8d9cTsJs", 32)


def test_D3_ace_plays_below_the_six_with_36_cards() -> None:
    assert category(draw("As6h7d8c9s", 36)) == "straight"
    assert draw("As6h7d8c9s", 36) < draw("6h7d8c9sTs", 36)


def test_D3_ace_seven_to_ten_is_no_straight_with_36_cards() -> None:
    assert category(draw("As7h8d9cTs", 36)) == "high_card"
    assert category(draw("As7s8s9sTs", 36)) == "flush"


@pytest.mark.parametrize(("hand", "deck_size"), [("AsTs9s8s7s", 32), ("As9s8s7s6s", 36)])
def test_D3_a_low_straight_of_one_suit_is_the_lowest_straight_flush(hand: str, deck_size: int) -> None:
    assert category(draw(hand, deck_size)) == "straight_flush"
    assert draw(hand, deck_size) == min(
        value
        for value in (hand_value_draw(cards, deck_size) for cards in combinations(deck(deck_size)[::4], 5))
        if category(value) == "straight_flush"
    )


@pytest.mark.parametrize(
    ("hand", "deck_size"), [("KsAh7d8c9s", 32), ("QsKhAd7c8s", 32), ("KsAh6d7c8s", 36), ("JsQhKdAc6s", 36)]
)
def test_D3_a_straight_does_not_wrap_around(hand: str, deck_size: int) -> None:
    assert category(draw(hand, deck_size)) == "high_card"


def test_D1_a_card_below_the_deck_is_refused() -> None:
    with pytest.raises(ValueError, match="lowest rank in this deck is 7"):
        draw("6s7h8d9cTs", 32)
    with pytest.raises(ValueError, match="lowest rank in this deck is 6"):
        draw("5s7s8s9sTs", 36)


@pytest.mark.parametrize("hand", ["As", "AsKsQsJs", "AsKsQsJsTh9h", "AsKsQsJsTs9s"])
def test_D2_a_hand_has_five_cards(hand: str) -> None:
    with pytest.raises(ValueError, match=r"too (few|many)"):
        draw(hand, 32)


def test_D1_there_is_no_7_A_with_52_cards() -> None:
    with pytest.raises(ValueError, match="32 or 36"):
        draw("AsKsQsJsTs", 52)


def plain_key(hand: tuple[int, ...], lowest: int) -> tuple[int, list[int]]:
    """Five cards as a player compares them: the category's place, then the ranks, the most frequent first."""
    ranks = sorted((card // 4 for card in hand), reverse=True)
    ranks = sorted(ranks, key=ranks.count, reverse=True)
    counts = [ranks.count(rank) for rank in ranks]
    if ranks == [12, lowest + 3, lowest + 2, lowest + 1, lowest]:
        ranks = [lowest + 3, lowest + 2, lowest + 1, lowest, lowest - 1]
    flush = len({card % 4 for card in hand}) == 1
    straight = counts[0] == 1 and ranks[0] - ranks[4] == 4
    if straight and flush:
        name = "royal_flush" if ranks[0] == 12 else "straight_flush"
    elif flush:
        name = "flush"
    elif straight:
        name = "straight"
    else:
        name = {
            (4, 4): "four_of_a_kind",
            (3, 2): "full_house",
            (3, 1): "three_of_a_kind",
            (2, 2): "two_pair",
            (2, 1): "one_pair",
            (1, 1): "high_card",
        }[counts[0], counts[3]]
    return DRAW_CATEGORIES.index(name), ranks


@pytest.mark.parametrize(("deck_size", "hands"), [(32, 201_376), (36, 376_992)])
def test_D2_every_hand_of_the_deck_ranks_as_by_a_plain_comparison(deck_size: int, hands: int) -> None:
    lowest = 13 - deck_size // 4
    keys: dict[HandValue, tuple[int, list[int]]] = {}
    seen = 0
    for hand in combinations(deck(deck_size), 5):
        key = plain_key(hand, lowest)
        value = hand_value_draw(hand, deck_size)
        assert keys.setdefault(value, key) == key, f"{text_of(hand)} is no tie"
        seen += 1
    in_order = sorted(keys)
    assert seen == hands
    assert all(keys[worse] < keys[better] for worse, better in pairwise(in_order))
    assert [category(value) for value in in_order] == [DRAW_CATEGORIES[keys[value][0]] for value in in_order]


def counts_by_formula(ranks: int) -> dict[str, tuple[int, int]]:
    """Hands of a deck with so many ranks by category: how many hands, and how many that differ in value."""
    straights = ranks - 3  # those within the deck, and the one with the ace below it
    different = comb(ranks, 5) - straights  # five ranks that make no straight
    singles, threes_left = ranks - 1, comb(ranks - 1, 3)
    return {
        "royal_flush": (4, 1),
        "straight_flush": (4 * (straights - 1), straights - 1),
        "four_of_a_kind": (ranks * singles * 4, ranks * singles),
        "full_house": (ranks * 4 * singles * 6, ranks * singles),
        "flush": (4 * different, different),
        "straight": (straights * (4**5 - 4), straights),
        "three_of_a_kind": (ranks * 4 * comb(singles, 2) * 4**2, ranks * comb(singles, 2)),
        "two_pair": (comb(ranks, 2) * 6 * 6 * (ranks - 2) * 4, comb(ranks, 2) * (ranks - 2)),
        "one_pair": (ranks * 6 * threes_left * 4**3, ranks * threes_left),
        "high_card": (different * (4**5 - 4), different),
    }


def counts_found(evaluate: Callable[[tuple[int, ...]], HandValue], deck_size: int) -> dict[str, tuple[int, int]]:
    hands: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for value, times in Counter(map(evaluate, combinations(deck(deck_size), 5))).items():
        hands[category(value)] += times
        values[category(value)] += 1
    return {code: (hands[code], values[code]) for code in hands}


@pytest.mark.parametrize("deck_size", [32, 36])
def test_D2_there_are_as_many_hands_of_each_category_as_there_must_be(deck_size: int) -> None:
    found = counts_found(lambda hand: hand_value_draw(hand, deck_size), deck_size)
    assert found == counts_by_formula(deck_size // 4)


def test_D2_7_A_agrees_with_pokerkits_short_deck_where_both_have_the_same_rules() -> None:
    """pokerkit's short deck has D3's 36 cards and flush over full house."""
    chance = Random(7)
    hands = [tuple(chance.sample(deck(36), 5)) for _ in range(3_000)]
    assert_same_order(
        [hand_value_draw(hand, 36) for hand in hands], [ShortDeckHoldemHand(text_of(hand)) for hand in hands]
    )


# --- S14: stud ---------------------------------------------------------------------------------------------------

STUD = """
AsKsQsJsTs2h2d AsKsQsJsTs9s8s
KsQsJsTs9sKhKd
5s4s3s2sAsAhAd
2s2h2d2cAs3h3d
2s2h2d2cKs3h3d
2s2h2d3s3h3d4s
2s2h2dQs5h5d3s 2s2h2d5s5h4d4s
AsKs9s4s3s9d9c
AsKs9s4s2s2h2d AhKh9h4h2h9c9s
AsKsQhJdTc2h7d
6s5h4d3c2sAsAh
5s4h3d2cAsAhAd
AsAhAd4c3c9h8h
AsAhKdKcQsQh2d
AsAhKdKcJs9h2d
2s2hAsKhQd9c8c
2s2hAsKhJdTc8c
AsKsQdJc9h3h2h
7s5h4d3c2s
"""


def test_S14_stud_hands_rank_as_in_this_table() -> None:
    assert_ranks_as_written(STUD, stud)


def test_S14_full_house_beats_flush() -> None:
    assert stud("2s2h2d3s3hKdQd") > stud("AsKsQsJs9sKhKd") > stud("AsKsQsJsThKhKd")


def test_S14_ace_plays_below_the_deuce() -> None:
    assert category(stud("As2h3d4c5sKdQh")) == "straight"
    assert stud("As2h3d4c5sKdQh") < stud("2h3d4c5s6sKdQh")


def test_S14_a_straight_does_not_wrap_around() -> None:
    assert category(stud("QsKhAd2c3s7d8h")) == "high_card"


def test_S14_the_higher_of_two_straights_plays() -> None:
    assert stud("AsKh5d4c3s2h6d") == stud("6s5h4d3c2sKdQd")


def test_S14_a_straight_and_a_flush_apart_are_no_straight_flush() -> None:
    assert category(stud("9s8s7s6s5hKs2h")) == "flush"


@pytest.mark.parametrize("hand", ["", "AsKsQsJs", "AsKsQsJsTs9s8s7s", "AsKhQsJhTs9h8s7h"])
def test_S14_a_stud_hand_has_five_to_seven_cards(hand: str) -> None:
    with pytest.raises(ValueError, match=r"too (few|many)"):
        stud(hand)


def test_S14_a_hand_with_five_of_a_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="four cards of a rank"):
        stud("AsAhAdAcAs")


def test_S14_a_hand_of_five_cards_has_five() -> None:
    with pytest.raises(ValueError, match="not 6"):
        hand_value_standard_five(cards_from_text("AsKhQsJhTs9h"))


@pytest.mark.parametrize("number", [5, 6, 7])
def test_S14_stud_agrees_with_pokerkit(number: int) -> None:
    chance = Random(number)
    hands = [tuple(chance.sample(deck(52), number)) for _ in range(1_500)]
    assert_same_order(
        [best_hand_stud(hand) for hand in hands], [StandardHighHand.from_game(text_of(hand), "") for hand in hands]
    )


@pytest.mark.slow
def test_S14_all_2598960_hands_of_five_cards_are_counted_and_7462_differ() -> None:
    found = counts_found(best_hand_stud, 52)
    assert found == counts_by_formula(13)
    assert sum(hands for hands, _ in found.values()) == 2_598_960
    assert sum(values for _, values in found.values()) == 7_462


def test_S14_seven_cards_are_worth_their_best_five() -> None:
    chance = Random(14)
    for _ in range(2_000):
        hand = chance.sample(deck(52), 7)
        assert best_hand_stud(hand) == max(hand_value_standard_five(five) for five in combinations(hand, 5))


def assert_same_order(ours: list[HandValue], theirs: Sequence[Hand]) -> None:
    """Sorted by ours, every neighbour is equal or better by theirs exactly when it is by ours."""
    both = sorted(zip(ours, theirs, strict=True), key=lambda pair: pair[0])
    for (our_worse, their_worse), (our_better, their_better) in pairwise(both):
        assert (our_worse == our_better) == (their_worse == their_better)
        assert (our_worse < our_better) == (their_worse < their_better)


# --- S4: suits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suits", list(permutations(range(4))))
def test_S4_suits_never_decide_between_hands_or_boards(suits: tuple[int, ...]) -> None:
    chance = Random(4)
    for _ in range(50):
        hand = chance.sample(deck(52), 7)
        other = [card // 4 * 4 + suits[card % 4] for card in hand]
        assert best_hand_stud(hand) == best_hand_stud(other)
        assert board_value(hand[2:6]) == board_value(other[2:6])
        five = chance.sample(deck(32), 5)
        assert hand_value_draw(five, 32) == hand_value_draw([card // 4 * 4 + suits[card % 4] for card in five], 32)


def test_S4_the_order_in_which_cards_were_dealt_decides_nothing() -> None:
    hand = cards_from_text("AsKsQs9h9d9c2h")
    assert {best_hand_stud(dealt) for dealt in permutations(hand)} == {best_hand_stud(hand)}


# --- S7: boards --------------------------------------------------------------------------------------------------

BOARDS = {
    1: "As Kh 3d 2c",
    2: "AsAh 2s2h AsKh AsQh KsQh 4s2s 3s2s",
    3: "AsAhAd 2s2h2d AsAhKd AsAh2d KsKhAd 2s2hAd 2s2h3d AsKhQd AsKhJd AsQhJd 5s3s2s 4s3s2s",
    4: """AsAhAdAc 2s2h2d2c AsAhAdKc 2s2h2dAc 2s2h2d3c AsAhKdKc 3s3h2d2c AsAhKdQc 2s2hAdKc 2s2hAdQc 2s2h4d3c
          AsKhQdJc AsKhQdTc AsKhJdTc KsQhJdTc 6s4h3d2c 5s4s3s2s""",
}


@pytest.mark.parametrize("number", BOARDS)
def test_S7_boards_rank_as_in_this_table(number: int) -> None:
    values = [board(cards) for cards in BOARDS[number].split()]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


def test_S7_no_straights_or_flushes_on_a_board() -> None:
    assert board("KsQsJsTs") < board("AhKdQc2s")
    assert board("KsQsJsTs") == board("KhQdJcTh")
    assert board("5s4s3s2s") < board("6h4d3c2s")
    assert board("4s3s2sAs") == board("Ah4d3c2s")


@pytest.mark.parametrize(("one", "other"), [("AsKs", "KhAd"), ("9s9h3d", "3s9d9c"), ("8s8h2s2h", "2d8d2c8c")])
def test_S7_equal_boards_tie(one: str, other: str) -> None:
    assert board(one) == board(other)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_S7_boards_of_all_ranks_rank_as_by_a_plain_comparison(number: int) -> None:
    keys: dict[HandValue, tuple[list[int], list[int]]] = {}
    cards = deck(52) if number < 4 else deck(36)  # four of 52 take a second and show nothing new
    for up_cards in combinations(cards, number):
        ranks = sorted((card // 4 for card in up_cards), reverse=True)
        ranks = sorted(ranks, key=ranks.count, reverse=True)
        key = sorted(Counter(ranks).values(), reverse=True), ranks
        assert keys.setdefault(board_value(up_cards), key) == key
    assert all(keys[worse] < keys[better] for worse, better in pairwise(sorted(keys)))


@pytest.mark.parametrize("cards", ["", "AsKsQsJsTs"])
def test_S7_a_board_has_one_to_four_cards(cards: str) -> None:
    with pytest.raises(ValueError, match="one to four up cards"):
        board(cards)


# --- what players see --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "deck_size", "five"),
    [
        ("2h9sTsAsJsKsQs", 52, "AsKsQsJsTs"),
        ("Ah5s2s4s3sAsAd", 52, "5s4s3s2sAs"),
        ("6h5s2s4s3hAsAd", 52, "6h5s4s3h2s"),
        ("KhTdKsTc7d2h3h", 52, "KsKhTdTc7d"),
        ("KhTdKsTc7d7hQh", 52, "KsKhTdTcQh"),
        ("2h2d2s9c9d9hAs", 52, "9h9d9c2s2h"),
        ("2c2d2s2h9d9hAs", 52, "2s2h2d2cAs"),
        ("3s9s2s7s5s4sAh", 52, "9s7s5s4s3s"),
        ("9s9hAsKhQd8c7c", 52, "9s9hAsKhQd"),
        ("7hAs9dTc8s", 32, "Tc9d8s7hAs"),
        ("7hAs9dTc8s", 36, "AsTc9d8s7h"),
        ("6hAs9d7c8s", 36, "9d8s7c6hAs"),
        ("7s8h7hAs7d", 32, "7s7h7dAs8h"),
    ],
)
def test_H4_the_best_five_are_laid_out_as_a_player_would(cards: str, deck_size: int, five: str) -> None:
    assert text_of(best_five(cards_from_text(cards), deck_size)) == five


@pytest.mark.parametrize(("cards", "deck_size"), [("AhQsJd", 52), ("AhQsJd", 32), ("AhQsJdTc9h8h", 36)])
def test_H4_no_best_five_of_what_is_no_hand(cards: str, deck_size: int) -> None:
    with pytest.raises(ValueError, match=r"too (few|many)"):
        best_five(cards_from_text(cards), deck_size)


def test_H4_the_best_five_are_worth_what_all_the_cards_are() -> None:
    chance = Random(5)
    for _ in range(1_000):
        hand = tuple(chance.sample(deck(52), 7))
        five = best_five(hand, 52)
        assert set(five) < set(hand)
        assert hand_value_standard_five(five) == best_hand_stud(hand)
        assert five == best_five(hand[::-1], 52)


@pytest.mark.parametrize(
    ("cards", "code", "ranks", "sentence"),
    [
        ("AsKsQsJsTs", "royal_flush", "", "Royal flush"),
        ("5s4s3s2sAs", "straight_flush", "5", "Straight flush, five high"),
        ("6s6h6d6cAs", "four_of_a_kind", "6", "Four of a kind, sixes"),
        ("KsKhKdTcTs", "full_house", "KT", "Full house, kings over tens"),
        ("AsJs9s3s2s", "flush", "A", "Flush, ace high"),
        ("Ts9s8s7s6h", "straight", "T", "Straight, ten high"),
        ("2s2h2d8c7s", "three_of_a_kind", "2", "Three of a kind, deuces"),
        ("KsKhTdTc7s", "two_pair", "KT", "Two pair, kings and tens"),
        ("QsQhTd9c7s", "one_pair", "Q", "Pair of queens"),
        ("AsQhTd9c7s", "high_card", "A", "Ace high"),
    ],
)
def test_S14_hands_have_names(cards: str, code: str, ranks: str, sentence: str) -> None:
    name = name_of_hand(stud(cards))
    assert (name.category, name.ranks) == (code, tuple(ranks))
    assert sentence_of(name) == sentence


@pytest.mark.parametrize(
    ("cards", "deck_size", "name"),
    [
        ("AsTs9s8s7s", 32, HandName("straight_flush", ("T",))),
        ("AsTs9s8s7s", 36, HandName("flush", ("A",))),
        ("AsTs9s8s7h", 32, HandName("straight", ("T",))),
        ("As9s8s7s6h", 36, HandName("straight", ("9",))),
        ("AsKsQsJsTs", 36, HandName("royal_flush")),
        ("7s7h7dAcAs", 32, HandName("full_house", ("7", "A"))),
    ],
)
def test_D3_hands_of_7_A_have_names(cards: str, deck_size: int, name: HandName) -> None:
    assert name_of_hand(draw(cards, deck_size)) == name


@pytest.mark.parametrize(("cards", "code"), [("9s9h", "one_pair"), ("9s8h", "high_card"), ("9s9h8d8c", "two_pair")])
def test_S7_boards_have_categories_too(cards: str, code: str) -> None:
    assert category(board(cards)) == code
