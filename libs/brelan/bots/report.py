"""What came of the bots' commands."""

from collections import Counter
from typing import Any


class Report:
    """Shared by all bots of a run."""

    def __init__(self) -> None:
        self.hands: set[str] = set()  # hand ids seen to their end
        self.actions = 0  # decisions at a table that were accepted
        self.acked = 0  # commands accepted, decisions among them
        self.refused: Counter[str] = Counter()
        self.unanswered = 0
        self.overslept: list[tuple[str, int]] = []  # table and turn: whose time they let run out, and nobody else
        self.reconnects = 0
        self.violations: list[str] = []
        self.waits: list[float] = []  # seconds from a command to its answer

    def as_json(self, bots: int, tables: int, seconds: float) -> dict[str, Any]:
        return {
            "hands_completed": len(self.hands),
            "actions": self.actions,
            "acked": self.acked,
            "refused": dict(sorted(self.refused.items())),
            "unanswered": self.unanswered,
            "violations": self.violations,
            "overslept": self.overslept,
            "reconnects": self.reconnects,
            "bots": bots,
            "tables": tables,
            "seconds": round(seconds, 1),
            "answer_ms": {"p50": self._percentile(0.5), "p99": self._percentile(0.99)},
        }

    def _percentile(self, share: float) -> float | None:
        if not self.waits:
            return None
        waits = sorted(self.waits)
        return round(1000 * waits[min(len(waits) - 1, int(share * len(waits)))], 1)
