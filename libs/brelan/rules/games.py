"""The games there are, by the name in a table's configuration."""

from brelan.events.config import TableConfig
from brelan.rules.draw import Draw
from brelan.rules.game import Game
from brelan.rules.stud import Stud

GAMES: dict[str, Game] = {"draw": Draw(), "stud": Stud()}


def game_of(config: TableConfig) -> Game:
    return GAMES[config.game]
