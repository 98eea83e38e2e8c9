"""Migrations lead to the schema, on both databases, however many services start at once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, delete, insert, text, update

from brelan.sql import DatabaseError, create_engine, migrate, reading, writing
from brelan.sql.schema import ledger_transfers, metadata

NEWEST = "0002"
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
    await migrate(sql_url)
    await migrate(sql_url)


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


async def test_what_was_booked_can_be_neither_changed_nor_deleted(sql_url: str) -> None:
    engine = create_engine(sql_url)
    async with writing(engine) as connection:
        await connection.execute(insert(ledger_transfers), [TRANSFER])
    for change in (update(ledger_transfers).values(code="x"), delete(ledger_transfers)):
        with pytest.raises(Exception, match="append-only"):
            async with writing(engine) as connection:
                await connection.execute(change)
    await engine.dispose()


async def test_a_database_of_a_newer_brelan_is_left_alone(sqlite_url: str) -> None:
    engine = create_engine(sqlite_url)
    async with writing(engine) as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await engine.dispose()
    with pytest.raises(DatabaseError, match="newer Brelan"):
        await migrate(sqlite_url)
