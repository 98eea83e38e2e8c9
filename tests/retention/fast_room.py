"""Table, dealer, wallet and history of one shard on a real server, and players who never think.

No gateway, no sockets, no Celery: commands go onto the stream, turns are read from the feed, and what is due is
enforced from the deadlines. So a room grows old in minutes.
"""

import asyncio
import contextlib
import random
import secrets
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

from brelan.audit.ledger import audit_engine
from brelan.deck.sealing import RecordOpener
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING
from brelan.eventlog.processor import Processor, Step
from brelan.eventlog.readers import cursors_of, is_before
from brelan.eventlog.redis_log import RedisStore
from brelan.events import commands, money, table
from brelan.events.envelope import (
    GatewayAlive,
    PlayerCommanded,
    TableCommitted,
    TurnExpired,
    decode_feed,
    encode,
)
from brelan.events.money import CashierRequested
from brelan.sql import create_engine, migrate
from brelan.sql.archive import SqlArchive
from brelan.sql.books import SqlBooks
from brelan.telemetry.health import Health
from brelan_dealer.handlers import DealerHandler
from brelan_dealer.trimming import Trimming as DealerTrimming
from brelan_history.service import ShardHistory
from brelan_table.handlers import TableHandler
from brelan_table.trimming import Trimming as TableTrimming
from brelan_wallet.service import Wallet
from tests.services.small_room import DEALER_KEYS, DRAW, HISTORY_SECRET, SHARD, STUD

BUY_IN = 1_000_000_000  # nobody goes broke
FEED_KEPT_MS = 500
LOOK_MS = 100
BEAT_SECONDS = 0.3

SEATS = (1, 2, 3)


class FastRoom:
    """``async with``: its services run. Any of them can be left out, stopped and started."""

    def __init__(self, redis_url: str, sql_url: str, *, tables: int = 8, seed: int = 1) -> None:
        self.store = RedisStore(redis_url)
        self.log = self.store.log(SHARD)
        self.engine = create_engine(sql_url)
        self.sql_url = sql_url
        self.table_ids = [f"{SHARD}-{number:03d}" for number in range(tables)]
        self.hands = 0  # ended
        self._chance = random.Random(seed)
        self._commands = 0
        self._run = secrets.token_hex(3)  # command ids are never used twice
        self._cursor = "0-0"
        self._tasks: dict[str, tuple[asyncio.Event, asyncio.Task[None]]] = {}

    async def __aenter__(self) -> "FastRoom":
        await migrate(self.sql_url)
        for name in ("wallet", "table", "dealer", "history"):
            self.start(name)
        return self

    async def __aexit__(self, *_: object) -> None:
        for name in tuple(self._tasks):
            await self.stop(name)
        await self.store.close()
        await self.engine.dispose()

    # --- services ----------------------------------------------------------------------------------------------

    def start(self, name: str) -> None:
        stop = asyncio.Event()
        self._tasks[name] = stop, asyncio.create_task(self._service(name, stop))

    async def stop(self, name: str) -> None:
        stop, task = self._tasks.pop(name)
        stop.set()
        await task

    def table_processor(self) -> Processor:
        trimming = TableTrimming(SHARD, feed_kept_ms=FEED_KEPT_MS, look_ms=LOOK_MS)
        return Processor(self.log, TableHandler(SHARD, trimming), block_ms=50)

    def dealer_processor(self) -> Processor:
        trimming = DealerTrimming(SHARD, look_ms=LOOK_MS)
        return Processor(self.log, DealerHandler(SHARD, DEALER_KEYS, trimming=trimming), block_ms=50)

    def _service(self, name: str, stop: asyncio.Event) -> Coroutine[Any, Any, None]:
        match name:
            case "table":
                return self.table_processor().run(stop)
            case "dealer":
                return self.dealer_processor().run(stop)
            case "wallet":
                return Wallet(self.store, SqlBooks(self.engine), (SHARD,)).run(stop, Health("wallet"))
            case "history":
                open_record = RecordOpener([HISTORY_SECRET])
                return ShardHistory(self.store, SqlArchive(self.engine), SHARD, open_record).run(stop, Health("h"))
            case _:
                raise ValueError(name)

    # --- players -----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Tables of both games, three players at each, a hand in play at every one."""
        for number, table_id in enumerate(self.table_ids):
            await self._command(table_id, "operator", commands.OpenTable(DRAW if number % 2 else STUD), operator=True)
            for seat in SEATS:
                player_id = _player(table_id, seat)
                deposit = money.Deposit(f"deposit:{player_id}", player_id, 2 * BUY_IN, "test")
                await self.store.log("wallet").append(keys.cashier(), encode(CashierRequested(deposit)))
        while len(await self.store.log("wallet").hash_all(keys.balances())) < 3 * len(self.table_ids):
            await self._pause()
        for table_id in self.table_ids:
            for seat in SEATS:
                sit = commands.SitDown(BUY_IN, seat, entry="post")
                await self._command(table_id, _player(table_id, seat), sit)

    async def play(self, hands: int) -> None:
        """Until so many more have ended. What is open then stays open."""
        until = self.hands + hands
        async with self._beating():
            while self.hands < until:
                self.check()
                read = await self.log.read_batch({keys.feed(SHARD): self._cursor}, 1_000, 20)
                answers = []
                for entry in read.entries:
                    self._cursor = entry.id
                    message = decode_feed(entry.data)
                    if isinstance(message, TableCommitted):
                        answers += self._answers(message)
                await self._send(answers)

    async def leave(self) -> None:
        """Everybody goes; nothing is left in escrow when all are paid."""
        for table_id in self.table_ids:
            for seat in SEATS:
                await self._command(table_id, _player(table_id, seat), commands.Leave())
        async with self._beating():
            while (await audit_engine(self.engine)).escrow_total:
                await self._pause()

    async def settle(self) -> None:
        """Until history has all of the feed, and what can be trimmed is."""
        end = await self.log.last_id(keys.feed(SHARD))
        while is_before(await self.archived(), end):
            await self._pause()
        await asyncio.sleep((FEED_KEPT_MS + 4 * LOOK_MS + 1_200) / 1000)  # a few rounds of housekeeping

    def _answers(self, message: TableCommitted) -> list[bytes]:
        """What a player says to this entry, if one is asked."""
        answers = []
        for event in message.events:
            match event:
                case table.HandEnded() | table.HandVoided():
                    self.hands += 1
                case table.TurnOpened():
                    command = self._choice(event)
                    answers.append(self._encoded(message.table_id, _player(message.table_id, event.seat), command))
                case _:
                    pass
        return answers

    def _choice(self, turn: table.TurnOpened) -> commands.ClientCommand:
        """Mostly he folds: hands are over soon."""
        folds = [action for action in turn.actions if action.kind == "fold"]
        if folds and self._chance.random() < 0.85:
            return commands.Act(turn.turn_id, "fold")
        chosen = self._chance.choice([action for action in turn.actions if action.kind != "fold"] or folds)
        if chosen.kind == "draw":
            return commands.Draw(turn.turn_id, tuple(self._chance.sample(range(5), self._chance.randint(0, 3))))
        return commands.Act(turn.turn_id, chosen.kind, chosen.to)

    @contextlib.asynccontextmanager
    async def _beating(self) -> AsyncIterator[None]:
        """A gateway is heard, and what is due is enforced."""
        beating = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await beating

    async def _beat(self) -> None:
        while True:
            due = await self.log.due(keys.deadlines(SHARD), await self.log.now_ms(), 1_000)
            expired = [encode(TurnExpired(table_id, commands.ExpireTurn(due_ms))) for table_id, due_ms in due]
            await self._send([encode(GatewayAlive("fast")), *expired])
            await asyncio.sleep(BEAT_SECONDS if not due else 0.02)

    async def _command(
        self, table_id: str, player_id: str, command: commands.ClientCommand, operator: bool = False
    ) -> None:
        await self._send([self._encoded(table_id, player_id, command, operator)])

    def _encoded(self, table_id: str, player_id: str, command: commands.ClientCommand, operator: bool = False) -> bytes:
        self._commands += 1
        name, command_id = player_id.title(), f"{self._run}-{self._commands}"
        return encode(PlayerCommanded(table_id, player_id, name, command_id, command, operator=operator))

    async def _send(self, messages: list[bytes]) -> None:
        if messages:
            await self.log.append_many(keys.commands(SHARD), messages)

    # --- looking -----------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises what ended a service."""
        for _, task in self._tasks.values():
            if task.done():
                task.result()
                raise RuntimeError("a service has ended")

    async def _pause(self) -> None:
        self.check()
        await asyncio.sleep(0.02)

    async def archived(self) -> str:
        """How far history has read the feed."""
        return (await cursors_of(self.log, (Service.HISTORY,)))[Service.HISTORY].get(keys.feed(SHARD), BEGINNING)

    async def problems(self) -> list[str]:
        """Of the ledger."""
        return (await audit_engine(self.engine)).problems


def _player(table_id: str, seat: int) -> str:
    """Who sits there, from the beginning to the end."""
    return f"{table_id.replace('-', '_')}_{seat}"


async def load_seconds(processor: Processor) -> float:
    """How long a takeover takes: the fence, and reading what is there."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    while not processor.loaded:
        result = await processor.step()
        assert result.step in {Step.FENCE, Step.LOAD}
        assert not result.error, result.error
    return loop.time() - started


def sqlite_in(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'brelan.db'}"
