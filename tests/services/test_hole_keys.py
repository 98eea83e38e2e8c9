"""Hole cards sealed to a player's own key, from the dealer through the gateway to his client, with no part left out."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from brelan.client.hole_keys import HoleKeys
from brelan.deck.keys import x25519_public
from brelan.deck.sealing import hole_context, seal
from brelan.eventlog import keys
from brelan.eventlog.memory_log import Hash
from brelan.events import commands
from brelan.events import table as facts
from brelan.events.dealing import HoleCards, PlayersBox, PlayersBoxes
from brelan.events.envelope import encode
from brelan.rules.cards import cards_from_text
from brelan.views import messages as views
from tests.requirements import PROJECT
from tests.services.gateway_room import TABLE, GatewayRoom, ScriptedTable, gateway_room, receive

PHONE = bytes(range(32))
PUBLIC = x25519_public(PHONE)
KEYS = HoleKeys(PHONE, PHONE)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    async with gateway_room(tmp_path) as room:
        yield room


@pytest.fixture
async def table(room: GatewayRoom) -> ScriptedTable:
    """Ana has brought a key; a hand has begun."""
    table = room.open_table()
    table.seat("Ana", "Ben")
    table.commit(facts.KeyBrought(1, PUBLIC, b"s" * 32))
    players = (facts.HandSeat(1, "p-Ana", "Ana", 4000, PUBLIC), facts.HandSeat(2, "p-Ben", "Ben", 4000))
    table.commit(facts.HandStarted("h1", 1, 52, players))
    await room.sees(table)
    return table


def hold(table: ScriptedTable, *hands: str, hand_id: str = "h1", player: str = "p-Ana") -> None:
    """What the dealer puts there for Ana: the hand as the table knows it, and after the newest deal."""
    boxes = []
    for text in hands:
        cards = cards_from_text(text)
        plain = msgspec.json.encode(HoleCards(hand_id, 1, player, cards, (False,) * len(cards)))
        boxes.append(PlayersBox(len(cards), seal(PUBLIC, plain, hole_context(TABLE, 1))))
    table.store.put(keys.hole(TABLE), Hash)["1"] = encode(PlayersBoxes(hand_id, player, tuple(boxes)))


def opened(message: Any) -> tuple[str, ...]:
    assert message.cards in (None, UNSET), "the gateway had them in clear"
    return tuple(KEYS.opened(TABLE, message).cards.cards)


async def test_sealed_cards_go_through_the_gateway_as_they_are_and_to_their_owner_only(
    room: GatewayRoom, table: ScriptedTable
) -> None:
    async with room.socket("Ana") as ana, room.socket("Ben") as ben, room.socket("Eve") as eve:
        for socket in (ana, ben, eve):
            await receive(socket)
        hold(table, "AsKh")
        table.deal(1, 2)
        assert opened(await receive(ana)) == ("As", "Kh")
        for socket in (ben, eve):
            message = await receive(socket)
            assert (message.cards, message.sealed) == (UNSET, UNSET)


async def test_a_reconnect_brings_the_box_again_and_never_one_that_the_table_has_not_logged(
    room: GatewayRoom, table: ScriptedTable
) -> None:
    hold(table, "AsKh")
    table.deal(1, 2)
    await room.sees(table)
    hold(table, "AsKh", "AsKhQd")  # the dealer is ahead
    async with room.socket("Ana") as ana:
        snapshot = await receive(ana)
        assert opened(snapshot) == ("As", "Kh")
        table.deal(1, 2, down=1)
        assert opened(await receive(ana)) == ("As", "Kh", "Qd")
    async with room.socket("Eve") as eve:
        assert (await receive(eve)).sealed is UNSET


@pytest.mark.parametrize("other", [{"hand_id": "h0"}, {"player": "p-Ben"}])
async def test_a_box_of_another_hand_or_player_is_not_sent(
    room: GatewayRoom, table: ScriptedTable, other: dict[str, str]
) -> None:
    async with room.socket("Ana") as ana:
        await receive(ana)
        hold(table, "AsKh", **other)
        table.deal(1, 2)
        message = await receive(ana)
        assert (message.cards, message.sealed) == (UNSET, UNSET)


async def test_cards_that_were_sealed_anew_are_sent_again(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana, room.socket("Ben") as ben:
        await receive(ana)
        await receive(ben)
        hold(table, "AsKh")
        table.deal(1, 2)
        await receive(ana)
        await receive(ben)
        table.commit(facts.CardsResealed("h1", 1, PUBLIC))
        message = await receive(ana)
        assert message.events == ()
        assert opened(message) == ("As", "Kh")
        assert (await receive(ben)).sealed is UNSET


async def test_a_key_is_told_to_its_owner_only(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana, room.socket("Ben") as ben:
        mine, others = await receive(ana), await receive(ben)
        assert (mine.table.seats[0].hole_key, mine.table.hand.players[0].hole_key) == (PUBLIC.hex(), PUBLIC.hex())
        assert (others.table.seats[0].hole_key, others.table.hand.players[0].hole_key) == (UNSET, UNSET)
        table.commit(facts.KeyBrought(1, b"k" * 32, b"s" * 32))
        assert (await receive(ana)).events == (views.KeyBrought(1, (b"k" * 32).hex(), ""),)
        assert (await receive(ben)).events == ()


async def test_a_key_goes_to_the_table_as_a_command_like_any_other(room: GatewayRoom, table: ScriptedTable) -> None:
    async with room.socket("Ana") as ana:
        await receive(ana)
        command = commands.BringKey("ab" * 32, "cd" * 32)
        await ana.send(views.encode(views.CommandMessage("c1", command)))
        sent = await room.commanded()
        assert (sent.player_id, sent.command) == ("p-Ana", command)


def test_the_documented_box_opens() -> None:
    text = (PROJECT / "docs" / "hole-cards.md").read_text()
    plain, box = text.split("seat 3:\n\n```\n")[1].split("```")[0].split("\n", 1)
    hand_id, seat, _, cards, up = msgspec.json.decode(plain)
    view = views.SealedCards(hand_id, seat, len(cards), box.replace("\n", ""))
    assert KEYS.open("s00-vector", view) == views.OwnCards(hand_id, seat, ("As", "Kh", "2c"), tuple(up))


def test_a_client_does_not_take_what_was_sealed_to_another_key_or_is_not_what_is_said_of_it() -> None:
    cards = HoleCards("h1", 1, "p-Ana", (51, 46), (False, False))
    box = seal(PUBLIC, msgspec.json.encode(cards), hole_context(TABLE, 1)).hex()
    good = views.SealedCards("h1", 1, 2, box)
    assert KEYS.open(TABLE, good) == views.OwnCards("h1", 1, ("As", "Kh"), (False, False))
    assert HoleKeys(bytes(32), bytes(32)).open(TABLE, good) is None
    for changed in (
        {"hand_id": "h2"},
        {"seat": 2},
        {"count": 3},
        {"box": "zz"},
        {"box": ""},
        {"box": f"{box[:-2]}{int(box[-2:], 16) ^ 1:02x}"},
    ):
        assert KEYS.open(TABLE, msgspec.structs.replace(good, **changed)) is None
    assert KEYS.open("s00-other", good) is None
