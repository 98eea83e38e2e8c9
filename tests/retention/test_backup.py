"""A room is backed up while it is played in, lost, and made again from the backup."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from brelan.audit.proof import ArchivedEntries, prove
from brelan.backups import room as backups
from brelan.backups.database import held
from brelan.backups.event_log import EPOCHS_AHEAD, LEFT_OUT, WALLET, BackupError, shard_keys
from brelan.cli.running import RESTORING, announced
from brelan.eventlog import keys
from brelan.eventlog.keys import FAMILIES
from brelan.eventlog.server import EmbeddedServer, ServerError
from brelan.eventlog.tables import load_table
from brelan.events.envelope import decode_epoch
from brelan.settings import RoomSettings
from brelan.sql.engine import create_engine, reading, writing
from brelan.sql.schema import history_hands, ledger_writer
from tests.fixtures_redis import bundled_server
from tests.fixtures_sql import own_postgres
from tests.processes import clean_environment
from tests.requirements import need_program
from tests.retention.fast_room import FastRoom
from tests.services.small_room import SHARD

pytestmark = pytest.mark.redis


def test_every_kind_of_key_is_backed_up_or_left_out_on_purpose() -> None:
    """A family that is new in the catalogue is decided upon, not forgotten."""
    kept = [*shard_keys(SHARD, [f"{SHARD}-a"]), *shard_keys(WALLET, [])]
    families = {key.partition(":")[2].partition(":")[0] for key in kept}
    assert families | set(LEFT_OUT) == {family.name for family in FAMILIES}
    assert len(kept) == len(set(kept))


class Played:
    """A room in a folder whose services run in this process."""

    def __init__(self, data: Path) -> None:
        self.settings = RoomSettings(data=data, shards=1)
        data.mkdir(exist_ok=True)
        self.server = EmbeddedServer(data / "redis", durable=True, program=bundled_server())

    def __enter__(self) -> "Played":
        self.server.start()
        (self.settings.data / "keys").mkdir(exist_ok=True)
        (self.settings.data / "keys" / "some.key").write_text("secret")
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    def room(self) -> FastRoom:
        return FastRoom(self.server.url, self.settings.database_url, tables=3)


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    with Played(tmp_path / "room") as room:
        yield room


def brelan(*arguments: str, data: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    env = clean_environment()
    return subprocess.run(
        [sys.executable, "-m", "brelan.cli", *arguments],
        env={**env, "BRELAN_DATA": str(data), "BRELAN_SHARDS": "1", **changes},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def verified(data: Path) -> dict[str, object]:
    done = brelan("verify-log", "--json", data=data)
    report = json.loads(done.stdout or "{}")
    assert report.get("problems") == [], done.stdout + done.stderr
    return dict(report)


async def called_off(room: FastRoom) -> int:
    query = select(func.count()).select_from(history_hands).where(history_hands.c.voided)
    async with reading(room.engine) as connection:
        return int(await connection.scalar(query) or 0)


@pytest.mark.timeout(240)
async def test_a_room_backed_up_in_play_is_a_whole_room_again(played: Played, tmp_path: Path) -> None:
    backup, data = tmp_path / "backup", tmp_path / "restored"
    async with played.room() as room:
        await room.open()
        await room.play(60)
        with announced(played.settings.data, played.server.url):
            playing = asyncio.create_task(room.play(90))
            taking = await asyncio.to_thread(brelan, "backup", "--to", str(backup), "--json", data=played.settings.data)
            assert taking.returncode == 0, taking.stderr
            await playing
            await room.leave()
        assert room.hands >= 150
        old_epoch = decode_epoch(await room.log.get(keys.epoch(SHARD)) or b"").number
    played.server.kill()

    old = played.settings.database_url
    made = await asyncio.to_thread(
        brelan, "restore", "--from", str(backup), "--data", str(data), "--old-database", old, "--json", data=data
    )
    assert made.returncode == 0, made.stderr
    lost = json.loads(made.stdout)["lost"]
    assert lost["by_kind"]["cash_out"][0] == 9  # everybody left after the backup
    assert lost["cashier"] == []
    before = await asyncio.to_thread(verified, data)
    assert before["from_the_first"] == before["tables"] == 3

    with Played(data) as again:
        async with again.room() as room:
            await room.play(40)
            await room.settle()
            assert await room.problems() == []
            epoch = decode_epoch(await room.log.get(keys.epoch(SHARD)) or b"").number
            assert epoch > old_epoch + EPOCHS_AHEAD
            for table_id in room.table_ids:
                state = await load_table(room.log, table_id)
                assert state.status == "open"
                assert sum(seat is not None for seat in state.seats) == 3  # their leaving is lost with the rest
            assert 1 <= await called_off(room) <= 3  # one at a table at most
    after = await asyncio.to_thread(verified, data)
    assert after["ledger_sum"] == 0


async def test_a_damaged_backup_is_not_restored(played: Played, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    async with played.room() as room:
        await room.open()
        await room.play(5)
        with announced(played.settings.data, played.server.url):
            await backups.take(played.settings, backup)
            with pytest.raises(BackupError, match="not empty"):
                await backups.take(played.settings, backup)
    dump = backup / f"{SHARD}.shard"
    dump.write_bytes(dump.read_bytes()[:-1] + b"x")
    with pytest.raises(BackupError, match=r"damaged: s00\.shard"):
        await backups.restore(RoomSettings(data=tmp_path / "new", shards=1), backup)
    assert not (tmp_path / "new").exists()


async def test_a_room_that_is_there_is_never_restored_over(played: Played, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    async with played.room() as room:
        await room.open()
        await room.play(5)
        with announced(played.settings.data, played.server.url):
            await backups.take(played.settings, backup)
    with pytest.raises(BackupError, match="there is a room"):
        await backups.restore(played.settings, backup)
    with pytest.raises(BackupError, match="BRELAN_SHARDS=1"):
        await backups.restore(RoomSettings(data=tmp_path / "new", shards=2), backup)


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


async def test_what_fails_leaves_nothing(played: Played, tmp_path: Path) -> None:
    """A failed restore is not half a room that begins with the old books and an empty log."""
    backup = tmp_path / "backup"
    async with played.room() as room:
        await room.open()
        await room.play(5)
        with announced(played.settings.data, played.server.url):
            await backups.take(played.settings, backup)

    none = await asyncio.to_thread(brelan, "backup", "--to", str(tmp_path / "b"), data=tmp_path / "none")
    assert (none.returncode, (tmp_path / "b").exists()) == (1, False), none.stderr

    def restore(name: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return brelan("restore", "--from", str(backup), data=tmp_path / name, **changes)

    done = await asyncio.to_thread(restore, "away", BRELAN_REDIS_URL="redis://127.0.0.1:1/0")
    assert (done.returncode, (tmp_path / "away").exists()) == (1, False), done.stderr

    done = await asyncio.to_thread(restore, "taken", BRELAN_REDIS_URL=played.server.url)
    assert "has something of shard" in done.stderr
    assert not (tmp_path / "taken").exists()

    old = tmp_path / "old"
    old.mkdir()
    (old / "brelan.db").write_text("books of another room")
    before = everything(old)
    done = await asyncio.to_thread(restore, "old")
    assert "is there already" in done.stderr
    assert everything(old) == before


async def test_a_restore_that_was_killed_is_no_room(played: Played, tmp_path: Path) -> None:
    backup, data = tmp_path / "backup", tmp_path / "half"
    async with played.room() as room:
        await room.open()
        with announced(played.settings.data, played.server.url):
            await backups.take(played.settings, backup)
    data.mkdir()
    (data / RESTORING).touch()
    for arguments in (
        ["up", "--port", "0", "--no-bots"],
        ["keys"],
        ["verify-log"],
        ["backup", "--to", f"{tmp_path}/b"],
    ):
        done = await asyncio.to_thread(brelan, *arguments, data=data)
        assert done.returncode, arguments
        assert "restore again" in done.stderr, (arguments, done.stderr)
    with pytest.raises(ServerError, match="restore again"):
        await backups.restore(RoomSettings(data=data, shards=1), backup)
    assert {path.name for path in data.iterdir()} <= {RESTORING, "room.lock"}


async def test_nothing_is_booked_while_it_is_held_and_the_copy_is_of_that_moment(sql_url: str, tmp_path: Path) -> None:
    engine, folder = create_engine(sql_url), tmp_path / "copy"
    folder.mkdir()

    async def book(number: int) -> None:
        async with writing(engine) as connection:
            await connection.execute(insert(ledger_writer).values(id=number, page=1))

    await book(7)
    async with held(sql_url) as (let_go, copy):
        booking = asyncio.create_task(book(8))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(booking), 0.3)
        await let_go()
        await booking
        await copy(folder)
    assert {7, 8} <= await numbers(sql_url)
    await engine.dispose()
    if sql_url.startswith("postgresql"):
        assert (folder / "brelan.pgdump").stat().st_size
    else:
        assert await numbers(f"sqlite:///{folder / 'brelan.db'}") & {7, 8} == {7}


async def numbers(sql_url: str) -> set[int]:
    engine = create_engine(sql_url)
    async with reading(engine) as connection:
        found = set((await connection.execute(select(ledger_writer.c.id))).scalars())
    await engine.dispose()
    return found


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_a_room_on_postgres_is_backed_up_too(redis_url: str, tmp_path: Path) -> None:
    need_program("pg_dump")
    backup, data = tmp_path / "backup", tmp_path / "new"
    (tmp_path / "old" / "keys").mkdir(parents=True)
    with own_postgres() as postgres:
        old, new = postgres.create("old"), postgres.create("new")
        async with FastRoom(redis_url, old, tables=2) as room:
            await room.open()
            await room.play(20)
            playing = asyncio.create_task(room.play(20))
            settings = RoomSettings(data=tmp_path / "old", redis_url=redis_url, sql_url=old, shards=1)
            await backups.take(settings, backup)
            await playing
        with EmbeddedServer(tmp_path / "redis", durable=False, program=bundled_server()) as server:
            settings = RoomSettings(data=data, redis_url=server.url, sql_url=new, shards=1)
            await backups.restore(settings, backup)
            async with FastRoom(server.url, new, tables=2) as room:
                await room.play(20)
                await room.settle()
                assert await room.problems() == []
                archive = ArchivedEntries(new)
                for table_id in room.table_ids:
                    proof = await prove(room.log, table_id, archive)
                    assert (proof.begins_after, proof.problems) == (0, [])
                await archive.close()
