"""A world: one small room with its services, its players and everything that befalls it, out of one seed.

First it plays under faults until so many hands are over. Then it is healed: no more faults, everything alive; within a
bounded time every command has its answer, every hand ends, every table is closed and everybody paid.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

import msgspec
import structlog

from brelan.client.hole_keys import HoleKeys
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Commit, LogUnavailable
from brelan.eventlog.memory_log import Stream
from brelan.events import commands
from brelan.events.config import Game, Rake, RakeCap, TableConfig
from brelan.events.envelope import PlayerCommanded, encode
from brelan.events.money import CashierRequested, Deposit
from brelan.histories.archive import Shelves
from brelan.ledger.memory import Vault
from brelan.rules.state import TableState
from brelan.sim import defects
from brelan.sim.checkers import Auditor, WatchedTable
from brelan.sim.clock import VirtualLoop, run
from brelan.sim.deals import DealChecker
from brelan.sim.faults import Faults, Killed, Rates
from brelan.sim.gateway import Gateway, Sent
from brelan.sim.misfortune import Misfortune
from brelan.sim.players import CHARACTERS, Player
from brelan.sim.processes import Place, Process
from brelan.sim.services import Secrets, Services, Written, unhurried
from brelan.sim.store import Node, Servers
from brelan.views import messages as views
from brelan.views.messages import OwnCards
from brelan_gateway.inbox import Answer
from brelan_table.handlers import TableHandler

WALLET_SHARD = "wallet"
LONGEST_HAND_SECONDS = 600.0  # of the world's time, with all its faults
HEALING_SECONDS = 900.0
IMMORTAL = 10**9  # lives without progress: he is spared


class Setup(msgspec.Struct, frozen=True):
    """What a world is made of. Everything else follows from the seed."""

    seed: str
    hands: int
    faults: tuple[str, ...] = ()
    steps: int = 0  # so many calls of the event log, then it is over; 0: no limit
    defect: str = ""


class Found(msgspec.Struct, frozen=True):
    """A promise was broken: which, how, and at which step."""

    check: str
    what: str
    step: int
    hands: int


class Outcome(msgspec.Struct, frozen=True):
    """What came of a world. ``log_hash``: of all its streams and its ledger at the end."""

    setup: Setup
    hands: int
    steps: int
    seconds: float  # of its own time
    faults: dict[str, int]
    checks: dict[str, int]
    log_hash: str
    lost: int = 0
    found: Found | None = None


def play(setup: Setup) -> Outcome:
    """The same for the same setup, wherever and whenever."""
    loop = VirtualLoop()
    with quiet(), unhurried(), defects.applied(setup.defect):
        world = World(setup, loop)
        loop.set_exception_handler(world.stumbled)
        return run(world.live(), loop)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """The services' logs would tell of a thousand accidents."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.getLogger("asyncio").disabled = True
    try:
        yield
    finally:
        structlog.configure(**before)
        logging.getLogger("asyncio").disabled = False


class WatchedTableHandler(TableHandler):
    """The table service's own, and what it has in memory is looked at."""

    def __init__(self, shard: str, live: Callable[[str, TableState], None]) -> None:
        super().__init__(shard)
        self._live = live

    async def load(self, log: Any) -> None:
        await super().load(log)
        for table_id, loaded in self._tables.items():
            self._live(table_id, loaded.state)

    def committed(self) -> None:
        ended = [table_id for table_id, staged in self._staged.items() if staged.state.hand is None]
        super().committed()
        for table_id in ended:
            self._live(table_id, self._tables[table_id].state)


class World:
    def __init__(self, setup: Setup, loop: VirtualLoop) -> None:
        self.setup = setup
        self.loop = loop
        self.chance = chance = Random(setup.seed)  # noqa: S311 - nothing is secret here
        self.faults = Faults(setup.faults, chance, _rates(chance))
        self.shards = tuple(keys.shard_name(number) for number in range(chance.choice((1, 1, 2, 3))))
        replicas = chance.choice((0, 1)) if self.faults.enabled("tail_lost") else 0
        nodes = [Node(loop.now_ms, f"redis-{number}", replicas) for number in range(chance.choice((1, 2)))]
        for node in nodes:
            node.lag = chance.choice((2, 8, 24)) if self.faults.enabled("tail_lost") else 0
        self.servers = Servers(nodes, self.faults, self)
        self.steps = 0
        self.found: Found | None = None
        self.over = asyncio.Event()
        self.players: list[Player] = []
        self.operators: list[Player] = []
        self.gateways: list[Gateway] = []
        self._sessions = 0
        self._deposits = 0
        secrets = Secrets(chance)
        self._secrets = secrets
        self.dealer_key = secrets.dealer_key
        self.vault, self.shelves = Vault(), Shelves()
        self._secrets = secrets
        deals = DealChecker(self.shelves, secrets.open_secrets, secrets.dealer_key)
        self.auditor = Auditor(loop.now_ms, secrets.deck, secrets.held, self.vault, self.shelves, deals, self.fail)
        written = Written(self.vault, self.shelves, self.auditor.booked, self.auditor.archived)
        self.services = Services(self.servers, secrets, self.shards, chance.choice((1, 3, 16, 256)), written)
        self.services.table_handler = lambda shard: WatchedTableHandler(shard, self.auditor.live)
        self.places: dict[str, Place] = {}
        self._build()
        cashiers = Place("cashier", loop, _nothing, self._crashed)
        cashiers.barren = IMMORTAL
        self._cashier = Process(cashiers, 1)
        self._configs = _tables(self.shards, chance)

    # --- building ----------------------------------------------------------------------------------------------

    def _build(self) -> None:
        services = self.services
        for shard in self.shards:
            self._place(f"table-{shard}", partial(services.table, shard))
            self._place(f"dealer-{shard}", partial(services.dealer, shard))
            self._place(f"history-{shard}", partial(services.history, shard))
        self._place("wallet", services.wallet)
        self._place("timer", services.timer)
        for number in range(self.chance.choice((1, 2, 2, 3))):
            self._place(f"gateway-{number}", self._run_gateway, self._gateway_died)

    def _place(self, name: str, main: Callable[[Process], Any], died: Callable[[Process], None] | None = None) -> None:
        self.places[name] = Place(name, self.loop, main, self._crashed, died)

    async def _run_gateway(self, process: Process) -> None:
        gateway = Gateway(self.servers, self._secrets, self.shards, process)
        self.gateways.append(gateway)
        await gateway.run()

    def _gateway_died(self, process: Process) -> None:
        for gateway in [one for one in self.gateways if one.process is process]:
            self.gateways.remove(gateway)
            gateway.died()

    def _crashed(self, process: Process, error: Exception) -> None:
        self.fail("no service gives up", f"{process.name}: {type(error).__name__}: {error}")

    def stumbled(self, _loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """An exception that nobody took."""
        error = context.get("exception")
        if isinstance(error, Exception) and not isinstance(error, LogUnavailable):
            self.fail("no service gives up", f"{context.get('message')}: {type(error).__name__}: {error}")

    # --- for the servers (``store.Watching``) ------------------------------------------------------------------

    def step(self) -> None:
        if self.over.is_set():
            raise Killed
        self.steps += 1
        if self.setup.steps and self.steps >= self.setup.steps:
            self.over.set()

    def fenced(self, shard: str, service: Service) -> None:
        self.auditor.fenced(shard, service)

    def committed(self, shard: str, commit: Commit) -> None:
        if not self.over.is_set():
            self.auditor.committed(self.servers.node_of(shard), shard, commit)

    def appended(self, shard: str, stream: str, data: Sequence[bytes], ids: Sequence[str]) -> None:
        self.auditor.appended(shard, stream, data, ids)

    def replaced(self, node: Node) -> None:
        shards = (*self.shards, WALLET_SHARD)
        self.auditor.replaced(node, [shard for shard in shards if self.servers.node_of(shard) is node])
        for operator in self.operators:  # a table whose opening is lost is opened again
            if self.auditor.table(operator.table_id).state.status == "none":
                opening = commands.OpenTable(self._configs[operator.table_id])
                self.loop.create_task(self._command_directly(operator, opening)).add_done_callback(_looked_at)

    def fail(self, check: str, what: str) -> None:
        if self.found is None and not self.over.is_set():
            self.found = Found(check, what, self.steps, self.auditor.hands_ended)
            self.over.set()

    # --- for the players (``players.Room``) --------------------------------------------------------------------

    def gateway(self) -> Gateway | None:
        alive = [gateway for gateway in self.gateways if gateway.process.alive]
        return self.chance.choice(alive) if alive else None

    def session_number(self) -> int:
        self._sessions += 1
        return self._sessions

    def balance(self, player_id: str) -> int:
        found = self.vault.balances.get(f"player:{player_id}")
        return found.amount if found else 0

    def deposit(self, player_id: str, amount: int) -> None:
        self._deposits += 1
        deposit = Deposit(f"deposit-{self._deposits}", player_id, amount, "cashier")
        task = self.loop.create_task(self._append_deposit(encode(CashierRequested(deposit))))
        task.add_done_callback(_looked_at)

    async def _append_deposit(self, data: bytes) -> None:
        """Until the store says that it has it: the ledger takes it once."""
        log = self.servers.door(self._cashier).log(WALLET_SHARD)
        while True:
            try:
                await log.append(keys.cashier(), data)
            except LogUnavailable:
                await asyncio.sleep(0.2)
            else:
                return

    def saw(self, player: Player, message: views.Snapshot | views.Resumed | views.Events) -> None:
        model = player.model
        match message:
            case views.Events():
                self.auditor.showed(player.table_id, message.epoch, message.version)
                follows = message.version == model.version + 1 and message.epoch >= model.epoch
            case views.Resumed():
                follows = (message.epoch, message.version) == (model.epoch, model.version)
            case _:
                later = (message.epoch, message.version) >= (model.epoch, model.version)
                lost = message.epoch < model.epoch and self.auditor.table(player.table_id).disturbed
                follows = later or lost
        self.auditor.check(
            "a client misses nothing",
            follows,
            player.player_id,
            type(message).__name__,
            message.epoch,
            message.version,
            "after",
            model.epoch,
            model.version,
        )

    def saw_cards(self, player: Player, cards: OwnCards) -> None:
        self.auditor.saw_cards(player.player_id, cards)

    def has_keys(self, hole_keys: HoleKeys) -> None:
        self._secrets.players[hole_keys.hole_key] = hole_keys

    def answered(self, sent: Sent, answer: Answer) -> None:
        if not self.over.is_set():
            self.auditor.answered(sent, answer)

    def must_refuse(self, sent: Sent) -> None:
        self.auditor.must_refuse(sent)

    # --- living ------------------------------------------------------------------------------------------------

    async def live(self) -> Outcome:
        for place in self.places.values():
            place.start()
        playing = self.loop.create_task(self._play())
        over = self.loop.create_task(self.over.wait())
        await asyncio.wait((playing, over), return_when=asyncio.FIRST_COMPLETED)
        error = playing.exception() if playing.done() else None
        if error is not None and not isinstance(error, Killed):
            raise error
        return self._outcome()

    async def _play(self) -> None:
        await self._open_tables()
        misfortune = Misfortune(self.faults, self.loop, self)
        misfortune.begin()
        target = self.setup.hands
        while (before := self.auditor.hands_ended) < target:
            if not await self._until(partial(self._played_since, before), LONGEST_HAND_SECONDS):
                if not self.faults.on:
                    self.fail("every hand ends", f"none for {LONGEST_HAND_SECONDS:.0f} seconds: {self._standing()}")
                    return
                self._end_faults(misfortune)  # too much at once: what is left is played in peace
        self._end_faults(misfortune)
        await self._settle()

    def _end_faults(self, misfortune: Misfortune) -> None:
        """One process of each kind, and it works; every server too."""
        self.faults.on = False
        misfortune.end()
        for node in self.servers.nodes:
            node.away, node.acknowledging = False, True
        for place in self.places.values():
            place.heal()

    def _played_since(self, hands: int) -> bool:
        return self.auditor.hands_ended > hands

    def _all_open(self) -> bool:
        return all(self.auditor.table(one).state.status == "open" for one in self._configs)

    async def _open_tables(self) -> None:
        for table_id, config in self._configs.items():
            operator = Player(self, self.chance, f"operator-{table_id}", table_id, CHARACTERS[0])
            self.operators.append(operator)
            await self._command_directly(operator, commands.OpenTable(config))
        if not await self._until(self._all_open, 120):
            self.fail("every command is answered", "the tables do not open")
        for table_id, config in self._configs.items():
            for seat in range(max(2, config.seats + self.chance.choice((-1, 0, 0, 1)))):
                player_id = f"{table_id}-p{seat}"
                character = self.chance.choice(CHARACTERS)
                player = Player(self, self.chance, player_id, table_id, character)
                self.players.append(player)
                self.deposit(player_id, config.minimum_buy_in * 6)
                self.loop.call_later(self.chance.uniform(0, 3), player.come_in)

    async def _command_directly(self, operator: Player, command: commands.ClientCommand) -> None:
        """An operator's command, by REST: there is no socket."""
        self._deposits += 1
        data = encode(
            PlayerCommanded(
                operator.table_id, operator.player_id, "Operator", f"op-{self._deposits}", command, operator=True
            )
        )
        log = self.servers.door(self._cashier).log(keys.shard_of(operator.table_id))
        while True:
            try:
                await log.append(keys.commands(keys.shard_of(operator.table_id)), data)
            except LogUnavailable:
                await asyncio.sleep(0.2)
            else:
                return

    # --- healing -----------------------------------------------------------------------------------------------

    async def _settle(self) -> None:
        for player in self.players:
            player.patient, player.playing = False, False
        if not await self._until(lambda: not any(player.pending for player in self.players), 60):
            waiting = [sent for player in self.players for sent in player.pending.values()]
            self.fail("every command is answered", f"{waiting[:3]}")
            return
        for operator in self.operators:
            await self._command_directly(operator, commands.CloseTable())
        if not await self._until(self._settled, HEALING_SECONDS):
            self.fail("everything is settled in the end", self._standing())
            return
        self.auditor.finish()

    def _settled(self) -> bool:
        states = [self.auditor.table(table_id).state for table_id in self._configs]
        if not all(state.status == "closed" and not state.transfers for state in states):
            return False
        return not any(self._missing(table) for table in self.auditor.tables.values())

    def _missing(self, table: WatchedTable) -> list[str]:
        """Hands that the archive does not have, or not the record of their deal: that comes on a stream of its own."""
        kept, deals = self.shelves.histories, self.shelves.deals
        return sorted(hand for hand in table.hands if hand not in kept or (hand not in deals and not kept[hand].voided))

    def _standing(self) -> str:
        found = []
        for table_id in self._configs:
            state = self.auditor.table(table_id).state
            missing = self._missing(self.auditor.table(table_id))
            wait = state.turn or state.dealer_wait or state.next_hand_ms or state.post_ask
            found.append(
                f"{table_id} {state.status} at {state.version}, hand {state.hand and state.hand.hand_id}, waits for "
                f"{wait}, transfers {list(state.transfers)}, not in the history {missing[:3]}"
            )
        return "; ".join(found)

    async def _until(self, holds: Callable[[], bool], seconds: float) -> bool:
        end = self.loop.time() + seconds
        while not holds():
            if self.loop.time() > end:
                return False
            await asyncio.sleep(0.25)
        return True

    # --- the end -----------------------------------------------------------------------------------------------

    def _outcome(self) -> Outcome:
        return Outcome(
            setup=self.setup,
            hands=self.auditor.hands_ended,
            steps=self.steps,
            seconds=round(self.loop.time(), 3),
            faults=dict(sorted(self.faults.counts.items())),
            checks=dict(sorted(self.auditor.checks.items())),
            log_hash=self._hash(),
            lost=self.auditor.lost,
            found=self.found,
        )

    def _hash(self) -> str:
        digest = hashlib.sha256()
        for node in self.servers.nodes:
            for key, value in sorted(node.values.items()):
                digest.update(key.encode())
                parts: Iterable[bytes]
                match value:
                    case Stream():
                        parts = (f"{one}".encode() + data for one, data in zip(value.ids, value.data, strict=True))
                    case bytes():
                        parts = (value,)
                    case _:
                        parts = (f"{field}={found!r}".encode() for field, found in sorted(value.items()))
                for part in parts:
                    digest.update(part)
        digest.update(repr(sorted(self.vault.balances.items())).encode())
        digest.update(repr(sorted(self.shelves.histories)).encode())
        return digest.hexdigest()


def _rates(chance: Random) -> Rates:
    severity = chance.choice((0.3, 1.0, 1.0, 3.0))
    return Rates(
        commit=0.003 * severity,
        slow=0.001 * severity,
        command=0.02 * severity,
        sql=0.01 * severity,
        seconds_between=60.0 / severity,
    )


def _tables(shards: Sequence[str], chance: Random) -> dict[str, TableConfig]:
    """Configurations that differ in everything that may differ."""
    found = {}
    for number in range(chance.choice((1, 1, 2, 3))):
        shard = chance.choice(shards)
        game: Game = chance.choice(("stud", "draw"))
        lower = chance.choice((100, 200, 500))
        stud = game == "stud"
        found[f"{shard}-t{number}"] = TableConfig(
            name=f"Table {number}",
            game=game,
            lower_limit=lower,
            upper_limit=2 * lower,
            seats=chance.randint(2, 8 if stud else 5),
            minimum_buy_in=10 * lower * chance.choice((1, 2)),
            ante=lower // 5 if stud else 0,
            bring_in=lower // 2 if stud else 0,
            smallest_chip=chance.choice((1, lower // 10)),  # pots are shared with chips left over
            action_time_ms=chance.choice((4_000, 6_000, 10_000)),
            timeout_policy=chance.choice(("protect", "protect", "fold")),
            rake=_rake(chance),
            hand_pause_ms=chance.choice((0, 300, 2_000)),
        )
    return found


def _rake(chance: Random) -> Rake:
    return chance.choice((Rake(), Rake(500, (RakeCap(2, 100), RakeCap(4, 300))), Rake(333, (RakeCap(2, 1_000),))))


async def _nothing(_process: Process) -> None:
    """The cashier's place is filled by the world itself."""


def _looked_at(task: "asyncio.Task[None]") -> None:
    if not task.cancelled():
        task.exception()
