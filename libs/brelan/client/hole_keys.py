"""A player's own keys: his hole cards are sealed to him, and nobody on the way can open them (docs/hole-cards.md)."""

import secrets
from collections.abc import Callable
from typing import TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import UNSET

from brelan.client.model import TableModel
from brelan.deck.keys import ed25519_public, x25519_public
from brelan.deck.sealing import KEY_BYTES, CannotOpen, Opener, hole_context
from brelan.events.commands import BringKey
from brelan.events.dealing import HoleCards
from brelan.rules.hole_keys import change_message
from brelan.views.messages import Events, OwnCards, SealedCards, Snapshot
from brelan.views.projection import card_texts

Message = TypeVar("Message")


class HoleKeys:
    """One pair of keys, for all tables: one to seal to, one that signs its successor. Ask ``due`` after every message.

    It is brought once to each seat and epoch: whoever brings another one later, from another device, is dealt to there.
    """

    def __init__(
        self,
        hole_secret: bytes = b"",
        sign_secret: bytes = b"",
        previous: "HoleKeys | None" = None,
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        """32 bytes each; none: new ones. ``previous``: in whose hand these take over at once."""
        hole_secret = hole_secret or random_bytes(KEY_BYTES)
        sign_secret = sign_secret or random_bytes(KEY_BYTES)
        self.hole_key, self.sign_key = x25519_public(hole_secret), ed25519_public(sign_secret)
        self._sign = Ed25519PrivateKey.from_private_bytes(sign_secret).sign
        self._opener = Opener((hole_secret,))
        self._previous = previous
        self._brought: dict[str, tuple[int, int]] = {}  # epoch and seat, by table

    def due(self, model: TableModel) -> BringKey | None:
        """What he has to say now, once."""
        mine, table_id = model.mine, model.table_id
        if mine is None:
            self._brought.pop(table_id, None)
            return None
        place = model.epoch, mine.seat
        here, self._brought[table_id] = self._brought.get(table_id) == place, place
        if here or mine.hole_key == self.hole_key.hex():
            return None
        return BringKey(self.hole_key.hex(), self.sign_key.hex(), self._signature(model).hex())

    def opened(self, table_id: str, message: Message) -> Message:
        """With the cards that are sealed in it. As it came when they are sealed to another key."""
        if isinstance(message, Snapshot | Events) and isinstance(message.sealed, SealedCards):
            cards = self.open(table_id, message.sealed)
            return message if cards is None else msgspec.structs.replace(message, cards=cards, sealed=UNSET)
        return message

    def open(self, table_id: str, sealed: SealedCards) -> OwnCards | None:
        """None also when it is not what the room says of it."""
        try:
            plain = self._opener.open(bytes.fromhex(sealed.box), hole_context(table_id, sealed.seat))
            own = msgspec.json.decode(plain, type=HoleCards)
        except (CannotOpen, ValueError):
            return None
        if (own.hand_id, own.seat, len(own.cards)) != (sealed.hand_id, sealed.seat, sealed.count):
            return None
        return OwnCards(own.hand_id, own.seat, card_texts(own.cards), own.up)

    def _signature(self, model: TableModel) -> bytes:
        hand, mine, previous = model.hand, model.mine, self._previous
        player = hand.at(mine.seat) if hand is not None and mine is not None else None
        if hand is None or player is None or previous is None or player.hole_key != previous.hole_key.hex():
            return b""
        return previous._sign(change_message(hand.hand_id, player.seat, self.hole_key, self.sign_key))  # noqa: SLF001
