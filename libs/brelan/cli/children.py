"""Child processes of the embedded room: started, watched, their output merged, none left behind."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence

import click

from brelan.child_process import ending, ends_with_parent

STOP_SECONDS = 12.0  # services end within 10 s of SIGTERM; then SIGKILL
RESTART_SECONDS, LONGEST_RESTART_SECONDS = 0.5, 5.0  # doubled at each early death in a row
POLL_SECONDS = 0.02
GIVE_UP_AFTER = 5  # early deaths in a row of one that has never worked
EARLY_SECONDS = 5.0


class ChildError(Exception):
    """A child that will not run. The message is a sentence for the person at the terminal."""


class Child:
    """One child process, started again when it dies (a crash is not the end of the room)."""

    def __init__(
        self, name: str, command: Sequence[str], env: Mapping[str, str], say: Callable[[str, str], None]
    ) -> None:
        self.name = name
        self._command = list(command)
        self._env = {**os.environ, **env}
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._early_deaths = 0
        self._trusted = False
        self._watch: asyncio.Task[None] | None = None
        self.given_up = asyncio.Event()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> None:
        await self._spawn()
        self._watch = asyncio.create_task(self._keep_running())

    def trust(self) -> None:
        """It has worked: whatever it dies of from now on passes, and it is started again as often as it takes."""
        self._trusted = True

    async def stop(self) -> None:
        self._stopping = True
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(_ended(process), STOP_SECONDS)
            except TimeoutError:
                self._say(self.name, "did not stop in time: killed")
                process.kill()
        if self._watch is not None:
            await self._watch

    async def _spawn(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C goes to the room, which stops its children in order
            preexec_fn=ends_with_parent(signal.SIGKILL),
        )

    async def _keep_running(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            assert self._process is not None
            started = loop.time()
            relaying = asyncio.create_task(self._relay(self._process))
            code = await _ended(self._process)
            self._end_group(self._process.pid)
            await relaying
            if self._stopping:
                return
            self._early_deaths = self._early_deaths + 1 if loop.time() - started < EARLY_SECONDS else 0
            if self._early_deaths >= GIVE_UP_AFTER and not self._trusted:
                self._say(self.name, f"ended {GIVE_UP_AFTER} times in a row right after its start: giving up")
                self.given_up.set()
                return
            self._say(self.name, f"ended with {ending(code)}: started again")
            await asyncio.sleep(min(RESTART_SECONDS * 2 ** max(0, self._early_deaths - 1), LONGEST_RESTART_SECONDS))
            if self._stopping:
                return
            await self._spawn()

    def _end_group(self, pid: int) -> None:
        """A child's own children do not outlive it: they would hold its output open, and go on working."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)

    async def _relay(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # longer than the reader's limit: the rest follows
                continue
            if not line:
                return
            self._say(self.name, line.decode(errors="replace").rstrip())


async def _ended(process: asyncio.subprocess.Process) -> int:
    """The exit code. ``Process.wait`` would wait for its output to be closed too, which its own children may hold."""
    while process.returncode is None:  # noqa: ASYNC110 - nothing tells when it ends, but for that
        await asyncio.sleep(POLL_SECONDS)
    return process.returncode


def say(name: str, line: str) -> None:
    """One merged log: who, then what."""
    click.echo(f"{name:<8} | {line}")
