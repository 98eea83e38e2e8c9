"""Numbers from a key: HKDF-SHA-256 (RFC 5869), HMAC_DRBG with SHA-256 (SP 800-90A), Fisher-Yates without bias."""

import hashlib
import hmac
from collections.abc import Sequence

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
        self._waiting: list[int] = []

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

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1, each as likely: a byte of the last, incomplete round is thrown away."""
        limit = 256 - 256 % bound
        while True:
            if not self._waiting:
                self._waiting = list(reversed(self.generate(_CALL_BYTES)))
            if (drawn := self._waiting.pop()) < limit:
                return drawn % bound

    def shuffled(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Fisher-Yates from the last place down."""
        order = list(cards)
        for place in range(len(order) - 1, 0, -1):
            other = self.below(place + 1)
            order[place], order[other] = order[other], order[place]
        return tuple(order)
