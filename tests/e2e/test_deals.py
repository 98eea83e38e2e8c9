"""A deal that its players can check, from the seed they give to the record they download, in a running room."""

import asyncio
import json
import random
import secrets
import sqlite3
from pathlib import Path

import pytest

from brelan.bots.brain import decide
from brelan.bots.temper import Temper
from brelan.client import Client, Table
from brelan.client.errors import RequestRefused
from brelan.client.seeds import Seeds
from brelan.deck.fair.record import read
from brelan.deck.fair.verify import verify_record
from brelan.events import commands
from tests.room import Room

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(300)]
CALLER = Temper("caller", 0.95, 0.1, 0.0, 0.1)
HANDS = 3


async def play(table: Table, hands: int) -> list[str]:
    """The hands that were dealt to me and are over."""
    chance, mine, over, decided = random.Random(1), set[str](), list[str](), -1
    while len(over) < hands:
        message = await table.next(20.0)
        assert message is not None, "nothing happens at the table"
        model = table.model
        if model.cards is not None and model.hand is not None and model.me is not None:
            mine.add(model.hand.hand_id)
        if model.hand is None:
            over += [hand_id for hand_id in sorted(mine) if hand_id not in over]
        if model.mine is not None and model.mine.sitting_out:
            await table.command(commands.ComeBack("post"))
        turn = table.turn
        if turn is not None and model.hand is not None and turn.turn_id != decided:
            decided = turn.turn_id
            own = model.cards.cards if model.cards is not None else ()
            await table.command(decide(turn, model.hand, own, CALLER, chance))
    return over


async def money_comes(client: Client) -> None:
    for _ in range(100):
        if await client.balance():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the play money did not come")


async def deal_of(client: Client, hand_id: str) -> bytes:
    """History writes it a moment after the hand."""
    for _ in range(100):
        try:
            return await client.deal(hand_id)
        except RequestRefused as refused:
            if refused.code != "unknown_deal":
                raise
        await asyncio.sleep(0.1)
    raise AssertionError(f"there is no record of {hand_id}")


@pytest.mark.parametrize("game", ["stud", "draw"])
async def test_what_a_player_gave_and_was_dealt_is_in_the_record_he_downloads(room: Room, game: str) -> None:
    async with Client(room.url) as client, Client(room.url) as stranger:
        await client.enter(f"Fair-{secrets.token_hex(3)}", "a long password")
        await stranger.enter(f"Else-{secrets.token_hex(3)}", "a long password")
        keys = await client.dealer_keys()
        rows = [row for row in await client.tables() if row["game"] == game]
        seeds = Seeds(keys)
        async with client.table(rows[0]["table_id"], seeds) as table:
            config = table.model.config
            assert config is not None
            await money_comes(client)
            await table.sit(10 * config.minimum_buy_in, entry="post")
            hands = await play(table, HANDS)
            await table.leave()
        assert seeds.refused == []
        contributed = [hand_id for hand_id in hands if hand_id in seeds.given]
        assert len(contributed) >= HANDS - 1, "the first hand may have begun before the chain was brought"
        for hand_id in contributed:
            data = await deal_of(client, hand_id)
            report = verify_record(data, keys)
            assert report.ok, [check for check in report.checks if not check.ok]
            own = read(data).own
            assert own is not None
            assert (own.answered, own.element) == seeds.given[hand_id]
            assert len(own.openings) >= (5 if game == "draw" else 3)
            public = await deal_of(stranger, hand_id)
            assert verify_record(public, keys).ok
            assert read(public).own is None
            shown = {(each.epoch, each.leaf) for each in read(public).public.openings}
            hidden = [each for each in own.openings if (each.epoch, each.leaf) not in shown]
            assert all(each.salt.encode() not in public for each in hidden)


async def test_every_deal_of_the_room_is_right_and_the_audit_sees_one_that_is_not(room: Room, tmp_path: Path) -> None:
    audited = room.command("audit-deals", "--json")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    report = json.loads(audited.stdout)
    assert report["ok"]
    assert report["hands"] > 0
    copy = tmp_path / "copy"
    copy.mkdir()
    with sqlite3.connect(room.data / "brelan.db") as database, sqlite3.connect(copy / "brelan.db") as other:
        database.backup(other)
        first, second = other.execute("SELECT hand_id, for_audit FROM history_deals LIMIT 2").fetchall()
        other.execute("UPDATE history_deals SET for_audit = ? WHERE hand_id = ?", (second[1], first[0]))
    wrong = room.command("audit-deals", "--json", "--data", str(copy), "--keys", str(room.data / "keys"))
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert [trouble["hand_id"] for trouble in json.loads(wrong.stdout)["troubles"]] == [first[0]]
    (copy / "brelan.db").unlink()
    missing = room.command("audit-deals", "--keys", str(tmp_path), "--data", str(copy))
    assert missing.returncode == 2
    assert "auditor.key" in missing.stderr
