"""The dealer's settings: the room's. Where its keys lie: ``brelan.deck.keys``."""

from brelan.settings import RoomSettings


class DealerSettings(RoomSettings):
    pass
