"""The page's own keys: what is sealed to them it opens, when it brings them, and what another device is told."""

from typing import Any

import msgspec
import pytest
from playwright.sync_api import expect, sync_playwright

from brelan.deck.keys import x25519_public
from brelan.deck.sealing import hole_context, seal
from brelan.events.dealing import HoleCards
from tests.browser.node import Node
from tests.browser.player import CHROMIUM_ARGS, Player, by_mouse
from tests.browser.test_play_a_hand import a_name
from tests.room import Room

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
PUBLIC = x25519_public(SECRET).hex()
HOLE = HoleCards("s00-t-1-1", 3, "p1", (51, 0, 32), (False, False, True))
OPENED = {"hand_id": "s00-t-1-1", "seat": 3, "cards": ["As", "2c", "Tc"], "up": [False, False, True]}
OPEN = """
const { HoleKeys } = await import("./hole_keys.js");
const fromHex = (text) => Uint8Array.from(text.match(/../g), (two) => parseInt(two, 16));
const pkcs8 = fromHex("302e020100300506032b656e04220420" + given.secret);
const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "X25519" }, false, ["deriveBits"]);
const keys = new HoleKeys({ hole: { privateKey }, sign: null, holeKey: given.key, signKey: "ab" });
const answer = [];
for (const [table, sealed] of given.boxes) answer.push(await keys.open(table, sealed));
"""
DUE = """
const { HoleKeys } = await import("./hole_keys.js");
const keys = new HoleKeys({ hole: null, sign: null, holeKey: "aa", signKey: "bb" });
const answer = given.map(([epoch, seat, holeKey]) => keys.due({ tableId: "t", epoch, mySeat: seat,
  seats: [seat === 1 ? { seat: 1, hole_key: holeKey } : null, seat === 2 ? { seat: 2, hole_key: holeKey } : null] }));
"""


def box(secret: bytes = SECRET, table: str = "s00-t", hole: HoleCards = HOLE) -> str:
    return seal(x25519_public(secret), msgspec.json.encode(hole), hole_context(table, hole.seat)).hex()


def sealed(text: str, **changed: Any) -> dict[str, Any]:
    return {"hand_id": HOLE.hand_id, "seat": 3, "count": 3, "box": text, **changed}


def opened(node: Node, *boxes: tuple[str, dict[str, Any]]) -> list[Any]:
    return list(node.run(OPEN, {"secret": SECRET.hex(), "key": PUBLIC, "boxes": boxes}))


def test_the_page_opens_what_was_sealed_to_it_and_nothing_else(node: Node) -> None:
    good = box()
    changed = [good[:place] + ("0" if good[place] != "0" else "1") + good[place + 1 :] for place in (0, 5, 30, 90, -1)]
    answers = opened(
        node,
        ("s00-t", sealed(good)),
        ("s00-u", sealed(good)),
        ("s00-t", sealed(good, seat=4)),
        ("s00-t", sealed(good, hand_id="another")),
        ("s00-t", sealed(good, count=4)),
        ("s00-t", sealed(box(OTHER))),
        ("s00-t", sealed("")),
        *(("s00-t", sealed(text)) for text in changed),
    )
    assert answers == [OPENED] + [None] * (len(answers) - 1)


def test_a_key_is_brought_once_to_each_seat_and_epoch(node: Node) -> None:
    brought = {"type": "BringKey", "hole_key": "aa", "sign_key": "bb"}
    steps = [
        ((1, None, ""), None),
        ((1, 1, ""), brought),
        ((1, 1, ""), None),  # on its way
        ((1, 1, "aa"), None),
        ((1, 1, "cc"), None),  # another device has taken over
        ((2, 1, "cc"), brought),  # what that said may be lost
        ((2, 2, ""), brought),
        ((2, None, ""), None),
        ((2, 2, ""), brought),
        ((3, 1, "aa"), None),  # it is there: a page that was loaded again
        ((3, 1, "cc"), None),
    ]
    assert node.run(DUE, [step for step, _ in steps]) == [answer for _, answer in steps]


TELL = """
import { emptyTable, evolve, dealtElsewhere, opened, receive } from "./table_state.js";
const players = [{ seat: 1, folded: false, down: 2, up: ["As"], hole_key: "aa" }];
const hand = { hand_id: "h", phase: "betting", players };
const seats = [{ seat: 1, player_id: "p1", name: "Ana", hole_key: "aa" }];
const state = { ...emptyTable(), me: "p1", mySeat: 1, myKey: "aa", version: 4, epoch: 1, seats, hand };
const told = given.map((event) => evolve(state, { type: "KeyBrought", seat: 1, ...event }));
const box = { hand_id: "h", box: "00" };
const took = receive(state, { type: "events", version: 5, epoch: 1, events: [], sealed: box });
const answer = {
  keys: told.map((each) => [each.seats[0].hole_key, each.hand.players[0].hole_key, each.log.at(-1)?.key ?? null,
    dealtElsewhere(each)]),
  cards: opened(took, box, { cards: ["As"] }).myCards, late: opened(took, { box: "old" }, { cards: ["Ks"] }).myCards,
};
"""


def test_what_a_key_means_for_this_page(node: Node) -> None:
    events = [{"hole_key": "aa", "hand_id": ""}, {"hole_key": "bb", "hand_id": ""}, {"hole_key": "bb", "hand_id": "h"}]
    answer = node.run(TELL, events)
    assert answer["keys"] == [
        ["aa", "aa", "KeyBrought.hereNext", False],
        ["bb", "aa", "KeyBrought.elsewhereNext", False],
        ["bb", "bb", "KeyBrought.elsewhere", True],
    ]
    assert (answer["cards"], answer["late"]) == ({"cards": ["As"]}, None)


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_cards_come_to_this_browser_alone_through_reloads_and_another_device_has_the_next_ones(
    room: Room, chromium: str
) -> None:
    name = a_name()
    frames: list[str] = []
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS) as it,
    ):
        first = it.new_context(locale="en-GB").new_page()
        first.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(str(frame))))
        player = Player(first, room.url)
        player.register(name)
        player.open_table("stud")
        player.sit_down()
        player.play_to_the_end(player.wait_for_cards(), by_mouse)  # may have begun before the key was there
        frames.clear()
        hand_id = player.wait_for_cards()
        held = player.own_cards.evaluate_all("all => all.map((it) => it.dataset.card)")
        first.reload()
        assert player.wait_for_cards() == hand_id
        again = player.own_cards.evaluate_all("all => all.map((it) => it.dataset.card)")
        assert again[: len(held)] == held
        assert not [frame for frame in frames if '"cards":{"hand_id"' in frame]
        assert any('"sealed":{"hand_id"' in frame for frame in frames)

        second = it.new_context(locale="en-GB").new_page()
        other = Player(second, room.url)
        second.goto(room.url)
        second.get_by_test_id("login-name").fill(name)
        second.get_by_test_id("login-password").fill("a long password")
        second.get_by_test_id("login-submit").click()
        expect(second.get_by_test_id("lobby")).to_be_visible()
        other.open_table("stud")
        line = first.locator('[data-testid="log"] [data-event="KeyBrought.elsewhereNext"]')
        expect(line.first).to_be_attached()
        player.play_to_the_end(player.hand_id(), by_mouse)
        other.wait_for_cards()
        expect(first.get_by_test_id("dealt-elsewhere")).to_be_visible()
        other.leave()
