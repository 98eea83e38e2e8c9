"""Pots.

- B8: a bet, or the part of it, that nobody matched goes back before pots are counted; so does an ante (S13).
- B9: one pot per distinct all-in level, each with the players eligible for it. Folded chips stay where they went. An
  ante is no level unless somebody is all-in with less than it (S13), a dead blind never is: they belong to the main
  pot. Pots with the same eligible players are one.
- B10: equal hands split a pot equally; what is left goes chip by chip to the winners from the dealer's left.
- M5: the rake comes from each pot, main pot first, with one cap for the hand, rounded down to the smallest chip.
"""

from collections.abc import Sequence

from brelan.events.config import Rake, TableConfig
from brelan.events.table import BetReturned, Pot, PotShare
from brelan.rules.state import HandPlayer


def level_of(player: HandPlayer) -> int:
    """How far his money reaches."""
    return player.put_in - player.dead


def unmatched(players: Sequence[HandPlayer]) -> BetReturned | None:
    """B8."""
    highest = second = 0
    owner = None
    for player in players:
        level = level_of(player)
        if level > highest:
            highest, second, owner = level, highest, player
        elif level > second:
            second = level
    if owner is None or highest == second or owner.folded:
        return None
    return BetReturned(owner.seat, highest - second)


def form(players: Sequence[HandPlayer]) -> tuple[Pot, ...]:
    """B9, the main pot first."""
    contesting = [player for player in players if not player.folded]
    levels = sorted({level_of(player) for player in contesting if player.all_in})
    if not levels:
        return (Pot(sum(player.put_in for player in players), tuple(player.seat for player in contesting)),)
    top = max(map(level_of, players))
    if levels[-1] < top:
        levels.append(top)
    return _layers(players, contesting, levels)


def _layers(players: Sequence[HandPlayer], contesting: list[HandPlayer], levels: list[int]) -> tuple[Pot, ...]:
    pots: list[Pot] = []
    below, amount = 0, sum(player.dead for player in players)
    for level in levels:
        for player in players:
            amount += max(0, min(level_of(player), level) - below)
        below = level
        seats = tuple(player.seat for player in contesting if not player.all_in or level_of(player) >= level)
        if pots and (not seats or seats == pots[-1].seats):
            pots[-1] = Pot(pots[-1].amount + amount, pots[-1].seats)
        elif amount:
            pots.append(Pot(amount, seats))
        amount = 0
    return tuple(pots)


def split(amount: int, winners: Sequence[int], smallest_chip: int) -> tuple[PotShare, ...]:
    """B10. ``winners`` in dealing order, which begins at the button's or the dealer's left."""
    chips, crumbs = divmod(amount, smallest_chip)
    each, odd = divmod(chips, len(winners))
    shares = [(each + (place < odd)) * smallest_chip for place in range(len(winners))]
    shares[0] += crumbs  # stacks may have been bought before the smallest chip was made larger
    return tuple(PotShare(seat, share) for seat, share in zip(winners, shares, strict=True) if share)


def rakes(pots: Sequence[Pot], config: TableConfig, dealt_in: int) -> list[int]:
    """M5, pot by pot. A last pot that one player alone can win was won from nobody: it goes back unraked (B9)."""
    taken: list[int] = []
    cap = _cap(config.rake, dealt_in)
    for place, pot in enumerate(pots):
        share = pot.amount * config.rake.basis_points // 10_000
        if cap is not None:
            share = min(share, cap - sum(taken))
        if place and len(pot.seats) == 1:
            share = 0
        taken.append(share // config.smallest_chip * config.smallest_chip)
    return taken


def _cap(rake: Rake, dealt_in: int) -> int | None:
    """That of the largest number of players reached; below all of them no rake is taken."""
    if not rake.caps:
        return None
    reached = [cap for cap in rake.caps if cap.players <= dealt_in]
    return max(reached, key=lambda cap: cap.players).cap if reached else 0
