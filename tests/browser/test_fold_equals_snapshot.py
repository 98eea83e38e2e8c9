"""Whatever happens at a table, the page's model folded from the socket's events is what a fresh snapshot would say."""

import random
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from brelan.client.hole_keys import HoleKeys
from brelan.client.model import TableModel
from brelan.deck.fair.chains import chain_elements
from brelan.events import commands
from brelan.events.config import TableConfig
from brelan.events.envelope import TableCommitted
from brelan.events.table import ActionKind
from brelan.rules.state import TableState
from brelan.rules.table import apply_entry
from brelan.views.entries import entry_view, owners_of
from brelan.views.messages import You
from brelan.views.snapshot import seat_of, snapshot
from tests.browser.node import Node
from tests.services.small_room import DRAW, STUD, TABLE, SmallRoom

ME = "ana"
OTHERS = ("bob", "cyd", "dan")
MOVES = 400

FOLD = """
import { emptyTable, receive } from "./table_state.js";
let state = emptyTable();
const answer = given.map((message) => { state = receive(state, message); return { ...state, log: [] }; });
"""


@pytest.mark.parametrize("config", [STUD, DRAW], ids=["stud", "draw"])
async def test_the_fold_of_the_events_equals_the_snapshot(node: Node, config: TableConfig) -> None:
    room = SmallRoom()
    await played(room, config, random.Random(2))
    entries = [entry for entry in room.feed if isinstance(entry, TableCommitted) and entry.table_id == TABLE]

    state = TableState()
    apply_entry(state, entries[0])
    messages = [as_json(snapshot(state, You(ME, "Ana", None), 0, None))]
    wanted: list[dict[str, Any]] = []
    for entry in entries[1:]:
        messages.append(msgspec.json.decode(entry_view(entry, owners_of(state)).message_for(ME)))
        apply_entry(state, entry)
        wanted.append(as_json(snapshot(state, You(ME, "Ana", seat_of(state, ME)), 0, None)))

    assert len(wanted) > 150  # chance plays along: the deck is the dealer's
    happened = {type(event).__name__ for entry in entries for event in entry.events}
    assert {"SeedsBrought", "SeedsAsked", "SeedGiven", "SeedsWithheld", "KeyBrought", "CardsResealed"} <= happened
    for told, said in zip(node.run(FOLD, messages)[1:], wanted, strict=True):
        assert model(told) == expected(said), f"at version {said['version']}"


async def played(room: SmallRoom, config: TableConfig, chance: random.Random) -> None:
    """Hands, and everything people do beside them."""
    await room.open(config)
    for player in (*OTHERS, ME):
        await room.sit(player)
    asides: list[commands.PlayerCommand] = [
        commands.SitOut(),
        commands.ComeBack("post"),
        commands.ComeBack("wait"),
        commands.ChooseEntry("post"),
        commands.TopUp(config.minimum_buy_in),
        commands.SetPreferences(auto_post=True, auto_muck=False),
        commands.SetPreferences(auto_post=False, auto_muck=True),
        commands.SetPreferences(auto_post=True, auto_muck=True),
        commands.Leave(),
        commands.SitDown(config.minimum_buy_in, entry="post"),
        commands.Show(),
        commands.Muck(),
    ]
    next_seed: dict[bytes, bytes] = {}
    brought: dict[str, HoleKeys] = {}
    for _ in range(MOVES):
        if chance.random() < 0.15:
            await room.command(chance.choice((*OTHERS, ME)), chance.choice(asides))
            await room.settle()
        if chance.random() < 0.05:
            elements = chain_elements(chance.randbytes(32), 20)
            next_seed |= dict(pairwise(elements))
            await room.command(chance.choice((*OTHERS, ME)), commands.BringSeeds(elements[0].hex()))
            await room.settle()
        if chance.random() < 0.1:
            await bring_key(room, brought, chance)
        state = await room.state()
        if state.hand is not None and state.hand.seeds_asked and chance.random() < 0.95:
            owing = state.seats[chance.choice(state.hand.seeds_asked) - 1]
            assert owing is not None
            if owing.seed in next_seed:
                seed = commands.GiveSeed(state.hand.hand_id, next_seed[owing.seed].hex())
                await room.command(owing.player_id, seed)
                await room.settle()
                continue
        if state.post_ask:
            asked = state.seats[chance.choice(state.post_ask) - 1]
            assert asked is not None
            answer: ActionKind = "decline" if chance.random() < 0.3 else "post"
            await room.command(asked.player_id, commands.Act(state.post_turn_id, answer))
            await room.settle()
        elif chance.random() < 0.03 or not await room.act(chance):
            await room.pass_time(11_000)
            await everybody_back(room, config)


async def bring_key(room: SmallRoom, brought: dict[str, HoleKeys], chance: random.Random) -> None:
    """Another one; as often as not with the signature of the one that his cards are sealed to."""
    model = TableModel()
    state = await room.state()
    model.begin(snapshot(state, You(ME, "Ana", seat_of(state, ME)), 0, None))
    before = brought.get(model.me.hole_key) if model.me is not None and chance.random() < 0.5 else None
    new = HoleKeys(previous=before, random_bytes=chance.randbytes)
    brought[new.hole_key.hex()] = new
    if (said := new.due(model)) is not None:
        await room.command(ME, said)
        await room.settle()


async def everybody_back(room: SmallRoom, config: TableConfig) -> None:
    """Or the table dies out."""
    state = await room.state()
    for player_id in (*OTHERS, ME):
        seat = next((seat for seat in state.seats if seat is not None and seat.player_id == player_id), None)
        if seat is None:
            await room.deposit(player_id)
            await room.command(player_id, commands.SitDown(2 * config.minimum_buy_in, entry="post"))
        elif seat.sitting_out and not seat.stack:
            await room.command(player_id, commands.TopUp(config.minimum_buy_in))
        elif seat.sitting_out:
            await room.command(player_id, commands.ComeBack("post"))
    await room.settle()


def as_json(value: msgspec.Struct) -> dict[str, Any]:
    return dict(msgspec.json.decode(msgspec.json.encode(value)))


SEAT = ("seat", "player_id", "name", "stack", "reserved", "entry", "owes_big_blind", "owes_small_blind",
        "sitting_out", "away", "seed", "seed_index")  # fmt: skip
OWN_SEAT = ("chips_waiting", "top_up_asked", "sit_out_asked", "leave_asked", "auto_post", "auto_muck", "hole_key")
PLAYER = ("seat", "player_id", "name", "stack", "starting_stack", "put_in", "bet", "folded", "all_in", "protected",
          "up", "down", "drew", "shown", "mucked")  # fmt: skip
HAND = ("hand_id", "number", "deck_size", "button", "small_blind", "big_blind", "community", "pots", "seeds",
        "seeds_asked", "seeds_due_ms")  # fmt: skip
ON_TURN = ("phase", "street")


def expected(said: dict[str, Any]) -> dict[str, Any]:
    table, mine = said["table"], said["you"]["seat"]
    return {
        "version": said["version"],
        "mine": mine,
        "status": table["status"],
        "config": table["config"],
        "seats": [seat and chosen(seat, SEAT + (OWN_SEAT if seat["seat"] == mine else ())) for seat in table["seats"]],
        "hand": table["hand"] and hand_of(table["hand"], table["turn"]),
        "turn": table["turn"],
        "next_hand_ms": table["next_hand_ms"],
        "show_offered": table["show_offered"],
        "post_ask": table["post_ask"],
    }


def model(told: dict[str, Any]) -> dict[str, Any]:
    hand = told["hand"] if told["hand"] and told["hand"]["phase"] != "over" else None
    ask = told["postAsk"]
    return {
        "version": told["version"],
        "mine": told["mySeat"],
        "status": told["status"],
        "config": told["config"],
        "seats": [
            seat and chosen(seat, SEAT + (OWN_SEAT if seat["seat"] == told["mySeat"] else ())) for seat in told["seats"]
        ],
        "hand": hand and hand_of(hand, told["turn"]),
        "turn": told["turn"],
        "next_hand_ms": told["nextHandMs"],
        "show_offered": told["showOffered"],
        "post_ask": {**ask, "agreed": told["postAgreed"]} if ask and ask["seats"] else None,
    }


def hand_of(hand: dict[str, Any], turn: dict[str, Any] | None) -> dict[str, Any]:
    """Phase and street are compared while a turn is open: what comes next is told by the next turn."""
    names: tuple[str, ...] = HAND
    if turn:
        names += ON_TURN if turn["actions"][0]["kind"] == "draw" else (*ON_TURN, "price")
    players = [{**chosen(one, PLAYER), "hole_key": one.get("hole_key", "")} for one in hand["players"]]
    return {**chosen(hand, names), "players": players}


def chosen(whole: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: whole[name] for name in names}
