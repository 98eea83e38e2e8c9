"""The embedded server dies: it is started again on the same port and data, and never twice on one folder."""

import asyncio
import contextlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from brelan.eventlog.server import EmbeddedServer, ServerError
from tests.fixtures_redis import bundled_server
from tests.processes import wait_until

pytestmark = pytest.mark.redis

ORPHANED = """
import os, signal, sys
from pathlib import Path
from brelan.eventlog.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]), program=sys.argv[2])
server.start()
os.kill(server.pid, signal.SIGSTOP)
print(server.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


async def until_answers(url: str) -> bytes | None:
    """What stands under ``kept``."""
    with redis.Redis.from_url(url) as client:
        while True:
            with contextlib.suppress(redis.RedisError):
                return bytes(client.get("kept"))
            await asyncio.sleep(0.05)


async def until_said(said: list[str], times: int) -> None:
    while len(said) < times:  # noqa: ASYNC110 - it is a list, as of a room's lines
        await asyncio.sleep(0.02)


def keep(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.set("kept", "this")


async def test_a_killed_server_is_started_again_where_it_was(tmp_path: Path) -> None:
    said: list[str] = []
    server = EmbeddedServer(tmp_path, program=bundled_server())
    async with server, server.keep_running(said.append):
        url = server.url
        keep(url)
        for times in range(1, 3):
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            async with asyncio.timeout(30):
                await until_said(said, times)
                assert await until_answers(url) == b"this"
        assert server.url == url
    assert said == ["ended with signal SIGKILL: started again"] * 2


async def test_a_server_that_cannot_start_is_tried_until_it_can(tmp_path: Path) -> None:
    """As on a full disk."""
    program, broken = tmp_path / "server", tmp_path / "broken"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] || [ ! -e {broken} ] || {{ echo "# no space left"; exit 1; }}\n'
        f'exec {bundled_server()} "$@"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    said: list[str] = []
    server = EmbeddedServer(tmp_path / "data", program=str(program))
    async with server, server.keep_running(said.append), asyncio.timeout(60):
        keep(server.url)
        broken.touch()
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        await until_said(said, 3)
        assert "cannot be started, trying again" in said[2]
        assert "no space left" in said[2]
        broken.unlink()
        assert await until_answers(server.url) == b"this"


def test_an_orphan_still_has_its_folder(tmp_path: Path) -> None:
    """A room that was killed may be started again before its server has ended: two would write one log."""
    started = subprocess.run(
        [sys.executable, "-c", ORPHANED, str(tmp_path), bundled_server()], capture_output=True, text=True, check=False
    )
    assert started.returncode == -signal.SIGKILL, started.stderr
    orphan = int(started.stdout)
    with pytest.raises(ServerError, match="another server is running on the folder"):
        EmbeddedServer(tmp_path, program=bundled_server()).start()
    os.kill(orphan, signal.SIGCONT)  # it was told to end with its parent, and does
    with EmbeddedServer(tmp_path, program=bundled_server()) as server:
        assert server.pid != orphan
    wait_until(lambda: not Path(f"/proc/{orphan}/cmdline").exists() or _zombie(orphan), 10, "the orphan to end")


def _zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True
