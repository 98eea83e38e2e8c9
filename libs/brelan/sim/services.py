"""The room's services as processes of a world: their own classes, with names, cards and keys from its chance."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from random import Random

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brelan.client.hole_keys import HoleKeys
from brelan.deck.keys import ed25519_public, x25519_public
from brelan.deck.sealing import DeckSeal, HoleCardOpener, RecordOpener, SecretsOpener, is_box
from brelan.eventlog import keys
from brelan.eventlog.log import Log, LogUnavailable
from brelan.eventlog.memory_log import SortedSet
from brelan.eventlog.processor import Handler, Processor
from brelan.events.envelope import decode_players_boxes
from brelan.histories.archive import Page as HistoryPage
from brelan.histories.archive import Shelves
from brelan.ledger.books import Page
from brelan.ledger.memory import Vault
from brelan.sim.databases import DoorArchive, DoorBooks
from brelan.sim.faults import Faults, Killed
from brelan.sim.processes import Process
from brelan.sim.store import Servers
from brelan.telemetry.health import Health
from brelan.views.messages import OwnCards, SealedCards
from brelan.views.projection import card_texts
from brelan_dealer.handlers import DealerHandler, DealerKeys
from brelan_history.service import ShardHistory
from brelan_table.handlers import TableHandler
from brelan_timer import sweeper
from brelan_timer.sweeper import BrokerUnavailable, Due, Sweeper
from brelan_timer.tasks import standing
from brelan_wallet.service import Wallet


class Written(msgspec.Struct, frozen=True):
    """What the databases hold, and who is told of every page."""

    vault: Vault
    shelves: Shelves
    books: Callable[[Page], None]
    archive: Callable[[HistoryPage], None]


class Secrets:
    """Keys of a world. Nothing else may come from the operating system's chance."""

    def __init__(self, chance: Random) -> None:
        gateway, history, dealer, signing, auditor = (chance.randbytes(32) for _ in range(5))
        self.chance = chance
        self.deck = DeckSeal(dealer, random_bytes=chance.randbytes)
        recipients = map(x25519_public, (gateway, history, auditor))
        self.dealer = DealerKeys(self.deck, Ed25519PrivateKey.from_private_bytes(signing), *recipients)
        self.dealer_key = ed25519_public(signing).hex()
        self.open_hole_cards = HoleCardOpener([gateway])
        self.players: dict[bytes, HoleKeys] = {}  # by their public key
        self.open_record = RecordOpener([history])
        self.open_secrets = SecretsOpener([auditor])

    def held(self, table_id: str, seat: int, sealed: bytes, hole_key: bytes) -> OwnCards | None:
        """What its owner finds there. None: it is not sealed to that key, or to another one too."""
        if is_box(sealed):
            hole = None if hole_key else self.open_hole_cards(table_id, seat, sealed)
            return None if hole is None else OwnCards(hole.hand_id, seat, card_texts(hole.cards), hole.up)
        found = decode_players_boxes(sealed)
        if hole_key not in self.players or any(self.open_hole_cards(table_id, seat, one.box) for one in found.boxes):
            return None
        views = (SealedCards(found.hand_id, seat, one.count, one.box.hex()) for one in found.boxes)
        return [self.players[hole_key].open(table_id, view) for view in views][-1]


class Services:
    """What each process runs. ``table_handler`` and the others may be others: with a defect, or watched."""

    def __init__(self, servers: Servers, secrets: Secrets, shards: Sequence[str], batch: int, written: Written) -> None:
        self.table_handler: Callable[[str], Handler] = TableHandler
        self.dealer_handler: Callable[[str], Handler] = lambda shard: DealerHandler(
            shard, secrets.dealer, secrets.chance.randbytes
        )
        self._servers = servers
        self._secrets = secrets
        self._shards = tuple(shards)
        self._batch = batch
        self._written = written

    @property
    def _faults(self) -> Faults:
        return self._servers.faults

    async def table(self, shard: str, process: Process) -> None:
        await self._process(process, shard, self.table_handler(shard))

    async def dealer(self, shard: str, process: Process) -> None:
        await self._process(process, shard, self.dealer_handler(shard))

    async def _process(self, process: Process, shard: str, handler: Handler) -> None:
        async def still_mine() -> bool:
            return process.is_owner

        log = self._servers.door(process).log(shard)
        await Processor(log, handler, name=process.name, batch=self._batch).run(process.stop, still_mine)

    async def wallet(self, process: Process) -> None:
        books = DoorBooks(self._written.vault, process, self._faults, self._written.books)
        wallet = Wallet(self._servers.door(process), books, self._shards, process.name)
        await wallet.run(process.stop, Health("wallet"))

    async def history(self, shard: str, process: Process) -> None:
        archive = DoorArchive(self._written.shelves, process, self._faults, self._written.archive)
        history = ShardHistory(
            self._servers.door(process), archive, shard, self._secrets.open_record, name=process.name
        )
        await history.run(process.stop, Health("history"))

    async def timer(self, process: Process) -> None:
        store = self._servers.door(process)
        celery = Celery(self._servers, process)
        sweepers = [Sweeper(store.log(shard), celery.hand_out) for shard in self._shards]
        await asyncio.gather(*(sweeper.run(process.stop) for sweeper in sweepers))


@contextlib.contextmanager
def unhurried() -> Iterator[None]:
    """Deadlines are looked at less often than in the room: most of a world's time nothing is due."""
    before = sweeper.LONGEST_WAIT_MS, sweeper.LOOK_AHEAD_MS
    sweeper.LONGEST_WAIT_MS, sweeper.LOOK_AHEAD_MS = 250, 260
    try:
        yield
    finally:
        sweeper.LONGEST_WAIT_MS, sweeper.LOOK_AHEAD_MS = before


class Celery:
    """A broker and a worker: carries out what the sweeper hands out, a little later, perhaps never, perhaps twice."""

    def __init__(self, servers: Servers, process: Process) -> None:
        self._servers = servers
        self._process = process

    async def hand_out(self, shard: str, due: Sequence[Due], _now_ms: int) -> None:
        faults = self._servers.faults
        await self._process.door()
        if faults.strikes("broker_lost", faults.rates.sql):
            if faults.chance.random() < 0.3:
                raise BrokerUnavailable("the broker does not answer")
            times, most_seconds = faults.chance.choice((0, 2)), 4.0
        else:
            times, most_seconds = 1, 0.02
        for _ in range(times):
            delay = faults.chance.uniform(0, most_seconds)
            asyncio.get_running_loop().call_later(delay, self._start, shard, tuple(due))

    def _start(self, shard: str, due: Sequence[Due]) -> None:
        task = asyncio.get_running_loop().create_task(self._carry_out(shard, due))
        _RUNNING.add(task)
        task.add_done_callback(_RUNNING.discard)

    async def _carry_out(self, shard: str, due: Sequence[Due]) -> None:
        """``brelan_timer.tasks.expire_turns``, less its Redis client."""
        log: Log = self._servers.door(self._process).log(shard)
        node = self._servers.node_of(shard)
        try:
            now_ms = await log.now_ms()
            deadlines = node.find(keys.deadlines(shard), SortedSet) or SortedSet()
            scores = [deadlines.get(table_id) for table_id, _ in due]
            if commands := standing(due, scores, now_ms):
                await log.append_many(keys.commands(shard), commands)
        except (LogUnavailable, Killed):
            return  # handed out again


_RUNNING: set["asyncio.Task[None]"] = set()  # the loop itself holds tasks only weakly
