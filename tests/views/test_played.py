"""Views of tables that were really played: what a client folds is what the room knows, and nothing hidden is in it."""

import random
from collections.abc import Iterator, Sequence

import msgspec
import pytest

from brelan.client.model import TableModel
from brelan.deck.sealing import HoleCardOpener
from brelan.eventlog import keys
from brelan.events import commands
from brelan.events import table as facts
from brelan.events.dealing import HoleCards
from brelan.events.envelope import TableCommitted
from brelan.rules.cards import TEXTS
from brelan.rules.state import TableState
from brelan.rules.table import apply_entry
from brelan.views import messages as views
from brelan.views.entries import entry_view, owners_of, with_cards
from brelan.views.snapshot import dealt_to, own_cards, seat_of, snapshot
from tests.services.small_room import DRAW, GATEWAY_SECRET, STUD, TABLE, SmallRoom

PLAYERS = ("ana", "ben", "cleo", "dan")
STEPS = 300

OPERATORS_WHIMS = (
    commands.PauseTable(),
    commands.ResumeTable(),
    commands.ConfigureTable(msgspec.structs.replace(STUD, name="Late", hand_pause_ms=500)),
    commands.ConfigureTable(msgspec.structs.replace(DRAW, name="Late", hand_pause_ms=500)),
)

open_hole_cards = HoleCardOpener((GATEWAY_SECRET,))


class Played:
    """The log of a table, and after each entry what lay in the hash of hole cards."""

    def __init__(self) -> None:
        self.entries: list[TableCommitted] = []
        self.holes: list[dict[int, HoleCards]] = []


async def play(game: str, seed: int, room: SmallRoom | None = None) -> Played:
    """Random play with everything that happens at a table: time-outs, sitting out, leaving, topping up, showing."""
    chance = random.Random(seed)
    room = room or SmallRoom()
    config = msgspec.structs.replace(STUD if game == "stud" else DRAW, hand_pause_ms=chance.choice((0, 1000)))
    await room.open(config)
    played = Played()
    for player in PLAYERS:
        await room.sit(player, chance.choice((2000, 4000)))
        await look(room, played)
    for _ in range(STEPS):
        luck = chance.random()
        if luck < 0.03:
            await room.pass_time(11_000)
        elif luck < 0.05:
            await room.command("operator", chance.choice(OPERATORS_WHIMS))
            await room.settle()
        elif luck < 0.15:
            await room.command(chance.choice(PLAYERS), whim(chance))
            await room.settle()
        elif not await room.act(chance):
            await room.pass_time(1_000)
            await room.command(chance.choice(PLAYERS), chance.choice((commands.ComeBack("post"), commands.TopUp(2000))))
            await room.command("operator", commands.ResumeTable())
            await room.settle()
        await look(room, played)
    return played


def whim(chance: random.Random) -> commands.ClientCommand:
    return chance.choice(
        (
            commands.SitOut(),
            commands.ComeBack(entry="post"),
            commands.ComeBack(entry="post"),
            commands.TopUp(2000),
            commands.SetPreferences(chance.random() < 0.7, chance.random() < 0.7),
            commands.Show(),
            commands.Muck(),
            commands.Leave(),
            commands.SitDown(8000, entry="post"),
            commands.SitDown(8000),
        )
    )


async def look(room: SmallRoom, played: Played) -> None:
    """Entries since the last look. The hash is only known as it is now: entries in between get it too."""
    entries = [entry for entry in room.feed if isinstance(entry, TableCommitted)]
    sealed = await room.log.hash_all(keys.hole(TABLE))
    holes = {int(seat): hole for seat, box in sealed.items() if (hole := open_hole_cards(TABLE, int(seat), box))}
    for entry in entries[len(played.entries) :]:
        played.entries.append(entry)
        played.holes.append(holes)


class Viewer:
    """What one viewer's socket gets, and what his client makes of it."""

    def __init__(self, player_id: str) -> None:
        self.player_id = player_id
        self.model = TableModel()
        self.frames: list[str] = []

    def snapshot_of(self, state: TableState, holes: dict[int, HoleCards]) -> views.Snapshot:
        you = views.You(self.player_id, self.player_id.title(), seat_of(state, self.player_id))
        return snapshot(state, you, 0, self.cards(state, holes))

    def cards(self, state: TableState, holes: dict[int, HoleCards]) -> views.OwnCards | None:
        dealt = dealt_to(state, self.player_id)
        hole = holes.get(dealt.seat) if dealt else None
        return own_cards(hole, dealt) if hole is not None and dealt is not None else None

    def take(self, frame: str) -> None:
        self.frames.append(frame)
        message = views.decode_room(frame)
        assert isinstance(message, views.Events)
        self.model.take(message)


def watch(played: Played, viewers: Sequence[Viewer], check_every: int = 1) -> None:
    """Feeds the viewers as the gateway does, and compares each model with a fresh snapshot again and again."""
    state = TableState()
    apply_entry(state, played.entries[0])
    for viewer in viewers:
        viewer.model.begin(viewer.snapshot_of(state, {}))
    for entry, holes in zip(played.entries[1:], played.holes[1:], strict=True):
        view = entry_view(entry, owners_of(state))
        apply_entry(state, entry)
        got_cards = any(isinstance(event, facts.CardsDealt | facts.CardsDrawn) for event in entry.events)
        for viewer in viewers:
            frame = view.message_for(viewer.player_id)
            cards = viewer.cards(state, holes) if got_cards else None
            viewer.take(with_cards(frame, cards) if cards else frame)
            if entry.version % check_every == 0:
                fresh = TableModel()
                fresh.begin(viewer.snapshot_of(state, holes))
                differs = list(differences(plain(viewer.model), plain(fresh)))
                assert not differs, f"{viewer.player_id} at {entry.version}: {differs} after {entry.events}"


def differences(folded: object, fresh: object, where: str = "") -> Iterator[str]:
    match folded, fresh:
        case dict(), dict():
            for name in folded.keys() | fresh.keys():
                yield from differences(folded.get(name), fresh.get(name), f"{where}.{name}")
        case list(), list() if len(folded) == len(fresh):
            for number, (one, other) in enumerate(zip(folded, fresh, strict=True)):
                yield from differences(one, other, f"{where}[{number}]")
        case _:
            if folded != fresh:
                yield f"{where}: {folded} is {fresh}"


def plain(model: TableModel) -> dict[str, object]:
    """All it knows, but for own cards: a snapshot of a moment may show more of them than was known then."""
    known = {name: msgspec.to_builtins(value) for name, value in vars(model).items()}
    del known["cards"]
    return known


@pytest.mark.parametrize("game", ["stud", "draw"])
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_what_a_client_folds_is_what_a_snapshot_says(game: str, seed: int) -> None:
    played = await play(game, seed)
    assert len(played.entries) > 80
    watch(played, [Viewer("ana"), Viewer("dan"), Viewer("nobody")])


@pytest.mark.parametrize("game", ["stud", "draw"])
async def test_no_frame_holds_a_card_that_its_viewer_may_not_see(game: str) -> None:
    """Everything that was ever hidden to a viewer is looked for in all that he was sent."""
    played = await play(game, 7)
    viewers = [Viewer(name) for name in (*PLAYERS, "nobody")]
    watch(played, viewers, check_every=10**9)
    saw_cards = set()  # a player may sit out, or wait for the big blind, all the time
    for viewer in viewers:
        for entry, frame in zip(played.entries[1:], viewer.frames, strict=True):
            allowed = public_cards(entry)
            message = views.decode_room(frame)
            assert isinstance(message, views.Events)
            if isinstance(message.cards, views.OwnCards):
                assert viewer.player_id != "nobody"
                allowed |= set(message.cards.cards)
                saw_cards.add(viewer.player_id)
            assert cards_in(frame) <= allowed
    assert len(saw_cards) >= 2


def public_cards(entry: TableCommitted) -> set[str]:
    """What this entry turns face up."""
    up: set[int] = set()
    for event in entry.events:
        match event:
            case facts.CardsDealt():
                up.update(card for each in event.cards for card in each.up)
                up.update(() if event.community is None else (event.community,))
            case facts.ShowdownResolved():
                up.update(card for hand in event.hands for card in hand.cards)
            case facts.HandShown():
                up.update(event.hand.cards)
            case _:
                pass
    return {TEXTS[card] for card in up}


def cards_in(frame: str) -> set[str]:
    found: set[str] = set()

    def search(value: object) -> None:
        if isinstance(value, str) and value in TEXTS:
            found.add(value)
        elif isinstance(value, dict):
            for each in value.values():
                search(each)
        elif isinstance(value, list):
            for each in value:
                search(each)

    search(msgspec.json.decode(frame))
    return found
