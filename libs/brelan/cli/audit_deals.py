"""``brelan audit-deals``: every finished hand's deal, computed anew from the dealer's secrets."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from brelan.cli.running import room_settings
from brelan.deck.fair.audit import audit_hand, audit_log
from brelan.deck.fair.record import read
from brelan.deck.fair.verify import verify_record
from brelan.deck.keys import AUDITOR, DEALER_SIGN_PUBLIC, KeyFileError, load_keys
from brelan.deck.sealing import CannotOpen, SecretsOpener
from brelan.events.envelope import decode_committed
from brelan.histories.queries import Histories, KeptDeal
from brelan.sql.engine import DatabaseError

AT_ONCE = 100


class Trouble(msgspec.Struct, frozen=True):
    hand_id: str
    sentences: tuple[str, ...]


class Audit(msgspec.Struct, frozen=True):
    """``hands``: how many were computed anew."""

    ok: bool
    hands: int
    troubles: tuple[Trouble, ...]


@click.command("audit-deals")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the room. [BRELAN_DATA, default var]")
@click.option("--keys", "folder", type=click.Path(path_type=Path), help="Where auditor.key is. [BRELAN_KEYS]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
def audit_deals(data: Path | None, folder: Path | None, as_json: bool) -> None:
    """Compute every finished hand's deal anew: deck, cut, reshuffles, every card. Exit 0: all is right; 1: it is not.

    It needs the auditor's key, which opens whole decks and belongs to nobody who runs the room.
    """
    settings = room_settings(data)
    folder = folder or settings.key_folder
    try:
        opener = SecretsOpener(load_keys(AUDITOR, folder))
        dealer_keys = [key.hex() for key in load_keys(DEALER_SIGN_PUBLIC, folder)]
        audit = asyncio.run(_audit(settings.database_url, opener, dealer_keys))
    except (KeyFileError, DatabaseError) as error:
        click.echo(f"brelan audit-deals: {error}", err=True)
        sys.exit(2)
    click.echo(msgspec.json.encode(audit) if as_json else _sentences(audit))
    sys.exit(0 if audit.ok else 1)


async def _audit(database_url: str, opener: SecretsOpener, dealer_keys: list[str]) -> Audit:
    histories = Histories(database_url)
    troubles, hands, last = [], 0, ""
    try:
        while deals := await histories.deals_after(last, AT_ONCE):
            for deal in deals:
                hands, last = hands + 1, deal.hand_id
                entries = await histories.entries_of(deal.hand_id)
                if found := tuple(_troubles_of(deal, entries, opener, dealer_keys)):
                    troubles.append(Trouble(deal.hand_id, found))
        missing = ("There is no record of the deal.",)
        troubles += [Trouble(hand_id, missing) for hand_id in await histories.hands_without_deal()]
    finally:
        await histories.close()
    return Audit(not troubles, hands, tuple(troubles))


def _troubles_of(deal: KeptDeal, entries: list[bytes], opener: SecretsOpener, dealer_keys: list[str]) -> Iterator[str]:
    yield from (check.sentence for check in verify_record(deal.record, dealer_keys).checks if not check.ok)
    try:
        secrets = opener(deal.table_id, deal.hand_id, deal.for_audit)
    except CannotOpen as error:
        yield f"The secrets cannot be opened: {error}."
        return
    public = read(deal.record).public
    yield from audit_hand(public, secrets.secret, secrets.reshuffle_secrets, secrets.cards, secrets.thrown)
    if entries:  # a record may be there a moment before its hand
        events = [event for entry in entries for event in decode_committed(entry).events]
        yield from audit_log(public, events, secrets.cards)


def _sentences(audit: Audit) -> str:
    lines = [f"Hand {trouble.hand_id}: {' '.join(trouble.sentences)}" for trouble in audit.troubles]
    verdict = "all are right" if audit.ok else f"{len(audit.troubles)} are WRONG"
    return "\n".join([*lines, f"{audit.hands} deals computed anew: {verdict}."])
