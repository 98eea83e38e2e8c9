"""The room's key files: made when they are missing, found, checked.

=====================  ===================================  ============================================
file                   what                                 who needs it
=====================  ===================================  ============================================
``dealer-deck.key``    seals the dealer's own log           dealer
``dealer-sign.key``    signs commitments and records        dealer
``dealer-sign.pub``    players check them with it           gateway, which publishes it
``gateway-hole.key``   opens hole cards                     gateway
``gateway-hole.pub``   hole cards are sealed to it          dealer
``history.key``        opens records of hands               history
``history.pub``        records of hands are sealed to it    dealer
``auditor.key``        opens the secrets of finished hands  auditor, who should keep it elsewhere
``auditor.pub``        those are sealed to it               dealer
``gateway-token.pem``  signs players' tokens (Ed25519)      gateway
=====================  ===================================  ============================================

They lie in ``<data>/keys``; a variable such as ``BRELAN_DEALER_DECK_KEY_FILE`` names another file. But for the PEM file
a key is a line of 64 hexadecimal digits. A file may hold several: the first is in use, the others still open what was
sealed to them, or verify what they signed. A new key is put on top: in the file with the ending ``.key`` first, so that
what is sealed to it can be opened; ``dealer-sign.pub`` before ``dealer-sign.key``, for its signatures to be verified.
Where several gateways run, a new key of the PEM file stands below for a while, until each of them verifies with it.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from brelan.deck.sealing import KEY_BYTES, DeckSeal, HoleCardOpener, RecordOpener

FOLDER = "keys"


class KeyFile(msgspec.Struct, frozen=True):
    name: str
    variable: str
    is_secret: bool = True


DEALER_DECK = KeyFile("dealer-deck.key", "BRELAN_DEALER_DECK_KEY_FILE")
DEALER_SIGN = KeyFile("dealer-sign.key", "BRELAN_DEALER_SIGN_KEY_FILE")
DEALER_SIGN_PUBLIC = KeyFile("dealer-sign.pub", "BRELAN_DEALER_SIGN_PUBLIC_KEY_FILE", is_secret=False)
GATEWAY_HOLE = KeyFile("gateway-hole.key", "BRELAN_GATEWAY_HOLE_KEY_FILE")
GATEWAY_HOLE_PUBLIC = KeyFile("gateway-hole.pub", "BRELAN_GATEWAY_HOLE_PUBLIC_KEY_FILE", is_secret=False)
HISTORY = KeyFile("history.key", "BRELAN_HISTORY_KEY_FILE")
HISTORY_PUBLIC = KeyFile("history.pub", "BRELAN_HISTORY_PUBLIC_KEY_FILE", is_secret=False)
AUDITOR = KeyFile("auditor.key", "BRELAN_AUDITOR_KEY_FILE")
AUDITOR_PUBLIC = KeyFile("auditor.pub", "BRELAN_AUDITOR_PUBLIC_KEY_FILE", is_secret=False)
GATEWAY_TOKEN = KeyFile("gateway-token.pem", "BRELAN_GATEWAY_TOKEN_KEY_FILE")

KEY_FILES = (
    DEALER_DECK,
    DEALER_SIGN,
    DEALER_SIGN_PUBLIC,
    GATEWAY_HOLE,
    GATEWAY_HOLE_PUBLIC,
    HISTORY,
    HISTORY_PUBLIC,
    AUDITOR,
    AUDITOR_PUBLIC,
    GATEWAY_TOKEN,
)


def x25519_public(private_key: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()


def ed25519_public(private_key: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()


_PAIRS = (
    (DEALER_SIGN, DEALER_SIGN_PUBLIC, ed25519_public),
    (GATEWAY_HOLE, GATEWAY_HOLE_PUBLIC, x25519_public),
    (HISTORY, HISTORY_PUBLIC, x25519_public),
    (AUDITOR, AUDITOR_PUBLIC, x25519_public),
)

_OTHERS = 0o007  # others may do nothing; a group may read, for that is how orchestrators hand a secret to a container
_GROUP_WRITES = 0o020
_PEM_BEGINS = "-----BEGIN "


class KeyFileError(Exception):
    """A key file cannot be used. The message is a sentence that says which, why, and what to do."""


# --- made --------------------------------------------------------------------------------------------------------


def ensure_keys(data: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Make what is missing of the room's keys, under ``<data>/keys``; the folder. Raises KeyFileError, OSError.

    Several may do this at once. A key that is there is never replaced.
    """
    folder = data / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make(path_of(DEALER_DECK, folder, environment), secrets.token_bytes(KEY_BYTES).hex())
    _make(path_of(GATEWAY_TOKEN, folder, environment), _new_signing_key())
    for private, public, public_of in _PAIRS:
        path = path_of(private, folder, environment)
        _make(path, secrets.token_bytes(KEY_BYTES).hex())
        _ensure_public(path, path_of(public, folder, environment), public_of)
    return folder


def _ensure_public(private: Path, public: Path, public_of: Callable[[bytes], bytes]) -> None:
    expected = public_of(_read(private, secret=True)[0])
    _make(public, expected.hex(), mode=0o644)
    known = _read(public, secret=False)
    if expected not in (known if public_of is ed25519_public else known[:1]):  # a new one is published before it signs
        raise KeyFileError(
            f"{public} does not have the key that is in use in {private}: put the line {expected.hex()} on top of it."
        )


def _make(path: Path, text: str, mode: int = 0o600) -> None:
    """Whole or not at all, and only when there is none: written beside it, then linked."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text.strip() + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # somebody else was quicker
            path.hardlink_to(draft)
    finally:
        draft.unlink()


def _new_signing_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii")


# --- loaded ------------------------------------------------------------------------------------------------------


def path_of(file: KeyFile, folder: Path, environment: Mapping[str, str] = os.environ) -> Path:
    named = environment.get(file.variable)
    return Path(named) if named else folder / file.name


def load_keys(file: KeyFile, folder: Path) -> tuple[bytes, ...]:
    """The key in use, then older ones. Raises KeyFileError."""
    return _read(path_of(file, folder), file.is_secret)


def load_deck_seal(folder: Path) -> DeckSeal:
    """For the dealer. Raises KeyFileError."""
    return DeckSeal(*load_keys(DEALER_DECK, folder))


def load_dealer_signing_key(folder: Path) -> Ed25519PrivateKey:
    """For the dealer: commitments and records. Raises KeyFileError."""
    return Ed25519PrivateKey.from_private_bytes(load_keys(DEALER_SIGN, folder)[0])


def load_hole_card_opener(folder: Path) -> HoleCardOpener:
    """For a gateway. Raises KeyFileError."""
    return HoleCardOpener(load_keys(GATEWAY_HOLE, folder))


def load_record_opener(folder: Path) -> RecordOpener:
    """For the history. Raises KeyFileError."""
    return RecordOpener(load_keys(HISTORY, folder))


def load_token_keys(folder: Path) -> tuple[Ed25519PrivateKey, ...]:
    """For a gateway: the key that signs tokens, then others that verify them still, or already. Raises KeyFileError."""
    path = path_of(GATEWAY_TOKEN, folder)
    before, *blocks = _text(path, secret=True).split(_PEM_BEGINS)
    if before.strip() or not blocks:
        raise KeyFileError(f"the key file {path} holds no unencrypted private key in PEM form.")
    return tuple(_token_key(path, number, _PEM_BEGINS + block) for number, block in enumerate(blocks, 1))


def _token_key(path: Path, number: int, pem: str) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(pem.encode("ascii"), password=None)
    except (ValueError, TypeError):
        raise KeyFileError(f"key {number} in {path} is no unencrypted private key in PEM form.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"key {number} in {path} is of another kind: tokens are signed with Ed25519.")
    return key


def _read(path: Path, secret: bool) -> tuple[bytes, ...]:
    keys = []
    for number, line in enumerate(_text(path, secret).split(), 1):
        try:
            keys.append(bytes.fromhex(line))
        except ValueError:
            raise KeyFileError(f"line {number} of the key file {path} is no hexadecimal number.") from None
        if len(keys[-1]) != KEY_BYTES:
            raise KeyFileError(
                f"line {number} of the key file {path} has {len(line)} hexadecimal digits: a key has {2 * KEY_BYTES}."
            )
    if not keys:
        raise KeyFileError(f"the key file {path} is empty. Remove it and run `brelan keys` for a new key.")
    return tuple(keys)


def _text(path: Path, secret: bool) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        raise KeyFileError(f"the key file {path} is missing. `brelan keys` makes it.") from None
    except OSError as error:
        raise KeyFileError(f"the key file {path} cannot be read ({error.strerror}).") from None
    except ValueError:
        raise KeyFileError(f"the key file {path} is no text: keys are written in hexadecimal digits.") from None
    if secret and mode & (_OTHERS | _GROUP_WRITES):
        raise KeyFileError(f"the key file {path} is open to others than its owner: chmod 600 {path}")
    return text
