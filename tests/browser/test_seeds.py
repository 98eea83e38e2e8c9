"""The page's seeds: what it brings and gives, to which commitment, and that no element is given for two hands."""

import hashlib
from typing import Any

import pytest

from brelan.deck.fair.kept import commit
from tests.browser.node import Node
from tests.fairness.hands import KEY

EPOCH = 7
RUN = """
const kept = new Map();
globalThis.localStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
const { Seeds, rememberedDeal } = await import("./seeds.js");
const pages = [new Seeds("t1"), new Seeds("t1")];
const said = [];
let seat = { seat: 1, seed: "", seed_index: 0 };
for (const step of given) {
  if (step.back) seat = { seat: 1, seed: said[0].tip, seed_index: 0 };
  const mine = step.away ? null : { ...seat, ...(step.seat ?? {}) };
  const state = { me: "ana", mySeat: mine && 1, seats: [mine],
    epoch: step.epoch ?? 7, config: { game: "stud" }, hand: step.hand ?? null };
  const command = await pages[step.page ?? 0].due(state);
  said.push(command);
  if (command?.type === "BringSeeds") seat = { seat: 1, seed: command.tip, seed_index: 0 };
  if (command?.type === "GiveSeed") seat = { seat: 1, seed: command.element, seed_index: seat.seed_index + 1 };
}
const answer = { said, remembered: rememberedDeal("s00-t1-7-1") ?? null };
"""


def hand(number: int, *, signature: str | None = None, seats: tuple[int, ...] = (1,)) -> dict[str, Any]:
    """As the page has it when this hand's deck is committed to."""
    hand_id, previous = f"s00-t1-{EPOCH}-{number}", "00" * 32
    kept = commit(
        bytes(32),
        [bytes(32)] * 2,
        KEY,
        hand_id=hand_id,
        seq=number,
        table_id=hand_id.rpartition("-")[0],
        game="stud",
        cards=52,
        previous=previous,
    )
    signed = kept.commitment
    committed = {
        "type": "DeckCommitted",
        "hand_id": hand_id,
        "seq": number,
        "root": signed.root,
        "secret_hash": signed.secret_hash,
        "reshuffle_hashes": signed.reshuffle_hashes,
        "previous": previous,
        "signature": signature or kept.signature,
        "dealer_key": kept.dealer_key,
    }
    return {"hand_id": hand_id, "deck_size": 52, "committed": committed, "seeds_asked": seats}


def said(node: Node, *steps: dict[str, Any]) -> list[Any]:
    return list(node.run(RUN, steps)["said"])


def test_a_chain_is_brought_once_and_its_elements_follow(node: Node) -> None:
    brought, nothing, first, second = said(node, {}, {}, {"hand": hand(1)}, {"hand": hand(2)})
    assert brought["type"] == "BringSeeds"
    assert nothing is None
    assert (first["type"], first["hand_id"]) == ("GiveSeed", f"s00-t1-{EPOCH}-1")
    assert hashlib.sha256(bytes.fromhex(first["element"])).hexdigest() == brought["tip"]
    assert hashlib.sha256(bytes.fromhex(second["element"])).hexdigest() == first["element"]


def test_what_was_answered_is_remembered(node: Node) -> None:
    answer = node.run(RUN, [{}, {"hand": hand(1)}])
    signed = hand(1)["committed"]
    assert answer["remembered"]["element"] == answer["said"][1]["element"]
    assert len(answer["remembered"]["answered"]) == len(signed["root"])


@pytest.mark.parametrize(
    "step",
    [
        {"hand": hand(1, signature="00" * 64)},  # not the dealer's
        {"hand": hand(1, seats=(2,))},  # another seat is asked
        {"hand": {**hand(1), "committed": None}},
        {"hand": hand(1), "seat": {"seed": "ab" * 32}},  # of a chain that is not this browser's
        {"hand": hand(1), "away": True},
    ],
    ids=["forged", "not me", "no commitment", "foreign chain", "no seat"],
)
def test_nothing_is_given_for_what_is_not_right(node: Node, step: dict[str, Any]) -> None:
    assert said(node, {}, step)[1] is None


def test_no_element_is_given_for_two_hands_also_when_the_room_goes_back(node: Node) -> None:
    _, first, again = said(node, {}, {"hand": hand(1)}, {"hand": hand(2), "back": True})
    assert first["type"] == "GiveSeed"
    assert again is None


def test_another_epoch_or_a_forgotten_chain_gets_a_new_one(node: Node) -> None:
    first, _, second, third = said(node, {}, {"hand": hand(1)}, {"epoch": 8}, {"epoch": 8, "seat": {"seed": ""}})
    assert second["type"] == "BringSeeds"
    assert second["tip"] != first["tip"]
    assert third is None, "its own word is still on the way"


def test_two_pages_of_one_browser_go_on_with_one_chain(node: Node) -> None:
    brought, nothing, first, second = said(
        node, {}, {"page": 1}, {"page": 1, "hand": hand(1)}, {"page": 0, "hand": hand(2)}
    )
    assert nothing is None
    assert hashlib.sha256(bytes.fromhex(first["element"])).hexdigest() == brought["tip"]
    assert hashlib.sha256(bytes.fromhex(second["element"])).hexdigest() == first["element"]


@pytest.mark.parametrize("page", [0, 1], ids=["the same page", "loaded again"])
def test_a_chain_that_the_room_has_not_or_has_forgotten_unused_is_brought_again(node: Node, page: int) -> None:
    """Its first seed came too late, the player left and sat down again, or the room never heard of it."""
    nothing = {"seed": "", "seed_index": 0}
    brought, _, again, waiting = said(
        node,
        {},
        {},
        {"page": page, "hand": hand(1, seats=()), "seat": nothing},
        {"page": page, "hand": hand(1, seats=()), "seat": nothing},
    )
    assert again == brought
    assert waiting is None


def test_two_pages_that_see_the_same_seat_at_once_bring_one_chain(node: Node) -> None:
    """Where the browser has locks: all that have WebCrypto with Ed25519."""
    script = """
    const kept = new Map();
    const getItem = (key) => kept.get(key) ?? null;
    globalThis.localStorage = { getItem, setItem: (key, value) => kept.set(key, value) };
    let last = Promise.resolve();
    const request = (name, run) => (last = last.then(run));
    Object.defineProperty(globalThis, "navigator", { value: { locks: { request } }, configurable: true });
    const { Seeds } = await import("./seeds.js");
    const state = { me: "ana", mySeat: 1, seats: [{ seat: 1, seed: "", seed_index: 0 }], epoch: 7, hand: null };
    const answer = await Promise.all([new Seeds("t1").due(state), new Seeds("t1").due(state)]);
    """
    one, other = node.run(script)
    assert one["tip"] == other["tip"]
