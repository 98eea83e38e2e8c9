"""The dealer's decisions on one shard: what tables ask for on the feed, answered on ``dealt``.

A deck is committed to when its hand starts, and cut by the players' seeds with the first cards (docs/fairness.md). Its
secrets stand, sealed, in the log ``deck:<table>`` from then on. Everything that moves a card is an event there, in the
same commit as the answer and the owner's sealed cards: a dealer that takes over goes on with the same deck and knows
every answer it gave. How cards are dealt: ``brelan.deck.dealing``; how it can be checked: ``brelan.deck.fair``.
"""

import asyncio
import secrets
import time
from collections.abc import Iterable, Sequence
from typing import assert_never

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from brelan.deck.dealing import (
    DealError,
    Dealing,
    DeckState,
    Request,
    changed_seats,
    deal,
    seat_records,
    seats_of,
    shuffled,
)
from brelan.deck.events import (
    Answer,
    AnyDeckEvent,
    DeckEntry,
    DeckPrepared,
    DeckPutAway,
    HandFinished,
    KeyChanged,
    decode_entry,
    encode_entry,
)
from brelan.deck.fair.audit import cards_and_thrown
from brelan.deck.fair.drbg import HASH_BYTES
from brelan.deck.fair.hand import FairHand, deal_record, void
from brelan.deck.fair.kept import RESHUFFLES, commit
from brelan.deck.fair.leaves import base_epoch
from brelan.deck.sealing import CannotOpen, DeckSeal, RandomBytes, Sealer, audit_context, record_context
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Entry, Log
from brelan.eventlog.processor import Outputs, Undecodable
from brelan.events import table
from brelan.events.dealing import Dealt, HandRecord, HandSecrets, SealedRecord
from brelan.events.envelope import TableCommitted, decode_feed, encode
from brelan.telemetry import metrics
from brelan_dealer.decks import Deck, HandAtWork, committed, seed_of
from brelan_dealer.hole_cards import HoleCardSealer
from brelan_dealer.trimming import Trimming

logger = structlog.get_logger(__name__)

LOADING = 64  # decks read at once when a shard is taken over


class DealerKeys(msgspec.Struct, frozen=True):
    """The dealer's own seal and signature, and the public keys of those who may see something."""

    own: DeckSeal
    signing: Ed25519PrivateKey
    gateway: bytes  # hole cards of players without a key of their own
    history: bytes  # what was held, after the hand
    auditor: bytes  # the secrets of the deck, after the hand


class DealerHandler:
    service = Service.DEALER

    def __init__(
        self,
        shard: str,
        dealer_keys: DealerKeys,
        random_bytes: RandomBytes = secrets.token_bytes,
        trimming: Trimming | None = None,
    ) -> None:
        """``random_bytes``, for decks and seals: a simulator brings its own."""
        self.shard = shard
        self._trimming = trimming or Trimming(shard)
        self._keys = dealer_keys
        self._random_bytes = random_bytes
        self._hole_cards = HoleCardSealer(dealer_keys.gateway, random_bytes)
        self._for_history = Sealer(dealer_keys.history, random_bytes)
        self._for_auditor = Sealer(dealer_keys.auditor, random_bytes)
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
        self._decks[table_id] = Deck(version)

    def _folded(self, table_id: str, entries: Iterable[Entry]) -> Deck:
        deck = Deck()
        for entry in entries:
            events = decode_entry(self._keys.own.open(table_id, entry.id, entry.data)).events
            if not deck.version:  # what is before it was trimmed: also the hand that this entry may have ended
                events = events[_first_deck(events) :]
            for event in events:
                deck = deck.after(event)
            deck = replace(deck, version=entry.at_ms)
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
        before = self._staged.get(message.table_id) or self._decks.get(message.table_id, Deck())
        hand = HandAtWork(message, cause, outputs, before)
        started: table.HandStarted | None = None
        for event in message.events:
            match event:
                case table.HandStarted():
                    started = event
                case table.DeckRequested():
                    self._commit(hand, started, event)
                case table.CardsRequested() | table.ShowdownRequested() | table.ShowRequested():
                    self._answer(hand, event)
                case table.DrawChosen() if event.request_id:
                    self._answer(hand, event)
                case table.DealerAskedAgain():
                    self._answer_again(hand, event.request_id)
                case table.KeyBrought() if event.hand_id:
                    self._reseal(hand, event)
                case table.SeedsWithheld():
                    self._hand_on_void(hand, event.seats, event.seeds)
                case table.HandEnded() if hand.deck.state is not None and hand.deck.state.hand_id == event.hand_id:
                    hand.happens(HandFinished())
                    self._hand_on_record(hand)
                case table.HandVoided() | table.TableClosed():
                    outputs.delete(keys.hole(hand.table_id))
                    if hand.deck.prepared is not None:
                        hand.happens(DeckPutAway())
                case _:
                    pass
        if hand.happened:
            self._staged[message.table_id] = replace(hand.deck, version=before.version + 1)
            self._write_down(message.table_id, before.version, hand.happened, outputs)

    def _write_down(self, table_id: str, version: int, happened: list[AnyDeckEvent], outputs: Outputs) -> None:
        """Into the sealed log. What was before this hand is not needed any more, and is forgotten."""
        stream, entry_id = keys.deck(table_id), f"{version + 1}-0"
        sealed = self._keys.own.seal(table_id, entry_id, encode_entry(DeckEntry(tuple(happened))))
        outputs.expect(stream, f"{version}-0" if version else BEGINNING)
        outputs.append(stream, sealed, id=entry_id)
        if any(isinstance(event, DeckPrepared) for event in happened) or isinstance(happened[-1], DeckPutAway):
            outputs.trim(stream, entry_id)

    # --- answers -----------------------------------------------------------------------------------------------

    def _commit(self, hand: HandAtWork, started: table.HandStarted | None, request: table.DeckRequested) -> None:
        """The deck is fixed, and the hand of before is nobody's any more."""
        at = time.perf_counter()
        if started is None or started.hand_id != request.hand_id:
            raise DealError(f"{request.request_id} asks for a deck of a hand that has not begun")
        secret = self._random_bytes(HASH_BYTES)
        base = base_epoch(secret, request.hand_id, started.deck_size)
        kept = commit(
            secret,
            [self._random_bytes(HASH_BYTES) for _ in range(RESHUFFLES)],
            self._keys.signing,
            hand_id=request.hand_id,
            seq=request.seq,
            table_id=request.hand_id.rpartition("-")[0],  # the table in this epoch
            game="stud" if started.deck_size == 52 else "draw",
            cards=started.deck_size,
            previous=request.previous.hex(),
            base=base,
        )
        hand.happens(DeckPrepared(request.hand_id, started.deck_size, seats_of(started), kept))
        hand.has_base(base)
        hand.outputs.delete(keys.hole(hand.table_id))
        self._send(hand, request.request_id, committed(kept, request.request_id))
        self._dealt.append(("deck", time.perf_counter() - at))

    def _answer(self, hand: HandAtWork, request: Request) -> None:
        at = time.perf_counter()
        if isinstance(request, table.CardsRequested) and hand.deck.state is None:
            self._cut(hand, request)
        state = hand.deck.state
        if state is None:
            raise DealError(f"{request.request_id} asks for cards of a hand that has no deck")
        dealing = deal(state, request, lambda cards: self._shuffled(hand.fair(), cards), hand.root_of)
        for event in dealing.events:
            hand.happens(event)
        if dealing.events:
            self._hand_out(hand, state, dealing)
        self._send(hand, request.request_id, dealing.answer)
        self._dealt.append((_kind(dealing.answer), time.perf_counter() - at))

    def _cut(self, hand: HandAtWork, request: table.CardsRequested) -> None:
        """With the first cards, by the seeds that came with the request."""
        prepared = hand.deck.prepared
        if prepared is None or prepared.hand_id != request.hand_id:
            raise DealError(f"{request.request_id} asks for cards of a hand that has no deck")
        fair = FairHand(prepared.kept.seeded(map(seed_of, request.seeds)), hand.deck.base)
        deck = (prepared.hand_id, prepared.deck_size, prepared.seats)
        hand.happens(shuffled(*deck, lambda cards: self._shuffled(fair, cards), request.seeds))

    def _shuffled(self, fair: FairHand, cards: Sequence[int]) -> tuple[int, ...]:
        return fair.shuffle(cards)

    def _answer_again(self, hand: HandAtWork, request_id: str) -> None:
        """The answer was not heard in time, or this is: it is the same in any case."""
        deck = hand.deck
        answer: Answer | None = deck.state.answers.get(request_id) if deck.state is not None else None
        if deck.prepared is not None and request_id == f"{deck.prepared.hand_id}:deck":
            answer = committed(deck.prepared.kept, request_id)
        if answer is None:
            raise DealError(f"{request_id} is asked for again and was never answered")
        self._send(hand, request_id, answer)
        self._dealt.append(("again", 0.0))

    def _send(self, hand: HandAtWork, request_id: str, answer: Answer | table.CardsResealed) -> None:
        dealt = Dealt(hand.table_id, request_id, answer, hand.cause, hand.trace)
        hand.outputs.append(keys.dealt(self.shard), encode(dealt))

    def _hand_out(self, hand: HandAtWork, before: DeckState, dealing: Dealing) -> None:
        """Everybody's own cards, sealed, where the answer finds them."""
        for seat in changed_seats(dealing.answer):
            sealed = self._hole_cards.sealed(hand.table_id, seat, dealing.state, before)
            hand.outputs.hash_set(keys.hole(hand.table_id), str(seat), sealed)

    def _reseal(self, hand: HandAtWork, brought: table.KeyBrought) -> None:
        """The table has seen the signature of the key before. Its cards of this hand go with it."""
        at, seat = time.perf_counter(), brought.seat
        if hand.deck.hand_id != brought.hand_id:
            return
        hand.happens(KeyChanged(seat, brought.hole_key))
        state = hand.deck.state
        if state is not None and state.hands[seat].cards:
            sealed = self._hole_cards.sealed(hand.table_id, seat, state, state)
            hand.outputs.hash_set(keys.hole(hand.table_id), str(seat), sealed)
            answer = table.CardsResealed(state.hand_id, seat, brought.hole_key)
            self._send(hand, f"{state.hand_id}:key:{seat}", answer)
            self._dealt.append(("reseal", time.perf_counter() - at))

    # --- records -----------------------------------------------------------------------------------------------

    def _hand_on_record(self, hand: HandAtWork) -> None:
        fair, state = hand.fair(), hand.deck.state
        assert state is not None
        deal_ = deal_record(fair.public(), self._keys.signing, fair)
        self._hand_on(hand, HandRecord(hand.table_id, state.hand_id, seat_records(state), deal_))

    def _hand_on_void(self, hand: HandAtWork, withheld: tuple[int, ...], seeds: tuple[table.SeatSeed, ...]) -> None:
        """No card was dealt: all can see what was lost."""
        prepared = hand.deck.prepared
        if prepared is not None:
            public = void(prepared.kept.seeded(map(seed_of, seeds)), withheld)
            deal_ = deal_record(public, self._keys.signing)
            self._hand_on(hand, HandRecord(hand.table_id, prepared.hand_id, (), deal_))

    def _hand_on(self, hand: HandAtWork, record: HandRecord) -> None:
        kept = hand.deck.kept()
        assert kept is not None
        name = (record.table_id, record.hand_id)
        secrets_ = HandSecrets(kept.secret, kept.reshuffle_secrets, *cards_and_thrown(hand.deck.events))
        whole = replace(record, for_audit=self._for_auditor.seal(encode(secrets_), audit_context(*name)))
        sealed = self._for_history.seal(encode(whole), record_context(*name))
        hand.outputs.append(keys.records(self.shard), encode(SealedRecord(*name, sealed, hand.cause, hand.trace)))


def _first_deck(events: Sequence[AnyDeckEvent]) -> int:
    """Or where the deck was put away: the entry that ended the hand may have closed the table too."""
    beginnings = (place for place, event in enumerate(events) if isinstance(event, DeckPrepared | DeckPutAway))
    return next(beginnings, 0)


def _kind(answer: Answer) -> str:
    match answer:
        case table.DeckCommitted():
            return "deck"
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
