"""Small parts of the gateway: buckets, table ids, keys of tokens, the lobby's averages, the order of lost commands."""

from pathlib import Path

import pytest

from brelan.auth.accounts import Player
from brelan.auth.tickets import TicketOffice
from brelan.auth.tokens import Claims, Issuer
from brelan.deck.keys import GATEWAY_TOKEN, ensure_keys, load_token_keys
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.memory_log import MemoryStore
from brelan.eventlog.redis_log import open_store
from brelan.events import commands
from brelan.events import table as facts
from brelan.events.envelope import PlayerCommanded, TableCommitted
from brelan.sql import create_engine
from brelan_gateway import limits
from brelan_gateway.inbox import Answer, Inbox
from brelan_gateway.limits import Bucket, Buckets, Rate
from brelan_gateway.lobby import Row
from brelan_gateway.refusals import Refusal
from brelan_gateway.settings import GatewaySettings
from brelan_gateway.wiring import build
from tests.services.gateway_room import TABLE, gateway_room
from tests.tables import STUD


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_has_a_burst_and_then_its_rate() -> None:
    clock = Clock()
    bucket = Bucket(Rate(per_second=2, burst=3), clock)
    assert [bucket.take() for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now += 0.5
    assert [bucket.take() for _ in range(2)] == [0, 0.5]
    clock.now += 100
    assert [bucket.take() for _ in range(4)] == [0, 0, 0, 0.5]


def test_asking_what_is_missing_takes_nothing() -> None:
    bucket = Bucket(Rate(per_second=1, burst=1), Clock())
    assert [bucket.missing(), bucket.missing(), bucket.take(), bucket.missing()] == [0, 0, 0, 1]


def test_every_key_has_its_own_bucket_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REMEMBERED", 2)
    buckets = Buckets(Rate(per_second=1, burst=1), Clock())
    assert [buckets.take("a"), buckets.take("b"), buckets.take("a")] == [0, 0, 1]
    buckets.take("c")  # b goes: a was asked after it
    assert [buckets.take("b"), len(buckets._buckets)] == [0, 2]


async def test_table_ids_follow_from_the_key_and_spread_over_the_shards(tmp_path: Path) -> None:
    async with gateway_room(tmp_path, shards=4) as room:
        ids = [room.room.new_table_id("p-olga", f"key {number}") for number in range(400)]
        assert room.room.new_table_id("p-olga", "key 7") == ids[7]
        assert room.room.new_table_id("p-otto", "key 7") != ids[7]
    assert len(set(ids)) == 400
    by_shard = [sum(each.startswith(f"s0{shard}-") for each in ids) for shard in range(4)]
    assert min(by_shard) > 60


# --- the lobby ---------------------------------------------------------------------------------------------------


def entry(version: int, at_ms: int, *events: facts.TableEvent, epoch: int = 1) -> TableCommitted:
    return TableCommitted(TABLE, epoch, version, at_ms, events)


def test_the_lobbys_averages_are_of_the_hands_it_saw() -> None:
    row = Row(TABLE, STUD)
    assert (row.average_pot, row.hands_per_hour) == (None, None)
    for number in range(3):
        started = facts.HandStarted(f"h{number}", number, 52, ())
        awarded = [facts.PotAwarded(1, 100, 0, ()), facts.PotAwarded(0, 100 * number, 0, ())]
        row.take(entry(number + 1, 60_000 * number, started, *awarded, facts.HandEnded(f"h{number}", 0, ())))
    assert row.average_pot == 200
    assert row.hands_per_hour == 60


def test_the_lobby_takes_an_entry_once_and_says_when_it_misses_some() -> None:
    row = Row(TABLE, STUD)
    assert row.take(entry(1, 0, facts.SeatReserved(1, "p-ana", "Ana", 1, "t", "wait")))
    assert row.take(entry(1, 0, facts.PlayerLeft(1, "p-ana", 1, "t")))
    assert row.seat_of("p-ana") == 1
    assert not row.take(entry(3, 0, facts.PlayerLeft(1, "p-ana", 1, "t")))
    assert not row.take(entry(2, 0, facts.PlayerLeft(1, "p-ana", 1, "t"), epoch=2))
    assert row.version == 1


# --- commands without an answer ----------------------------------------------------------------------------------


def commanded(command_id: str) -> PlayerCommanded:
    return PlayerCommanded(TABLE, "p-ana", "Ana", command_id, commands.Muck())


def sending(inbox: Inbox, arrived: float, *ids: str) -> list[str]:
    """Sends these, and returns the list into which their answers come."""
    answered: list[str] = []
    for command_id in ids:
        inbox.send(commanded(command_id), arrived, lambda _, name=command_id: answered.append(name))  # type: ignore[misc]
    return answered


def answer(inbox: Inbox, command_id: str) -> None:
    inbox.answered((TABLE, "p-ana", command_id), Answer(7))


@pytest.fixture
def inbox() -> Inbox:
    return Inbox(MemoryStore().log("s00"), "g1", busy_after_ms=1_000)


def test_an_answer_comes_to_whoever_waits_for_it_and_once(inbox: Inbox) -> None:
    answered = sending(inbox, 0.0, "a", "b")
    for command_id in ("a", "a", "b", "unknown"):
        answer(inbox, command_id)
    assert answered == ["a", "b"]


def test_a_shard_is_behind_when_its_oldest_command_waits_too_long(inbox: Inbox) -> None:
    sending(inbox, 0.0, "a")
    sending(inbox, 1.0, "b")
    with pytest.raises(Refusal, match="behind"):
        sending(inbox, 1.1, "c")
    answer(inbox, "a")
    sending(inbox, 1.9, "c")


def test_a_lost_command_does_not_keep_a_shard_busy_for_ever(inbox: Inbox) -> None:
    """Its client is gone, and nobody is let through whose answer would show that it was lost."""
    sending(inbox, 0.0, "lost")
    with pytest.raises(Refusal, match="behind"):
        sending(inbox, 3.9, "b")
    answered = sending(inbox, 4.1, "b")
    answer(inbox, "b")
    assert answered == ["b"]
    assert inbox.arrived((TABLE, "p-ana", "lost")) is None


def test_what_was_sent_before_an_answered_command_and_has_no_answer_was_lost(inbox: Inbox) -> None:
    sending(inbox, 0.0, "lost")
    sending(inbox, 0.5, "b", "c")
    answer(inbox, "b")
    assert inbox.arrived((TABLE, "p-ana", "lost")) is None
    assert inbox.arrived((TABLE, "p-ana", "c")) == 0.5


def test_a_command_that_was_sent_again_still_waits(inbox: Inbox) -> None:
    """The answer to its second sending is yet to come."""
    answered = sending(inbox, 0.0, "a")
    sending(inbox, 0.1, "b")
    sending(inbox, 0.2, "a")
    answer(inbox, "b")
    assert inbox.arrived((TABLE, "p-ana", "a")) == 0.0
    answer(inbox, "a")
    assert answered == ["a"]


def test_an_answer_to_the_first_sending_forgets_nothing_that_came_after_it(inbox: Inbox) -> None:
    sending(inbox, 0.0, "a")
    answered = sending(inbox, 0.1, "b")
    sending(inbox, 0.2, "a")
    answer(inbox, "a")
    answer(inbox, "b")
    assert answered == ["b"]


async def test_a_gateway_takes_tokens_and_tickets_of_every_key_in_its_file(tmp_path: Path) -> None:
    """Wired as it runs: a new key is on top, the old one below it, and nobody logs in again."""
    old, new = (ensure_keys(tmp_path / name) / GATEWAY_TOKEN.name for name in ("old", "new"))
    former, later = old.read_text(), new.read_text()
    old.write_text(later + former)
    keys = load_token_keys(old.parent)
    settings = GatewaySettings(keys=old.parent, data=tmp_path, redis_url="redis://127.0.0.1:1")
    engine, store = create_engine(settings.database_url), open_store(settings)
    try:
        doorkeeper = build(settings, store, engine).doorkeeper
        ana = Player("p_ana", "Ana", "player", 0)
        for key in keys:
            assert (await doorkeeper.identify(Issuer(key).token_for(ana))).player_id == "p_ana"
            with pytest.raises(LogUnavailable):  # the ticket is good; that it was used cannot be noted
                await doorkeeper.redeem(TicketOffice(key, store).issue(Claims("p_ana", "Ana", "player", 0, 2**40, "x")))
        assert doorkeeper.token_for(ana)[0].split(".")[0] == Issuer(keys[0]).token_for(ana).split(".")[0]
    finally:
        await store.close()
        await engine.dispose()
