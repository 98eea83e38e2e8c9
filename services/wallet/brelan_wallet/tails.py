"""What is booked, and gone from a table's log: to be settled when the end of a shard's log was lost (ADR 0011)."""

from collections.abc import Iterable, Mapping, Sequence

import structlog

from brelan.eventlog import keys
from brelan.eventlog.log import Entry, Log
from brelan.eventlog.tables import load_table
from brelan.events import money, table
from brelan.events.envelope import decode_committed
from brelan.ledger.accounts import table_account, table_of
from brelan.ledger.books import Booked, Books, Line
from brelan.ledger.decide import Claimed
from brelan.ledger.lost import Settlement, number_of, request_of, settle, settled_by
from brelan.rules.state import TableState

AT_ONCE = 200  # of an account's transfers, newest first

logger = structlog.get_logger(__name__)


async def settle_shard(log: Log, books: Books, claims: Mapping[Claimed, int]) -> Settlement:
    """For every table of the shard that has an account. ``claims``: those open before; answered are all that changed.

    Raises LogUnavailable, BooksUnavailable. Nobody may write the books meanwhile.
    """
    lines: list[Line] = []
    changed: dict[Claimed, int] = {}
    for account in sorted(await books.balances()):
        table_id = table_of(account)
        if table_id is None or keys.shard_of(table_id) != log.shard:
            continue
        found = await _settle_table(log, books, table_id)
        lines += found.lines
        changed.update({claimed: claims.get(claimed, 0) + amount for claimed, amount in found.claims.items()})
    return Settlement(lines, changed)


async def _settle_table(log: Log, books: Books, table_id: str) -> Settlement:
    state = await load_table(log, table_id)
    lost = await _lost(log, books, table_id, state)
    if not lost:
        return Settlement([], {})
    seated = [seat.player_id for seat in state.seats if seat is not None]
    settlement = settle(table_id, lost, seated, await log.now_ms())
    for line in settlement.lines:
        logger.error(
            "settled: its table has lost it",
            table=table_id,
            transfer=line.transfer_id,
            kind=line.decided.kind,
            postings=[(one.account, one.amount) for one in line.transfer.postings] if line.transfer else [],
        )
    for (_, player_id), amount in settlement.claims.items():
        logger.error("paid for chips that are at a table still", table=table_id, player=player_id, amount=amount)
    return settlement


async def _lost(log: Log, books: Books, table_id: str, state: TableState) -> list[money.WalletRequest]:
    """In the order they were booked. A table's requests are booked in the order it made them: what it has lost is at
    the end of its account's list, among what was booked for it otherwise."""
    lost: list[money.WalletRequest] = []
    before: int | None = None
    hands: Hands | None = None
    while booked := await books.booked(table_account(table_id), before, AT_ONCE):
        requests = [request for one in booked if (request := _own_request(one)) is not None]
        if hands is None and any(isinstance(request, money.TakeRake) for request in requests):
            hands = Hands(state, await log.range(keys.table_log(table_id)))
        gone = [request for request in requests if _is_lost(request, state, hands)]
        if not gone:
            break
        lost += gone
        before = booked[-1].sequence
    lost.reverse()
    ids = [other for request in lost for other in settled_by(request.transfer_id)]
    settled = (await books.known([], ids)).decided
    return [request for request in lost if not settled.keys() & set(settled_by(request.transfer_id))]


def _own_request(booked: Booked) -> money.WalletRequest | None:
    """What the table asked for under this id; None for what was booked for it otherwise."""
    request = request_of(booked.body)
    return request if request is not None and request.transfer_id == booked.transfer_id else None


def _is_lost(request: money.WalletRequest, state: TableState, hands: "Hands | None") -> bool:
    """The table has made so many transfers in each epoch; it knows nothing of a later one that is booked."""
    if isinstance(request, money.TakeRake):
        return hands is not None and not hands.raked(request.transfer_id)
    numbered = number_of(request.transfer_id)
    if numbered is None:  # a refund: what it undoes is looked at
        return False
    table_id, epoch, number = numbered
    made = state.transfers_made if epoch == state.epoch else state.former_epochs.get(f"{table_id}:{epoch}", 0)
    return number > made


class Hands:
    """Which hands have paid rake, as far as the table's log goes back. Before that they all have."""

    def __init__(self, state: TableState, entries: Sequence[Entry]) -> None:
        self._played = state.hands_played
        self._in_play = state.hand.hand_id if state.hand is not None else ""
        self._raked: set[str] = set()
        self._first = 0  # number of the first hand that is in the log from its beginning
        for event in _events(entries):
            match event:
                case table.HandStarted():
                    self._first = self._first or event.number
                case table.HandEnded():
                    self._raked.add(event.transfer_id)
                case _:
                    pass

    def raked(self, transfer_id: str) -> bool:
        if transfer_id in self._raked:
            return True
        hand_id = transfer_id.split(":")[1]
        number = int(hand_id.rpartition("-")[2])
        if number > self._played or hand_id == self._in_play:
            return False
        return not self._first or number < self._first


def _events(entries: Sequence[Entry]) -> Iterable[table.TableEvent]:
    for entry in entries:
        yield from decode_committed(entry.data).events
