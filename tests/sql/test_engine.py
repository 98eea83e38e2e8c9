"""What is wrong with a database is said in a sentence, without its password."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from brelan.sql import DatabaseError, create_engine, migrate, reading, writing
from brelan.sql.schema import ledger_cursors


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("brelan.db", "is no database URL"),
        ("mysql://ana:secret@localhost/brelan", "names mysql"),
        ("postgresql+psycopg2://ana:secret@localhost/brelan", "the driver has to be postgresql\\+asyncpg"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_a_sentence(url: str, sentence: str) -> None:
    with pytest.raises(DatabaseError, match=sentence) as refused:
        create_engine(url)
    assert "secret" not in str(refused.value)


async def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no such folder"):
        await migrate(f"sqlite:///{tmp_path / 'nowhere' / 'brelan.db'}")


async def test_a_server_that_is_not_there_is_said() -> None:
    pytest.importorskip("asyncpg")
    with pytest.raises(DatabaseError, match="cannot be reached") as refused:
        await migrate("postgresql://ana:secret@127.0.0.1:1/brelan")
    assert "secret" not in str(refused.value)


async def test_sqlite_keeps_what_was_committed(sqlite_url: str) -> None:
    engine = create_engine(sqlite_url)
    async with reading(engine) as connection:
        pragmas = {
            name: (await connection.execute(text(f"PRAGMA {name}"))).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    await engine.dispose()
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


async def test_writers_wait_for_each_other(sql_url: str) -> None:
    """A read before the write does not make a writer lose."""
    engines = [create_engine(sql_url) for _ in range(4)]

    async def write(engine: AsyncEngine, name: str) -> None:
        async with writing(engine) as connection:
            await connection.execute(select(ledger_cursors))
            await asyncio.sleep(0.01)
            await connection.execute(insert(ledger_cursors).values(stream=name, entry_id="1-0"))

    await asyncio.gather(*(write(engine, f"s{number}") for number, engine in enumerate(engines)))
    async with reading(engines[0]) as connection:
        assert len((await connection.execute(select(ledger_cursors))).all()) == 4
    await asyncio.gather(*(engine.dispose() for engine in engines))


async def test_what_raises_is_rolled_back(sql_url: str) -> None:
    engine = create_engine(sql_url)

    async def change_of_mind() -> None:
        async with writing(engine) as connection:
            await connection.execute(insert(ledger_cursors).values(stream="s", entry_id="1-0"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await change_of_mind()
    async with reading(engine) as connection:
        assert (await connection.execute(select(ledger_cursors))).all() == []
    await engine.dispose()
