"""The dealer on the in-memory log: whole hands asked for by hand-made feed entries."""

import random

import pytest
from msgspec.structs import replace

from brelan.deck.events import DeckPrepared, DeckPutAway, DeckShuffled, HandFinished, Reshuffled, StreetDealt
from brelan.deck.fair.audit import audit_hand
from brelan.deck.fair.commitment import Commitment, is_signed
from brelan.deck.fair.hand import FairHand
from brelan.deck.fair.leaves import base_epoch
from brelan.deck.fair.record import read
from brelan.deck.fair.verify import verify_record
from brelan.deck.sealing import SecretsOpener
from brelan.eventlog import keys
from brelan.eventlog.dead import decode_dead
from brelan.eventlog.keys import Service
from brelan.eventlog.memory_log import MemoryStore
from brelan.events import table
from brelan.events.envelope import CommandRefused, encode
from brelan.events.table import CardsDealt, CardsDrawn, HandShown, ShowdownResolved
from brelan.rules.cards import deck
from brelan_dealer.decks import seed_of
from tests.services.dealer_room import (
    AUDITOR_SECRET,
    DEALER_KEY,
    SHARD,
    STREETS,
    TABLE,
    FeedWriter,
    asked_again,
    begun,
    cards_requested,
    committed,
    deal_of,
    dealt,
    deck_log,
    deck_requested,
    draw_chosen,
    draw_hand,
    ended,
    holes,
    open_table,
    records,
    serve,
    show_requested,
    showdown_requested,
    started,
    stud_hand,
)

SEATS = (2, 3, 5, 8)


class Room:
    def __init__(self) -> None:
        self.store = MemoryStore(lambda: 1000)
        self.log = self.store.log(SHARD)
        self.table = FeedWriter(self.store)
        open_table(self.store)

    async def play(self, *entries: tuple[table.TableEvent, ...]) -> None:
        """Each entry is served by a dealer that has just taken over."""
        for events in entries:
            await self.table.commit(*events)
            await serve(self.log)


@pytest.fixture
def room() -> Room:
    return Room()


# --- whole hands -------------------------------------------------------------------------------------------------


async def test_a_stud_hand_from_the_first_card_to_the_record(room: Room) -> None:
    await room.play(*stud_hand(1, SEATS))
    answers = [each.answer for each in await dealt(room.log)]
    streets = [answer for answer in answers if isinstance(answer, CardsDealt)]
    assert [answer.street for answer in streets] == list(STREETS)
    assert [(cards.seat, cards.down, len(cards.up)) for cards in streets[0].cards] == [(seat, 2, 1) for seat in SEATS]
    (record,) = await records(room.log)
    held = {seat.seat: seat.cards for seat in record.seats}
    assert all(len(cards) == 7 for cards in held.values())
    assert len({card for cards in held.values() for card in cards}) == 7 * len(SEATS)
    for seat in SEATS:
        ups = tuple(card for answer in streets for cards in answer.cards if cards.seat == seat for card in cards.up)
        assert held[seat][2:6] == ups
    resolved = answers[-1]
    assert isinstance(resolved, ShowdownResolved)
    assert resolved.hands[0].seat == SEATS[0]
    for shown in resolved.hands:
        assert shown.cards == held[shown.seat]


async def test_a_draw_hand_of_five_with_a_reshuffle(room: Room) -> None:
    seats = (1, 2, 3, 4, 5)
    await room.play(*draw_hand(1, seats))
    answers = [each.answer for each in await dealt(room.log)]
    drawn = [answer for answer in answers if isinstance(answer, CardsDrawn)]
    assert [(answer.seat, answer.count) for answer in drawn] == [(seat, 5) for seat in seats]
    assert [answer.reshuffled for answer in drawn] == [False, False, True, False, True]
    assert sum(isinstance(event, Reshuffled) for event in await deck_log(room.log)) == 2
    (record,) = await records(room.log)
    assert all(len(seat.cards) == len(seat.discards) == 5 for seat in record.seats)
    assert all(not set(seat.cards) & set(seat.discards) for seat in record.seats)
    assert {card for seat in record.seats for card in seat.cards} <= set(deck(36))


async def test_an_answer_says_what_asked_for_it(room: Room) -> None:
    await room.play(*stud_hand(1, SEATS)[:2])
    feed = await room.log.range(keys.feed(SHARD))
    assert [(each.request_id, each.cause, each.trace) for each in await dealt(room.log)] == [
        (f"{TABLE}-1-1:third", f"feed/{feed[0].id}", "t1"),
        (f"{TABLE}-1-1:fourth", f"feed/{feed[1].id}", "t2"),
    ]


async def test_a_hundred_hands_of_both_games(room: Room) -> None:
    chance = random.Random(7)
    for number in range(1, 101):
        seats = sorted(chance.sample(range(1, 9), chance.randint(2, 8)))
        hand = stud_hand(number, seats) if number % 2 else draw_hand(number, seats[:5], chance.randint(1, 5))
        for events in hand:
            await room.table.commit(*events)
    await serve(room.log)
    found = await records(room.log)
    assert [record.hand_id for record in found] == [f"{TABLE}-1-{number}" for number in range(1, 101)]
    assert not await room.log.range(keys.dead(SHARD, Service.DEALER))


async def test_tables_do_not_mix(room: Room) -> None:
    other = FeedWriter(room.store, "s00-b")
    open_table(room.store, TABLE, "s00-b")
    for ours, theirs in zip(stud_hand(1, SEATS), stud_hand(1, (1, 2), "s00-b"), strict=True):
        await room.table.commit(*ours)
        await other.commit(*theirs)
    await serve(room.log)
    assert len(await dealt(room.log)) == len(await dealt(room.log, "s00-b")) == 6
    assert set(await holes(room.log)) == set(SEATS)
    assert set(await holes(room.log, "s00-b")) == {1, 2}
    assert {record.table_id for record in await records(room.log)} == {TABLE, "s00-b"}


# --- own cards ---------------------------------------------------------------------------------------------------


async def test_everybodys_own_cards_lie_sealed_beside_the_answer(room: Room) -> None:
    hand = stud_hand(1, SEATS)
    held: dict[int, tuple[int, ...]] = dict.fromkeys(SEATS, ())
    for events, cards in zip(hand[:5], (3, 4, 5, 6, 7), strict=True):
        await room.play(events)
        found = await holes(room.log)
        assert {seat: len(hole.cards) for seat, hole in found.items()} == dict.fromkeys(SEATS, cards)
        assert all(hole.cards[: len(held[seat])] == held[seat] for seat, hole in found.items())
        held = {seat: hole.cards for seat, hole in found.items()}
    hole = (await holes(room.log))[5]
    assert hole.up == (False, False, True, True, True, True, False)
    assert (hole.player_id, hole.hand_id, hole.seat) == ("p_5", f"{TABLE}-1-1", 5)


async def test_who_folded_keeps_the_cards_he_had(room: Room) -> None:
    await room.play(*stud_hand(1, SEATS)[:2], (cards_requested(1, "fifth", (2, 8)),))
    assert {seat: len(hole.cards) for seat, hole in (await holes(room.log)).items()} == {2: 5, 3: 4, 5: 4, 8: 5}


async def test_drawn_cards_follow_the_kept_ones(room: Room) -> None:
    await room.play((*begun(1, 32, (1, 2)), cards_requested(1, "deal", (1, 2))))
    before = (await holes(room.log))[1].cards
    await room.play((draw_chosen(1, 1, 0, 3),), (draw_chosen(1, 2),))
    after = await holes(room.log)
    assert after[1].cards[:3] == (before[1], before[2], before[4])
    assert not set(after[1].cards[3:]) & set(before)
    assert [each.answer for each in await dealt(room.log)][1:] == [
        CardsDrawn(f"{TABLE}-1-1:draw:1", f"{TABLE}-1-1", 1, 2, False)
    ]


async def test_no_card_of_the_last_hand_stays_when_the_next_begins(room: Room) -> None:
    await room.play(*stud_hand(1, SEATS), (*begun(2, 52, (2, 3)),))
    assert await holes(room.log) == {}
    await room.play((cards_requested(2, "third", (2, 3)),))
    assert {seat: hole.hand_id for seat, hole in (await holes(room.log)).items()} == {
        2: f"{TABLE}-1-2",
        3: f"{TABLE}-1-2",
    }


@pytest.mark.parametrize(
    "over",
    [table.HandVoided(f"{TABLE}-1-1", "an operator says so", ()), table.TableClosed()],
    ids=lambda event: type(event).__name__,
)
async def test_a_hand_called_off_leaves_no_card(room: Room, over: table.TableEvent) -> None:
    await room.play(*stud_hand(1, SEATS)[:3], (over,))
    assert await holes(room.log) == {}
    assert await deck_log(room.log) == [DeckPutAway()]
    assert await records(room.log) == []
    await room.play(*stud_hand(2, SEATS))
    assert len(await records(room.log)) == 1


# --- the dealer's log --------------------------------------------------------------------------------------------


async def test_the_deck_stands_before_the_first_card_is_asked_for(room: Room) -> None:
    await room.play((*begun(1, 52, SEATS),))
    (prepared,) = await deck_log(room.log)
    assert isinstance(prepared, DeckPrepared)
    (answer,) = await committed(room.log)
    assert answer.root.hex() == base_epoch(prepared.kept.secret, prepared.hand_id, 52).root
    seeds = (table.SeatSeed(3, 1, bytes(32)), table.SeatSeed(2, 7, bytes(range(32))))
    await room.play((replace(cards_requested(1, "third", SEATS), seeds=seeds),))
    shuffled = (await deck_log(room.log))[1]
    assert isinstance(shuffled, DeckShuffled)
    assert sorted(shuffled.order) == list(deck(52))
    assert shuffled.order == FairHand(prepared.kept.seeded(map(seed_of, seeds))).shuffle(deck(52))
    third = (await dealt(room.log))[0].answer
    assert isinstance(third, CardsDealt)
    assert [cards.up for cards in third.cards] == [(card,) for card in shuffled.order[8:12]]


async def test_only_the_hand_in_play_is_kept(room: Room) -> None:
    await room.play(*stud_hand(1, SEATS), *stud_hand(2, SEATS)[:2])
    events = await deck_log(room.log)
    assert [type(event) for event in events] == [DeckPrepared, DeckShuffled, StreetDealt, StreetDealt]
    entries = await room.log.range(keys.deck(TABLE))
    assert [entry.id for entry in entries] == ["8-0", "9-0"]


async def test_entries_that_move_no_card_write_nothing(room: Room) -> None:
    await room.play((table.Checked(2),), (table.TablePaused("op"), table.NextHandScheduled(5)))
    refused = CommandRefused(TABLE, "p_2", "c1", "not_your_turn", "No.")
    await room.log.append(keys.feed(SHARD), encode(refused))
    await serve(room.log)
    assert await deck_log(room.log) == []
    assert await dealt(room.log) == []


# --- asked twice -------------------------------------------------------------------------------------------------


async def test_asked_again_it_says_the_same(room: Room) -> None:
    hand = stud_hand(1, SEATS)
    await room.play(*hand[:2], (asked_again(1, "fourth"),), (asked_again(1, "fourth"), asked_again(1, "third")))
    third, fourth, *again = [each.answer for each in await dealt(room.log)]
    assert again == [fourth, fourth, third]
    await room.play((asked_again(1, "deck"),))
    first, second = await committed(room.log)
    assert first == second
    assert len(await deck_log(room.log)) == 4


async def test_the_same_request_in_another_entry_gets_no_second_card(room: Room) -> None:
    await room.play((*begun(1, 32, (1, 2)), cards_requested(1, "deal", (1, 2))), (draw_chosen(1, 1, 0),))
    before = await holes(room.log)
    await room.play((draw_chosen(1, 1, 0),), (cards_requested(1, "deal", (1, 2)),))
    assert await holes(room.log) == before
    first, drawn, *again = [each.answer for each in await dealt(room.log)]
    assert again == [drawn, first]


# --- showing -----------------------------------------------------------------------------------------------------


async def test_who_wants_to_shows_when_the_hand_is_over(room: Room) -> None:
    await room.play(*stud_hand(1, SEATS)[:2], (ended(1, SEATS),), (show_requested(1, 3),))
    answer = (await dealt(room.log))[-1]
    assert isinstance(answer.answer, HandShown)
    assert (answer.request_id, answer.answer.hand.seat) == (f"{TABLE}-1-1:show:3", 3)
    assert answer.answer.hand.cards == (await holes(room.log))[3].cards
    assert answer.answer.hand.best == answer.answer.hand.cards
    assert isinstance((await deck_log(room.log))[-2], HandFinished)


async def test_the_winner_of_each_pot_and_the_first_are_shown(room: Room) -> None:
    pots = ((2, 3, 5, 8), (5, 8))
    await room.play(*stud_hand(1, SEATS)[:5], (showdown_requested(1, (3, 2, 5, 8), pots),))
    resolved = (await dealt(room.log))[-1].answer
    assert isinstance(resolved, ShowdownResolved)
    winners = {seat for pot in resolved.winners for seat in pot}
    assert [hand.seat for hand in resolved.hands] == [seat for seat in (3, 2, 5, 8) if seat == 3 or seat in winners]
    assert set(resolved.winners[1]) <= {5, 8}


# --- what cannot be answered -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "events",
    [
        (cards_requested(1, "third", SEATS),),
        (asked_again(1, "third"),),
        (*begun(1, 52, SEATS), cards_requested(1, "river", SEATS)),
        (*begun(1, 52, SEATS), cards_requested(1, "third", SEATS), show_requested(1, 2)),
        (*begun(1, 52, SEATS), cards_requested(1, "third", SEATS), showdown_requested(1, SEATS)),
    ],
)
async def test_a_request_that_does_not_fit_is_buried_and_names_no_card(
    room: Room, events: tuple[table.TableEvent, ...]
) -> None:
    await room.play(events, *stud_hand(2, SEATS))
    (entry,) = await room.log.range(keys.dead(SHARD, Service.DEALER))
    buried = decode_dead(entry.data)
    assert buried.error.startswith("DealError: ")
    assert len(buried.error) < 100
    assert [record.hand_id for record in await records(room.log)] == [f"{TABLE}-1-2"]


async def test_bytes_that_are_no_message_are_buried(room: Room) -> None:
    await room.log.append(keys.feed(SHARD), b"\xc1")
    await room.play(*stud_hand(1, SEATS))
    assert len(await room.log.range(keys.dead(SHARD, Service.DEALER))) == 1
    assert len(await records(room.log)) == 1


# --- seeds that did not come -------------------------------------------------------------------------------------


async def test_a_hand_whose_seeds_were_withheld_is_on_record_with_its_secret(room: Room) -> None:
    given = (table.SeatSeed(3, 4, bytes(32)),)
    voided = table.HandVoided(f"{TABLE}-1-1", "no seed", ())
    await room.play(begun(1, 52, SEATS), (table.SeedsWithheld(f"{TABLE}-1-1", (2,), given), voided))
    (record,) = await records(room.log)
    assert record.seats == ()
    report = verify_record(deal_of(record), [DEALER_KEY])
    assert report.ok, report
    public = read(deal_of(record)).public
    assert (public.outcome, public.withheld, [seed.seat for seed in public.seeds]) == ("void", (2,), [3])
    assert await deck_log(room.log) == [DeckPutAway()]


async def test_commitments_go_on_from_the_one_before(room: Room) -> None:
    for number, previous in ((1, bytes(32)), (2, bytes(range(32)))):
        await room.play((started(number, 52, SEATS), replace(deck_requested(number), previous=previous)))
    first, second = await committed(room.log)
    assert [(one.seq, one.previous) for one in (first, second)] == [(1, bytes(32)), (2, bytes(range(32)))]
    assert first.root != second.root
    assert is_signed(DEALER_KEY, first.signature.hex(), (await commitment(room)).encoded()) is False
    assert is_signed(DEALER_KEY, second.signature.hex(), (await commitment(room)).encoded())


async def commitment(room: Room) -> Commitment:
    """Of the hand in play."""
    (prepared,) = await deck_log(room.log)
    assert isinstance(prepared, DeckPrepared)
    return prepared.kept.commitment


async def test_what_the_auditor_gets_when_a_hand_is_over_is_right(room: Room) -> None:
    """From the secrets all of it is computed anew; during the hand nobody has them."""
    hand = draw_hand(1, (1, 2, 3, 4, 5))  # with two reshuffles
    await room.play(*hand[:-1])
    assert not await room.log.range(keys.records(SHARD))
    await room.play(hand[-1])
    (record,) = await records(room.log)
    secrets = SecretsOpener([AUDITOR_SECRET])(record.table_id, record.hand_id, record.for_audit)
    public = read(deal_of(record)).public
    assert len(secrets.thrown) == 2
    assert audit_hand(public, secrets.secret, secrets.reshuffle_secrets, secrets.cards, secrets.thrown) == []
    swapped = (secrets.cards[1], secrets.cards[0], *secrets.cards[2:])
    assert audit_hand(public, secrets.secret, secrets.reshuffle_secrets, swapped, secrets.thrown)
