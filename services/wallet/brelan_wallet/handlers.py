"""The wallet's decisions on a batch of one inbox: entries in, one page of the books out. Pure."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import astuple, replace

from brelan.eventlog import keys
from brelan.eventlog.log import Entry
from brelan.eventlog.tail import digest
from brelan.events import envelope
from brelan.events.bounds import check_storable, error_text
from brelan.events.envelope import encode
from brelan.events.money import WalletReplied
from brelan.ledger.books import Dead, Line, Page
from brelan.ledger.decide import Decision, Ledger, Request, decide, record


class Asked(msgspec.Struct, frozen=True):
    """A request, and the entry it came in."""

    entry: Entry
    request: Request
    trace: str


class Batch(msgspec.Struct, frozen=True):
    """A batch as it was understood."""

    shard: str  # or "wallet", the cashiers' inbox
    entries: Sequence[Entry]
    asked: Sequence[Asked]
    dead: Sequence[Dead]


def understand(shard: str, entries: Sequence[Entry]) -> Batch:
    """Whatever is no request that this inbox may bring is dead."""
    asked: list[Asked] = []
    dead: list[Dead] = []
    for entry in entries:
        try:
            asked.append(_asked(shard, entry))
        except (msgspec.MsgspecError, ValueError) as error:
            dead.append(bury(entry, error))
    return Batch(shard, entries, asked, dead)


def bury(entry: Entry, error: Exception) -> Dead:
    return Dead(entry.stream, entry.id, entry.data, error_text(error))


def _asked(shard: str, entry: Entry) -> Asked:
    if entry.stream == keys.cashier():
        command = envelope.decode_cashier(entry.data)
        _check_texts(command.command, command.trace)
        return Asked(entry, command.command, command.trace)
    asked = envelope.decode_wallet_request(entry.data)
    if keys.shard_of(asked.request.table_id) != shard:
        raise ValueError(f"shard {shard} asks for table {asked.request.table_id}, which is not its own")
    _check_texts(asked.request, asked.trace)
    return Asked(entry, asked.request, asked.trace)


def _check_texts(request: Request, trace: str) -> None:
    """Numbers are the ledger's to judge: it answers. Raises ValueError."""
    check_storable([text for text in (*astuple(request), trace) if isinstance(text, str)])


def passed(page: Page, entries: Sequence[Entry]) -> Page:
    """The page, with which these entries count as read."""
    last = {entry.stream: entry for entry in entries}
    cursors = {stream: entry.id for stream, entry in last.items()}
    return replace(page, cursors=cursors, digests={stream: digest(entry.data) for stream, entry in last.items()})


def decide_page(ledger: Ledger, page: int, batch: Batch) -> tuple[Page, list[Decision]]:
    """``ledger``: all that ``decide.touched`` names of these requests. It is changed."""
    lines: list[Line] = []
    outgoing: list[tuple[str, bytes]] = []
    decisions: list[Decision] = []
    for asked in batch.asked:
        decision = decide(ledger, asked.request)
        record(ledger, decision)
        decisions.append(decision)
        cause = f"{asked.entry.stream.rpartition(':')[2]}/{asked.entry.id}"
        if decision.decided is not None:
            lines.append(
                Line(
                    asked.request.transfer_id,
                    decision.decided,
                    decision.transfer,
                    asked.entry.at_ms,
                    cause,
                    asked.trace,
                )
            )
        if decision.reply is not None:
            reply = WalletReplied(decision.reply, cause, asked.trace)
            outgoing.append((keys.wallet_replies(batch.shard), encode(reply)))
    claims = {claimed: amount for decision in decisions if decision.claim for claimed, amount in [decision.claim]}
    return passed(Page(page, {}, lines, outgoing, batch.dead, claims=claims), batch.entries), decisions
