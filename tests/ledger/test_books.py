"""One suite for books in memory and in SQL: whole pages, one writer, nothing negative, no id twice."""

from collections.abc import AsyncIterator, Callable

import pytest

from brelan.events import money
from brelan.ledger.books import Balance, Booked, Books, Dead, Line, Numbered, Page, Refused, Tail
from brelan.ledger.decide import Decided, decide, encode_body, record, touched
from brelan.ledger.memory import MemoryBooks, Vault
from brelan.ledger.transfers import Posting, Transfer
from brelan.sql.books import SqlBooks

NewBooks = Callable[[], Books]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def books_url(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "memory" else str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def new_books(books_url: str) -> AsyncIterator[NewBooks]:
    """Makes writers of the same books."""
    vault = Vault()
    made: list[Books] = []

    def new() -> Books:
        made.append(SqlBooks(books_url) if books_url else MemoryBooks(vault))
        return made[-1]

    yield new
    for books in made:
        await books.close()


async def page_of(books: Books, page: int, *requests: money.WalletRequest | money.CashierCommand) -> Page:
    ledger = await books.known(*touched(requests))
    lines = []
    for request in requests:
        decision = decide(ledger, request)
        record(ledger, decision)
        if decision.decided is not None:
            lines.append(Line(request.transfer_id, decision.decided, decision.transfer, 7, "requests/1-0"))
    return Page(page, lines=lines)


DEPOSIT = money.Deposit("d1", "ana", 100, "tests")
BUY_IN = money.BuyIn("b1", "A", "ana", 60)


async def test_a_page_is_read_back(new_books: NewBooks) -> None:
    books = new_books()
    opened = await books.open()
    assert opened.cursors == {}
    page = await page_of(books, opened.page, DEPOSIT, BUY_IN)
    written = await books.write(
        Page(
            page.page,
            cursors={"requests": "5-0"},
            lines=page.lines,
            outgoing=[("replies", b"one"), ("others", b"three"), ("replies", b"two")],
            dead=[Dead("requests", "4-0", b"?", "no message")],
        )
    )
    assert written is not None
    assert written.balances == {
        "cashier": Balance(-100, 1),
        "player:ana": Balance(40, 2),
        "table:A": Balance(60, 1),
    }
    assert await books.balances() == written.balances
    assert await books.outgoing("replies", 0, 10) == [Numbered(1, b"one"), Numbered(2, b"two")]
    assert await books.outgoing("replies", 1, 10) == [Numbered(2, b"two")]
    assert await books.outgoing("replies", 0, 1) == [Numbered(1, b"one")]
    assert (await books.last_outgoing("replies"), await books.last_outgoing("none")) == (2, 0)
    known = await books.known(["player:ana", "player:ben"], ["b1", "b2"])
    assert known.balances == {"player:ana": 40}
    assert list(known.decided) == ["b1"]
    assert (await new_books().open()).cursors == {"requests": "5-0"}


async def test_numbers_of_outgoing_entries_go_on_without_a_gap(new_books: NewBooks) -> None:
    for expected in (1, 2, 3):
        books = new_books()
        opened = await books.open()
        assert await books.write(Page(opened.page, outgoing=[("replies", b"x")])) is not None
        assert await books.write(Page(opened.page + 1, outgoing=[("replies", b"y")])) is not None
        assert await books.last_outgoing("replies") == 2 * expected


async def test_only_the_last_to_open_the_books_writes(new_books: NewBooks) -> None:
    first, second = new_books(), new_books()
    page_of_first = (await first.open()).page
    page_of_second = (await second.open()).page
    late = await page_of(first, page_of_first, DEPOSIT)
    assert await first.write(Page(late.page, cursors={"requests": "1-0"}, lines=late.lines)) is None
    assert await second.balances() == {}
    good = await page_of(second, page_of_second, DEPOSIT)
    assert await second.write(good) is not None
    assert await first.write(late) is None
    assert await second.balances() == {"cashier": Balance(-100, 1), "player:ana": Balance(100, 1)}
    assert (await first.open()).cursors == {}


async def test_the_same_page_is_not_written_twice(new_books: NewBooks) -> None:
    books = new_books()
    page = await page_of(books, (await books.open()).page, DEPOSIT)
    assert await books.write(page) is not None
    assert await books.write(page) is None


OVERDRAWN = Transfer("t1", "cash_out", (Posting("table:A", -1), Posting("player:ana", 1)))
TWICE = Line("t1", Decided(b"", "buy_in", "declined", "insufficient_funds"), None, 0)


async def test_what_was_seen_of_a_shard_is_kept_with_the_cursor(new_books: NewBooks) -> None:
    books = new_books()
    page = (await books.open()).page
    seen = Tail(3, "server", "7-0")
    await books.write(Page(page, cursors={"a": "5-0", "b": "1-0"}, digests={"a": b"5", "b": b"1"}, tails={"s00": seen}))
    await books.write(Page(page + 1, cursors={"b": "2-0"}))
    opened = await new_books().open()
    assert opened.cursors == {"a": "5-0", "b": "2-0"}
    assert opened.digests == {"a": b"5"}, "a digest is of the entry at the cursor, or there is none"
    assert opened.tails == {"s00": seen}


async def test_claims_stand_open_until_they_are_settled(new_books: NewBooks) -> None:
    books = new_books()
    page = (await books.open()).page
    await books.write(Page(page, claims={("A", "ana"): 50, ("A", "ben"): 10}))
    await books.write(Page(page + 1, claims={("A", "ana"): 0, ("A", "ben"): 4}))
    assert (await new_books().open()).claims == {("A", "ben"): 4}


async def test_what_an_account_took_part_in_newest_first(new_books: NewBooks) -> None:
    books = new_books()
    more = [money.BuyIn(f"b{number}", "A", "ana", 1) for number in range(2, 5)]
    await books.write(await page_of(books, (await books.open()).page, DEPOSIT, BUY_IN, *more))
    newest = await books.booked("table:A", None, 2)
    assert newest == [Booked(4, "b4", encode_body(more[2])), Booked(3, "b3", encode_body(more[1]))]
    assert [one.transfer_id for one in await books.booked("table:A", 3, 9)] == ["b2", "b1"]
    assert await books.booked("table:B", None, 9) == []


@pytest.mark.parametrize("lines", [[Line("t1", Decided(b"", "cash_out", "booked"), OVERDRAWN, 0)], [TWICE, TWICE]])
async def test_the_store_itself_refuses_what_is_wrong(new_books: NewBooks, lines: list[Line]) -> None:
    books = new_books()
    opened = await books.open()
    with pytest.raises(Refused):
        await books.write(Page(opened.page, cursors={"requests": "1-0"}, lines=lines))
    assert await books.balances() == {}
    assert await books.write(Page(opened.page, cursors={"requests": "1-0"})) is not None


async def test_a_declined_transfer_is_remembered(new_books: NewBooks) -> None:
    books = new_books()
    await books.write(await page_of(books, (await books.open()).page, BUY_IN))
    known = await books.known([], ["b1"])
    assert (known.decided["b1"].outcome, known.decided["b1"].code) == ("declined", "insufficient_funds")


async def test_a_page_with_many_transfers(new_books: NewBooks) -> None:
    books = new_books()
    requests = [money.Deposit(f"d{number}", f"p{number % 700}", 1, "tests") for number in range(1200)]
    written = await books.write(await page_of(books, (await books.open()).page, *requests))
    assert written is not None
    balances = await books.balances()
    assert balances["cashier"] == Balance(-1200, 1200)
    assert sum(balance.amount for balance in balances.values()) == 0
