"""From a table's log to hands: what is kept, what was shown later, and where it goes on after a restart."""

import msgspec
import pytest

from brelan.events import table
from brelan.histories.hand import HandHistory, decode_history, encode_history
from brelan.histories.table import StoredHand, TableFold, TableMark, decode_mark, encode_mark
from brelan.rules.cards import cards_from_text as cards
from tests.histories.hands import (
    DRAW,
    STUD,
    STUD_CARDS,
    TABLE,
    Log,
    Script,
    draw_hand,
    hand_id,
    players,
    shown,
    stud_hand,
    walk,
)


def fold_all(log: Log) -> list[StoredHand]:
    fold = TableFold(TableMark(TABLE))
    return [hand for entry, data in zip(log.entries, log.data, strict=True) for hand in fold.apply(entry, data)]


def history_of(script: Script, config: object = STUD) -> HandHistory:
    log = Log(DRAW if config is DRAW else STUD)
    log.play(script)
    (hand,) = fold_all(log)
    return hand.history


def test_a_stud_hand_is_kept_with_its_figures() -> None:
    history = history_of(stud_hand())
    assert (history.hand_id, history.number, history.game, history.table_name) == (hand_id(1), 1, "stud", STUD.name)
    assert (history.pot, history.rake, history.button, history.voided) == (520, 26, None, "")
    assert {player.seat: player.result for player in history.players} == {2: -240, 4: 254, 5: -40}
    assert sum(player.result for player in history.players) == -history.rake
    four = history.player_at(4)
    assert four is not None
    assert (four.won, four.up, four.shown) == (494, cards("4c6d8hTc"), shown(4, STUD_CARDS[4], ranks=("A",)))
    assert history.ended_ms > history.started_ms
    assert history.steps[0].kind == "ante"


def test_H5_only_what_lost_a_contested_showdown_can_be_disclosed() -> None:
    disclosable = {player.seat: player.disclosable for player in history_of(stud_hand()).players}
    assert disclosable == {2: True, 4: False, 5: False}  # 5 folded, 4 showed
    assert not any(player.disclosable for player in history_of(walk()).players)  # H2: a winner who was not called


def test_a_draw_hand_is_kept_without_which_cards_were_thrown() -> None:
    history = history_of(draw_hand(), DRAW)
    assert (history.button, history.small_blind, history.big_blind) == (1, 2, 3)
    assert [(step.seat, step.count, step.cause) for step in history.steps if step.kind == "drew"] == [
        (2, 0, "time"),
        (3, 0, "player"),
        (1, 1, "player"),
    ]
    assert [pot.amount for pot in history.pots] == [300, 200]
    assert [step.street for step in history.steps if step.kind == "bet"] == ["after_draw"]
    assert b"position" not in msgspec.json.encode(history)


def test_the_hands_of_a_table_hold_its_whole_log_up_to_the_last_ones_end() -> None:
    log = Log()
    log.add(table.SitOutAsked(7))
    log.play(stud_hand(1))
    log.add(table.NextHandScheduled(0))
    log.play(stud_hand(2))
    log.add(table.NextHandScheduled(0))
    first, second = fold_all(log)
    both = (*first.entries, *second.entries)
    assert [entry.version for entry in both] == list(range(1, len(log.entries)))
    assert [entry.data for entry in both] == log.data[:-1]


def test_H3_what_is_shown_after_the_hand_is_added_to_it() -> None:
    log = Log()
    log.play(stud_hand())
    log.add(table.HandShown(shown(2, STUD_CARDS[2])))
    log.add(table.HandStarted(hand_id(2), 2, 52, players(2, 4)))
    log.add(table.HandShown(shown(2, STUD_CARDS[2])))  # too late: the next hand has begun
    hand, later = fold_all(log)
    assert (hand.new, later.new) == (True, False)
    two = later.history.player_at(2)
    assert two is not None
    assert two.shown == shown(2, STUD_CARDS[2])
    assert not two.disclosable
    assert not two.mucked
    assert [entry.version for entry in later.entries] == [len(log.entries) - 2]


def test_H2_a_winner_who_was_not_called_may_muck_and_stays_hidden() -> None:
    log = Log()
    log.play(walk())
    log.add(table.HandMucked(2))
    _, later = fold_all(log)
    two = later.history.player_at(2)
    assert two is not None
    assert two.mucked
    assert not two.disclosable


def test_a_hand_that_is_called_off_has_no_winner_and_nothing_to_disclose() -> None:
    script = [*stud_hand()[:-1], [table.HandVoided(hand_id(1), "the dealer was lost", ())]]
    history = history_of(script)
    assert history.voided == "the dealer was lost"
    assert (history.pot, history.rake) == (0, 0)
    assert all(player.result == 0 and not player.disclosable for player in history.players)


def test_a_new_configuration_counts_from_the_next_hand() -> None:
    log = Log()
    first = stud_hand(1)
    log.play(first[:5])
    log.add(table.TableConfigured(msgspec.structs.replace(STUD, name="Renamed"), "operator"))
    log.play(first[5:])
    log.play(stud_hand(2))
    assert [hand.history.table_name for hand in fold_all(log)] == [STUD.name, "Renamed"]


def test_wherever_it_starts_again_it_keeps_the_same() -> None:
    """A fold dropped after any entry, and built again from its last mark and the log behind it."""
    log = Log()
    log.play(stud_hand(1))
    log.add(table.HandShown(shown(2, STUD_CARDS[2])))
    log.add(table.TableConfigured(msgspec.structs.replace(STUD, name="Renamed"), "operator"))
    log.play(stud_hand(2))
    log.play(walk(3))
    log.add(table.HandMucked(2))
    log.play(walk(4)[:-1])
    log.add(*walk(4)[-1], *stud_hand(5)[0])  # no pause: the next hand begins in the entry that ends the last one
    log.play(stud_hand(5)[1:-1])
    log.add(*stud_hand(5)[-1], *walk(6)[0])
    log.play(walk(6)[1:])
    expected = fold_all(log)
    assert [hand.history.number for hand in expected] == [1, 1, 2, 3, 3, 4, 5, 6]
    for dropped_after in range(1, len(log.entries)):
        kept: list[StoredHand] = []
        mark = TableMark(TABLE)
        fold = TableFold(mark)
        for entry, data in zip(log.entries, log.data, strict=True):
            hands = fold.apply(entry, data)
            if hands:
                kept += hands
                mark = decode_mark(encode_mark(fold.mark))
            if entry.version == dropped_after:
                last = next(
                    (hand.history for hand in reversed(kept) if hand.history.hand_id == mark.last_hand_id), None
                )
                fold = TableFold(mark, last)
                for again in log.entries[mark.version : entry.version]:
                    assert fold.apply(again, log.data[again.version - 1]) == []
        assert kept == expected


def test_entries_come_in_order_or_not_at_all() -> None:
    log = Log()
    log.play(stud_hand())
    fold = TableFold(TableMark(TABLE))
    fold.apply(log.entries[0], log.data[0])
    with pytest.raises(ValueError, match="does not follow"):
        fold.apply(log.entries[2], log.data[2])
    with pytest.raises(ValueError, match="does not follow"):
        fold.apply(log.entries[0], log.data[0])


def test_a_history_is_read_back_as_it_was_written() -> None:
    for script, config in ((stud_hand(), STUD), (draw_hand(), DRAW), (walk(), STUD)):
        history = history_of(script, config)
        assert decode_history(encode_history(history)) == history
