"""Markers that need something of the machine check for it before the test starts; see ``tests.requirements``."""

from pathlib import Path

import pytest

from tests.requirements import PROJECT, need_docker, need_program, need_shared_data
from tests.room import room

__all__ = ["chromium", "project", "room", "shared_data"]

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("docker"):
        need_docker()
    if item.get_closest_marker("browser"):
        need_program(*CHROMIUM)
    if item.get_closest_marker("prometheus"):
        need_program("prometheus")


@pytest.fixture(scope="session")
def project() -> Path:
    """The root of the project."""
    return PROJECT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """``../shared/data``; a test that asks for it is skipped where it is not."""
    return need_shared_data()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    return need_program(*CHROMIUM)
