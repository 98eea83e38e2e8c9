"""M: seats and money; with the wallet late, repeating itself, refusing, and saying what nobody asked."""

import pytest

from brelan.events import commands, money, table
from brelan.rules.invariants import violations
from brelan.rules.state import TableState, begin_epoch
from brelan.rules.table import decide, escrow, evolve, next_due_ms
from tests.rules.kit import START_MS, STUD, TABLE, Table, draw, player_of, stud

THREE = {1: 100, 2: 100, 3: 100}
UP = {1: "Kh Kd", 2: "Qs 7d", 3: "2d 6c"}
HOUR_MS = 3_600_000


def empty(**seats: int) -> Table:
    made = Table(STUD)
    for number, stack in seats.items():
        made.seat(int(number[1:]), stack)
    return made


def fold_around(played: Table) -> Table:
    while played.state.hand is not None:
        word = "bring_in" if "bring_in" in played.turn else "pat" if "draw" in played.turn else "fold"
        played.play(f"{played.turn_seat} {word}")
    return played


# --- M1, M2: buying chips ----------------------------------------------------------------------------------------


def test_M1_no_buy_in_below_the_minimum_and_only_whole_chips() -> None:
    made = empty()
    assert made.refusal(commands.SitDown(39), player="ann") == "buy_in_too_small"
    assert made.refusal(commands.SitDown(-40), player="ann") == "buy_in_too_small"
    assert made.refusal(commands.SitDown(10**12 + 1), player="ann") == "buy_in_too_large"
    made.do(commands.SitDown(40), player="ann")
    assert made.stacks == {1: 40}
    chips = stud({1: 100, 2: 100}, smallest_chip=5, lower_limit=20, upper_limit=40, ante=5, bring_in=10)
    assert chips.refusal(commands.SitDown(202), player="ann") == "not_whole_chips"


def test_M1_nor_later_every_purchase_is_at_least_the_minimum() -> None:
    made = empty(s1=100)
    assert made.refusal(commands.TopUp(39), 1) == "buy_in_too_small"
    assert made.do(commands.TopUp(40), 1).stacks == {1: 140}


def test_M2_the_seat_is_held_until_the_wallet_answers_and_the_chips_are_there_only_then() -> None:
    made = empty()
    made.wallet_answers = False
    made.do(commands.SitDown(100, seat=3), player="ann")
    assert (made.owner(3).stack, made.owner(3).reserved, made.money) == (0, 100, 0)
    assert made.refusal(commands.SitDown(100, seat=3), player="ben") == "seat_taken"
    assert made.refusal(commands.TopUp(100), 3) == "buy_in_pending"
    made.answer()
    assert (made.owner(3).stack, made.money) == (100, 100)


def test_M2_chips_bought_in_a_hand_are_added_when_it_is_over() -> None:
    played = stud(THREE, UP)
    played.do(commands.TopUp(50), 1)
    assert played.player(1).stack == 99
    assert not played.all(table.TopUpRequested)
    assert played.refusal(commands.TopUp(50), 1) == "top_up_pending"
    fold_around(played)
    assert played.stacks == {1: 149, 2: 99, 3: 102}


def test_M2_chips_asked_for_before_a_hand_and_funded_in_it_wait_for_its_end() -> None:
    played = stud(THREE, UP)
    fold_around(played)
    played.wallet_answers = False
    played.do(commands.TopUp(50), 1)
    played.expire()
    played.answer()
    assert played.player(1).stack == 98
    assert played.owner(1).chips_waiting == 50
    fold_around(played)
    assert played.stacks[1] == 148
    assert played.owner(1).chips_waiting == 0


def test_M2_nothing_is_paid_out_while_he_is_in_the_hand_folded_or_not() -> None:
    played = stud(THREE, UP).play("3 bring_in, 1 fold")
    played.do(commands.Leave(), 1)
    assert not played.all(table.PlayerLeft)
    assert played.refusal(commands.TopUp(50), 1) == "leaving_already"
    played.play("2 fold")
    assert played.last(table.PlayerLeft).amount == 99


# --- M3, M4: leaving and coming back -----------------------------------------------------------------------------


def test_M3_who_leaves_is_folded_at_his_turn_and_paid_when_the_hand_is_over() -> None:
    played = draw(THREE).play("1 raise 8")
    played.do(commands.Leave(), 3)
    assert not played.player(3).folded
    played.play("2 call")
    assert played.player(3).folded
    assert played.last(table.Folded).cause == "left"
    assert played.owner(3).stack == 100
    fold_around(played)
    assert played.last(table.PlayerLeft).amount == 96
    assert played.state.seats[2] is None


def test_M3_at_once_when_it_is_his_turn_even_with_a_bet_in() -> None:
    played = draw(THREE).play("1 call, 2 leave")
    assert played.player(2).folded
    assert played.turn_seat == 3


def test_M3_a_bring_in_that_he_owes_is_posted_first() -> None:
    played = stud(THREE, UP).play("3 leave")
    posted = played.last(table.BetPlaced)
    assert (posted.seat, posted.kind, posted.to, posted.cause) == (3, "bring_in", 2, "left")
    played.play("1 complete, 2 call")
    assert played.player(3).folded
    played = stud(THREE, UP).play("3 leave, 1 fold, 2 fold")
    assert played.last(table.PlayerLeft).amount == 102, "nobody wanted his bring-in"


def test_M3_a_bring_in_owed_by_who_left_before_the_cards_came() -> None:
    made = empty(s1=100, s2=100, s3=100)
    made.dealer.up = {seat: [card] for seat, card in {1: 45, 2: 43, 3: 1}.items()}
    made.dealer_answers = False
    made.deal().do(commands.Leave(), 3)
    made.answer()
    assert made.last(table.BetPlaced).kind == "bring_in"
    assert made.turn_seat == 1


def test_M3_at_the_draw_he_stands_pat_and_is_folded_afterwards() -> None:
    played = draw(THREE).play("1 call, 2 call, 3 check, 2 leave")
    assert played.last(table.DrawChosen) == table.DrawChosen(2, (), "", 0, "left")
    played.play("3 pat, 1 pat")
    assert played.player(2).folded
    assert played.turn_seat == 3


def test_M3_an_all_in_player_who_leaves_keeps_his_part_of_the_pot() -> None:
    played = draw({1: 4, 2: 100, 3: 100}, wins="1").play("1 call, 2 call, 1 leave, 3 check")
    assert not played.player(1).folded
    played.play("2 pat, 3 pat, 2 check, 3 check")
    assert played.last(table.PlayerLeft).amount == 12


def test_M3_a_departed_seat_owes_nobody_a_turn_while_two_hands_later_it_is_free() -> None:
    played = stud(THREE, UP).play("3 bring_in, 2 leave, 1 fold")
    assert played.stacks == {1: 99, 3: 102}
    played.expire()
    assert [player.seat for player in played.last(table.HandStarted).players] == [1, 3]


@pytest.mark.parametrize(("later_ms", "amount", "fine"), [
    (HOUR_MS - 1, 99, False),
    (HOUR_MS - 1, 100, True),
    (HOUR_MS, 40, True),
    (0, 99, False),
])  # fmt: skip
def test_M4_who_comes_back_within_an_hour_brings_what_he_left_with(later_ms: int, amount: int, fine: bool) -> None:
    made = empty(s1=100)
    made.do(commands.Leave(), 1)
    made.now += later_ms
    if fine:
        made.do(commands.SitDown(amount, seat=5), player=player_of(1))
    else:
        assert made.refusal(commands.SitDown(amount, seat=5), player=player_of(1)) == "brings_too_little"
    made.do(commands.SitDown(40), player="ann")


def test_M4_who_comes_back_owes_only_what_he_left_with_the_last_time() -> None:
    made = empty(s1=300)
    made.do(commands.Leave(), 1)
    made.do(commands.SitDown(300, seat=1), 1)
    made.owner(1).stack -= 200
    made.state.chips -= 200
    made.money -= 200
    made.do(commands.Leave(), 1)
    made.do(commands.SitDown(100), player=player_of(1))


def test_M4_waiting_chips_count_and_a_declined_buy_in_frees_nobody() -> None:
    made = empty(s1=300)
    made.do(commands.Leave(), 1)
    made.wallet_answers = False
    made.do(commands.SitDown(300, seat=1), 1)
    made.asked.clear()
    (transfer,) = [one for one in made.state.transfers.values() if one.kind == "buy_in"]
    made.do(money.Declined(transfer.transfer_id, TABLE, player_of(1), 300, "Not enough."))
    assert made.state.seats[0] is None
    assert made.refusal(commands.SitDown(299, seat=1), 1) == "brings_too_little"


# --- M6: the wallet ----------------------------------------------------------------------------------------------


def transfer_of(made: Table, kind: str) -> str:
    return next(name for name, one in made.state.transfers.items() if one.kind == kind)


def test_M6_the_escrow_equals_stacks_pots_and_what_is_on_its_way() -> None:
    played = stud(THREE, UP)
    assert escrow(played.state) == 300
    played.wallet_answers = False
    played.play("3 bring_in, 1 complete, 2 fold, 3 leave")
    assert sum(played.stacks.values()) == 300 - 97
    assert escrow(played.state) == played.money == 300
    played.answer()
    assert escrow(played.state) == played.money == 203


def test_M6_a_violation_is_found() -> None:
    played = stud(THREE, UP)
    assert violations(played.state) == []
    for spoil in (_one_chip_more, _one_chip_less, _negative, _nobody_to_act):
        spoiled = decide(played.state, commands.SetPreferences(True, False), now_ms=0, arrived_at_ms=0, player_id="p1")
        state: TableState = spoiled.state  # type: ignore[union-attr]
        spoil(state)
        assert violations(state) != [], spoil.__name__


def _one_chip_more(state: TableState) -> None:
    assert state.hand is not None
    state.hand.players[0].stack += 1


def _one_chip_less(state: TableState) -> None:
    state.chips -= 1


def _negative(state: TableState) -> None:
    assert state.seats[0] is not None
    state.seats[0].chips_waiting = -1


def _nobody_to_act(state: TableState) -> None:
    state.turn = None


def test_M6_the_wallet_is_asked_again_under_the_same_id_until_it_answers() -> None:
    made = empty()
    made.wallet_answers = False
    made.do(commands.SitDown(100), player="ann")
    waits = []
    for _ in range(4):
        before = made.now
        made.expire()
        waits.append(made.now - before)
    assert waits == [5_000, 10_000, 20_000, 40_000]
    assert {event.transfer_id for event in made.all(table.TransferAskedAgain)} == {transfer_of(made, "buy_in")}
    made.answer()
    assert made.stacks == {1: 100}
    assert next_due_ms(made.state) is None


def test_M6_an_answer_that_comes_twice_counts_once() -> None:
    made = empty()
    made.do(commands.SitDown(100), player="ann")
    made.do(money.Funded(f"{TABLE}:1:1", TABLE, "ann", 100))
    assert made.stacks == {1: 100}
    assert not made.all(table.RefundRequested)
    made.do(commands.Leave(), player="ann")
    made.do(money.Booked(f"{TABLE}:1:2", TABLE, 100))
    assert not made.state.transfers


def test_M6_a_declined_buy_in_frees_the_seat_and_a_declined_top_up_changes_nothing() -> None:
    made = empty(s1=100)
    made.wallet_answers = False
    made.do(commands.SitDown(100, seat=2), player="ann")
    made.do(money.Declined(transfer_of(made, "buy_in"), TABLE, "ann", 100, "You have 40."))
    assert made.last(table.SeatReleased).reason == "You have 40."
    assert made.state.seats[1] is None
    made.do(commands.TopUp(50), 1)
    made.do(money.Declined(transfer_of(made, "top_up"), TABLE, player_of(1), 50, "You have 40."))
    assert made.stacks == {1: 100}
    assert not made.state.transfers
    made.do(commands.TopUp(50), 1)


def test_M6_what_is_funded_after_he_left_is_refunded() -> None:
    made = empty(s1=100)
    made.wallet_answers = False
    made.do(commands.TopUp(50), 1).do(commands.Leave(), 1)
    made.answer()  # the top-up
    refund = made.last(table.RefundRequested)
    assert (refund.transfer_id, refund.player_id, refund.amount) == (f"refund:{TABLE}:1:2", player_of(1), 50)
    made.answer()
    made.answer()
    assert (made.money, made.state.transfers) == (0, {})


def test_M6_a_buy_in_that_was_given_up_does_not_pay_for_the_next_one() -> None:
    made = empty()
    made.wallet_answers = False
    made.do(commands.SitDown(40, seat=2), player="ann").do(commands.Leave(), player="ann")
    made.do(commands.SitDown(80, seat=2), player="ann")
    made.answer(0)  # the first: 40
    assert made.owner(2).stack == 0
    assert made.last(table.RefundRequested).amount == 40
    made.answer(0)  # the second: 80
    assert made.stacks == {2: 80}
    made.answer()
    assert made.money == 80


def test_M6_nor_does_its_refusal_cost_him_the_seat() -> None:
    made = empty()
    made.wallet_answers = False
    made.do(commands.SitDown(40, seat=2), player="ann").do(commands.Leave(), player="ann")
    made.do(commands.SitDown(80, seat=2), player="ann")
    made.asked.pop(0)
    made.do(money.Declined(f"{TABLE}:1:1", TABLE, "ann", 40, "No."))
    assert made.owner(2).reserved == 80
    made.do(commands.Leave(), player="ann")
    assert made.last(table.SeatReleased).transfer_id == f"{TABLE}:1:2"


def test_M6_money_that_nobody_asked_for_is_refunded_once() -> None:
    made = empty()
    made.wallet_answers = False
    made.money += 70
    made.do(money.Funded("before-the-restore:9", TABLE, "ann", 70))
    made.do(money.Funded("before-the-restore:9", TABLE, "ann", 70))
    assert [event.amount for event in made.all(table.RefundRequested)] == [70]
    made.answer()
    assert made.money == 0


def test_M6_answers_of_the_wrong_kind_change_nothing() -> None:
    made = empty(s1=100)
    made.wallet_answers = False
    made.do(commands.SitDown(100, seat=2), player="ann")
    made.do(money.Booked(transfer_of(made, "buy_in"), TABLE, 100))
    assert made.owner(2).reserved == 100
    made.do(commands.Leave(), 1)
    cash_out = transfer_of(made, "cash_out")
    made.do(money.Declined(cash_out, TABLE, player_of(1), 100, "No."))
    made.do(money.Funded(cash_out, TABLE, player_of(1), 100))
    assert cash_out in made.state.transfers
    made.do(money.Declined("never-asked", TABLE, "ann", 1, "No.")).do(money.Booked("never-asked", TABLE, 1))


def test_M6_a_voided_hand_gives_everything_back() -> None:
    played = stud(THREE, UP).play("3 bring_in, 1 complete, 2 raise 8, 3 leave")
    played.do(commands.FreezeTable("looked at"))
    assert played.refusal(commands.Leave(), 1) == "table_frozen"
    played.do(commands.UnfreezeTable(void_hand=True), operator=True)
    assert played.stacks == {1: 100, 2: 100}
    assert played.last(table.PlayerLeft).amount == 100
    played.expire()
    assert played.state.hand is not None


# --- sitting out, pausing, closing -------------------------------------------------------------------------------


def test_M2_sitting_out_in_a_hand_begins_when_it_is_over() -> None:
    played = stud(THREE, UP)
    played.do(commands.SitOut(), 1)
    assert not played.owner(1).sitting_out
    assert played.refusal(commands.SitOut(), 1) == "sitting_out_already"
    fold_around(played)
    assert played.owner(1).sitting_out
    played.expire()
    assert [player.seat for player in played.last(table.HandStarted).players] == [2, 3]


def test_M2_who_has_no_chips_left_sits_out_and_has_to_buy_some_first() -> None:
    played = stud({1: 100, 2: 1, 3: 100}, UP, wins="1 > 2 > 3").play("3 bring_in, 1 complete, 3 fold")
    assert played.last(table.SatOut) == table.SatOut(2, "no_chips")
    assert played.refusal(commands.ComeBack(), 2) == "no_chips"
    played.do(commands.TopUp(40), 2).do(commands.ComeBack(), 2)
    assert not played.owner(2).sitting_out


def test_M3_a_closing_table_plays_its_hand_and_pays_everybody() -> None:
    played = stud(THREE, UP)
    played.do(commands.CloseTable(), operator=True)
    assert played.refusal(commands.SitDown(100), player="ann") == "table_closing"
    played.play("3 bring_in, 1 fold, 2 fold")
    assert played.state.status == "closed"
    assert {event.seat: event.amount for event in played.all(table.PlayerLeft)} == {1: 99, 2: 99, 3: 102}
    assert (played.money, played.state.transfers) == (0, {})
    assert played.refusal(commands.SitDown(100), player="ann") == "table_closed"


def test_M3_a_table_that_closes_before_the_wallet_has_answered_refunds() -> None:
    made = empty()
    made.wallet_answers = False
    made.do(commands.SitDown(100), player="ann").do(commands.CloseTable(), operator=True)
    assert made.state.status == "closed"
    made.answer()
    made.answer()
    assert (made.money, made.state.transfers) == (0, {})


def test_M2_a_paused_table_plays_its_hand_to_the_end_and_starts_no_other() -> None:
    played = stud(THREE, UP)
    played.do(commands.PauseTable(), operator=True)
    fold_around(played)
    assert next_due_ms(played.state) is None
    played.do(commands.ResumeTable(), operator=True)
    played.expire()
    assert played.state.hand is not None


def test_M2_a_table_that_was_paused_or_closing_is_so_again_after_a_freeze() -> None:
    for command, status in ((commands.PauseTable(), "paused"), (commands.CloseTable(), "closing")):
        played = stud(THREE, UP)
        played.do(command, operator=True).do(commands.FreezeTable("looked at"))
        played.do(commands.UnfreezeTable(), operator=True)
        assert played.state.status == status


def test_M6_ids_of_another_epoch_are_other_ids() -> None:
    made = empty()
    made.state.epoch = 2
    made.do(commands.SitDown(100), player="ann")
    assert made.last(table.SeatReserved).transfer_id == f"{TABLE}:2:1"
    made.do(commands.SitDown(100), player="ben")
    assert made.last(table.HandStarted).hand_id == f"{TABLE}-2-1"


def test_M6_a_transfer_of_a_former_epoch_was_answered_if_the_log_still_has_it() -> None:
    made = empty()
    made.wallet_answers = False
    made.do(commands.SitDown(100), player="ann")
    made.answer()
    begin_epoch(made.state, 2)
    made.do(money.Funded(f"{TABLE}:1:1", TABLE, "ann", 100))  # asked twice, and slow
    assert not made.all(table.RefundRequested)
    made.money += 60
    made.do(money.Funded(f"{TABLE}:1:2", TABLE, "ben", 60))  # made in what was lost
    assert made.last(table.RefundRequested).amount == 60
    assert made.stacks == {1: 100}


def test_M6_time_never_goes_back() -> None:
    played = stud(THREE, UP)
    decision = decide(played.state, commands.SetPreferences(True, False), now_ms=1, arrived_at_ms=1, player_id="p1")
    assert decision.state.now_ms >= START_MS  # type: ignore[union-attr]
    state = TableState()
    for event in (table.TableOpened(TABLE, STUD, "op"),):
        evolve(state, event)
    assert violations(state) == []
