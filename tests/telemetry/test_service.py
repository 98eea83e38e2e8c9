"""A service as a process: signals, exit codes, sentences instead of tracebacks."""

import asyncio
import signal
import socket
import subprocess
import sys
import textwrap

import pytest

from brelan.eventlog.log import LogUnavailable
from brelan.settings import RoomSettings
from brelan.telemetry.service import Running
from tests import processes

PROGRAM = """
import asyncio
from brelan.settings import RoomSettings
from brelan.telemetry.service import StartError, run_service
from brelan.eventlog.log import LogUnavailable

async def main(running):
    {body}

run_service("test", main, RoomSettings)
"""


def start(body: str, **env: str) -> subprocess.Popen[str]:
    program = PROGRAM.format(body=textwrap.indent(textwrap.dedent(body), "    ").strip())
    return processes.start(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        env={**processes.clean_environment(), "BRELAN_HTTP_PORT": "0", **env},
    )


def run(body: str, **env: str) -> tuple[int, str]:
    with start(body, **env) as process:
        _, errors = process.communicate(timeout=20)
    return process.returncode, errors


def test_ends_with_0_when_main_returns() -> None:
    code, errors = run("pass")
    assert code == 0
    assert "stopped" in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it(number: signal.Signals) -> None:
    with start("import sys; sys.stderr.write('here\\n'); await running.stop.wait()") as process:
        assert process.stderr is not None
        while "here" not in process.stderr.readline():
            pass
        process.send_signal(number)
        assert process.wait(10) == 0


def test_wrong_settings_are_sentences() -> None:
    code, errors = run("pass", BRELAN_SHARDS="many", BRELAN_LOG_FORMAT="xml")
    assert code == 2
    assert "brelan test: BRELAN_SHARDS is 'many': Input should be a valid integer" in errors
    assert "BRELAN_LOG_FORMAT is 'xml'" in errors
    assert "Traceback" not in errors


def test_a_taken_port_is_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, errors = run("pass", BRELAN_HTTP_PORT=str(taken.getsockname()[1]))
    assert code == 1
    assert "choose another BRELAN_HTTP_PORT" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("error", ["StartError", "LogUnavailable"])
def test_what_a_person_can_mend_is_a_sentence(error: str) -> None:
    code, errors = run(f"raise {error}('the disk is full')")
    assert code == 1
    assert "brelan test: the disk is full" in errors
    assert "Traceback" not in errors


def test_a_bug_is_a_traceback() -> None:
    code, errors = run("raise ValueError('odd')", BRELAN_LOG_FORMAT="json")
    assert code == 1
    assert "ValueError: odd" in errors


async def test_waits_for_what_is_away() -> None:
    running = Running("test", RoomSettings())
    tries = 0

    async def probe() -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise LogUnavailable("connection refused")

    waiting = asyncio.create_task(running.until_answers("event log", probe))
    await asyncio.sleep(0.05)
    assert running.health.reasons == {"event log": "connection refused"}
    assert await waiting
    assert not running.health.reasons


async def test_waits_no_longer_than_until_it_is_stopped() -> None:
    running = Running("test", RoomSettings())
    running.stop.set()

    async def never() -> None:
        raise OSError

    assert not await running.until_answers("event log", never)
