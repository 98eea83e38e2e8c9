"""The lobby's row of every table of a shard, kept by the feed."""

from collections import deque
from collections.abc import Iterator

from brelan.events import table as facts
from brelan.events.config import TableConfig
from brelan.events.envelope import TableCommitted
from brelan.events.table import TableEvent
from brelan.rules.state import TableState
from brelan.views.messages import Status

HANDS = 20  # averages are over the last ones that this gateway saw
HOUR_MS = 3_600_000


class Row:
    """One table as the lobby shows it."""

    def __init__(self, table_id: str, config: TableConfig) -> None:
        self.table_id = table_id
        self.config = config
        self.version = 0
        self.epoch = 1
        self.status: Status = "open"
        self.players: dict[int, str] = {}  # seat -> player, reserved seats included
        self._pot = 0
        self._pots: deque[int] = deque(maxlen=HANDS)
        self._ended_ms: deque[int] = deque(maxlen=HANDS)

    @property
    def average_pot(self) -> int | None:
        return sum(self._pots) // len(self._pots) if self._pots else None

    @property
    def hands_per_hour(self) -> int | None:
        if len(self._ended_ms) < 2 or self._ended_ms[-1] <= self._ended_ms[0]:
            return None
        return (len(self._ended_ms) - 1) * HOUR_MS // (self._ended_ms[-1] - self._ended_ms[0])

    def seat_of(self, player_id: str) -> int | None:
        return next((seat for seat, player in self.players.items() if player == player_id), None)

    def take(self, entry: TableCommitted) -> bool:
        """False when entries are missing before this one."""
        if (entry.epoch, entry.version) <= (self.epoch, self.version):
            return True
        if entry.epoch != self.epoch or entry.version != self.version + 1:
            return False
        self.version = entry.version
        for event in entry.events:
            self._take(event, entry.at_ms)
        return True

    def _take(self, event: TableEvent, at_ms: int) -> None:
        match event:
            case facts.SeatReserved():
                self.players[event.seat] = event.player_id
            case facts.SeatReleased() | facts.PlayerLeft():
                self.players.pop(event.seat, None)
            case facts.TableOpened() | facts.TableConfigured():
                self.config = event.config
            case facts.PotAwarded():
                self._pot += event.amount
            case facts.HandStarted():
                self._pot = 0
            case facts.HandEnded():
                self._pots.append(self._pot)
                self._ended_ms.append(at_ms)
            case _ if (status := _STATUS.get(type(event))) is not None:
                self.status = status
            case _:
                pass


_STATUS: dict[type[facts.Event], Status] = {
    facts.TablePaused: "paused",
    facts.TableResumed: "open",
    facts.TableClosing: "closing",
    facts.TableClosed: "closed",
    facts.TableFrozen: "frozen",
    facts.TableUnfrozen: "open",
}


class Lobby:
    """The rows of one shard."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def __iter__(self) -> Iterator[Row]:
        return iter(list(self._rows.values()))

    def find(self, table_id: str) -> Row | None:
        return self._rows.get(table_id)

    def put(self, state: TableState) -> None:
        """A table as its log has it. What averages there were are kept."""
        if state.config is None or state.status == "none":
            return
        row = self._rows.setdefault(state.table_id, Row(state.table_id, state.config))
        row.config, row.status = state.config, state.status
        row.epoch, row.version = state.epoch, state.version
        row.players = {seat.seat: seat.player_id for seat in state.seats if seat is not None}

    def take(self, entry: TableCommitted) -> bool:
        """False when the table is not known as it was before: it has to be ``put``."""
        row = self._rows.get(entry.table_id)
        if row is None:
            opened = next((event for event in entry.events if isinstance(event, facts.TableOpened)), None)
            if opened is None:
                return False
            row = self._rows[entry.table_id] = Row(entry.table_id, opened.config)
        return row.take(entry)
