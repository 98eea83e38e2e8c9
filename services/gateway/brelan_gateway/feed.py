"""What one shard's feed brings, to the sockets of its tables: entries in order, own cards beside them, then answers.

One task reads. A batch is folded into the tables that somebody watches, the hole cards it needs are fetched at once,
then everything is delivered in the order of the feed. A watcher joins between two deliveries: what he gets first is the
table as folded so far, so he misses nothing and gets nothing twice.
"""

import asyncio
from collections.abc import Iterable, Sequence

import msgspec
import structlog

from brelan.eventlog import keys
from brelan.eventlog.log import BEGINNING, Batch, Entry, Log, LogUnavailable
from brelan.eventlog.plan import parse_id
from brelan.eventlog.readers import LIVE_MS
from brelan.eventlog.tables import load_table
from brelan.eventlog.tail import Tail, Taken, look_back, newest, taken
from brelan.events import table as facts
from brelan.events.envelope import (
    CommandRefused,
    CommandRepeated,
    TableCommitted,
    TailLost,
    decode_committed,
    decode_feed,
)
from brelan.rules.table import apply_entry
from brelan.telemetry import metrics
from brelan.views import messages
from brelan.views.entries import EntryView, entry_view, owners_of, with_cards
from brelan.views.messages import Resumed, encode
from brelan.views.snapshot import DealtTo, dealt_to, holding, snapshot
from brelan_gateway import refusals
from brelan_gateway.clock import RoomClock
from brelan_gateway.hole_cards import Cards, HoleCardReader
from brelan_gateway.inbox import Answer, CommandKey, Inbox
from brelan_gateway.live import PAUSE_SECONDS, LiveTable, Watcher, patiently
from brelan_gateway.lobby import Lobby

BATCH = 256
BLOCK_MS = 500
LOADING = 64  # tables read at once when the lobby is filled
RESUME_LIMIT = 256  # missed entries that are sent again; beyond it a snapshot is cheaper
CATCH_UP_SECONDS = 2.0  # how long a client that is ahead of this gateway waits for it
CATCH_UP_STEP_SECONDS = 0.02

logger = structlog.get_logger(__name__)


class Since(msgspec.Struct, frozen=True):
    version: int
    epoch: int


class Broadcast:
    """One entry on its way to a table's watchers."""

    __slots__ = ("arrived", "dealt", "table", "view")

    def __init__(self, table: LiveTable, view: EntryView, dealt: list[DealtTo], arrived: float) -> None:
        self.table = table
        self.view = view
        self.dealt = dealt
        self.arrived = arrived


class Restart(msgspec.Struct, frozen=True):
    """A table that begins anew for its watchers: another epoch."""

    table: LiveTable


class Answered(msgspec.Struct, frozen=True):
    key: CommandKey
    answer: Answer


Delivery = Broadcast | Restart | Answered


class ShardFeed:
    def __init__(self, log: Log, inbox: Inbox, hole_cards: HoleCardReader) -> None:
        self.clock = RoomClock()
        self.lobby = Lobby()
        self._log = log
        self._inbox = inbox
        self._hole_cards = hole_cards
        self._stream = keys.feed(log.shard)
        self._cursor = BEGINNING
        self._last: Taken | None = None  # the newest entry taken
        self._epoch = 0  # the highest seen
        self._interrupted = False  # since the last look at the end of the feed
        self._read_ms = 0  # when it was last read, by the log's clock
        self._tables: dict[str, LiveTable] = {}
        self._lag = metrics.inbox_lag_seconds.labels("gateway")
        self._waiting_entries = metrics.inbox_waiting_entries.labels("gateway")
        self.begun = False  # the lobby is filled
        self.trouble = "starting"  # why this shard cannot be served; "" when it can

    # --- reading -----------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                if self._interrupted:
                    await self._look_back()
                if not self.begun:
                    await self._begin()
                    self.trouble = ""
                await self._read()
                self.trouble = ""
            except LogUnavailable as error:
                self._interrupted = True
                metrics.store_errors.labels("gateway").inc()
                if (trouble := str(error) or repr(error)) != self.trouble:  # a line, not one for each of many tries
                    logger.warning("feed unavailable", shard=self._log.shard, reason=trouble)
                self.trouble = trouble
                await asyncio.sleep(PAUSE_SECONDS)

    async def _begin(self) -> None:
        """The lobby, as of a moment not before the cursor."""
        cursor, last = await self._log.last_id(self._stream), await newest(self._log, self._stream)
        self._read_ms = await self._log.now_ms()
        self.clock.set(self._read_ms)
        gate = asyncio.Semaphore(LOADING)

        async def load(table_id: str) -> None:
            async with gate:
                await self._put_in_lobby(table_id)

        table_ids = await self._log.hash_all(keys.tables(self._log.shard))
        await asyncio.gather(*map(load, table_ids))
        await self._begin_watched()
        self._cursor, self._last = cursor, last
        self.begun = True

    async def _look_back(self) -> None:
        """Is the end of what was read still there? If it is not, whoever decides has to know that it was seen."""
        if self._last is not None and (found := await look_back(self._log, self._last)) is not Tail.THERE:
            if found is Tail.LOST:
                lost = self._last
                logger.error("the end of the feed was lost", shard=self._log.shard, id=lost.id, epoch=self._epoch)
                self._inbox.report(TailLost(f"gateway/{self._inbox.gateway}", self._epoch, lost.stream, lost.id))
            self.begun = False
        self._interrupted = False

    async def _begin_watched(self) -> None:
        """Tables that are watched while the feed begins anew. One that is further than the log is now stays as it is
        until its first entry of a higher epoch: nobody is shown an older table in the same one."""
        for table in [table for table in self._tables.values() if table.loaded]:
            state = await load_table(self._log, table.table_id)
            if (state.epoch, state.version) > (table.state.epoch, table.state.version):
                table.begin(state)
                await self._deliver([Restart(table)])

    async def _put_in_lobby(self, table_id: str) -> None:
        try:
            state = await load_table(self._log, table_id)
            self._epoch = max(self._epoch, state.epoch)
            self.lobby.put(state)
        except LogUnavailable:
            raise
        except Exception:  # a table that cannot be read must not close the room
            metrics.dead_letters.labels("gateway").inc()
            logger.exception("table cannot be read", table=table_id)

    async def _read(self) -> None:
        batch = await self._log.read_durable({self._stream: self._cursor}, BATCH, BLOCK_MS)
        self.clock.set(batch.now_ms)
        self._waiting_entries.set(len(batch.entries))
        self._lag.set(max(0, batch.now_ms - batch.entries[0].at_ms) / 1000 if batch.entries else 0)
        if self._was_away(batch):
            logger.warning("this gateway was away: it begins anew", shard=self._log.shard)
            self.begun, self._interrupted = False, True
            return
        if batch.entries:
            await self._take(batch.entries)
            self._last = taken(batch.entries[-1])
            self._cursor = self._last.id

    def _was_away(self, batch: Batch) -> bool:
        """Stopped, or far behind: between what was taken last and what was found now there may have been more."""
        before_ms, self._read_ms = self._read_ms, batch.now_ms
        oldest_ms = batch.entries[0].at_ms if batch.entries else batch.now_ms
        return batch.now_ms - min(before_ms, oldest_ms) > LIVE_MS

    async def _take(self, entries: Sequence[Entry]) -> None:
        deliveries: list[Delivery] = []
        for entry in entries:
            try:
                message = decode_feed(entry.data)
            except Exception as error:  # noqa: BLE001 - no bytes may stop the feed, nested too deep or no text inside
                metrics.dead_letters.labels("gateway").inc()
                logger.error("entry of the feed cannot be read", shard=self._log.shard, id=entry.id, reason=repr(error))
                continue
            match message:
                case TableCommitted():
                    self._epoch = max(self._epoch, message.epoch)
                    deliveries += await self._committed(message)
                case CommandRefused():
                    key = (message.table_id, message.player_id, message.command_id)
                    deliveries.append(Answered(key, Answer(0, message.code, message.message)))
                case CommandRepeated():
                    key = (message.table_id, message.player_id, message.command_id)
                    deliveries.append(Answered(key, Answer(message.version, message.code, message.message)))
        await self._deliver(deliveries)

    # --- folding -----------------------------------------------------------------------------------------------

    async def _committed(self, entry: TableCommitted) -> list[Delivery]:
        if not self.lobby.take(entry):
            await patiently(lambda: self._put_in_lobby(entry.table_id))
        key = (entry.table_id, entry.player_id, entry.command_id)
        arrived = self._inbox.arrived(key) if entry.command_id else None
        deliveries: list[Delivery] = []
        table = self._tables.get(entry.table_id)
        if table is not None:
            try:
                deliveries += await self._fold(table, entry, arrived or 0.0)
            except Exception:  # a table that cannot be shown must not stop the others
                metrics.dead_letters.labels("gateway").inc()
                logger.exception("table cannot be shown", table=entry.table_id, version=entry.version)
                self._give_up(table)
        if arrived is not None:
            deliveries.append(Answered(key, Answer(entry.version)))
        return deliveries

    async def _fold(self, table: LiveTable, entry: TableCommitted, arrived: float) -> list[Delivery]:
        if not table.loaded:
            table.backlog.append(entry)
            return []
        state = table.state
        if entry.epoch > state.epoch:
            return await self._restarted(table, entry)
        if entry.epoch < state.epoch or entry.version <= state.version:
            return []
        if entry.version == state.version + 1:
            return [self._folded(table, entry, arrived)]
        log, last = keys.table_log(table.table_id), f"{state.version}-0"
        missed = await patiently(lambda: self._log.range(log, after=last))
        if not missed or missed[0].at_ms != state.version + 1:  # trimmed meanwhile
            return await self._restarted(table, entry)
        return [self._folded(table, decode_committed(each.data), 0.0) for each in missed]

    async def _restarted(self, table: LiveTable, entry: TableCommitted) -> list[Delivery]:
        """Shown anew, as of this entry; not when that is lost since it was read: nobody is shown an older table."""
        state = await patiently(lambda: load_table(self._log, table.table_id, entry.version))
        if (state.epoch, state.version) < (entry.epoch, entry.version):
            return []
        table.begin(state)
        return [Restart(table)]

    def _folded(self, table: LiveTable, entry: TableCommitted, arrived: float) -> Broadcast:
        view = entry_view(entry, owners_of(table.state))
        apply_entry(table.state, entry)
        players = _players_dealt_to(table, entry)
        dealt = [each for player_id in players if (each := dealt_to(table.state, player_id)) is not None]
        return Broadcast(table, view, dealt, arrived)

    def _give_up(self, table: LiveTable) -> None:
        self._tables.pop(table.table_id, None)
        for watcher in tuple(table.watchers):
            watcher.close(messages.CLOSE_BROKEN, "This table cannot be shown just now.")

    # --- delivering --------------------------------------------------------------------------------------------

    async def _deliver(self, deliveries: Sequence[Delivery]) -> None:
        cards = await self._cards_for(deliveries)
        for delivery in deliveries:
            match delivery:
                case Broadcast():
                    _broadcast(delivery, cards)
                case Restart(table=table):
                    for watcher in tuple(table.watchers):
                        for message in await self._first_messages(table, watcher, None):
                            watcher.push(message)
                case Answered(key=key, answer=answer):
                    self._inbox.answered(key, answer)

    async def _cards_for(self, deliveries: Iterable[Delivery]) -> dict[DealtTo, Cards]:
        """Of several deals to one seat in a batch only the last is fetched: what lies in the hash is of then."""
        wanted: dict[str, dict[int, DealtTo]] = {}
        for delivery in deliveries:
            if isinstance(delivery, Broadcast) and delivery.dealt:
                seats = wanted.setdefault(delivery.table.table_id, {})
                for dealt in delivery.dealt:
                    seats.pop(dealt.seat, None)
                    seats[dealt.seat] = dealt
        reads = [self._hole_cards.read(table_id, seats.values()) for table_id, seats in wanted.items()]
        found: dict[DealtTo, Cards] = {}
        for cards in await asyncio.gather(*reads):
            found.update(cards)
        return found

    # --- watchers ----------------------------------------------------------------------------------------------

    async def join(self, table_id: str, watcher: Watcher, since: Since | None) -> list[str]:
        """The watcher's first messages; from their version on he is pushed every entry. ``leave`` him whatever happens.

        Raises Refusal (no such table, or this gateway is far behind him) and LogUnavailable.
        """
        if self.lobby.find(table_id) is None:
            raise refusals.unknown_table(table_id)
        table = self._tables.get(table_id)
        if table is None:
            table = self._tables[table_id] = LiveTable(table_id)
        table.joining += 1
        try:
            await self._load(table)
            if table.state.config is None:  # it was opened, and a fail-over has undone it
                raise refusals.unknown_table(table_id)
            await self._catch_up(table, since)
            return await self._first_messages(table, watcher, since)
        finally:
            table.joining -= 1
            self._forget_unwatched(table)

    def leave(self, table_id: str, watcher: Watcher) -> None:
        if (table := self._tables.get(table_id)) is not None:
            table.watchers.discard(watcher)
            self._forget_unwatched(table)

    def _forget_unwatched(self, table: LiveTable) -> None:
        if not table.in_use:
            self._tables.pop(table.table_id, None)

    async def _load(self, table: LiveTable) -> None:
        if table.loaded:
            return
        state = await load_table(self._log, table.table_id)
        read_at = await self._log.last_id(self._stream)
        if not table.loaded:  # another watcher may have come first
            table.begin(state)
            table.read_at = read_at

    async def _catch_up(self, table: LiveTable, since: Since | None) -> None:
        """The table was read further than the feed was, or he has seen more elsewhere than this gateway has: wait for
        the feed. Nobody is shown what may yet be lost (it has not passed the durable mark), nor an older table."""
        steps = int(CATCH_UP_SECONDS / CATCH_UP_STEP_SECONDS)
        for _ in range(steps):
            if parse_id(self._cursor) >= parse_id(table.read_at) and not _ahead(since, table):
                return
            await asyncio.sleep(CATCH_UP_STEP_SECONDS)
        if not await self._was_lost(since, table):
            raise refusals.busy()

    async def _was_lost(self, since: Since | None, table: LiveTable) -> bool:
        """He has seen an epoch that is not in the log, to its very end: a fail-over or a backup has undone it."""
        if since is None or since.epoch <= table.state.epoch:
            return False
        return self._cursor == await self._log.last_id(self._stream)

    async def _first_messages(self, table: LiveTable, watcher: Watcher, since: Since | None) -> list[str]:
        # In one go, so that no entry falls between: what he sees, and from where he is pushed.
        state, version = table.state, table.state.version
        now_ms = self.clock.now_ms()
        you = table.you(watcher)
        shot = snapshot(state, you, now_ms, None)
        dealt = dealt_to(state, watcher.player_id)
        owners = owners_of(state)
        watcher.version = version
        table.watchers.add(watcher)
        # The rest may take its time.
        found = await self._hole_cards.read(table.table_id, [dealt] if dealt else [])
        cards = found.get(dealt) if dealt else None
        if since is not None and since.epoch == shot.epoch:
            missed = await self._missed(table.table_id, since.version, version)
            if missed is not None:
                resumed = encode(Resumed(version=since.version, epoch=shot.epoch, now=now_ms, you=you))
                return [resumed, *_missed_messages(missed, owners, watcher.player_id, cards)]
        return [encode(holding(shot, cards))]

    async def _missed(self, table_id: str, after: int, until: int) -> list[TableCommitted] | None:
        """The entries in between. None: too many, or trimmed, or seats changed hands (whose was it to know?)."""
        if after < 0 or not 0 <= until - after <= RESUME_LIMIT:
            return None
        if after == until:
            return []
        log = keys.table_log(table_id)
        entries = await self._log.range(log, after=f"{after}-0", count=until - after)
        missed = [decode_committed(entry.data) for entry in entries]
        if [entry.version for entry in missed] != list(range(after + 1, until + 1)):
            return None
        return None if any(isinstance(event, _SEAT_CHANGES) for entry in missed for event in entry.events) else missed


def _ahead(since: Since | None, table: LiveTable) -> bool:
    return since is not None and (since.epoch, since.version) > (table.state.epoch, table.state.version)


_SEAT_CHANGES = (facts.SeatReserved, facts.SeatReleased, facts.PlayerLeft)
_NEW_CARDS = (facts.CardsDealt, facts.CardsDrawn, facts.CardsResealed)


def _players_dealt_to(table: LiveTable, entry: TableCommitted) -> list[str]:
    """Who of this table's watchers got cards in this entry."""
    seats: set[int] = set()
    for event in entry.events:
        match event:
            case facts.CardsDealt():
                seats.update(each.seat for each in event.cards)
            case facts.CardsDrawn() | facts.CardsResealed():
                seats.add(event.seat)
            case _:
                pass
    if not seats or table.state.hand is None:
        return []
    players = [player.player_id for player in table.state.hand.players if player.seat in seats]
    return [player_id for player_id in players if table.watched_by(player_id)]


def _broadcast(delivery: Broadcast, cards: dict[DealtTo, Cards]) -> None:
    own = {dealt.player_id: cards[dealt] for dealt in delivery.dealt if dealt in cards}
    view = delivery.view
    for watcher in delivery.table.watchers:
        if watcher.version >= view.version:
            continue
        message = view.message_for(watcher.player_id)
        if (mine := own.get(watcher.player_id)) is not None:
            message = with_cards(message, mine)
        watcher.version = view.version
        watcher.push(message, delivery.arrived)


def _missed_messages(
    missed: Sequence[TableCommitted], owners: dict[int, str], player_id: str, cards: Cards | None
) -> list[str]:
    texts = [entry_view(entry, owners).message_for(player_id) for entry in missed]
    dealt = any(isinstance(event, _NEW_CARDS) for entry in missed for event in entry.events)
    if cards is not None and dealt:
        texts[-1] = with_cards(texts[-1], cards)
    return texts
