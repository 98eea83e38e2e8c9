"""A room that has played 5,000 hands is as small in Redis, and starts as fast, as one that has played 500."""

import sys
from pathlib import Path

import msgspec
import pytest

from tests.retention.grow import grow

YOUNG, OLD = 500, 5_000
STREAMS = ("cashier", "commands", "dealt", "feed", "records", "wallet-replies", "wallet-requests")
SLACK_SECONDS = 0.2  # of a start, on a busy machine


@pytest.mark.slow
@pytest.mark.redis
@pytest.mark.timeout(900)
async def test_a_room_does_not_grow_with_the_hands_it_has_played(tmp_path: Path) -> None:
    young, old = [figures async for figures in grow(tmp_path, (YOUNG, OLD))]
    for figures in (young, old):
        sys.stdout.write(msgspec.json.encode(figures).decode() + "\n")
        assert figures.problems == []
        assert all(figures.entries_of[family] <= 5 for family in STREAMS), figures.entries_of
    assert (young.hands, old.hands) >= (YOUNG, OLD)
    assert old.keys == young.keys
    # A table's log is as long as the hands in play happen to be just then: 256 entries in one look, 312 in another.
    resting = [figures.memory_bytes - figures.bytes_of["table"] for figures in (young, old)]
    assert abs(resting[1] - resting[0]) <= resting[0] / 10
    assert old.entries_of["table"] <= 2 * young.entries_of["table"]
    assert old.table_load_seconds <= 2 * young.table_load_seconds + SLACK_SECONDS
    assert old.dealer_load_seconds <= 2 * young.dealer_load_seconds + SLACK_SECONDS
