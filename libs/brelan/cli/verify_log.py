"""``brelan verify-log``: tables and ledger rebuilt from their logs."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from brelan.audit.ledger import audit
from brelan.audit.proof import ArchivedEntries
from brelan.audit.room import verify_tables
from brelan.cli.running import event_log_url, room_settings
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.redis_log import RedisStore
from brelan.eventlog.server import ServerError
from brelan.ledger.books import BooksUnavailable
from brelan.settings import RoomSettings
from brelan.sql.books import SqlBooks
from brelan.sql.engine import DatabaseError


@click.command("verify-log")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the room. [BRELAN_DATA, default var]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
@click.option("--quick", is_flag=True, help="From the snapshots on, without the archive.")
def verify_log(data: Path | None, as_json: bool, quick: bool) -> None:
    """Rebuild every table and the ledger from their logs: equal to the live state, ledger balanced.

    What the log has no more is taken from the archive; where that has it not either, the proof begins at the table's
    snapshot (begins_after in the report).
    """
    settings = room_settings(data)
    try:
        report = asyncio.run(_verify(settings, quick))
    except (LogUnavailable, BooksUnavailable, DatabaseError, ServerError) as error:
        click.echo(f"brelan verify-log: {error}", err=True)
        sys.exit(2)
    click.echo(msgspec.json.encode(report) if as_json else _sentences(report))
    sys.exit(0 if report["ok"] else 1)


async def _verify(settings: RoomSettings, quick: bool) -> dict[str, Any]:
    async with event_log_url(settings) as url:
        store = RedisStore(url)
        books = SqlBooks(settings.database_url)
        archive = ArchivedEntries(settings.database_url)
        try:
            logs = {shard: store.log(shard) for shard in settings.shard_names}
            tables = await verify_tables(logs, books, None if quick else archive)
            ledger = await audit(settings.database_url)
        finally:
            await books.close()
            await archive.close()
            await store.close()
    problems = [f"{table.table_id}: {problem}" for table in tables for problem in table.problems]
    problems += [f"ledger: {problem}" for problem in ledger.problems]
    return {
        "ok": not problems,
        "tables": len(tables),
        "entries": sum(table.entries for table in tables),
        "archived": sum(table.archived for table in tables),
        "from_the_first": sum(not table.begins_after for table in tables),
        "escrow": sum(table.escrow for table in tables),
        "ledger_sum": ledger.total,
        "accounts": ledger.accounts,
        "problems": problems,
        "by_table": [msgspec.to_builtins(table) for table in tables],
    }


def _sentences(report: dict[str, Any]) -> str:
    lines = [
        f"{report['tables']} tables rebuilt, {report['from_the_first']} of them from the very first entry on.",
        f"{report['entries']} entries lay in the log, {report['archived']} more in the archive.",
        f"The tables account for {report['escrow']}.",
        f"The ledger's {report['accounts']} accounts add up to {report['ledger_sum']}.",
    ]
    lines += [f"WRONG: {problem}" for problem in report["problems"]] or ["Equal and balanced."]
    return "\n".join(lines)
