"""No hidden card leaves the dealer in clear: not on a stream, in a hash, a log line, a metric or an error."""

import io
import itertools
import logging
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from prometheus_client import REGISTRY
from prometheus_client.exposition import generate_latest

from brelan.deck.dealing import Shuffle, stacked
from brelan.deck.events import DeckShuffled
from brelan.deck.sealing import DeckSeal
from brelan.deck.shuffle import shuffle
from brelan.eventlog import keys
from brelan.eventlog.memory_log import Hash, MemoryStore, SortedSet, Stream
from brelan.events import table
from brelan.rules.cards import text_of
from brelan.telemetry.logs import configure_logs
from tests.services.dealer_room import (
    SHARD,
    TABLE,
    FeedWriter,
    committed,
    deck_log,
    draw_hand,
    ended,
    holes,
    open_table,
    records,
    serve,
    show_requested,
    stud_hand,
)

WINDOW = 4  # so many cards in a row are no coincidence in some thousand bytes


def everything(store: MemoryStore) -> bytes:
    """Every key and value there is."""
    parts: list[bytes] = []
    for key, value in store.values.items():
        parts.append(key.encode())
        match value:
            case Stream():
                parts += value.data
            case Hash():
                parts += itertools.chain.from_iterable((name.encode(), data) for name, data in value.items())
            case SortedSet():
                parts += (name.encode() for name in value)
            case _:
                parts.append(bytes(value))
    return b"\n".join(parts)


def runs(cards: Sequence[int]) -> Iterator[bytes]:
    """Some cards in a row as they would stand in a message, packed or as text."""
    for start in range(len(cards) - WINDOW + 1):
        row = cards[start : start + WINDOW]
        yield bytes(row)
        yield text_of(row).encode()


def found(cards: Sequence[int], where: bytes) -> int:
    return sum(run in where for run in runs(cards))


def fixed(seed: bytes) -> Shuffle:
    """The same decks every time."""
    source = itertools.cycle(seed)
    return lambda cards: shuffle(cards, source)


async def played(hand: Sequence[tuple[table.TableEvent, ...]], shuffler: Shuffle | None = None) -> MemoryStore:
    store = MemoryStore(lambda: 1000)
    open_table(store)
    writer = FeedWriter(store)
    for events in hand:
        await writer.commit(*events)
    await serve(store.log(SHARD), shuffler)
    return store


@pytest.mark.parametrize("hand", [stud_hand(1, (1, 2, 3)), draw_hand(1, (1, 2, 3, 4, 5), 3)], ids=["stud", "draw"])
async def test_no_key_of_the_shard_holds_a_deck_or_a_hidden_hand(hand: list[tuple[table.TableEvent, ...]]) -> None:
    store = await played(hand)
    log, where = store.log(SHARD), everything(store)
    (shuffled,) = [event for event in await deck_log(log) if isinstance(event, DeckShuffled)]
    (record,) = await records(log)
    shown = {each.seat for each in _shown(store)}
    assert found(shuffled.order, where) == 0
    for seat in record.seats:
        if seat.seat in shown:
            assert found(seat.cards, where) > 0, "the search does not even find the hands that were shown"
        else:
            assert found(seat.cards, where) == 0
            assert found(sorted(seat.cards), where) == 0


def _shown(store: MemoryStore) -> list[table.ShownHand]:
    from brelan.events.envelope import decode_dealt

    stream = store.find(keys.dealt(SHARD), Stream)
    assert stream is not None
    answers = [decode_dealt(data).answer for data in stream.data]
    return [hand for answer in answers if isinstance(answer, table.ShowdownResolved) for hand in answer.hands]


async def test_the_search_would_find_a_dealers_log_that_is_not_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeckSeal, "seal", lambda _self, _table, _entry, plain: plain)
    store = MemoryStore(lambda: 1000)
    open_table(store)
    writer = FeedWriter(store)
    await writer.commit(*stud_hand(1, (1, 2))[0])
    await serve(store.log(SHARD), fixed(b"\x03\x07\x1d\x2b\x11"))
    assert found(fixed(b"\x03\x07\x1d\x2b\x11")(range(52)), everything(store)) > 40


async def test_what_the_table_is_told_does_not_depend_on_hidden_cards() -> None:
    """Two decks with the same cards face up: the same bytes to the table, the same sizes to everybody."""
    seats, hand = (1, 2, 3), stud_hand(1, (1, 2, 3))
    hand = [*hand[:5], (ended(1, seats),)]  # everybody folds to the last bet: nothing is shown
    order = tuple(range(52))
    hidden = [0, 1, 2, 3, 4, 5, 9, 13, 17, 21, 22, 23, 24, *range(25, 52)]  # down, burned, river, undealt
    other = list(order)
    for place, card in zip(hidden, reversed(hidden), strict=True):
        other[place] = order[card]
    first, second = await played(hand, stacked(*order)), await played(hand, stacked(*other))
    assert (await holes(first.log(SHARD)))[1].cards[:2] != (await holes(second.log(SHARD)))[1].cards[:2]
    decks = [await committed(store.log(SHARD)) for store in (first, second)]
    assert decks[0] != decks[1]
    assert _bytes(first, keys.dealt(SHARD))[1:] == _bytes(second, keys.dealt(SHARD))[1:]
    assert first.values.keys() == second.values.keys()
    for key in (keys.records(SHARD), keys.deck(TABLE), keys.hole(TABLE)):
        assert [len(data) for data in _bytes(first, key)] == [len(data) for data in _bytes(second, key)]


def _bytes(store: MemoryStore, key: str) -> list[bytes]:
    value = store.values[key]
    match value:
        case Stream():
            return value.data
        case Hash():
            return list(value.values())
        case _:
            raise AssertionError(key)


async def test_a_draw_tells_the_table_a_number_and_nothing_else() -> None:
    store = await played(draw_hand(1, (1, 2), 3)[:3])
    stream = store.find(keys.dealt(SHARD), Stream)
    assert stream is not None
    drawn = [msgspec.msgpack.decode(data)[2] for data in stream.data][2:]
    hand_id = f"{TABLE}-1-1"
    assert drawn == [["CardsDrawn", f"{hand_id}:draw:{seat}", hand_id, seat, 3, False, b""] for seat in (1, 2)]


@pytest.mark.parametrize("log_format", ["console", "json"])
async def test_log_lines_and_metrics_name_no_card_not_even_when_everything_fails(
    log_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = io.StringIO()
    monkeypatch.setattr("sys.stderr", lines)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        configure_logs("dealer", log_format, "DEBUG")  # type: ignore[arg-type]
        hand = stud_hand(1, (1, 2, 3))
        store = await played([*hand[:2], (show_requested(1, 2),), *hand[2:], (hand[0][1],)], fixed(b"\x05\x11\x2a"))
        log = store.log(SHARD)
        (record,) = await records(log)
        said = lines.getvalue().encode() + generate_latest(REGISTRY)
    finally:
        root.handlers[:], root.level = before[0], before[1]
    assert b"cannot show while the hand is played" in said
    for cards in (fixed(b"\x05\x11\x2a")(range(52)), *(seat.cards for seat in record.seats)):
        assert found(cards, said) == 0
        assert not any(
            ", ".join(map(str, cards[start : start + 3])).encode() in said for start in range(len(cards) - 2)
        )
