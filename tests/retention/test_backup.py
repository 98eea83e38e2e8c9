"""A room is backed up while it is played in, lost, and made again from the backup."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from brelan.backups import room as backups
from brelan.backups.event_log import EPOCHS_AHEAD, LEFT_OUT, WALLET, BackupError, shard_keys
from brelan.cli.running import announced
from brelan.eventlog import keys
from brelan.eventlog.keys import FAMILIES
from brelan.eventlog.server import EmbeddedServer
from brelan.eventlog.tables import load_table
from brelan.events.envelope import decode_epoch
from brelan.settings import RoomSettings
from brelan.sql.engine import reading
from brelan.sql.schema import history_hands
from tests.fixtures_redis import bundled_server
from tests.retention.fast_room import SHARD, FastRoom

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


def brelan(*arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("BRELAN_")}
    return subprocess.run(
        [sys.executable, "-m", "brelan.cli", *arguments],
        env={**env, "BRELAN_DATA": str(data), "BRELAN_SHARDS": "1"},
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
