"""Bots at tables of the real table, dealer and wallet services, through a real gateway: all on the log in memory."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from brelan.bots import bot as bots
from brelan.bots.accounts import Accounts
from brelan.bots.brain import choose, strength_of, throw
from brelan.bots.crew import Plan, run_bots
from brelan.bots.temper import TEMPERS, Temper, temper_of
from brelan.deck.sealing import HoleCardOpener
from brelan.eventlog import keys
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.processor import Processor
from brelan.events import commands
from brelan.events.envelope import PlayerCommanded, TurnExpired, encode
from brelan.ledger.memory import MemoryBooks, Vault
from brelan.rules.cards import cards_from_text
from brelan.views.messages import ActionView
from brelan_dealer.handlers import DealerHandler
from brelan_table.handlers import TableHandler
from brelan_wallet.service import ROOM, Wallet
from tests.services.gateway_room import GatewayRoom, gateway_room, until
from tests.services.small_room import DEALER_KEYS, DRAW, GATEWAY_SECRET, STUD

SHARDS = ("s00", "s01")
TABLES = {"s00-stud00": STUD, "s01-draw00": DRAW}


@contextlib.asynccontextmanager
async def services(store: MemoryStore) -> AsyncIterator[None]:
    """Table, dealer, wallet and a simple timer."""
    stop = asyncio.Event()
    wallet = Wallet(store, MemoryBooks(Vault()), SHARDS)
    await wallet.open()
    handlers = [handler for shard in SHARDS for handler in (TableHandler(shard), DealerHandler(shard, DEALER_KEYS))]
    processors = [Processor(store.log(handler.shard), handler, block_ms=50) for handler in handlers]
    work = [_serve_wallet(wallet, stop), _enforce(store, stop), *(processor.run(stop) for processor in processors)]
    running = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*running)


async def _serve_wallet(wallet: Wallet, stop: asyncio.Event) -> None:
    while not stop.is_set():
        for inbox in (ROOM, *SHARDS):
            await wallet.serve(inbox, block_ms=0)
        await asyncio.sleep(0.005)


async def _enforce(store: MemoryStore, stop: asyncio.Event) -> None:
    while not stop.is_set():
        for shard in SHARDS:
            log = store.log(shard)
            for table_id, due_ms in await log.due(keys.deadlines(shard), store.clock(), 100):
                expired = TurnExpired(table_id, commands.ExpireTurn(due_ms))
                await log.append(keys.commands(shard), encode(expired))
        await asyncio.sleep(0.05)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[GatewayRoom]:
    store = MemoryStore()
    opener = HoleCardOpener((GATEWAY_SECRET,))
    async with services(store), gateway_room(tmp_path, store, open_hole_cards=opener, shards=2) as room:
        for table_id, config in TABLES.items():
            open_table = commands.OpenTable(msgspec.structs.replace(config, action_time_ms=1_000))
            command = PlayerCommanded(table_id, "olga", "Olga", "open", open_table, operator=True)
            await store.log(keys.shard_of(table_id)).append(keys.commands(keys.shard_of(table_id)), encode(command))
        yield room


@pytest.mark.slow
async def test_bots_play_both_games_and_every_command_ends_well(
    room: GatewayRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "REPEATS", 0.1)
    monkeypatch.setattr(bots, "UNPOSTED", 0.05)
    plan = Plan(url=room.url, tables=2, seconds=8, think=0, seed=5)
    report = await run_bots(plan, asyncio.Event())
    assert report["violations"] == []
    assert report["unanswered"] == 0
    assert report["hands_completed"] >= 10
    assert report["actions"] >= 100
    assert report["bots"] == 7 + 4
    rows = [room.room.row_of(table_id) for table_id in TABLES]
    assert all(not row.players for row in rows), "bots of a run that ends leave their seats"


@pytest.mark.slow
async def test_bots_that_come_back_keep_their_names_and_seats(room: GatewayRoom, tmp_path: Path) -> None:
    file = tmp_path / "bots.json"
    names = []
    for _ in range(2):
        plan = Plan(url=room.url, seconds=None, think=0, seed=5, free_seats=2, accounts_file=file)
        stop = asyncio.Event()
        running = asyncio.create_task(run_bots(plan, stop))
        await until(lambda: len(room.room.sockets) == seated(room) == 6 + 3, 15)
        stop.set()
        assert (await running)["violations"] == []
        names.append([account["name"] for account in json.loads(file.read_text())])
        assert seated(room) >= 6 + 3 - 1  # one may just be away from its seat
    assert names[0] == names[1]
    assert file.stat().st_mode & 0o077 == 0


def seated(room: GatewayRoom) -> int:
    lobbies = [shard.feed.lobby for shard in room.room.shards.values()]
    return sum(len(row.players) for lobby in lobbies for row in lobby)


# --- the brain ---------------------------------------------------------------------------------------------------

CALM = msgspec.structs.replace(TEMPERS[0], bluff=0.0)


@pytest.mark.parametrize(
    ("cards", "thrown"),
    [
        ("AsKsQsJsTs", ()),  # royal flush
        ("7h8h9hThKh", ()),  # flush
        ("7h8d9sTcJh", ()),  # straight
        ("AhAdAsKcKd", ()),  # full house
        ("AhAdAs9c7d", (3, 4)),  # three of a kind
        ("AhAd9s9c7d", (4,)),  # two pair
        ("7h9hJhKhAs", (4,)),  # four to a flush
        ("8h9dTsJcAd", (4,)),  # open at both ends
    ],
)
def test_a_bot_draws_sensibly(cards: str, thrown: tuple[int, ...]) -> None:
    assert throw(cards_from_text(cards), 32, CALM, Random(1)) == thrown


def test_a_pair_is_kept_and_sometimes_a_kicker_with_it() -> None:
    thrown = {throw(cards_from_text("AhAd9s8c7d"), 32, CALM, Random(seed)) for seed in range(40)}
    assert thrown == {(2, 3, 4), (3, 4)}


def test_better_hands_feel_stronger() -> None:
    draw = ["7h8dTsQcAd", "7h7dTsQcAd", "7h7dTsTcAd", "7h7d7sTcAd", "7h8d9sTcJd", "AhAdAsKcKd", "7h8hTsQhAh"]
    felt = [strength_of(cards_from_text(cards), 32) for cards in draw[:6]]
    assert felt == sorted(felt)
    assert strength_of(cards_from_text("AsAh"), 52) > strength_of(cards_from_text("Kh7c"), 52)
    assert strength_of(cards_from_text("AsAhAd"), 52) > strength_of(cards_from_text("AsAhKd"), 52)


def action(kind: str, to: int = 0, pay: int = 0) -> ActionView:
    return ActionView(kind, to, pay, False)  # type: ignore[arg-type]


@pytest.mark.parametrize("temper", TEMPERS, ids=lambda temper: temper.name)
@pytest.mark.parametrize(
    "actions",
    [
        (action("check"), action("fold"), action("bet", 200, 200)),
        (action("fold"), action("call", 200, 200), action("raise", 400, 400)),
        (action("fold"), action("call", 200, 200)),
        (action("bring_in", 100, 100), action("complete", 200, 200)),
        (action("check"), action("fold"), action("bet", 200, 200), action("bet", 400, 400)),
        (action("fold"),),
    ],
)
def test_a_bot_only_does_what_is_listed_and_never_folds_for_nothing(
    temper: Temper, actions: tuple[ActionView, ...]
) -> None:
    chance = Random(3)
    for _ in range(200):
        chosen = choose(actions, chance.random(), 600, temper, chance)
        assert chosen in actions
        if any(each.kind == "check" for each in actions):
            assert chosen.kind != "fold"


def test_play_is_varied() -> None:
    actions = (action("fold"), action("call", 200, 200), action("raise", 400, 400))
    chance = Random(3)
    kinds = {choose(actions, 0.45, 600, temper_of(number, chance), chance).kind for number in range(200)}
    assert kinds == {"fold", "call", "raise"}


def test_accounts_are_made_once_and_renewed_when_their_money_is_gone(tmp_path: Path) -> None:
    accounts = Accounts(tmp_path / "bots.json")
    ada, anselm = accounts.get(0), accounts.get(1)
    assert (ada.name, anselm.name) == ("Ada", "Anselm")
    assert Accounts(tmp_path / "bots.json").get(1) == anselm
    renewed = accounts.renew(ada)
    assert renewed.name.startswith("Ada ")
    assert accounts.renew(renewed).name.startswith("Ada ")
    assert accounts.get(40).name.endswith(" 2")
    assert all(len(accounts.get(number).name) <= 20 for number in range(100))
    assert Accounts(None).get(0) != Accounts(None).get(0)
