"""``brelan replay``: recorded hands through the rules."""

import sys
from pathlib import Path

import click
import msgspec

from brelan.audit.replay import Replay, ReplayError
from brelan.histories.phh import PhhError, PhhHand, parse


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line and nothing else.")
def replay(files: tuple[Path, ...], as_json: bool) -> None:
    """Play .phh hands (Poker Hand History) through the rules and print the final stacks, without rake."""
    failed = 0
    for file in files:
        result, remarks = _replay(file)
        failed += not result["ok"]
        if as_json:
            click.echo(msgspec.json.encode(result))
        elif result["ok"]:
            click.echo("\n  ".join((f"{file}: {result['finishing_stacks']}", *remarks)))
        else:
            click.echo(f"{file}: {result['error']}", err=True)
    if failed and not as_json:
        click.echo(f"{failed} of {len(files)} could not be played.", err=True)
    sys.exit(1 if failed else 0)


def _replay(file: Path) -> tuple[dict[str, object], list[str]]:
    """The object that is printed, and for people what the file reads in another way than our rules."""
    try:
        hand = Replay(_read(file))
        stacks = hand.play()
    except (PhhError, ReplayError) as error:
        return {"file": str(file), "finishing_stacks": None, "ok": False, "error": str(error)}, []
    remarks = [f"{action!r} is played as the file means it, after a short all-in" for action in hand.read_by_the_file]
    return {"file": str(file), "finishing_stacks": list(stacks), "ok": True}, remarks


def _read(file: Path) -> PhhHand:
    try:
        return parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PhhError(f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PhhError("it is not text in UTF-8") from None
