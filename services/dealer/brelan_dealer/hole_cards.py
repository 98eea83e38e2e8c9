"""What lies in ``hole:<table>`` for each seat: its own cards, sealed to the gateways' key or to the player's own."""

from collections.abc import Callable
from functools import lru_cache

import msgspec

from brelan.deck.dealing import DeckState, hole_cards
from brelan.deck.sealing import RandomBytes, Sealer, hole_context
from brelan.events.dealing import PlayersBox, PlayersBoxes
from brelan.events.envelope import encode

PLAYERS_KEPT = 1_024  # sealers: a new one costs a hundred microseconds


class HoleCardSealer:
    def __init__(self, gateway_key: bytes, random_bytes: RandomBytes) -> None:
        self._for_gateway = Sealer(gateway_key, random_bytes)
        self._for_player: Callable[[bytes], Sealer] = lru_cache(PLAYERS_KEPT)(lambda key: Sealer(key, random_bytes))

    def sealed(self, table_id: str, seat: int, state: DeckState, before: DeckState) -> bytes:
        """``before``: what the table knows of already, if it does not know of ``state`` yet."""
        context, hand = hole_context(table_id, seat), state.hands[seat]
        if not hand.hole_key:
            return self._for_gateway.seal(encode(hole_cards(state, seat)), context)
        sealer = self._for_player(hand.hole_key)
        both = {len(own.cards): own for own in (hole_cards(before, seat), hole_cards(state, seat)) if own.cards}
        boxes = (PlayersBox(count, sealer.seal(msgspec.json.encode(own), context)) for count, own in both.items())
        return encode(PlayersBoxes(state.hand_id, hand.player_id, tuple(boxes)))
