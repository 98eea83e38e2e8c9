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
from brelan.sql.engine import DatabaseError
from brelan.telemetry import metrics

TRIES = 20  # a table that moves while log and ledger are read is looked at again
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
    """Raises LogUnavailable, DatabaseUnavailable; what cannot be read is a problem of this table."""
    try:
        proof = await prove(log, table_id, archive)
        difference = await _settled_difference(log, books, table_id)
        wrong = [*proof.problems, *violations(proof.state)]
    except (LogUnavailable, BooksUnavailable, DatabaseError):
        raise
    except Exception as error:  # noqa: BLE001 - damaged: there is no telling how
        return TableReport(table_id, problems=[f"its log cannot be read: {error!r}"])
    if difference:
        wrong.append(f"the ledger's escrow differs from the table by {difference}")
    return TableReport(
        table_id,
        entries=proof.entries,
        version=proof.state.version,
        snapshot_version=proof.snapshot_version,
        escrow=escrow(proof.state),
        difference=difference,
        problems=wrong,
        archived=proof.archived,
        begins_after=proof.begins_after,
    )


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
            try:
                difference = await _settled_difference(log, books, table_id)
            except (LogUnavailable, BooksUnavailable):
                raise
            except Exception as error:  # noqa: BLE001 - the others are audited all the same
                logger.error("escrow cannot be audited", table=table_id, reason=repr(error))
                continue
            if difference:
                found[table_id] = difference
    return found


async def _settled_difference(log: Log, books: Books, table_id: str) -> int:
    """What is wrong is wrong at every look. What is only on its way, between a look at the log and one at the books, is
    not: also at a table that never holds still."""
    difference = 0
    for _ in range(TRIES):
        state = await load_table(log, table_id)
        difference = await escrow_difference(books, state)
        if not difference:
            return 0
        await asyncio.sleep(PAUSE_SECONDS)
        if await log.last_id(keys.table_log(table_id)) == f"{state.version}-0":
            return difference
    return difference


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
