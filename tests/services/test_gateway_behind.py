"""Who has seen a later epoch elsewhere is not shown an older table, unless that epoch is nowhere any more."""

import pytest

from brelan.events import commands
from brelan_gateway import feed as feeds
from brelan_gateway.feed import ShardFeed, Since
from brelan_gateway.hole_cards import HoleCardReader
from brelan_gateway.inbox import Inbox
from brelan_gateway.refusals import Refusal
from tests.services.small_room import DRAW, TABLE, SmallRoom


class Quiet:
    """A watcher that nobody reads."""

    player_id = "ana"
    name = "Ana"
    version = 0

    def push(self, message: str, arrived: float = 0.0) -> None:
        pass

    def close(self, code: int, reason: str) -> None:
        pass


@pytest.fixture
async def room(monkeypatch: pytest.MonkeyPatch) -> SmallRoom:
    monkeypatch.setattr(feeds, "CATCH_UP_SECONDS", 0.04)
    room = SmallRoom()
    await room.open(DRAW)
    return room


async def begun(room: SmallRoom) -> ShardFeed:
    feed = ShardFeed(room.log, Inbox(room.log, "g1", 5_000), HoleCardReader(room.log, lambda *_: None))
    await feed._begin()
    return feed


async def test_a_gateway_that_is_behind_refuses_who_has_seen_a_later_epoch(room: SmallRoom) -> None:
    feed = await begun(room)
    await feed.join(TABLE, Quiet(), None)
    await room.command("operator", commands.PauseTable())
    await room.settle()
    state = await room.state()
    with pytest.raises(Refusal, match="behind"):
        await feed.join(TABLE, Quiet(), Since(state.version, state.epoch + 1))


async def test_an_epoch_that_is_not_in_the_log_to_its_end_was_lost(room: SmallRoom) -> None:
    feed = await begun(room)
    state = await room.state()
    (first,) = await feed.join(TABLE, Quiet(), Since(state.version + 5, state.epoch + 1))
    assert '"type":"snapshot"' in first
    assert f'"version":{state.version},' in first


async def test_in_the_same_epoch_nobody_is_shown_an_older_version(room: SmallRoom) -> None:
    feed = await begun(room)
    state = await room.state()
    with pytest.raises(Refusal, match="behind"):
        await feed.join(TABLE, Quiet(), Since(state.version + 1, state.epoch))


async def test_a_table_whose_opening_was_undone_is_unknown(room: SmallRoom) -> None:
    feed = await begun(room)
    room.store.values.clear()
    with pytest.raises(Refusal, match="There is no table"):
        await feed.join(TABLE, Quiet(), None)
