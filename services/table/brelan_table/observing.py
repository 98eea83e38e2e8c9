"""What the table service counts. Called when a commit is through, so nothing is counted twice or in vain."""

from brelan.events import table
from brelan.events.config import Game
from brelan.events.table import TableEvent
from brelan.rules.state import TableState
from brelan.telemetry import metrics


def observe(event: TableEvent, game: Game) -> None:
    match event:
        case table.HandEnded():
            metrics.hands_completed.labels(game=game).inc()
        case table.HandVoided():
            metrics.hands_voided.labels(game=game).inc()
        case table.BetPlaced():
            metrics.actions.labels(game=game, kind=event.kind).inc()
        case table.Folded():
            metrics.actions.labels(game=game, kind="fold").inc()
        case table.Checked():
            metrics.actions.labels(game=game, kind="check").inc()
        case table.DrawChosen():
            metrics.actions.labels(game=game, kind="draw").inc()
        case table.PostAgreed():
            metrics.actions.labels(game=game, kind="post").inc()
        case _:
            pass


class Census:
    """Tables and players of one shard, kept by difference: the gauges are the sums over a worker's shards."""

    def __init__(self) -> None:
        self._counted = (0, 0, 0)

    def take(self, states: list[TableState]) -> None:
        self._move(
            (
                sum(state.status not in ("none", "closed") for state in states),
                sum(state.status == "frozen" for state in states),
                sum(seat is not None and not seat.reserved for state in states for seat in state.seats),
            )
        )

    def leave(self) -> None:
        """The shard is somebody else's now."""
        self._move((0, 0, 0))

    def _move(self, counts: tuple[int, int, int]) -> None:
        gauges = (metrics.open_tables, metrics.frozen_tables, metrics.seated_players)
        for gauge, before, now in zip(gauges, self._counted, counts, strict=True):
            gauge.inc(now - before)
        self._counted = counts
