"""What the table service counts. Called when a commit is through, so nothing is counted twice or in vain."""

from brelan.events import table
from brelan.events.config import Game
from brelan.events.table import TableEvent
from brelan.rules.state import NEVER, TableState, Transfer
from brelan.telemetry import metrics


def observe(event: TableEvent, game: Game) -> None:
    match event:
        case table.HandEnded():
            metrics.hands_completed.labels(game=game).inc()
        case table.HandVoided():
            metrics.hands_voided.labels(game=game).inc()
        case table.SeedsWithheld():
            metrics.seeds_withheld.inc(len(event.seats))
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
        self._counted = (0,) * len(_GAUGES)

    def take(self, states: list[TableState], unreadable: int) -> None:
        self._move(
            (
                sum(state.status not in ("none", "closed") for state in states),
                sum(state.status == "frozen" for state in states),
                sum(seat is not None and not seat.reserved for state in states for seat in state.seats),
                sum(_overdue(transfer) for state in states for transfer in state.transfers.values()),
                unreadable,
            )
        )

    def leave(self) -> None:
        """The shard is somebody else's now."""
        self._move((0,) * len(_GAUGES))

    def _move(self, counts: tuple[int, ...]) -> None:
        for gauge, before, now in zip(_GAUGES, self._counted, counts, strict=True):
            gauge.inc(now - before)
        self._counted = counts


_GAUGES = (
    metrics.open_tables,
    metrics.frozen_tables,
    metrics.seated_players,
    metrics.overdue_transfers,
    metrics.unreadable_tables,
)
OVERDUE = 5  # asked so often, for more than a minute


def _overdue(transfer: Transfer) -> bool:
    return transfer.asked >= OVERDUE or transfer.due_ms == NEVER
