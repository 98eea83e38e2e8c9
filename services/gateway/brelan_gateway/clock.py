"""The room's clock: the event log's, carried on between two looks at it by this process's monotonic clock."""

import time


class RoomClock:
    def __init__(self) -> None:
        self._offset_ms = 0

    def set(self, now_ms: int) -> None:
        self._offset_ms = now_ms - time.monotonic_ns() // 1_000_000

    def now_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000 + self._offset_ms
