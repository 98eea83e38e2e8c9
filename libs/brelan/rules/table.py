"""A table decides (``decide``), and its facts change it (``evolve``). No clock, no chance, no I/O.

``decide`` takes what a player, an operator, the timer, the dealer or the wallet says, and answers with events and the
state after them, or with a ``Rejected``. Then the table goes on by itself until somebody else has to say something: a
player, the dealer, or the clock.

==================  ===========================================
what is said        where it is decided
==================  ===========================================
``Act``, ``Draw``   ``hand``
seats and money     ``seating``, and the wallet's answers
``Show``, ``Muck``  ``showdown``
seeds               ``seeds``
keys of players     ``hole_keys``
the dealer's        ``dealing``, ``showdown``
the timer's         ``clock``
operators'          ``operating``
==================  ===========================================
"""

from typing import assert_never

from brelan.events import commands, money
from brelan.events.commands import ClientCommand, InternalCommand
from brelan.events.money import WalletReply
from brelan.events.table import (
    Action,
    CardsDealt,
    CardsDrawn,
    CardsResealed,
    DeckCommitted,
    HandShown,
    Pot,
    ShowdownResolved,
)
from brelan.rules import between_hands, clock, dealing, hand, hole_keys, operating, pots, seating, seeds, showdown
from brelan.rules.draft import Draft
from brelan.rules.folding import apply_entry, evolve
from brelan.rules.rejections import rejected
from brelan.rules.state import NEVER, Decision, Rejected, Seat, Status, TableState, seat_of

DealerAnswer = DeckCommitted | CardsDealt | CardsDrawn | ShowdownResolved | HandShown | CardsResealed
PLAYING = ("open", "paused", "closing")
SeatedCommand = (
    commands.Act
    | commands.Draw
    | commands.TopUp
    | commands.SitOut
    | commands.ComeBack
    | commands.ChooseEntry
    | commands.SetPreferences
    | commands.BringSeeds
    | commands.BringKey
    | commands.GiveSeed
    | commands.Leave
    | commands.Show
    | commands.Muck
)
AnyCommand = ClientCommand | InternalCommand | DealerAnswer | WalletReply

__all__ = [
    "AnyCommand",
    "DealerAnswer",
    "apply_entry",
    "decide",
    "escrow",
    "evolve",
    "legal_actions",
    "next_due_ms",
    "pots_now",
    "total_in_play",
]


def decide(
    state: TableState,
    command: AnyCommand,
    *,
    now_ms: int,
    arrived_at_ms: int,
    player_id: str = "",
    name: str = "",
    operator: bool = False,
) -> Decision | Rejected:
    """``state`` stays as it is. Without events nothing but ``now_ms`` differs after it, and nothing is to be written.

    Raises ValueError when an answer of the dealer or the wallet does not fit what it was asked.
    """
    draft = Draft(state, now_ms)
    refusal = _decide(draft, command, arrived_at_ms, player_id, name, operator)
    if refusal is not None:
        return refusal
    _go_on(draft)
    return Decision(tuple(draft.events), draft.state)


def _decide(
    draft: Draft, command: AnyCommand, arrived_at_ms: int, player_id: str, name: str, operator: bool
) -> Rejected | None:
    match command:
        case commands.Act() | commands.Draw():  # what is said most is asked for first
            return _at_the_table(draft, command, player_id)
        case DeckCommitted() | CardsDealt() | CardsDrawn() | ShowdownResolved() | HandShown() | CardsResealed():
            _dealer_answered(draft, command)
        case money.Funded() | money.Declined() | money.Booked():
            _wallet_answered(draft, command)
        case commands.ExpireTurn():
            clock.expire(draft, command.deadline_ms, arrived_at_ms)
        case commands.EndOutage():
            operating.end_outage(draft, command.from_ms)
        case commands.FreezeTable():
            operating.freeze(draft, command.reason)
        case commands.LoseTail():
            operating.lose_tail(draft, command.epoch)
        case commands.SitDown():
            return _shut(draft.state.status) or seating.sit_down(draft, command, player_id, name)
        case (
            commands.OpenTable()
            | commands.ConfigureTable()
            | commands.PauseTable()
            | commands.ResumeTable()
            | commands.CloseTable()
            | commands.UnfreezeTable()
        ):
            return operating.operate(draft, command, player_id) if operator else rejected("not_operator")
        case _:
            return _at_the_table(draft, command, player_id)
    return None


def _dealer_answered(draft: Draft, answer: DealerAnswer) -> None:
    match answer:
        case DeckCommitted():
            seeds.deck_committed(draft, answer)
        case CardsDealt():
            dealing.cards_dealt(draft, answer)
        case CardsDrawn():
            dealing.cards_drawn(draft, answer)
        case ShowdownResolved():
            if showdown.resolve(draft, answer):
                between_hands.settle(draft)
        case HandShown():
            showdown.shown(draft, answer)
        case CardsResealed():
            hole_keys.resealed(draft, answer)
        case _:
            assert_never(answer)


def _wallet_answered(draft: Draft, reply: WalletReply) -> None:
    match reply:
        case money.Funded():
            seating.funded(draft, reply)
        case money.Declined():
            seating.declined(draft, reply)
        case money.Booked():
            seating.booked(draft, reply)
        case _:
            assert_never(reply)


def _shut(status: Status) -> Rejected | None:
    if status in PLAYING:
        return None
    return rejected("table_frozen" if status == "frozen" else "table_closed")


def _at_the_table(draft: Draft, command: SeatedCommand, player_id: str) -> Rejected | None:
    """What only makes sense of somebody who has a seat."""
    state = draft.state
    if state.status not in PLAYING:
        return _shut(state.status)
    seat = seat_of(state, player_id)
    if seat is None:
        return rejected("not_seated")
    match command:
        case commands.Act():
            posts = command.kind in ("post", "decline")
            return between_hands.answer(draft, command, seat) if posts else hand.act(draft, command, seat)
        case commands.Draw():
            return hand.draw(draft, command, seat)
        case commands.Leave():
            return _leave(draft, seat)
        case commands.TopUp():
            return seating.top_up(draft, command, seat)
        case commands.SitOut():
            return seating.sit_out(draft, seat)
        case commands.ComeBack():
            return seating.come_back(draft, command, seat)
        case commands.ChooseEntry():
            return seating.choose_entry(draft, command, seat)
        case commands.SetPreferences():
            seating.set_preferences(draft, command, seat)
        case commands.BringSeeds() | commands.GiveSeed() | commands.BringKey():
            return _for_the_deal(draft, command, seat)
        case commands.Show():
            return showdown.show(draft, seat)
        case commands.Muck():
            return showdown.muck(draft, seat)
        case _:
            assert_never(command)
    return None


def _for_the_deal(
    draft: Draft, command: commands.BringSeeds | commands.GiveSeed | commands.BringKey, seat: Seat
) -> Rejected | None:
    match command:
        case commands.BringSeeds():
            return seeds.bring(draft, command, seat)
        case commands.GiveSeed():
            return seeds.give(draft, command, seat)
        case commands.BringKey():
            return hole_keys.bring(draft, command, seat)
        case _:
            assert_never(command)


def _leave(draft: Draft, seat: Seat) -> Rejected | None:
    refusal = seating.leave(draft, seat)
    turn = draft.state.turn
    if refusal is None and turn is not None and turn.seat == seat.seat:
        hand.leave_turn(draft, turn)
    return refusal


def _go_on(draft: Draft) -> None:
    state = draft.state
    while state.status in PLAYING:
        if state.hand is None:
            if not between_hands.go_on(draft):
                return
        elif state.turn is not None or state.dealer_wait is not None or seeds.are_awaited(state):
            return
        elif not hand.go_on(draft):
            between_hands.settle(draft)


# --- questions ---------------------------------------------------------------------------------------------------


def legal_actions(state: TableState, seat: int) -> tuple[Action, ...]:
    """All that this seat may do now; ``decide`` accepts nothing else."""
    return state.turn.actions if state.turn is not None and state.turn.seat == seat else ()


def next_due_ms(state: TableState) -> int | None:
    """The earliest time at which something that the table waits for has taken long enough."""
    dues = [transfer.due_ms for transfer in state.transfers.values() if transfer.due_ms != NEVER]
    if state.status != "frozen":
        if state.turn is not None:
            dues.append(state.turn.deadline_ms)
        if state.dealer_wait is not None:
            dues.append(state.dealer_wait.due_ms)
        if state.hand is not None and state.hand.seeds_asked:
            dues.append(state.hand.seeds_due_ms)
        if state.next_hand_ms is not None:
            dues.append(state.next_hand_ms)
        if state.post_ask:
            dues.append(state.post_deadline_ms)
    return min(dues) if dues else None


def pots_now(state: TableState) -> tuple[Pot, ...]:
    """As they would be if the round ended now, main pot first."""
    return pots.form(state.hand.players) if state.hand is not None else ()


def total_in_play(state: TableState) -> int:
    """Everything in the middle: pots and bets."""
    return sum(player.put_in for player in state.hand.players) - state.hand.awarded if state.hand is not None else 0


def escrow(state: TableState) -> int:
    """M6: what the table's account in the ledger holds: all chips, and what the wallet has not booked yet."""
    outgoing = sum(one.amount for one in state.transfers.values() if one.kind in seating.OUTGOING)
    return state.chips + outgoing
