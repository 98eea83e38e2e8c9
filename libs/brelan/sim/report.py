"""Many worlds from one seed, on as many processors as there are, and one report of them all.

A world's seed is ``<seed>/<number>``, so what it does depends on nothing else. A seed with a slash names one world.
"""

import hashlib
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from brelan.sim.faults import FAULTS
from brelan.sim.shrink import Shrunk, shrink
from brelan.sim.world import Outcome, Setup, play

WORLD_HANDS = 100  # at most, in one world


def setups(
    hands: int, seed: str, faults: Sequence[str], *, steps: int = 0, defect: str = "", world_hands: int = WORLD_HANDS
) -> list[Setup]:
    if "/" in seed:
        return [Setup(seed, hands, tuple(faults), steps, defect)]
    worlds = -(-hands // world_hands)
    sizes = [hands // worlds + (number < hands % worlds) for number in range(worlds)]
    return [Setup(f"{seed}/{number}", size, tuple(faults), steps, defect) for number, size in enumerate(sizes)]


def simulate(worlds: Sequence[Setup], processes: int | None = None) -> Iterator[Outcome]:
    """One after the other in the order of the worlds, however many work on them."""
    processes = min(processes or os.cpu_count() or 1, len(worlds))
    if processes == 1:
        yield from map(play, worlds)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(play, worlds)


def report(seed: str, outcomes: Sequence[Outcome], started: float) -> tuple[dict[str, Any], Shrunk | None]:
    """``started``: of ``time.monotonic``. The first broken promise is brought down to its shortest prefix."""
    faults, checks, digest = Counter[str](), Counter[str](), hashlib.sha256()
    for outcome in outcomes:
        faults.update(outcome.faults)
        checks.update(outcome.checks)
        digest.update(outcome.log_hash.encode())
    broken = [outcome for outcome in outcomes if outcome.found is not None]
    shrunk = shrink(broken[0]) if broken else None
    found: dict[str, Any] = {
        "hands": sum(outcome.hands for outcome in outcomes),
        "seed": seed,
        "faults": {name: faults[name] for name in FAULTS if faults[name]},
        "violations": len(broken),
        "checks": dict(sorted(checks.items())),
        "log_hash": digest.hexdigest(),
        "worlds": len(outcomes),
        "steps": sum(outcome.steps for outcome in outcomes),
        "room_seconds": round(sum(outcome.seconds for outcome in outcomes)),
        "lost_without_replicas": sum(outcome.lost for outcome in outcomes),
        "seconds": round(time.monotonic() - started, 1),
    }
    if shrunk is not None:
        found["violation"] = {"check": shrunk.found.check, "what": shrunk.found.what, "again": shrunk.command}
    return found, shrunk
