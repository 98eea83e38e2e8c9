"""Databases for tests: a SQLite file, brought up to date, and a real PostgreSQL where one is installed.

``sqlite_url``: a file of the test's own. ``postgres_url``: an empty database of the test's own, on a server for the
session. ``sql_url``: the test runs on both.
"""

import asyncio
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from brelan.sql import migrate
from tests.requirements import missing, need_program

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'brelan.db'}"
    asyncio.run(migrate(url))
    return url


class PostgresServer:
    """One of our own, in a folder and on a port of its own. It can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        if importlib.util.find_spec("asyncpg") is None:
            missing("asyncpg", "asyncpg is not installed (pip install asyncpg).")
        initdb, self._control = _beside_server("initdb"), _beside_server("pg_ctl")
        self._folder = folder
        self._port = _free_port()
        self._run = _as_a_user(folder)
        self._run([initdb, "-D", self._data, "-U", "brelan", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"])

    @property
    def _data(self) -> str:
        return f"{self._folder}/data"

    @property
    def url(self) -> str:
        """Less the name of a database."""
        return f"postgresql://brelan@127.0.0.1:{self._port}"

    def start(self) -> None:
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        self._run([self._control, "-D", self._data, "-l", f"{self._folder}/log", "-o", options, "-w", "start"])

    def stop(self) -> None:
        self._run([self._control, "-D", self._data, "-m", "immediate", "stop"])

    def kill(self) -> None:
        """``kill -9``, server and backends alike; answers when the last of them is gone."""
        postmaster = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        for pid in (postmaster, *_children_of(postmaster)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{postmaster}").exists() or _children_of(postmaster):
            time.sleep(0.05)

    def create(self, name: str) -> str:
        """An empty database; its URL."""
        psql = need_program("psql")
        for statement in (f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}"):
            subprocess.run([psql, "-q", f"{self.url}/postgres", "-c", statement], check=True, capture_output=True)
        return f"{self.url}/{name}"


@contextlib.contextmanager
def own_postgres() -> Iterator[PostgresServer]:
    with tempfile.TemporaryDirectory(prefix="brelan-postgres-") as name:  # pytest's own folders are for one user only
        server = PostgresServer(Path(name))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with own_postgres() as server:
        yield server


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer, request: pytest.FixtureRequest) -> str:
    return postgres_server.create(f"t{abs(hash(request.node.nodeid)):x}")


@pytest.fixture
def postgres_url(empty_postgres_url: str) -> str:
    asyncio.run(migrate(empty_postgres_url))
    return empty_postgres_url


@pytest.fixture(params=["sqlite", "postgres"])
def sql_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


def _beside_server(name: str) -> str:
    """Debian keeps the server's programs off the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((str(folder / name) for folder in folders if (folder / name).exists()), None) or need_program(name)


def _as_a_user(folder: Path) -> Run:
    """PostgreSQL refuses to run as root: then it runs as Debian's ``postgres``, or as ``nobody``."""
    run: Run = partial(subprocess.run, check=True, capture_output=True, text=True, cwd="/")
    if os.geteuid() != 0:
        return run
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(folder, user)
    return partial(run, user=user, group=pwd.getpwnam(user).pw_gid, extra_groups=())


def _children_of(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
