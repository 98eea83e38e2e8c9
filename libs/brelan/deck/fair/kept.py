"""What a dealer keeps of a hand that it has committed to, sealed beside its log."""

from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from brelan.deck.fair.commitment import Commitment, reshuffle_hash, secret_hash, sign
from brelan.deck.fair.leaves import Epoch, base_epoch
from brelan.deck.fair.record import Seed
from brelan.deck.secret import Secret

RESHUFFLES = 2  # the most that a hand can need (D11)


class Kept(Secret, frozen=True, array_like=True):
    """What the dealer needs to go on after a crash. Secret: whoever has it knows the deck."""

    secret: bytes
    reshuffle_secrets: tuple[bytes, ...]
    commitment: Commitment
    signature: str
    dealer_key: str
    seeds: tuple[Seed, ...] = ()

    def seeded(self, seeds: Iterable[Seed]) -> "Kept":
        return replace(self, seeds=tuple(sorted(seeds, key=lambda seed: seed.seat)))


def commit(
    secret: bytes,
    reshuffle_secrets: Sequence[bytes],
    key: Ed25519PrivateKey,
    *,
    hand_id: str,
    seq: int,
    table_id: str,
    game: str,
    cards: int,
    previous: str,
    base: Epoch | None = None,
) -> Kept:
    """``secret`` and ``reshuffle_secrets``: 32 bytes each, from the operating system, never used before. ``base``: what
    ``base_epoch`` makes of the secret, for whoever has it already.
    """
    commitment = Commitment(
        hand_id,
        seq,
        table_id,
        game,
        cards,
        (base or base_epoch(secret, hand_id, cards)).root,
        secret_hash(secret),
        tuple(reshuffle_hash(each) for each in reshuffle_secrets),
        previous,
    )
    signature = sign(key, commitment.encoded())
    dealer_key = key.public_key().public_bytes_raw().hex()
    return Kept(secret, tuple(reshuffle_secrets), commitment, signature, dealer_key)
