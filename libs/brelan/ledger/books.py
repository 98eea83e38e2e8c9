"""Where a ledger is kept: one writer, one transaction a page.

A page holds everything that follows from a batch of requests: what was decided, the replies that will go out, and how
far the inboxes were read. It is written whole or not at all, and only by the writer that opened the books last.
``brelan.sql.books.SqlBooks`` and ``brelan.ledger.memory.MemoryBooks`` pass one suite of tests.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from brelan.ledger.decide import Claimed, Decided, Ledger
from brelan.ledger.transfers import Transfer


class Balance(msgspec.Struct, frozen=True, array_like=True):
    """``sequence``: how many postings the account has had, so that of two copies the newer is known."""

    amount: int
    sequence: int


encode_balance = msgspec.msgpack.Encoder().encode  # a value of the hash ``balances``
decode_balance = msgspec.msgpack.Decoder(Balance).decode


class Line(msgspec.Struct, frozen=True):
    """One decision in the journal. ``transfer`` None: it was declined. ``at_ms``: when the request was made."""

    transfer_id: str
    decided: Decided
    transfer: Transfer | None
    at_ms: int
    cause: str = ""
    trace: str = ""


class Numbered(msgspec.Struct, frozen=True):
    """The ``number``-th entry that goes out on a stream, counted from 1 without a gap."""

    number: int
    data: bytes


class Tail(msgspec.Struct, frozen=True):
    """What the wallet has seen of a shard: its highest epoch, and on which server.

    ``lost``: the id of an entry that is gone, until the shard has been told.
    """

    epoch: int = 0
    server: str = ""
    lost: str = ""


class Dead(msgspec.Struct, frozen=True):
    """An entry that could not be handled."""

    stream: str
    entry_id: str
    data: bytes
    error: str


class Booked(msgspec.Struct, frozen=True):
    """A transfer in an account's list, in which it has the number ``sequence``."""

    sequence: int
    transfer_id: str
    body: bytes


class Page(msgspec.Struct, frozen=True):
    """``page``: the number the writer was given by ``open``, one more after every page."""

    page: int
    cursors: Mapping[str, str] = {}  # stream -> id of the last entry read
    lines: Sequence[Line] = ()
    outgoing: Sequence[tuple[str, bytes]] = ()  # (stream, entry), in order
    dead: Sequence[Dead] = ()
    digests: Mapping[str, bytes] = {}  # stream -> digest of the last entry read, to know it again
    tails: Mapping[str, Tail] = {}  # by shard
    claims: Mapping[Claimed, int] = {}  # what stands open now; 0: nothing any more


class Opened(msgspec.Struct, frozen=True):
    page: int
    cursors: dict[str, str]
    digests: dict[str, bytes] = {}
    tails: dict[str, Tail] = {}
    claims: dict[Claimed, int] = {}


class Written(msgspec.Struct, frozen=True):
    """The balances that the page changed, by account."""

    balances: dict[str, Balance]


class BooksUnavailable(Exception):
    """The store cannot be reached or refused; whether a page was written may be unknown: open again, and see."""


class Refused(Exception):
    """The store found something wrong with a page (an id twice, an account below zero); nothing was written."""


class Books(Protocol):
    """Every method may raise BooksUnavailable."""

    async def open(self) -> Opened:
        """Become the writer: every earlier one is fenced off. Read nothing before it."""

    async def known(self, accounts: Iterable[str], transfer_ids: Iterable[str]) -> Ledger:
        """What is known about these. True until somebody writes a page."""

    async def write(self, page: Page) -> Written | None:
        """None: somebody else opened the books since, and nothing was written. Raises Refused too."""

    async def outgoing(self, stream: str, after: int, limit: int) -> list[Numbered]:
        """What goes out on a stream after number ``after``, in order."""

    async def last_outgoing(self, stream: str) -> int:
        """The number of the newest entry for a stream; 0 when there is none."""

    async def balances(self) -> dict[str, Balance]:
        """Every account."""

    async def booked(self, account: str, before: int | None, limit: int) -> list[Booked]:
        """What an account took part in, newest first. ``before``: only what has a lower sequence number."""

    async def close(self) -> None: ...
