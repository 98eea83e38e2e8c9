"""A decision in the making: a copy of the state, and the events so far, each folded into it as it is decided."""

from brelan.events.config import TableConfig
from brelan.events.table import TableEvent
from brelan.rules.folding import evolve
from brelan.rules.game import Game
from brelan.rules.games import game_of
from brelan.rules.state import Hand, TableState, copy_of

ANSWER_MS = 5_000  # for the dealer or the wallet, before they are asked again


class Draft:
    """``state`` is the draft's own; the one that was given stays as it was."""

    __slots__ = ("events", "now_ms", "state")

    def __init__(self, state: TableState, now_ms: int) -> None:
        self.state = copy_of(state)
        self.state.now_ms = self.now_ms = max(state.now_ms, now_ms)
        self.events: list[TableEvent] = []

    def emit(self, event: TableEvent) -> None:
        evolve(self.state, event)
        self.events.append(event)

    @property
    def config(self) -> TableConfig:
        config = self.state.config
        assert config is not None
        return config

    @property
    def game(self) -> Game:
        return game_of(self.config)

    @property
    def hand(self) -> Hand:
        hand = self.state.hand
        assert hand is not None
        return hand

    @property
    def answer_due_ms(self) -> int:
        return self.now_ms + ANSWER_MS

    @property
    def turn_due_ms(self) -> int:
        """T1."""
        return self.now_ms + self.config.action_time_ms

    def next_transfer_id(self) -> str:
        return f"{self.state.table_id}:{self.state.epoch}:{self.state.transfers_made + 1}"
