"""History has the room's settings, and none of its own."""

from brelan.settings import RoomSettings


class HistorySettings(RoomSettings):
    pass
