"""The two games: data where they differ in data (``streets``), hooks where they differ in behaviour."""

from typing import Literal, Protocol

import msgspec

from brelan.events.config import TableConfig
from brelan.events.table import Action, HandStarted, Posted
from brelan.rules.state import Hand, HandPlayer, TableState


class Street(msgspec.Struct, frozen=True):
    """``name``: as in ``CardsRequested``; draw's second one is opened by the draw. ``down``, ``up``: cards for each."""

    name: str
    size: Literal["lower", "upper"]
    down: int = 0
    up: int = 0


class LineUp(msgspec.Struct, frozen=True):
    """Who is dealt into the next hand, in dealing order, and what each has to post."""

    seats: tuple[int, ...]
    posts: tuple[Posted, ...]
    button: int | None = None
    small_blind: int | None = None
    big_blind: int | None = None


class Game(Protocol):
    @property
    def streets(self) -> tuple[Street, ...]: ...

    @property
    def capped_heads_up(self) -> bool:
        """B4: the cap holds with two players as well."""

    @property
    def has_blinds(self) -> bool: ...

    def deck_size(self, players: int) -> int: ...

    def line_up(self, state: TableState, config: TableConfig, ready: list[int]) -> LineUp | None:
        """None: no hand can be dealt. ``ready``: seats present and playing, ascending."""

    def pass_blinds(self, state: TableState, started: HandStarted) -> None:
        """D14: who is passed over by a blind owes it."""

    def open_first_street(self, hand: Hand, config: TableConfig) -> None: ...

    def open_street(self, hand: Hand, config: TableConfig, name: str) -> None: ...

    def draws_after(self, hand: Hand) -> bool: ...

    def forced(self, hand: Hand, config: TableConfig) -> tuple[HandPlayer, tuple[Action, ...]] | None:
        """Who has to open the round by force, and his actions (S5)."""

    def first_to_act(self, hand: Hand) -> HandPlayer:
        """Where the round begins; he may be all-in."""

    def sizes(self, hand: Hand, config: TableConfig) -> tuple[int, ...]:
        """W: by how much a bet or raise may go up now (two sizes with an open pair, S9)."""

    def counts_from(self, hand: Hand, config: TableConfig) -> int:
        """B7: from where on a bet or raise counts as one."""

    def settle_size(self, hand: Hand, config: TableConfig, to: int) -> None:
        """S9: once somebody has bet the upper limit, every raise is of that size."""

    def from_the_left(self, hand: Hand) -> list[HandPlayer]:
        """Everybody dealt in, beginning left of the button or dealer (B10, D8, D10)."""


def game_of(config: TableConfig) -> Game:
    return GAMES[config.game]


def index_of(game: Game, name: str) -> int:
    return next(index for index, street in enumerate(game.streets) if street.name == name)


def size_of(game: Game, config: TableConfig, street: int) -> int:
    """B1."""
    return config.lower_limit if game.streets[street].size == "lower" else config.upper_limit


def clear_street(game: Game, hand: Hand, config: TableConfig, street: int) -> None:
    """A new betting round."""
    hand.street = street
    hand.full_level = hand.price = hand.bets_made = 0
    hand.capped = False
    hand.wager = size_of(game, config, street)
    hand.last_aggressor = hand.first_to_act = hand.last_to_act = None
    for player in hand.players:
        player.bet = 0
        player.acted_at = -1


GAMES: dict[str, Game] = {}
