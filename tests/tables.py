"""The tables that most tests play at."""

from brelan.events.config import TableConfig

STUD = TableConfig(
    name="Stud 2-4",
    game="stud",
    lower_limit=200,
    upper_limit=400,
    seats=8,
    minimum_buy_in=2000,
    ante=40,
    bring_in=100,
)
DRAW = TableConfig(name="Draw 2-4", game="draw", lower_limit=200, upper_limit=400, seats=5, minimum_buy_in=2000)
