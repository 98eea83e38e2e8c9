"""The shortest way to see a broken promise again, as one command.

A world is the same every time, so the step at which the promise broke ends the prefix. If that was in the healing,
fewer hands may do. Kinds of faults that had nothing to do with it are left out, as far as it still breaks without them.
"""

import shlex
from collections.abc import Callable

import msgspec

from brelan.sim.world import Found, Outcome, Setup, play

MOST_TRIES = 40

Still = Callable[[Setup], Outcome | None]  # what a world came to, if it breaks the same promise


class Shrunk(msgspec.Struct, frozen=True):
    setup: Setup
    found: Found

    @property
    def command(self) -> str:
        setup = self.setup
        words = ["brelan", "simulate", "--hands", str(setup.hands), "--seed", setup.seed]
        words += ["--faults", ",".join(setup.faults) or "none", "--steps", str(setup.steps)]
        if setup.defect:
            words += ["--defect", setup.defect]
        return shlex.join(words)


def shrink(outcome: Outcome) -> Shrunk:
    """``outcome``: of a world in which something was found."""
    assert outcome.found is not None
    check, best, tries = outcome.found.check, outcome, 0

    def still(setup: Setup) -> Outcome | None:
        nonlocal tries
        if tries >= MOST_TRIES:
            return None
        tries += 1
        again = play(setup)
        return again if again.found is not None and again.found.check == check else None

    best = _fewer_faults(best, still)
    best = _fewer_hands(best, still)
    assert best.found is not None
    return Shrunk(msgspec.structs.replace(best.setup, steps=best.found.step + 1), best.found)


def _fewer_faults(best: Outcome, still: Still) -> Outcome:
    """None at all, or only those that struck, or all but one, again and again."""
    if not best.setup.faults:
        return best
    for some in ((), tuple(kind for kind in best.setup.faults if best.faults.get(kind))):
        if some != best.setup.faults and (again := still(msgspec.structs.replace(best.setup, faults=some))) is not None:
            best = again
            break
    for kind in best.setup.faults:
        fewer = tuple(one for one in best.setup.faults if one != kind)
        if (again := still(msgspec.structs.replace(best.setup, faults=fewer))) is not None:
            best = again
    return best


def _fewer_hands(best: Outcome, still: Still) -> Outcome:
    hands = 1
    while hands < best.setup.hands:
        if (again := still(msgspec.structs.replace(best.setup, hands=hands))) is not None:
            return again
        hands *= 2
    return best
