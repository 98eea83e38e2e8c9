"""A player's seeds: ``x(i-1) = SHA-256(x(i))`` from a secret end to a tip that he publishes when he sits down.

Element m is given for one hand only, after that hand's commitment was checked. Who knows the tip can check every
element, and nobody can find the next one.
"""

import msgspec

from brelan.deck.fair.drbg import HASH_BYTES, sha256


class SeedRefused(ValueError):
    """The element is not the next one of the chain."""


class SeedChain(msgspec.Struct, frozen=True):
    """What the room knows of a chain: the last element given, at first the tip (index 0)."""

    last: bytes
    index: int = 0

    def accept(self, element: bytes) -> "SeedChain":
        """The chain after its next element. An element given before is refused like any other wrong one."""
        if len(element) != HASH_BYTES or sha256(element) != self.last:
            raise SeedRefused(f"this is not element {self.index + 1} of the chain")
        return SeedChain(element, self.index + 1)


def chain_elements(secret: bytes, length: int) -> tuple[bytes, ...]:
    """For a client: x(0), the tip, to x(length), the secret it was made from."""
    elements = [secret]
    for _ in range(length):
        elements.append(sha256(elements[-1]))
    return tuple(reversed(elements))
