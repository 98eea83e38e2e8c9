"""A table that somebody watches: its state, folded entry by entry, and its watchers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import structlog

from brelan.eventlog.log import BEGINNING, LogUnavailable
from brelan.events.envelope import TableCommitted
from brelan.rules.state import TableState
from brelan.rules.table import apply_entry
from brelan.telemetry import metrics
from brelan.views.messages import You
from brelan.views.snapshot import seat_of

PAUSE_SECONDS = 0.1

Answer = TypeVar("Answer")

logger = structlog.get_logger(__name__)


class Watcher(Protocol):
    """A socket, as the feed knows it. ``version``: of the last entry put on its way."""

    @property
    def player_id(self) -> str: ...

    @property
    def name(self) -> str: ...

    version: int

    def push(self, message: str, arrived: float = 0.0) -> None:
        """``arrived``: when the command that led to this message came in, to measure by."""

    def close(self, code: int, reason: str) -> None: ...


class LiveTable:
    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.watchers: set[Watcher] = set()
        self.joining = 0  # who waits to become a watcher
        self.backlog: list[TableCommitted] = []  # what the feed brings until the state is there
        self.read_at = BEGINNING  # where the feed ended when the state was read
        self._state: TableState | None = None

    @property
    def loaded(self) -> bool:
        return self._state is not None

    @property
    def state(self) -> TableState:
        assert self._state is not None
        return self._state

    def begin(self, state: TableState) -> None:
        """From here on; entries of the backlog that the state has already are skipped."""
        self._state = state
        for entry in self.backlog:
            if entry.version == state.version + 1 and entry.epoch >= state.epoch:
                apply_entry(state, entry)
        self.backlog = []

    @property
    def in_use(self) -> bool:
        return bool(self.watchers or self.joining)

    def you(self, watcher: Watcher) -> You:
        return You(watcher.player_id, watcher.name, seat_of(self.state, watcher.player_id))

    def watched_by(self, player_id: str) -> bool:
        return any(watcher.player_id == player_id for watcher in self.watchers)


async def patiently(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Asks the store until it answers: what was folded must be delivered."""
    while True:
        try:
            return await ask()
        except LogUnavailable as error:
            metrics.store_errors.labels("gateway").inc()
            logger.warning("store unavailable", reason=str(error))
            await asyncio.sleep(PAUSE_SECONDS)
