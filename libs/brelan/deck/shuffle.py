"""Chance: a uniform permutation from a stream of random bytes.

Fisher-Yates with rejection sampling: ``byte % n`` alone would favour low numbers, so bytes from the incomplete last
round of ``n`` are thrown away. The source is handed in; in the room it is the operating system's generator.
"""

import secrets
from collections.abc import Iterator, Sequence

_BLOCK_BYTES = 96  # a deck of 52 takes some 60


def system_bytes() -> Iterator[int]:
    """Random bytes of the operating system, for ever."""
    while True:
        yield from secrets.token_bytes(_BLOCK_BYTES)


def below(bound: int, source: Iterator[int]) -> int:
    """One of 0 .. ``bound`` - 1, each as likely as the other. ``bound`` is at most 256. ValueError: no bytes left."""
    if not 1 <= bound <= 256:
        raise ValueError(f"one byte cannot choose among {bound}")
    accepted = 256 - 256 % bound
    for byte in source:
        if byte < accepted:
            return byte % bound
    raise ValueError("the source of chance has run dry")


def shuffle(cards: Sequence[int], source: Iterator[int]) -> tuple[int, ...]:
    """The cards in a random order, each order as likely as the other if the bytes are uniform."""
    shuffled = list(cards)
    for last in range(len(shuffled) - 1, 0, -1):
        chosen = below(last + 1, source)
        shuffled[last], shuffled[chosen] = shuffled[chosen], shuffled[last]
    return tuple(shuffled)


def secret_shuffle(cards: Sequence[int]) -> tuple[int, ...]:
    """With the operating system's bytes, none of which is kept for the next time."""
    return shuffle(cards, system_bytes())
