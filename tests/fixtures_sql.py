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
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brelan.sql import migrate
from tests.processes import alive, free_port, start, wait_until
from tests.requirements import missing, need_program


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
        self._folder = folder
        self._port = free_port()
        self._user = _as_a_user(folder)
        self._process: subprocess.Popen[str] | None = None
        made = [_beside_server("initdb"), "-D", self._data, "-U", "brelan", "--auth=trust", "--no-sync"]
        subprocess.run([*made, "-E", "UTF8", "--locale=C"], check=True, capture_output=True, cwd="/", **self._user)

    @property
    def _data(self) -> str:
        return f"{self._folder}/data"

    @property
    def url(self) -> str:
        """Less the name of a database."""
        return f"postgresql://brelan@127.0.0.1:{self._port}"

    def start(self) -> None:
        command = [_beside_server("postgres"), "-D", self._data, "-p", str(self._port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"]
        with (self._folder / "log").open("a") as log:
            self._process = start(command, by=signal.SIGQUIT, stdout=log, stderr=log, cwd="/", **self._user)
        wait_until(self._answers, 60, f"PostgreSQL answers; its log is {self._folder}/log")

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "log").read_text()
        ready = [_beside_server("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self._port)]
        return subprocess.run(ready, check=False).returncode == 0

    def stop(self) -> None:
        """At once, as what it holds is not needed any more."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(30)

    def kill(self) -> None:
        """``kill -9``, server and backends alike; answers when the last of them is gone."""
        assert self._process is not None
        backends = _children_of(self._process.pid)
        for pid in (self._process.pid, *backends):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        wait_until(lambda: not any(map(alive, backends)), 30, "the backends are gone")

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
        try:
            server.start()
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


def _as_a_user(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root: then it runs as Debian's ``postgres``, or as ``nobody``."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(folder, user)
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": ()}


def _children_of(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
