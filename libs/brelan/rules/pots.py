"""Pots.

- B8: a bet, or the part of it, that nobody matched goes back before pots are counted.
- B9: one pot per distinct all-in level, each with the players eligible for it. Folded chips stay where they went. Antes
  and dead blinds are no bet level: they belong to the main pot. Pots with the same eligible players are one.
- B10: ties split equally; the odd chips go one at a time to the winners in seat order from the dealer's left.
- M5: the rake is taken from each pot, main pot first, with one cap for the hand, rounded down to the smallest chip.
"""

from collections.abc import Sequence

from brelan.events.config import TableConfig
from brelan.events.table import Pot, PotShare
from brelan.rules.state import HandPlayer


def live(player: HandPlayer) -> int:
    """What he put in as bets: antes and dead blinds are not matched by anybody."""
    return player.put_in - player.dead


def uncalled(players: Sequence[HandPlayer]) -> tuple[int, int] | None:
    """B8: (seat, amount) of what nobody matched. An ante that nobody else could cover too (S13)."""
    if (bet := _beyond_the_second(players, [live(player) for player in players])) is not None:
        return bet
    if any(live(player) for player in players):
        return None
    return _beyond_the_second(players, [player.dead for player in players])


def _beyond_the_second(players: Sequence[HandPlayer], amounts: list[int]) -> tuple[int, int] | None:
    first, second = sorted(amounts, reverse=True)[:2]
    player = players[amounts.index(first)]
    if first == second or player.folded:
        return None
    return player.seat, first - second


def pots(players: Sequence[HandPlayer]) -> tuple[Pot, ...]:
    """B9, the main pot first."""
    levels = _levels(players)
    found: list[Pot] = []
    below = (0, 0)
    for level in levels:
        amount = sum(_between(player, below, level) for player in players)
        seats = tuple(player.seat for player in players if not player.folded and _reaches(player, level))
        below = level
        if not amount:
            continue
        if found and (found[-1].seats == seats or not seats):
            found[-1] = Pot(found[-1].amount + amount, found[-1].seats)
        else:
            found.append(Pot(amount, seats))
    return tuple(found)


def _levels(players: Sequence[HandPlayer]) -> list[tuple[int, int]]:
    """(dead, live) where a pot ends: a short ante is a level of its own (S13), any ante else is in full."""
    most_dead = max(player.dead for player in players)
    levels = {(most_dead, max(live(player) for player in players))}
    for player in players:
        if not player.folded and player.all_in:
            short = player.dead < most_dead and not live(player) and player.dead
            levels.add((player.dead, 0) if short else (most_dead, live(player)))
    return sorted(levels)


def _between(player: HandPlayer, below: tuple[int, int], level: tuple[int, int]) -> int:
    dead = max(0, min(player.dead, level[0]) - below[0])
    return dead + max(0, min(live(player), level[1]) - below[1])


def _reaches(player: HandPlayer, level: tuple[int, int]) -> bool:
    """The last level is reached by all who are in it and not all-in below it."""
    if live(player) >= level[1] and level[1]:
        return True
    if not player.all_in:
        return True
    if level[1]:
        return live(player) >= level[1]
    return bool(live(player)) or player.dead >= level[0] or not player.dead


def rake_of(pot: int, config: TableConfig, dealt_in: int, taken: int) -> int:
    """M5, for one pot, when ``taken`` was already taken from this hand."""
    rake = config.rake
    share = pot * rake.basis_points // 10_000
    if rake.caps:
        reached = [cap for cap in rake.caps if dealt_in >= cap.players]
        share = min(share, (max(reached, key=lambda cap: cap.players).cap if reached else 0) - taken)
    return max(0, share // config.smallest_chip * config.smallest_chip)


def split(amount: int, winners: Sequence[int], smallest_chip: int) -> tuple[PotShare, ...]:
    """B10. ``winners`` in seat order from the dealer's left (stud) or the button's (draw)."""
    chips, crumbs = divmod(amount, smallest_chip)
    each, odd = divmod(chips, len(winners))
    shares = [each * smallest_chip + (smallest_chip if index < odd else 0) for index in range(len(winners))]
    shares[0] += crumbs
    return tuple(PotShare(seat, share) for seat, share in zip(winners, shares, strict=True))
