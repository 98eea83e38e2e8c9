"""The catalogue of metrics keeps its own rules."""

import re

import pytest
from prometheus_client import Counter, Gauge, Histogram

from brelan.telemetry import metrics

CATALOGUE = {name: value for name, value in vars(metrics).items() if isinstance(value, Counter | Gauge | Histogram)}
UNBOUNDED = {"table", "player", "hand", "table_id", "player_id", "hand_id", "command_id", "shard"}


@pytest.mark.parametrize("name", CATALOGUE)
def test_is_named_after_itself_and_described(name: str) -> None:
    metric = CATALOGUE[name]
    assert metric._name == f"brelan_{name}"
    assert re.fullmatch(r"[A-Z1].*\.", metric._documentation)


@pytest.mark.parametrize("name", CATALOGUE)
def test_has_only_bounded_labels(name: str) -> None:
    assert not UNBOUNDED & set(CATALOGUE[name]._labelnames)


@pytest.mark.parametrize("name", [name for name, metric in CATALOGUE.items() if isinstance(metric, Histogram)])
def test_a_histogram_ends_in_its_unit(name: str) -> None:
    assert name.endswith(("_seconds", "_entries"))
