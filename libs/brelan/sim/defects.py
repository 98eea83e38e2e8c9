"""Deliberate defects: each takes away one thing that the promises rest on, in a simulated world and nowhere else.

``brelan simulate --defect NAME`` has to find it. ``tests/sim`` tries every one of them.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from brelan.deck import comparing, dealing
from brelan.deck.dealing import DeckState, hole_cards, shuffled
from brelan.deck.events import DeckShuffled
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Batch, Commit, Log
from brelan.eventlog.memory_log import Hash, MemoryLog
from brelan.eventlog.plan import parse_id
from brelan.eventlog.processor import Outputs, Processor
from brelan.eventlog.tables import encode_state
from brelan.events import table as facts
from brelan.histories.archive import MemoryArchive
from brelan.histories.archive import Page as HistoryPage
from brelan.ledger import decide as ledger
from brelan.ledger.accounts import CASHIER
from brelan.ledger.decide import Decision, Ledger, Request
from brelan.ledger.transfers import Transfer, move
from brelan.rules import between_hands, clock, hand, pots, seating
from brelan.rules.draft import Draft
from brelan.rules.state import TableState
from brelan.sim import services, store
from brelan_dealer import handlers as dealer
from brelan_dealer import hole_cards as dealers_hole_cards
from brelan_dealer.decks import Deck
from brelan_gateway import feed
from brelan_history import handlers as history
from brelan_table import handlers as table
from brelan_table.requests import wallet_requests
from brelan_timer import sweeper
from brelan_timer.tasks import standing
from brelan_wallet import handlers as wallet

Swap = Callable[[Any, str, Any], None]
Apply = Callable[[Swap], None]


@contextlib.contextmanager
def applied(name: str) -> Iterator[None]:
    """``""``: none. Everything is as it was afterwards."""
    before: list[tuple[Any, str, Any]] = []

    def swap(owner: Any, attribute: str, value: Any) -> None:
        before.append((owner, attribute, owner.__dict__[attribute]))
        setattr(owner, attribute, value)

    try:
        if name:
            DEFECTS[name](swap)
        yield
    finally:
        for owner, attribute, value in reversed(before):
            setattr(owner, attribute, value)


# --- the event log -----------------------------------------------------------------------------------------------


def cursor_not_moved(swap: Swap) -> None:
    """The dealer does not write down what it has read: the next one reads it again."""
    right = MemoryLog.commit

    async def wrong(self: MemoryLog, commit: Commit) -> Any:
        if commit.service is Service.DEALER:
            commit = msgspec.structs.replace(commit, cursors={})
        return await right(self, commit)

    swap(MemoryLog, "commit", wrong)


def fence_not_checked(swap: Swap) -> None:
    """Whoever commits is taken for the owner."""
    swap(MemoryLog, "commit", _with_any_number(expect=True))


def neither_fence_nor_version_checked(swap: Swap) -> None:
    """And what he decided on for what is there."""
    swap(MemoryLog, "commit", _with_any_number(expect=False))


def _with_any_number(expect: bool) -> Any:
    right = MemoryLog.commit

    async def wrong(self: Any, commit: Commit) -> Any:
        position = self._store.find(keys.position(self.shard, commit.service), Hash) or Hash()
        commit = msgspec.structs.replace(commit, number=int(position.get("number", b"0")))
        if not expect:
            commit = msgspec.structs.replace(commit, expect={})
        return await right(self, commit)

    return wrong


def cursor_moved_too_far(swap: Swap) -> None:
    """The table service takes what it reads for handled, whether it could commit or not."""
    right = Processor._fence  # noqa: SLF001

    async def wrong(self: Processor) -> Any:
        before = dict(self._cursors)
        result = await right(self)
        for stream, cursor in before.items():
            there = self._cursors[stream]
            self._cursors[stream] = max(there, cursor, key=parse_id)
        return result

    async def read(self: Processor) -> Any:
        result = await right_read(self)
        for entry in self._work.entries:
            self._cursors[entry.stream] = entry.id
        return result

    right_read = Processor._read  # noqa: SLF001
    swap(Processor, "_fence", wrong)
    swap(Processor, "_read", read)


def acknowledged_before_durable(swap: Swap) -> None:
    """Gateways, wallet and history read what the replicas do not have yet."""

    async def wrong(self: store.DoorLog, cursors: Any, count: int, block_ms: int) -> Batch:
        return await self.read_batch(cursors, count, block_ms)

    swap(store.DoorLog, "read_durable", wrong)


# --- the table service -------------------------------------------------------------------------------------------


def epoch_not_raised(swap: Swap) -> None:
    async def wrong(self: Any, _log: Log, _now_ms: int) -> None:
        self._epoch_stored = False

    swap(table.TableHandler, "_load_epoch", wrong)


def answers_forgotten(swap: Swap) -> None:
    """A command that comes twice is decided twice."""
    swap(table, "_answer_to", lambda _staged, _message: None)


def outage_not_ended(swap: Swap) -> None:
    """Clocks run on while the room is away."""
    swap(table.TableHandler, "_end_outage", lambda *_: None)
    swap(table, "OUTAGE_MS", 10**9)


def deadline_left_standing(swap: Swap) -> None:
    """A turn that is over stays in the set of deadlines."""
    right = Outputs.zset_remove
    swap(Outputs, "zset_remove", lambda self, key, member: None if ":deadlines" in key else right(self, key, member))


def snapshot_wrong(swap: Swap) -> None:
    right = encode_state

    def wrong(state: TableState) -> bytes:
        return right(msgspec.structs.replace(state, hands_played=state.hands_played + 1))

    swap(table, "encode_state", wrong)


def request_not_sent(swap: Swap) -> None:
    """Cash-outs are written down at the table, and the wallet is not asked."""
    right = wallet_requests

    def wrong(events: Sequence[facts.TableEvent], after: TableState) -> Any:
        rake = [event for event in events if not isinstance(event, facts.PlayerLeft | facts.TransferAskedAgain)]
        return right(rake, after)

    swap(table, "wallet_requests", wrong)


# --- the rules ---------------------------------------------------------------------------------------------------


def stale_turn_accepted(swap: Swap) -> None:
    """An answer to an old turn counts for the present one."""
    right = hand.act

    def wrong(draft: Draft, command: Any, seat: Any) -> Any:
        turn = draft.state.turn
        if turn is not None and turn.seat == seat.seat:
            command = msgspec.structs.replace(command, turn_id=turn.turn_id)
        return right(draft, command, seat)

    swap(hand, "act", wrong)


def anybody_may_act(swap: Swap) -> None:
    """Whose turn it is, is not asked."""
    right = hand.act

    def wrong(draft: Draft, command: Any, seat: Any) -> Any:
        turn = draft.state.turn
        if turn is not None and turn.turn_id == command.turn_id:
            seat = msgspec.structs.replace(seat, seat=turn.seat)
        return right(draft, command, seat)

    swap(hand, "act", wrong)


def early_sweep(swap: Swap) -> None:
    """Three seconds early: the sweeper, Celery's task and the table no longer look at the clock."""
    right_look, right_expire = sweeper.Sweeper._look, clock.expire  # noqa: SLF001

    async def look(self: sweeper.Sweeper) -> Any:
        found, now_ms = await right_look(self)
        due = await self._log.due(self._key, now_ms + 3_000, 100)
        return [(table_id, due_ms) for table_id, due_ms in due] or found, now_ms + 3_000

    def expire(draft: Draft, deadline_ms: int, _arrived_at_ms: int) -> None:
        right_expire(draft, deadline_ms, deadline_ms)

    right = standing
    swap(sweeper.Sweeper, "_look", look)
    swap(services, "standing", lambda due, scores, now_ms: right(due, scores, now_ms + 3_000))
    swap(clock, "expire", expire)


def odd_chip_lost(swap: Swap) -> None:
    """A pot that cannot be shared equally loses what is left over."""

    def wrong(amount: int, winners: Sequence[int], smallest_chip: int) -> tuple[facts.PotShare, ...]:
        share = amount // smallest_chip // len(winners) * smallest_chip
        return tuple(facts.PotShare(seat, share) for seat in winners if share)

    swap(pots, "split", wrong)


def reply_applied_twice(swap: Swap) -> None:
    """What the wallet says again is taken for something new."""
    swap(seating, "_was_answered", lambda _draft, _transfer_id: False)


def refund_forgotten(swap: Swap) -> None:
    """What the wallet funded and nobody waits for is kept."""
    swap(seating, "_refund", lambda *_: None)


def hand_pause_for_ever(swap: Swap) -> None:
    """Nobody starts the next hand."""
    swap(between_hands, "ask_or_start", lambda _draft: None)


# --- the dealer --------------------------------------------------------------------------------------------------


def dealer_reshuffles(swap: Swap) -> None:
    """A dealer that takes over shuffles what is left of the deck."""
    right = dealer.DealerHandler._folded  # noqa: SLF001

    def wrong(self: Any, table_id: str, entries: Any) -> Deck:
        deck = right(self, table_id, entries)
        if deck.state is None:
            return deck
        return msgspec.structs.replace(deck, state=msgspec.structs.replace(deck.state, stub=deck.state.stub[::-1]))

    swap(dealer.DealerHandler, "_folded", wrong)


def hole_cards_to_the_wrong_seat(swap: Swap) -> None:
    right = hole_cards

    def wrong(state: DeckState, seat: int) -> Any:
        others = sorted(state.hands)
        return right(state, others[(others.index(seat) + 1) % len(others)])

    swap(dealers_hole_cards, "hole_cards", wrong)


def another_card_is_shown(swap: Swap) -> None:
    """The last card of each hand at a showdown is one that nobody holds."""
    right = comparing.shown_hand

    def wrong(seat: int, cards: Sequence[int], *rest: Any) -> facts.ShownHand:
        other = next(card for card in range(51, 0, -1) if card not in cards)
        return right(seat, (*cards[:-1], other), *rest)

    swap(dealing, "shown_hand", wrong)


def card_twice_in_the_deck(swap: Swap) -> None:
    right = shuffled

    def wrong(*args: Any) -> DeckShuffled:
        fresh = right(*args)
        return msgspec.structs.replace(fresh, order=(*fresh.order[:-1], fresh.order[0]))

    swap(dealer, "shuffled", wrong)


# --- the wallet --------------------------------------------------------------------------------------------------


def escrow_not_debited(swap: Swap) -> None:
    """What is paid out of a table comes from somewhere else."""

    def wrong(transfer_id: str, kind: Any, amount: int, source: str, target: str) -> Transfer:
        return move(transfer_id, kind, amount, CASHIER if kind == "cash_out" else source, target)

    swap(ledger, "move", wrong)


def ledger_forgets_ids(swap: Swap) -> None:
    """A transfer that was booked is booked again."""
    right = ledger.decide

    def wrong(known: Ledger, request: Request) -> Decision:
        return right(msgspec.structs.replace(known, decided={}), request)

    swap(wallet, "decide", wrong)


# --- the history and the gateway ---------------------------------------------------------------------------------


def history_skips_a_hand(swap: Swap) -> None:
    """Every tenth is forgotten."""
    right = history.Kept.page

    def wrong(self: Any, *arguments: Any) -> HistoryPage:
        page = right(self, *arguments)
        hands = [one for one in page.hands if not one.history.hand_id.endswith("5")]
        return msgspec.structs.replace(page, hands=hands)

    swap(history.Kept, "page", wrong)


def history_forgets_where_it_was(swap: Swap) -> None:
    """Hands are kept, cursors and marks are not: the next worker keeps them again."""
    right = MemoryArchive.write

    async def wrong(self: MemoryArchive, page: HistoryPage) -> bool:
        return await right(self, msgspec.structs.replace(page, cursors={}, marks=()))

    swap(MemoryArchive, "write", wrong)


def message_lost_on_its_way(swap: Swap) -> None:
    """A gateway does not send every twentieth entry."""
    right = feed._broadcast  # noqa: SLF001

    def wrong(delivery: Any, cards: Any) -> None:
        if delivery.view.version % 20:
            right(delivery, cards)

    swap(feed, "_broadcast", wrong)


DEFECTS: dict[str, Apply] = {
    defect.__name__: defect
    for defect in (
        cursor_not_moved,
        cursor_moved_too_far,
        fence_not_checked,
        neither_fence_nor_version_checked,
        acknowledged_before_durable,
        epoch_not_raised,
        answers_forgotten,
        outage_not_ended,
        deadline_left_standing,
        snapshot_wrong,
        request_not_sent,
        stale_turn_accepted,
        anybody_may_act,
        early_sweep,
        odd_chip_lost,
        reply_applied_twice,
        refund_forgotten,
        hand_pause_for_ever,
        dealer_reshuffles,
        hole_cards_to_the_wrong_seat,
        another_card_is_shown,
        card_twice_in_the_deck,
        escrow_not_debited,
        ledger_forgets_ids,
        history_skips_a_hand,
        history_forgets_where_it_was,
        message_lost_on_its_way,
    )
}
