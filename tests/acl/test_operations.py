"""What every service does on its log works as its own user; what another does is refused, and nothing is written."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from brelan.eventlog import keys
from brelan.eventlog.dry_run import RightMissing, try_rights
from brelan.eventlog.keys import FAMILIES, Family, Service
from brelan.eventlog.log import Append, Commit, LogUnavailable, Outcome
from brelan.eventlog.redis_log import RedisStore
from brelan.settings import RoomSettings
from brelan.telemetry.service import Running, StartError
from tests.acl.servers import PASSWORDS, url_of

pytestmark = pytest.mark.redis

SHARD, TABLE = "s01", "s01-abc123"
COMMITTING = (Service.TABLE, Service.DEALER, Service.WALLET, Service.HISTORY)
LEFT_TO_THE_LOG = {"position", "lease", "workers", "durable"}  # what it writes itself


def key_of(family: Family, service: Service) -> str:
    ending = {"table": f":{TABLE}", "service": f":{service}"}.get(family.per, "")
    prefix = "{wallet}:" if family.tags == (keys.WALLET_TAG,) else keys.prefix(SHARD)
    return f"{prefix}{family.name}{ending}"


def own_families(service: Service, shard: str = SHARD) -> list[Family]:
    return [
        family
        for family in FAMILIES
        if (family.writers == (service,) or (family.per == "service" and service in family.writers))
        and family.name not in LEFT_TO_THE_LOG
        and key_of(family, service).startswith(keys.prefix(shard))
    ]


def whole_commit(service: Service, number: int, nonce: str, shard: str = SHARD) -> Commit:
    """Writes everything that the catalogue gives to the service on one slot, and trims what it may."""
    own = {kind: [] for kind in ("stream", "hash", "zset", "string")}  # type: dict[str, list[str]]
    for family in own_families(service, shard):
        own[family.kind].append(key_of(family, service))
    trims = [key_of(family, service) for family in FAMILIES if family.trimmer is service]
    return Commit(
        service,
        number,
        nonce,
        {},
        appends=[Append(stream, b"x") for stream in own["stream"]],
        hash_set={key: {"f": b"x", "g": b"x"} for key in own["hash"]},
        hash_delete=dict.fromkeys(own["hash"], ("g",)),
        zset_add={key: {"m": 1} for key in own["zset"]},
        string_set=dict.fromkeys(own["string"], b"x"),
        trim={key: "0-1" for key in trims if key.startswith(keys.prefix(shard))},
    )


@pytest.mark.parametrize("service", COMMITTING)
async def test_a_service_commits_all_that_is_its_own(url: str, admin: Any, service: Service) -> None:
    store = RedisStore(url_of(url, service.value))
    shards = (SHARD, "wallet") if service is Service.WALLET else (SHARD,)
    for shard in shards:
        log = store.log(shard)
        position = await log.fence(service, f"owner-{service}-1")
        commit = whole_commit(service, position.number, f"owner-{service}-2", shard)
        assert await log.commit(commit) is Outcome.COMMITTED
        assert await log.commit(commit) is Outcome.DONE
        assert await log.acquire_lease(service, "me", 1_000)
        await log.release_lease(service, "me")
        for family in own_families(service, shard):
            assert admin.exists(key_of(family, service)), family.name
    if family_of("workers").writers.count(service):
        assert await store.announce(service, "me", 1_000) == ["me"]
        await store.withdraw(service, "me")
    await store.close()


@pytest.mark.parametrize("service", COMMITTING)
async def test_a_commit_with_one_foreign_key_writes_nothing(url: str, admin: Any, service: Service) -> None:
    store = RedisStore(url_of(url, service.value))
    log = store.log(SHARD)
    position = await log.fence(service, "owner-1")
    before = admin.dbsize()
    foreign = [
        key_of(family, service)
        for family in FAMILIES
        if service not in family.writers
        and service is not family.trimmer  # the script may name those: they are not appended to all the same (matrix)
        and family.kind == "stream"
        and family.tags != (keys.WALLET_TAG,)
    ]
    assert foreign
    for number, stream in enumerate(foreign):
        commit = whole_commit(service, position.number, f"owner-{number}-foreign")
        commit = Commit(service, commit.number, commit.nonce, {}, appends=[*commit.appends, Append(stream, b"x")])
        with pytest.raises(LogUnavailable, match="does not let this service's user"):
            await log.commit(commit)
    assert admin.dbsize() == before
    assert (await log.fence(service, "owner-9-after")).number == position.number + 1
    await store.close()


@pytest.mark.parametrize("service", [Service.GATEWAY, Service.TIMER, Service.WALLET, Service.HISTORY])
async def test_inboxes_are_appended_to_and_no_more(url: str, service: Service) -> None:
    store = RedisStore(url_of(url, service.value))
    log = store.log(SHARD)
    stream = keys.commands(SHARD)
    assert await log.append(stream, b"x")
    with pytest.raises(LogUnavailable, match="does not let"):
        await log.range(stream)
    with pytest.raises(LogUnavailable, match="does not let"):
        await store.append(SHARD, "XTRIM", stream, "MAXLEN", "0")
    await store.close()


@pytest.mark.parametrize("service", list(Service))
async def test_every_service_finds_its_rights_when_it_starts(url: str, admin: Any, service: Service) -> None:
    store = RedisStore(url_of(url, service.value))
    assert await try_rights(store, service, ("s00", "s01")) >= 10
    assert admin.dbsize() == 0
    await store.close()


async def test_nothing_is_tried_without_users(url: str) -> None:
    store = RedisStore(url)
    assert await try_rights(store, Service.TABLE, ("s00",)) == 0
    await store.close()


async def test_as_somebody_else_a_service_does_not_start(url: str) -> None:
    store = RedisStore(url_of(url, "timer"))
    running = Running("dealer", RoomSettings())
    with pytest.raises(StartError, match=r"user 'timer' may not do what the dealer service has to: .+ on \{s00"):
        await running.until_log_answers(store, Service.DEALER)
    await store.close()


async def test_one_missing_right_is_named(url: str, admin: Any) -> None:
    rules = next(line for line in admin.acl_list() if line.startswith("user table ")).split()[2:]
    narrow = [rule.replace("+hdel ", "") for rule in " ".join(rules).split("(")]
    text = "(".join(narrow).split()
    admin.execute_command("ACL", "SETUSER", "narrow", "reset", "on", f">{PASSWORDS['table']}", *text)
    host = url.rpartition("@")[2]
    store = RedisStore(f"redis://narrow:{PASSWORDS['table']}@{host}")
    with pytest.raises(RightMissing, match=r"user 'narrow' .* HDEL on \{s00\.\d+\}:tables"):
        await try_rights(store, Service.TABLE, ("s00",))
    await store.close()
    admin.execute_command("ACL", "DELUSER", "narrow")


async def test_a_wrong_password_is_waited_for_and_said(url: str) -> None:
    """Whoever mends the users need not start the services again."""
    store = RedisStore(url_of(url, "table").replace("password-of", "guess-of"))
    running = Running("table", RoomSettings())
    with capture_logs() as lines:
        waiting = asyncio.create_task(running.until_log_answers(store, Service.TABLE))
        async with asyncio.timeout(10):
            while not lines:  # noqa: ASYNC110 - nobody would set an event
                await asyncio.sleep(0.01)
        running.stop.set()
        assert not await waiting
    assert "does not know the user or password" in lines[0]["reason"]
    await store.close()


def family_of(name: str) -> Family:
    return next(family for family in FAMILIES if family.name == name)
