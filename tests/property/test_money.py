"""M6 as a machine: whatever is done in which order, and whatever dies between any two steps, no chip is made or lost.

Real table, dealer and wallet on the in-memory log, two tables, four players. After every step: the ledger balances,
nothing is negative, every table's account holds what the table accounts for. In the end everybody leaves, and all that
was deposited is with the players, but for rake and withdrawals.
"""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from brelan.audit.room import escrow_difference
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.processor import Processor, Step
from brelan.events import commands, money
from brelan.events import table as facts
from brelan.events.config import Rake, RakeCap
from brelan.events.envelope import encode
from brelan.events.money import CashierRequested, WalletRequested
from brelan.ledger.accounts import may_be_negative
from brelan.ledger.decide import Request
from brelan.ledger.memory import MemoryBooks
from brelan.rules import seating
from brelan.rules.folding import FOLDS, seats
from brelan.rules.invariants import violations
from brelan.rules.state import TableState
from brelan.rules.table import escrow
from brelan_dealer.handlers import DealerHandler
from brelan_table.handlers import TableHandler
from brelan_wallet.service import ROOM, Fenced, Wallet
from tests.services.crashes import Crash, Fuse, Fused
from tests.services.small_room import DEALER_KEYS, DRAW, SHARD, STUD, SmallRoom

NAMES = ("ana", "ben", "cleo", "dora")
TABLES = ("s00-stud", "s00-draw")
RAKE = Rake(500, (RakeCap(2, 300),))
Answer = TypeVar("Answer")
Defect = Callable[[pytest.MonkeyPatch], None]

names = st.sampled_from(NAMES)
tables = st.sampled_from(TABLES)
amounts = st.sampled_from([1, 1000, 2000, 4000, 7000])
steps = st.integers(1, 3)
fuses = st.tuples(st.integers(1, 30), st.sampled_from(["before", "after"]))


class WatchedRoom(SmallRoom):
    """The same steps lead to the same cards, so that a failure can be made smaller. Requests are kept for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[bytes] = []
        self._append, self.store.append = self.store.append, self._appended  # type: ignore[method-assign]

    def _appended(self, stream: str, data: bytes, entry_id: str | None = None) -> str:
        if stream == keys.wallet_requests(SHARD) and data not in self.requests:
            self.requests.append(data)
        return self._append(stream, data, entry_id)

    def start_dealer(self) -> None:
        self.dealer = Processor(self.log, dealer_handler(), block_ms=0)


def dealer_handler() -> DealerHandler:
    chance = random.Random(1)
    return DealerHandler(SHARD, DEALER_KEYS, chance.randbytes)


class Money(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self.room = WatchedRoom()
        self.cashier: dict[str, Request] = {}
        self.forged: dict[str, money.BuyIn] = {}
        self.chance = random.Random(1)
        self.run(self._open())

    def run(self, what: Awaitable[Answer]) -> Answer:
        async def wait() -> Answer:
            return await what

        return self._runner.run(wait())

    async def _open(self) -> None:
        for table_id, config in zip(TABLES, (STUD, DRAW), strict=True):
            await self.room.open(msgspec.structs.replace(config, rake=RAKE), table_id)
        for name in NAMES[:3]:
            for table_id in TABLES:
                await self.room.sit(name, table_id=table_id)

    # --- people ------------------------------------------------------------------------------------------------

    @rule(name=names, amount=amounts, deposit=st.booleans())
    def ask_the_cashier(self, name: str, amount: int, deposit: bool) -> None:
        transfer_id = f"k{len(self.cashier)}"
        request = (money.Deposit if deposit else money.Withdraw)(transfer_id, name, amount, "tests")
        self.cashier[transfer_id] = request
        self.run(self._ask_cashier(request))

    @precondition(lambda self: self.cashier)
    @rule(place=st.integers(0, 99), other_body=st.booleans())
    def ask_the_cashier_again(self, place: int, other_body: bool) -> None:
        request = list(self.cashier.values())[place % len(self.cashier)]
        again = msgspec.structs.replace(request, amount=request.amount + 1) if other_body else request
        self.run(self._ask_cashier(again))

    async def _ask_cashier(self, request: Request) -> None:
        assert isinstance(request, money.Deposit | money.Withdraw)
        await self.room.store.log(ROOM).append(keys.cashier(), encode(CashierRequested(request)))

    @rule(name=names, table_id=tables, amount=amounts)
    def sit_down(self, name: str, table_id: str, amount: int) -> None:
        self._command(name, commands.SitDown(amount, entry="post"), table_id)

    @rule(name=names, table_id=tables, amount=amounts)
    def top_up(self, name: str, table_id: str, amount: int) -> None:
        self._command(name, commands.TopUp(amount), table_id)

    @rule(name=names, table_id=tables)
    def leave(self, name: str, table_id: str) -> None:
        self._command(name, commands.Leave(), table_id)

    @rule(name=names, table_id=tables, out=st.booleans())
    def sit_out_or_come_back(self, name: str, table_id: str, out: bool) -> None:
        self._command(name, commands.SitOut() if out else commands.ComeBack("post"), table_id)

    @rule(table_id=tables, times=st.integers(1, 6))
    def play(self, table_id: str, times: int) -> None:
        for _ in range(times):
            if not self.run(self.room.act(self.chance, table_id)):
                break

    @precondition(lambda self: not self.forged)
    @rule(table_id=tables)
    def close_a_table(self, table_id: str) -> None:
        self._command("operator", commands.CloseTable(), table_id)

    def _command(self, name: str, command: Any, table_id: str) -> None:
        self.run(self.room.command(name, command, table_id=table_id))

    # --- requests that nobody would make ----------------------------------------------------------------------------

    @rule(place=st.integers(0, 999))
    def a_request_comes_again(self, place: int) -> None:
        """And so does its reply."""
        if self.room.requests:
            again = self.room.requests[place % len(self.room.requests)]
            self.run(self.room.log.append(keys.wallet_requests(SHARD), again))

    @rule(name=names, table_id=tables, amount=amounts)
    def a_buy_in_that_no_table_expects(self, name: str, table_id: str, amount: int) -> None:
        request = money.BuyIn(f"{table_id}:1:{900 + len(self.forged)}", table_id, name, amount)
        self.forged[request.transfer_id] = request
        self.run(self.room.log.append(keys.wallet_requests(SHARD), encode(WalletRequested(request))))

    # --- time, and what dies ------------------------------------------------------------------------------------

    @rule(ms=st.sampled_from([500, 1_000, 6_000]))
    def time_passes(self, ms: int) -> None:
        self.run(self.room.pass_time(ms, step_ms=1_000))

    @rule(times=steps)
    def the_table_works(self, times: int) -> None:
        self.run(_step(self.room.table, times))

    @rule(times=steps)
    def the_dealer_works(self, times: int) -> None:
        self.run(_step(self.room.dealer, times))

    @rule(times=steps)
    def the_wallet_works(self, times: int) -> None:
        self.run(self._serve(self.room.wallet, times))

    @rule()
    def all_work(self) -> None:
        self.run(self.room.settle())

    @rule(fuse=fuses)
    def the_table_is_killed(self, fuse: tuple[int, Any]) -> None:
        log = Fused(self.room.log, Fuse(*fuse))
        self._until_killed(_step(Processor(log, TableHandler(SHARD), block_ms=0), 12))
        self.room.start_table()

    @rule(fuse=fuses)
    def the_dealer_is_killed(self, fuse: tuple[int, Any]) -> None:
        log = Fused(self.room.log, Fuse(*fuse))
        self._until_killed(_step(Processor(log, dealer_handler(), block_ms=0), 12))
        self.room.start_dealer()

    @rule(fuse=fuses)
    def the_wallet_is_killed(self, fuse: tuple[int, Any]) -> None:
        burning = Fuse(*fuse)
        wallet = Wallet(Fused(self.room.store, burning), Fused(MemoryBooks(self.room.vault), burning), (SHARD,))

        async def work() -> None:
            await wallet.open()
            await self._serve(wallet, 4)

        self._until_killed(work())
        self._start_wallet()

    @rule(times=steps)
    def another_wallet_works_too(self, times: int) -> None:
        """The first one is fenced off when it next writes."""
        other = Wallet(self.room.store, MemoryBooks(self.room.vault), (SHARD,))

        async def work() -> None:
            await other.open()
            await self._serve(other, times)
            with contextlib.suppress(Fenced):
                await self._serve(self.room.wallet, times)

        self.run(work())
        self._start_wallet()

    def _start_wallet(self) -> None:
        self.room.wallet = Wallet(self.room.store, MemoryBooks(self.room.vault), (SHARD,))
        self.run(self.room.wallet.open())

    def _until_killed(self, work: Awaitable[None]) -> None:
        with contextlib.suppress(Crash):
            self.run(work)

    async def _serve(self, wallet: Wallet, times: int) -> None:
        for _ in range(times):
            for inbox in wallet.inboxes:
                await wallet.serve(inbox, block_ms=0)

    # --- what holds ---------------------------------------------------------------------------------------------

    @invariant()
    def the_ledger_balances_and_nothing_is_negative(self) -> None:
        balances = {account: balance.amount for account, balance in self.room.vault.balances.items()}
        assert sum(balances.values()) == 0
        assert all(amount >= 0 or may_be_negative(account) for account, amount in balances.items())
        sums: dict[str, int] = {}
        for line in self.room.vault.lines.values():
            for posting in line.transfer.postings if line.transfer else ():
                sums[posting.account] = sums.get(posting.account, 0) + posting.amount
        assert sums == balances

    @invariant()
    def every_table_accounts_for_what_its_account_holds(self) -> None:
        states = {table_id: self.run(self.room.state(table_id)) for table_id in TABLES}
        for state in states.values():
            assert violations(state) == []
            assert state.status != "frozen", state.frozen_reason
        expected = {table_id: sum(self._not_expected(state)) for table_id, state in states.items()}
        books = MemoryBooks(self.room.vault)
        assert {name: self.run(escrow_difference(books, state)) for name, state in states.items()} == expected

    def _not_expected(self, state: TableState) -> Sequence[int]:
        """Booked buy-ins that the table did not ask for, and has not heard of yet."""
        lines = self.room.vault.lines
        return [
            request.amount
            for transfer_id, request in self.forged.items()
            if request.table_id == state.table_id
            and transfer_id in lines
            and lines[transfer_id].transfer is not None
            and f"refund:{transfer_id}" not in lines.keys() | state.transfers.keys()
        ]

    def teardown(self) -> None:
        try:
            self.run(self._everybody_leaves())
            self.the_ledger_balances_and_nothing_is_negative()
            self.every_table_accounts_for_what_its_account_holds()
            self._everything_is_settled()
        finally:
            self._runner.close()

    async def _everybody_leaves(self) -> None:
        for _ in range(40):
            for table_id in TABLES:
                for seat in (await self.room.state(table_id)).seats:
                    if seat is not None and not seat.leave_asked:
                        await self.room.command(seat.player_id, commands.Leave(), table_id=table_id)
            await self.room.settle()
            for table_id in TABLES:
                for _ in range(40):
                    if not await self.room.act(self.chance, table_id):
                        break
            states = [await self.room.state(table_id) for table_id in TABLES]
            if not any(seat or state.transfers for state in states for seat in state.seats):
                break
            await self.room.pass_time(1_000, step_ms=1_000)
        await self.room.settle()

    def _everything_is_settled(self) -> None:
        vault = self.room.vault
        for table_id in TABLES:
            state = self.run(self.room.state(table_id))
            assert (state.transfers, state.chips, escrow(state)) == ({}, 0, 0)
            assert self.room.escrow(table_id) == 0
        assert not any(vault.claims.values())
        paid_in = sum(self._paid_in(transfer_id, request) for transfer_id, request in self.cashier.items())
        paid_in += sum(
            posting.amount
            for transfer_id, line in vault.lines.items()
            if transfer_id.startswith("d-") and line.transfer  # who sat down first
            for posting in line.transfer.postings
            if posting.account.startswith("player:")
        )
        with_players = sum(one.amount for account, one in vault.balances.items() if account.startswith("player:"))
        rake = vault.balances["house:rake"].amount if "house:rake" in vault.balances else 0
        assert with_players + rake == paid_in
        assert keys.dead(SHARD, Service.TABLE) not in self.room.store.values

    def _paid_in(self, transfer_id: str, request: Request) -> int:
        """Once for each id that the cashier has used, if it was possible."""
        line = self.room.vault.lines[transfer_id]
        if line.decided.outcome == "declined":
            return 0
        return request.amount if isinstance(request, money.Deposit) else -request.amount


async def _step(processor: Processor, times: int) -> None:
    for _ in range(times):
        result = await processor.step()
        assert not result.error, result.error
        if result.step is Step.READ and not result.entries and processor.at_rest:
            return


TestMoney = Money.TestCase
TestMoney.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)


# --- and it finds what is wrong -------------------------------------------------------------------------------------


def _refunded_again(patch: pytest.MonkeyPatch) -> None:
    """A table takes every reply that it does not wait for as one that it never asked for."""
    patch.setattr(seating, "_was_answered", lambda draft, transfer_id: False)


def _dropped(patch: pytest.MonkeyPatch) -> None:
    """A reply that nobody waits for is dropped."""
    patch.setattr(seating, "_refund", lambda draft, transfer_id, player_id, amount: None)


def _top_up_lost(patch: pytest.MonkeyPatch) -> None:
    """A top-up that was funded never comes to the seat."""

    def forget(state: TableState, event: facts.TopUpFunded) -> None:
        seats.forget_transfer(state, event.transfer_id)

    patch.setitem(FOLDS, facts.TopUpFunded, forget)


DEFECTS = [_refunded_again, _dropped, _top_up_lost]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_a_deliberate_defect_is_found(defect: Defect, monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    once = settings(TestMoney.settings, max_examples=60, phases=[Phase.generate], derandomize=True, database=None)
    with pytest.raises((AssertionError, Fenced, Flaky)):  # the services' own clocks run on
        run_state_machine_as_test(Money, settings=once)


async def test_a_table_closed_by_the_entry_that_ends_its_hand_does_not_stop_the_dealer() -> None:
    """Found by the machine: what is left of the deck's log begins with the end of a hand."""
    room = SmallRoom()
    await room.open(STUD)
    for name in NAMES[:2]:
        await room.sit(name)
    await room.command("operator", commands.CloseTable())
    chance = random.Random(1)
    while await room.act(chance):
        pass
    assert (await room.state()).status == "closed"
    room.start_dealer()
    await room.settle()
