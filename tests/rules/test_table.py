"""What holds for the table as a whole: every fact is folded, every refusal is given, no wrong answer is taken."""

from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from brelan.events import commands, money, table
from brelan.events.table import SeatCards, TableEvent
from brelan.rules.folding import FOLDS
from brelan.rules.invariants import violations
from brelan.rules.rejections import SENTENCES
from brelan.rules.state import TableState
from brelan.rules.table import legal_actions, next_due_ms, pots_now, total_in_play
from tests.rules.kit import DRAW, STUD, TABLE, Table, draw, stud

THREE = {1: 100, 2: 100, 3: 100}
UP = {1: "2c 9d 8h 7s", 2: "Kh 4c 5c 6d", 3: "Qs 5d 6h 7d"}
_copy = msgspec.msgpack.Decoder(TableState).decode
_written = msgspec.msgpack.Encoder().encode


def test_every_fact_is_folded() -> None:
    assert set(FOLDS) == set(get_args(TableEvent))


# --- refusals ----------------------------------------------------------------------------------------------------

Situation = Callable[[], str]


def frozen() -> Table:
    return stud(THREE, UP).do(commands.FreezeTable("a test"))


def sitting() -> Table:
    played = Table(STUD)
    played.seat(1, 100)
    return played


def on_its_way() -> Table:
    played = Table(STUD)
    played.wallet_answers = False
    return played.do(commands.SitDown(40, 1), 1)


def closing() -> Table:
    return stud(THREE, UP).do(commands.CloseTable(), operator=True)


def closed() -> Table:
    return Table(STUD).do(commands.CloseTable(), operator=True)


def full() -> Table:
    return stud(dict.fromkeys(range(1, 9), 100))


def gone() -> Table:
    played = sitting()
    return played.do(commands.Leave(), 1)


def broke() -> Table:
    played = sitting().do(commands.SitOut(), 1)
    played.state.seats[0] = replace(played.owner(1), stack=0)
    return played


def seeding() -> Table:
    played = Table(STUD)
    for seat in (1, 2):
        played.seat(seat, 100)
    played.brought(1, bytes(range(32)))
    return played.deal()


def withheld_often() -> Table:
    played = sitting()
    played.state.withheld, played.state.withheld_day = {"p1": 3}, played.now // 86_400_000
    return played


def in_turn() -> Table:
    return stud(THREE, UP).play("1 bring_in")


def with_an_open_pair() -> Table:
    return stud(THREE, {**UP, 2: "Kh Kc"}).play("1 bring_in, 2 call, 3 call")


REFUSALS: dict[str, Situation] = {
    "table_exists": lambda: Table(STUD).refusal(commands.OpenTable(STUD), operator=True),
    "bad_configuration": lambda: Table(STUD).refusal(commands.ConfigureTable(DRAW), operator=True),
    "not_operator": lambda: Table(STUD).refusal(commands.PauseTable(), 1),
    "table_closed": lambda: closed().refusal(commands.SitDown(40), 1),
    "table_closing": lambda: closing().refusal(commands.SitDown(40), 5),
    "table_frozen": lambda: frozen().refusal(commands.Leave(), 1),
    "not_frozen": lambda: Table(STUD).refusal(commands.UnfreezeTable(), operator=True),
    "not_open": lambda: closing().refusal(commands.PauseTable(), operator=True),
    "not_paused": lambda: Table(STUD).refusal(commands.ResumeTable(), operator=True),
    "already_seated": lambda: sitting().refusal(commands.SitDown(40, 2), 1),
    "not_seated": lambda: Table(STUD).refusal(commands.SitOut(), 1),
    "no_such_seat": lambda: Table(STUD).refusal(commands.SitDown(40, 9), 9),
    "seat_taken": lambda: sitting().refusal(commands.SitDown(40, 1), player="another"),
    "table_full": lambda: full().refusal(commands.SitDown(40), player="another"),
    "buy_in_too_small": lambda: Table(STUD).refusal(commands.SitDown(39), 1),
    "buy_in_too_large": lambda: Table(STUD).refusal(commands.SitDown(10**13), 1),
    "not_whole_chips": lambda: Table(replace(STUD, smallest_chip=5)).refusal(commands.SitDown(43), 1),
    "brings_too_little": lambda: gone().refusal(commands.SitDown(99), player="p1"),
    "buy_in_pending": lambda: on_its_way().refusal(commands.SitOut(), 1),
    "top_up_pending": lambda: stud(THREE, UP).do(commands.TopUp(40), 1).refusal(commands.TopUp(40), 1),
    "sitting_out_already": lambda: sitting().do(commands.SitOut(), 1).refusal(commands.SitOut(), 1),
    "not_sitting_out": lambda: sitting().refusal(commands.ComeBack(), 1),
    "leaving_already": lambda: stud(THREE, UP).do(commands.Leave(), 2).refusal(commands.Leave(), 2),
    "no_chips": lambda: broke().refusal(commands.ComeBack(), 1),
    "nothing_to_choose": lambda: sitting().refusal(commands.ChooseEntry("post"), 1),
    "not_your_turn": lambda: (played := in_turn()).refusal(commands.Act(played.turn_id, "fold"), 3),
    "stale_turn": lambda: (played := in_turn()).refusal(commands.Act(played.turn_id - 1, "fold"), 1),
    "illegal_action": lambda: (played := in_turn()).refusal(commands.Act(played.turn_id, "check"), 2),
    "ambiguous_amount": lambda: (played := with_an_open_pair()).refusal(commands.Act(played.turn_id, "bet"), 2),
    "bad_positions": lambda: (played := drawing()).refusal(commands.Draw(played.turn_id, (1, 1)), 2),
    "seed_due": lambda: seeding().refusal(commands.BringSeeds(""), 1),
    "bad_key": lambda: sitting().refusal(commands.BringKey("00"), 1),
    "wrong_signature": lambda: sitting().refusal(commands.BringKey("", "", "00" * 64), 1),
    "no_more_chains": lambda: withheld_often().refusal(commands.BringSeeds("00" * 32), 1),
    "no_seed_due": lambda: seeding().refusal(commands.GiveSeed("another", "00" * 32), 1),
    "bad_seed": lambda: seeding().refusal(commands.BringSeeds("00"), 2),
    "wrong_seed": lambda: seeding().refusal(commands.GiveSeed(f"{TABLE}-1-1", "00" * 32), 1),
    "nothing_to_show": lambda: in_turn().refusal(commands.Show(), 2),
}
NOT_OURS = {
    "internal_error",  # the table service's, when the rules could not be asked
    "cannot_resume",  # the table service's, when what an operator wants would break an invariant
}


def drawing() -> Table:
    return draw(THREE, button=1).play("1 call, 2 call, 3 check")


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_of_every_kind(code: str) -> None:
    assert REFUSALS[code]() == code


def test_there_is_no_other_refusal() -> None:
    assert set(SENTENCES) - NOT_OURS == set(REFUSALS)
    assert all(sentence.endswith((".", "}")) for sentence in SENTENCES.values())


# --- what is asked of a table ------------------------------------------------------------------------------------


def test_the_listed_actions_are_those_of_the_open_turn() -> None:
    played = in_turn()
    assert legal_actions(played.state, 2) == played.state.turn.actions if played.state.turn else ()
    assert legal_actions(played.state, 1) == ()


def test_pots_and_chips_in_the_middle_while_a_round_goes_on() -> None:
    played = stud({1: 100, 2: 3, 3: 100}, UP).play("1 bring_in, 2 call, 3 complete")
    assert total_in_play(played.state) == 3 + 2 + 2 + 4
    assert [(pot.amount, pot.seats) for pot in pots_now(played.state)] == [(9, (1, 2, 3)), (2, (1, 3))]
    assert pots_now(Table(STUD).state) == ()


def test_the_first_hand_begins_as_soon_as_two_sit_the_next_after_a_pause() -> None:
    played = Table(STUD)
    played.do(commands.SitDown(40), 1)
    assert next_due_ms(played.state) is None
    played.do(commands.SitDown(40), 2)
    assert played.state.hand is not None
    played.play(f"{played.turn_seat} bring_in")
    played.play(f"{played.turn_seat} fold")
    assert played.state.next_hand_ms == played.now + STUD.hand_pause_ms == next_due_ms(played.state)


def test_a_pause_of_nothing_is_none() -> None:
    played = stud({1: 100, 2: 100}, UP, hand_pause_ms=0).play("1 bring_in, 2 fold")
    assert played.state.hand is not None
    assert played.state.hand.number == 2


def test_the_earliest_of_all_waits_is_due() -> None:
    played = stud(THREE, UP)
    played.wallet_answers = False
    played.do(commands.SitDown(40, 7), 7)
    asked = played.now
    assert next_due_ms(played.state) == asked + 5_000
    played.expire()
    assert next_due_ms(played.state) == asked + 10_000, "the turn; the wallet has twice as long now"
    assert played.last(table.TransferAskedAgain).due_ms == asked + 15_000


def test_a_hand_id_names_table_epoch_and_number() -> None:
    assert stud(THREE, UP).last(table.HandStarted).hand_id == f"{TABLE}-1-1"


# --- answers of the dealer that do not fit -----------------------------------------------------------------------


def third_street(played: Table) -> table.CardsDealt:
    (answer,) = played.asked
    assert isinstance(answer, table.CardsDealt)
    return answer


def wrong_deals(right: table.CardsDealt) -> dict[str, table.CardsDealt]:
    first, *others = right.cards
    return {
        "another hand": replace(right, hand_id="s00-rules-1-7"),
        "another street": replace(right, street="fourth"),
        "not everybody": replace(right, cards=right.cards[1:]),
        "in another order": replace(right, cards=(*others, first)),
        "a stranger": replace(right, cards=(replace(first, seat=8), *others)),
        "a card too few": replace(right, cards=(replace(first, down=1), *others)),
        "no door card": replace(right, cards=(replace(first, up=()), *others)),
        "a card twice": replace(right, cards=(replace(first, up=others[0].up), *others)),
        "no card at all": replace(right, cards=(replace(first, up=(52,)), *others)),
        "a burn": replace(right, burned=1),
        "reshuffled": replace(right, reshuffled=True),
        "a community card": replace(right, community=0),
    }


def dealt_but_not_told() -> Table:
    played = Table(STUD)
    for seat in (1, 2, 3):
        played.seat(seat, 100)
    played.dealer_answers = False
    return played.deal()


@pytest.mark.parametrize("what", wrong_deals(third_street(dealt_but_not_told())))
def test_S3_a_deal_that_was_not_asked_for_is_refused_loudly(what: str) -> None:
    played = dealt_but_not_told()
    with pytest.raises(ValueError, match=r"\w"):
        played.decide(wrong_deals(third_street(played))[what])
    played.answer()
    assert played.turn_seat is not None


def test_S3_an_answer_nobody_waits_for_changes_nothing() -> None:
    played = dealt_but_not_told()
    answer = third_street(played)
    played.answer()
    for late in (answer, replace(answer, request_id="s00-rules-1-1:fourth")):
        assert played.decide(late).events == ()


def test_S4_a_card_that_lies_on_the_table_is_not_dealt_again() -> None:
    played = stud(THREE, UP)
    played.dealer_answers = False
    played.play("1 bring_in, 2 call, 3 call")
    (answer,) = played.asked
    again = (SeatCards(1, 0, (played.player(2).up[0],)), *answer.cards[1:])
    with pytest.raises(ValueError, match="twice"):
        played.decide(replace(answer, cards=again))


def test_D11_a_draw_that_was_not_asked_for_is_refused_loudly() -> None:
    played = drawing()
    played.dealer_answers = False
    played.play("2 draw 3")
    (answer,) = played.asked
    for wrong in (
        replace(answer, count=2),
        replace(answer, seat=1),
        replace(answer, hand_id="another"),
        replace(answer, reshuffled=True),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            played.decide(wrong)
    played.answer()
    assert played.turn_seat == 3


def test_H4_a_showdown_that_does_not_fit_is_refused_loudly() -> None:
    played = draw({1: 100, 2: 100}, button=1, wins="2 > 1").play("1 call, 2 check, 2 pat, 1 pat, 2 check")
    played.dealer_answers = False
    played.play("1 check")
    (answer,) = played.asked
    shown = answer.hands[0]
    for wrong in (
        replace(answer, winners=()),
        replace(answer, winners=((),)),
        replace(answer, winners=((3,),)),
        replace(answer, winners=((2, 2),)),
        replace(answer, hand_id="another"),
        replace(answer, hands=(replace(shown, cards=shown.cards[1:]),)),
        replace(answer, hands=(replace(shown, cards=(*shown.cards[1:], shown.cards[1])),)),
        replace(answer, hands=(replace(shown, best=()),)),
        replace(answer, hands=(shown, replace(shown, seat=1))),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            played.decide(wrong)
    played.answer()
    assert played.state.hand is None


def test_M6_a_wallet_that_funds_another_amount_is_refused_loudly() -> None:
    played = on_its_way()
    (reply,) = played.asked
    assert isinstance(reply, money.Funded)
    for wrong in (replace(reply, amount=41), replace(reply, player_id="another")):
        with pytest.raises(ValueError, match="funded"):
            played.decide(wrong)


# --- invariants --------------------------------------------------------------------------------------------------


def _hand(state: TableState) -> Any:
    return state.hand


SPOILED: dict[str, tuple[Callable[[TableState], object], str]] = {
    "a chip too many in front of somebody": (lambda state: setattr(_hand(state).players[0], "stack", 98), "began"),
    "a bet above the price": (lambda state: setattr(_hand(state).players[0], "bet", 3), "has put in"),
    "a pot that is not there": (lambda state: setattr(_hand(state), "pots", (table.Pot(1, (1, 2)),)), "the pots"),
    "a card twice": (lambda state: setattr(_hand(state).players[0], "up", _hand(state).players[1].up), "twice"),
    "a fold that was not counted": (lambda state: setattr(_hand(state).players[2], "folded", True), "folded"),
    "a turn of somebody all-in": (lambda state: setattr(_hand(state).players[1], "all_in", True), "turn"),
    "two things waited for": (lambda state: setattr(state, "next_hand_ms", 1), "next hand"),
    "nothing waited for": (lambda state: setattr(state, "turn", None), "wait"),
    "no hand for the turn": (lambda state: setattr(state, "hand", None), "without a hand"),
    "chips from nowhere": (lambda state: setattr(state, "chips", 1), "were brought"),
    "a transfer of nothing": (
        lambda state: setattr(state.transfers["refund:x"], "amount", 0),
        "moves 0",
    ),
}


@pytest.mark.parametrize("what", SPOILED)
def test_M6_whatever_is_wrong_is_found(what: str) -> None:
    played = in_turn()
    played.wallet_answers = False
    played.money += 5
    played.do(money.Funded("x", TABLE, "somebody", 5))
    state = _copy(_written(played.state))
    assert violations(state) == []
    spoil, word = SPOILED[what]
    spoil(state)
    assert any(word in sentence for sentence in violations(state)), violations(state)


# --- operators ---------------------------------------------------------------------------------------------------


def test_a_table_can_be_reconfigured_but_not_into_another_one() -> None:
    played = Table(replace(STUD, smallest_chip=2, ante=2, bring_in=2))
    for wrong in (
        replace(STUD, seats=7),
        replace(STUD, currency_unit=100),
        DRAW,
        replace(STUD, smallest_chip=4, lower_limit=8, upper_limit=16, ante=4, bring_in=4, minimum_buy_in=80),
        replace(STUD, bring_in=4),
    ):
        assert played.refusal(commands.ConfigureTable(wrong), operator=True) == "bad_configuration"
    played.do(commands.ConfigureTable(STUD), operator=True)
    assert played.state.next_config == STUD


def test_M2_a_frozen_table_takes_nothing_but_the_wallets_answers() -> None:
    played = stud(THREE, UP)
    played.wallet_answers = False
    played.do(commands.SitDown(40, 7), 7).do(commands.FreezeTable("a test"))
    turn = played.state.turn
    assert turn is not None
    assert next_due_ms(played.state) == next(iter(played.state.transfers.values())).due_ms, "not the turn's"
    played.now = turn.deadline_ms
    events = played.decide(commands.ExpireTurn(played.now)).events
    assert [type(event) for event in events] == [table.TransferAskedAgain]
    played.answer()
    assert played.owner(7).stack == 40
    played.do(commands.UnfreezeTable(), operator=True)
    assert played.state.turn == replace(turn, deadline_ms=played.now + STUD.action_time_ms)


def test_M3_a_table_without_players_closes_at_once() -> None:
    assert closed().state.status == "closed"


def test_S2_automatic_posting_switched_on_is_a_yes() -> None:
    played = Table(STUD)
    played.seat(1, 100)
    played.seat(2, 100)
    played.do(commands.SetPreferences(auto_post=False, auto_muck=True), 1)
    assert played.state.post_ask == (1,)
    played.do(commands.SetPreferences(auto_post=True, auto_muck=True), 1)
    assert played.state.hand is not None
    assert played.posts == ["1 ante 1", "2 ante 1"]


# --- H4: a pot that nobody else could win ------------------------------------------------------------------------


def test_H4_who_lost_to_everybody_may_muck_though_a_side_pot_that_nobody_contests_is_his() -> None:
    played = draw({1: 4, 2: 100, 3: 100}, button=2, wins="1 > 2 > 3")
    played.play("2 raise 8, 3 call, 3 pat, 1 pat, 2 pat")
    played.dealer_answers = False
    played.play("3 fold")
    assert [pot.seats for pot in played.last(table.ShowdownRequested).pots] == [(1, 2), (2,)]
    assert played.last(table.ShowdownRequested).order == (1, 2)
    (answer,) = played.asked
    first = next(hand for hand in answer.hands if hand.seat == 1)
    played.do(replace(answer, hands=(first,)))
    assert [event.seat for event in played.all(table.HandMucked)] == [2]
    assert played.last(table.ShowOffered).seats == (2,)
    assert played.stacks == {1: 12, 2: 100, 3: 92}
