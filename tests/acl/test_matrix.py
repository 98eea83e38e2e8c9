"""Every user against every kind of key with every command that the room knows, on real servers."""

import fnmatch
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from brelan.eventlog import keys
from brelan.eventlog.acl import AUDITOR, BACKUP
from brelan.eventlog.keys import FAMILIES, Family, Service
from brelan.eventlog.redis_log import RedisStore
from brelan.eventlog.rights import ALL_COMMANDS, Right, auditors_rights, backups_rights, rights_of, sample
from tests.acl.servers import url_of

pytestmark = pytest.mark.redis

USERS = (*(service.value for service in Service), AUDITOR, BACKUP)
CHANGING = {
    "xadd", "xtrim", "hset", "hdel", "hincrby", "zadd", "zrem", "zremrangebyscore", "set", "del", "eval", "evalsha",
}  # fmt: skip
LOOKING = {"xread", "xrange", "xrevrange", "hgetall", "hmget", "zrange", "zrangebyscore", "get", "dump", "hkeys"}
READS_EVERYTHING = {BACKUP}


def rights(user: str) -> tuple[Right, ...]:
    if user == AUDITOR:
        return auditors_rights()
    return backups_rights() if user == BACKUP else rights_of(Service(user))


def places() -> Iterator[tuple[Family, Service | None, str]]:
    """Every kind of key, whose it is, and one such key; each service has one of what is per service."""
    for family in FAMILIES:
        for whose in Service if family.per == "service" else (None,):
            for tag in family.tags:
                shard = "s07" if tag.startswith("{s") else tag[1:-1]
                yield family, whose, Right((), "", family, whose).key_of(shard)


def may(user: str, family: Family, whose: Service | None, command: str) -> bool:
    return any(
        right.family is family and command in right.commands and right.whose in (None, whose) for right in rights(user)
    )


def refused(client: Any, command: str, key: str) -> bool:
    try:
        client.execute_command(*sample(command, key))
    except redis.exceptions.NoPermissionError:
        return True
    except redis.exceptions.ResponseError as error:  # of a key of another kind, an unknown script
        return "permission" in str(error)
    return False


@pytest.mark.parametrize("user", USERS)
def test_what_a_user_may_is_what_follows_from_the_catalogue(url: str, admin: Any, user: str) -> None:
    with redis.Redis.from_url(url_of(url, user)) as client:
        tried = [(*place, command) for place in places() for command in ALL_COMMANDS]
        for family, whose, key, command in tried:
            if not may(user, family, whose, command):
                assert refused(client, command, key), f"{user} may {command} on {key}"
        assert admin.dbsize() == 0, "something was written by what was refused"
        for family, whose, key, command in tried:
            if may(user, family, whose, command):
                assert not refused(client, command, key), f"{user} may not {command} on {key}"


@pytest.mark.parametrize("service", list(Service))
def test_only_writers_change_and_only_readers_see(service: Service) -> None:
    """By the catalogue's own words, not by the list of rights."""
    for family, whose, key in places():
        allowed = {command for command in ALL_COMMANDS if may(service.value, family, whose, command)}
        own = service in family.writers and whose in (None, service)
        if not own and service is not family.trimmer:
            assert not allowed & CHANGING, f"{service} changes {key}"
        if not own and service not in family.readers:
            assert not allowed & LOOKING, f"{service} reads {key}"


def test_who_may_touch_what_cards_and_money_are_in() -> None:
    def who(name: str, *commands: str) -> set[str]:
        (family,) = [family for family in FAMILIES if family.name == name]
        return {user for user in USERS for command in commands if may(user, family, None, command)}

    assert who("deck", *ALL_COMMANDS) == {"dealer", BACKUP}
    assert who("deck", "xadd", "xtrim", "xrange", "xread") == {"dealer"}
    assert who("hole", "hset", "hdel", "del") == {"dealer"}
    assert who("hole", "hgetall", "hmget") == {"dealer", "gateway"}
    assert who("records", "xrange", "xread") == {"dealer", "history"}
    assert who("table", "xadd") == {"table"}
    assert who("wallet-requests", "xadd") == {"table"}
    assert who("wallet-replies", "xadd") == {"wallet"}
    assert who("balances", "hset") == {"wallet"}
    assert who("commands", "xadd") == {"gateway", "timer", "wallet", "history"}
    assert who("commands", "xtrim") == {"table"}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    "command",
    [
        ("FLUSHALL",), ("KEYS", "*"), ("SCAN", "0"), ("RANDOMKEY",), ("CONFIG", "GET", "*"), ("ACL", "LIST"),
        ("ACL", "SETUSER", "mallory", "on"), ("MONITOR",), ("MIGRATE", "h", "1", "k", "0", "1"), ("CLIENT", "LIST"),
        ("SAVE",),
        ("SCRIPT", "FLUSH"), ("PUBLISH", "x", "y"), ("SHUTDOWN",), ("REPLICAOF", "NO", "ONE"), ("SLOWLOG", "GET"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_nobody_rules_the_server(url: str, user: str, command: tuple[str, ...]) -> None:
    with redis.Redis.from_url(url_of(url, user)) as client:
        asked: Any = client
        with pytest.raises(redis.exceptions.NoPermissionError):
            asked.execute_command(*command)


@pytest.mark.parametrize("user", USERS)
def test_a_script_has_no_more_rights_than_its_caller(url: str, admin: Any, user: str) -> None:
    """Also when it does not say which keys it touches."""
    with redis.Redis.from_url(url_of(url, user)) as client:
        asked: Any = client
        for family, whose, key in places():
            text = f"return redis.call('DEL', '{key}')"
            if not may(user, family, whose, "del"):
                admin.set(key, "x")
                with pytest.raises(redis.exceptions.ResponseError, match=r"(?i)permission|can't run|can't access"):
                    asked.execute_command("EVAL", text, 0)
                assert admin.get(key) == b"x"


def test_real_keys_of_two_kinds_are_never_covered_by_one_pattern() -> None:
    found: dict[str, str] = {}
    for family, _, key in places():
        assert found.setdefault(key, family.name) == family.name
        for other in FAMILIES:
            covered = any(_matches(pattern, key) for pattern in Right((), "", other).patterns)
            assert covered == (other is family), f"{key} is covered by {other.name}"
    assert _matches(Right((), "", FAMILIES[0]).patterns[0], keys.commands("s1023"))


def _matches(pattern: str, key: str) -> bool:
    return fnmatch.fnmatchcase(key, pattern)  # as Redis does, for these patterns


async def test_a_gateway_notes_used_tickets_and_cannot_look_at_them(url: str, admin: Any) -> None:
    store = RedisStore(url_of(url, "gateway"))
    try:
        assert [await store.use_ticket("t1", 30_000) for _ in range(2)] == [True, False]
    finally:
        await store.close()
    with redis.Redis.from_url(url_of(url, "gateway")) as client:
        assert refused(client, "get", keys.ticket("t1"))
        assert refused(client, "del", keys.ticket("t1"))
