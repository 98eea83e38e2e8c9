"""How a bot is: loose or tight, quick or slow, and what it does beside playing."""

from random import Random

import msgspec


class Temper(msgspec.Struct, frozen=True):
    """Chances are of 1; those of habits are for each hand."""

    name: str
    looseness: float  # how little it needs to stay in
    aggression: float  # how readily it bets and raises
    bluff: float  # how often it plays nothing as if it were something
    pace: float  # how long it thinks, on average, in terms of the room's ``--think``
    oversleeps: float = 0.0  # lets the time run out (for each turn)
    drops: float = 0.0  # loses its connection
    rests: float = 0.0  # sits out for a while
    wanders: float = 0.0  # leaves and comes back
    shows: float = 0.2  # shows when it need not


TEMPERS = (
    Temper("rock", looseness=0.25, aggression=0.35, bluff=0.02, pace=1.2, drops=0.01),
    Temper("caller", looseness=0.85, aggression=0.15, bluff=0.01, pace=0.8, rests=0.01),
    Temper("shark", looseness=0.45, aggression=0.7, bluff=0.08, pace=1.0, shows=0.05),
    Temper("maniac", looseness=0.8, aggression=0.9, bluff=0.3, pace=0.4, shows=0.6),
    Temper("dreamer", looseness=0.6, aggression=0.4, bluff=0.05, pace=1.8, oversleeps=0.02, drops=0.02),
    Temper("tourist", looseness=0.7, aggression=0.5, bluff=0.1, pace=1.0, drops=0.01, rests=0.02, wanders=0.01),
)


def temper_of(number: int, chance: Random) -> Temper:
    """The ``number``-th bot's: every kind in turn, no two quite alike."""
    kind = TEMPERS[number % len(TEMPERS)]
    return msgspec.structs.replace(
        kind,
        looseness=_near(kind.looseness, chance),
        aggression=_near(kind.aggression, chance),
        pace=kind.pace * chance.uniform(0.7, 1.4),
    )


def _near(value: float, chance: Random) -> float:
    return min(1.0, max(0.0, chance.gauss(value, 0.08)))
