"""A table's state, read back from its log: the snapshot of its last hand's end, and the entries after it."""

import asyncio

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.events.envelope import decode_committed
from brelan.rules.state import TableState, initial_state
from brelan.rules.table import apply_entry

TRIES = 5  # when the log is trimmed under the reader's hands
PAUSE_SECONDS = 0.05

encode_state = msgspec.msgpack.Encoder().encode
decode_state = msgspec.msgpack.Decoder(TableState).decode


class LogHole(Exception):
    """Entries are missing from a table's log that its snapshot does not make up for."""


async def load_table(log: Log, table_id: str, until: int | None = None) -> TableState:
    """As of its newest entry; or of version ``until``, or of its snapshot if that is later.

    Raises LogUnavailable; LogHole or msgspec.MsgspecError when the log is not that of a table.
    """
    return (await load_with_snapshot(log, table_id, until))[0]


async def load_with_snapshot(log: Log, table_id: str, until: int | None = None) -> tuple[TableState, int]:
    """The state, and the version of the snapshot that it was read from; 0: of none."""
    for _ in range(TRIES - 1):
        try:
            return await _load(log, table_id, until)
        except LogHole:  # trimmed between the two readings, then a newer snapshot is there; or truly missing
            await asyncio.sleep(PAUSE_SECONDS)
    return await _load(log, table_id, until)


async def _load(log: Log, table_id: str, until: int | None) -> tuple[TableState, int]:
    snapshot = await log.get(keys.snapshot(table_id))
    state = decode_state(snapshot) if snapshot else initial_state()
    from_version = state.version
    count = None if until is None else max(0, until - from_version)
    if count == 0:
        return state, from_version
    for entry in await log.range(keys.table_log(table_id), after=f"{state.version}-0", count=count):
        if entry.at_ms != state.version + 1:
            raise LogHole(f"{table_id}: after version {state.version} comes {entry.at_ms}")
        apply_entry(state, decode_committed(entry.data))
    return state, from_version
