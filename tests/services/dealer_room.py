"""What tests of the dealer need of a room: a table that asks, and the recipients of what is sealed."""

from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brelan.deck.dealing import Shuffle
from brelan.deck.events import AnyDeckEvent, decode_entry
from brelan.deck.fair.hand import FairHand
from brelan.deck.fair.record import assembled
from brelan.deck.keys import x25519_public
from brelan.deck.sealing import DeckSeal, HoleCardOpener, RecordOpener
from brelan.eventlog import keys
from brelan.eventlog.log import Log, Store
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.processor import Processor, Step
from brelan.events import table
from brelan.events.config import TableConfig
from brelan.events.dealing import Dealt, HandRecord, HoleCards
from brelan.events.envelope import TableCommitted, decode_dealt, decode_sealed_record, encode
from brelan.events.table import HandSeat, HandStarted, Pot, PotShare, TableEvent
from brelan_dealer.handlers import DealerHandler, DealerKeys

SHARD = "s00"
TABLE = "s00-a"
GATEWAY_SECRET = bytes(range(32))
HISTORY_SECRET = bytes(range(1, 33))
DEALER_SECRET = bytes(range(2, 34))

AUDITOR_SECRET = bytes(range(3, 35))
SIGNING = Ed25519PrivateKey.from_private_bytes(bytes(range(4, 36)))

DEALER_KEY = SIGNING.public_key().public_bytes_raw().hex()


def dealer_keys(
    own: bytes = DEALER_SECRET, gateway: bytes = GATEWAY_SECRET, history: bytes = HISTORY_SECRET
) -> DealerKeys:
    """By their secret halves."""
    recipients = map(x25519_public, (gateway, history, AUDITOR_SECRET))
    return DealerKeys(DeckSeal(own), SIGNING, *recipients)


KEYS = dealer_keys()
open_hole = HoleCardOpener((GATEWAY_SECRET,))
open_record = RecordOpener((HISTORY_SECRET,))

STREETS = ("third", "fourth", "fifth", "sixth", "river")


class StackedDealer(DealerHandler):
    """Whose cards a test chooses: nothing that it deals can be verified."""

    def __init__(self, shuffle: Shuffle) -> None:
        super().__init__(SHARD, KEYS)
        self._chosen = shuffle

    def _shuffled(self, fair: FairHand, cards: Sequence[int]) -> tuple[int, ...]:
        return self._chosen(cards)


def handler(shuffle: Shuffle | None = None) -> DealerHandler:
    return StackedDealer(shuffle) if shuffle is not None else DealerHandler(SHARD, KEYS)


async def serve(log: Log, shuffle: Shuffle | None = None, batch: int = 256) -> Processor:
    """A dealer that starts, does all there is to do, and is gone."""
    dealer = Processor(log, handler(shuffle), block_ms=0, batch=batch)
    await drain(dealer)
    return dealer


async def drain(dealer: Processor) -> None:
    while True:
        result = await dealer.step()
        assert not result.error, result.error
        if result.step is Step.READ and not result.entries and dealer.at_rest:
            return


class FeedWriter:
    """The tables' side: what they commit goes onto the feed."""

    def __init__(self, store: Store, table_id: str = TABLE) -> None:
        self.log = store.log(SHARD)
        self.table_id = table_id
        self.version = 0

    async def commit(self, *events: TableEvent) -> None:
        self.version += 1
        committed = TableCommitted(self.table_id, 1, self.version, 1000, events, trace=f"t{self.version}")
        await self.log.append(keys.feed(SHARD), encode(committed))


def open_table(store: MemoryStore, *table_ids: str) -> None:
    """As the table service leaves it: the dealer finds the shard's tables there."""
    from brelan.eventlog.memory_log import Hash

    config = TableConfig(
        name="A", game="stud", lower_limit=200, upper_limit=400, seats=8, minimum_buy_in=2000, ante=40, bring_in=100
    )
    store.put(keys.tables(SHARD), Hash).update(dict.fromkeys(table_ids or (TABLE,), encode(config)))


def started(number: int, deck_size: int, seats: Sequence[int], table_id: str = TABLE) -> HandStarted:
    players = tuple(HandSeat(seat, f"p_{seat}", f"Player {seat}", 4000) for seat in seats)
    return HandStarted(f"{table_id}-1-{number}", number, deck_size, players)


def deck_requested(number: int, table_id: str = TABLE) -> table.DeckRequested:
    hand_id = f"{table_id}-1-{number}"
    return table.DeckRequested(f"{hand_id}:deck", hand_id, number, bytes(32), 0)


def begun(number: int, deck_size: int, seats: Sequence[int], table_id: str = TABLE) -> tuple[TableEvent, TableEvent]:
    return started(number, deck_size, seats, table_id), deck_requested(number, table_id)


def cards_requested(number: int, street: str, seats: Sequence[int], table_id: str = TABLE) -> table.CardsRequested:
    hand_id = f"{table_id}-1-{number}"
    return table.CardsRequested(f"{hand_id}:{street}", hand_id, street, tuple(seats), 0)


def draw_chosen(number: int, seat: int, *positions: int) -> table.DrawChosen:
    return table.DrawChosen(seat, positions, f"{TABLE}-1-{number}:draw:{seat}" if positions else "", 0)


def showdown_requested(
    number: int, order: Sequence[int], pots: Sequence[Sequence[int]] = (), table_id: str = TABLE
) -> table.ShowdownRequested:
    hand_id = f"{table_id}-1-{number}"
    contested = tuple(Pot(100, tuple(seats)) for seats in pots or (order,))
    return table.ShowdownRequested(f"{hand_id}:showdown", hand_id, contested, tuple(order), 0)


def show_requested(number: int, seat: int) -> table.ShowRequested:
    return table.ShowRequested(f"{TABLE}-1-{number}:show:{seat}", f"{TABLE}-1-{number}", seat)


def asked_again(number: int, what: str) -> table.DealerAskedAgain:
    return table.DealerAskedAgain(f"{TABLE}-1-{number}:{what}", 0)


def ended(number: int, seats: Sequence[int], table_id: str = TABLE) -> table.HandEnded:
    return table.HandEnded(f"{table_id}-1-{number}", 0, tuple(PotShare(seat, 4000) for seat in seats))


def stud_hand(number: int, seats: Sequence[int], table_id: str = TABLE) -> list[tuple[TableEvent, ...]]:
    """All that the table commits in a hand played to the showdown: an item an entry."""
    streets = [(cards_requested(number, street, seats, table_id),) for street in STREETS]
    end = (ended(number, seats, table_id),)
    return [
        (*begun(number, 52, seats, table_id), *streets[0]),
        *streets[1:],
        (showdown_requested(number, seats, table_id=table_id),),
        end,
    ]


def draw_hand(number: int, seats: Sequence[int], thrown: int = 5) -> list[tuple[TableEvent, ...]]:
    return [
        (
            *begun(number, 36 if len(seats) == 5 else 32, seats),
            cards_requested(number, "deal", seats),
        ),
        *((draw_chosen(number, seat, *range(thrown)),) for seat in seats),
        (showdown_requested(number, seats),),
        (ended(number, seats),),
    ]


# --- looking -----------------------------------------------------------------------------------------------------


async def dealt(log: Log, table_id: str = TABLE) -> list[Dealt]:
    """Cards and hands; ``committed`` has the decks."""
    return [each for each in await _answers(log, table_id) if not isinstance(each.answer, table.DeckCommitted)]


async def committed(log: Log, table_id: str = TABLE) -> list[table.DeckCommitted]:
    answers = [each.answer for each in await _answers(log, table_id)]
    return [answer for answer in answers if isinstance(answer, table.DeckCommitted)]


async def _answers(log: Log, table_id: str) -> list[Dealt]:
    answers = [decode_dealt(entry.data) for entry in await log.range(keys.dealt(SHARD))]
    return [answer for answer in answers if answer.table_id == table_id]


async def holes(log: Log, table_id: str = TABLE) -> dict[int, HoleCards]:
    found = {
        int(seat): open_hole(table_id, int(seat), box)
        for seat, box in (await log.hash_all(keys.hole(table_id))).items()
    }
    assert all(cards is not None for cards in found.values())
    return {seat: cards for seat, cards in found.items() if cards is not None}


async def records(log: Log) -> list[HandRecord]:
    return [open_record(decode_sealed_record(entry.data)) for entry in await log.range(keys.records(SHARD))]


def deal_of(record: HandRecord, seat: int | None = None) -> bytes:
    """As a player downloads it."""
    assert record.deal is not None
    return assembled(record.deal, seat)


async def deck_log(log: Log, table_id: str = TABLE) -> list[AnyDeckEvent]:
    """Opened as the dealer would."""
    entries = await log.range(keys.deck(table_id))
    return [event for entry in entries for event in decode_entry(KEYS.own.open(table_id, entry.id, entry.data)).events]
