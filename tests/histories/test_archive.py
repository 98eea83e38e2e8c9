"""One suite for the archive in memory and in SQL; then what the gateway asks of the one in SQL."""

from collections.abc import AsyncIterator, Callable

import msgspec
import pytest

from brelan.events import table
from brelan.events.dealing import HandRecord
from brelan.histories.archive import Archive, DeadEntry, MemoryArchive, Page, Refused, Shelves
from brelan.histories.queries import Histories
from brelan.histories.table import StoredHand, TableFold, TableMark
from brelan.sql.archive import SqlArchive
from tests.histories.hands import STUD_CARDS, STUD_RECORD, TABLE, Log, hand_id, shown, stud_hand, walk

NewArchive = Callable[[], Archive]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def archive_url(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "memory" else str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def new_archive(archive_url: str) -> AsyncIterator[NewArchive]:
    """Makes writers of the same archive."""
    shelves = Shelves()
    made: list[Archive] = []

    def new() -> Archive:
        made.append(SqlArchive(archive_url) if archive_url else MemoryArchive(shelves))
        return made[-1]

    yield new
    for archive in made:
        await archive.close()


def folded(log: Log) -> tuple[list[StoredHand], TableMark]:
    fold = TableFold(TableMark(log.table_id))
    hands = [hand for entry, data in zip(log.entries, log.data, strict=True) for hand in fold.apply(entry, data)]
    return hands, fold.mark


def one_hand() -> tuple[StoredHand, TableMark]:
    log = Log()
    log.play(stud_hand())
    (hand,), mark = folded(log)
    return hand, mark


async def test_a_page_is_read_back(new_archive: NewArchive) -> None:
    archive = new_archive()
    opened = await archive.open("s00")
    assert opened.cursors == {}
    hand, mark = one_hand()
    dead = [DeadEntry("feed", "3-0", b"?", "no message")]
    page = Page("s00", opened.page, {"feed": "5-0"}, [hand], [STUD_RECORD], [mark], dead)
    assert await archive.write(page)
    assert await archive.mark(TABLE) == mark
    assert await archive.mark("s00-b") is None
    assert await archive.history(hand_id(1)) == hand.history
    assert await archive.history("none") is None
    assert (await new_archive().open("s00")).cursors == {"feed": "5-0"}


async def test_only_the_last_to_open_a_shard_writes(new_archive: NewArchive) -> None:
    first, second, other = new_archive(), new_archive(), new_archive()
    page_of_first = (await first.open("s00")).page
    page_of_other = (await other.open("s01")).page
    page_of_second = (await second.open("s00")).page
    hand, mark = one_hand()
    assert not await first.write(Page("s00", page_of_first, {"feed": "1-0"}, [hand], marks=[mark]))
    assert await second.history(hand_id(1)) is None
    assert await second.write(Page("s00", page_of_second, {"feed": "1-0"}, [hand], marks=[mark]))
    assert not await first.write(Page("s00", page_of_first, {"feed": "1-0"}))
    assert not await second.write(Page("s00", page_of_second, {"feed": "2-0"}))
    assert await other.write(Page("s01", page_of_other, {"feed of s01": "1-0"}))


async def test_what_is_shown_later_is_added(new_archive: NewArchive) -> None:
    log = Log()
    log.play(stud_hand())
    log.add(table.HandShown(shown(2, STUD_CARDS[2])))
    (hand, later), mark = folded(log)
    archive = new_archive()
    page = (await archive.open("s00")).page
    assert await archive.write(Page("s00", page, {}, [hand]))
    assert await archive.write(Page("s00", page + 1, {}, [later], marks=[mark]))
    assert await archive.history(hand_id(1)) == later.history


async def test_a_hand_is_not_written_twice(new_archive: NewArchive) -> None:
    archive = new_archive()
    page = (await archive.open("s00")).page
    hand, _ = one_hand()
    assert await archive.write(Page("s00", page, {}, [hand]))
    with pytest.raises(Refused) as refused:
        await archive.write(Page("s00", page + 1, {"feed": "9-0"}, [hand]))
    assert refused.value.hand_ids == (hand_id(1),)
    assert await archive.write(Page("s00", page + 1, {"feed": "9-0"}))


# --- queries ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def histories(sql_url: str) -> AsyncIterator[Histories]:
    """Seven hands: five of p2, p4 and p5 with a showdown, then two that p2 won from p4 without one."""
    log = Log()
    for number in range(1, 6):
        log.play(stud_hand(number))
    log.play(walk(6))
    log.play(walk(7))
    hands, mark = folded(log)
    archive = SqlArchive(sql_url)
    page = (await archive.open("s00")).page
    records = [HandRecord(TABLE, hand_id(number), STUD_RECORD.seats) for number in range(1, 5)]
    assert await archive.write(Page("s00", page, {}, hands, [*records, records[0]], [mark]))
    await archive.close()
    histories = Histories(sql_url)
    yield histories
    await histories.close()


async def test_a_player_s_hands_come_newest_first_a_page_at_a_time(histories: Histories) -> None:
    numbers: list[int] = []
    before = None
    pages = 0
    while True:
        page = await histories.hands_of("p2", before, limit=3)
        numbers += [row.number for row in page.hands]
        pages += 1
        if page.next is None:
            break
        before = page.next
    assert (numbers, pages) == ([7, 6, 5, 4, 3, 2, 1], 3)
    assert [row.number for row in (await histories.hands_of("p5")).hands] == [5, 4, 3, 2, 1]
    assert (await histories.hands_of("p9")).hands == ()
    assert (await histories.hands_of("p2", before="no such hand")).hands == ()


async def test_a_row_says_where_when_and_how_much(histories: Histories) -> None:
    row = (await histories.hands_of("p4", limit=50)).hands[-1]
    assert (row.hand_id, row.number, row.table_id, row.table_name) == (hand_id(1), 1, TABLE, "Stud two four")
    assert (row.game, row.lower_limit, row.currency_unit, row.pot) == ("stud", 200, 100, 520)
    assert (row.seat, row.starting_stack, row.result, row.voided) == (4, 4000, 254, False)
    assert msgspec.json.decode(msgspec.json.encode(row))["result"] == 254


async def test_a_hand_is_for_those_who_were_in_it(histories: Histories) -> None:
    view = await histories.hand_for("p2", hand_id(1))
    assert view is not None
    assert view.viewer_seat == 2
    assert {player.seat: player.cards is not None for player in view.players} == {2: True, 4: True, 5: False}
    assert await histories.hand_for("p9", hand_id(1)) is None
    assert await histories.hand_for("p2", "no such hand") is None


async def test_H5_a_letter_may_tell_what_was_mucked_at_showdown(histories: Histories) -> None:
    page = await histories.hand_for("p4", hand_id(1))
    letter = await histories.hand_for("p4", hand_id(1), disclose=True)
    assert page is not None
    assert letter is not None
    assert [player.cards is not None for player in page.players] == [False, True, False]
    assert [player.cards is not None for player in letter.players] == [True, True, False]
    assert [player.disclosable for player in page.players] == [True, False, False]


async def test_a_hand_whose_record_has_not_come_yet_shows_what_was_shown(histories: Histories) -> None:
    view = await histories.hand_for("p2", hand_id(5))
    assert view is not None
    assert [player.cards is not None for player in view.players] == [False, True, False]


async def test_everybody_else_sees_what_everybody_saw(histories: Histories) -> None:
    view = await histories.public_hand(hand_id(1))
    assert view is not None
    assert view.viewer_seat is None
    assert [player.cards is not None for player in view.players] == [False, True, False]


async def test_the_log_of_a_hand_is_there_to_play_it_again(histories: Histories) -> None:
    log = Log()
    for number in range(1, 3):
        log.play(stud_hand(number))
    per_hand = len(stud_hand())
    assert await histories.entries_of(hand_id(2)) == log.data[1 + per_hand :]
