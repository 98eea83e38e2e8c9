"""How much one player, one address, one name may ask. Token buckets, kept in this gateway's memory."""

import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec

REMEMBERED = 100_000  # buckets of one kind; the one longest unused is forgotten first


class Rate(msgspec.Struct, frozen=True):
    """``per_second`` on and on, ``burst`` at once."""

    per_second: float
    burst: float


class Bucket:
    __slots__ = ("_at", "_clock", "_left", "_rate")

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._left = rate.burst
        self._at = clock()

    def take(self, amount: float = 1.0) -> float:
        """0.0 when there is enough, else the seconds until there will be; then nothing is taken."""
        seconds = self.missing(amount)
        if not seconds:
            self._left -= amount
        return seconds

    def put_back(self, amount: float = 1.0) -> None:
        """What was taken, and was not used."""
        self._left = min(self._rate.burst, self._left + amount)

    def missing(self, amount: float = 1.0) -> float:
        """As ``take``, but nothing is taken."""
        self._fill()
        return 0.0 if self._left >= amount else (amount - self._left) / self._rate.per_second

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self._rate.burst, self._left + (now - self._at) * self._rate.per_second)
        self._at = now


class Buckets:
    """One bucket a key."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str, amount: float = 1.0) -> float:
        return self.of(key).take(amount)

    def of(self, key: str) -> Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate, self._clock)
            if len(self._buckets) > REMEMBERED:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket
