"""What some tests need from the machine: programs, data, Docker.

A test asks, and is skipped with a sentence that says what is missing. Where everything must be there,
``BRELAN_REQUIRE`` turns the skip into a failure: ``all``, or a comma-separated list of ``docker``, ``shared-data`` and
programs' names.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

PROJECT = Path(__file__).resolve().parent.parent
SHARED_DATA = PROJECT.parent / "shared" / "data"


def required(what: str) -> bool:
    wanted = {item.strip() for item in os.environ.get("BRELAN_REQUIRE", "").split(",")}
    return bool(wanted & {"all", what})


def missing(what: str, sentence: str) -> NoReturn:
    if required(what):
        pytest.fail(f"{sentence} BRELAN_REQUIRE asks for it.", pytrace=False)
    pytest.skip(sentence)


def need_program(*names: str) -> str:
    """The path of the first of these programs that is installed."""
    for name in names:
        if path := shutil.which(name):
            return path
    missing(names[0], f"{' or '.join(names)} is not installed.")


def need_shared_data() -> Path:
    """The hands and reported faults that lie beside the project, not in it."""
    if not SHARED_DATA.is_dir():
        missing("shared-data", "The hands to test against are not there: no folder ../shared/data.")
    return SHARED_DATA


def need_docker() -> None:
    """A Docker engine that answers, and docker-compose."""
    if trouble := docker_trouble():
        missing("docker", trouble)


@cache
def docker_trouble() -> str:
    """Why Docker cannot be used, or nothing."""
    if not (docker := shutil.which("docker")):
        return "docker is not installed."
    try:
        subprocess.run([docker, "info"], capture_output=True, check=True, timeout=20)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return "No Docker engine answers."
    return "" if compose_command() else "Neither docker-compose nor `docker compose` is installed."


@cache
def compose_command() -> tuple[str, ...]:
    """``docker-compose`` or ``docker compose``, whichever is here; empty when neither is."""
    for command in (("docker-compose",), ("docker", "compose")):
        if shutil.which(command[0]):
            answer = subprocess.run([*command, "version"], check=False, capture_output=True)
            if answer.returncode == 0:
                return command
    return ()
