"""Where the keys of a room lie on a Redis Cluster."""

import re
from collections import Counter

import pytest

from brelan.eventlog import keys
from brelan.eventlog.keys import SLOTS, Service


def slot(shard: str) -> int:
    return keys.slot_of(re.fullmatch(r"\{(.+)\}:", keys.prefix(shard))[1])  # type: ignore[index]


@pytest.mark.parametrize("shards", [1, 2, 4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("masters", [1, 2, 3, 4, 5, 6, 8])
def test_shards_are_spread_evenly(shards: int, masters: int) -> None:
    """``redis-cli --cluster create`` gives every master an equal range of slots."""
    held = Counter(slot(keys.shard_name(number)) * masters // SLOTS for number in range(shards))
    counts = [held[master] for master in range(masters)]
    assert max(counts) - min(counts) <= 1 + (masters > shards // 2)


def test_no_two_shards_share_a_slot() -> None:
    assert len({slot(keys.shard_name(number)) for number in range(256)}) == 256


def test_what_has_shipped_stays() -> None:
    """A room's keys must be found again by every later version."""
    prefixes = [keys.prefix(shard) for shard in ("s00", "s01", "s07", "s15", "s16", "s100", "wallet")]
    assert prefixes == [
        "{s00.31}:",
        "{s01.466}:",
        "{s07.1344}:",
        "{s15.463}:",
        "{s16.854}:",
        "{s100.440}:",
        "{wallet}:",
    ]


def test_a_mark_is_found_by_its_stream() -> None:
    assert keys.durable_of(keys.feed("s07")) == keys.durable("s07", Service.TABLE)
    assert keys.durable_of(keys.records("s07")) == keys.durable("s07", Service.DEALER)
    assert keys.durable_of(keys.wallet_requests("s07")) == keys.durable("s07", Service.TABLE)
    assert keys.outward("s07", Service.TABLE) == (keys.wallet_requests("s07"), keys.feed("s07"))
