"""No card reaches anybody before it is dealt to him or shown, and none lies in clear where it does not belong.

300 hands of each game by players on raw sockets, every frame kept. What was truly dealt is read afterwards from the
archive of finished hands and compared with what each socket had been sent, frame by frame.
"""

import asyncio
import json
import random
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from brelan.cli.up import SERVICES, WITH_SQL
from brelan.events.envelope import decode_committed
from brelan.events.table import HandShown, ShownHand
from brelan.rules.cards import card_from_text, text_of
from tests.e2e.players import RawPlayer
from tests.processes import wait_until
from tests.room import Room, start_room

HANDS = 300
PLAYERS = {"stud": 5, "draw": 5}
CARD = re.compile(r"[2-9TJQKA][cdhs]")
CARDS_IN_A_ROW = re.compile(r"(?:[2-9TJQKA][cdhs]){2,}")

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(900)]

Truth = dict[tuple[str, int], tuple[int, ...]]  # (hand, seat) -> all cards in the order dealt, discards included


class Recorded:
    """What was played: everybody's frames, and what was truly dealt."""

    def __init__(self, room: Room, players: list[RawPlayer], games: dict[str, str]) -> None:
        self.room = room
        self.players = players
        self.games = games  # table id -> game
        self.final: Truth = {}
        self.discards: Truth = {}
        with sqlite3.connect(f"file:{room.data / 'brelan.db'}?mode=ro", uri=True) as database:
            for hand_id, seat, cards, discards in database.execute(
                "SELECT hand_id, seat, cards, discards FROM history_cards"
            ):
                self.final[hand_id, seat] = tuple(cards)
                self.discards[hand_id, seat] = tuple(discards)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    with start_room(tmp_path_factory.mktemp("leaks"), "--no-bots", "--hand-pause-ms", "0") as room:
        games = asyncio.run(_games(room.url))
        players = asyncio.run(_play(room.url, games))
        stored = _stored_hands(room)
        wait_until(lambda: _stored_hands(room) >= max(stored, HANDS), 30, "the hands in the archive")
        yield Recorded(room, players, games)


async def _games(url: str) -> dict[str, str]:
    player = RawPlayer(url, "lister", random.Random(0))
    await player.register()
    return await player.tables()


async def _play(url: str, games: dict[str, str]) -> list[RawPlayer]:
    players: list[RawPlayer] = []
    async with asyncio.TaskGroup() as group:
        for number, (table_id, game) in enumerate(games.items()):
            enough = asyncio.Event()
            for seat in range(PLAYERS[game] + 1):  # one of them watches
                player = RawPlayer(url, f"{game}-{number}-{seat}", random.Random(100 * number + seat))
                await player.register()
                players.append(player)
                group.create_task(player.play(table_id, None if seat == 0 else 4_000, enough, HANDS))
    return players


def _stored_hands(room: Room) -> int:
    with sqlite3.connect(f"file:{room.data / 'brelan.db'}?mode=ro", uri=True) as database:
        return int(database.execute("SELECT count(*) FROM history_hands").fetchone()[0])


# --- where cards may stand in a frame ----------------------------------------------------------------------------


def _strings(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(inner, (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, path)


_ALLOWED = (
    ("cards", "cards"),
    ("events", "cards", "up"),
    ("events", "community"),
    ("events", "hand", "cards"),
    ("events", "hand", "best"),
    ("events", "hands", "cards"),
    ("events", "hands", "best"),
    ("table", "hand", "community"),
    ("table", "hand", "players", "up"),
    ("table", "hand", "players", "shown", "cards"),
    ("table", "hand", "players", "shown", "best"),
)


def test_cards_stand_only_where_the_protocol_has_cards(recorded: Recorded) -> None:
    seen = 0
    for player in recorded.players:
        for text in player.frames:
            for path, value in _strings(json.loads(text)):
                if CARD.fullmatch(value):
                    assert path in _ALLOWED, f"{player.name}: a card at {path}: {text}"
                    seen += 1
                else:
                    assert not CARDS_IN_A_ROW.fullmatch(value), f"{player.name}: cards at {path}: {text}"
    assert seen > 10_000


# --- whose, and when ---------------------------------------------------------------------------------------------


class Watch:
    """One viewer's frames in order: what he has a right to know by now."""

    def __init__(self, recorded: Recorded, player: RawPlayer) -> None:
        self.recorded = recorded
        self.player = player
        self.hand_id = ""
        self.dealt: dict[int, int] = {}
        self.folded: set[int] = set()
        self.checked = 0

    def frame(self, text: str) -> None:
        frame = json.loads(text)
        for event in frame.get("events", ()):
            self._event(event, text)
        own = frame.get("cards")
        if own:
            self._own(own, text)

    def _truth(self, seat: int) -> tuple[int, ...]:
        return self.recorded.final[self.hand_id, seat]

    def _event(self, event: dict[str, Any], text: str) -> None:
        match event["type"]:
            case "HandStarted":
                self.hand_id, self.dealt, self.folded = event["hand_id"], {}, set()
            case "Folded":
                self.folded.add(event["seat"])
            case "CardsDealt":
                for cards in event["cards"]:
                    self._public(cards, text)
            case "CardsDrawn":
                self.dealt[event["seat"]] = self.dealt.get(event["seat"], 0) + event["count"]
            case "HandShown":
                self._shown(event["hand"], text)
            case "ShowdownResolved":
                for hand in event["hands"]:
                    self._shown(hand, text)

    def _public(self, cards: dict[str, Any], text: str) -> None:
        seat, before = cards["seat"], self.dealt.get(cards["seat"], 0)
        self.dealt[seat] = before + cards["down"] + len(cards["up"])
        if (self.hand_id, seat) not in self.recorded.final:
            return
        up = tuple(card_from_text(card) for card in cards["up"])
        start = before + cards["down"]
        assert self._truth(seat)[start : start + len(up)] == up, f"{self.player.name}: not the card dealt up: {text}"
        self.checked += len(up)

    def _shown(self, hand: dict[str, Any], text: str) -> None:
        assert hand["seat"] not in self.folded, f"{self.player.name}: a folded hand was shown: {text}"
        if (self.hand_id, hand["seat"]) in self.recorded.final:
            community = len(hand["cards"]) - len(self._truth(hand["seat"]))
            shown = tuple(card_from_text(card) for card in hand["cards"])
            assert sorted(shown[: len(shown) - max(community, 0)]) == sorted(self._truth(hand["seat"])), text
            self.checked += len(shown)

    def _own(self, own: dict[str, Any], text: str) -> None:
        assert self.player.seat is not None, f"{self.player.name} watches, and was sent cards: {text}"
        assert own["seat"] == self.player.seat, f"{self.player.name} was sent another seat's cards: {text}"
        key = own["hand_id"], own["seat"]
        if key not in self.recorded.final:
            return
        cards = tuple(card_from_text(card) for card in own["cards"])
        mine = set(self.recorded.final[key]) | set(self.recorded.discards[key])
        assert set(cards) <= mine, f"{self.player.name} was sent a card that is not his: {text}"
        if own["hand_id"] == self.hand_id:
            assert len(cards) <= self.dealt.get(own["seat"], 0), f"{self.player.name}: a card before its deal: {text}"
        self.checked += len(cards)


def test_every_card_a_socket_got_was_dealt_to_it_or_shown_to_all(recorded: Recorded) -> None:
    assert sum(player.hands_ended for player in recorded.players) >= HANDS * 2 * 4
    for player in recorded.players:
        watch = Watch(recorded, player)
        for text in player.frames:
            watch.frame(text)
        assert watch.checked > 100, f"{player.name}: hardly anything was checked"


# --- what lies in Redis ------------------------------------------------------------------------------------------


def _everything(room: Room) -> bytes:
    """All keys and values of the room's Redis, as bytes."""
    client: Any = redis.Redis.from_url(json.loads((room.data / "running.json").read_text())["redis_url"])
    parts: list[bytes] = []
    for key in client.scan_iter(count=1000):
        parts.append(key)
        match client.type(key):
            case b"stream":
                parts.extend(value for _, fields in client.xrange(key) for value in fields.values())
            case b"hash":
                parts.extend(part for field in client.hgetall(key).items() for part in field)
            case b"string":
                parts.append(client.get(key))
            case b"zset":
                parts.extend(client.zrange(key, 0, -1))
    client.close()
    return b"\n".join(parts)


def _turned_up(room: Room) -> list[ShownHand]:
    """Every hand that was shown, as the tables' logs say: what is archived of them, and what is in Redis still; also in
    hands that went on when the players had left."""
    client: Any = redis.Redis.from_url(json.loads((room.data / "running.json").read_text())["redis_url"])
    entries = [fields[b"m"] for key in client.scan_iter(match="*:table:*") for _, fields in client.xrange(key)]
    client.close()
    with sqlite3.connect(f"file:{room.data / 'brelan.db'}?mode=ro", uri=True) as database:
        entries += [data for (data,) in database.execute("SELECT data FROM history_entries")]
    return [event.hand for data in entries for event in decode_committed(data).events if isinstance(event, HandShown)]


def _hands(recorded: Recorded) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """(hidden, shown): whole hands, of five cards or seven, that nobody but their owner saw, and those all saw.

    With 32 cards the very five of a hidden hand, in their order, may by chance be those of another hand that was shown:
    such a one would be found, and is left out.
    """
    turned_up = _turned_up(recorded.room)
    shown = {tuple(sorted(hand.cards)) for hand in turned_up}
    in_clear = {hand.cards for hand in turned_up} | {hand.best for hand in turned_up}
    whole = [cards for cards in recorded.final.values() if len(cards) in (5, 7)]
    hidden = [cards for cards in whole if tuple(sorted(cards)) not in shown and cards not in in_clear]
    return hidden, [cards for cards in whole if tuple(sorted(cards)) in shown]


def _found(hands: list[tuple[int, ...]], everything: bytes) -> int:
    """How many of the hands stand somewhere, packed as the room packs a list of cards, or as text."""
    there = {
        match[1]
        for pattern in (
            rb"(?=\x95([\x00-\x33]{5}))",
            rb"(?=\x97([\x00-\x33]{7}))",
            rb"(?=((?:[2-9TJQKA][cdhs]){5}))",
            rb"(?=((?:[2-9TJQKA][cdhs]){7}))",
        )
        for match in re.finditer(pattern, everything)
    }
    return sum(bytes(cards) in there or text_of(cards).encode() in there for cards in hands)


def test_redis_holds_no_hidden_hand_in_clear(recorded: Recorded) -> None:
    everything = _everything(recorded.room)
    hidden, shown = _hands(recorded)
    assert len(hidden) > 200
    assert _found(hidden, everything) == 0
    assert _found(shown, everything) > 0, "the search finds not even the hands that were shown"


def test_the_disk_of_redis_holds_no_hidden_hand_in_clear(recorded: Recorded) -> None:
    files = [file for file in recorded.room.data.rglob("*") if file.is_file() and "redis" in file.parts]
    everything = b"".join(file.read_bytes() for file in files)
    hidden, shown = _hands(recorded)
    assert _found(hidden, everything) == 0
    assert _found(shown, everything) > 50, "the search finds not even the hands that were shown"


def test_the_services_logs_name_no_cards(recorded: Recorded) -> None:
    for line in recorded.room.lines:
        assert not re.search(r"(?:[2-9TJQKA][cdhs][ ,]*){5}", line), line


def test_each_service_of_a_running_room_has_its_own_redis_user_and_nothing_it_does_not_need(recorded: Recorded) -> None:
    for name in SERVICES:
        lines = Path(f"/proc/{recorded.room.pid_of(name)}/environ").read_text().split("\0")
        own = dict(line.partition("=")[::2] for line in lines if line.startswith("BRELAN_"))
        with redis.Redis.from_url(own["BRELAN_REDIS_URL"], decode_responses=True) as client:
            assert client.acl_whoami() == name
        assert ("BRELAN_SQL_URL" in own) == (name in WITH_SQL)
        assert ("BRELAN_BROKER_URL" in own) == (name == "timer")
