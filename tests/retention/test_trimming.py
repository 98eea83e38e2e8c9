"""Trimming takes what everybody has and nothing else: whoever stands still, for however long, finds all he has to read.

Most of it on the in-memory log, with a clock that is moved by hand; the old room on a real server in ``test_growth``.
"""

import random

import pytest
from structlog.testing import capture_logs

from brelan.audit.proof import prove
from brelan.deck.sealing import RecordOpener
from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Outcome
from brelan.eventlog.memory_log import Stream, String
from brelan.eventlog.plan import parse_id
from brelan.eventlog.readers import FEED_KEPT_MS, LATE_MS, cursors_of
from brelan.eventlog.tables import LogHole, decode_state, encode_state, load_table
from brelan.events import commands, table
from brelan.events.envelope import TableCommitted, decode_committed, decode_feed
from brelan.histories.archive import MemoryArchive, Shelves
from brelan_history.service import ShardHistory
from brelan_table.trimming import LEAST_KEPT, LOOK_MS, STEP
from brelan_wallet.service import ROOM
from tests.services.small_room import HISTORY_SECRET, SHARD, STUD, TABLE, SmallRoom, drain

HOUR_MS = 3_600_000
FEED = keys.feed(SHARD)
PLAYERS = ("ann", "bob")


class OldRoom(SmallRoom):
    """A small room with history, in which time passes while hands are played. Services can be ``away``."""

    def __init__(self) -> None:
        super().__init__()
        self.shelves = Shelves()
        self.away: set[Service] = set()
        self.ever: dict[str, dict[str, bytes]] = {}  # all that was ever on a stream, by id
        self._chance = random.Random(7)
        self.start_history()

    def start_history(self) -> None:
        archive = MemoryArchive(self.shelves)
        self.history = ShardHistory(self.store, archive, SHARD, RecordOpener([HISTORY_SECRET]))
        self._history_open = False

    async def settle(self) -> None:
        if not self._wallet_open:
            await self.wallet.open()
            self._wallet_open = True
        await self.gateway_alive()
        moved = 1
        while moved:
            moved = await drain(self.table)
            self._remember()  # before anybody can trim
            if Service.DEALER not in self.away:
                moved += await drain(self.dealer)
            if Service.WALLET not in self.away:
                moved += sum([await self.wallet.serve(inbox, block_ms=0) for inbox in (ROOM, SHARD)])
            self._remember()
        if Service.HISTORY not in self.away:
            if not self._history_open:
                await self.history.open()
                self._history_open = True
            while await self.history.serve(block_ms=0):
                pass
        for entry_id, data in self.ever[FEED].items():
            if parse_id(entry_id) > parse_id(self._feed_cursor):
                self._feed_cursor = entry_id
                self.feed.append(decode_feed(data))

    def _remember(self) -> None:
        for key, value in self.store.values.items():
            if isinstance(value, Stream) and key.startswith(keys.prefix(SHARD)):
                known = self.ever.setdefault(key, {})
                last = next(reversed(known)) if known else "0-0"
                known.update(value.after(last, None))

    async def play(self, hands: int) -> None:
        until = len(self.events(table.HandEnded)) + hands
        for player_id in PLAYERS:  # who was timed out sits out
            await self.command(player_id, commands.ComeBack(entry="post"))
        while len(self.events(table.HandEnded)) < until:
            await self.act(self._chance)
            await self.pass_time(200, step_ms=200)

    async def let_it_trim(self) -> None:
        await self.pass_time(FEED_KEPT_MS + 3 * LOOK_MS, step_ms=1_400)

    async def length(self, stream: str) -> int:
        return len(await self.log.range(stream))

    async def misses_nothing(self, service: Service, stream: str) -> None:
        """The entry at the reader's cursor is there, and all that came after it."""
        cursor = (await cursors_of(self.log, (service,)))[service].get(stream, "0-0")
        kept = {entry.id: entry.data for entry in await self.log.range(stream)}
        wanted = {name: data for name, data in self.ever[stream].items() if parse_id(name) >= parse_id(cursor)}
        assert wanted
        assert wanted.items() <= kept.items()


async def _playing() -> OldRoom:
    room = OldRoom()
    await room.open(STUD)
    for player_id in PLAYERS:
        await room.sit(player_id, 100_000)
    return room


async def test_what_everybody_has_is_forgotten_and_the_table_is_as_it_was() -> None:
    room = await _playing()
    await room.play(12)
    await room.let_it_trim()
    state = await room.state()
    assert LEAST_KEPT <= await room.length(keys.table_log(TABLE)) <= state.version - STEP
    for stream in (keys.commands(SHARD), keys.dealt(SHARD), keys.wallet_replies(SHARD), keys.records(SHARD), FEED):
        kept, ever = await room.length(stream), len(room.ever[stream])
        assert 1 <= kept <= max(1, ever // 3), (stream, kept, ever)
    room.start_table()
    room.start_dealer()
    await room.play(2)
    assert not room.shelves.dead
    assert len(room.shelves.histories) == len(room.events(table.HandEnded))


async def test_the_last_entries_of_a_log_stay_for_players_who_come_back() -> None:
    room = await _playing()
    await room.play(12)
    await room.let_it_trim()
    state = await room.state()
    kept = [entry.at_ms for entry in await room.log.range(keys.table_log(TABLE))]
    assert kept == list(range(kept[0], state.version + 1))
    assert len(kept) >= LEAST_KEPT


@pytest.mark.timeout(240)
@pytest.mark.parametrize("who", [Service.HISTORY, Service.WALLET])
async def test_who_is_away_for_an_hour_finds_all_he_has_to_read(who: Service) -> None:
    room = await _playing()
    await room.play(6)
    await room.let_it_trim()
    table_log = keys.table_log(TABLE)
    read = set(room.ever[table_log])
    room.away.add(who)
    await room.play(12)
    await room.pass_time(HOUR_MS, step_ms=30_000)
    if who is Service.HISTORY:
        await room.misses_nothing(who, FEED)
        await room.misses_nothing(who, keys.records(SHARD))
        unread = room.ever[table_log].keys() - read
        assert len(unread) > LEAST_KEPT + STEP  # some of it could go, had history read it
        assert unread <= {entry.id for entry in await room.log.range(table_log)}
    else:
        await room.misses_nothing(who, keys.wallet_requests(SHARD))
    room.away.clear()
    if who is Service.HISTORY:
        room.start_history()
    await room.play(6)
    await room.let_it_trim()
    over = [*room.events(table.HandEnded), *room.events(table.HandVoided)]
    assert set(room.shelves.histories) == {event.hand_id for event in over}  # type: ignore[attr-defined]
    assert not room.shelves.dead
    assert await room.length(FEED) <= len(room.ever[FEED]) // 3


async def test_a_dealer_away_for_an_hour_finds_all_he_has_to_read() -> None:
    room = await _playing()
    await room.play(6)
    await room.let_it_trim()
    room.away.add(Service.DEALER)
    await room.pass_time(HOUR_MS, step_ms=30_000)
    await room.misses_nothing(Service.DEALER, FEED)


async def test_a_reader_that_was_never_there_holds_everything_and_is_named() -> None:
    room = OldRoom()
    room.away.add(Service.HISTORY)
    await room.open(STUD)
    for player_id in PLAYERS:
        await room.sit(player_id, 100_000)
    await room.play(8)
    with capture_logs() as said:
        await room.pass_time(LATE_MS + 60_000, step_ms=5_000)
    for stream in (FEED, keys.records(SHARD), keys.table_log(TABLE)):
        assert await room.length(stream) == len(room.ever[stream])
    late = [line for line in said if line["event"].startswith("a stream cannot be trimmed")]
    assert {line["reader"] for line in late} == {"history"}
    assert {line["stream"] for line in late} == {FEED, keys.records(SHARD)}
    room.away.clear()
    await room.let_it_trim()
    assert len(room.shelves.histories) == len(room.events(table.HandEnded))
    assert await room.length(FEED) < len(room.ever[FEED])


async def test_an_owner_that_was_overtaken_trims_nothing() -> None:
    """It looked, and somebody else took over: its commit is fenced, whatever it wanted to forget."""
    room = await _playing()
    await room.play(8)
    old = room.table
    before = {stream: (await room.log.range(stream, count=1))[0].id for stream in room.ever}
    room.start_table()
    await drain(room.table)
    room.now_ms += LOOK_MS
    outcome = None
    for _ in range(20):
        outcome = outcome or (await old.step()).outcome
    assert outcome is Outcome.FENCED
    after = {stream: (await room.log.range(stream, count=1))[0].id for stream in before}
    inboxes = (keys.commands(SHARD), keys.dealt(SHARD), keys.wallet_replies(SHARD))  # the new owner may trim these
    assert {stream: after[stream] for stream in after if stream not in inboxes} == {
        stream: before[stream] for stream in before if stream not in inboxes
    }


async def test_the_whole_log_can_be_proved_from_the_archive() -> None:
    room = await _playing()
    await room.play(12)
    await room.let_it_trim()
    proof = await prove(room.log, TABLE, _Archive(room.shelves))
    assert (proof.begins_after, proof.problems) == (0, [])
    assert proof.archived + proof.entries >= proof.state.version
    assert proof.archived > 0
    assert proof.state == await room.state()
    without = await prove(room.log, TABLE)
    assert without.begins_after == without.snapshot_version
    assert without.problems == []
    assert without.state == proof.state


async def test_a_false_snapshot_of_a_trimmed_log_is_found() -> None:
    room = await _playing()
    await room.play(12)
    await room.let_it_trim()
    state = decode_state(await room.log.get(keys.snapshot(TABLE)) or b"")
    state.hands_played += 1
    room.store.values[keys.snapshot(TABLE)] = String(encode_state(state))
    proof = await prove(room.log, TABLE, _Archive(room.shelves))
    assert proof.problems == [f"the snapshot of version {state.version} is not what the log says"]


async def test_a_hole_in_the_archive_is_no_proof() -> None:
    room = await _playing()
    await room.play(12)
    await room.let_it_trim()
    hand_id = list(room.shelves.entries)[2]
    del room.shelves.entries[hand_id]
    proof = await prove(room.log, TABLE, _Archive(room.shelves))
    assert proof.begins_after == proof.snapshot_version
    assert proof.archived == 0


async def test_a_log_that_lost_its_middle_is_not_loaded() -> None:
    room = await _playing()
    await room.play(3)
    snapshot = decode_state(await room.log.get(keys.snapshot(TABLE)) or b"").version
    while (await room.state()).version < snapshot + 3:
        await room.act(random.Random(1))
        await room.pass_time(200)
    stream = room.store.values[keys.table_log(TABLE)]
    assert isinstance(stream, Stream)
    place = stream.ids.index((snapshot + 1, 0))
    del stream.ids[place], stream.data[place]
    with pytest.raises(LogHole):
        await load_table(room.log, TABLE)


class _Archive:
    """What the shelves hold, as SQL would give it."""

    def __init__(self, shelves: Shelves) -> None:
        self._entries = {
            entry.version: decode_committed(entry.data) for stored in shelves.entries.values() for entry in stored
        }

    async def page(self, table_id: str, after: int) -> list[TableCommitted]:
        assert table_id == TABLE
        return [self._entries[version] for version in sorted(self._entries) if version > after][:50]
