"""A frozen table: resumed, begun anew without its hand, or closed as it is; in every phase, and whatever is wrong.

What an operator decides never costs anybody a chip: a hand that is voided gives everybody what he had when it began.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from brelan.events import commands, money, table
from brelan.rules.folding import evolve
from brelan.rules.invariants import violations
from brelan.rules.state import NEVER, Decision, TableState
from brelan.rules.table import decide, escrow, next_due_ms
from tests.rules.kit import START_MS, TABLE, Table, draw, player_of, stud

THREE = {1: 100, 2: 100, 3: 100}
UP = {1: "2c 9d 9h 4s", 2: "Kh 4c 7h 8s", 3: "Qs 5d Td Jc"}
WINS = "2 > 1 > 3"


def hand_of(game: str) -> Table:
    return stud(THREE, UP, WINS) if game == "stud" else draw(THREE, wins=WINS)


def moments(game: str) -> Iterator[tuple[str, Table]]:
    """One hand with bets on every street, looked at whenever somebody is waited for: a player, or the dealer."""
    played = hand_of(game)
    played.dealer_answers = False
    first = played.last(table.HandStarted).hand_id
    yield "dealing at the start", _undealt(game)
    for number in range(100):
        hand = played.state.hand
        if hand is None or hand.hand_id != first:
            return
        yield f"{number}: {hand.phase} on street {hand.street}, {'dealer' if played.asked else 'player'}", played
        if played.asked:
            played.answer()
        else:
            _bet_or_call(played)
    raise AssertionError("the hand does not end")


def _undealt(game: str) -> Table:
    """Posted, and the first cards have not come."""
    made = hand_of(game)
    made.do(commands.FreezeTable("to begin anew"))
    made.dealer_answers = False
    made.do(commands.UnfreezeTable(void_hand=True), operator=True)
    made.expire()
    assert made.state.hand is not None
    assert made.asked
    return made


def _bet_or_call(played: Table) -> None:
    turn = played.state.turn
    assert turn is not None
    kinds = [action.kind for action in turn.actions]
    hand = played.state.hand
    assert hand is not None
    if kinds == ["draw"]:
        played.do(commands.Draw(turn.turn_id, (0, 1)), turn.seat)
        return
    wanted = ("bring_in", "bet", "call", "check") if not hand.price else ("call", "check")
    kind: Any = next(kind for kind in wanted if kind in kinds)
    played.do(commands.Act(turn.turn_id, kind), turn.seat)


def frozen(played: Table) -> Table:
    """A copy, so that the hand goes on as if nothing had been."""
    made = copy.deepcopy(played)
    made.dealer_answers = True
    return made.do(commands.FreezeTable("something is wrong"))


@pytest.fixture(params=["stud", "draw"])
def game(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- the three ways, in every phase ------------------------------------------------------------------------------


def test_M6_voiding_in_any_phase_gives_everybody_what_he_had(game: str) -> None:
    phases = set()
    for moment, played in moments(game):
        assert played.state.hand is not None
        phases.add(played.state.hand.phase)
        looked_at = frozen(played)
        looked_at.do(commands.UnfreezeTable(void_hand=True), operator=True)
        assert looked_at.state.hand is None, moment
        assert looked_at.stacks == THREE, moment
        assert looked_at.last(table.HandVoided).hand_id == played.state.hand.hand_id
        looked_at.expire()
        assert looked_at.last(table.HandStarted).hand_id != played.state.hand.hand_id, f"{moment}: no hand follows"
        assert looked_at.turn, f"{moment}: nobody is asked in it"
    assert phases == {"dealing", "betting", "showdown", *(["drawing"] if game == "draw" else [])}


def test_M6_resuming_in_any_phase_goes_on_and_comes_to_the_same_end(game: str) -> None:
    end = hand_of(game)
    while end.state.hand is not None:
        _bet_or_call(end)
    for moment, played in moments(game):
        if moment.startswith("dealing at"):
            continue
        looked_at = frozen(played)
        late = list(looked_at.asked)
        looked_at.asked.clear()
        for answer in late:
            looked_at.do(answer)
        assert looked_at.state.status == "frozen", f"{moment}: a late answer moves nothing"
        looked_at.do(commands.UnfreezeTable(), operator=True)
        for answer in late:  # the dealer is asked again, and says the same
            assert isinstance(looked_at.events[-1], table.DealerAskedAgain), moment
            looked_at.do(answer)
        while looked_at.state.hand is not None:
            _bet_or_call(looked_at)
        assert looked_at.stacks == end.stacks, moment


def test_M6_closing_in_any_phase_pays_everybody_what_he_had(game: str) -> None:
    for moment, played in moments(game):
        looked_at = frozen(played)
        looked_at.do(commands.CloseTable(), operator=True)
        assert looked_at.state.status == "closed", moment
        assert {event.seat: event.amount for event in looked_at.all(table.PlayerLeft)} == THREE, moment
        assert (looked_at.money, looked_at.state.transfers) == (0, {}), moment
        assert looked_at.last(table.TableClosed) == table.TableClosed(), "nothing had to be written off"


def test_M2_whatever_was_asked_during_the_hand_comes_true_when_it_is_voided(game: str) -> None:
    played = hand_of(game)
    assert played.turn_seat is not None
    others = [seat for seat in (1, 2, 3) if seat != played.turn_seat]
    played.do(commands.Leave(), others[0])
    played.do(commands.TopUp(50), played.turn_seat).do(commands.SitOut(), others[1])
    asked = played.turn_seat
    played = frozen(played).do(commands.UnfreezeTable(void_hand=True), operator=True)
    assert played.last(table.PlayerLeft).amount == 100
    assert played.stacks[asked] == 150
    assert played.owner(others[1]).sitting_out


@pytest.mark.parametrize("void_hand", [False, True])
@pytest.mark.parametrize(("command", "status"), [(commands.PauseTable(), "paused"), (commands.CloseTable(), "closing")])
def test_M2_what_the_table_was_before_it_is_again(
    game: str, command: commands.ClientCommand, status: str, void_hand: bool
) -> None:
    played = frozen(hand_of(game).do(command, operator=True))
    played.do(commands.UnfreezeTable(void_hand), operator=True)
    if void_hand:
        assert played.state.hand is None
        assert played.state.status == ("closed" if status == "closing" else "paused")
        assert status == "paused" or played.money == 0
    else:
        assert played.state.hand is not None
        assert played.state.status == status


# --- with money on its way ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["void", "close"])
def test_M2_money_on_its_way_arrives_after_the_hand_was_voided(game: str, way: str) -> None:
    played = hand_of(game)
    played.wallet_answers = False
    played.do(commands.SitDown(60, seat=5), player="ann")  # a buy-in
    played.do(commands.TopUp(50), 1)  # waits for the end of the hand
    played = frozen(played)
    if way == "void":
        played.do(commands.UnfreezeTable(void_hand=True), operator=True)
    else:
        played.do(commands.CloseTable(), operator=True)
    while played.asked:
        played.answer()
    if way == "void":
        assert played.stacks == {1: 150, 2: 100, 3: 100, 5: 60}
    else:
        assert (played.money, played.state.transfers) == (0, {}), "ann's buy-in was refunded, the others paid"


def test_M2_a_frozen_table_takes_the_wallets_answers_and_its_clocks_stand(game: str) -> None:
    played = hand_of(game)
    played.wallet_answers = False
    played.do(commands.SitDown(60, seat=5), player="ann")
    turn = played.state.turn
    assert turn is not None
    played.do(commands.FreezeTable("a test"))
    played.now = turn.deadline_ms + 1
    events = played.decide(commands.ExpireTurn(turn.deadline_ms)).events
    assert not [event for event in events if isinstance(event, table.TimedOut)]
    played.answer()
    assert played.owner(5).stack == 60
    assert next_due_ms(played.state) is None


# --- the pots half paid ------------------------------------------------------------------------------------------


def test_M6_a_hand_broken_after_part_of_its_pots_were_paid_is_voided_whole(game: str) -> None:
    """One entry pays all the pots; a log that stops between them was not written by these rules. All the same."""
    played = hand_of(game)
    played.dealer_answers = False
    while played.state.hand is not None and played.state.hand.phase != "showdown":
        played.answer() if played.asked else _bet_or_call(played)
    state, hand = played.state, played.state.hand
    assert hand is not None
    amount = hand.pots[0].amount
    evolve(state, table.PotAwarded(0, amount // 2, 1, (table.PotShare(2, amount // 2 - 1),)))
    state.dealer_wait = None
    assert violations(state)
    evolve(state, table.TableFrozen("half of a showdown"))
    (answer,) = played.asked
    again = decide(after(state, commands.UnfreezeTable()), answer, now_ms=START_MS, arrived_at_ms=START_MS)
    assert isinstance(again, Decision)
    assert violations(again.state), "paid twice: that is never committed"
    voided = after(state, commands.UnfreezeTable(void_hand=True))
    assert violations(voided) == []
    assert {seat.seat: seat.stack for seat in voided.seats if seat is not None} == THREE
    assert escrow(voided) == 300


# --- whatever is wrong -------------------------------------------------------------------------------------------


def after(state: TableState, command: commands.ClientCommand) -> TableState:
    decision = decide(state, command, now_ms=START_MS, arrived_at_ms=START_MS, player_id="op", operator=True)
    assert isinstance(decision, Decision), decision
    return decision.state


def broken(state: TableState, command: commands.ClientCommand) -> list[str]:
    """What the table service would find, and so not commit."""
    made = after(state, command)
    return [] if made.status == "frozen" else violations(made)


def _spoil_hand(**changed: Any) -> Callable[[TableState], None]:
    def spoil(state: TableState) -> None:
        assert state.hand is not None
        for name, value in changed.items():
            setattr(state.hand, name, value)

    return spoil


def _spoil_player(**changed: Any) -> Callable[[TableState], None]:
    def spoil(state: TableState) -> None:
        assert state.hand is not None
        for name, value in changed.items():
            setattr(state.hand.players[0], name, value)

    return spoil


def _spoil(**changed: Any) -> Callable[[TableState], None]:
    def spoil(state: TableState) -> None:
        for name, value in changed.items():
            setattr(state, name, value)

    return spoil


def _spoil_seat(number: int, **changed: Any) -> Callable[[TableState], None]:
    def spoil(state: TableState) -> None:
        state.seats = list(state.seats)
        seat = state.seats[number - 1]
        assert seat is not None
        state.seats[number - 1] = msgspec.structs.replace(seat, **changed)

    return spoil


def _reserve_without_transfer(state: TableState) -> None:
    state.transfers = {}


def _worthless_transfer(state: TableState) -> None:
    state.transfers = {name: msgspec.structs.replace(transfer, amount=-5) for name, transfer in state.transfers.items()}


IN_THE_HAND: dict[str, Callable[[TableState], None]] = {
    "chips made": _spoil_player(stack=1_000),
    "chips below nothing": _spoil_player(stack=-3, put_in=103),
    "a bet above the price": _spoil_player(bet=77),
    "pots of nothing": _spoil_hand(pots=(table.Pot(1, (1, 2)),)),
    "awarded what is not there": _spoil_hand(awarded=12, rake=5),
    "a wrong count": _spoil_hand(left=9),
    "nobody waited for": _spoil(turn=None),
    "two things waited for": _spoil(next_hand_ms=START_MS + 1),
    "a card twice": _spoil_player(up=(1, 1)),
    "a phase out of place": _spoil_hand(phase="showdown", left=0),
    "a street that is none": _spoil_hand(street=99, left=0),
}
IN_THE_TABLE: dict[str, Callable[[TableState], None]] = {
    "chips counted that nobody has": _spoil(chips=350),
    "chips had that nobody counted": _spoil(chips=250),
    "a seat below nothing": _spoil_seat(1, stack=-10),
    "chips waiting below nothing": _spoil_seat(1, chips_waiting=-1),
    "a seat reserved for no transfer": _reserve_without_transfer,
    "a transfer of less than nothing": _worthless_transfer,
}


def waiting(game: str) -> Table:
    """In a hand, and ann's buy-in is on its way."""
    played = hand_of(game)
    played.wallet_answers = False
    return played.do(commands.SitDown(60, seat=5), player="ann")


@pytest.mark.parametrize("what", IN_THE_HAND)
def test_M6_a_hand_with_anything_wrong_in_it_can_be_voided(game: str, what: str) -> None:
    state = waiting(game).state
    IN_THE_HAND[what](state)
    assert violations(state), "nothing is wrong with it"
    evolve(state, table.TableFrozen(what))
    for command in (commands.UnfreezeTable(void_hand=True), commands.CloseTable()):
        made = after(copy.deepcopy(state), command)
        assert violations(made) == []
        assert made.hand is None
        if made.status == "closed":
            paid = {one.player_id: one.amount for one in made.transfers.values() if one.kind == "cash_out"}
            assert paid == {player_of(seat): stack for seat, stack in THREE.items()}
        else:
            assert {seat.seat: seat.stack for seat in made.seats if seat and not seat.reserved} == THREE


@pytest.mark.parametrize("what", IN_THE_TABLE)
def test_M6_a_table_with_anything_wrong_can_be_closed_and_everybody_is_paid(game: str, what: str) -> None:
    state = waiting(game).state
    IN_THE_TABLE[what](state)
    evolve(state, table.TableFrozen(what))
    made = after(state, commands.CloseTable())
    assert made.status == "closed"
    assert violations(made) == []
    assert (made.chips, made.hand, made.turn, made.dealer_wait) == (0, None, None, None)
    paid = {one.player_id: one.amount for one in made.transfers.values() if one.kind == "cash_out"}
    spoiled = {player_of(1)} if "seat below" in what or "waiting below" in what else set()
    assert paid | dict.fromkeys(spoiled) == {player_of(seat): 100 for seat in THREE} | dict.fromkeys(spoiled) or (
        "waiting below" in what and paid[player_of(1)] == 99
    )
    assert all(transfer.amount > 0 for transfer in made.transfers.values())


def test_M6_what_a_table_counted_and_nobody_had_stands_in_its_log(game: str) -> None:
    state = waiting(game).state
    state.chips += 50
    evolve(state, table.TableFrozen("a chip too many"))
    assert broken(copy.deepcopy(state), commands.UnfreezeTable())
    assert broken(copy.deepcopy(state), commands.UnfreezeTable(void_hand=True)), "no hand is to blame"
    decision = decide(
        state, commands.CloseTable(), now_ms=START_MS, arrived_at_ms=START_MS, player_id="op", operator=True
    )
    assert isinstance(decision, Decision)
    assert decision.events[-1] == table.TableClosed(written_off=50)


def test_M6_two_waits_between_two_hands_are_called_off() -> None:
    played = stud(THREE, UP).play("1 bring_in, 2 fold, 3 fold")
    state = played.state
    assert state.next_hand_ms is not None
    state.post_ask, state.post_deadline_ms = (1,), START_MS
    evolve(state, table.TableFrozen("waits for two things"))
    assert broken(copy.deepcopy(state), commands.UnfreezeTable())
    made = after(state, commands.UnfreezeTable(void_hand=True))
    assert violations(made) == []
    assert (made.status, made.post_ask) == ("open", ())
    assert made.next_hand_ms is not None, "and the next hand is waited for"


def test_M2_everything_else_is_refused_while_it_is_frozen(game: str) -> None:
    played = frozen(hand_of(game))
    for command in (commands.PauseTable(), commands.ResumeTable(), commands.ConfigureTable(played_config(played))):
        assert played.refusal(command, operator=True) == "table_frozen"
    assert played.refusal(commands.UnfreezeTable(), 1) == "not_operator"
    assert played.refusal(commands.CloseTable(), 1) == "not_operator"


def played_config(played: Table) -> Any:
    return played.state.config


# --- what the wallet will not book -------------------------------------------------------------------------------


def declined_cash_out() -> tuple[Table, str]:
    """Seat 1 has left; the wallet says that the table does not hold this much."""
    played = stud(THREE, UP).play("1 bring_in, 2 fold, 3 fold")
    played.wallet_answers = False
    played.do(commands.Leave(), 1)
    played.asked.clear()
    (transfer_id,) = [name for name, one in played.state.transfers.items() if one.kind == "cash_out"]
    played.do(
        money.Declined(transfer_id, TABLE, "p1", 102, "The table does not hold this much.", "insufficient_escrow")
    )
    return played, transfer_id


def test_M2_a_cash_out_that_is_declined_stops_the_table_and_is_not_asked_for_ever() -> None:
    played, transfer_id = declined_cash_out()
    assert played.state.status == "frozen"
    assert "does not hold this much" in played.state.frozen_reason
    assert played.state.transfers[transfer_id].due_ms == NEVER
    assert next_due_ms(played.state) is None
    played.do(commands.EndOutage(played.now - 60_000, played.now))
    played.now += 3_600_000
    played.do(commands.ExpireTurn(played.now))
    assert not played.all(table.TransferAskedAgain)
    assert escrow(played.state) == 300, "the chips are still the table's to give"


def test_M2_whoever_resumes_it_has_looked_and_it_is_asked_once_more() -> None:
    played, transfer_id = declined_cash_out()
    played.do(commands.UnfreezeTable(), operator=True)
    played.now += 5_000
    played.do(commands.ExpireTurn(played.now))
    assert [event.transfer_id for event in played.all(table.TransferAskedAgain)] == [transfer_id]
    played.do(money.Declined(transfer_id, TABLE, "p1", 102, "The same.", "insufficient_escrow"))
    assert played.state.status == "open", "it was looked at"
    assert played.state.transfers[transfer_id].due_ms == NEVER
    played.do(money.Declined(transfer_id, TABLE, "p1", 102, "The same.", "insufficient_escrow"))  # a repeated answer
    assert len(played.all(table.TransferDeclined)) == 2
    played.money -= 102
    played.do(money.Booked(transfer_id, TABLE, 102))
    assert played.state.transfers == {}


def test_M2_a_refund_of_what_the_ledger_does_not_know_is_dropped_and_somebody_looks() -> None:
    played = stud(THREE, UP)
    played.wallet_answers = False
    played.money += 7
    played.do(money.Funded("nobody-asked", TABLE, "ann", 7))
    played.asked.clear()
    played.money -= 7
    played.do(money.Declined("refund:nobody-asked", TABLE, "ann", 7, "Nothing to refund.", "nothing_to_refund"))
    assert (played.state.status, played.state.transfers) == ("frozen", {})


@pytest.mark.parametrize("amount", [0, -5, 10**12 + 1, 2**64 - 1])
def test_M2_an_absurd_sum_that_nobody_asked_for_is_refused_loudly(amount: int) -> None:
    with pytest.raises(ValueError, match="nobody asked for"):
        stud(THREE, UP).do(money.Funded("nobody-asked", TABLE, "ann", amount))
