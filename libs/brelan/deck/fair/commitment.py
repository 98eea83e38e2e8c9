"""What the dealer signs before any player's seed for the hand is known, and the proof that it signed two."""

from typing import Annotated

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Meta, Struct

from brelan.deck.fair.drbg import sha256

GAMES = {"draw": (32, 36), "stud": (52,)}
FIRST_PREVIOUS = "00" * 32  # of a table's first commitment

Hex32 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Hex64 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{128}\Z")]
# Printable ASCII without quotes, backslash and space: written the same in every JSON.
Name = Annotated[str, Meta(pattern=r"\A[!#-\[\]-~]{1,64}\Z")]
Small = Annotated[int, Meta(ge=0, le=255)]
Counter = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class Commitment(Struct, frozen=True, forbid_unknown_fields=True):
    hand_id: Name
    seq: Counter  # of the table's commitments, from 1, without a gap
    table_id: Name
    game: Name
    cards: Small  # N
    root: Hex32  # over the salted leaves of the base
    secret_hash: Hex32
    reshuffle_hashes: Annotated[tuple[Hex32, ...], Meta(max_length=8)]
    previous: Hex32  # hash of the table's commitment before

    def encoded(self) -> bytes:
        """The bytes that are signed, hashed, and that the transcript begins with."""
        return b"".join(
            (
                b"BRD1-C",
                text(self.hand_id),
                self.seq.to_bytes(8, "big"),
                text(self.table_id),
                text(self.game),
                bytes((self.cards,)),
                bytes.fromhex(self.root),
                bytes.fromhex(self.secret_hash),
                bytes((len(self.reshuffle_hashes),)),
                *(bytes.fromhex(hash_) for hash_ in self.reshuffle_hashes),
                bytes.fromhex(self.previous),
            )
        )

    def hash(self) -> str:
        return sha256(self.encoded()).hex()


def text(value: str) -> bytes:
    """A length of one byte, then the characters."""
    encoded = value.encode("ascii")
    return bytes((len(encoded),)) + encoded


def secret_hash(secret: bytes) -> str:
    return sha256(b"\x02", secret).hex()


def reshuffle_hash(secret: bytes) -> str:
    return sha256(b"\x03", secret).hex()


def sign(key: Ed25519PrivateKey, message: bytes) -> str:
    return key.sign(message).hex()


def is_signed(public_key: str, signature: str, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


class Signed(Struct, frozen=True, forbid_unknown_fields=True):
    commitment: Commitment
    signature: Hex64


def is_fraud_proof(one: Signed, other: Signed, public_key: str) -> bool:
    """Whether the dealer signed two different commitments for one hand, or for one number of one table."""
    a, b = one.commitment, other.commitment
    same_hand = a.hand_id == b.hand_id
    same_number = (a.table_id, a.seq) == (b.table_id, b.seq)
    return (
        (same_hand or same_number)
        and a != b
        and all(is_signed(public_key, signed.signature, signed.commitment.encoded()) for signed in (one, other))
    )
