"""A decision in the making: a copy of the state, and the events so far, each folded into it as it is decided."""

import copy

from brelan.events.config import TableConfig
from brelan.events.table import TableEvent
from brelan.rules.folding import evolve
from brelan.rules.state import Hand, HandPlayer, Seat, TableState

WAIT_MS = 5_000  # for the dealer or the wallet, before they are asked again


class Draft:
    """``state`` is the draft's own; the one that was given stays as it was."""

    __slots__ = ("events", "now_ms", "state")

    def __init__(self, state: TableState, now_ms: int) -> None:
        self.state = _copied(state)
        self.state.now_ms = self.now_ms = max(state.now_ms, now_ms)
        self.events: list[TableEvent] = []

    def emit(self, event: TableEvent) -> None:
        evolve(self.state, event)
        self.events.append(event)

    @property
    def config(self) -> TableConfig:
        assert self.state.config is not None
        return self.state.config

    @property
    def hand(self) -> Hand:
        assert self.state.hand is not None
        return self.state.hand

    @property
    def transfer_id(self) -> str:
        """Of the next transfer."""
        return f"{self.state.table_id}:{self.state.epoch}:{self.state.transfers_made + 1}"


def _copied(state: TableState) -> TableState:
    """As deep as events reach, and no deeper."""
    copied = copy.copy(state)
    copied.seats = [copy.copy(seat) for seat in state.seats]
    if state.hand is not None:
        copied.hand = copy.copy(state.hand)
        copied.hand.players = [copy.copy(player) for player in state.hand.players]
    if state.transfers:
        copied.transfers = {name: copy.copy(transfer) for name, transfer in state.transfers.items()}
    else:
        copied.transfers = {}
    copied.show_requests = dict(state.show_requests)
    copied.departed = list(state.departed)
    copied.protected = dict(state.protected)
    return copied


# --- looking things up -------------------------------------------------------------------------------------------


def player_at(hand: Hand, seat: int) -> HandPlayer:
    for player in hand.players:
        if player.seat == seat:
            return player
    raise ValueError(f"seat {seat} was not dealt in")


def seat_of(state: TableState, player_id: str) -> Seat | None:
    for seat in state.seats:
        if seat is not None and seat.player_id == player_id:
            return seat
    return None


def dealt_in(state: TableState, seat: int) -> bool:
    return state.hand is not None and any(player.seat == seat for player in state.hand.players)


def clockwise_from(hand: Hand, seat: int) -> list[HandPlayer]:
    """Everybody dealt in, beginning with this seat."""
    for index, player in enumerate(hand.players):
        if player.seat == seat:
            return hand.players[index:] + hand.players[:index]
    raise ValueError(f"seat {seat} was not dealt in")


def next_seat(seats: list[int], after: int) -> int:
    """The next of these seats clockwise; ``seats`` in ascending order."""
    return next((seat for seat in seats if seat > after), seats[0])
