"""Rubbish in the inboxes of those who are not on the shard: the wallet, history, gateways.

Each buries it or passes over it, and does the rest of its work; ``test_poison`` has the table service, the dealer and
the timer.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.memory_log import Hash, MemoryStore
from brelan.events import money, table
from brelan.events.envelope import (
    encode,
)
from brelan.events.money import WalletRequested
from brelan.histories.archive import MemoryArchive, Shelves
from brelan.ledger.memory import MemoryBooks
from brelan.sql.archive import SqlArchive
from brelan.sql.books import SqlBooks
from tests.histories.hands import Log, stud_hand
from tests.histories.hands import hand_id as hand_of
from tests.services.gateway_room import gateway_room, receive, until
from tests.services.history_room import Tables, run_history
from tests.services.poison import ELSEWHERE, LARGEST, PLAYERS, buried_by, committed, no_message
from tests.services.small_room import STUD
from tests.services.wallet_room import accounts, ask, replies, run_wallet

# --- the wallet --------------------------------------------------------------------------------------------------

DEPOSIT = money.Deposit("d1", "ana", 1000, "op")
BUY_IN = money.BuyIn("b1", "s00-a", "ana", 400)
STRANGE_REQUESTS: dict[str, bytes] = {
    "another shard's table": encode(WalletRequested(money.BuyIn("b9", ELSEWHERE, "ana", 400))),
    "no table": encode(WalletRequested(money.BuyIn("b9", "\x00", "ana", 400))),
    "a table with half a name": encode(WalletRequested(money.BuyIn("b9", "s01-\x00", "ana", 400))),
    "a player that no database can hold": encode(WalletRequested(money.BuyIn("b9", "s00-a", "an\x00a", 400))),
    "an id that no index can hold": encode(WalletRequested(money.BuyIn("b9" * 1_000, "s00-a", "ana", 400))),
    "a trace without an end": encode(WalletRequested(money.BuyIn("b9", "s00-a", "ana", 4), trace="x" * 2_000_000)),
}


@pytest.mark.parametrize(
    ("inbox", "what"),
    [
        *(("wallet-requests", what) for what in no_message("wallet-requests")),
        *(("cashier", what) for what in no_message("cashier")),
        *(("wallet-requests", what) for what in STRANGE_REQUESTS),
    ],
)
async def test_the_wallet_buries_rubbish_and_books_the_rest(inbox: str, what: str) -> None:
    data = (no_message(inbox) | STRANGE_REQUESTS)[what]
    store, books, counted = MemoryStore(), MemoryBooks(), buried_by(Service.WALLET)
    shard = "wallet" if inbox == "cashier" else "s00"
    stream = keys.cashier() if inbox == "cashier" else keys.wallet_requests("s00")
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await store.log(shard).append(stream, data)
    await ask(store, BUY_IN)
    await run_wallet(store, books)
    (dead,) = books.vault.dead
    assert (dead.stream, dead.data) == (stream, data)
    assert dead.error
    assert buried_by(Service.WALLET) == counted + 1
    assert await replies(store) == [money.Funded("b1", "s00-a", "ana", 400)]
    assert await accounts(books) == {"player:ana": 600, "table:s00-a": 400, "cashier": -1000}


ABSURD_REQUESTS: dict[str, Any] = {
    "all there is": money.BuyIn("x", "s00-a", "ana", LARGEST),
    "nothing": money.BuyIn("x", "s00-a", "ana", 0),
    "less than nothing": money.CashOut("x", "s00-a", "ana", -400),
    "of less than nothing to the house": money.TakeRake("x", "s00-a", -(2**63)),
    "a deposit of all there is": money.Deposit("x", "ana", LARGEST, "op"),
    "a deposit of less than nothing": money.Deposit("x", "ana", -1000, "op"),
    "a withdrawal of all there is": money.Withdraw("x", "ana", LARGEST, "op"),
    "a refund of what was never bought": money.CashOut("refund:nothing", "s00-a", "ana", 5),
    "a long id": money.BuyIn("x" * 1_000, "s00-a", "ana", 400_000),
    "somebody without a name": money.BuyIn("x", "s00-a", "", 400),
    "a table nobody opened": money.CashOut("x", "s00-nobody", "ana", 400),
}


@pytest.mark.parametrize("what", ABSURD_REQUESTS)
async def test_the_wallet_declines_what_is_absurd(what: str, sql_url: str) -> None:
    store, books = MemoryStore(), SqlBooks(sql_url)
    await ask(store, DEPOSIT)
    await run_wallet(store, books)
    await ask(store, ABSURD_REQUESTS[what], BUY_IN)
    await run_wallet(store, books)
    assert (await replies(store))[-1] == money.Funded("b1", "s00-a", "ana", 400)
    assert await accounts(books) == {"player:ana": 600, "table:s00-a": 400, "cashier": -1000}
    await books.close()


# --- history -----------------------------------------------------------------------------------------------------

ABSURD_ENTRIES: dict[str, bytes] = {
    "a table that is none": committed(table.TablePaused("op"), table_id="rubbish"),
    "a version of another age": committed(table.TablePaused("op"), table_id="s00-odd", version=LARGEST),
    "a name that no database can hold": committed(
        table.TableOpened("s00-odd", STUD, "op"),
        table.HandStarted("s00-odd-1-1", 1, 52, (table.HandSeat(1, "\x00", "\x00", 5),)),
        table.HandEnded("s00-odd-1-1", 0, (table.PotShare(1, 5),)),
        table_id="s00-odd",
    ),
    "an end without a beginning": committed(table.HandEnded("h", LARGEST, ())),
    "a hand of nobody": committed(table.HandStarted("h", LARGEST, LARGEST, ()), table_id="s00-odd"),
    "a hand that ends as it begins": committed(
        table.TableOpened("s00-odd", STUD, "op"),
        table.HandStarted("s00-odd-1-1", LARGEST, LARGEST, (table.HandSeat(LARGEST, "\x00", "\x00", LARGEST),)),
        table.HandEnded("s00-odd-1-1", LARGEST, (table.PotShare(LARGEST, LARGEST),)),
        table_id="s00-odd",
        version=LARGEST,
    ),
    "acts of somebody who is not there": committed(
        table.TableOpened("s00-odd", STUD, "op"),
        table.HandStarted("s00-odd-1-1", 1, 52, PLAYERS),
        table.BetPlaced(99, "bet", LARGEST, LARGEST),
        table.HandEnded("s00-odd-1-1", 0, ()),
        table_id="s00-odd",
    ),
}


@pytest.mark.parametrize(
    ("inbox", "what"),
    [*(("feed", what) for what in no_message("feed")), *(("records", what) for what in no_message("records"))],
)
async def test_history_buries_rubbish_and_keeps_the_rest(inbox: str, what: str) -> None:
    store, shelves, counted = MemoryStore(), Shelves(), buried_by(Service.HISTORY)
    data = no_message(inbox)[what]
    log = Log()
    log.play(stud_hand(1))
    stream = keys.feed("s00") if inbox == "feed" else keys.records("s00")
    await store.log("s00").append(stream, data)
    await Tables(store).commit(log, 1, len(log.entries))
    await run_history(store, MemoryArchive(shelves))
    assert [(dead.stream, dead.data) for dead in shelves.dead] == [(stream, data)]
    assert shelves.dead[0].error
    assert buried_by(Service.HISTORY) == counted + 1
    assert list(shelves.histories) == [hand_of(1)]


@pytest.mark.parametrize("what", ABSURD_ENTRIES)
async def test_history_survives_what_is_absurd(what: str, sql_url: str) -> None:
    """Buried, or passed over; the hands of others are kept in any case, in SQL."""
    store, archive = MemoryStore(), SqlArchive(sql_url)
    log = Log()
    log.play(stud_hand(1))
    await store.log("s00").append(keys.feed("s00"), ABSURD_ENTRIES[what])
    await Tables(store).commit(log, 1, len(log.entries))
    await run_history(store, archive)
    assert await archive.history(hand_of(1)) is not None
    await archive.close()


# --- gateways ----------------------------------------------------------------------------------------------------

FEED_RUBBISH = no_message("feed") | ABSURD_ENTRIES


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Any]:
    async with gateway_room(tmp_path) as gateway:
        made = gateway.open_table()
        made.seat("ana", "ben")
        await gateway.sees(made)
        yield gateway, made


async def test_gateways_pass_over_rubbish_and_show_the_tables_all_the_same(watched: Any) -> None:
    gateway, made = watched
    async with gateway.socket("ana") as socket:
        await receive(socket)
        for what, data in FEED_RUBBISH.items():
            gateway.store.append(keys.feed("s00"), data)
            version = made.commit(table.OutageEnded(1, 2))
            assert (await receive(socket)).version == version, what
            assert not gateway.health.reasons, what
            assert not gateway.serving.done(), what


async def test_the_rubbish_a_gateway_reads_is_counted(watched: Any) -> None:
    gateway, made = watched
    for what, data in no_message("feed").items():
        counted = buried_by(Service.GATEWAY)
        gateway.store.append(keys.feed("s00"), data)
        made.commit(table.OutageEnded(1, 2))
        await gateway.sees(made)
        assert buried_by(Service.GATEWAY) == counted + 1, what


@pytest.mark.parametrize("sealed", [b"", b"\xc1", b"x" * 1_000_000, b"\x91" * 100_000])
async def test_hole_cards_that_cannot_be_opened_are_not_shown_and_nobody_waits_for_them(
    watched: Any, sealed: bytes
) -> None:
    gateway, made = watched
    async with gateway.socket("ana") as socket:
        await receive(socket)
        made.start_hand("ana", "ben")
        await receive(socket)
        counted = buried_by(Service.GATEWAY)
        gateway.store.put(keys.hole(made.table_id), Hash)["1"] = sealed
        version = made.deal(1, 2)
        dealt = await receive(socket)
        assert dealt.version == version
        assert dealt.cards is msgspec.UNSET
        await until(lambda: buried_by(Service.GATEWAY) == counted + 1)
        version = made.commit(table.OutageEnded(1, 2))
        assert (await receive(socket)).version == version


async def test_a_frozen_table_is_shown_frozen_with_its_reason_kept_from_players(watched: Any) -> None:
    gateway, made = watched
    async with gateway.socket("ana") as socket:
        await receive(socket)
        made.commit(table.TableFrozen("the seats have 5 chips, 4 were brought"))
        message = await receive(socket)
        assert [type(event).__name__ for event in message.events] == ["TableFrozen"]
        assert "brought" not in str(message), "what is wrong is the operators' business"
    async with gateway.socket("ben") as socket:
        assert (await receive(socket)).table.status == "frozen"
