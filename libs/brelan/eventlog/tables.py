"""A table's state, read back from its log: the snapshot of its last hand's end, and the entries after it."""

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.events.envelope import decode_committed
from brelan.rules.state import TableState, initial_state
from brelan.rules.table import apply_entry

encode_state = msgspec.msgpack.Encoder().encode
decode_state = msgspec.msgpack.Decoder(TableState).decode


async def load_table(log: Log, table_id: str) -> TableState:
    """Raises LogUnavailable; msgspec.MsgspecError when the log holds something that is no entry of a table."""
    snapshot = await log.get(keys.snapshot(table_id))
    state = decode_state(snapshot) if snapshot else initial_state()
    for entry in await log.range(keys.table_log(table_id), after=f"{state.version}-0"):
        apply_entry(state, decode_committed(entry.data))
    return state
