"""``brelan bots``: bots over the room's public interface."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import click
import httpx2
import msgspec

from brelan.bots.crew import Plan, run_bots
from brelan.client import ClientError
from brelan.telemetry.logs import configure_logs


@click.command()
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="The room.")
@click.option("--tables", type=click.IntRange(1), help="Play at this many tables. [all there are]")
@click.option("--seconds", type=click.FloatRange(0), default=30.0, show_default=True, help="How long.")
@click.option("--forever", is_flag=True, help="Until stopped; seats are kept.")
@click.option(
    "--think", type=click.FloatRange(0), default=0.0, show_default=True, help="Seconds of thought, on average."
)
@click.option("--seed", type=int, help="The same characters and whims again.")
@click.option("--free-seats", type=click.IntRange(0), help="Seats left for people at each table. [1; 2 with --forever]")
@click.option("--accounts-file", type=click.Path(path_type=Path), help="Keep the bots' accounts here.")
@click.option("--operator-file", type=click.Path(path_type=Path, exists=True), help="Who may open tables (JSON).")
@click.option("--open", "open_tables", is_flag=True, help="Open the tables first; needs --operator-file.")
@click.option("--hand-pause-ms", type=click.IntRange(0), help="Pause between hands at tables opened now.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
def bots(
    url: str,
    tables: int | None,
    seconds: float,
    forever: bool,
    think: float,
    seed: int | None,
    free_seats: int | None,
    accounts_file: Path | None,
    operator_file: Path | None,
    open_tables: bool,
    hand_pause_ms: int | None,
    as_json: bool,
) -> None:
    """Let bots play: legal, varied poker, now and then late, lost or away."""
    configure_logs("bots", "console", "WARNING")
    plan = Plan(
        url=url,
        tables=tables,
        seconds=None if forever else seconds,
        think=think,
        seed=seed,
        free_seats=free_seats if free_seats is not None else (2 if forever else 1),
        accounts_file=accounts_file,
        operator=msgspec.json.decode(operator_file.read_bytes(), type=dict[str, str]) if operator_file else None,
        open_tables=open_tables,
        hand_pause_ms=hand_pause_ms,
    )
    try:
        report = asyncio.run(_run(plan))
    except (ClientError, httpx2.HTTPError) as error:
        click.echo(f"brelan bots: {error}", err=True)
        sys.exit(1)
    if as_json:
        click.echo(json.dumps(report))
    elif not forever:
        click.echo(
            f"{report['hands_completed']} hands at {report['tables']} tables in {report['seconds']} s: "
            f"{report['acked']} commands accepted, {sum(report['refused'].values())} refused, "
            f"{report['unanswered']} without an answer."
        )
    for violation in report["violations"]:
        click.echo(f"brelan bots: {violation}", err=True)
    sys.exit(1 if report["violations"] else 0)


async def _run(plan: Plan) -> dict[str, Any]:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return await run_bots(plan, stop)
