"""The Merkle tree of RFC 6962 over leaves that are hashes already; a node is SHA-256(0x01, left, right).

A last node without a partner rises a level as it is: for any number of leaves this is the shape of the RFC.
"""

from collections.abc import Sequence

from brelan.deck.fair.drbg import sha256


class Tree:
    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._levels = [list(leaves)]
        while len(level := self._levels[-1]) > 1:
            above = [sha256(b"\x01", left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
            self._levels.append(above + level[len(level) & ~1 :])

    @property
    def leaves(self) -> bytes:
        """One after the other."""
        return b"".join(self._levels[0])

    @property
    def root(self) -> bytes:
        return self._levels[-1][0]

    def path(self, index: int) -> tuple[bytes, ...]:
        """The partners on the way up, the lowest first."""
        partners = []
        for level in self._levels[:-1]:
            if (index ^ 1) < len(level):
                partners.append(level[index ^ 1])
            index >>= 1
        return tuple(partners)


def root_of(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a leaf and its path lead to; None when the path's length does not fit."""
    if not 0 <= index < size:
        return None
    node, partners = leaf, list(reversed(path))
    while size > 1:
        if (index ^ 1) < size:
            if not partners:
                return None
            partner = partners.pop()
            node = sha256(b"\x01", partner, node) if index & 1 else sha256(b"\x01", node, partner)
        index, size = index >> 1, (size + 1) >> 1
    return None if partners else node
