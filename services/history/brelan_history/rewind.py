"""A table whose log went on otherwise than history had folded it: its end was lost (ADR 0008)."""

from brelan.eventlog import keys
from brelan.eventlog.log import Entry, Log
from brelan.events import table
from brelan.events.config import TableConfig
from brelan.events.envelope import TableCommitted, decode_committed
from brelan.histories.archive import Archive, Lost
from brelan.histories.table import StoredEntry, TableFold, TableMark


async def went_back(log: Log, fold: TableFold, committed: TableCommitted) -> bool:
    """Whether this entry of a higher epoch says that what was folded last is not in the log any more."""
    if committed.epoch <= fold.epoch or not fold.version:
        return False
    if committed.version <= fold.version:
        return True
    found = await log.range(keys.table_log(fold.table_id), f"{fold.version - 1}-0", count=1)
    there = [_committed(one) for one in found if one.id == f"{fold.version}-0"]
    return any(one.epoch > fold.epoch for one in there)


async def rewound(
    log: Log, archive: Archive, committed: TableCommitted, seen: int, config: TableConfig | None
) -> tuple[Lost, TableMark]:
    """What has to be taken out of the archive, and from where the log has to be folded again. ``seen``: the epoch up
    to which it was folded."""
    table_id = committed.table_id
    entries = await log.range(keys.table_log(table_id))
    version = min([committed.version, *(one.version for one in map(_committed, entries) if one.epoch > seen)])
    kept = await archive.kept_from(table_id, version)
    gone = tuple(dict.fromkeys(hand_id for hand_id, entry in kept if _ends(entry, hand_id)))
    last = await archive.kept_until(table_id, version)
    while last is not None and last[0] in gone:
        last = await archive.kept_until(table_id, last[1].version)
    lost = Lost(table_id, version, gone)
    if last is None:
        first = _committed(entries[0]).version if entries else version
        return lost, TableMark(table_id, version=first - 1, config=config)
    hand_id, entry = last
    until = decode_committed(entry.data)
    partial = _starts(until)
    return lost, TableMark(
        table_id, until.epoch, until.version - partial, config, last_hand_id=hand_id, partial=partial
    )


def _committed(entry: Entry) -> TableCommitted:
    return decode_committed(entry.data)


def _starts(committed: TableCommitted) -> bool:
    return any(isinstance(event, table.HandStarted) for event in committed.events)


def _ends(entry: StoredEntry, hand_id: str) -> bool:
    events = decode_committed(entry.data).events
    return any(isinstance(one, table.HandEnded | table.HandVoided) and one.hand_id == hand_id for one in events)
