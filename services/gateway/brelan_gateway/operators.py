"""What operators are shown and may say: a table as it stands, its log, its commands, and the dead letters of the room.

Whoever looks is logged. No hidden card comes by here (``brelan.views.operating``).
"""

import asyncio
import secrets
from typing import Annotated

import msgspec
import structlog
from fastapi import Header, Query

from brelan.eventlog import keys
from brelan.eventlog.dead import decode_dead
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Log, LogUnavailable
from brelan.eventlog.tables import load_table
from brelan.events.envelope import PlayerCommanded
from brelan.views.messages import OperatorsCommand
from brelan.views.operating import DeadLetter, dead_letter, log_entry, table_report
from brelan_gateway import bodies, refusals
from brelan_gateway.access import Operator, TheRoom
from brelan_gateway.handlers import ask
from brelan_gateway.identity import Identity
from brelan_gateway.refusals import Refusal
from brelan_gateway.room import Room

HOUR_MS = 3_600_000

logger = structlog.get_logger(__name__)


async def operated_table(table_id: str, operator: Operator, room: TheRoom) -> bodies.OperatedTable:
    """A table as its log has it: status, why it is frozen, seats, the hand in play without hidden cards, transfers."""
    log = await _log_of(room, table_id)
    _note(operator, "looked at a table", table_id)
    try:
        state = await load_table(log, table_id)
    except LogUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - why it cannot be read is the answer
        last = await log.last_id(keys.table_log(table_id))
        return bodies.OperatedTable(table_id=table_id, problem=f"Its log, up to {last}, cannot be read: {error!r}")
    return bodies.OperatedTable(table_id=table_id, table=table_report(state))


async def operated_log(
    table_id: str,
    operator: Operator,
    room: TheRoom,
    before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    count: Annotated[int, Query(ge=1, le=500)] = 50,
) -> bodies.TableLog:
    """The newest entries of a table's log, or those before a version; oldest first."""
    log = await _log_of(room, table_id)
    _note(operator, "looked at a log", table_id)
    stream = keys.table_log(table_id)
    until = int((await log.last_id(stream)).partition("-")[0]) + 1 if before is None else before
    after = max(0, until - 1 - count)
    entries = await log.range(stream, f"{after}-0" if after else BEGINNING, count)
    shown = [log_entry(entry.at_ms, entry.data) for entry in entries if entry.at_ms < until]
    first = entries[0].at_ms if entries else 0
    return bodies.TableLog(entries=shown, next=first if shown and first > 1 else None)


async def operate_table(
    table_id: str,
    body: bodies.OperatorCommand,
    operator: Operator,
    room: TheRoom,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=64)] = None,
) -> bodies.OpenedTable:
    """Pause, resume, configure or close a table; let a frozen one play on, with or without its hand."""
    await _log_of(room, table_id)
    try:
        command: OperatorsCommand = msgspec.convert(body.model_dump(exclude_unset=True), OperatorsCommand)
    except msgspec.ValidationError as error:
        raise refusals.invalid(f"This is no command of an operator: {error}.") from None
    _note(operator, f"said {body.type}", table_id)
    answer = await ask(
        room,
        PlayerCommanded(
            table_id=table_id,
            player_id=operator.player_id,
            name=operator.name,
            command_id=idempotency_key or secrets.token_hex(16),
            command=command,
            trace=secrets.token_hex(8),
            operator=True,
        ),
    )
    if not answer.version:
        raise Refusal(409, answer.code, answer.message)
    return bodies.OpenedTable(table_id=table_id, version=answer.version)


async def dead_letters(
    operator: Operator,
    room: TheRoom,
    hours: Annotated[int, Query(ge=1, le=24 * 366)] = 24,
    count: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> bodies.Dead:
    """Entries that no service could handle, with their errors, by shard and service; the oldest of each first."""
    _note(operator, "looked at dead letters", "")
    found = await asyncio.gather(*(_dead_of(shard.log, hours, count) for shard in room.shards.values()))
    letters = [letter for of_shard in found for letter in of_shard]
    since_ms = max(0, await next(iter(room.shards.values())).log.now_ms() - hours * HOUR_MS)
    letters += [DeadLetter("wallet", entry) for entry in await room.dead_letters.wallet(since_ms, count)]
    letters += [DeadLetter("history", entry) for entry in await room.dead_letters.history(since_ms, count)]
    return bodies.Dead(dead=[dead_letter(letter) for letter in letters])


async def _dead_of(log: Log, hours: int, count: int) -> list[DeadLetter]:
    letters = []
    since_ms = max(0, await log.now_ms() - hours * HOUR_MS)
    for service in (Service.TABLE, Service.DEALER):
        entries = await log.range(keys.dead(log.shard, service), f"{since_ms}-0", count)
        letters += [DeadLetter(service.value, decode_dead(entry.data)) for entry in entries]
    return letters


async def _log_of(room: Room, table_id: str) -> Log:
    """Raises Refusal when there is no such table; one that cannot be read is in no lobby, but here."""
    log = room.shard_of(table_id).log
    (config,) = await log.hash_get(keys.tables(log.shard), [table_id])
    if config is None:
        raise refusals.unknown_table(table_id)
    return log


def _note(operator: Identity, what: str, table_id: str) -> None:
    logger.info("operator", name=operator.name, did=what, table=table_id)
