"""Hands that table and dealer really played, as history keeps them and as each player may see them."""

import random
import re

import msgspec
import pytest

from brelan.deck.sealing import RecordOpener
from brelan.events import commands, table
from brelan.events.config import Rake, RakeCap, TableConfig
from brelan.events.dealing import SeatRecord
from brelan.histories.archive import MemoryArchive, Shelves
from brelan.histories.hand import HandHistory
from brelan.histories.projection import HandView, project
from brelan.histories.text import as_text
from brelan.rules.cards import TEXTS
from brelan_history.service import ShardHistory
from tests.services.small_room import DRAW, HISTORY_SECRET, SHARD, STUD, TABLE, SmallRoom

PLAYERS = ("ana", "ben", "carl", "dora")
RAKE = Rake(500, (RakeCap(2, 100), RakeCap(4, 300)))
HANDS = 12
ASIDES: tuple[commands.ClientCommand, ...] = (commands.Show(), commands.ComeBack(), commands.TopUp(4000))
_CARD = re.compile(r"(?<![0-9A-Za-z])[2-9TJQKA][cdhs](?![0-9A-Za-z])")


async def play(config: TableConfig, seed: int) -> tuple[SmallRoom, Shelves]:
    """A dozen hands, in which somebody sometimes lets his time run out, or shows afterwards."""
    chance = random.Random(seed)
    room, shelves = SmallRoom(), Shelves()
    history = ShardHistory(room.store, MemoryArchive(shelves), SHARD, RecordOpener([HISTORY_SECRET]))
    await history.open()
    await room.open(config)
    for player_id in PLAYERS:
        await room.sit(player_id)
    while len(room.events(table.HandEnded)) < HANDS:
        for player_id in PLAYERS:
            if chance.random() < 0.1:
                await room.command(player_id, chance.choice(ASIDES))
        if chance.random() < 0.03 or not await room.act(chance):
            await room.pass_time(11_000)
        while await history.serve(block_ms=0):
            pass
        if chance.random() < 0.05:  # another worker takes over in the middle of a hand
            history = ShardHistory(room.store, MemoryArchive(shelves), SHARD, RecordOpener([HISTORY_SECRET]))
            await history.open()
    while await history.serve(block_ms=0):
        pass
    return room, shelves


@pytest.mark.parametrize("config", [STUD, DRAW], ids=["stud", "draw"])
@pytest.mark.parametrize("seed", [1, 2])
async def test_every_hand_that_was_played_is_kept_and_shows_nobody_too_much(config: TableConfig, seed: int) -> None:
    room, shelves = await play(msgspec.structs.replace(config, rake=RAKE), seed)
    ended = [event for event in room.events(table.HandEnded) if isinstance(event, table.HandEnded)]
    assert list(shelves.histories) == [event.hand_id for event in ended]
    assert shelves.dead == []
    for event in ended:
        history, records = shelves.histories[event.hand_id], shelves.cards[event.hand_id]
        check_figures(history, event)
        assert [record.player_id for record in records] == [player.player_id for player in history.players]
        for viewer in (*PLAYERS, None):
            for disclose in (False, True):
                check_view(history, records, viewer, disclose)


def check_figures(history: HandHistory, ended: table.HandEnded) -> None:
    assert sum(player.result for player in history.players) == -history.rake == -ended.rake
    assert sum(pot.rake for pot in history.pots) == history.rake
    assert history.pot - history.rake == sum(player.won for player in history.players)
    assert history.table_id == TABLE
    assert [step.seat for step in history.steps if step.kind == "shown"] == [
        player.seat
        for player in sorted(history.players, key=lambda player: _place(history, player.seat))
        if player.shown
    ]


def _place(history: HandHistory, seat: int) -> int:
    return next((place for place, step in enumerate(history.steps) if step.kind == "shown" and step.seat == seat), 0)


def check_view(history: HandHistory, records: tuple[SeatRecord, ...], viewer: str | None, disclose: bool) -> None:
    view = project(history, records, viewer, disclose)
    folded = {step.seat for step in history.steps if step.kind == "fold"}
    in_the_hand = any(player.player_id == viewer for player in history.players)
    called = len(history.players) - len(folded) > 1
    visible: set[str] = {TEXTS[card] for player in history.players for card in player.up}
    visible |= {TEXTS[history.community]} if history.community is not None else set()
    for player, record in zip(history.players, records, strict=True):
        if player.player_id == viewer:
            visible |= {TEXTS[card] for card in (*record.cards, *record.discards)}
        elif player.shown or (disclose and in_the_hand and called and player.seat not in folded):
            visible |= {TEXTS[card] for card in record.cards}
    assert cards_in(view) <= visible
    own = [player for player in view.players if player.player_id == viewer]
    assert all(player.cards is not None for player in own)


def cards_in(view: HandView) -> set[str]:
    return set(_CARD.findall(msgspec.json.encode(view).decode() + as_text(view)))
