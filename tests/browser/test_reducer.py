"""The page's model of a table (``table_state.js``): what it makes of the socket's messages."""

import random
import re
from typing import Any

from brelan.rules.cards import TEXTS, deck
from brelan.rules.evaluation import best_hand_stud, hand_value_draw, name_of_hand
from brelan.rules.rejections import SENTENCES
from tests.browser.node import WEB, Node

CONFIG = {"name": "Stud", "game": "stud", "lower_limit": 400, "upper_limit": 800, "seats": 3, "minimum_buy_in": 4000,
          "ante": 100, "bring_in": 200, "action_time_ms": 10_000, "currency_unit": 100}  # fmt: skip
DRAW = {**CONFIG, "name": "Draw", "game": "draw", "ante": 0, "bring_in": 0}

FOLD = """
import * as table from "./table_state.js";
let state = table.emptyTable();
const answer = [];
for (const message of given) {
  const next = table.receive(state, message);
  answer.push(next);
  if (next !== null) state = next;
}
"""


def snapshot(config: dict[str, Any] = CONFIG, version: int = 10, seat: int | None = 1, **table: Any) -> dict[str, Any]:
    seats = [
        {"seat": n, "player_id": f"p{n}", "name": name, "stack": 5000, "reserved": 0, "entry": "wait",
         "owes_big_blind": False, "owes_small_blind": False, "sitting_out": False, "away": False}
        for n, name in enumerate(("Ana", "Bob", "Cyd"), start=1)
    ]  # fmt: skip
    view = {"table_id": "t", "config": config, "next_config": None, "status": "open", "seats": seats, "hand": None,
            "turn": None, "post_ask": None, "next_hand_ms": None, "show_offered": [], "hands_played": 0}  # fmt: skip
    return {"type": "snapshot", "version": version, "epoch": 1, "now": 0, "table": {**view, **table},
            "you": {"player_id": "p1", "name": "Ana", "seat": seat}, "cards": None}  # fmt: skip


def entry(version: int, *events: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "events", "version": version, "epoch": 1, "at": 1_000, "events": list(events), **more}


def happened(type_: str, **fields: Any) -> dict[str, Any]:
    return {"type": type_, **fields}


def started(deck_size: int = 52, **blinds: Any) -> dict[str, Any]:
    players = [
        {"seat": n, "player_id": f"p{n}", "name": name, "stack": 5000}
        for n, name in enumerate(("Ana", "Bob", "Cyd"), 1)
    ]
    none = {"button": None, "small_blind": None, "big_blind": None}
    return happened("HandStarted", hand_id="h", number=1, deck_size=deck_size, players=players, **{**none, **blinds})


def antes() -> list[dict[str, Any]]:
    return [happened("Posted", seat=seat, kind="ante", amount=100) for seat in (1, 2, 3)]


def dealt(*up: str) -> dict[str, Any]:
    cards = [{"seat": seat, "down": 2, "up": [card]} for seat, card in enumerate(up, start=1)]
    return happened("CardsDealt", hand_id="h", street="third", cards=cards, burned=0, reshuffled=False, community=None)


def bet(seat: int, kind: str, pay: int, to: int, *, all_in: bool = False) -> dict[str, Any]:
    return happened("BetPlaced", seat=seat, kind=kind, pay=pay, to=to, all_in=all_in, cause="player")


def turn(seat: int, *actions: tuple[str, int, int], turn_id: int = 5) -> dict[str, Any]:
    listed = [{"kind": kind, "to": to, "pay": pay, "all_in": False} for kind, to, pay in actions]
    return happened("TurnOpened", turn_id=turn_id, seat=seat, deadline_ms=9_000, actions=listed, raises_left=3)


OWN = {"hand_id": "h", "seat": 1, "cards": ["9s", "Ah", "9h"], "up": [False, False, True]}
STUD_HAND = [
    snapshot(),
    entry(11, started(), *antes()),
    entry(12, dealt("9h", "Kd", "2c"), turn(3, ("bring_in", 200, 200), ("bet", 400, 400)), cards=OWN),
    entry(13, bet(3, "bring_in", 200, 200), turn(1, ("fold", 0, 0), ("call", 200, 200), ("complete", 400, 400))),
    entry(14, bet(1, "complete", 400, 400), turn(2, ("fold", 0, 0), ("call", 400, 400), ("raise", 800, 800))),
]


def test_chips_move_from_the_stack_to_the_bet_and_the_antes_to_the_pot(node: Node) -> None:
    state = node.run(FOLD + "answer.push(table.potTotal(state));", STUD_HAND)
    *_, last, pot = state
    ana, bob, cyd = last["hand"]["players"]
    assert [player["stack"] for player in (ana, bob, cyd)] == [4500, 4900, 4700]
    assert [player["bet"] for player in (ana, bob, cyd)] == [400, 0, 200]
    assert pot == 900


def test_my_cards_are_seen_and_the_others_lie_face_down(node: Node) -> None:
    mine, bobs = node.run(
        FOLD + "answer.splice(0, Infinity, table.cardsOf(state, 1), table.cardsOf(state, 2));", STUD_HAND
    )
    assert [(card["card"], card["down"]) for card in mine] == [("9s", True), ("Ah", True), ("9h", False)]
    assert [(card["card"], card["down"]) for card in bobs] == [(None, True), (None, True), ("Kd", False)]


def test_the_buttons_are_the_listed_actions_and_the_second_amount_is_the_upper_one(node: Node) -> None:
    listed = [("bet", 800, 800), ("check", 0, 0), ("fold", 0, 0), ("bet", 400, 400)]
    answer = node.run(
        'import { buttonsOf } from "./table_state.js"; const answer = buttonsOf(given);',
        turn(1, *listed),
    )
    assert [(button["action"]["kind"], button["action"]["to"], button["upper"]) for button in answer] == [
        ("fold", 0, False),
        ("check", 0, False),
        ("bet", 400, False),
        ("bet", 800, True),
    ]


def test_the_price_is_what_my_call_costs(node: Node) -> None:
    prices = node.run(FOLD + "answer.splice(0, Infinity, ...answer.map(table.priceToCall));", STUD_HAND)
    assert prices == [0, 0, 0, 200, 0]


def test_an_entry_seen_twice_changes_nothing_and_a_gap_is_refused(node: Node) -> None:
    again, gap = node.run(FOLD, [*STUD_HAND, STUD_HAND[-1], entry(17)])[-2:]
    assert again["version"] == 14
    assert gap is None


def test_a_lower_version_is_taken_with_a_higher_epoch_only(node: Node) -> None:
    older = snapshot(version=3)
    newer = {**snapshot(version=3), "epoch": 2}
    states = node.run(FOLD, [*STUD_HAND, newer, {**entry(4), "epoch": 2}])
    assert (states[-1]["version"], states[-1]["epoch"]) == (4, 2)
    assert node.run(FOLD, [*STUD_HAND, older])[-1]["version"] == 14


def test_the_next_hand_forgets_my_cards_and_leaves_the_last_hand_in_the_log(node: Node) -> None:
    over = happened("HandEnded", hand_id="h", rake=0, stacks=[{"seat": seat, "amount": 5000} for seat in (1, 2, 3)])
    ended, next_one = node.run(FOLD, [*STUD_HAND, entry(15, over), entry(16, started())])[-2:]
    assert ended["hand"]["phase"] == "over"
    assert ended["myCards"] == OWN
    assert next_one["myCards"] is None
    assert [line["key"] for line in next_one["log"]].count("HandStarted") == 2


def test_a_finished_turn_is_nobodys_any_more(node: Node) -> None:
    folded = entry(15, happened("Folded", seat=2, cause="time"))
    last = node.run(FOLD, [*STUD_HAND, folded])[-1]
    assert last["turn"] is None
    assert last["log"][-1]["key"] == "Folded.time"


def test_when_the_room_was_away_the_open_turn_has_its_full_time_again(node: Node) -> None:
    away = entry(15, happened("OutageEnded", from_ms=2_000, to_ms=60_000))
    assert node.run(FOLD, [*STUD_HAND, away])[-1]["turn"]["deadline_ms"] == 70_000


def test_at_a_frozen_table_nobody_is_asked_and_no_clock_runs(node: Node) -> None:
    asked = "answer.splice(0, Infinity, ...answer.map((s) => [table.openTurn(s)?.seat ?? null, !!table.myTurn(s)]));"
    mine = entry(15, turn(1, ("fold", 0, 0)))
    frozen = entry(16, happened("TableFrozen"))
    resumed = entry(17, happened("TableUnfrozen"), happened("OutageEnded", from_ms=1, to_ms=90_000))
    turns = node.run(FOLD + asked, [*STUD_HAND, mine, frozen, resumed])
    assert turns[-3:] == [[1, True], [None, False], [1, True]]
    ask = {"turn_id": 3, "seats": [1], "deadline_ms": 5, "agreed": []}
    shown = FOLD + "answer.splice(0, Infinity, ...answer.map((s) => !!table.postAskForMe(s)));"
    assert node.run(shown, [snapshot(post_ask=ask), entry(11, happened("TableFrozen"))]) == [True, False]


def test_taking_and_losing_a_seat(node: Node) -> None:
    empty = snapshot(seat=None)
    empty["table"]["seats"][0] = None
    reserved = happened("SeatReserved", seat=1, player_id="p1", name="Ana", amount=4000, entry="wait")
    there = entry(12, happened("PlayerSeated", seat=1))
    observer, held, seated, left = node.run(
        FOLD, [empty, entry(11, reserved), there, entry(13, happened("PlayerLeft", seat=1))]
    )
    assert observer["mySeat"] is None
    assert (held["mySeat"], held["seats"][0]["reserved"], held["seats"][0]["stack"]) == (1, 4000, 0)
    assert (seated["seats"][0]["reserved"], seated["seats"][0]["stack"]) == (0, 4000)
    assert (left["mySeat"], left["seats"][0]) == (None, None)


def test_the_draw_is_a_street_of_its_own_and_says_how_many(node: Node) -> None:
    five: list[dict[str, Any]] = [{"seat": seat, "down": 5, "up": []} for seat in (1, 2, 3)]
    deal = happened("CardsDealt", hand_id="h", street="deal", cards=five, burned=0, reshuffled=False, community=None)
    pots = happened("PotsFormed", pots=[{"amount": 1200, "seats": [1, 2, 3]}])
    chosen = happened("DrawChosen", seat=2, count=3, cause="player")
    states = node.run(
        FOLD,
        [
            snapshot(DRAW),
            entry(11, started(32, button=1, small_blind=2, big_blind=3), deal, pots, turn(2, ("draw", 0, 0))),
            entry(12, chosen, turn(3, ("draw", 0, 0))),
            entry(13, happened("CardsDrawn", hand_id="h", seat=2, count=3, reshuffled=False)),
            entry(14, *(happened("DrawChosen", seat=seat, count=0, cause="player") for seat in (3, 1))),
            entry(15, turn(2, ("check", 0, 0), ("bet", 800, 800))),
        ],
    )
    assert [state["hand"] and (state["hand"]["phase"], state["hand"]["street"]) for state in states] == [
        None,
        ("drawing", 0),
        ("drawing", 0),
        ("drawing", 0),
        ("betting", 1),
        ("betting", 1),
    ]
    assert states[2]["hand"]["players"][1]["drew"] == 3


def test_seats_go_round_clockwise_from_mine(node: Node) -> None:
    places = node.run(
        'import { places } from "./table_state.js"; const answer = places({ seats: given, mySeat: 3 });', [None] * 4
    )
    assert {each["seat"]: each["place"] for each in places} == {3: 0, 4: 1, 1: 2, 2: 3}


def test_my_best_hand_has_the_rooms_own_name(node: Node) -> None:
    chance = random.Random(7)
    hands = [(52, chance.sample(deck(52), chance.choice((5, 6, 7)))) for _ in range(3000)]
    hands += [(size, chance.sample(deck(size), 5)) for size in (32, 36) for _ in range(3000)]
    # the rare ones, which chance deals too seldom
    hands += [
        (32, [48, 20, 24, 28, 32]),
        (36, [48, 16, 20, 24, 28]),
        (36, [48, 20, 24, 28, 33]),
        (52, [48, 0, 4, 8, 12]),
    ]
    given = [{"size": size, "cards": [TEXTS[card] for card in cards]} for size, cards in hands]
    names = node.run(
        'import { handName } from "./best_hand.js"; const answer = given.map((it) => handName(it.cards, it.size));',
        given,
    )
    for (size, cards), name in zip(hands, names, strict=True):
        value = best_hand_stud(cards) if size == 52 else hand_value_draw(cards, size)
        wanted = name_of_hand(value)
        assert (name["category"], tuple(name["ranks"])) == (wanted.category, wanted.ranks), cards


# --- words ---------------------------------------------------------------------------------------------------------


def test_every_text_is_there_in_english_and_in_french_with_the_same_holes(node: Node) -> None:
    texts = node.run('import { CATALOGUES } from "./words.js"; const answer = CATALOGUES;')
    english, french = texts["en"], texts["fr"]
    assert english.keys() <= french.keys()
    assert {key for key in french.keys() - english.keys() if not key.startswith("refused.")} == set()
    holes = re.compile(r"\{(?:de |aux )?(\w+)\}")
    assert {key for key in english if set(holes.findall(english[key])) != set(holes.findall(french[key]))} == set()


def test_every_refusal_of_the_room_has_a_french_sentence(node: Node) -> None:
    texts = node.run('import { CATALOGUES } from "./words.js"; const answer = CATALOGUES;')
    gateway = re.findall(r'Refusal\(\d+, "(\w+)"', (WEB.parent / "refusals.py").read_text())
    assert {code for code in {*SENTENCES, *gateway} if f"refused.{code}" not in texts["fr"]} == {"invalid"}


def test_an_amount_in_a_refusal_is_told_as_players_write_it(node: Node) -> None:
    refusals = [{"code": code, "message": sentence.format(detail=4050)} for code, sentence in SENTENCES.items()]
    answer = node.run(
        'import { refusalWords } from "./words.js"; const answer = given.map((it) => refusalWords(it));', refusals
    )
    assert answer[[*SENTENCES].index("buy_in_too_small")] == "That is too little: it has to be at least 40.50."
    assert not [sentence for sentence in answer if "{" in sentence]


def test_amounts_as_players_write_and_read_them(node: Node) -> None:
    answer = node.run(
        """import { money, parseMoney, setLanguage } from "./words.js";
        const english = [money(800), money(850), money(123400), parseMoney("8"), parseMoney("8.5"), parseMoney("1,234"),
          parseMoney("abc"), parseMoney("-3"), parseMoney("8.555"), parseMoney("")];
        setLanguage("fr");
        const answer = { english, french: [money(850), parseMoney("8,50"), parseMoney("1 234")] };"""
    )
    assert answer["english"] == ["8", "8.50", "1,234", 800, 850, 123400, None, None, None, None]
    assert answer["french"] == ["8,50", 850, 123400]


def test_hands_in_words(node: Node) -> None:
    answer = node.run(
        """import { handWords, setLanguage } from "./words.js";
        const all = () => [["full_house", ["K", "T"]], ["one_pair", ["A"]], ["three_of_a_kind", ["A"]],
          ["straight", ["9"]], ["royal_flush", []]].map(([category, ranks]) => handWords(category, ranks));
        const english = all();
        setLanguage("fr");
        const answer = { english, french: all() };"""
    )
    assert answer["english"] == [
        "a full house, kings over tens",
        "a pair of aces",
        "three aces",
        "a straight, nine high",
        "a royal flush",
    ]
    assert answer["french"] == [
        "un full aux rois par les dix",
        "une paire d’as",
        "un brelan d’as",
        "une quinte, hauteur neuf",
        "une quinte flush royale",
    ]
