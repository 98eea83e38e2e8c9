"""``brelan simulate``: whole rooms with a clock of their own, under every fault there is, from one seed."""

import sys
import time

import click
import msgspec

from brelan.sim.defects import DEFECTS
from brelan.sim.faults import UnknownFault, parse_faults
from brelan.sim.report import WORLD_HANDS, report, setups, simulate
from brelan.sim.world import Outcome


class Faults(click.ParamType[frozenset[str]]):
    name = "LIST"

    def convert(
        self, value: str | frozenset[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[str]:
        if isinstance(value, frozenset):
            return value
        try:
            return parse_faults(value)
        except UnknownFault as error:
            self.fail(str(error), param, ctx)


@click.command("simulate")
@click.option("--hands", type=click.IntRange(1, 10**7), default=1000, show_default=True, help="To be played, together.")
@click.option("--seed", default="1", show_default=True, help='Any text. "1/3" is the world number 3 of the seed 1.')
@click.option("--faults", type=Faults(), default="all", show_default=True, help="all, none, or names with commas.")
@click.option("--steps", type=click.IntRange(0), default=0, help="End each world after so many calls of the event log.")
@click.option("--world-hands", type=click.IntRange(1), default=WORLD_HANDS, show_default=True, help="In one world.")
@click.option("--processes", type=click.IntRange(1, 256), help="To work on it. [one for each processor]")
@click.option("--defect", type=click.Choice(sorted(DEFECTS)), default=None, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
def simulate_command(
    hands: int,
    seed: str,
    faults: frozenset[str],
    steps: int,
    world_hands: int,
    processes: int | None,
    defect: str | None,
    as_json: bool,
) -> None:
    """Play hands in whole rooms whose services crash, stall and lose their connections; check every promise.

    The same seed and the same flags give the same bytes. A broken promise ends with 1 and says how to see it again.
    """
    started = time.monotonic()
    worlds = setups(hands, seed, sorted(faults), steps=steps, defect=defect or "", world_hands=world_hands)
    outcomes = []
    for outcome in simulate(worlds, processes):
        outcomes.append(outcome)
        if not as_json:
            click.echo(_progress(outcome, len(outcomes), len(worlds)), err=True)
    found, shrunk = report(seed, outcomes, started)
    click.echo(msgspec.json.encode(found) if as_json else _sentences(found))
    if shrunk is not None:
        click.echo(f"BROKEN: {shrunk.found.check}: {shrunk.found.what}\nSee it again: {shrunk.command}", err=True)
        sys.exit(1)


def _progress(outcome: Outcome, number: int, worlds: int) -> str:
    line = f"world {number} of {worlds} ({outcome.setup.seed}): {outcome.hands} hands"
    if outcome.found is None:
        return line
    what = f"{outcome.found.check}: {outcome.found.what}"
    return f"{line}\nBROKEN at step {outcome.found.step}: {what}\nThe shortest way there is looked for in the end."


def _sentences(found: dict[str, object]) -> str:
    faults, checks = found["faults"], found["checks"]
    assert isinstance(faults, dict)
    assert isinstance(checks, dict)
    lines = [
        f"{found['hands']} hands in {found['worlds']} worlds: {found['room_seconds']} seconds, in {found['seconds']}.",
        *(f"  {name}: {count}" for name, count in faults.items()),
        f"{sum(checks.values())} checks, {found['violations']} promises broken.",
        f"The log's hash is {found['log_hash']}.",
    ]
    return "\n".join(lines)
