"""Two evenings with the same acts, and decks that agree in every card that one viewer may see: he gets the same bytes.

In the second evening all cards of a hand that he never saw, and that nobody compared, change places. Whatever depends
on one of them would show in his frames: in what they say, how long they are, how many, or in which order. What is hash,
signature or proof may differ, so digits of that kind are made alike, at their length.
"""

import random
import re
from collections.abc import Mapping, Sequence

import pytest

from brelan.deck.sealing import RecordOpener
from brelan.eventlog import keys
from brelan.eventlog.processor import Processor
from brelan.events import table as facts
from brelan.events.dealing import SeatRecord
from brelan.events.envelope import decode_sealed_record, encode
from brelan.histories.projection import project
from brelan.histories.table import TableFold, TableMark
from brelan.histories.text import as_text
from brelan.rules.cards import TEXTS, deck
from tests.services.dealer_room import StackedDealer
from tests.services.small_room import HISTORY_SECRET, SHARD, TABLE, SmallRoom
from tests.views.test_played import PLAYERS, Played, Viewer, play, watch

VIEWERS = (*PLAYERS, "an observer")
DIGITS = re.compile(r"[0-9a-f]{64,128}")
CARD = re.compile(r'"([2-9TJQKA][cdhs])"')
Swaps = Mapping[int, int]  # card to card, of one hand


class SeededRoom(SmallRoom):
    """Its dealer shuffles by a seed; ``swaps`` of each hand change which card is which."""

    def __init__(self, seed: int, swaps: Sequence[Swaps]) -> None:
        self._chance = random.Random(seed)
        self._swaps = swaps
        self.hands = 0
        super().__init__()

    def start_dealer(self) -> None:
        self.dealer = Processor(self.log, StackedDealer(self.shuffled), block_ms=0)

    def shuffled(self, cards: Sequence[int]) -> tuple[int, ...]:
        if len(cards) in (32, 36, 52):  # a hand begins
            self.hands += 1
        swaps = self._swaps[self.hands - 1] if self.hands <= len(self._swaps) else {}
        back = {other: card for card, other in swaps.items()}
        order = self._chance.sample(sorted(back.get(card, card) for card in cards), len(cards))
        return tuple(swaps.get(card, card) for card in order)


async def evening(game: str, seed: int, swaps: Sequence[Swaps] = ()) -> tuple[SeededRoom, Played]:
    room = SeededRoom(seed, swaps)
    return room, await play(game, seed, room)


def frames_of(played: Played, player_id: str) -> list[str]:
    viewer = Viewer(player_id)
    watch(played, [viewer], check_every=10**9)
    return [DIGITS.sub(lambda found: "x" * len(found[0]), frame) for frame in viewer.frames]


async def letters_of(room: SeededRoom, played: Played, player_id: str) -> list[str]:
    """Every hand as text, as he can export it."""
    fold = TableFold(TableMark(TABLE))
    hands = {
        hand.history.hand_id: hand.history for entry in played.entries for hand in fold.apply(entry, encode(entry))
    }
    held = await held_in(room)
    return [as_text(project(history, held.get(hand_id, ()), player_id)) for hand_id, history in hands.items()]


async def held_in(room: SeededRoom) -> dict[str, tuple[SeatRecord, ...]]:
    """What every seat held, by hand."""
    opener = RecordOpener([HISTORY_SECRET])
    records = [opener(decode_sealed_record(entry.data)) for entry in await room.log.range(keys.records(SHARD))]
    return {record.hand_id: record.seats for record in records}


async def swaps_for(room: SeededRoom, played: Played, player_id: str, chance: random.Random) -> list[Swaps]:
    """Of each hand: the cards that he never saw and that were not compared, among themselves."""
    viewer = Viewer(player_id)
    watch(played, [viewer], check_every=10**9)
    frames = dict(zip((entry.version for entry in played.entries[1:]), viewer.frames, strict=True))
    held = await held_in(room)
    swaps: list[Swaps] = []
    seen, size = set[int](), 0
    for entry in played.entries:
        for event in entry.events:
            match event:
                case facts.HandStarted(deck_size=deck_size):
                    if size:
                        swaps.append(_others_swapped(size, seen, chance))
                    seen, size = set(), deck_size
                case facts.ShowdownRequested(hand_id=hand_id, order=order):
                    compared = [seat for seat in held.get(hand_id, ()) if seat.seat in order]
                    seen |= {card for seat in compared for card in seat.cards}
        seen |= {TEXTS.index(text) for text in CARD.findall(frames.get(entry.version, ""))}
    return [*swaps, _others_swapped(size, seen, chance)]


def _others_swapped(size: int, seen: set[int], chance: random.Random) -> Swaps:
    others = [card for card in deck(size) if card not in seen]
    return dict(zip(others, chance.sample(others, len(others)), strict=True))


@pytest.mark.parametrize("game", ["stud", "draw"])
@pytest.mark.parametrize("player_id", VIEWERS)
async def test_what_he_may_not_see_changes_nothing_of_what_he_gets(game: str, player_id: str) -> None:
    room, first = await evening(game, 11)
    swaps = await swaps_for(room, first, player_id, random.Random(1))
    again, second = await evening(game, 11, swaps)
    assert sum(sum(card != other for card, other in each.items()) for each in swaps) > 100, "nothing was hidden"
    assert room.hands == again.hands > 5
    assert frames_of(first, player_id) == frames_of(second, player_id)
    assert await letters_of(room, first, player_id) == await letters_of(again, second, player_id)


@pytest.mark.parametrize("game", ["stud", "draw"])
async def test_the_comparison_would_find_one_card_that_is_shown(game: str) -> None:
    """The decks that agree for one player do not agree for another."""
    room, first = await evening(game, 11)
    _, second = await evening(game, 11, await swaps_for(room, first, "ana", random.Random(1)))
    assert frames_of(first, "ben") != frames_of(second, "ben")
