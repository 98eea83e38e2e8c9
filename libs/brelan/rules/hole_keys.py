"""Hole cards sealed to a player's own key (docs/hole-cards.md): whose key counts from when.

- A key counts from the next hand on; in a hand that he is dealt in, at once when the key that his cards are sealed for
  has signed the change. So nobody who only speaks for him, a gateway, has cards that lie there sealed to itself.
- What the dealer seals anew it says, and the table logs it, for gateways to pass on.
"""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from brelan.events import commands, table
from brelan.rules.draft import Draft
from brelan.rules.rejections import rejected
from brelan.rules.state import Hand, HandPlayer, Rejected, Seat

KEY_BYTES = 32
SIGNATURE_BYTES = 64
_ANY = X25519PrivateKey.from_private_bytes(bytes(range(KEY_BYTES)))  # no secret: to try a public key with


def bring(draft: Draft, command: commands.BringKey, seat: Seat) -> Rejected | None:
    hole_key, sign_key = _decoded(command.hole_key, KEY_BYTES), _decoded(command.sign_key, KEY_BYTES)
    signature = _decoded(command.signature, SIGNATURE_BYTES)
    if hole_key is None or sign_key is None:
        return rejected("bad_key", "A key has 64 hexadecimal digits.")
    if bool(hole_key) != bool(sign_key):
        return rejected("bad_key", "Bring two keys, one to seal to and one that signs its successor, or none.")
    if hole_key and not can_be_sealed_to(hole_key):
        return rejected("bad_key", "That is no X25519 key that anything can be sealed to.")
    if signature is None:
        return rejected("wrong_signature")
    player = _dealt_in(draft, seat)
    now = ""
    if signature:
        if player is None or not _is_signed(draft.hand, player, hole_key, sign_key, signature):
            return rejected("wrong_signature")
        now = draft.hand.hand_id
    if (seat.hole_key, seat.sign_key) != (hole_key, sign_key) or (now and player and player.hole_key != hole_key):
        draft.emit(table.KeyBrought(seat.seat, hole_key, sign_key, now))
    return None


def resealed(draft: Draft, answer: table.CardsResealed) -> None:
    """One that is late, for a hand or a key of before, is nobody's concern any more."""
    hand = draft.state.hand
    if hand is None or hand.hand_id != answer.hand_id:
        return
    if any(one.seat == answer.seat and one.hole_key == answer.hole_key for one in hand.players):
        draft.emit(answer)


def can_be_sealed_to(hole_key: bytes) -> bool:
    """Not a point of small order: whatever is sealed to one of those, everybody opens."""
    try:
        _ANY.exchange(X25519PublicKey.from_public_bytes(hole_key))
    except ValueError:
        return False
    return True


def change_message(hand_id: str, seat: int, hole_key: bytes, sign_key: bytes) -> bytes:
    """What the old key signs."""
    return f"brelan key 1\n{hand_id}\n{seat}\n{hole_key.hex()}\n{sign_key.hex()}".encode()


def _dealt_in(draft: Draft, seat: Seat) -> HandPlayer | None:
    players = draft.state.hand.players if draft.state.hand is not None else ()
    return next((one for one in players if (one.player_id, one.seat) == (seat.player_id, seat.seat)), None)


def _is_signed(hand: Hand, player: HandPlayer, hole_key: bytes, sign_key: bytes, signature: bytes) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(player.sign_key)
        key.verify(signature, change_message(hand.hand_id, player.seat, hole_key, sign_key))
    except (ValueError, InvalidSignature):
        return False
    return True


def _decoded(text: str, length: int) -> bytes | None:
    """Nothing stands for no key."""
    try:
        decoded = bytes.fromhex(text)
    except ValueError:
        return None
    return decoded if len(text) in (0, 2 * length) and len(decoded) * 2 == len(text) else None
