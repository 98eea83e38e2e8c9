"""``brelan table`` and ``brelan dead``: what an operator can see and do over the room's own interface."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import click
import httpx2

from brelan.cli.running import room_settings
from brelan.cli.setup import operator_file, read_operator
from brelan.client import Client, ClientError

Ask = Callable[[Client], Awaitable[dict[str, Any]]]

url_option = click.option(
    "--url",
    default=lambda: f"http://127.0.0.1:{os.environ.get('BRELAN_PORT', '8000')}",
    help="The room. [default: here, on BRELAN_PORT or 8000]",
)
data_option = click.option(
    "--data", type=click.Path(path_type=Path), help="Folder with the operator's key. [BRELAN_DATA, default var]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")


@click.command()
@click.argument("table_id")
@click.option("--log", "entries", type=click.IntRange(1, 500), help="Show so many of its newest log entries too.")
@click.option("--resume", is_flag=True, help="A frozen table plays on where it stopped.")
@click.option("--void-hand", is_flag=True, help="A frozen table gives every bet back and deals the next hand.")
@click.option("--close", is_flag=True, help="Pays everybody and closes it; frozen: as it stood when the hand began.")
@url_option
@data_option
@json_option
def table(
    table_id: str,
    entries: int | None,
    resume: bool,
    void_hand: bool,
    close: bool,
    url: str,
    data: Path | None,
    as_json: bool,
) -> None:
    """Look at a table: why it is frozen, who has what, what is under way. And let it go on, or close it."""
    if resume + void_hand + close > 1:
        raise click.UsageError("Choose one of --resume, --void-hand and --close.")

    async def ask(client: Client) -> dict[str, Any]:
        if resume or void_hand:
            await client.operate(table_id, "UnfreezeTable", void_hand=void_hand)
        elif close:
            await client.operate(table_id, "CloseTable")
        report = await client.operated_table(table_id)
        return report | (await client.table_log(table_id, entries) if entries else {})

    report = _asked("table", url, data, ask)
    click.echo(json.dumps(report) if as_json else "\n".join(_table_in_words(report)))


@click.command()
@click.option("--hours", type=click.IntRange(1, 8784), default=24, show_default=True, help="How far back.")
@click.option("--count", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most, of each stream.")
@url_option
@data_option
@json_option
def dead(hours: int, count: int, url: str, data: Path | None, as_json: bool) -> None:
    """Entries that no service could handle, with their errors."""

    async def ask(client: Client) -> dict[str, Any]:
        return {"dead": await client.dead_letters(hours, count)}

    report = _asked("dead", url, data, ask)
    if as_json:
        click.echo(json.dumps(report))
        return
    for letter in report["dead"]:
        click.echo(f"{letter['service']}: {letter['stream']} {letter['id']}, {letter['size']} bytes: {letter['error']}")
        if letter["message"] is not None:
            click.echo(f"    {json.dumps(letter['message'])}")
    if not report["dead"]:
        click.echo(f"Nothing in the last {hours} hours.")


def _asked(name: str, url: str, data: Path | None, ask: Ask) -> dict[str, Any]:
    """The answer; or a sentence, and the exit code 1."""
    path = operator_file(room_settings(data).data.absolute())
    try:
        operator = read_operator(path)
        return asyncio.run(_as_operator(url, operator, ask))
    except OSError as error:
        click.echo(f"brelan {name}: the operator's key {path} cannot be read ({error.strerror})", err=True)
    except (ClientError, httpx2.HTTPError) as error:
        click.echo(f"brelan {name}: {url}: {error}", err=True)
    sys.exit(1)


async def _as_operator(url: str, operator: dict[str, str], ask: Ask) -> dict[str, Any]:
    async with Client(url) as client:
        await client.log_in(operator["name"], operator["password"])
        return await ask(client)


# --- in words ----------------------------------------------------------------------------------------------------


def _table_in_words(report: dict[str, Any]) -> list[str]:
    if report["problem"]:
        return [f"{report['table_id']}: {report['problem']}", *_log_in_words(report)]
    table = report["table"]
    which = f"{table['table_id']} {table['name']!r} ({table['game']})"
    version = f"version {table['version']} of epoch {table['epoch']}"
    lines = [f"{which}: {table['status']}, {version}, {table['hands_played']} hands"]
    if table["status"] == "frozen":
        lines.append(f"  frozen (it was {table['frozen_from']}): {table['frozen_reason']}")
    lines += [f"  WRONG: {violation}" for violation in table["violations"]]
    lines += [f"  seat {seat['seat']}: {seat['player_id']} {seat['name']!r}, {_money(seat)}" for seat in table["seats"]]
    lines += _hand_in_words(table["hand"]) if table["hand"] else []
    lines += [
        f"  {one['kind']} {one['transfer_id']} of {one['amount']}, asked {one['asked']} times"
        + (", declined" if one["declined"] else "")
        for one in table["transfers"]
    ]
    return [*lines, *_log_in_words(report)]


def _money(seat: dict[str, Any]) -> str:
    held = [f"{seat[name]} {word}" for name, word in (("reserved", "reserved"), ("chips_waiting", "waiting"))]
    return ", ".join([f"{seat['stack']} chips", *(one for one in held if not one.startswith("0 "))])


def _hand_in_words(hand: dict[str, Any]) -> list[str]:
    lines = [f"  hand {hand['hand_id']}: {hand['phase']}, street {hand['street']}"]
    lines += [
        f"    seat {player['seat']}: began with {player['starting_stack']}, put in {player['put_in']}, "
        f"has {player['stack']}" + (", folded" if player["folded"] else "")
        for player in hand["players"]
    ]
    if hand["turn"]:
        lines.append(f"    seat {hand['turn']['seat']} has to decide")
    if hand["dealer_asked"]:
        asked = hand["dealer_asked"]
        lines.append(f"    the dealer was asked for {asked['request_id']} {asked['times']} times")
    return lines


def _log_in_words(report: dict[str, Any]) -> list[str]:
    lines = []
    for entry in report.get("entries", ()):
        events = entry.get("events")
        if events is None:
            lines.append(f"  {entry['version']}: cannot be read: {entry['unreadable']}")
        else:
            said = "; ".join(json.dumps(event) for event in events)
            lines.append(f"  {entry['version']} ({entry['cause'] or 'by itself'}): {said}")
    return lines
