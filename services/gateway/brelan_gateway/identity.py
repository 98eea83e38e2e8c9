"""Who somebody is, once his token has been checked."""

import time

import msgspec

from brelan.auth.tokens import Claims

OPERATORS = {"operator", "administrator"}


class Identity(msgspec.Struct, frozen=True):
    """``ends``: when his session does, in seconds of the monotonic clock."""

    session: Claims
    ends: float

    @property
    def player_id(self) -> str:
        return self.session.player_id

    @property
    def name(self) -> str:
        return self.session.name

    @property
    def role(self) -> str:
        return self.session.role

    @property
    def operator(self) -> bool:
        return self.role in OPERATORS

    def ended(self, now: float | None = None) -> bool:
        return (time.monotonic() if now is None else now) >= self.ends
