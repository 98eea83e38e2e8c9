"""The Python client's seeds, against the room's own model of a table."""

import random

import pytest

from brelan.client.model import TableModel
from brelan.client.seeds import Seeds
from brelan.events import commands
from brelan.events import table as facts
from brelan.events.envelope import TableCommitted
from brelan.rules.state import TableState
from brelan.rules.table import apply_entry
from brelan.views.entries import entry_view, owners_of
from brelan.views.messages import Events, You, decode_room
from brelan.views.snapshot import seat_of, snapshot
from tests.services.dealer_room import DEALER_KEY
from tests.services.small_room import STUD, SmallRoom

PLAYERS = ("ana", "ben", "cyd")


class Client:
    """Folds what his socket would be sent, and says what his seeds say."""

    def __init__(self, player_id: str, keys: list[str]) -> None:
        self.player_id = player_id
        self.model = TableModel()
        self.seeds = Seeds(keys, random.Random(player_id).randbytes, length=4)
        self._state = TableState()

    async def follow(self, room: SmallRoom) -> bool:
        """Whether he had something to say."""
        entries = [entry for entry in room.feed if isinstance(entry, TableCommitted)]
        for entry in entries[self._state.version :]:
            frame = decode_room(entry_view(entry, owners_of(self._state)).message_for(self.player_id))
            apply_entry(self._state, entry)
            if not self.model.known:
                you = You(self.player_id, self.player_id, seat_of(self._state, self.player_id))
                self.model.begin(snapshot(self._state, you, 0, None))
            else:
                assert isinstance(frame, Events)
                self.model.take(frame)
        said = self.seeds.due(self.model)
        if said is not None:
            await room.command(self.player_id, said)
            await room.settle()
        return said is not None


async def play(room: SmallRoom, clients: list[Client], hands: int) -> None:
    chance = random.Random(3)
    while len(room.events(facts.HandEnded)) + len(room.events(facts.HandVoided)) < hands:
        if any([await client.follow(room) for client in clients]):
            continue
        if not await room.act(chance):
            await room.pass_time(1_000)


async def opened(keys: list[str]) -> tuple[SmallRoom, list[Client]]:
    room = SmallRoom()
    await room.open(STUD)
    for player in PLAYERS:
        await room.sit(player, 100_000)
    return room, [Client(player, keys) for player in PLAYERS]


async def test_every_hand_is_cut_by_all_who_bring_a_chain_and_used_up_chains_are_followed_by_new_ones() -> None:
    room, clients = await opened([DEALER_KEY])
    await play(room, clients, 8)
    assert not room.events(facts.HandVoided)
    given = room.events(facts.SeedGiven)
    assert len({event.element for event in given if isinstance(event, facts.SeedGiven)}) == len(given) > 15
    brought = room.events(facts.SeedsBrought)
    assert len(brought) > len(PLAYERS), "a chain of four elements is used up"
    for client in clients:
        assert client.seeds.refused == []
        assert len(client.seeds.given) > 5
    assert room.refusals() == []


async def test_a_deck_that_another_dealer_has_signed_gets_no_seed() -> None:
    room, clients = await opened(["ab" * 32])
    for client in clients:
        await client.follow(room)
    await play(room, clients, 1)
    for _ in range(5):
        for client in clients:
            await client.follow(room)
    state = await room.state()
    assert state.hand is not None
    assert state.hand.seeds_asked
    assert all(client.seeds.refused for client in clients)
    assert not any(client.seeds.given for client in clients)
    await room.pass_time(11_000)
    assert room.events(facts.SeedsWithheld)
    assert not [event for event in room.events(facts.CardsDealt) if state.hand.hand_id in str(event)]


async def test_who_was_away_for_his_first_seed_brings_his_chain_again() -> None:
    room, clients = await opened([DEALER_KEY])
    away, *others = clients
    await away.follow(room)
    await play(room, others, 2)  # the first one began before the chain was there
    assert room.events(facts.SeedsWithheld)
    await away.follow(room)
    await room.command(away.player_id, commands.ComeBack())
    await room.settle()
    await play(room, clients, 4)
    assert away.seeds.given


@pytest.mark.parametrize("command", [commands.GiveSeed("h", "x"), commands.BringSeeds("x" * 64)])
async def test_a_wrong_seed_is_refused_with_a_sentence(command: commands.PlayerCommand) -> None:
    room, _ = await opened([])
    await room.command("ana", command)
    await room.settle()
    (refusal,) = room.refusals()
    assert refusal.code in {"no_seed_due", "bad_seed"}
    assert refusal.message.endswith(".")
