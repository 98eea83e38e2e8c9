"""The wallet at work: read requests, book them, send the replies.

Three stores meet here, and no transaction spans them::

    wallet-requests, cashier  ──►  the books (SQL)           one transaction: postings, cursors, outgoing replies
                                       │
                                       ├──►  wallet-replies  reply n under the id "<n>-0", after the one before it
                                       └──►  balances        a copy, rebuilt at every start

Replies are published from the books alone, from where the stream itself ends: what a crash left unpublished follows at
the next start, what was published is never published again, and no mark of it is kept anywhere. If the stream's tail
was lost in a fail-over, it is published again.

A second wallet waits for the lease. When two work all the same, the books know one writer (``ledger.books``), and each
stream takes a reply only after the one before it.
"""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Iterator, Sequence

import structlog
from msgspec.structs import replace

from brelan.eventlog import failpoints, keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Append, Commit, Entry, Log, LogUnavailable, Outcome, Store
from brelan.eventlog.tail import Tail as End
from brelan.eventlog.tail import Taken, look_back
from brelan.events.envelope import Epoch, TailLost, decode_epoch, encode
from brelan.ledger.accounts import player_of
from brelan.ledger.books import Balance, Books, BooksUnavailable, Page, Tail, Written, encode_balance
from brelan.ledger.decide import Claimed, Decision, touched
from brelan.telemetry import metrics
from brelan.telemetry.health import Health
from brelan_wallet.handlers import Batch, bury, decide_page, passed, understand
from brelan_wallet.tails import settle_shard

ROOM = "wallet"  # the slot of what belongs to no shard: cashier, balances
BATCH = 256
BLOCK_MS = 500
LEASE_MS = 2_000  # how long a dead wallet is waited for
RENEW_SECONDS = 0.5
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds between tries while a store is away
COPIED_AT_ONCE = 1_000

logger = structlog.get_logger(__name__)


class Fenced(Exception):
    """Another wallet has taken over, or had: open the books again, if the lease is still ours."""


class BooksBehind(Exception):
    """A shard holds replies that the books do not know: the books are an old copy. Nothing may be booked in them."""


_PASSING = (Fenced, LogUnavailable, BooksUnavailable)


class Wallet:
    """``open``, then ``serve`` every inbox again and again; ``run`` does both until it is told to stop."""

    def __init__(self, store: Store, books: Books, shards: Sequence[str], name: str | None = None) -> None:
        """``name`` must be this wallet's own; a simulator chooses it."""
        self.name = name or secrets.token_hex(8)
        self.inboxes = (ROOM, *shards)
        self._books = books
        self._logs = {shard: store.log(shard) for shard in self.inboxes}
        self._nonces = _nonces(self.name)
        self._writing = asyncio.Lock()
        self._page: int | None = None  # of the books; None: not open
        self._cursors: dict[str, str] = {}
        self._digests: dict[str, bytes] = {}  # of the entries that the cursors stand at
        self._tails: dict[str, Tail] = {}
        self._epochs: dict[str, Epoch] = {}  # at which we looked back
        self._claims: dict[Claimed, int] = {}
        self._commits: dict[str, int] = {}  # shard -> number of our next commit there
        self._published: dict[str, int] = {}  # shard -> number of its last reply
        self._unpublished: set[str] = set()  # shards whose books may hold a reply that is not published yet
        self._uncopied: dict[str, Balance] = {}  # player -> balance that the copy does not have yet

    # --- the books ---------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Become the only writer. Raises LogUnavailable, BooksUnavailable."""
        async with self._writing:
            self._published.clear()
            self._unpublished.update(self.inboxes[1:])
            self._page = None
            for shard in self.inboxes:
                await self._fence(shard)
            opened = await self._books.open()
            self._cursors, self._digests = dict(opened.cursors), dict(opened.digests)
            self._tails, self._claims = dict(opened.tails), dict(opened.claims)
            self._uncopied = _of_players(await self._books.balances())
            self._page = opened.page
            for shard in self.inboxes:
                await self._look_back(shard, await self._epoch_of(shard))
            metrics.takeovers.labels(Service.WALLET).inc()

    async def serve(self, shard: str, block_ms: int = BLOCK_MS) -> int:
        """Publish what is due, read one batch, book it, publish. Answers how many entries were read.

        Raises Fenced, BooksBehind, LogUnavailable, BooksUnavailable; after each of them ``open`` comes next.
        """
        await self._publish(shard)
        inbox = _inbox(shard)
        cursor = self._cursors.get(inbox, BEGINNING)
        log = self._logs[shard]
        reading = log.read_batch if shard == ROOM else log.read_durable  # the cashier's inbox is no shard's: no mark
        read = await reading({inbox: cursor}, BATCH, block_ms)
        epoch = await self._epoch_of(shard)  # not before: what was made in a new epoch is not taken unnoticed
        if epoch != self._epochs[shard]:
            async with self._writing:
                await self._look_back(shard, epoch)
            return 1
        metrics.inbox_waiting_entries.labels(Service.WALLET).set(len(read.entries))
        if read.entries:
            metrics.inbox_lag_seconds.labels(Service.WALLET).set(max(0, read.now_ms - read.entries[0].at_ms) / 1000)
            async with self._writing:
                await self._book(shard, read.entries)
            await self._publish(shard)
        return len(read.entries)

    async def _book(self, shard: str, entries: Sequence[Entry]) -> None:
        batch = understand(shard, entries)
        try:
            await self._book_batch(batch)
        except (Fenced, BooksUnavailable):
            raise
        except Exception as error:  # whatever an entry does to us must not stop its shard
            if len(entries) == 1:
                logger.exception("a request cannot be booked", shard=shard, id=entries[0].id)
                await self._write(passed(Page(self._number, dead=[bury(entries[0], error)]), entries))
                return
            logger.warning("a batch cannot be booked: one by one", shard=shard, reason=repr(error))
            for entry in entries:
                await self._book(shard, (entry,))

    async def _book_batch(self, batch: Batch) -> None:
        ledger = await self._books.known(*touched(asked.request for asked in batch.asked))
        ledger.claims.update(self._claims)
        page, decisions = decide_page(ledger, self._number, batch)
        await self._write(page)
        if page.outgoing:
            self._unpublished.add(batch.shard)
        for decision in decisions:
            _note(batch.shard, decision)

    async def _write(self, page: Page) -> Written:
        failpoints.reach(Service.WALLET, "book:before")
        written = await failpoints.inside(Service.WALLET, "book:inside", self._books.write(page))
        failpoints.reach(Service.WALLET, "book:after")
        if written is None:
            self._page = None
            metrics.commits_fenced.labels(Service.WALLET).inc()
            raise Fenced
        self._page = page.page + 1
        for stream, entry_id in page.cursors.items():
            self._cursors[stream] = entry_id
            self._digests.pop(stream, None)
        self._digests.update(page.digests)
        self._tails.update(page.tails)
        self._claims.update(page.claims)
        self._uncopied.update(_of_players(written.balances))
        metrics.commits.labels(Service.WALLET).inc()
        for dead in page.dead:
            metrics.dead_letters.labels(Service.WALLET).inc()
            logger.error("dead entry", stream=dead.stream, id=dead.entry_id, reason=dead.error)
        return written

    @property
    def _number(self) -> int:
        if self._page is None:
            raise Fenced
        return self._page

    # --- what may be gone --------------------------------------------------------------------------------------

    async def _epoch_of(self, shard: str) -> Epoch:
        """0: it has none."""
        data = None if shard == ROOM else await self._logs[shard].get(keys.epoch(shard))
        return decode_epoch(data) if data else Epoch(0, "")

    async def _look_back(self, shard: str, epoch: Epoch) -> None:
        """Is all there still that was read? If not, what was booked for what is gone is settled."""
        log, inbox, tail = self._logs[shard], _inbox(shard), self._tails.get(shard, Tail())
        taken = Taken(inbox, self._cursors.get(inbox, BEGINNING), self._digests.get(inbox, b""))
        if _went_back(tail, epoch) or (taken.digest and await look_back(log, taken) is End.LOST):
            logger.error("the end of the requests was lost", shard=shard, id=taken.id, epoch=tail.epoch)
            settled = await settle_shard(log, self._books, self._claims)
            tail = replace(tail, lost=taken.id if shard != ROOM else "")
            again = {inbox: BEGINNING}  # reading anything twice changes nothing
            await self._write(Page(self._number, again, settled.lines, tails={shard: tail}, claims=settled.claims))
            self._published.pop(shard, None)
            self._unpublished.add(shard)
        if tail.lost:
            await log.append(keys.commands(shard), encode(TailLost(Service.WALLET, tail.epoch, inbox, tail.lost)))
        seen = Tail(epoch.number, epoch.server) if epoch.number > tail.epoch else replace(tail, lost="")
        if seen != tail:
            await self._write(Page(self._number, tails={shard: seen}))
        self._epochs[shard] = epoch

    # --- what goes out -----------------------------------------------------------------------------------------

    async def _publish(self, shard: str) -> None:
        if self._uncopied:
            async with self._writing:
                await self._copy_balances()
        while shard in self._unpublished:
            self._unpublished.discard(shard)
            if await self._publish_replies(shard):
                self._unpublished.add(shard)

    async def _copy_balances(self) -> None:
        """Fenced first of all, so that no wallet that was overtaken puts an old balance over a new one.

        What the cashiers asked for is in the books by now, and leaves their inbox; the last of it stays.
        """
        key = keys.balances()
        while self._uncopied:
            some = dict(itertools.islice(self._uncopied.items(), COPIED_AT_ONCE))
            fields = {player_id: encode_balance(balance) for player_id, balance in some.items()}
            cursor = self._cursors.get(keys.cashier())
            cursors = {keys.cashier(): cursor} if cursor else {}
            await self._commit(ROOM, cursors, hash_set={key: fields}, trim=cursors)
            for player_id in some:
                del self._uncopied[player_id]

    async def _publish_replies(self, shard: str) -> bool:
        """The next replies of a shard, if there are any. The cursor goes with them: so far may be trimmed."""
        stream = keys.wallet_replies(shard)
        if shard not in self._published:
            self._published[shard] = await self._last_published(shard)
        last = self._published[shard]
        replies = await self._books.outgoing(stream, last, BATCH)
        if not replies:
            return False
        requests = keys.wallet_requests(shard)
        cursor = self._cursors.get(requests)
        publishing = self._commit(
            shard,
            {requests: cursor} if cursor else {},
            expect={stream: f"{last}-0"},
            appends=[Append(stream, reply.data, f"{reply.number}-0") for reply in replies],
        )
        failpoints.reach(Service.WALLET, "publish:before")
        await failpoints.inside(Service.WALLET, "publish:inside", publishing)
        failpoints.reach(Service.WALLET, "publish:after")
        self._published[shard] = replies[-1].number
        return len(replies) == BATCH

    async def _last_published(self, shard: str) -> int:
        """The number of the last reply on the stream: which must be the one the books have under that number."""
        stream = keys.wallet_replies(shard)
        last = int((await self._logs[shard].last_id(stream)).partition("-")[0])
        found = await self._logs[shard].range(stream, after=f"{last - 1}-0", count=1) if last else []
        known = await self._books.outgoing(stream, last - 1, 1) if last else []
        if last > await self._books.last_outgoing(stream) or (found and found[0].data != known[0].data):
            raise BooksBehind(
                f"Reply {last} of shard {shard} is not the one in the ledger: the database is an older copy than the "
                "event log. Restore the two together, or reconcile them first."
            )
        return last

    async def _fence(self, shard: str) -> None:
        position = await self._logs[shard].fence(Service.WALLET, next(self._nonces))
        self._commits[shard] = position.number

    async def _commit(
        self,
        shard: str,
        cursors: dict[str, str],
        *,
        expect: dict[str, str] | None = None,
        appends: Sequence[Append] = (),
        hash_set: dict[str, dict[str, bytes]] | None = None,
        trim: dict[str, str] | None = None,
    ) -> None:
        """Raises Fenced. When the answer is lost it is enough to look again: nothing here can be applied twice."""
        log: Log = self._logs[shard]
        number = self._commits[shard]
        outcome = await log.commit(
            Commit(
                Service.WALLET,
                number,
                next(self._nonces),
                cursors,
                expect=expect or {},
                appends=appends,
                hash_set=hash_set or {},
                trim=trim or {},
            )
        )
        if outcome is Outcome.FENCED:
            self._page = None
            metrics.commits_fenced.labels(Service.WALLET).inc()
            raise Fenced
        self._commits[shard] = number + 1

    # --- running -----------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event, health: Health) -> None:
        """While the lease is ours, every inbox is served; otherwise we stand by. Raises BooksBehind."""
        pause = FIRST_PAUSE
        health.ready("books", False, "not open yet")
        while not stop.is_set():
            try:
                if await self._hold_lease():
                    await self.open()
                    health.ready("books", True)
                    pause = FIRST_PAUSE
                    await self._work(stop)
                else:
                    health.ready("books", True)  # standing by is a good state to be in
                    await _pause(stop, RENEW_SECONDS)
            except Fenced:
                logger.info("fenced: another wallet has written")
            except (LogUnavailable, BooksUnavailable) as error:
                metrics.store_errors.labels(Service.WALLET).inc()
                logger.warning("a store is away", reason=str(error))
                health.ready("books", False, str(error))
                await _pause(stop, pause)
                pause = min(pause * 2, LONGEST_PAUSE)
        with contextlib.suppress(LogUnavailable):
            await self._logs[ROOM].release_lease(Service.WALLET, self.name)

    async def _hold_lease(self) -> bool:
        return await self._logs[ROOM].acquire_lease(Service.WALLET, self.name, LEASE_MS)

    async def _work(self, stop: asyncio.Event) -> None:
        """Until it is time to stop, the lease is lost, or any inbox meets trouble: then all stop, and it is raised."""
        done = asyncio.Event()
        tasks = [asyncio.create_task(self._serve_until(done, shard)) for shard in self.inboxes]
        tasks.append(asyncio.create_task(self._renew(done)))
        stopping = asyncio.create_task(stop.wait())
        metrics.owned_shards.labels(Service.WALLET).set(len(self.inboxes))
        try:
            await asyncio.wait((*tasks, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            metrics.owned_shards.labels(Service.WALLET).set(0)
            done.set()
            stopping.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        raised = [result for result in results if isinstance(result, Exception)]
        for error in sorted(raised, key=lambda error: isinstance(error, _PASSING)):  # what will not pass comes first
            raise error

    async def _serve_until(self, done: asyncio.Event, shard: str) -> None:
        while not done.is_set():
            await self.serve(shard)

    async def _renew(self, done: asyncio.Event) -> None:
        while not done.is_set() and await self._hold_lease():
            await _pause(done, RENEW_SECONDS)


def _went_back(tail: Tail, epoch: Epoch) -> bool:
    """An epoch that we have seen is gone, or has begun again: with it all that was made in it."""
    again = epoch.number == tail.epoch and epoch.server != tail.server
    return bool(tail.server) and (epoch.number < tail.epoch or again)


def _inbox(shard: str) -> str:
    return keys.cashier() if shard == ROOM else keys.wallet_requests(shard)


def _note(shard: str, decision: Decision) -> None:
    metrics.wallet_transfers.labels(decision.kind, decision.verdict).inc()
    if decision.verdict == "conflict":
        logger.error("transfer id used for something else", shard=shard, transfer=decision.request.transfer_id)
    elif decision.verdict == "declined" and decision.decided and decision.decided.code != "insufficient_funds":
        logger.error(
            "a transfer that should have been possible was declined",
            shard=shard,
            transfer=decision.request.transfer_id,
            code=decision.decided.code,
        )


def _of_players(balances: dict[str, Balance]) -> dict[str, Balance]:
    return {
        player_id: balance for account, balance in balances.items() if (player_id := player_of(account)) is not None
    }


def _nonces(name: str) -> Iterator[str]:
    for number in itertools.count():
        yield f"{name}-{number}"


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
