"""The dealer's decisions on one shard: what tables ask for on the feed, answered on ``dealt``.

A deck is shuffled when its hand starts and stands, sealed, in the log ``deck:<table>`` from then on. Everything that
moves a card is an event there, in the same commit as the answer and the owner's sealed cards: a dealer that takes over
goes on with the same deck and knows every answer it gave. How cards are dealt: ``brelan.deck.dealing``.
"""

import asyncio
import secrets
import time
from collections.abc import Iterable, Sequence
from typing import assert_never

import msgspec
import structlog

from brelan.deck.dealing import (
    DealError,
    Dealing,
    DeckState,
    Request,
    Shuffle,
    changed_seats,
    deal,
    evolve,
    hand_record,
    hole_cards,
    shuffled,
)
from brelan.deck.events import (
    Answer,
    AnyDeckEvent,
    DeckEntry,
    DeckPutAway,
    DeckShuffled,
    HandFinished,
    decode_entry,
    encode_entry,
)
from brelan.deck.sealing import CannotOpen, DeckSeal, RandomBytes, Sealer, hole_context, record_context
from brelan.deck.shuffle import secret_shuffle
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Entry, Log
from brelan.eventlog.processor import Outputs, Undecodable
from brelan.events import table
from brelan.events.dealing import Dealt, SealedRecord
from brelan.events.envelope import TableCommitted, decode_feed, encode
from brelan.telemetry import metrics
from brelan_dealer.trimming import Trimming

logger = structlog.get_logger(__name__)

LOADING = 64  # decks read at once when a shard is taken over


class SealedDecks(msgspec.Struct, frozen=True):
    """The dealer's own seal, and the public keys of those who may see something."""

    own: DeckSeal
    gateway: bytes  # hole cards
    history: bytes  # what was held, after the hand


class Deck(msgspec.Struct, frozen=True):
    """A table's deck, and how long its log is."""

    state: DeckState | None = None
    version: int = 0


class DealerHandler:
    service = Service.DEALER

    def __init__(
        self,
        shard: str,
        sealed: SealedDecks,
        shuffle: Shuffle = secret_shuffle,
        random_bytes: RandomBytes = secrets.token_bytes,
        trimming: Trimming | None = None,
    ) -> None:
        """``shuffle`` and ``random_bytes`` (for seals): a simulator brings its own."""
        self.shard = shard
        self._trimming = trimming or Trimming(shard)
        self._seal = sealed.own
        self._for_gateway = Sealer(sealed.gateway, random_bytes)
        self._for_history = Sealer(sealed.history, random_bytes)
        self._shuffle = shuffle
        self._decks: dict[str, Deck] = {}
        self._staged: dict[str, Deck] = {}
        self._dealt: list[tuple[str, float]] = []  # kind and seconds of what the batch in hand answers

    def inboxes(self, shard: str) -> tuple[str, ...]:
        return (keys.feed(shard),)

    # --- taking over, adopting, forgetting ---------------------------------------------------------------------

    async def load(self, log: Log) -> None:
        """Raises CannotOpen when not one deck can be opened: they were sealed with a key that is not here."""
        self.discard()
        gate = asyncio.Semaphore(LOADING)
        unread: dict[str, Exception] = {}

        async def load_one(table_id: str) -> None:
            async with gate:
                entries = await log.range(keys.deck(table_id))
            try:
                self._decks[table_id] = self._folded(table_id, entries)
            except Exception as error:  # noqa: BLE001 - one deck must not stop the others
                unread[table_id] = error
                self._lose(table_id, entries[-1].at_ms, repr(error))

        await asyncio.gather(*map(load_one, await log.hash_all(keys.tables(self.shard))))
        locked = [error for error in unread.values() if isinstance(error, CannotOpen)]
        if locked and not any(deck.version for table_id, deck in self._decks.items() if table_id not in unread):
            raise locked[0]

    def set_aside(self, stream: str, last_id: str) -> None:
        for table_id in list(self._decks):
            if keys.deck(table_id) == stream:
                self._lose(table_id, int(last_id.partition("-")[0]), f"its log ends with {last_id}")

    def _lose(self, table_id: str, version: int, reason: str) -> None:
        """Its hand cannot be dealt on, so its table freezes; when that is voided, the next has a deck of its own."""
        metrics.streams_set_aside.labels(self.service.value).inc()
        logger.error("deck lost", table=table_id, reason=reason)
        self._decks[table_id] = Deck(None, version)

    def _folded(self, table_id: str, entries: Iterable[Entry]) -> Deck:
        deck = Deck()
        for entry in entries:
            state, events = deck.state, decode_entry(self._seal.open(table_id, entry.id, entry.data)).events
            if not deck.version:  # what is before it was trimmed: also the hand that this entry may have ended
                events = events[_first_shuffle(events) :]
            for event in events:
                state = evolve(state, event)
            deck = Deck(state, entry.at_ms)
        return deck

    async def prepare(self, log: Log, entries: Sequence[Entry]) -> None:
        """Every deck of the shard is in memory since ``load``."""

    def committed(self) -> None:
        self._decks.update(self._staged)
        for kind, seconds in self._dealt:
            metrics.deals.labels(kind=kind).inc()
            metrics.dealer_seconds.labels(kind=kind).observe(seconds)
        self._staged, self._dealt = {}, []

    def discard(self) -> None:
        self._trimming.discard()
        self._decks, self._staged, self._dealt = {}, {}, []

    # --- a batch -----------------------------------------------------------------------------------------------

    def handle(self, entries: Sequence[Entry], now_ms: int) -> Outputs:  # noqa: ARG002 - cards need no clock
        self._staged, self._dealt = {}, []
        outputs = Outputs()
        for entry in entries:
            try:
                message = decode_feed(entry.data)
            except msgspec.MsgspecError as error:
                raise Undecodable(str(error)) from error
            if isinstance(message, TableCommitted):
                self._follow(message, f"feed/{entry.id}", outputs)
        return outputs

    async def look(self, log: Log, now_ms: int) -> None:
        await self._trimming.look(log, now_ms)

    def housekeeping(self, now_ms: int) -> Outputs | None:  # noqa: ARG002
        self._staged, self._dealt = {}, []
        outputs = Outputs()
        self._trimming.trim(outputs)
        return outputs

    def _follow(self, message: TableCommitted, cause: str, outputs: Outputs) -> None:
        """What one entry of a table's log means for its deck. Raises DealError when it does not fit."""
        table_id = message.table_id
        deck = self._staged.get(table_id) or self._decks.get(table_id, Deck())
        state = deck.state
        happened: list[AnyDeckEvent] = []
        for event in message.events:
            match event:
                case table.HandStarted():
                    state = self._apply(state, happened, shuffled(event, self._shuffle))
                    outputs.delete(keys.hole(table_id))
                case table.CardsRequested() | table.ShowdownRequested() | table.ShowRequested():
                    state = self._answer(state, event, happened, message, cause, outputs)
                case table.DrawChosen() if event.request_id:
                    state = self._answer(state, event, happened, message, cause, outputs)
                case table.DealerAskedAgain():
                    self._answer_again(state, event.request_id, message, cause, outputs)
                case table.HandEnded() if state is not None and state.hand_id == event.hand_id:
                    state = self._apply(state, happened, HandFinished())
                    self._hand_on_record(state, message, cause, outputs)
                case table.HandVoided() | table.TableClosed():
                    outputs.delete(keys.hole(table_id))
                    if state is not None:
                        state = self._apply(state, happened, DeckPutAway())
                case _:
                    pass
        if happened:
            self._staged[table_id] = Deck(state, deck.version + 1)
            self._write_down(table_id, deck.version, happened, outputs)

    def _apply(self, state: DeckState | None, happened: list[AnyDeckEvent], event: AnyDeckEvent) -> DeckState | None:
        happened.append(event)
        return evolve(state, event)

    def _write_down(self, table_id: str, version: int, happened: list[AnyDeckEvent], outputs: Outputs) -> None:
        """Into the sealed log. What was before this hand is not needed any more, and is forgotten."""
        stream, entry_id = keys.deck(table_id), f"{version + 1}-0"
        sealed = self._seal.seal(table_id, entry_id, encode_entry(DeckEntry(tuple(happened))))
        outputs.expect(stream, f"{version}-0" if version else BEGINNING)
        outputs.append(stream, sealed, id=entry_id)
        if any(isinstance(event, DeckShuffled) for event in happened) or isinstance(happened[-1], DeckPutAway):
            outputs.trim(stream, entry_id)

    # --- answers -----------------------------------------------------------------------------------------------

    def _answer(
        self,
        state: DeckState | None,
        request: Request,
        happened: list[AnyDeckEvent],
        message: TableCommitted,
        cause: str,
        outputs: Outputs,
    ) -> DeckState:
        started = time.perf_counter()
        if state is None:
            raise DealError(f"{request.request_id} asks for cards of a hand that has no deck")
        dealing = deal(state, request, self._shuffle)
        happened.extend(dealing.events)
        if dealing.events:
            self._hand_out(message.table_id, dealing, outputs)
        self._send(request.request_id, dealing.answer, message, cause, outputs)
        self._dealt.append((_kind(dealing.answer), time.perf_counter() - started))
        return dealing.state

    def _answer_again(
        self, state: DeckState | None, request_id: str, message: TableCommitted, cause: str, outputs: Outputs
    ) -> None:
        """The answer was not heard in time, or this is: it is the same in any case."""
        answer = state.answers.get(request_id) if state is not None else None
        if answer is None:
            raise DealError(f"{request_id} is asked for again and was never answered")
        self._send(request_id, answer, message, cause, outputs)
        self._dealt.append(("again", 0.0))

    def _send(self, request_id: str, answer: Answer, message: TableCommitted, cause: str, outputs: Outputs) -> None:
        dealt = Dealt(message.table_id, request_id, answer, cause, message.trace)
        outputs.append(keys.dealt(self.shard), encode(dealt))

    def _hand_out(self, table_id: str, dealing: Dealing, outputs: Outputs) -> None:
        """Everybody's own cards, sealed, where the answer finds them."""
        for seat in changed_seats(dealing.answer):
            plain = encode(hole_cards(dealing.state, seat))
            sealed = self._for_gateway.seal(plain, hole_context(table_id, seat))
            outputs.hash_set(keys.hole(table_id), str(seat), sealed)

    def _hand_on_record(self, state: DeckState | None, message: TableCommitted, cause: str, outputs: Outputs) -> None:
        assert state is not None
        record = hand_record(message.table_id, state)
        sealed = self._for_history.seal(encode(record), record_context(record.table_id, record.hand_id))
        data = encode(SealedRecord(record.table_id, record.hand_id, sealed, cause, message.trace))
        outputs.append(keys.records(self.shard), data)


def _first_shuffle(events: Sequence[AnyDeckEvent]) -> int:
    """Or where the deck was put away: the entry that ended the hand may have closed the table too."""
    beginnings = (place for place, event in enumerate(events) if isinstance(event, DeckShuffled | DeckPutAway))
    return next(beginnings, 0)


def _kind(answer: Answer) -> str:
    match answer:
        case table.CardsDealt():
            return "street"
        case table.CardsDrawn():
            return "draw"
        case table.ShowdownResolved():
            return "showdown"
        case table.HandShown():
            return "show"
        case _:
            assert_never(answer)
