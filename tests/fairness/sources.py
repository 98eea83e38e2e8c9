"""Where the room's decks come from: the shuffle in use, the base alone, the cut alone, both. Numbers 0 to n - 1."""

import random
from collections.abc import Callable, Sequence

from brelan.deck.fair.drbg import Drbg, hkdf
from brelan.deck.shuffle import secret_shuffle

Bytes = Callable[[int], bytes]


def from_system(_chance: Bytes) -> Callable[[Sequence[int]], Sequence[int]]:
    """The operating system's chance: the only source without a seed, so its test can fail once in 1/alpha runs."""
    return secret_shuffle


def from_base(chance: Bytes) -> Callable[[Sequence[int]], Sequence[int]]:
    return lambda cards: Drbg(hkdf(chance(32), b"t1-1", b"base")).shuffled(cards)


def from_cut(chance: Bytes) -> Callable[[Sequence[int]], Sequence[int]]:
    """Over a sorted base: a dealer that did not shuffle at all. One honest seed of 32 bytes."""
    return lambda cards: Drbg(hkdf(chance(32), b"t" * 32, b"cut")).shuffled(cards)


SOURCES = {"system": from_system, "base": from_base, "cut": from_cut}


def seeded(seed: int) -> Bytes:
    return random.Random(seed).randbytes
