"""Everything that passed through the streams of a room while it was mistreated, and what must hold of it.

It is written down while it happens: from the logs themselves some of it is trimmed later.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import redis

from brelan.eventlog import keys
from brelan.events import envelope, table
from brelan.rules.state import TableState, initial_state
from brelan.rules.table import apply_entry

AT_ONCE = 2_000
READ_SECONDS = 0.5
AGAIN_SECONDS = 0.2


class Record:
    """A thread that follows feed and commands of every shard."""

    def __init__(self, redis_url: Callable[[], str], shards: Sequence[str]) -> None:
        self._url = redis_url
        self._cursors = {stream: "0-0" for shard in shards for stream in (keys.feed(shard), keys.commands(shard))}
        self.entries: dict[str, list[tuple[str, bytes]]] = {stream: [] for stream in self._cursors}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """When everything is read that is there. The server has to run."""
        self._stop.set()
        self._thread.join(30)

    def _follow(self) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(redis.RedisError, OSError, ValueError):
                self._read_until_stopped()
            self._stop.wait(AGAIN_SECONDS)

    def _read_until_stopped(self) -> None:
        with redis.Redis.from_url(self._url(), protocol=2, socket_timeout=5) as client:
            while True:
                stopping = self._stop.is_set()
                found = client.xread(self._cursors, count=AT_ONCE, block=int(READ_SECONDS * 1000))
                for name, entries in found:
                    stream = name.decode()
                    self.entries[stream] += [(id_.decode(), fields[b"m"]) for id_, fields in entries]
                    self._cursors[stream] = entries[-1][0].decode()
                if stopping and sum(len(entries) for _, entries in found) < AT_ONCE:
                    return

    # --- what it says ------------------------------------------------------------------------------------------

    def feed(self) -> Iterator[envelope.FeedEntry]:
        for stream, entries in self.entries.items():
            if stream.endswith(":feed"):
                for _, data in entries:
                    yield envelope.decode_feed(data)

    def commands(self) -> Iterator[tuple[str, envelope.CommandEntry]]:
        """With the id that an entry names as its cause, and the shard before it."""
        for stream, entries in self.entries.items():
            if stream.endswith(":commands"):
                for entry_id, data in entries:
                    yield entry_id, envelope.decode_command(data)

    def committed(self) -> dict[str, list[envelope.TableCommitted]]:
        logs: dict[str, list[envelope.TableCommitted]] = {}
        for entry in self.feed():
            if isinstance(entry, envelope.TableCommitted):
                logs.setdefault(entry.table_id, []).append(entry)
        return logs

    def enforced(self) -> Iterator[tuple[TableState, table.TimedOut, envelope.TableCommitted]]:
        """Each turn whose time ran out: the table before it, the event, the entry."""
        for log in self.committed().values():
            state = initial_state()
            for entry in log:
                for event in entry.events:
                    if isinstance(event, table.TimedOut):
                        yield state, event, entry
                apply_entry(state, entry)

    # --- what must hold ----------------------------------------------------------------------------------------

    def nothing_lost_or_twice(self) -> None:
        for table_id, log in self.committed().items():
            versions = [entry.version for entry in log]
            assert versions == list(range(1, len(log) + 1)), f"{table_id}: {versions}"
            causes = Counter(entry.cause for entry in log if "/" in entry.cause)
            assert not [cause for cause, times in causes.items() if times > 1], f"{table_id}: {causes.most_common(3)}"
            accepted = Counter((entry.player_id, entry.command_id) for entry in log if entry.command_id)
            assert not [each for each, times in accepted.items() if times > 1], f"{table_id}: {accepted.most_common(3)}"

    def no_table_was_frozen(self) -> None:
        frozen = [event for log in self.committed().values() for each in log for event in each.events]
        assert not [event for event in frozen if isinstance(event, table.TableFrozen)]

    def every_command_was_answered(self) -> int:
        """However often it was sent. How many there were."""
        answered = {(each.table_id, each.player_id, each.command_id) for each in self.feed()}
        asked = {
            (each.table_id, each.player_id, each.command_id)
            for _, each in self.commands()
            if isinstance(each, envelope.PlayerCommanded)
        }
        assert not asked - answered, f"{len(asked - answered)} commands of {len(asked)} have no answer"
        return len(asked)

    def nobody_was_folded_by_an_outage(self, overslept: set[tuple[str, int]]) -> int:
        """Only those whose player let his time run out, and none before it had. How many there were."""
        enforced = 0
        for before, event, entry in self.enforced():
            assert before.turn is not None
            assert before.turn.turn_id == event.turn_id
            assert entry.at_ms >= before.turn.deadline_ms
            assert (entry.table_id, event.turn_id) in overslept, (
                f"{entry.table_id}, turn {event.turn_id}, version {entry.version}: "
                f"the player wanted to decide, and his time was taken from him"
            )
            enforced += 1
        return enforced
