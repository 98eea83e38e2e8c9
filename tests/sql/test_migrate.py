"""Migrations lead to the schema, on both databases, however many services start at once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, delete, insert, text, update

from brelan.audit.continuous import Auditor
from brelan.audit.ledger import audit
from brelan.eventlog.memory_log import MemoryStore
from brelan.events.money import Deposit
from brelan.ledger.decide import encode_body
from brelan.sql import DatabaseError, create_engine, migrate, reading, writing
from brelan.sql.archive import SqlArchive
from brelan.sql.books import SqlBooks
from brelan.sql.migrate import migrate_engine
from brelan.sql.schema import ledger_transfers, metadata
from tests.services.wallet_room import accounts, ask, run_wallet

NEWEST = "0004"
TRANSFER = {
    "transfer_id": "t1",
    "kind": "deposit",
    "outcome": "booked",
    "code": "",
    "body": b"",
    "at_ms": 0,
    "cause": "",
    "trace": "",
}


def differences(connection: Connection) -> list[Any]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_the_migrations_lead_to_the_schema(sql_url: str) -> None:
    engine = create_engine(sql_url)
    async with reading(engine) as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


async def test_migrating_again_changes_nothing(sql_url: str) -> None:
    engine = create_engine(sql_url)
    async with writing(engine) as connection:
        await connection.execute(insert(ledger_transfers), TRANSFER)
    await migrate(sql_url)
    async with reading(engine) as connection:
        assert await connection.scalar(text("SELECT transfer_id FROM ledger_transfers")) == TRANSFER["transfer_id"]
        assert await connection.run_sync(differences) == []
    await engine.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    return str(request.getfixturevalue("empty_postgres_url"))


async def test_services_that_start_at_once_migrate_one_after_the_other(empty_url: str) -> None:
    await asyncio.gather(*(migrate(empty_url) for _ in range(5)))
    engine = create_engine(empty_url)
    async with reading(engine) as connection:
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == NEWEST
    await engine.dispose()


OLD_DATA = (  # of a ledger and an archive as the first version wrote them
    "UPDATE ledger_writer SET page = 7",
    "INSERT INTO ledger_cursors (stream, entry_id) VALUES ('requests', '5-0')",
    "INSERT INTO ledger_accounts (account, balance, sequence) VALUES ('cashier', -100, 1), ('player:ana', 100, 1)",
    (
        "INSERT INTO ledger_transfers (transfer_id, kind, outcome, code, body, at_ms, cause, trace) "
        "VALUES ('d1', 'deposit', 'booked', '', :deposit, 1, 'cashier/1-0', '')"
    ),
    (
        "INSERT INTO ledger_postings (account, sequence, transfer_id, amount, balance_after) "
        "VALUES ('cashier', 1, 'd1', -100, -100), ('player:ana', 1, 'd1', 100, 100)"
    ),
    "INSERT INTO ledger_outgoing (stream, number, data) VALUES ('replies', 1, :deposit)",
    "INSERT INTO history_cursors (stream, entry_id) VALUES ('feed', '9-0')",
    "INSERT INTO history_writers (shard, page) VALUES ('s00', 3)",
)
DEPOSIT = Deposit("d1", "ana", 100, "tests")


async def begin_with_the_first_version(url: str) -> None:
    engine = create_engine(url)
    await migrate_engine(engine, "0001")
    async with writing(engine) as connection:
        for statement in OLD_DATA:
            values = {"deposit": encode_body(DEPOSIT)} if ":deposit" in statement else {}
            await connection.execute(text(statement), values)
    await engine.dispose()


async def test_a_database_of_the_first_version_goes_on_with_all_that_is_in_it(empty_url: str) -> None:
    await begin_with_the_first_version(empty_url)
    await asyncio.gather(*(migrate(empty_url) for _ in range(3)))
    report = await audit(empty_url)
    assert (report.balanced, report.accounts, report.transfers, report.postings) == (True, 2, 1, 2)
    books, store = SqlBooks(empty_url), MemoryStore()
    opened = await books.open()
    assert (opened.page, opened.cursors, opened.digests, opened.claims) == (8, {"requests": "5-0"}, {}, {})
    assert [one.number for one in await books.outgoing("replies", 0, 9)] == [1]
    await ask(store, DEPOSIT, Deposit("d2", "ana", 50, "tests"))
    await run_wallet(store, books)
    assert await accounts(books) == {"cashier": -150, "player:ana": 150}, "what was decided once stays decided"
    auditor = Auditor(books_engine := create_engine(empty_url))
    assert (await auditor.round()).problems == ()
    archive = SqlArchive(empty_url)
    assert (await archive.open("s00")).page == 4
    for each in (books, archive):
        await each.close()
    await books_engine.dispose()


async def test_the_first_version_s_rows_cannot_be_changed_after_it_either(empty_url: str) -> None:
    await begin_with_the_first_version(empty_url)
    await migrate(empty_url)
    engine = create_engine(empty_url)
    with pytest.raises(Exception, match="append-only"):
        async with writing(engine) as connection:
            await connection.execute(update(ledger_transfers).values(page=1))
    async with reading(engine) as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


async def test_what_was_booked_can_be_neither_changed_nor_deleted(sql_url: str) -> None:
    engine = create_engine(sql_url)
    async with writing(engine) as connection:
        await connection.execute(insert(ledger_transfers), [TRANSFER])
    for change in (update(ledger_transfers).values(code="x"), delete(ledger_transfers)):
        with pytest.raises(Exception, match="append-only"):
            async with writing(engine) as connection:
                await connection.execute(change)
    await engine.dispose()


async def test_a_database_of_a_newer_brelan_is_left_alone(sql_url: str) -> None:
    engine = create_engine(sql_url)
    async with writing(engine) as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await engine.dispose()
    with pytest.raises(DatabaseError, match="newer Brelan"):
        await migrate(sql_url)
