"""What a table may be configured to. Bad configuration is refused with the reason.

- S1: stud limits, two to eight seats. D1: draw, two to five seats.
- S15: ``0 < ante <= bring-in < L``, buy-in at least ``10 L``; presets for each posted limit.
- M1: the minimum buy-in is what every purchase of chips has to reach.
"""

from typing import Any

from brelan.events.config import Game, Rake, RakeCap, TableConfig
from brelan.rules.draw import small_blind_of

LIMITS = ("1-2", "2-4", "3-6", "4-8", "5-10", "8-16", "10-20", "15-30", "20-40")
_WHOLE = 100  # minor units in a whole one, in the presets
_RAKE = Rake(500, (RakeCap(2, 100), RakeCap(4, 200), RakeCap(6, 300)))


def problems(config: TableConfig) -> list[str]:
    """Sentences, one for each thing that is wrong; empty when the table can be opened."""
    found = [sentence for wrong, sentence in _general(config) if wrong]
    found += [sentence for wrong, sentence in (_stud(config) if config.game == "stud" else _draw(config)) if wrong]
    return found + _rake(config.rake)


def _general(config: TableConfig) -> list[tuple[bool, str]]:
    chip = config.smallest_chip
    amounts = (config.lower_limit, config.upper_limit, config.ante, config.bring_in, config.small_blind or 0)
    return [
        (not 1 <= len(config.name.strip()) <= 40, "The name has to have 1 to 40 characters."),
        (config.lower_limit <= 0, "The lower limit has to be above zero."),
        (config.upper_limit < config.lower_limit, "The upper limit has to be at least the lower limit."),
        (chip <= 0, "The smallest chip has to be above zero."),
        (
            chip > 0 and any(amount % chip for amount in amounts),
            "Every amount has to be a multiple of the smallest chip.",
        ),
        (config.currency_unit <= 0, "The currency unit has to be above zero."),
        (
            config.minimum_buy_in < 10 * config.lower_limit,
            "The minimum buy-in has to be at least ten times the lower limit.",
        ),
        (
            chip > 0 and config.minimum_buy_in % chip != 0,
            "The minimum buy-in has to be a multiple of the smallest chip.",
        ),
        (max(amounts) > 10**12 or config.minimum_buy_in > 10**13, "The limits are too high."),
        (not 1_000 <= config.action_time_ms <= 600_000, "The action time has to be between 1 second and 10 minutes."),
        (not 0 <= config.hand_pause_ms <= 60_000, "The pause between hands has to be between 0 and 60 seconds."),
        ((config.protected_all_ins_per_day or 0) < 0, "The number of protected all-ins a day cannot be negative."),
    ]


def _stud(config: TableConfig) -> list[tuple[bool, str]]:
    return [
        (not 2 <= config.seats <= 8, "A stud table has two to eight seats."),
        (not 0 < config.ante <= config.bring_in, "The ante has to be above zero and at most the bring-in."),
        (config.bring_in >= config.lower_limit, "The bring-in has to be below the lower limit."),
        (config.small_blind is not None, "Stud has no blinds."),
    ]


def _draw(config: TableConfig) -> list[tuple[bool, str]]:
    blind = config.small_blind
    reckoned = min(config.smallest_chip, config.currency_unit) > 0
    return [
        (
            reckoned and small_blind_of(config) % config.smallest_chip != 0,
            "Half the lower limit in whole units cannot be paid in the smallest chip: set the small blind.",
        ),
        (not 2 <= config.seats <= 5, "A draw table has two to five seats."),
        (bool(config.ante or config.bring_in), "Draw has neither ante nor bring-in."),
        (
            blind is not None and not 0 < blind <= config.lower_limit,
            "The small blind has to be above zero and at most the lower limit.",
        ),
    ]


def _rake(rake: Rake) -> list[str]:
    players = [cap.players for cap in rake.caps]
    found = []
    if not 0 <= rake.basis_points <= 1_000:
        found.append("The rake has to be between 0 and 1000 basis points (10 %).")
    if any(cap.cap < 0 or cap.players < 2 for cap in rake.caps) or len(set(players)) != len(players):
        found.append("Each rake cap needs its own number of players, two or more, and a cap of zero or more.")
    return found


def preset(game: Game, limit: str) -> TableConfig:
    """``preset("stud", "2-4")``. Raises KeyError when the limit is not posted."""
    return PRESETS[game, limit]


def _preset(game: Game, limit: str) -> TableConfig:
    lower, upper = (int(part) * _WHOLE for part in limit.split("-"))
    shared: dict[str, Any] = {"lower_limit": lower, "upper_limit": upper, "minimum_buy_in": 10 * lower, "rake": _RAKE}
    if game == "stud":
        return TableConfig(
            name=f"Stud {limit}", game="stud", seats=8, ante=max(25, lower // 5), bring_in=max(50, lower // 2), **shared
        )
    return TableConfig(name=f"Draw {limit}", game="draw", seats=5, **shared)


PRESETS: dict[tuple[str, str], TableConfig] = {
    (game, limit): _preset(game, limit) for game in ("stud", "draw") for limit in LIMITS
}
