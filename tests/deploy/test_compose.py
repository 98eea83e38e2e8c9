"""The room from images: built, brought up by docker-compose, played at through the published port, stopped.

Prometheus and Grafana (the profile ``observe``) are only checked for a valid configuration here.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.processes import free_port
from tests.requirements import compose_command

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(1500)]

SERVICES = ("gateway", "table", "dealer", "timer-sweeper", "timer-worker", "timer-beat", "wallet", "history")
HEALTHY_WITHIN_S = 180


def pip_settings() -> dict[str, str]:
    """The package index that pip uses here, for the pip in the build; nothing where pip uses its own."""
    settings = {}
    for variable, key in (
        ("PIP_INDEX_URL", "global.index-url"),
        ("PIP_EXTRA_INDEX_URL", "global.extra-index-url"),
        ("PIP_TRUSTED_HOST", "global.trusted-host"),
    ):
        answer = subprocess.run(
            [sys.executable, "-m", "pip", "config", "get", key], check=False, capture_output=True, text=True
        )
        value = os.environ.get(variable) or answer.stdout.strip()
        if value and "file:" not in value:  # a folder of this machine is not there in a build
            settings[variable] = value
    return settings


class ComposedRoom:
    """One ``docker-compose up`` under a project name, an image tag and a port of its own."""

    def __init__(self, project: Path) -> None:
        self.name = f"brelantest{os.getpid()}"
        self.port = free_port()
        self._folder = project
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("BRELAN_", "PIP_"))},
            **pip_settings(),
            "COMPOSE_PROJECT_NAME": self.name,
            "BRELAN_VERSION": self.name,
            "BRELAN_PORT": str(self.port),
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def compose(self, *arguments: str, timeout_s: float = 300) -> str:
        return self._run([*compose_command(), *arguments], timeout_s)

    def state(self, service: str) -> Mapping[str, object]:
        """Docker's ``State`` of a service's container."""
        container = self.compose("ps", "--all", "--quiet", service).strip()
        state: Mapping[str, object] = json.loads(self._run(["docker", "inspect", container], 30))[0]["State"]
        return state

    def wait_healthy(self) -> None:
        deadline = time.monotonic() + HEALTHY_WITHIN_S
        while waiting := {name: health for name in SERVICES if (health := self._health(name)) != "healthy"}:
            assert time.monotonic() < deadline, f"not healthy after {HEALTHY_WITHIN_S} s: {waiting}"
            time.sleep(1)

    def tear_down(self) -> None:
        print(self.compose("logs", "--no-color", "--tail=60"))  # pytest shows it when a test failed  # noqa: T201
        self.compose("down", "--volumes", "--remove-orphans")
        subprocess.run(["docker", "image", "rm", f"brelan:{self.name}"], check=False, capture_output=True)

    def _health(self, service: str) -> str:
        health = self.state(service)["Health"]
        assert isinstance(health, dict)
        return str(health["Status"])

    def _run(self, command: list[str], timeout_s: float) -> str:
        answer = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=self._folder,
            env=self._environment,
            timeout=timeout_s,
        )
        assert answer.returncode == 0, f"{' '.join(command)}:\n{answer.stdout}\n{answer.stderr}"
        return answer.stdout


@pytest.fixture(scope="module")
def room(project: Path) -> Iterator[ComposedRoom]:
    room = ComposedRoom(project)
    try:
        room.compose("build", "keys", timeout_s=900)  # one image for all
        room.compose("up", "--detach", "--no-build")
        room.wait_healthy()
        yield room
    finally:
        room.tear_down()


def test_the_configuration_is_valid_with_and_without_the_observing_profile(project: Path) -> None:
    room = ComposedRoom(project)
    plain = room.compose("config", "--services").split()
    observed = room.compose("--profile", "observe", "config", "--services").split()
    assert set(SERVICES) <= set(plain)
    assert {"prometheus", "grafana"} <= set(observed)
    assert "version:" not in (project / "docker-compose.yml").read_text()


def test_a_hand_is_played_through_the_published_port(room: ComposedRoom) -> None:
    bots = subprocess.run(
        [sys.executable, "-m", "brelan.cli", "bots", "--url", room.url, "--tables", "1", "--seconds", "20", "--json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert bots.returncode == 0, bots.stderr
    assert json.loads(bots.stdout)["hands_completed"] >= 1


@pytest.mark.parametrize("service", SERVICES)
def test_no_service_runs_as_root(room: ComposedRoom, service: str) -> None:
    assert room.compose("exec", "-T", service, "id", "-u").strip() == "10001"


def test_services_stop_cleanly_when_told_to(room: ComposedRoom) -> None:
    room.compose("stop")
    codes = {service: room.state(service)["ExitCode"] for service in SERVICES}
    assert codes == dict.fromkeys(SERVICES, 0)
