"""``brelan backup`` and ``brelan restore``: a room into a folder, a folder into a room (docs/operating/backup.md)."""

import asyncio
import sys
import time
from pathlib import Path

import click
import msgspec

from brelan.backups import room
from brelan.backups.event_log import BackupError
from brelan.cli.running import room_settings
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.server import ServerError
from brelan.sql.engine import DatabaseError

ERRORS = (BackupError, LogUnavailable, DatabaseError, ServerError, OSError)


@click.command()
@click.option("--to", "target", type=click.Path(path_type=Path), required=True, help="A folder that is not there yet.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the room. [BRELAN_DATA, default var]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
def backup(target: Path, data: Path | None, as_json: bool) -> None:
    """Take the whole room, while it runs, as of one moment: event log, database, keys.

    It holds cards that nobody may see, and the keys to them: keep it as safe as the room.
    """
    settings = room_settings(data)
    try:
        manifest = asyncio.run(room.take(settings, target.absolute()))
    except ERRORS as error:
        click.echo(f"brelan backup: {error}", err=True)
        sys.exit(1)
    if as_json:
        click.echo(msgspec.json.encode(manifest))
        return
    click.echo(f"{manifest.keys} keys of {manifest.shards} shards, the database and the keys are in {target}.")
    click.echo(f"No money could be booked for {manifest.held_ms} ms.")


@click.command()
@click.option("--from", "source", type=click.Path(path_type=Path, exists=True), required=True, help="The backup.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the new room. [BRELAN_DATA, default var]")
@click.option("--old-database", help="URL of the lost room's database, if it is still there: what is lost is counted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
def restore(source: Path, data: Path | None, old_database: str | None, as_json: bool) -> None:
    """Make a room of a backup. What was played and booked since then is lost; open hands are called off."""
    settings = room_settings(data)
    try:
        manifest = asyncio.run(room.restore(settings, source.absolute()))
        lost = asyncio.run(room.lost_since(manifest, old_database)) if old_database else None
    except ERRORS as error:
        click.echo(f"brelan restore: {error}", err=True)
        sys.exit(1)
    if as_json:
        click.echo(msgspec.json.encode({"backup": manifest, "lost": lost}))
        return
    taken = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(manifest.at_ms / 1000))
    click.echo(f"The room in {settings.data} is as it was at {taken}.")
    click.echo(f"Prove it: brelan verify-log --data {settings.data}")
    if lost is None:
        click.echo("What was booked since then is lost: compare with the cashiers' own records.")
        return
    click.echo(f"{lost.transfers} transfers were booked since then, and are lost:")
    for kind, (number, amount) in sorted(lost.by_kind.items()):
        click.echo(f"  {kind}: {number}, together {amount}")
    for transfer_id, kind, amount in lost.cashier:
        click.echo(f"  to be booked again by hand: {kind} {transfer_id} of {amount}")
