"""Databases for tests: a SQLite file, brought up to date, and a real PostgreSQL where one is installed.

``sqlite_url``: a file of the test's own. ``postgres_url``: an empty database of the test's own, on a server for the
session. ``sql_url``: the test runs on both.
"""

import asyncio
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server, less the name of a database."""
    if importlib.util.find_spec("asyncpg") is None:
        missing("asyncpg", "asyncpg is not installed (pip install asyncpg).")
    initdb = _beside_server("initdb")
    control = _beside_server("pg_ctl")
    with tempfile.TemporaryDirectory(prefix="brelan-postgres-") as name:  # pytest's own folders are for one user only
        folder, port = Path(name), _free_port()
        run = _as_a_user(folder)
        run([initdb, "-D", f"{folder}/data", "-U", "brelan", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"])
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        run([control, "-D", f"{folder}/data", "-l", f"{folder}/log", "-o", options, "-w", "start"])
        try:
            yield f"postgresql://brelan@127.0.0.1:{port}"
        finally:
            run([control, "-D", f"{folder}/data", "-m", "immediate", "stop"])


@pytest.fixture
def empty_postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> str:
    name = f"t{abs(hash(request.node.nodeid)):x}"
    psql = need_program("psql")
    for statement in (f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}"):
        subprocess.run([psql, "-q", f"{postgres_server}/postgres", "-c", statement], check=True, capture_output=True)
    return f"{postgres_server}/{name}"


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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
