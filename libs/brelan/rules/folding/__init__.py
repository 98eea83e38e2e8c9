"""``evolve``: what each fact changes. Nothing is decided here, so a log always folds to the same state.

``play`` folds the facts of a hand, ``seats`` those of seats and money, ``tables`` those of the table itself. The most
frequent ones are asked for first.
"""

from typing import assert_never

from brelan.events import table as facts
from brelan.events.envelope import TableCommitted
from brelan.events.table import TableEvent
from brelan.rules.folding import ending, play, seats, tables
from brelan.rules.state import TableState, begin_epoch, seat_at

RarePlayFact = facts.TimedOut | facts.AllInByTime | facts.DealerAskedAgain


def evolve(state: TableState, event: TableEvent) -> None:
    """Fold one event, in place."""
    match event:
        case facts.TurnOpened():
            play.turn_opened(state, event)
        case facts.BetPlaced():
            play.bet_placed(state, event)
        case facts.Folded():
            play.folded(state, event)
        case facts.Checked():
            play.checked(state, event)
        case facts.CardsRequested():
            play.cards_requested(state, event)
        case facts.CardsDealt():
            play.cards_dealt(state, event)
        case facts.PotsFormed():
            play.pots_formed(state, event)
        case facts.Posted():
            play.posted(state, event)
        case facts.DrawChosen():
            play.draw_chosen(state, event)
        case facts.CardsDrawn():
            play.cards_drawn(state, event)
        case facts.BetReturned():
            play.bet_returned(state, event)
        case facts.HandStarted():
            play.hand_started(state, event)
        case _:
            _evolve_rare(state, event)


def apply_entry(state: TableState, committed: TableCommitted) -> None:
    """Fold one entry of the log, in place."""
    state.now_ms = committed.at_ms
    begin_epoch(state, committed.epoch)
    for event in committed.events:
        evolve(state, event)
    state.version = committed.version


def _evolve_rare(state: TableState, event: RarePlayFact | ending.Fact | seats.Fact | tables.Fact) -> None:
    match event:
        case facts.TimedOut():
            play.timed_out(state, event)
        case facts.AllInByTime():
            play.all_in_by_time(state, event)
        case facts.DealerAskedAgain():
            play.dealer_asked_again(state, event)
        case _:
            _evolve_end(state, event)


def _evolve_end(state: TableState, event: ending.Fact | seats.Fact | tables.Fact) -> None:
    match event:
        case facts.ShowdownRequested():
            ending.showdown_requested(state, event)
        case facts.ShowdownResolved():
            state.dealer_wait = None
        case facts.HandShown():
            ending.hand_shown(state, event)
        case facts.HandMucked():
            ending.hand_mucked(state, event)
        case facts.PotAwarded():
            ending.pot_awarded(state, event)
        case facts.HandEnded():
            ending.hand_ended(state, event)
        case facts.HandVoided():
            ending.hand_over(state, event.stacks)
        case facts.ShowOffered():
            state.show_offered = event.seats
        case facts.ShowRequested():
            state.show_requests[event.request_id] = event.seat
        case facts.NextHandScheduled():
            tables.next_hand_scheduled(state, event)
        case facts.PostAsked():
            tables.post_asked(state, event)
        case facts.PostAgreed():
            tables.post_agreed(state, event)
        case _:
            _evolve_seat(state, event)


def _evolve_seat(state: TableState, event: seats.Fact | tables.StatusFact) -> None:
    match event:
        case facts.SeatReserved():
            seats.seat_reserved(state, event)
        case facts.SeatReleased():
            seats.seat_released(state, event)
        case facts.PlayerSeated():
            seats.player_seated(state, event)
        case facts.PreferencesSet():
            seats.preferences_set(state, event)
        case facts.SitOutAsked():
            seat_at(state, event.seat).sit_out_asked = True
        case facts.SatOut():
            seats.sat_out(state, event)
        case facts.CameBack():
            seats.came_back(state, event)
        case facts.EntryChosen():
            seat_at(state, event.seat).entry = event.entry
        case facts.LeaveAsked():
            seat_at(state, event.seat).leave_asked = True
        case facts.PlayerLeft():
            seats.player_left(state, event)
        case _:
            _evolve_money(state, event)


def _evolve_money(state: TableState, event: seats.MoneyFact | tables.StatusFact) -> None:
    match event:
        case facts.TopUpAsked():
            seat_at(state, event.seat).top_up_asked = event.amount
        case facts.TopUpRequested():
            seats.top_up_requested(state, event)
        case facts.TopUpFunded():
            seats.top_up_funded(state, event)
        case facts.TopUpDeclined() | facts.TransferSettled():
            seats.forget_transfer(state, event.transfer_id)
        case facts.ChipsAdded():
            seats.chips_added(state, event)
        case facts.TransferAskedAgain():
            seats.transfer_asked_again(state, event)
        case facts.RefundRequested():
            seats.refund_requested(state, event)
        case _:
            _evolve_status(state, event)


def _evolve_status(state: TableState, event: tables.StatusFact) -> None:
    match event:
        case facts.TableOpened():
            tables.table_opened(state, event)
        case facts.TableConfigured():
            state.next_config = event.config
        case facts.TablePaused():
            state.status = "paused"
        case facts.TableResumed():
            state.status = "open"
        case facts.TableClosing():
            tables.call_off(state)
            state.status = "closing"
        case facts.TableClosed():
            state.status = "closed"
        case facts.TableFrozen():
            tables.table_frozen(state, event)
        case facts.TableUnfrozen():
            tables.table_unfrozen(state)
        case facts.OutageEnded():
            tables.outage_ended(state, event)
        case _:
            assert_never(event)
