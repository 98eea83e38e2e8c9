"""Rubbish in every stream of a running room: it is buried where an operator finds it, and the bots play on.

Then a table is frozen by an answer that does not fit, looked at, resumed, frozen again and begun anew, by ``brelan``.
"""

import contextlib
import json
import os
import signal
import sqlite3
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis

from brelan.eventlog import keys
from brelan.eventlog.encoding import FIELD
from brelan.events import table
from brelan.events.dealing import Dealt
from brelan.events.envelope import encode
from tests.processes import wait_until
from tests.room import Room, start_room
from tests.services.poison import no_message

pytestmark = [pytest.mark.redis, pytest.mark.celery, pytest.mark.slow, pytest.mark.timeout(400)]

SHARDS = ("s00", "s01")
READ_BY = {
    "commands": ("table",),
    "dealt": ("table",),
    "feed": ("dealer", "history"),
    "wallet_requests": ("wallet",),
    "records": ("history",),
}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with start_room(tmp_path_factory.mktemp("poison"), "--think", "0.05", "--hand-pause-ms", "300") as room:
        wait_until(lambda: min(hands(room).values(), default=0) >= 2, 90, "the first hands")
        yield room


@pytest.fixture
def store(room: Room) -> Iterator[Redis]:
    with Redis.from_url(json.loads((room.data / "running.json").read_text())["redis_url"]) as store:
        yield store


def hands(room: Room) -> Counter[str]:
    """That ended, by table, by the archive's count: it asks the whole chain, from action to SQL."""
    with contextlib.closing(sqlite3.connect(f"file:{room.data / 'brelan.db'}?mode=ro", uri=True)) as database:
        found = database.execute("SELECT table_id, count(*) FROM history_hands GROUP BY table_id").fetchall()
    return Counter(dict(found)) if len(found) > 1 else Counter()


def plays_on(room: Room, *table_ids: str) -> None:
    before = hands(room)
    wait_until(lambda: all(hands(room)[one] >= before[one] + 2 for one in table_ids), 60, f"hands at {table_ids}")


def tables(room: Room) -> list[str]:
    with urllib.request.urlopen(f"{room.url}/api/tables", timeout=5) as answer:
        return [row["table_id"] for row in json.load(answer)["tables"]]


def asked(room: Room, *arguments: str) -> dict[str, Any]:
    done = room.command(*arguments, "--json", "--url", room.url)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def counted(room: Room, service: str, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{room.ports[service]}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def test_rubbish_in_every_stream_is_buried_and_everybody_plays_on(room: Room, store: Redis) -> None:
    pids = {service: room.pid_of(service) for service in ("gateway", "table", "dealer", "timer", "wallet", "history")}
    expected: Counter[tuple[str, str]] = Counter()
    for shard in SHARDS:
        for inbox, readers in READ_BY.items():
            stream = getattr(keys, inbox)(shard)
            for data in no_message(inbox.replace("_", "-")).values():
                store.xadd(stream, {FIELD: data})
                expected.update((reader, stream) for reader in readers)
        store.zadd(keys.deadlines(shard), {b"\xff\xfe": 1, b"s00-nobody": 2, b"": 3, b"x" * 100_000: float("-inf")})
    for data in no_message("cashier").values():
        store.xadd(keys.cashier(), {FIELD: data})
        expected["wallet", keys.cashier()] += 1
    expected.update({("table", keys.commands(shard)): 1 for shard in SHARDS})  # the deadline of nobody's table

    def buried() -> Counter[tuple[str, str]]:
        dead = asked(room, "dead", "--count", "1000")["dead"]
        return Counter((letter["service"], letter["stream"]) for letter in dead)

    with contextlib.suppress(AssertionError):
        wait_until(lambda: not expected - buried(), 30, "all of it buried")
    assert not expected - buried(), "\n".join(room.lines[-40:])
    plays_on(room, *tables(room))
    assert {service: room.pid_of(service) for service in pids} == pids, "somebody had to be started again"
    for service in ("table", "dealer", "wallet", "history", "gateway"):
        rubbish = sum(count for (reader, _), count in expected.items() if reader == service)
        assert counted(room, service, "brelan_dead_letters_total") >= max(1, rubbish), service
    assert counted(room, "table", "brelan_frozen_tables") == 0
    in_words = room.command("dead", "--url", room.url)
    assert "Undecodable" in in_words.stdout


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def freeze(room: Room, store: Redis, table_id: str) -> None:
    """While the dealer stands still somebody answers in its place, with cards of a seat that nobody has."""
    with stopped(room.pid_of("dealer")):
        request_id = _wait_for(lambda: (asked(room, "table", table_id)["table"]["hand"] or {}).get("dealer_asked"))
        request = request_id["request_id"]
        hand_id, _, street = request.partition(":")
        wrong = table.CardsDealt(request, hand_id, street, (table.SeatCards(99, 5, (51,)),))
        if street.startswith("draw"):
            answer: Any = table.CardsDrawn(request, hand_id, 99, 99)
        elif street == "showdown":
            answer = table.ShowdownResolved(request, hand_id, (), ())
        else:
            answer = wrong
        store.xadd(keys.dealt(keys.shard_of(table_id)), {FIELD: encode(Dealt(table_id, request, answer))})
        _wait_for(lambda: asked(room, "table", table_id)["table"]["status"] == "frozen")


def _wait_for(ask: Callable[[], Any]) -> Any:
    found: list[Any] = [None]

    def answered() -> bool:
        found[0] = ask()
        return bool(found[0])

    wait_until(answered, 15, "an answer")
    return found[0]


def test_a_frozen_table_is_looked_at_resumed_and_begun_anew(room: Room, store: Redis) -> None:
    frozen, other = tables(room)
    freeze(room, store, frozen)
    shown = asked(room, "table", frozen, "--log", "5")
    assert "could not be applied" in shown["table"]["frozen_reason"]
    assert shown["entries"][-1]["events"][-1]["type"] == "TableFrozen"
    plays_on(room, other)
    assert counted(room, "table", "brelan_frozen_tables") == 1

    resumed = asked(room, "table", frozen, "--resume")["table"]
    assert resumed["status"] == "open"
    plays_on(room, frozen, other)

    freeze(room, store, frozen)
    hand_id = asked(room, "table", frozen)["table"]["hand"]["hand_id"]
    begun_anew = asked(room, "table", frozen, "--void-hand", "--log", "50")
    assert begun_anew["table"]["status"] == "open"
    voided = [event for entry in begun_anew["entries"] for event in entry["events"] if event["type"] == "HandVoided"]
    assert [event["hand_id"] for event in voided] == [hand_id]
    plays_on(room, frozen, other)

    again = room.command("table", frozen, "--resume", "--url", room.url)
    assert (again.returncode, "not frozen" in again.stderr) == (1, True)
    assert room.command("table", "s00-nobody", "--url", room.url).returncode == 1
    assert frozen in room.command("table", frozen, "--log", "3", "--url", room.url).stdout


def test_log_and_ledger_are_equal_and_balanced_afterwards(room: Room) -> None:
    verified = room.command("verify-log", "--json")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert json.loads(verified.stdout)["ok"]
