"""Every table rebuilt from its log, held against its snapshot and against the ledger. It may be asked while they play.

A table's escrow account must hold what its state says, give or take the transfers that are under way: a buy-in the
ledger has booked and the table has not heard of yet, a cash-out the ledger has booked and the table still counts.
"""

import asyncio
import contextlib
from collections.abc import Mapping

import msgspec
import structlog

from brelan.audit.proof import Entries, prove
from brelan.eventlog import keys
from brelan.eventlog.log import Log, LogUnavailable
from brelan.eventlog.tables import load_table
from brelan.ledger.accounts import table_account
from brelan.ledger.books import Books, BooksUnavailable
from brelan.ledger.decide import PAID_ALREADY
from brelan.rules.invariants import violations
from brelan.rules.state import TableState, Transfer
from brelan.rules.table import escrow
from brelan.telemetry import metrics

TRIES = 20  # a table that moves while the ledger is read is looked at again
PAUSE_SECONDS = 0.05

logger = structlog.get_logger(__name__)


class TableReport(msgspec.Struct):
    """``difference``: the ledger's escrow less what the table accounts for, in minor units; 0 is right."""

    table_id: str
    entries: int = 0
    version: int = 0
    snapshot_version: int | None = None
    escrow: int = 0
    difference: int = 0
    problems: list[str] = []
    archived: int = 0  # entries that only the archive has
    begins_after: int = 0  # the version taken for granted; 0: rebuilt from the table's first entry on


async def verify_table(log: Log, books: Books, table_id: str, archive: Entries | None = None) -> TableReport:
    report = TableReport(table_id)
    for _ in range(TRIES):
        proof = await prove(log, table_id, archive)
        state = proof.state
        report = TableReport(
            table_id,
            entries=proof.entries,
            snapshot_version=proof.snapshot_version,
            problems=proof.problems,
            archived=proof.archived,
            begins_after=proof.begins_after,
        )
        report.version = state.version
        report.escrow = escrow(state)
        report.problems += violations(state)
        await _compare_with_ledger(books, state, report)
        if await log.last_id(keys.table_log(table_id)) == f"{state.version}-0":
            break
        await asyncio.sleep(PAUSE_SECONDS)
    if report.difference:
        report.problems.append(f"the ledger's escrow differs from the table by {report.difference}")
    return report


async def _compare_with_ledger(books: Books, state: TableState, report: TableReport) -> None:
    report.difference = await escrow_difference(books, state)


async def escrow_difference(books: Books, state: TableState) -> int:
    """The ledger's escrow less what the table accounts for."""
    account = table_account(state.table_id)
    known = await books.known([account], state.transfers)
    booked = [
        one
        for one in state.transfers.values()
        if (seen := known.decided.get(one.transfer_id)) and (seen.outcome == "booked" or seen.code == PAID_ALREADY)
    ]
    return known.balances.get(account, 0) - escrow(state) - sum(map(_under_way, booked))


def _under_way(transfer: Transfer) -> int:
    match transfer.kind:
        case "buy_in" | "top_up":
            return transfer.amount
        case "cash_out" | "refund" | "rake":
            return -transfer.amount


async def audit_escrow(logs: Mapping[str, Log], books: Books) -> dict[str, int]:
    """The difference of every table that has one; from snapshots and what follows them, so it may run all the time."""
    found = {}
    for shard, log in logs.items():
        for table_id in await log.hash_all(keys.tables(shard)):
            if difference := await _settled_difference(log, books, table_id):
                found[table_id] = difference
    return found


async def _settled_difference(log: Log, books: Books, table_id: str) -> int:
    """0 also for a table that never holds still: it is looked at again the next time."""
    for _ in range(TRIES):
        state = await load_table(log, table_id)
        difference = await escrow_difference(books, state)
        if not difference:
            return 0
        await asyncio.sleep(PAUSE_SECONDS)
        if await log.last_id(keys.table_log(table_id)) == f"{state.version}-0":
            return difference
    return 0


async def audit_escrow_until(stop: asyncio.Event, logs: Mapping[str, Log], books: Books, seconds: float) -> None:
    """Again and again; the figure goes to the metrics, what is wrong to the log."""
    while not stop.is_set():
        try:
            found = await audit_escrow(logs, books)
        except (LogUnavailable, BooksUnavailable) as error:
            logger.warning("escrow cannot be audited", reason=str(error))
        else:
            metrics.escrow_difference_minor_units.set(sum(map(abs, found.values())))
            for table_id, difference in found.items():
                logger.error("escrow differs", table=table_id, difference=difference)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)


async def verify_tables(logs: Mapping[str, Log], books: Books, archive: Entries | None = None) -> list[TableReport]:
    """Every table of every shard."""
    return [
        await verify_table(log, books, table_id, archive)
        for shard, log in logs.items()
        for table_id in await log.hash_all(keys.tables(shard))
    ]
