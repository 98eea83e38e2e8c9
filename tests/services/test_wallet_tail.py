"""The end of a shard's log is gone, and the wallet had booked what stood there (ADR 0011).

In every case the table's account holds in the end what the table accounts for, and nobody was paid twice unnoticed.
"""

import copy
import random

import msgspec
import pytest

from brelan.audit.room import audit_escrow
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.memory_log import AnyValue, Hash
from brelan.events import commands, table
from brelan.events.config import Rake, RakeCap
from brelan.events.envelope import TailLost, decode_command, decode_epoch
from brelan.ledger.accounts import SUSPENSE
from brelan.ledger.books import Tail
from brelan.ledger.lost import number_of
from brelan.ledger.memory import MemoryBooks
from brelan_wallet.service import Wallet
from tests.services.crashes import Crash, Fuse, Fused, Where
from tests.services.small_room import DRAW, SHARD, STUD, TABLE, SmallRoom

WITH_RAKE = msgspec.structs.replace(STUD, rake=Rake(500, (RakeCap(2, 100_000),)))
PAID = 100_000  # to everybody, at first


class FailingRoom(SmallRoom):
    """Its shard's server may forget what came after a moment; the ledger does not."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, AnyValue] = {}
        self.told: list[TailLost] = []
        self._append, self.store.append = self.store.append, self._heard  # type: ignore[method-assign]

    def _heard(self, stream: str, data: bytes, entry_id: str | None = None) -> str:
        if stream == keys.commands(SHARD) and isinstance(message := decode_command(data), TailLost):
            self.told.append(message)
        return self._append(stream, data, entry_id)

    def keep(self) -> None:
        """What a replica has."""
        of_shard = {key: value for key, value in self.store.values.items() if key.startswith(keys.prefix(SHARD))}
        self._kept = copy.deepcopy(of_shard)

    def fail_over(self) -> None:
        """The replica becomes the master. Nobody has noticed yet."""
        others = {key: value for key, value in self.store.values.items() if not key.startswith(keys.prefix(SHARD))}
        self.store.values.clear()
        self.store.values.update(copy.deepcopy(self._kept) | others)
        self.store.server_id += " and another"
        self.now_ms += 1_000
        self._feed_cursor = "0-0"
        self.feed.clear()

    def start_wallet(self, fuse: Fuse | None = None) -> None:
        books = MemoryBooks(self.vault)
        if fuse is None:
            self.wallet = Wallet(self.store, books, (SHARD,))
        else:
            self.wallet = Wallet(Fused(self.store, fuse), Fused(books, fuse), (SHARD,))
        self._wallet_open = False

    async def recover(self) -> None:
        self.start_table()
        self.start_dealer()
        self.start_wallet()
        await self.settle()

    async def epoch(self) -> int:
        stored = await self.log.get(keys.epoch(SHARD))
        assert stored is not None
        return decode_epoch(stored).number

    async def leave(self, player_id: str) -> None:
        await self.command(player_id, commands.Leave())
        await self.settle()

    async def play_until_between_hands(self, seed: int = 1) -> None:
        chance = random.Random(seed)
        while await self.act(chance):
            pass

    @property
    def position(self) -> Hash:
        """The wallet's, on the shard."""
        return self.store.put(keys.position(SHARD, Service.WALLET), Hash)

    def balance(self, account: str) -> int:
        balance = self.vault.balances.get(account)
        return balance.amount if balance else 0

    def of(self, player_id: str) -> int:
        return self.balance(f"player:{player_id}")

    @property
    def suspense(self) -> int:
        return self.balance(SUSPENSE)

    async def check(self) -> None:
        """Balanced, nothing negative, and every table's account is what its table accounts for."""
        assert sum(balance.amount for balance in self.vault.balances.values()) == 0
        assert await audit_escrow({SHARD: self.log}, MemoryBooks(self.vault)) == {}
        assert keys.dead(SHARD, Service.TABLE) not in self.store.values


@pytest.fixture
async def room() -> FailingRoom:
    """Ana and Ben play stud with 4000 each."""
    room = FailingRoom()
    await room.open(STUD)
    for name in ("ana", "ben"):
        await room.sit(name)
    return room


async def test_when_nothing_was_lost_nothing_is_settled(room: FailingRoom) -> None:
    room.keep()
    before = dict(room.vault.balances)
    room.fail_over()
    await room.recover()
    assert dict(room.vault.balances) == before
    assert room.told == []
    epoch = await room.epoch()
    assert epoch > 1
    assert room.vault.tails[SHARD] == Tail(epoch, room.store.server_id)
    await room.check()


async def test_a_lost_buy_in_goes_back_to_the_player_once(room: FailingRoom) -> None:
    room.keep()
    await room.sit("cleo")
    assert room.of("cleo") == PAID - 4000
    room.fail_over()
    await room.recover()
    assert room.of("cleo") == PAID
    assert room.suspense == 0
    assert [(one.reader, one.epoch) for one in room.told] == [("wallet", 1)]
    assert (await room.state()).transfers == {}, "the table has asked for the refund too, and was told it is booked"
    await room.check()
    await room.command("cleo", commands.SitDown(4000, entry="post"))
    await room.settle()
    assert room.of("cleo") == PAID - 4000
    await room.check()


async def test_a_lost_top_up_goes_back_too(room: FailingRoom) -> None:
    await room.command("ana", commands.SitOut())
    await room.play_until_between_hands()
    room.keep()
    before = room.of("ana")
    await room.command("ana", commands.TopUp(2000))
    await room.settle()
    assert room.of("ana") == before - 2000
    room.fail_over()
    await room.recover()
    assert room.of("ana") == before
    await room.check()


async def test_a_lost_cash_out_stays_paid_and_is_not_paid_again(room: FailingRoom) -> None:
    """Suspense stands in for the chips until he leaves; then it is even, and so is he."""
    room.keep()
    await room.leave("ana")
    await room.play_until_between_hands()
    paid = room.of("ana") - (PAID - 4000)
    assert paid > 0
    room.fail_over()
    await room.recover()
    state = await room.state()
    assert [seat.player_id for seat in state.seats if seat] == ["ana", "ben"]
    assert room.suspense == -paid
    assert room.vault.claims == {(TABLE, "ana"): paid}
    await room.check()
    await room.leave("ana")  # the hand was called off, and another one has begun
    await room.play_until_between_hands()
    left = room.events(table.PlayerLeft)[-1]
    assert isinstance(left, table.PlayerLeft)
    stack = left.amount
    assert room.of("ana") == PAID - 4000 + max(paid, stack)
    assert room.suspense == min(0, stack - paid)
    assert room.vault.claims == {(TABLE, "ana"): max(0, paid - stack)}
    await room.check()


async def test_what_he_wins_with_chips_that_were_paid_already_is_his(room: FailingRoom) -> None:
    await room.command("ana", commands.SitOut())
    await room.play_until_between_hands()
    room.keep()
    await room.leave("ana")
    paid = room.of("ana") - (PAID - 4000)
    room.fail_over()
    await room.recover()
    await room.command("ana", commands.TopUp(2000))
    await room.settle()
    await room.leave("ana")
    assert room.of("ana") == PAID - 4000 + paid
    assert (room.suspense, room.vault.claims) == (0, {(TABLE, "ana"): 0})
    await room.check()


async def test_a_whole_visit_that_is_lost_is_not_refunded_on_top(room: FailingRoom) -> None:
    room.keep()
    await room.sit("cleo")
    await room.leave("cleo")
    await room.play_until_between_hands()
    assert room.of("cleo") == PAID
    room.fail_over()
    await room.recover()
    assert (room.of("cleo"), room.suspense, room.vault.claims) == (PAID, 0, {})
    assert (await room.state()).transfers == {}
    await room.check()


async def test_lost_rake_goes_back_to_the_table() -> None:
    room = FailingRoom()
    await room.open(WITH_RAKE)
    for name in ("ana", "ben"):
        await room.sit(name)
    room.keep()
    seed = 0
    while not room.balance("house:rake"):
        seed += 1
        await room.play_until_between_hands(seed)
    room.fail_over()
    await room.recover()
    assert room.balance("house:rake") == 0
    await room.check()
    await room.pass_time(5_000)
    for seed in range(1, 30):
        await room.play_until_between_hands(seed)
        await room.pass_time(2_000)
    assert room.balance("house:rake") > 0
    await room.check()


async def test_a_table_that_is_lost_altogether_gives_everything_back() -> None:
    room = FailingRoom()
    room.keep()
    await room.open(DRAW)
    await room.sit("ana")
    room.fail_over()
    await room.recover()
    assert room.of("ana") == PAID
    assert room.escrow() == 0


async def test_requests_after_the_loss_are_not_passed_over_though_their_ids_are_lower(room: FailingRoom) -> None:
    room.keep()
    room.now_ms += 60_000  # the old master's clock was ahead
    await room.sit("cleo")
    room.now_ms -= 60_000
    room.fail_over()
    await room.recover()
    await room.sit("dora")
    assert room.of("dora") == PAID - 4000
    await room.check()


async def test_a_wallet_that_was_not_interrupted_notices_by_the_epoch(room: FailingRoom) -> None:
    """Entries of the new epoch are not booked before it has looked back."""
    room.keep()
    await room.sit("cleo")
    number = room.position["number"]
    room.fail_over()
    room.position["number"] = number  # nor is it fenced
    room.start_table()
    await room.command("dora", commands.SitDown(4000, entry="post"))
    await room.deposit("dora")
    await room.settle()
    assert (room.of("cleo"), room.of("dora")) == (PAID, PAID - 4000)
    assert room.vault.tails[SHARD].epoch == await room.epoch() > 1
    await room.check()


async def test_twice_in_a_row(room: FailingRoom) -> None:
    room.keep()
    await room.sit("cleo")
    room.fail_over()
    await room.recover()
    room.keep()
    await room.sit("dora")
    room.fail_over()
    await room.recover()
    assert (room.of("cleo"), room.of("dora")) == (PAID, PAID)
    await room.check()


async def test_an_epoch_that_is_lost_too_does_not_come_again(room: FailingRoom) -> None:
    """Else the ids of its transfers would."""
    room.keep()
    room.fail_over()
    await room.recover()
    first = await room.epoch()
    await room.sit("cleo")
    assert f"{TABLE}:{first}:3" in room.vault.lines
    room.fail_over()
    await room.recover()
    second = await room.epoch()
    assert second > first
    await room.sit("dora")
    assert f"{TABLE}:{second}:3" in room.vault.lines
    assert (room.of("cleo"), room.of("dora")) == (PAID, PAID - 4000)
    await room.check()


@pytest.mark.parametrize("where", ["before", "after"])
async def test_a_crash_at_any_step_of_it(where: Where) -> None:
    crashes = 0
    for step in range(1, 60, 2):
        room = FailingRoom()
        await room.open(STUD)
        for name in ("ana", "ben"):
            await room.sit(name)
        room.keep()
        await room.sit("cleo")
        await room.leave("ana")
        await room.play_until_between_hands()
        paid = room.of("ana") - (PAID - 4000)
        room.fail_over()
        room.start_table()
        room.start_wallet(Fuse(step, where))
        try:
            await room.wallet.open()
            for _ in range(3):
                await room.wallet.serve(SHARD, block_ms=0)
        except Crash:
            crashes += 1
        await room.recover()
        assert room.told
        assert (room.of("cleo"), room.suspense) == (PAID, -paid)
        assert room.vault.claims == {(TABLE, "ana"): paid}
        await room.check()
    assert 8 < crashes < 28, "the steps are not all covered"


async def test_evenings_with_losses_at_any_moment() -> None:
    """Whatever was lost when: balanced, and what somebody has too much stands in suspense."""
    for seed in range(12):
        chance = random.Random(seed)
        room = FailingRoom()
        await room.open(WITH_RAKE)
        names = ["ana", "ben", "cleo", "dora"]
        for name in names[:3]:
            await room.sit(name)
        room.keep()
        for _ in range(60):
            match chance.randrange(12):
                case 0:
                    room.keep()
                case 1:
                    room.fail_over()
                    await room.recover()
                    await room.check()
                case 2:
                    await room.leave(chance.choice(names))
                case 3:
                    await room.command(chance.choice(names), commands.SitDown(2000, entry="post"))
                case 4:
                    await room.command(chance.choice(names), commands.TopUp(2000))
                case 5:
                    await room.pass_time(2_000)
                case _:
                    await room.act(chance)
            await room.settle()
        for name in names:
            await room.leave(name)
        await room.play_until_between_hands(seed)
        await room.pass_time(30_000)
        await room.check()
        assert not room.events(table.TableFrozen)


def test_the_ids_that_tables_make_are_read() -> None:
    assert number_of("s00-a:2:17") == ("s00-a", 2, 17)
    assert number_of("refund:s00-a:2:17") is None
    assert number_of("d1") is None
