"""Accounts: registering, logging in, and what is never kept."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select

from brelan.auth import names
from brelan.auth.accounts import AccountStore, Player, Refused
from brelan.sql import create_engine, reading
from brelan.sql.schema import players

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "correct horse battery"


@pytest.fixture
async def accounts(sql_url: str) -> AsyncIterator[AccountStore]:
    store = AccountStore(sql_url, QUICK)
    yield store
    await store.close()


async def registered(accounts: AccountStore, name: str = "Ana") -> Player:
    player = await accounts.register(name, PASSWORD)
    assert isinstance(player, Player)
    return player


async def test_who_registers_can_log_in(accounts: AccountStore) -> None:
    ana = await registered(accounts)
    assert (ana.name, ana.role) == ("Ana", "player")
    assert ana.player_id.startswith("p_")
    assert await accounts.verify("Ana", PASSWORD) == ana
    assert await accounts.verify("ANA", PASSWORD) == ana
    assert await accounts.get(ana.player_id) == ana
    assert await accounts.by_name("ána") == ana


async def test_who_does_not_know_the_password_cannot(accounts: AccountStore) -> None:
    await registered(accounts)
    assert await accounts.verify("Ana", PASSWORD + "x") is None
    assert await accounts.verify("Ben", PASSWORD) is None
    assert await accounts.verify("", "") is None
    assert await accounts.get("p_nobody") is None


@pytest.mark.parametrize(
    ("name", "password", "code"),
    [
        ("ANA", PASSWORD, "name_taken"),
        ("Á n a", PASSWORD, "name_taken"),
        ("", PASSWORD, "bad_name"),
        ("dealer", PASSWORD, "bad_name"),
        ("Ben", "short", "bad_password"),
        ("Benedict", "benedict", "bad_password"),
        ("Ben", "x" * 257, "bad_password"),
    ],
)
async def test_who_cannot_register_is_told_why(accounts: AccountStore, name: str, password: str, code: str) -> None:
    await registered(accounts)
    refused = await accounts.register(name, password)
    assert isinstance(refused, Refused)
    assert refused.code == code
    assert refused.message[0].isupper()
    assert refused.message.endswith(".")


async def test_a_name_asked_for_many_times_at_once_is_had_once(accounts: AccountStore) -> None:
    answers = await asyncio.gather(*(accounts.register("Ana", PASSWORD) for _ in range(8)))
    assert sum(isinstance(answer, Player) for answer in answers) == 1
    assert {answer.code for answer in answers if isinstance(answer, Refused)} == {"name_taken"}


async def test_roles_are_given_and_taken(accounts: AccountStore) -> None:
    operator = await accounts.register("operator", PASSWORD, role="operator")
    assert isinstance(operator, Player)
    assert operator.role == "operator"
    ana = await registered(accounts)
    assert await accounts.set_role(ana.player_id, "support")
    found = await accounts.get(ana.player_id)
    assert found is not None
    assert found.role == "support"
    assert not await accounts.set_role("p_nobody", "support")


async def test_a_password_is_changed(accounts: AccountStore) -> None:
    ana = await registered(accounts)
    assert await accounts.set_password(ana.player_id, "another password") is None
    assert await accounts.verify("Ana", PASSWORD) is None
    assert await accounts.verify("Ana", "another password") == ana
    refused = await accounts.set_password(ana.player_id, "short")
    assert isinstance(refused, Refused)
    assert isinstance(await accounts.set_password("p_nobody", PASSWORD), Refused)


async def test_only_an_argon2id_hash_is_kept_and_it_is_renewed_when_too_weak(sqlite_url: str) -> None:
    weak = AccountStore(sqlite_url, QUICK)
    await registered(weak)
    await weak.close()
    strong = AccountStore(sqlite_url, PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    before = await kept(sqlite_url)
    assert await strong.verify("Ana", PASSWORD) is not None
    after = await kept(sqlite_url)
    assert await strong.verify("Ana", PASSWORD) is not None
    await strong.close()
    assert before.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    assert after.startswith("$argon2id$v=19$m=16,t=2,p=1$")
    assert PASSWORD not in before + after


async def kept(url: str) -> str:
    engine = create_engine(url)
    async with reading(engine) as connection:
        found = await connection.scalar(select(players.c.password_hash))
    await engine.dispose()
    return str(found)


def test_the_room_s_own_hashes_are_as_strong_as_recommended() -> None:
    """OWASP's least for argon2id: 19 MiB, two passes."""
    hasher = PasswordHasher()
    assert hasher.memory_cost >= 19_456
    assert hasher.time_cost >= 2


# --- whom a provider speaks for ----------------------------------------------------------------------------------


async def test_a_subject_is_one_player_however_many_ask_at_once(accounts: AccountStore) -> None:
    found = await asyncio.gather(*(accounts.of_subject("https://id", f"s{number % 3}", "Ana") for number in range(12)))
    assert len({player.player_id for player in found}) == 3
    assert len({names.key_of(player.name) for player in found}) == 3
    assert all(found[number] == found[number % 3] for number in range(12))


async def test_the_same_subject_of_another_issuer_is_somebody_else(accounts: AccountStore) -> None:
    one, other = [await accounts.of_subject(issuer, "s1", "Ana") for issuer in ("https://one", "https://other")]
    assert one.player_id != other.player_id


async def test_a_name_that_was_registered_stays_its_owners(accounts: AccountStore) -> None:
    ana = await accounts.register("Ana", PASSWORD)
    guest = await accounts.of_subject("https://id", "s1", "ANA")
    assert isinstance(ana, Player)
    assert (guest.player_id != ana.player_id, guest.role) == (True, "player")
    assert guest.name.startswith("ANA ")
    assert await accounts.verify("Ana", PASSWORD) == ana
