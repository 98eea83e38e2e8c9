"""Sealing: to the X25519 key of one recipient (hole cards, records), and the dealer's own log to the dealer.

A box, byte by byte: format (1), id of the recipient's key (8), the sender's ephemeral public key (32), nonce (12), then
the padded text, under AES-256-GCM in format 2 (a browser has that) and ChaCha20-Poly1305 in format 1. Its key is
HKDF-SHA-256 of the shared secret, with both public keys as the salt. The context (which table, which seat) is
authenticated: a box that was moved does not open. An entry of the dealer's log has format, id of the key, nonce and
text; each table's log has a key of its own, derived from the dealer's.

Texts are padded to a multiple of 128 bytes, so a size tells nothing about cards. The ids tell which key opens it, so a
new key can take over while what was sealed to the old one can still be read.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from brelan.events.dealing import HandRecord, HandSecrets, HoleCards, SealedRecord
from brelan.events.envelope import decode_hand_secrets, decode_hole_cards, decode_record

KEY_BYTES = 32
BLOCK_BYTES = 128
_BOX, _OLD_BOX = b"\x02", b"\x01"
_LOG_FORMAT = b"\x01"
_ID_BYTES = 8
_NONCE_BYTES = 12
_TAG_BYTES = 16
_HEAD_BYTES = 1 + _ID_BYTES + KEY_BYTES + _NONCE_BYTES
_LOG_HEAD_BYTES = 1 + _ID_BYTES + _NONCE_BYTES
_SEALS_PER_EPHEMERAL_KEY = 64  # a new one costs a hundred microseconds, a seal two
_CIPHERS_KEPT = 4_096

Cipher = AESGCM | ChaCha20Poly1305
RandomBytes = Callable[[int], bytes]


class CannotOpen(Exception):
    """Sealed to another key, for another context, or tampered with."""


def key_id(public_key: bytes) -> bytes:
    """Names a key without telling it."""
    return hashlib.sha256(b"brelan key id 1" + public_key).digest()[:_ID_BYTES]


# --- to a recipient ----------------------------------------------------------------------------------------------


class Sealer:
    """Seals many texts to one public key. ``random_bytes``: a simulator brings its own."""

    def __init__(self, public_key: bytes, random_bytes: RandomBytes = secrets.token_bytes) -> None:
        self._recipient = X25519PublicKey.from_public_bytes(public_key)
        self._public_key = public_key
        self._random_bytes = random_bytes
        self._left = 0
        self._head = b""
        self._cipher: Cipher = AESGCM(bytes(KEY_BYTES))

    def seal(self, plain: bytes, context: bytes) -> bytes:
        if not self._left:
            self._renew()
        self._left -= 1
        nonce = self._random_bytes(_NONCE_BYTES)
        return self._head + nonce + self._cipher.encrypt(nonce, padded(plain), context)

    def _renew(self) -> None:
        """A new ephemeral key: whoever learns it opens no more than these few."""
        ephemeral = X25519PrivateKey.from_private_bytes(self._random_bytes(KEY_BYTES))
        public = ephemeral.public_key().public_bytes_raw()
        self._head = _BOX + key_id(self._public_key) + public
        self._cipher = _box_cipher(_BOX, ephemeral.exchange(self._recipient), public, self._public_key)
        self._left = _SEALS_PER_EPHEMERAL_KEY


class Opener:
    """Opens what was sealed to any of these private keys, 32 bytes each."""

    def __init__(self, private_keys: Iterable[bytes]) -> None:
        self._keys: dict[bytes, tuple[X25519PrivateKey, bytes]] = {}
        for secret in private_keys:
            private = X25519PrivateKey.from_private_bytes(secret)
            public = private.public_key().public_bytes_raw()
            self._keys[key_id(public)] = private, public
        self._cipher = lru_cache(_CIPHERS_KEPT)(self._derive)  # a hand's boxes share their ephemeral key

    def open(self, sealed: bytes, context: bytes) -> bytes:
        """Raises CannotOpen."""
        head, text = sealed[:_HEAD_BYTES], sealed[_HEAD_BYTES:]
        if not is_box(head) or len(text) < _TAG_BYTES:
            raise CannotOpen("this is no sealed box")
        form, recipient, ephemeral = head[:1], head[1 : 1 + _ID_BYTES], head[1 + _ID_BYTES : -_NONCE_BYTES]
        if recipient not in self._keys:
            raise CannotOpen("this is sealed to another key")
        try:
            return unpadded(self._cipher(form, recipient, ephemeral).decrypt(head[-_NONCE_BYTES:], text, context))
        except (InvalidTag, ValueError) as error:
            raise CannotOpen("this does not open with this key for this context") from error

    def _derive(self, form: bytes, recipient: bytes, ephemeral: bytes) -> Cipher:
        private, public = self._keys[recipient]
        shared = private.exchange(X25519PublicKey.from_public_bytes(ephemeral))
        return _box_cipher(form, shared, ephemeral, public)


def seal(public_key: bytes, plain: bytes, context: bytes) -> bytes:
    """Once. For many, keep a ``Sealer``."""
    return Sealer(public_key).seal(plain, context)


def open_sealed(private_key: bytes, sealed: bytes, context: bytes) -> bytes:
    """Once. For many, keep an ``Opener``. Raises CannotOpen."""
    return Opener((private_key,)).open(sealed, context)


def is_box(sealed: bytes) -> bool:
    return sealed[:1] in (_BOX, _OLD_BOX)


def _box_cipher(form: bytes, shared: bytes, ephemeral: bytes, recipient: bytes) -> Cipher:
    if form == _OLD_BOX:
        return ChaCha20Poly1305(_derived(shared, ephemeral + recipient, b"brelan sealed box 1"))
    return AESGCM(_derived(shared, ephemeral + recipient, b"brelan sealed box 2"))


# --- what is sealed, and for which context -----------------------------------------------------------------------


def hole_context(table_id: str, seat: int) -> bytes:
    return f"hole:{table_id}:{seat}".encode()


def record_context(table_id: str, hand_id: str) -> bytes:
    return f"record:{table_id}:{hand_id}".encode()


def audit_context(table_id: str, hand_id: str) -> bytes:
    return f"audit:{table_id}:{hand_id}".encode()


class HoleCardOpener:
    """For a gateway: opens the fields of ``hole:<table>``."""

    def __init__(self, private_keys: Iterable[bytes]) -> None:
        self._opener = Opener(private_keys)

    def __call__(self, table_id: str, seat: int, sealed: bytes) -> HoleCards | None:
        """None: it is not sealed to us (a player may bring his own key), or it is not for this seat."""
        try:
            return decode_hole_cards(self._opener.open(sealed, hole_context(table_id, seat)))
        except (CannotOpen, msgspec.MsgspecError):
            return None


class RecordOpener:
    """For the history: opens the entries of ``records``."""

    def __init__(self, private_keys: Iterable[bytes]) -> None:
        self._opener = Opener(private_keys)

    def __call__(self, record: SealedRecord) -> HandRecord:
        """Raises CannotOpen."""
        plain = self._opener.open(record.sealed, record_context(record.table_id, record.hand_id))
        try:
            return decode_record(plain)
        except msgspec.MsgspecError as error:
            raise CannotOpen("what was sealed is no record of a hand") from error


class SecretsOpener:
    """For the auditor: what ``records`` hold for him."""

    def __init__(self, private_keys: Iterable[bytes]) -> None:
        self._opener = Opener(private_keys)

    def __call__(self, table_id: str, hand_id: str, sealed: bytes) -> HandSecrets:
        """Raises CannotOpen."""
        plain = self._opener.open(sealed, audit_context(table_id, hand_id))
        try:
            return decode_hand_secrets(plain)
        except msgspec.MsgspecError as error:
            raise CannotOpen("what was sealed are no secrets of a hand") from error


# --- the dealer's log --------------------------------------------------------------------------------------------


class DeckSeal:
    """The dealer's seal on its own log. Seals with the first key, opens with any of them."""

    def __init__(self, *dealer_keys: bytes, random_bytes: RandomBytes = secrets.token_bytes) -> None:
        if not dealer_keys or any(len(key) != KEY_BYTES for key in dealer_keys):
            raise ValueError(f"a dealer's key has {KEY_BYTES} bytes, and there has to be one")
        self._keys = {key_id(hashlib.sha256(key).digest()): key for key in dealer_keys}
        self._current = next(iter(self._keys))
        self._random_bytes = random_bytes
        self._cipher = lru_cache(_CIPHERS_KEPT)(self._derive)

    def seal(self, table_id: str, entry_id: str, plain: bytes) -> bytes:
        """For this place in this table's log only."""
        nonce = self._random_bytes(_NONCE_BYTES)
        cipher = self._cipher(self._current, table_id)
        return _LOG_FORMAT + self._current + nonce + cipher.encrypt(nonce, padded(plain), entry_id.encode())

    def open(self, table_id: str, entry_id: str, sealed: bytes) -> bytes:
        """Raises CannotOpen."""
        head, text = sealed[:_LOG_HEAD_BYTES], sealed[_LOG_HEAD_BYTES:]
        key, nonce = head[1 : 1 + _ID_BYTES], head[1 + _ID_BYTES :]
        if head[:1] != _LOG_FORMAT or key not in self._keys:
            raise CannotOpen(f"the dealer's log of table {table_id} was sealed with a key that is not here")
        try:
            return unpadded(self._cipher(key, table_id).decrypt(nonce, text, entry_id.encode()))
        except (InvalidTag, ValueError) as error:
            raise CannotOpen(f"entry {entry_id} of the dealer's log of table {table_id} does not open") from error

    def _derive(self, key: bytes, table_id: str) -> ChaCha20Poly1305:
        return ChaCha20Poly1305(_derived(self._keys[key], table_id.encode(), b"brelan deck log 1"))


# --- common ------------------------------------------------------------------------------------------------------


def padded(plain: bytes) -> bytes:
    return plain + b"\x80" + bytes(-(len(plain) + 1) % BLOCK_BYTES)


def unpadded(text: bytes) -> bytes:
    """Raises ValueError."""
    plain, mark, zeros = text.rpartition(b"\x80")
    if not mark or zeros.strip(b"\0"):
        raise ValueError("bad padding")
    return plain


def _derived(secret: bytes, salt: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=info).derive(secret)
