"""A dealer killed between any two steps goes on with the same deck; two at once deal one hand."""

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brelan.deck.events import DeckShuffled
from brelan.deck.fair.verify import verify_record
from brelan.deck.sealing import CannotOpen
from brelan.eventlog import keys
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.processor import Processor
from brelan.events.dealing import HandRecord
from brelan.events.table import CardsDealt, ShowdownResolved
from brelan_dealer.handlers import DealerHandler
from tests.services.crashes import Crash, Fuse, Fused, Where
from tests.services.dealer_room import (
    DEALER_KEY,
    SHARD,
    TABLE,
    FeedWriter,
    committed,
    deal_of,
    dealer_keys,
    dealt,
    deck_log,
    drain,
    draw_hand,
    handler,
    holes,
    open_table,
    records,
    serve,
    stud_hand,
)

HANDS = {"stud": stud_hand(1, (1, 2, 3, 4, 5, 6, 7)), "draw": draw_hand(1, (1, 2, 3, 4, 5))}  # both with a reshuffle
MOST_STEPS = 40


async def crash_once(store: MemoryStore, fuse: Fuse, batch: int) -> bool:
    """Whether it came to that."""
    try:
        await serve(Fused(store, fuse).log(SHARD), batch=batch)
    except Crash:
        return True
    return False


async def check(store: MemoryStore, game: str) -> None:
    """One answer to each request, out of one deck."""
    log = store.log(SHARD)
    answers = await dealt(log)
    asked = [events for events in HANDS[game] if events[-1] is not HANDS[game][-1][-1]]
    assert len(answers) == len({answer.request_id for answer in answers}) == len(asked)
    assert len(await committed(log)) == 1
    (shuffled,) = [event for event in await deck_log(log) if isinstance(event, DeckShuffled)]
    (record,) = await records(log)
    check_record(record, shuffled)
    held = {seat.seat: seat.cards for seat in record.seats}
    assert {seat: hole.cards for seat, hole in (await holes(log)).items()} == held
    ups: dict[int, tuple[int, ...]] = {}
    for each in answers:
        match each.answer:
            case CardsDealt():
                for cards in each.answer.cards:
                    ups[cards.seat] = ups.get(cards.seat, ()) + cards.up
            case ShowdownResolved():
                assert all(shown.cards == held[shown.seat] for shown in each.answer.hands)
    if game == "stud":
        assert ups == {seat: cards[2:6] for seat, cards in held.items()}


def check_record(record: HandRecord, shuffled: DeckShuffled) -> None:
    cards = [card for seat in record.seats for card in seat.cards]
    assert len(set(cards)) == len(cards)
    first = record.seats[0]
    dealt_first = set(first.cards) | set(first.discards)
    assert shuffled.order[0] in dealt_first, "the hand was not dealt from the deck that stands in the log"
    for seat in record.seats:
        report = verify_record(deal_of(record, seat.seat), [DEALER_KEY])
        assert report.ok, [check for check in report.checks if not check.ok]


@pytest.mark.parametrize("game", HANDS)
@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("batch", [1, 256])
async def test_a_crash_at_any_step_changes_no_card(game: str, where: Where, batch: int) -> None:
    crashes = 0
    for step in range(1, MOST_STEPS):
        store = MemoryStore()
        open_table(store)
        writer = FeedWriter(store)
        for events in HANDS[game]:
            await writer.commit(*events)
        crashes += await crash_once(store, Fuse(step, where), batch)
        await serve(store.log(SHARD), batch=batch)
        await check(store, game)
    assert crashes >= (15 if batch == 1 else 4), "the steps of a dealer's work are not all covered"


async def test_a_crash_while_recovering_from_a_crash() -> None:
    for first, second in itertools.product(range(1, 24, 3), range(1, 14, 2)):
        for where in (("before", "after"), ("after", "before")):
            store = MemoryStore()
            open_table(store)
            writer = FeedWriter(store)
            for events in HANDS["draw"]:
                await writer.commit(*events)
            await crash_once(store, Fuse(first, where[0]), 1)
            await crash_once(store, Fuse(second, where[1]), 1)
            await serve(store.log(SHARD), batch=1)
            await check(store, "draw")


@pytest.mark.parametrize("game", HANDS)
async def test_a_new_dealer_for_every_entry_deals_from_one_deck(game: str) -> None:
    store = MemoryStore()
    open_table(store)
    writer = FeedWriter(store)
    for events in HANDS[game]:
        await writer.commit(*events)
        await serve(store.log(SHARD))
    await check(store, game)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), game=st.sampled_from(sorted(HANDS)), batch=st.sampled_from([1, 2, 256]))
async def test_two_dealers_at_once_deal_one_hand(seed: int, game: str, batch: int) -> None:
    """Each believes that the shard is its own, works for a while and is overtaken in the middle of something.

    The while is long enough for some progress: without any, entries come under suspicion and are buried in the end.
    """
    chance, store = random.Random(seed), MemoryStore()
    open_table(store)
    writer = FeedWriter(store)
    entries = list(HANDS[game])
    dealers = [Processor(store.log(SHARD), handler(), block_ms=0, batch=batch) for _ in range(2)]
    for turn in range(20):
        if chance.random() < 0.1:
            dealers[turn % 2] = Processor(store.log(SHARD), handler(), block_ms=0, batch=batch)
        for _ in range(chance.randint(8, 20)):
            if entries and chance.random() < 0.2:
                await writer.commit(*entries.pop(0))
            await dealers[turn % 2].step()
    for events in entries:
        await writer.commit(*events)
    await drain(dealers[0])
    await check(store, game)


async def test_a_dealer_with_another_key_deals_nothing() -> None:
    """It cannot know the deck: better no card than another one."""
    store = MemoryStore()
    open_table(store)
    writer = FeedWriter(store)
    for events in HANDS["stud"][:2]:
        await writer.commit(*events)
    await serve(store.log(SHARD))
    before = await store.log(SHARD).range(keys.dealt(SHARD))
    await writer.commit(*HANDS["stud"][2])
    other = dealer_keys(own=bytes(32))
    with pytest.raises(CannotOpen, match=f"of table {TABLE}"):
        await drain(Processor(store.log(SHARD), DealerHandler(SHARD, other), block_ms=0))
    assert await store.log(SHARD).range(keys.dealt(SHARD)) == before
