"""Table, dealer and wallet together on the in-memory log, with a clock that stands still until it is moved.

Players act through the commands stream as a gateway would; what comes of it is read from the feed.
"""

import random
import secrets

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.memory_log import MemoryLog, MemoryStore
from brelan.eventlog.processor import Processor, Step
from brelan.eventlog.tables import load_table
from brelan.events import commands, money, table
from brelan.events.config import TableConfig
from brelan.events.envelope import (
    CommandRefused,
    CommandRepeated,
    GatewayAlive,
    PlayerCommanded,
    TableCommitted,
    TurnExpired,
    decode_feed,
    encode,
)
from brelan.events.money import CashierRequested
from brelan.ledger.accounts import table_account
from brelan.ledger.memory import MemoryBooks, Vault
from brelan.rules.state import TableState
from brelan_dealer.handlers import DealerHandler
from brelan_table.handlers import TableHandler
from brelan_wallet.service import ROOM, Wallet
from tests import tables
from tests.services.dealer_room import dealer_keys

SHARD = "s00"
TABLE = "s00-test"
GATEWAY_SECRET = bytes(range(32))
HISTORY_SECRET = bytes(range(1, 33))

STUD, DRAW = (msgspec.structs.replace(config, hand_pause_ms=0) for config in (tables.STUD, tables.DRAW))

DEALER_KEYS = dealer_keys(bytes(32), GATEWAY_SECRET, HISTORY_SECRET)


class SmallRoom:
    def __init__(self) -> None:
        self.now_ms = 1_700_000_000_000
        self.store = MemoryStore(lambda: self.now_ms)
        self.log: MemoryLog = self.store.log(SHARD)
        self.vault = Vault()
        self.feed: list[TableCommitted | CommandRefused | CommandRepeated] = []
        self._feed_cursor = "0-0"
        self._commands = 0
        self.start_table()
        self.start_dealer()
        self.wallet = Wallet(self.store, MemoryBooks(self.vault), (SHARD,))
        self._wallet_open = False

    def start_table(self) -> None:
        """A new table service, as after a crash."""
        self.table = Processor(self.log, TableHandler(SHARD), block_ms=0)

    def start_dealer(self) -> None:
        self.dealer = Processor(self.log, DealerHandler(SHARD, DEALER_KEYS), block_ms=0)

    # --- time and running --------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Until nothing moves any more."""
        if not self._wallet_open:
            await self.wallet.open()
            self._wallet_open = True
        await self.gateway_alive()
        while True:
            moved = await drain(self.table) + await drain(self.dealer)
            for inbox in (ROOM, SHARD):
                moved += await self.wallet.serve(inbox, block_ms=0)
            if not moved:
                break
        for entry in await self.log.range(keys.feed(SHARD), after=self._feed_cursor):
            self._feed_cursor = entry.id
            self.hear(entry.data)

    def hear(self, data: bytes) -> None:
        self.feed.append(decode_feed(data))

    async def gateway_alive(self) -> None:
        await self.log.append(keys.commands(SHARD), encode(GatewayAlive("g1")))

    async def pass_time(self, ms: int, *, step_ms: int = 500, timer: bool = True) -> None:
        """Gateways and table service live meanwhile; what falls due is enforced, unless the timer is away."""
        end = self.now_ms + ms
        while self.now_ms < end:
            self.now_ms = min(end, self.now_ms + step_ms)
            await self.gateway_alive()
            if timer:
                await self.expire_due()
            await self.settle()

    async def expire_due(self) -> None:
        for table_id, due_ms in await self.log.due(keys.deadlines(SHARD), self.now_ms, 100):
            await self.expire(table_id, due_ms)

    async def expire(self, table_id: str, due_ms: int) -> None:
        await self.log.append(keys.commands(SHARD), encode(TurnExpired(table_id, commands.ExpireTurn(due_ms))))

    # --- people ------------------------------------------------------------------------------------------------

    async def command(
        self, player_id: str, command: commands.ClientCommand, *, command_id: str = "", table_id: str = TABLE
    ) -> str:
        self._commands += 1
        command_id = command_id or f"c{self._commands}"
        message = PlayerCommanded(
            table_id, player_id, player_id.title(), command_id, command, operator=player_id == "operator"
        )
        await self.log.append(keys.commands(SHARD), encode(message))
        return command_id

    async def open(self, config: TableConfig, table_id: str = TABLE) -> None:
        await self.command("operator", commands.OpenTable(config), table_id=table_id)
        await self.settle()

    async def deposit(self, player_id: str, amount: int = 100_000) -> None:
        deposit = money.Deposit(f"d-{player_id}-{secrets.token_hex(3)}", player_id, amount, "test")
        await self.store.log("wallet").append(keys.cashier(), encode(CashierRequested(deposit)))

    async def sit(self, player_id: str, amount: int = 4000, table_id: str = TABLE) -> None:
        await self.deposit(player_id)
        await self.settle()
        await self.command(player_id, commands.SitDown(amount, entry="post"), table_id=table_id)
        await self.settle()

    async def act(self, chance: random.Random, table_id: str = TABLE) -> bool:
        """Whoever has to decide does, somehow. False when nobody has to."""
        state = await self.state(table_id)
        turn = state.turn
        if turn is None:
            return False
        player_id = _at(state, turn.seat)
        chosen = chance.choice([a for a in turn.actions if a.kind != "fold"] * 3 + list(turn.actions))
        if chosen.kind == "draw":
            thrown = tuple(chance.sample(range(5), chance.randint(0, 5)))
            await self.command(player_id, commands.Draw(turn.turn_id, thrown), table_id=table_id)
        else:
            await self.command(player_id, commands.Act(turn.turn_id, chosen.kind, chosen.to), table_id=table_id)
        await self.settle()
        return True

    # --- looking -----------------------------------------------------------------------------------------------

    async def state(self, table_id: str = TABLE) -> TableState:
        return await load_table(self.log, table_id)

    def escrow(self, table_id: str = TABLE) -> int:
        balance = self.vault.balances.get(table_account(table_id))
        return balance.amount if balance else 0

    def events(self, kind: type[table.Event] | None = None, table_id: str = TABLE) -> list[table.Event]:
        found = [
            event
            for entry in self.feed
            if isinstance(entry, TableCommitted) and entry.table_id == table_id
            for event in entry.events
        ]
        return [event for event in found if kind is None or isinstance(event, kind)]

    def refusals(self) -> list[CommandRefused]:
        return [entry for entry in self.feed if isinstance(entry, CommandRefused)]

    def answer_to(self, command_id: str) -> list[TableCommitted | CommandRefused | CommandRepeated]:
        return [entry for entry in self.feed if entry.command_id == command_id]


def _at(state: TableState, seat: int) -> str:
    found = state.seats[seat - 1]
    assert found is not None
    return found.player_id


async def drain(processor: Processor) -> int:
    """Runs it until it has nothing to read. How many entries it consumed."""
    consumed = 0
    while True:
        result = await processor.step()
        assert not result.error, result.error
        if result.step is Step.COMMIT:
            consumed += result.entries
        if result.step is Step.READ and not result.entries and processor.at_rest:
            return consumed
