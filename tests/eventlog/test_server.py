"""The embedded server: found, started, explained when it will not start, never left behind."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from brelan.eventlog import keys
from brelan.eventlog import server as server_module
from brelan.eventlog.server import EmbeddedServer, Program, ServerError, candidates, find_program
from tests.fixtures_redis import bundled_server
from tests.processes import alive

pytestmark = pytest.mark.redis

VALKEY_9 = Program("/v", "Valkey", (9, 1, 2))
VALKEY_8 = Program("/v", "Valkey", (8, 0, 0))
REDIS_7 = Program("/r", "Redis", (7, 0, 15))
REDIS_8 = Program("/r", "Redis", (8, 2, 0))


def wait_until_dead(pid: int, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_there_is_always_one() -> None:
    assert str(find_program()).startswith(("Valkey ", "Redis "))
    assert bundled_server() in {program.path for program in candidates()}


def test_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "redis-server", "echo Redis server v=7.2.4 sha=0")
    valkey = script(tmp_path / "valkey-server", "echo Valkey server v=8.1.0 sha=0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() == Program(valkey, "Valkey", (8, 1, 0))


def test_one_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "redis-server", "echo Redis server v=6.0.16 sha=0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program().path == bundled_server()


def test_without_any_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "candidates", lambda: iter(()))
    with pytest.raises(ServerError, match=r"no Redis or Valkey server of version 6\.2 or newer.*BRELAN_REDIS_URL"):
        find_program()


@pytest.mark.parametrize(
    ("program", "written_by", "reads"),
    [
        (VALKEY_9, None, True),
        (VALKEY_9, VALKEY_9, True),
        (VALKEY_9, VALKEY_8, True),
        (VALKEY_8, VALKEY_9, False),
        (VALKEY_9, REDIS_7, True),
        (VALKEY_9, REDIS_8, False),
        (REDIS_7, VALKEY_8, False),
        (REDIS_7, REDIS_8, False),
    ],
)
def test_reads_what_it_or_an_older_one_wrote(program: Program, written_by: Program | None, reads: bool) -> None:
    assert program.reads(written_by) is reads


def test_the_one_that_can_read_the_data_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedServer(tmp_path / "data", program=bundled_server()):
        pass
    script(tmp_path / "redis-server", "echo Redis server v=7.0.15 sha=0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program().name == "Redis"
    assert find_program(tmp_path / "data").path == bundled_server()
    monkeypatch.setattr(server_module, "candidates", lambda: iter([REDIS_7]))
    with pytest.raises(ServerError, match=r"was written by Valkey .*, which Redis 7\.0\.15 \(/r\) cannot read"):
        EmbeddedServer(tmp_path / "data").start()


def test_writes_to_disk_before_it_answers(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, durable=True) as server, redis.Redis.from_url(server.url) as client:
        assert client.config_get("append*")["appendonly"] == "yes"
        assert client.config_get("append*")["appendfsync"] == "always"


def test_users_have_their_own_rights_and_passwords(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, durable=False, program=bundled_server(), users=("table", "dealer")) as server:
        urls = {name: server.url_for(name) for name in ("table", "dealer")}
        assert len({*urls.values(), server.url}) == 3
        with redis.Redis.from_url(urls["dealer"], decode_responses=True) as dealer:
            assert dealer.acl_whoami() == "dealer"
        with redis.Redis.from_url(urls["table"]) as table, pytest.raises(redis.exceptions.NoPermissionError):
            table.hgetall(keys.hole("s00-t"))
        with redis.Redis.from_url(server.url) as all_:
            assert all_.set("anything", "1")


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, durable=True) as server:
        with redis.Redis.from_url(server.url) as client:
            client.set("a", "b")
        server.kill()
        server.start()
        with redis.Redis.from_url(server.url) as client:
            assert client.get("a") == b"b"


def test_one_that_keeps_nothing_keeps_nothing(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, durable=False) as server:
        with redis.Redis.from_url(server.url) as client:
            client.set("a", "b")
        server.kill()
        server.start()
        with redis.Redis.from_url(server.url) as client:
            assert client.get("a") is None


def test_asks_for_its_password_and_listens_on_this_machine_only(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, durable=False) as server:
        with (
            redis.Redis(host="127.0.0.1", port=server.port, retry=Retry(NoBackoff(), 0)) as client,
            pytest.raises(redis.AuthenticationError),
        ):
            client.ping()
        with redis.Redis.from_url(server.url) as client:
            assert client.config_get("bind")["bind"] == "127.0.0.1"
        command = Path(f"/proc/{server.pid}/cmdline").read_text()
        assert server.url.split(":")[2].split("@")[0] not in command


def test_on_a_socket_file(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, durable=False, unix_socket=True) as server:
        with redis.Redis.from_url(server.url) as client:
            assert client.ping()
        assert stat.S_IMODE((tmp_path / "server.sock").stat().st_mode) == 0o700
    with pytest.raises(ServerError, match="too long for a socket"):
        EmbeddedServer(tmp_path / ("long" * 30), unix_socket=True).start()


async def test_in_async_code(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path, durable=False) as server:
        pid = server.pid
        assert pid is not None
        assert alive(pid)
    assert not alive(pid)


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} is in use"):
            EmbeddedServer(tmp_path, port=port).start()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match="cannot be written: Not a directory"):
        EmbeddedServer(tmp_path / "file" / "data").start()


def test_a_folder_in_use_is_a_sentence(tmp_path: Path) -> None:
    with (
        EmbeddedServer(tmp_path, durable=False),
        pytest.raises(ServerError, match="another server is running on the folder"),
    ):
        EmbeddedServer(tmp_path, durable=False).start()
    with EmbeddedServer(tmp_path, durable=False):
        pass


@pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed.")
def test_data_of_a_newer_server_is_a_sentence(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, program=bundled_server()) as server, redis.Redis.from_url(server.url) as client:
        client.set("a", "b")
        client.bgrewriteaof()
        while client.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.02)
    with pytest.raises(ServerError, match="written by a newer or another server"):
        EmbeddedServer(tmp_path, program=shutil.which("redis-server")).start()


def test_what_is_no_server_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="is no Redis or Valkey server"):
        EmbeddedServer(tmp_path, program=script(tmp_path / "server", "echo hello")).start()


def test_a_server_that_ends_at_once_is_a_sentence(tmp_path: Path) -> None:
    program = script(
        tmp_path / "server", 'test "$1" = --version && echo Redis server v=7.2.4 || { echo "# odd"; exit 3; }'
    )
    with pytest.raises(ServerError, match="ended with code 3 when it was started: # odd"):
        EmbeddedServer(tmp_path / "data", program=program).start()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ends_with_its_parent_however_that_ends(tmp_path: Path, number: signal.Signals) -> None:
    program = f"""
import sys, time
from pathlib import Path
from brelan.eventlog.server import EmbeddedServer
with EmbeddedServer(Path({str(tmp_path)!r})) as server:
    print(server.pid, flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        os.kill(parent.pid, number)
        parent.wait(10)
    assert wait_until_dead(pid)


def test_notes_who_wrote_the_data(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, program=bundled_server()):
        pass
    assert json.loads((tmp_path / "written-by.json").read_text())["name"] == "Valkey"
