"""What every service's ``__main__`` does: settings, logs, health, signals, exit codes.

::

    async def main(running: Running[TableSettings]) -> None:
        store = open_store(running.settings)
        if await running.until_log_answers(store, Service.TABLE):
            await ShardWorker(store, ...).run(running.stop)

    if __name__ == "__main__":
        run_service("table", main, TableSettings)

Exit codes: 0 stopped, 1 it could not go on, 2 the settings are wrong. What a person can mend is said in a sentence.
"""

import asyncio
import contextlib
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, TypeVar

import structlog
import uvloop
from pydantic import ValidationError

from brelan.eventlog import failpoints
from brelan.eventlog.dry_run import RightMissing, try_rights
from brelan.eventlog.keys import Service
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.redis_log import RedisStore
from brelan.settings import RoomSettings
from brelan.telemetry.health import Health, listen
from brelan.telemetry.logs import SECRET_NAME, configure_logs

Settings = TypeVar("Settings", bound=RoomSettings)

GRACE_SECONDS = 10.0  # between the signal and giving up on a clean stop
LONGEST_PAUSE = 2.0  # between two tries while something is away

logger = structlog.get_logger(__name__)


class StartError(Exception):
    """The service cannot run, and a person can mend it. The message is a sentence."""


class Running(Generic[Settings]):
    """A service that runs: its settings, its health, and when it has to stop."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.settings = settings
        self.health = Health(name)
        self.stop = asyncio.Event()

    async def until_answers(self, what: str, probe: Callable[[], Awaitable[object]]) -> bool:
        """Wait for something that is away (LogUnavailable, OSError), not ready meanwhile. False: stopped first."""
        pause = 0.1
        while not self.stop.is_set():
            try:
                await probe()
            except (LogUnavailable, OSError) as error:
                self.health.ready(what, False, str(error))
                logger.warning("waiting", what=what, reason=str(error))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.stop.wait(), pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                self.health.ready(what, True)
                return True
        return False

    async def until_log_answers(self, store: RedisStore, service: Service) -> bool:
        """Wait for the event log, and try the service's rights on it. Raises StartError when one is missing."""

        async def answers() -> None:
            await store.ping()
            try:
                await try_rights(store, service, self.settings.shard_names)
            except RightMissing as error:
                raise StartError(str(error)) from error

        return await self.until_answers("event log", answers)


Main = Callable[[Running[Settings]], Awaitable[None]]


def run_service(name: str, main: Main[Settings], settings_type: type[Settings]) -> None:
    """Run until ``main`` returns or a signal comes. Ends the process with its exit code.

    Without a core dump, whatever happens: keys and cards are in memory.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        settings = settings_type()
        failpoints.check()
    except ValidationError as error:
        sys.exit(_complain(2, name, *sentences_of(error)))
    except failpoints.BadFailPoint as error:
        sys.exit(_complain(2, name, str(error)))
    configure_logs(name, settings.log_format, settings.log_level)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(Running(name, settings), main))
    except (StartError, LogUnavailable) as error:
        sys.exit(_complain(1, name, str(error)))
    except Exception:
        logger.exception("ended by an error")
        sys.exit(1)


async def _run(running: Running[Settings], main: Main[Settings]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.stop.set)
    async with _health(running):
        logger.info("started", pid=os.getpid())
        await _until_done(running, asyncio.ensure_future(main(running)))
        logger.info("stopped")


@contextlib.asynccontextmanager
async def _health(running: Running[Settings]) -> AsyncIterator[None]:
    settings = running.settings
    try:
        listening = listen(settings.http_host, settings.http_port)
    except OSError as error:
        raise StartError(
            f"health and metrics cannot use {settings.http_host}:{settings.http_port} ({error.strerror or error}): "
            "choose another BRELAN_HTTP_PORT, or 0 for any."
        ) from None
    with contextlib.closing(listening):
        serving = asyncio.create_task(running.health.serve_on(listening))
        try:
            yield
        finally:
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving


async def _until_done(running: Running[Settings], work: asyncio.Future[None]) -> None:
    """Until ``main`` returns: by itself, or within the time of grace after the signal."""
    stopping = asyncio.create_task(running.stop.wait())
    await asyncio.wait((work, stopping), return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        running.health.ready("stop", False, "stopping")
        await asyncio.wait((work,), timeout=GRACE_SECONDS)
    stopping.cancel()
    if not work.done():
        logger.error("did not stop in time", seconds=GRACE_SECONDS)
        work.cancel()
        await asyncio.wait((work,), timeout=1.0)
        return
    await work


def sentences_of(error: ValidationError) -> list[str]:
    """``BRELAN_SHARDS is 'many': Input should be a valid integer ...``"""
    lines = []
    for problem in error.errors(include_url=False):
        if not problem["loc"]:  # several settings do not go together; all of them were given, passwords too
            lines.append(f"{problem['msg'].removeprefix('Value error, ')}.")
            continue
        name = "BRELAN_" + "_".join(str(part) for part in problem["loc"]).upper()
        given = "missing" if problem["type"] == "missing" else repr(problem["input"])
        if SECRET_NAME.search(name):
            given = "wrong"
        lines.append(f"{name} is {given}: {problem['msg']}.")
    return lines


def _complain(code: int, name: str, *sentences: str) -> int:
    for sentence in sentences:
        sys.stderr.write(f"brelan {name}: {sentence}\n")
    return code
