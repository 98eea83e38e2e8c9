"""What a game of the room is: data where games differ in data (``streets``), hooks where they differ in behaviour.

``draw`` and ``stud`` are the two there are. The rest of the rules asks ``games.game_of`` and never which one it is.
"""

from typing import Literal, Protocol

import msgspec

from brelan.events.config import TableConfig
from brelan.events.table import CardsDealt, Posted
from brelan.rules.state import Hand, TableState

BETS_A_ROUND = 4  # B3, B4: a bet and three raises


class Street(msgspec.Struct, frozen=True):
    """``name`` as in ``CardsRequested``. ``down``, ``up``: the cards everybody gets when it is dealt."""

    name: str
    limit: Literal["lower", "upper"]
    down: int = 0
    up: int = 0
    burns: bool = False
    draws_after: bool = False


class Lineup(msgspec.Struct, frozen=True):
    """The next hand: who is dealt in, in dealing order, and what is posted (amounts in full)."""

    seats: tuple[int, ...]
    posts: tuple[Posted, ...]
    button: int | None = None
    small_blind: int | None = None
    big_blind: int | None = None


class Deal(msgspec.Struct, frozen=True):
    """What the dealer's answer has to look like."""

    down: int
    up: int
    burned: int = 0
    reshuffled: bool = False
    community: bool = False


class Game(Protocol):
    @property
    def streets(self) -> tuple[Street, ...]: ...

    @property
    def unlimited_heads_up(self) -> bool:
        """B3, B4: whether the cap falls when two are left."""

    @property
    def has_blinds(self) -> bool: ...

    def deck_size(self, dealt_in: int) -> int: ...

    def lineup(self, state: TableState, config: TableConfig) -> Lineup | None:
        """None: fewer than two can play."""

    def opener(self, hand: Hand) -> int:
        """Index in dealing order of the player whom action on this street starts from; he may be unable to act."""

    def deal(self, hand: Hand, street: int) -> Deal: ...

    def dealt(self, hand: Hand, config: TableConfig, event: CardsDealt) -> None:
        """What lies open on the table now decides on this street. Changes the hand; called while folding."""


def street_index(game: Game, name: str) -> int:
    for index, street in enumerate(game.streets):
        if street.name == name:
            return index
    raise ValueError(f"there is no street {name!r}")


def limit_of(config: TableConfig, street: Street) -> int:
    """B1."""
    return config.lower_limit if street.limit == "lower" else config.upper_limit
