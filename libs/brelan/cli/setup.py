"""What a room needs before people can play: keys, database, operator (``brelan keys``), tables (``brelan furnish``).

``brelan up`` does both by itself; elsewhere (compose, Kubernetes) each is a job that runs once and may run again.
"""

import asyncio
import errno
import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import httpx2
import msgspec

from brelan.auth.accounts import AccountStore
from brelan.cli.running import check_whole, room_settings, write_whole
from brelan.client import Client, ClientError
from brelan.deck.keys import ensure_keys
from brelan.eventlog.server import ServerError
from brelan.sql import migrate

TABLES = (("stud", "2-4", "Stud 2-4"), ("draw", "2-4", "Draw 2-4"))


def operator_file(folder: Path) -> Path:
    return folder / "keys" / "operator.json"


def read_operator(path: Path) -> dict[str, str]:
    """Name and password. Raises OSError that says so when they are not in there."""
    try:
        operator = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
        return {"name": operator["name"], "password": operator["password"]}
    except (msgspec.MsgspecError, KeyError):
        raise OSError(errno.EINVAL, "it holds no name and password; put the file from a backup there") from None


async def prepare(folder: Path, sql_url: str) -> dict[str, str]:
    """Keys, database schema and the operator's account, each made when it is missing. Returns the operator."""
    check_whole(folder)
    ensure_keys(folder)
    await migrate(sql_url)
    return await _operator(sql_url, operator_file(folder))


async def _operator(sql_url: str, path: Path) -> dict[str, str]:
    """The operator's account; its password lies beside the keys. A file without its account is made good too."""
    operator = operator_secret(path)
    accounts = AccountStore(sql_url)
    try:
        if await accounts.by_name(operator["name"]) is None:
            await accounts.register(operator["name"], operator["password"], role="operator")
    finally:
        await accounts.close()
    return operator


def operator_secret(path: Path) -> dict[str, str]:
    if path.exists():
        return read_operator(path)
    operator = {"name": "operator", "password": secrets.token_urlsafe(18)}
    write_whole(path, json.dumps(operator), 0o600)
    return operator


async def furnish_room(url: str, operator: dict[str, str], say: Callable[[str], None], **config: Any) -> None:
    """One table of each game, when the room has none."""
    async with Client(url) as client:
        await client.log_in(operator["name"], operator["password"])
        if await client.tables():
            say("the tables are as they were")
            return
        for game, limit, name in TABLES:
            table_id = await client.open_table(preset=f"{game} {limit}", name=name, **config)
            say(f"opened {name} ({table_id})")


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the room. [BRELAN_DATA, default var]")
def keys(data: Path | None) -> None:
    """Make what is missing of the room's keys, database and operator account."""
    settings = room_settings(data)
    folder = settings.data.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(prepare(folder, settings.database_url))
    except ServerError as error:
        click.echo(f"brelan keys: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        click.echo(f"brelan keys: {folder} cannot be used: {error.strerror}", err=True)
        sys.exit(1)
    click.echo(f"keys, database and operator are ready in {folder}")


@click.command()
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="The room.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder with the operator's key. [BRELAN_DATA]")
def furnish(url: str, data: Path | None) -> None:
    """Open one table of each game when the room has none."""
    settings = room_settings(data)
    try:
        operator = read_operator(operator_file(settings.data.absolute()))
    except OSError as error:
        click.echo(f"brelan furnish: the operator's key cannot be read ({error.strerror}); run brelan keys", err=True)
        sys.exit(1)
    try:
        asyncio.run(furnish_room(url, operator, click.echo))
    except (ClientError, httpx2.HTTPError) as error:
        click.echo(f"brelan furnish: {url}: {error}", err=True)
        sys.exit(1)
