from pathlib import Path

import pytest

from tests.browser.node import Node


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """The page's modules in node; skipped where node is not installed."""
    return Node(tmp_path / "web")
