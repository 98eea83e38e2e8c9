"""The dealer and players' own keys: cards of who brought one are sealed to it, and to nobody else."""

import msgspec
import pytest

from brelan.deck.keys import x25519_public
from brelan.deck.sealing import CannotOpen, Opener, hole_context, is_box
from brelan.eventlog import keys
from brelan.eventlog.memory_log import MemoryStore
from brelan.events import table
from brelan.events.dealing import HoleCards, PlayersBoxes
from brelan.events.envelope import decode_players_boxes
from tests.services.dealer_room import (
    SHARD,
    TABLE,
    FeedWriter,
    begun,
    cards_requested,
    dealt,
    deck_requested,
    draw_chosen,
    ended,
    open_hole,
    open_table,
    records,
    serve,
    showdown_requested,
    started,
)

PHONE, LAPTOP = bytes(range(32)), bytes(range(1, 33))
SEATS = (2, 3)
HAND = f"{TABLE}-1-1"


class Room:
    """Seat 2 has brought the phone's key. Each entry is served by a dealer that has just taken over."""

    def __init__(self) -> None:
        self.store = MemoryStore(lambda: 1000)
        self.log = self.store.log(SHARD)
        self.table = FeedWriter(self.store)
        open_table(self.store)

    async def play(self, *entries: tuple[table.TableEvent, ...]) -> None:
        for events in entries:
            await self.table.commit(*events)
            await serve(self.log)

    async def start(self, deck_size: int = 52) -> None:
        plain = started(1, deck_size, SEATS)
        first = msgspec.structs.replace(plain.players[0], hole_key=x25519_public(PHONE))
        await self.play((msgspec.structs.replace(plain, players=(first, *plain.players[1:])), deck_requested(1)))

    async def sealed(self, seat: int) -> bytes:
        return (await self.log.hash_all(keys.hole(TABLE)))[str(seat)]

    async def boxes(self) -> PlayersBoxes:
        sealed = await self.sealed(2)
        assert not is_box(sealed)
        return decode_players_boxes(sealed)

    async def cards(self, secret: bytes = PHONE) -> list[HoleCards]:
        """Of seat 2, by its newest box last."""
        plain = [Opener((secret,)).open(each.box, hole_context(TABLE, 2)) for each in (await self.boxes()).boxes]
        return [msgspec.json.decode(each, type=HoleCards) for each in plain]


@pytest.fixture
def room() -> Room:
    return Room()


def brought(secret: bytes | None, hand_id: str = HAND) -> tuple[table.KeyBrought]:
    return (table.KeyBrought(2, x25519_public(secret) if secret else b"", b"s" * 32 if secret else b"", hand_id),)


async def resealed(room: Room) -> list[table.CardsResealed]:
    return [each.answer for each in await dealt(room.log) if isinstance(each.answer, table.CardsResealed)]


async def test_cards_are_sealed_to_the_key_of_who_brought_one_and_to_the_gateways_for_others(room: Room) -> None:
    await room.start()
    await room.play((cards_requested(1, "third", SEATS),))
    (own,) = await room.cards()
    assert (own.hand_id, own.seat, own.player_id, len(own.cards), own.up) == (HAND, 2, "p_2", 3, (False, False, True))
    assert open_hole(TABLE, 3, await room.sealed(3)) is not None
    for each in (await room.boxes()).boxes:
        assert open_hole(TABLE, 2, each.box) is None  # the gateways' key
        with pytest.raises(CannotOpen):
            Opener((LAPTOP,)).open(each.box, hole_context(TABLE, 2))
        with pytest.raises(CannotOpen):
            Opener((PHONE,)).open(each.box, hole_context(TABLE, 3))


async def test_what_the_table_has_not_logged_yet_lies_in_a_box_of_its_own(room: Room) -> None:
    await room.start()
    await room.play((cards_requested(1, "third", SEATS),), (cards_requested(1, "fourth", SEATS),))
    before, now = await room.cards()
    assert [box.count for box in (await room.boxes()).boxes] == [3, 4] == [len(before.cards), len(now.cards)]
    assert now.cards[:3] == before.cards


async def test_boxes_have_the_same_size_whatever_is_in_them(room: Room) -> None:
    await room.start()
    streets = ("third", "fourth", "fifth", "sixth", "river")
    sizes = set()
    for street in streets:
        await room.play((cards_requested(1, street, SEATS),))
        sizes |= {len(each.box) for each in (await room.boxes()).boxes}
    assert len(sizes) == 1


async def test_who_draws_finds_his_new_hand(room: Room) -> None:
    await room.start(32)
    await room.play((cards_requested(1, "deal", SEATS),))
    (before,) = await room.cards()
    await room.play((draw_chosen(1, 2, 0, 1),))
    (now,) = await room.cards()
    assert now.cards[:3] == before.cards[2:]
    assert not {*now.cards[3:]} & {*before.cards}


async def test_a_key_that_counts_now_has_the_cards_so_far_and_those_to_come(room: Room) -> None:
    await room.start()
    await room.play((cards_requested(1, "third", SEATS),))
    (before,) = await room.cards()
    await room.play(brought(LAPTOP))
    assert await resealed(room) == [table.CardsResealed(HAND, 2, x25519_public(LAPTOP))]
    assert await room.cards(LAPTOP) == [before]
    with pytest.raises(CannotOpen):
        await room.cards(PHONE)
    await room.play((cards_requested(1, "fourth", SEATS),))
    assert (await room.cards(LAPTOP))[-1].cards[:3] == before.cards
    with pytest.raises(CannotOpen):
        await room.cards(PHONE)


async def test_a_key_may_change_before_the_first_card(room: Room) -> None:
    await room.start()
    await room.play(brought(LAPTOP), (cards_requested(1, "third", SEATS),))
    assert await resealed(room) == []
    assert len(await room.cards(LAPTOP)) == 1


async def test_back_to_the_gateways_key(room: Room) -> None:
    await room.start()
    await room.play((cards_requested(1, "third", SEATS),))
    (before,) = await room.cards()
    await room.play(brought(None))
    assert open_hole(TABLE, 2, await room.sealed(2)) == before


@pytest.mark.parametrize("hand_id", ["", "another"])
async def test_a_key_for_later_changes_nothing_now(room: Room, hand_id: str) -> None:
    await room.start()
    await room.play((cards_requested(1, "third", SEATS),))
    was = await room.sealed(2)
    await room.play(brought(LAPTOP, hand_id))
    assert await room.sealed(2) == was
    assert await resealed(room) == []


async def test_the_hand_ends_and_its_record_is_as_ever(room: Room) -> None:
    await room.start(32)
    await room.play(
        (cards_requested(1, "deal", SEATS),), brought(LAPTOP), (showdown_requested(1, SEATS),), (ended(1, SEATS),)
    )
    (record,) = await records(room.log)
    (own,) = await room.cards(LAPTOP)
    assert next(one.cards for one in record.seats if one.seat == 2) == own.cards
    await room.play(begun(2, 32, SEATS))
    assert await room.log.hash_all(keys.hole(TABLE)) == {}
