"""A gateway on the event log in memory, on a port of its own. What the other services would do, the test does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
from argon2 import PasswordHasher
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.asyncio.client import ClientConnection, connect

from brelan.auth.accounts import AccountStore, Player
from brelan.auth.tickets import TicketOffice, Uses
from brelan.auth.tokens import Issuer, Verifier
from brelan.deck.keys import x25519_public
from brelan.deck.sealing import HoleCardOpener, hole_context, seal
from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.eventlog.memory_log import Hash, MemoryStore, Stream
from brelan.events import table as facts
from brelan.events.config import TableConfig
from brelan.events.dealing import HoleCards
from brelan.events.envelope import (
    CommandRefused,
    CommandRepeated,
    GatewayAlive,
    PlayerCommanded,
    TableCommitted,
    decode_cashier,
    decode_command,
    encode,
)
from brelan.histories.queries import Histories
from brelan.ledger.books import Balance, encode_balance
from brelan.sql import migrate
from brelan.sql.dead import DeadLetters
from brelan.telemetry.health import Health, listen
from brelan.views import messages as views
from brelan_gateway.cashier import Cashier
from brelan_gateway.doorkeeper import Doorkeeper
from brelan_gateway.feed import ShardFeed
from brelan_gateway.hole_cards import HoleCardReader, Open
from brelan_gateway.inbox import Inbox
from brelan_gateway.room import Limits, Room, Shard
from brelan_gateway.routes import application
from brelan_gateway.service import serve
from brelan_gateway.settings import GatewaySettings
from brelan_gateway.wiring import guests_of
from tests.tables import STUD

PASSWORD = "a long password"
TABLE = "s00-abc123"
Frame = dict[str, Any]


GATEWAY_SECRET = bytes(range(32))


def hole_box(table_id: str, hole: HoleCards) -> bytes:
    """As the dealer seals them to the gateways."""
    return seal(x25519_public(GATEWAY_SECRET), encode(hole), hole_context(table_id, hole.seat))


class Keys:
    """What all gateways of a room share."""

    def __init__(self) -> None:
        self.key = Ed25519PrivateKey.generate()


DEALER_KEY_IDS = ("ab" * 32, "cd" * 32)


class GatewayRoom:
    """One gateway. Give two of them the same ``store``, ``accounts`` and ``keys`` and they are one room's."""

    def __init__(
        self,
        store: MemoryStore,
        accounts: AccountStore,
        gateway_keys: Keys,
        settings: GatewaySettings,
        logs: dict[str, Log] | None = None,
        open_hole_cards: Open | None = None,
        uses: Uses | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.health = Health("gateway")
        self.stop = asyncio.Event()
        limits = Limits(settings)
        cashier = Cashier(store.log("wallet"), settings.welcome_amount)
        self.key = key = gateway_keys.key
        self.issuer = Issuer(key)
        doorkeeper = Doorkeeper(
            accounts,
            self.issuer,
            Verifier([key.public_key()]),
            TicketOffice(key, uses or store),
            limits.failed_logins,
            limits.failed_logins_anywhere,
            guests_of(settings, accounts, cashier),
        )
        self.logs = logs or {name: store.log(name) for name in settings.shard_names}
        shards = {}
        for name, log in self.logs.items():
            inbox = Inbox(log, "g1", settings.busy_after_ms)
            feed = ShardFeed(log, inbox, HoleCardReader(log, open_hole_cards or HoleCardOpener((GATEWAY_SECRET,))))
            shards[name] = Shard(feed, inbox, log)
        url = settings.database_url
        self.room = Room(
            settings, shards, cashier, doorkeeper, Histories(url), limits, DeadLetters(url), DEALER_KEY_IDS
        )
        self._listening = listen("127.0.0.1", 0)
        self._port = self._listening.getsockname()[1]
        self.host = f"127.0.0.1:{self._port}"
        self.url = f"http://{self.host}"
        self.serving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._serve()
        await until(lambda: not self.health.reasons)
        return self

    def _serve(self) -> None:
        app = application(self.room, self.health)
        self.serving = asyncio.create_task(serve(self.room, app, self._listening, self.health, self.stop))

    async def start_again(self) -> None:
        """As a new process would, on the same port."""
        self._listening = listen("127.0.0.1", self._port)
        self.stop = asyncio.Event()
        self.room.sockets.closing = False
        self._serve()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        assert self.serving is not None
        await self.serving
        self._listening.close()
        await self.room.doorkeeper.close()

    # --- what other services do --------------------------------------------------------------------------------

    def open_table(self, table_id: str = TABLE, config: TableConfig = STUD) -> "ScriptedTable":
        return ScriptedTable(self.store, table_id, config)

    def wallet_books(self, player_id: str, balance: int) -> None:
        self.store.put(keys.balances(), Hash)[player_id] = encode_balance(Balance(balance, 1))

    def deposits(self) -> list[Any]:
        found = self.store.find(keys.cashier(), Stream)
        return [decode_cashier(data).command for data in found.data] if found else []

    def commands(self, shard: str = "s00") -> list[PlayerCommanded]:
        """What gateways sent to the tables of a shard so far."""
        found = self.store.find(keys.commands(shard), Stream)
        decoded = [decode_command(data) for data in found.data] if found else []
        return [command for command in decoded if isinstance(command, PlayerCommanded)]

    def heartbeats(self, shard: str = "s00") -> int:
        found = self.store.find(keys.commands(shard), Stream)
        return sum(isinstance(decode_command(data), GatewayAlive) for data in found.data) if found else 0

    async def commanded(self, count: int = 1, shard: str = "s00") -> PlayerCommanded:
        """The ``count``-th command, once it is there."""
        await until(lambda: len(self.commands(shard)) >= count)
        return self.commands(shard)[count - 1]

    async def sees(self, table: "ScriptedTable") -> None:
        """Until the gateway has read all of the table."""
        lobby = self.room.shards[table.shard].feed.lobby
        await until(lambda: (row := lobby.find(table.table_id)) is not None and row.version == table.version)

    # --- clients -----------------------------------------------------------------------------------------------

    def token(self, name: str, role: str = "player") -> str:
        """Of somebody who needs no account: ``p-<name>``."""
        return self.issuer.token_for(Player(f"p-{name}", name, role, 0))  # type: ignore[arg-type]

    def http(self, name: str = "", role: str = "player") -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {self.token(name, role)}"} if name else {}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, trust_env=False)

    def socket(
        self, name: str, table_id: str = TABLE, role: str = "player", query: str = "", **options: Any
    ) -> connect:
        headers = {"Authorization": f"Bearer {self.token(name, role)}"} if name else {}
        address = f"ws://{self.host}/api/tables/{table_id}/socket{query}"
        given = {"compression": None, "proxy": None, "additional_headers": headers, **options}
        return connect(address, **given)


class ScriptedTable:
    """A table whose log the test writes. Every entry goes to the log and the feed, as the table service has it."""

    def __init__(self, store: MemoryStore, table_id: str, config: TableConfig) -> None:
        self.store = store
        self.table_id = table_id
        self.shard = keys.shard_of(table_id)
        self.version = 0
        self.epoch = 1
        self.entries: list[TableCommitted] = []
        store.put(keys.tables(self.shard), Hash)[table_id] = encode(config)
        self.commit(facts.TableOpened(table_id, config, "p-operator"))

    def commit(self, *events: facts.TableEvent, command: PlayerCommanded | None = None, feed: bool = True) -> int:
        self.version += 1
        entry = TableCommitted(
            self.table_id,
            self.epoch,
            self.version,
            self.store.clock(),
            events,
            player_id=command.player_id if command else "",
            command_id=command.command_id if command else "",
        )
        self.entries.append(entry)
        self.store.append(keys.table_log(self.table_id), encode(entry), f"{self.version}-0")
        if feed:
            self.store.append(keys.feed(self.shard), encode(entry))
        return self.version

    def refuse(self, command: PlayerCommanded, code: str = "not_your_turn") -> None:
        refusal = CommandRefused(self.table_id, command.player_id, command.command_id, code, "It is not your turn.")
        self.store.append(keys.feed(self.shard), encode(refusal))

    def repeat(self, command: PlayerCommanded, version: int) -> None:
        repeated = CommandRepeated(self.table_id, command.player_id, command.command_id, version)
        self.store.append(keys.feed(self.shard), encode(repeated))

    def seat(self, *names: str) -> None:
        for number, name in enumerate(names, start=1):
            self.commit(
                facts.SeatReserved(number, f"p-{name}", name, 4000, f"t{number}", "wait"),
                facts.PlayerSeated(number, f"t{number}"),
            )

    def start_hand(self, *names: str, hand_id: str = "h1") -> None:
        players = tuple(facts.HandSeat(number, f"p-{name}", name, 4000) for number, name in enumerate(names, start=1))
        self.commit(facts.HandStarted(hand_id, 1, 52, players))

    def hold(self, seat: int, name: str, cards: tuple[int, ...], hand_id: str = "h1") -> None:
        """What the dealer puts into the hash of hole cards."""
        hole = HoleCards(hand_id, seat, f"p-{name}", cards, tuple(False for _ in cards))
        self.store.put(keys.hole(self.table_id), Hash)[str(seat)] = hole_box(self.table_id, hole)

    def deal(self, *seats: int, hand_id: str = "h1", down: int = 2) -> int:
        cards = tuple(facts.SeatCards(seat, down) for seat in seats)
        return self.commit(facts.CardsDealt("r1", hand_id, "third", cards))

    def lose_tail(self, entries: int) -> None:
        """As a fail-over may: the log ends earlier."""
        log = self.store.find(keys.table_log(self.table_id), Stream)
        assert log is not None
        del log.ids[-entries:], log.data[-entries:]
        log.last = log.ids[-1]
        self.version -= entries


@contextlib.asynccontextmanager
async def gateway_room(
    folder: Path,
    store: MemoryStore | None = None,
    logs: dict[str, Log] | None = None,
    open_hole_cards: Open | None = None,
    uses: Uses | None = None,
    **settings: Any,
) -> AsyncIterator[GatewayRoom]:
    given = GatewaySettings(**{"shards": 1, "data": folder, **settings})
    await database(folder)
    accounts = AccountStore(given.database_url, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    try:
        async with GatewayRoom(store or MemoryStore(), accounts, Keys(), given, logs, open_hole_cards, uses) as room:
            yield room
            await room.room.histories.close()
            await room.room.dead_letters.close()
    finally:
        await accounts.close()


_migrated: list[bytes] = []


async def database(folder: Path) -> None:
    """An empty database of today's schema; migrating takes half a second, a copy does not."""
    file = folder / "brelan.db"
    if not _migrated:
        await migrate(f"sqlite+aiosqlite:///{file}")
        _migrated.append(file.read_bytes())
    file.write_bytes(_migrated[0])


async def until(true: Any, seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - nobody would set an event
            await asyncio.sleep(0.005)


async def receive(socket: ClientConnection, seconds: float = 5.0) -> Any:
    """The next message, decoded as clients do; pongs and notices included."""
    async with asyncio.timeout(seconds):
        return views.decode_room(await socket.recv())


async def send(socket: ClientConnection, command: views.SocketCommand, command_id: str = "c1") -> None:
    await socket.send(views.encode(views.CommandMessage(command_id, command)))
