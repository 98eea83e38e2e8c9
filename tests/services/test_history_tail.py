"""History after the end of the event log was lost: what it keeps is what the log says, once (ADR 0008)."""

import itertools
from collections.abc import AsyncIterator, Callable
from functools import partial

import msgspec
import pytest

from brelan.eventlog import keys
from brelan.eventlog.memory_log import Hash, MemoryStore, Stream
from brelan.events import table
from brelan.events.envelope import TailLost, decode_command, encode
from brelan.histories.archive import Archive, MemoryArchive, Shelves
from brelan.sql.archive import SqlArchive
from tests.histories.hands import STUD, TABLE, Log, hand_id, players, stud_hand
from tests.services.history_room import Tables, run_history

HAND = len(stud_hand())  # entries


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def archive_url(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "memory" else str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def archives(archive_url: str) -> AsyncIterator[Callable[[], Archive]]:
    """The same archive, opened again and again."""
    shelves = Shelves()
    made: list[Archive] = []
    url = archive_url

    def new() -> Archive:
        made.append(SqlArchive(url) if url else MemoryArchive(shelves))
        return made[-1]

    yield new
    for archive in made:
        await archive.close()


def a_store() -> MemoryStore:
    """Its clock moves on, as it does until a replica has become the master."""
    return MemoryStore(partial(next, itertools.count(1_700_000_000_000)))


def lose(store: MemoryStore, stream: str, after: int) -> None:
    """Only the first ``after`` entries survive."""
    found = store.find(stream, Stream)
    assert found is not None
    del found.ids[after:], found.data[after:]
    found.last = found.ids[-1] if found.ids else (0, 0)


def lose_table(store: MemoryStore, version: int) -> None:
    """The log up to this version survives; the feed has a refusal after each entry."""
    lose(store, keys.table_log(TABLE), version)
    lose(store, keys.feed("s00"), 2 * version)


def again(log: Log, version: int, *scripts: tuple[table.TableEvent, ...]) -> Log:
    """What happens instead, from this version on, in the second epoch."""
    other = Log()
    other.entries = log.entries[:version]
    for events in scripts:
        other.add(*events)
    other.entries = [
        entry if entry.version <= version else msgspec.structs.replace(entry, epoch=2) for entry in other.entries
    ]
    return other


def reports(store: MemoryStore) -> list[TailLost]:
    found = store.find(keys.commands("s00"), Stream)
    return [one for data in (found.data if found else []) if isinstance(one := decode_command(data), TailLost)]


BACK = tuple(table.PotShare(seat, 4000) for seat in (2, 4, 5))


def voided(number: int = 1) -> tuple[table.TableEvent, ...]:
    return (table.OutageEnded(1, 2), table.HandVoided(hand_id(number), "Part of it was lost.", BACK))


async def test_a_hand_that_was_kept_and_is_called_off_instead_is_kept_as_called_off(
    archives: Callable[[], Archive],
) -> None:
    store = a_store()
    tables, log = Tables(store), Log()
    log.play(stud_hand())
    await tables.commit(log, 1, 1 + HAND)
    await run_history(store, archives())
    lose_table(store, HAND - 3)
    other = again(log, HAND - 3, voided())
    await tables.commit(other, HAND - 2, HAND - 2)
    await run_history(store, archives())
    kept = await archives().history(hand_id(1))
    assert kept is not None
    assert kept.voided
    assert [player.finishing_stack for player in kept.players] == [4000, 4000, 4000]
    entries = await archives().kept_from(TABLE, 1)
    assert [(entry.version, entry.data) for _, entry in entries] == [
        (version, data) for version, data in enumerate(other.data, start=1) if version >= entries[0][1].version
    ]
    (report,) = reports(store)
    assert (report.reader, report.epoch) == ("history", 1)


async def test_a_hand_that_was_lost_whole_is_no_hand_any_more(archives: Callable[[], Archive]) -> None:
    store = a_store()
    store.put(keys.tables("s00"), Hash)[TABLE] = encode(STUD)
    tables, log = Tables(store), Log()
    log.play(stud_hand())
    log.play(stud_hand(2))
    await tables.commit(log, 1, 1 + 2 * HAND)
    await run_history(store, archives())
    lose_table(store, 1 + HAND)
    instead = f"{TABLE}:2:2"
    started = (table.HandStarted(instead, 2, 52, players(2, 4)),)
    ended = (table.HandVoided(instead, "An operator voided the hand.", BACK[:2]),)
    other = again(log, 1 + HAND, started, ended)
    await tables.commit(other, 2 + HAND, 3 + HAND)
    await run_history(store, archives())
    archive = archives()
    first = await archive.history(hand_id(1))
    assert first is not None
    assert not first.voided
    assert await archive.history(hand_id(2)) is None
    assert (await archive.history(instead)) is not None


async def test_a_hand_in_play_goes_on_in_the_new_epoch_when_nothing_of_it_was_lost(
    archives: Callable[[], Archive],
) -> None:
    store = a_store()
    tables, log = Tables(store), Log()
    script = stud_hand()
    log.play(script)
    await tables.commit(log, 1, 5)
    await run_history(store, archives())
    other = again(log, 5, *(tuple(events) for events in script[4:]))
    await tables.commit(other, 6, 1 + HAND)
    await run_history(store, archives())
    kept = await archives().history(hand_id(1))
    assert kept is not None
    assert not kept.voided
    assert not reports(store)
    mark = await archives().mark(TABLE)
    assert mark is not None
    assert (mark.epoch, mark.version) == (2, 1 + HAND)


async def test_a_worker_that_lives_through_it_folds_what_the_log_says(archives: Callable[[], Archive]) -> None:
    store = a_store()
    tables, log = Tables(store), Log()
    log.play(stud_hand())
    await tables.commit(log, 1, HAND - 2)
    worker = await run_history(store, archives())
    lose_table(store, HAND - 6)
    other = again(log, HAND - 6, voided())
    await tables.commit(other, HAND - 5, HAND - 5)
    while await worker.serve(block_ms=0):
        pass
    kept = await archives().history(hand_id(1))
    assert kept is not None
    assert kept.voided


async def test_the_same_loss_read_twice_changes_nothing_more(archives: Callable[[], Archive]) -> None:
    store = a_store()
    tables, log = Tables(store), Log()
    log.play(stud_hand())
    await tables.commit(log, 1, 1 + HAND)
    await run_history(store, archives())
    lose_table(store, HAND - 3)
    other = again(log, HAND - 3, voided())
    await tables.commit(other, HAND - 2, HAND - 2)
    await run_history(store, archives())
    before = await archives().kept_from(TABLE, 1)
    await run_history(store, archives())
    assert await archives().kept_from(TABLE, 1) == before
    assert len(reports(store)) == 1
