"""A table's configuration: everything an operator may choose when opening a table."""

from typing import Literal

import msgspec

Game = Literal["draw", "stud"]
TimeoutPolicy = Literal["protect", "fold"]


class RakeCap(msgspec.Struct, frozen=True):
    players: int  # with at least this many players dealt in ...
    cap: int  # ... the hand's whole rake is at most this, in minor units


class Rake(msgspec.Struct, frozen=True):
    """M5. ``basis_points`` of each pot (500 = 5 %), with one cap for the hand by number of players dealt in."""

    basis_points: int = 0
    caps: tuple[RakeCap, ...] = ()


class TableConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Amounts in minor units of the currency. Checked by ``brelan.rules.configuration.problems``."""

    name: str
    game: Game
    lower_limit: int  # L
    upper_limit: int  # U
    seats: int
    minimum_buy_in: int
    ante: int = 0  # stud
    bring_in: int = 0  # stud
    small_blind: int | None = None  # draw; None: by rule D5
    smallest_chip: int = 1
    currency_unit: int = 100  # minor units in a whole one (D5 rounds to it)
    action_time_ms: int = 10_000  # T1
    timeout_policy: TimeoutPolicy = "protect"  # T7
    protected_all_ins_per_day: int | None = None  # T7; None: no limit
    cap_lifted_heads_up: bool = True  # B5; False keeps a cap that was reached
    rake: Rake = Rake()
    hand_pause_ms: int = 4_000  # between a hand's end and the next deal, where hands may be shown
