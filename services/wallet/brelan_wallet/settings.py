"""The wallet's settings: the room's, and how often the books are audited."""

from pydantic import Field

from brelan.settings import RoomSettings


class WalletSettings(RoomSettings):
    audit_seconds: float = Field(default=30.0, gt=0)  # BRELAN_AUDIT_SECONDS
