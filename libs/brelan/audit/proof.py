"""A table rebuilt from its first entry on: from the archive what the log has no more, from the log the rest.

On the way the snapshot must be what the fold is at its version. Where the archive has not all of the beginning (history
was not there yet, or an older Brelan kept less) the proof begins at the snapshot, and says so.
"""

from collections.abc import Iterable
from typing import Protocol

import msgspec
from sqlalchemy import select

from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.eventlog.tables import decode_state, encode_state
from brelan.events.envelope import TableCommitted, decode_committed
from brelan.rules.state import TableState, initial_state
from brelan.rules.table import apply_entry
from brelan.sql.engine import create_engine, reading
from brelan.sql.schema import history_entries, history_hands

PAGE = 2_000


class Entries(Protocol):
    """The archive's entries of a table, by version. What an epoch took back is not among them."""

    async def page(self, table_id: str, after: int) -> list[TableCommitted]: ...


class Proof(msgspec.Struct):
    """``begins_after``: the version of the state that was taken for granted; 0: the proof begins with the table."""

    state: TableState
    begins_after: int = 0
    entries: int = 0  # of the log
    archived: int = 0  # of the archive
    snapshot_version: int | None = None
    problems: list[str] = []


class ArchivedEntries:
    """In SQL: every hand keeps the part of the log that led to it (``brelan.histories.table``)."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url)

    async def page(self, table_id: str, after: int) -> list[TableCommitted]:
        """Raises DatabaseUnavailable."""
        of_the_table = history_hands.c.table_id == table_id
        query = (
            select(history_entries.c.version, history_entries.c.data)
            .join_from(history_entries, history_hands, history_entries.c.hand_id == history_hands.c.hand_id)
            .where(of_the_table, history_entries.c.version > after)
            .order_by(history_entries.c.version)
            .limit(PAGE)
        )
        async with reading(self._engine) as connection:
            rows = [(row.version, row.data) for row in await connection.execute(query)]
        if len(rows) == PAGE:  # of the last version there may be more
            rows = [row for row in rows if row[0] < rows[-1][0]]
        return _of_the_last_epoch(decode_committed(data) for _, data in rows)

    async def close(self) -> None:
        await self._engine.dispose()


def _of_the_last_epoch(entries: Iterable[TableCommitted]) -> list[TableCommitted]:
    """One of each version: after a lost tail a version comes again, in a higher epoch."""
    by_version: dict[int, TableCommitted] = {}
    for entry in entries:
        known = by_version.get(entry.version)
        if known is None or known.epoch < entry.epoch:
            by_version[entry.version] = entry
    return list(by_version.values())


async def prove(log: Log, table_id: str, archive: Entries | None = None) -> Proof:
    """It may be asked while they play. Raises LogUnavailable, DatabaseUnavailable."""
    snapshot = await log.get(keys.snapshot(table_id))
    entries = await log.range(keys.table_log(table_id))
    at_snapshot = decode_state(snapshot) if snapshot else None
    proof = Proof(initial_state(), entries=len(entries))
    proof.snapshot_version = at_snapshot.version if at_snapshot else None
    before = entries[0].at_ms - 1 if entries else proof.snapshot_version or 0  # what only the archive has
    if before and archive is not None:
        await _fold_archived(proof, archive, table_id, before, at_snapshot)
    if proof.state.version < before:
        proof.state, proof.archived = at_snapshot or initial_state(), 0
        proof.begins_after = proof.state.version
        proof.problems = []
    for entry in entries:
        if entry.at_ms > proof.state.version:
            if entry.at_ms != proof.state.version + 1:
                proof.problems.append(f"after version {proof.state.version} comes {entry.id}")
            _fold(proof, decode_committed(entry.data), at_snapshot)
    if at_snapshot is not None and at_snapshot.version > proof.state.version:
        proof.problems.append(f"the log ends with version {proof.state.version}, the snapshot is of a later one")
    return proof


async def _fold_archived(
    proof: Proof, archive: Entries, table_id: str, until: int, at_snapshot: TableState | None
) -> None:
    """As far as there is no gap."""
    while proof.state.version < until and (page := await archive.page(table_id, proof.state.version)):
        for committed in page:
            if committed.version != proof.state.version + 1:
                return
            if committed.version > until:
                return
            _fold(proof, committed, at_snapshot)
            proof.archived += 1


def _fold(proof: Proof, committed: TableCommitted, at_snapshot: TableState | None) -> None:
    apply_entry(proof.state, committed)
    if at_snapshot is None or proof.state.version != at_snapshot.version:
        return
    if encode_state(proof.state) != encode_state(at_snapshot):  # encoded now: an older Brelan's had fewer fields
        proof.problems.append(f"the snapshot of version {at_snapshot.version} is not what the log says")
