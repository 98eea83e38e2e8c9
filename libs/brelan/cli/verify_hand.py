"""``brelan verify-hand``: a hand record that a player downloaded, checked."""

import sys
from pathlib import Path

import click
import msgspec

from brelan.deck.fair.record import RecordUnreadable
from brelan.deck.fair.verify import Report, verify_record


@click.command("verify-hand")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--key", "keys", multiple=True, help="A dealer's public key that you trust, in hexadecimal.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
def verify_hand(file: Path, keys: tuple[str, ...], as_json: bool) -> None:
    """Check the record of a hand: signatures, seeds, cut, every opened card. Exit 0: all holds; 1: it does not.

    Without --key the key in the record is taken: compare it with the one that the room publishes.
    """
    try:
        report = verify_record(file.read_bytes(), [key.lower() for key in keys])
    except OSError as error:
        click.echo(f"brelan verify-hand: {file} cannot be read ({error.strerror}).", err=True)
        sys.exit(2)
    except RecordUnreadable as error:
        click.echo(f"brelan verify-hand: {error}", err=True)
        sys.exit(2)
    click.echo(msgspec.json.encode(report) if as_json else _sentences(report))
    sys.exit(0 if report.ok else 1)


def _sentences(report: Report) -> str:
    lines = [f"{'ok   ' if check.ok else 'WRONG'} {check.name}: {check.sentence}" for check in report.checks]
    return "\n".join([f"Hand {report.hand_id}", *lines, "The deal is right." if report.ok else "The deal is WRONG."])
