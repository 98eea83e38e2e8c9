"""The ledger's and the history's databases: in memory, slow at times, and failing before a page is written or after."""

import asyncio
from collections.abc import Callable, Iterable

from brelan.histories.archive import ArchiveUnavailable, MemoryArchive, Opened, Shelves
from brelan.histories.archive import Page as HistoryPage
from brelan.histories.hand import HandHistory
from brelan.histories.table import TableMark
from brelan.ledger.books import Balance, BooksUnavailable, Numbered, Page, Written
from brelan.ledger.books import Opened as BooksOpened
from brelan.ledger.decide import Ledger
from brelan.ledger.memory import MemoryBooks, Vault
from brelan.sim.faults import Faults
from brelan.sim.processes import Process


class DoorBooks(MemoryBooks):
    """``Books`` for one wallet process."""

    def __init__(self, vault: Vault, process: Process, faults: Faults, written: Callable[[Page], None]) -> None:
        super().__init__(vault)
        self._process = process
        self._faults = faults
        self._written = written

    async def _enter(self) -> None:
        faults = self._faults
        await self._process.door()
        if faults.strikes("slow_wallet", faults.rates.sql):
            await asyncio.sleep(faults.chance.choice((0.5, 2.0, 4.0, 12.0)))
            await self._process.door()
        if faults.strikes("books_away", faults.rates.sql):
            raise BooksUnavailable("the database does not answer")

    async def open(self) -> BooksOpened:
        await self._enter()
        return await super().open()

    async def known(self, accounts: Iterable[str], transfer_ids: Iterable[str]) -> Ledger:
        await self._enter()
        return await super().known(accounts, transfer_ids)

    async def write(self, page: Page) -> Written | None:
        await self._enter()
        written = await super().write(page)
        if written is not None:
            self._process.progressed()
            self._written(page)
        if self._faults.strikes("books_away", self._faults.rates.sql):
            raise BooksUnavailable("the connection broke")
        self._process.check()
        return written

    async def outgoing(self, stream: str, after: int, limit: int) -> list[Numbered]:
        await self._enter()
        return await super().outgoing(stream, after, limit)

    async def last_outgoing(self, stream: str) -> int:
        await self._enter()
        return await super().last_outgoing(stream)

    async def balances(self) -> dict[str, Balance]:
        await self._enter()
        return await super().balances()


class DoorArchive(MemoryArchive):
    """``Archive`` for one history process."""

    def __init__(
        self, shelves: Shelves, process: Process, faults: Faults, written: Callable[[HistoryPage], None]
    ) -> None:
        super().__init__(shelves)
        self._process = process
        self._faults = faults
        self._written = written

    async def _enter(self) -> None:
        await self._process.door()
        if self._faults.strikes("archive_away", self._faults.rates.sql):
            raise ArchiveUnavailable("the database does not answer")

    async def open(self, shard: str) -> Opened:
        await self._enter()
        return await super().open(shard)

    async def mark(self, table_id: str) -> TableMark | None:
        await self._enter()
        return await super().mark(table_id)

    async def history(self, hand_id: str) -> HandHistory | None:
        await self._enter()
        return await super().history(hand_id)

    async def write(self, page: HistoryPage) -> bool:
        await self._enter()
        written = await super().write(page)
        if written:
            self._process.progressed()
            self._written(page)
        if self._faults.strikes("archive_away", self._faults.rates.sql):
            raise ArchiveUnavailable("the connection broke")
        self._process.check()
        return written
