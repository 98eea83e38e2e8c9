"""Chance from a key: HKDF-SHA-256 (RFC 5869), then HMAC_DRBG with SHA-256 (SP 800-90A) as the bytes of a shuffle."""

import hashlib
import hmac
from collections.abc import Iterator, Sequence

from brelan.deck.shuffle import shuffle

HASH_BYTES = 32
_CALL_BYTES = 64  # of one Generate call: part of the protocol, for K and V are renewed after every call


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def mac(key: bytes, *parts: bytes) -> bytes:
    return hmac.digest(key, b"".join(parts), "sha256")


def hkdf(key_material: bytes, salt: bytes, info: bytes) -> bytes:
    """32 bytes: the first block of the expansion."""
    return mac(mac(salt, key_material), info, b"\x01")


class Drbg:
    """One instance for each purpose, never reseeded."""

    def __init__(self, entropy: bytes, nonce: bytes = b"", personalization: bytes = b"") -> None:
        self._key, self._value = bytes(HASH_BYTES), b"\x01" * HASH_BYTES
        self._update(entropy + nonce + personalization)

    def _update(self, data: bytes = b"") -> None:
        for separator in (b"\x00", b"\x01"):
            self._key = mac(self._key, self._value, separator, data)
            self._value = mac(self._key, self._value)
            if not data:
                return

    def generate(self, count: int) -> bytes:
        """One Generate call."""
        made = b""
        while len(made) < count:
            self._value = mac(self._key, self._value)
            made += self._value
        self._update()
        return made[:count]

    def shuffled(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Fisher-Yates from the last place down, without bias (``brelan.deck.shuffle``)."""
        return shuffle(cards, self._bytes())

    def _bytes(self) -> Iterator[int]:
        while True:
            yield from self.generate(_CALL_BYTES)
