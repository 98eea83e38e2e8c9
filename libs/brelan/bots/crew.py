"""All bots of a run: which tables, how many at each, until when."""

import asyncio
import contextlib
import time
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from brelan.bots.accounts import Accounts
from brelan.bots.bot import Bot
from brelan.bots.report import Report
from brelan.bots.temper import temper_of
from brelan.client import Client, ClientError
from brelan.rules import rejections

WAIT_FOR_TABLES_SECONDS = 30.0
STARTING = 8  # bots that come in at once
COMING_IN_SECONDS = 60.0  # for all of them together
LAST_WORDS_SECONDS = 75.0  # longer than a command may take to be answered
PRESETS = ("stud 2-4", "draw 2-4")
GATEWAY_CODES = frozenset({"busy", "rate_limited", "forbidden", "unknown_table"})


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """``seconds`` None: until stopped. ``free_seats``: left for people at each table."""

    url: str
    tables: int | None = None
    seconds: float | None = None
    think: float = 1.0
    seed: int | None = None
    free_seats: int = 1
    accounts_file: Path | None = None
    operator: dict[str, str] | None = None  # name, password
    open_tables: bool = False  # open ``tables`` new ones; else play at those there are
    hand_pause_ms: int | None = None  # of the new ones


async def run_bots(plan: Plan, stop: asyncio.Event) -> dict[str, Any]:
    """What came of it. Raises ClientError when there is no table to play at."""
    report = Report()
    accounts = Accounts(plan.accounts_file)
    rows = await _open_tables(plan) if plan.open_tables else await _find_tables(plan, stop)
    chance = Random(plan.seed)  # noqa: S311 - the bots' whims, repeatable
    codes = frozenset(rejections.SENTENCES) | GATEWAY_CODES
    bots: list[Bot] = []
    for row in rows:
        for _ in range(max(2, row["seats"] - plan.free_seats)):
            number = len(bots)
            mind = Random(chance.random())  # noqa: S311
            bot = Bot(
                url=plan.url,
                account=accounts.get(number),
                table_id=row["table_id"],
                temper=temper_of(number, mind),
                chance=mind,
                think=plan.think,
                report=report,
                known_codes=codes,
                renew=accounts.renew,
            )
            bots.append(bot)
    started = time.monotonic()
    await _play(bots, plan, stop)
    return report.as_json(len(bots), len(rows), time.monotonic() - started)


async def _play(bots: list[Bot], plan: Plan, stop: asyncio.Event) -> None:
    """Bots of a run that ends leave their seats; those that come back keep them. Time counts when all are in."""
    gate = asyncio.Semaphore(STARTING)
    leave = plan.seconds is not None
    tasks = [asyncio.create_task(bot.run(stop, leave, gate)) for bot in bots]
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(COMING_IN_SECONDS):
            await asyncio.gather(*(bot.came_in.wait() for bot in bots))
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), plan.seconds)
    stop.set()
    _, late = await asyncio.wait(tasks, timeout=LAST_WORDS_SECONDS if leave else 1.0)
    for task in late:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


async def _find_tables(plan: Plan, stop: asyncio.Event) -> list[dict[str, Any]]:
    deadline = time.monotonic() + WAIT_FOR_TABLES_SECONDS
    async with Client(plan.url) as client:
        while not stop.is_set():
            rows = [row for row in await client.tables() if row["status"] == "open"]
            if len(rows) >= (plan.tables or 1):
                return rows[: plan.tables]
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.5)
    if stop.is_set():
        return []
    raise ClientError(f"There are not {plan.tables or 1} tables to play at. An operator can open some (--open).")


async def _open_tables(plan: Plan) -> list[dict[str, Any]]:
    if plan.operator is None:
        raise ClientError("Only an operator can open tables: --operator-file says who.")
    changes: dict[str, Any] = {} if plan.hand_pause_ms is None else {"hand_pause_ms": plan.hand_pause_ms}
    async with Client(plan.url) as client:
        await client.log_in(plan.operator["name"], plan.operator["password"])
        opened = set()
        for number in range(plan.tables or 1):
            preset = PRESETS[number % len(PRESETS)]
            opened.add(await client.open_table(preset=preset, name=f"{preset.capitalize()} #{number + 1}", **changes))
        return [await client.table_details(table_id) for table_id in sorted(opened)]
