"""An entry that cannot be handled stops nobody: rubbish in every inbox of table service, dealer and timer.

The shard goes on, the entry lies with the dead with its error and is counted, nothing else has changed; a table that
waits for it is frozen, and the others play on.
"""

import asyncio
import contextlib
import itertools
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from brelan.eventlog import keys
from brelan.eventlog.dead import MOST_BYTES, MOST_WORDS, DeadEntry, decode_dead
from brelan.eventlog.keys import Service
from brelan.eventlog.memory_log import MemoryStore, SortedSet
from brelan.eventlog.processor import Step, StepResult
from brelan.eventlog.tables import encode_state
from brelan.events import commands, money, table
from brelan.events.dealing import Dealt
from brelan.events.envelope import (
    GatewayAlive,
    PlayerCommanded,
    TableCommitted,
    TailLost,
    TurnExpired,
    encode,
)
from brelan.events.money import WalletReplied
from brelan.ledger.accounts import table_account
from brelan.rules.invariants import violations
from brelan.rules.state import TableState
from brelan.rules.table import escrow
from brelan.telemetry import metrics
from brelan_timer.sweeper import Sweeper
from tests.services.poison import ELSEWHERE, LARGEST, PLAYERS, buried_by, committed, no_message
from tests.services.small_room import DRAW, SHARD, STUD, TABLE, SmallRoom, drain

OTHER = "s00-other"


# --- the table service and the dealer ----------------------------------------------------------------------------


class TwoTables(SmallRoom):
    """A hand is in play on both. Rubbish is meant for the first; the other must not notice."""

    @classmethod
    async def playing(cls) -> "TwoTables":
        room = cls()
        for table_id, config in ((TABLE, STUD), (OTHER, DRAW)):
            await room.open(config, table_id)
            for name in ("ann", "ben", "cid"):
                await room.sit(f"{name}{table_id[3:]}", table_id=table_id)  # ann-test, ann-other
        room.chance = random.Random(3)
        assert (await room.state(TABLE)).hand is not None
        assert (await room.state(OTHER)).hand is not None
        return room

    async def push(self, inbox: str, data: bytes) -> None:
        if inbox == "wallet-replies":  # its ids are the wallet's: the books have it, and the wallet publishes it
            self.vault.outgoing.setdefault(keys.wallet_replies(SHARD), []).append(data)
            self.wallet._unpublished.add(SHARD)
        else:
            await self.log.append(getattr(keys, inbox.replace("-", "_"))(SHARD), data)

    def hear(self, data: bytes) -> None:
        with contextlib.suppress(Exception):  # the rubbish is on the feed for whoever reads it
            super().hear(data)

    async def buried(self, service: Service) -> list[DeadEntry]:
        return [decode_dead(entry.data) for entry in await self.log.range(keys.dead(SHARD, service))]

    async def plays_on(self, table_id: str) -> None:
        """Ten decisions more, and a hand that comes to its end."""
        state = await self.state(table_id)
        for seat in state.seats:
            if seat is not None and (seat.away or seat.sitting_out):  # timed out while the test looked elsewhere
                await self.command(seat.player_id, commands.ComeBack("post"), table_id=table_id)
        hands = state.hands_played
        for number in itertools.count():
            assert number < 200, "no hand ends"
            if number >= 10 and (await self.state(table_id)).hands_played > hands:
                break
            if not await self.act(self.chance, table_id):
                await self.pass_time(1_000)
        assert (await self.state(table_id)).status == "open"
        assert violations(await self.state(table_id)) == []

    chance: random.Random


def shape(state: TableState) -> bytes:
    """Everything, but for the clock."""
    return encode_state(replace(state, now_ms=0, epoch=0))


WHO_READS = {
    "commands": Service.TABLE,
    "dealt": Service.TABLE,
    "wallet-replies": Service.TABLE,
    "feed": Service.DEALER,
}
NO_MESSAGES = [(inbox, what) for inbox in WHO_READS for what in no_message(inbox)]


@pytest.mark.parametrize(("inbox", "what"), NO_MESSAGES)
async def test_what_is_no_message_is_buried_and_changes_nothing(inbox: str, what: str) -> None:
    room, reader, data = await TwoTables.playing(), WHO_READS[inbox], no_message(inbox)[what]
    before = [shape(await room.state(one)) for one in (TABLE, OTHER)]
    counted, feed = buried_by(reader), len(room.feed)
    await room.push(inbox, data)
    await room.settle()
    (dead,) = await room.buried(reader)
    assert dead.data == data[:MOST_BYTES]
    assert dead.stream == getattr(keys, inbox.replace("-", "_"))(SHARD)
    assert 10 < len(dead.error) <= MOST_WORDS
    assert buried_by(reader) == counted + 1
    assert [shape(await room.state(one)) for one in (TABLE, OTHER)] == before
    assert len(room.feed) == feed, "nothing was said to anybody"
    for table_id in (TABLE, OTHER):
        await room.plays_on(table_id)
    assert len(await room.buried(reader)) == 1


def command(said: commands.ClientCommand, table_id: str = TABLE, player_id: str = "ann-test") -> bytes:
    return encode(PlayerCommanded(table_id, player_id, "Ann", "odd", said, operator=player_id == "operator"))


def a_deck_of(cards: int, hand_id: str = "h", seq: int = 1) -> bytes:
    started = table.HandStarted(hand_id, 1, cards, PLAYERS)
    return committed(started, table.DeckRequested(f"{hand_id}:deck", hand_id, seq, bytes(32), 0))


READ_BUT_IMPOSSIBLE: dict[str, tuple[str, bytes]] = {
    "a table opened under no name": ("commands", command(commands.OpenTable(STUD), "rubbish", "operator")),
    "a time-out of nobody's table": ("commands", encode(TurnExpired("s00-nobody", commands.ExpireTurn(1)))),
    "a time-out of another shard": ("commands", encode(TurnExpired(ELSEWHERE, commands.ExpireTurn(1)))),
    "a time-out of no table at all": ("commands", encode(TurnExpired("\x00" * 100, commands.ExpireTurn(LARGEST)))),
    "an epoch out of this world": ("commands", encode(TailLost("gateway/x", LARGEST, keys.feed(SHARD), "1-0"))),
    "cards for nobody's table": ("dealt", encode(Dealt("s00-nobody", "r", table.CardsDrawn("r", "h", 1, 2)))),
    "cards for another shard": ("dealt", encode(Dealt(ELSEWHERE, "r", table.CardsDrawn("r", "h", 1, 2)))),
    "money for nobody's table": ("wallet-replies", encode(WalletReplied(money.Funded("t", "s00-nobody", "ann", 5)))),
    "money for another shard": ("wallet-replies", encode(WalletReplied(money.Booked("t", ELSEWHERE, 5)))),
    "cards of a hand without a deck": (
        "feed",
        committed(table.CardsRequested("h:third", "h", "third", (1, 2), 0)),
    ),
    "a deck that fills the memory": ("feed", a_deck_of(LARGEST)),
    "a deck of less than nothing": ("feed", a_deck_of(-52)),
    "a deck for a hand that nobody knows": ("feed", committed(table.DeckRequested("h:deck", "h", 1, bytes(32), 0))),
    "a deck for a hand whose name is too long": ("feed", a_deck_of(52, "h" * 1000)),
    "a deck with a number out of this world": ("feed", a_deck_of(52, seq=-1)),
    "a draw of a hand without a deck": ("feed", committed(table.DrawChosen(1, (0, 99), "h:draw:1", 0))),
    "a showdown of a hand without a deck": ("feed", committed(table.ShowdownRequested("h:s", "h", (), (1,), 0))),
    "an answer that was never given": ("feed", committed(table.DealerAskedAgain("h:third", 0))),
}


@pytest.mark.parametrize("what", READ_BUT_IMPOSSIBLE)
async def test_what_can_be_read_and_is_impossible_is_buried_and_changes_nothing(what: str) -> None:
    inbox, data = READ_BUT_IMPOSSIBLE[what]
    room, reader = await TwoTables.playing(), WHO_READS[inbox]
    before = [shape(await room.state(one)) for one in (TABLE, OTHER)]
    counted = buried_by(reader)
    await room.push(inbox, data)
    await room.settle()
    (dead,) = await room.buried(reader)
    assert dead.data == data
    assert dead.error
    assert buried_by(reader) == counted + 1
    assert [shape(await room.state(one)) for one in (TABLE, OTHER)] == before
    for table_id in (TABLE, OTHER):
        await room.plays_on(table_id)
    assert len(await room.buried(reader)) == 1, "it does not come again"


MERELY_WRONG: dict[str, tuple[str, bytes]] = {
    "nobody's table": ("commands", command(commands.Leave(), "s00-nobody")),
    "another shard's table": ("commands", command(commands.Leave(), ELSEWHERE)),
    "no table": ("commands", command(commands.Leave(), "\x00")),
    "a decision of another age": ("commands", command(commands.Act(LARGEST, "call", LARGEST))),
    "a decision before all others": ("commands", command(commands.Act(-(2**63), "raise", -1))),
    "a hundred thousand cards thrown": ("commands", command(commands.Draw(1, tuple(range(100_000))))),
    "a buy-in of all there is": ("commands", command(commands.SitDown(LARGEST), player_id="dan")),
    "a buy-in of less than nothing": ("commands", command(commands.SitDown(-4000), player_id="dan")),
    "a seat that is none": ("commands", command(commands.SitDown(4000, seat=2**63), player_id="dan")),
    "a seat below the first": ("commands", command(commands.SitDown(4000, seat=-1), player_id="dan")),
    "a top-up of all there is": ("commands", command(commands.TopUp(LARGEST))),
    "a table with no seats": (
        "commands",
        command(commands.OpenTable(replace(STUD, seats=0)), "s00-odd", "operator"),
    ),
    "a table with all the seats there are": (
        "commands",
        command(commands.OpenTable(replace(STUD, seats=2**62)), "s00-odd", "operator"),
    ),
    "an operator's word from a player": ("commands", command(commands.UnfreezeTable(void_hand=True))),
    "a time-out of the far future": ("commands", encode(TurnExpired(TABLE, commands.ExpireTurn(LARGEST)))),
    "a time-out of the past": ("commands", encode(TurnExpired(TABLE, commands.ExpireTurn(-(2**63))))),
    "a gateway with a long name": ("commands", encode(GatewayAlive("g" * 1_000_000))),
    "cards nobody waits for": ("dealt", encode(Dealt(TABLE, "r", table.CardsDrawn("r", "h", LARGEST, LARGEST)))),
    "a hand shown that nobody asked for": (
        "dealt",
        encode(Dealt(TABLE, "r", table.HandShown(table.ShownHand(99, (), (), "")))),
    ),
    "a booking nobody asked for": ("wallet-replies", encode(WalletReplied(money.Booked("t", TABLE, -1)))),
    "a refusal nobody asked for": (
        "wallet-replies",
        encode(WalletReplied(money.Declined("t", TABLE, "ann", LARGEST, "No."))),
    ),
    "entries of a table nobody opened": ("feed", committed(table.TablePaused("op"), version=LARGEST)),
}


@pytest.mark.parametrize("what", MERELY_WRONG)
async def test_what_is_merely_wrong_is_refused_or_passed_over(what: str) -> None:
    inbox, data = MERELY_WRONG[what]
    room = await TwoTables.playing()
    before = [shape(await room.state(one)) for one in (TABLE, OTHER)]
    await room.push(inbox, data)
    await room.settle()
    assert await room.buried(Service.TABLE) == await room.buried(Service.DEALER) == []
    assert [shape(await room.state(one)) for one in (TABLE, OTHER)] == before
    for table_id in (TABLE, OTHER):
        await room.plays_on(table_id)


# --- answers that a table waits for ------------------------------------------------------------------------------


def wrong_cards(state: TableState) -> tuple[str, bytes]:
    """An answer to what the dealer is asked, with a seat nobody has."""
    wait = state.dealer_wait
    assert wait is not None
    hand_id, _, street = wait.request_id.partition(":")
    cards = (table.SeatCards(LARGEST, -1, (LARGEST,)),)
    return "dealt", encode(Dealt(TABLE, wait.request_id, table.CardsDealt(wait.request_id, hand_id, street, cards)))


def wrong_money(state: TableState) -> tuple[str, bytes]:
    transfer = next(iter(state.transfers.values()))
    return "wallet-replies", encode(WalletReplied(money.Funded(transfer.transfer_id, TABLE, "ann", LARGEST)))


def money_from_nowhere(_: TableState) -> tuple[str, bytes]:
    return "wallet-replies", encode(WalletReplied(money.Funded("t", TABLE, "ann", LARGEST)))


def money_below_nothing(_: TableState) -> tuple[str, bytes]:
    return "wallet-replies", encode(WalletReplied(money.Funded("t", TABLE, "ann", -5)))


@pytest.mark.parametrize("answer", [wrong_cards, wrong_money, money_from_nowhere, money_below_nothing])
@pytest.mark.parametrize("way", ["resume", "void", "close"])
async def test_an_answer_that_does_not_fit_freezes_its_table_and_no_other(
    answer: Callable[[TableState], tuple[str, bytes]], way: str
) -> None:
    room = await TwoTables.playing()
    chips = (await room.state(TABLE)).chips
    await room.deposit("dan-test")
    await room.settle()
    await room.command("dan-test", commands.SitDown(4000, entry="post"))
    await _until_only_the_table_has_spoken(room)
    state = await room.state(TABLE)
    inbox, data = answer(state)
    await room.push(inbox, data)
    await room.wallet._publish(SHARD)  # before the true answer
    dealer = room.dealer
    room.dealer = _nobody()
    await room.settle()
    frozen = await room.state(TABLE)
    assert frozen.status == "frozen"
    assert "could not be applied" in frozen.frozen_reason
    (dead,) = await room.buried(Service.TABLE)
    assert dead.data == data
    room.dealer = dealer
    await room.plays_on(OTHER)

    turn = (await room.state(TABLE)).turn
    await room.pass_time(120_000)
    assert (await room.state(TABLE)).turn == turn, "its clocks stand"
    refused = await room.command("ann-test", commands.Leave())
    await room.settle()
    (refusal,) = room.answer_to(refused)
    assert refusal.code == "table_frozen"  # type: ignore[union-attr]
    assert "chips are safe" in refusal.message  # type: ignore[union-attr]

    ways: dict[str, commands.ClientCommand] = {
        "resume": commands.UnfreezeTable(),
        "void": commands.UnfreezeTable(void_hand=True),
        "close": commands.CloseTable(),
    }
    await room.command("operator", ways[way])
    await room.settle()
    after = await room.state(TABLE)
    if way == "close":
        assert after.status == "closed"
        assert room.escrow() == 0
    else:
        await room.plays_on(TABLE)
        assert (await room.state(TABLE)).chips <= chips + 4000
    assert room.escrow(OTHER) == (await room.state(OTHER)).chips


def _nobody() -> Any:
    """A dealer that is away."""

    async def step() -> StepResult:
        return StepResult(Step.READ)

    return SimpleNamespace(at_rest=True, step=step)


async def _until_only_the_table_has_spoken(room: TwoTables) -> None:
    """The table waits for the dealer and for the wallet, and neither has answered."""
    await drain(room.table)
    for _ in range(100):
        state = await room.state(TABLE)
        if state.dealer_wait is not None:
            assert state.transfers
            return
        turn = state.turn
        assert turn is not None
        kinds = [action.kind for action in turn.actions]
        kind = next(kind for kind in ("check", "call", "bring_in") if kind in kinds)
        seat = state.seats[turn.seat - 1]
        assert seat is not None
        await room.command(seat.player_id, commands.Act(turn.turn_id, kind))
        await drain(room.table)
    raise AssertionError("nobody asks the dealer")


async def test_cards_that_the_dealer_cannot_deal_freeze_the_table_when_its_patience_ends() -> None:
    """What it asked for is buried at the dealer's; it asks again, and then stops by itself."""
    room = await TwoTables.playing()
    await _stop_before_the_next_street(room)
    hand_id = (await room.state(TABLE)).hand.hand_id  # type: ignore[union-attr]
    dealer: Any = room.dealer._handler
    deck = dealer._decks[TABLE]
    dealer._decks[TABLE] = replace(deck, state=None)  # lost
    await room.settle()
    assert await room.buried(Service.DEALER)
    await room.pass_time(30_000)
    assert (await room.state(TABLE)).status == "frozen"
    await room.plays_on(OTHER)
    await room.command("operator", commands.UnfreezeTable(void_hand=True))
    await room.settle()
    assert hand_id in {event.hand_id for event in room.events(table.HandVoided)}  # type: ignore[attr-defined]
    await room.plays_on(TABLE)


@pytest.mark.parametrize("started_again", [False, True])
async def test_a_deck_whose_log_is_not_the_dealers_costs_its_hand_and_no_other(started_again: bool) -> None:
    room = await TwoTables.playing()
    last_id = await room.log.last_id(keys.deck(TABLE))
    version = int(last_id.partition("-")[0])
    room.store.append(keys.deck(TABLE), b"nobody's", f"{version + 1}-0")
    if started_again:
        room.start_dealer()
    await _stop_before_the_next_street(room)
    await room.pass_time(30_000)
    assert (await room.state(TABLE)).status == "frozen"
    await room.plays_on(OTHER)
    await room.command("operator", commands.UnfreezeTable(void_hand=True))
    await room.settle()
    await room.plays_on(TABLE)


async def _stop_before_the_next_street(room: TwoTables) -> None:
    await room.deposit("dan-test")
    await room.settle()
    await room.command("dan-test", commands.SitDown(4000))
    await _until_only_the_table_has_spoken(room)


# --- invariants, and logs that cannot be read --------------------------------------------------------------------


async def test_a_table_whose_invariants_break_is_frozen_before_anything_is_written() -> None:
    room = await TwoTables.playing()
    handler: Any = room.table._handler
    handler._tables[TABLE].state.chips += 100
    before = await room.state(TABLE)
    assert await room.act(room.chance)
    after = await room.state(TABLE)
    assert after.status == "frozen"
    assert "were brought" in after.frozen_reason
    assert after.version == before.version + 1, "the freeze, and not what was decided"
    await room.plays_on(OTHER)
    handler._tables[TABLE].state.chips += 100  # again, whatever is read back
    resumed = await room.command("operator", commands.UnfreezeTable())
    voided = await room.command("operator", commands.UnfreezeTable(void_hand=True))
    await room.settle()
    for one in (resumed, voided):
        (refusal,) = room.answer_to(one)
        assert refusal.code == "cannot_resume"  # type: ignore[union-attr]
        assert "were brought" in refusal.message  # type: ignore[union-attr]
    await room.command("operator", commands.CloseTable())
    await room.settle()
    assert room.escrow() == 0, "everybody was paid what he had"


async def test_a_table_whose_log_cannot_be_read_is_left_alone_and_its_shard_goes_on() -> None:
    room = await TwoTables.playing()
    last = (await room.state(TABLE)).version
    room.store.append(keys.table_log(TABLE), b"\xc1 a newer version's entry", f"{last + 1}-0")
    before = metrics.unreadable_tables._value.get()
    room.start_table()
    refused = await room.command("ann-test", commands.Leave())
    await room.pass_time(60_000)
    assert metrics.unreadable_tables._value.get() == before + 1
    (refusal,) = room.answer_to(refused)
    assert refusal.code == "table_frozen"  # type: ignore[union-attr]
    await room.plays_on(OTHER)
    assert not [due for due in await room.log.due(keys.deadlines(SHARD), 2**53, 10) if due[0] == TABLE]
    assert await room.buried(Service.TABLE) == [], "its time-outs do not pile up"


async def test_a_table_log_that_ends_where_nobody_left_it_fences_its_shard_twice_and_no_more() -> None:
    room = await TwoTables.playing()
    last = (await room.state(TABLE)).version
    stranger = TableCommitted(TABLE, 1, last + 5, room.now_ms, (table.TablePaused("nobody"),))
    room.store.append(keys.table_log(TABLE), encode(stranger), f"{last + 1}-0")
    fenced = metrics.commits_fenced.labels("table")._value.get()
    await room.act(room.chance, OTHER)
    with contextlib.suppress(AssertionError):
        await room.command("ann-test", commands.SitOut())
        await room.settle()
    await room.plays_on(OTHER)
    assert metrics.commits_fenced.labels("table")._value.get() - fenced <= 3


# --- the timer ---------------------------------------------------------------------------------------------------


async def test_the_sweeper_hands_out_true_deadlines_whatever_stands_beside_them() -> None:
    now_ms, store = 1_000_000, MemoryStore(lambda: 1_000_000)
    handed: list[tuple[str, int]] = []

    async def hand_out(_: str, due: Any, now: int) -> None:
        assert now == now_ms
        handed.extend(due)

    rubbish = {"": 1, "\x00": 2, "s99-x": 3, "x" * 1_000_000: 4, "s00-late": -(2**63)}
    store.put(keys.deadlines("s00"), SortedSet).update({**rubbish, "s00-true": now_ms})
    sweeper = Sweeper(store.log("s00"), hand_out)
    await sweeper.sweep()
    assert ("s00-true", now_ms) in handed


async def test_a_rubbish_deadline_leads_to_one_dead_entry_and_is_gone() -> None:
    """The timer only reports it; the table service, whose set it is, takes it out."""
    room = await TwoTables.playing()
    room.store.put(keys.deadlines(SHARD), SortedSet).update({"s00-nobody": 1, "rubbish": 2, "\x00": 3})
    for _ in range(3):
        await room.expire_due()
        await room.settle()
    assert len(await room.buried(Service.TABLE)) == 3
    left = {name for name, _ in await room.log.due(keys.deadlines(SHARD), 2**53, 100)}
    assert left <= {TABLE, OTHER}
    await room.plays_on(TABLE)


async def test_two_inboxes_at_once() -> None:
    """A batch of everything: the rubbish is taken out, the rest is handled in order."""
    room = await TwoTables.playing()
    for inbox in ("commands", "dealt"):
        for data in no_message(inbox).values():
            await room.push(inbox, data)
            await room.push("commands", command(commands.SetPreferences(True, False)))
    await room.settle()
    assert len(await room.buried(Service.TABLE)) == len(no_message("commands")) + len(no_message("dealt"))
    await asyncio.sleep(0)
    await room.plays_on(TABLE)


# --- the wallet away, or unwilling -------------------------------------------------------------------------------


def _wallet_away() -> Any:
    async def serve(_: str, block_ms: int) -> int:
        return block_ms

    return SimpleNamespace(serve=serve)


async def test_a_wallet_that_is_away_for_a_quarter_of_an_hour_stops_only_whoever_wants_something_of_it() -> None:
    room = await TwoTables.playing()
    await room.deposit("dan-test")
    await room.settle()
    wallet, room.wallet = room.wallet, _wallet_away()
    await room.command("dan-test", commands.SitDown(4000, entry="post"))
    await room.settle()
    assert len((await room.state(TABLE)).transfers) == 1
    await room.pass_time(900_000, step_ms=1_000)
    state = await room.state(TABLE)
    assert state.status == "open"
    (transfer,) = state.transfers.values()
    assert transfer.asked >= 8, "it is asked on"
    await room.plays_on(TABLE)
    await room.plays_on(OTHER)
    await room.pass_time(1_000)
    assert metrics.overdue_transfers._value.get() >= 1
    assert [seat.player_id for seat in state.seats if seat is not None and seat.reserved] == ["dan-test"]
    room.wallet = wallet
    await room.pass_time(1_000)
    after = await room.state(TABLE)
    assert "dan-test" in [seat.player_id for seat in after.seats if seat is not None and not seat.reserved]
    assert transfer.transfer_id not in after.transfers
    assert room.escrow() == escrow(after)


async def test_a_cash_out_that_the_ledger_will_not_book_stops_the_table_once_and_the_chips_stay() -> None:
    room = await TwoTables.playing()
    account = table_account(TABLE)
    there = room.vault.balances[account]
    room.vault.balances[account] = replace(there, amount=10)  # somebody has touched the ledger
    await room.command("ann-test", commands.Leave())
    for _ in range(200):
        if (await room.state(TABLE)).status == "frozen":
            break
        if not await room.act(room.chance):
            await room.pass_time(1_000)
    state = await room.state(TABLE)
    assert state.status == "frozen"
    assert "does not hold this much" in state.frozen_reason
    declined = [one for one in state.transfers.values() if one.declined]
    assert declined
    await room.plays_on(OTHER)
    asked = len(room.events(table.TransferAskedAgain))
    await room.pass_time(600_000, step_ms=1_000)
    assert len(room.events(table.TransferAskedAgain)) == asked, "not for ever"
    assert escrow(await room.state(TABLE)) == there.amount, "the chips are still the table's to pay"
    await room.command("operator", commands.UnfreezeTable())
    await room.pass_time(30_000)
    assert (await room.state(TABLE)).status == "open", "somebody has looked: play is not stopped for the same again"
