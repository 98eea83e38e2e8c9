"""``evolve``: what each fact changes. Nothing is decided here, so a log always folds to the same state.

``play`` folds the facts of a hand, ``ending`` those of its end, ``seats`` those of seats and money, ``tables`` those of
the table itself. Which function folds which fact is a table, not a ``match``: asking a msgspec class whether something
is of another one takes longer than most folds (a test says that the table is complete).
"""

from collections.abc import Callable
from typing import Any

from brelan.events import table as facts
from brelan.events.envelope import TableCommitted
from brelan.events.table import TableEvent
from brelan.rules.folding import ending, play, seats, tables
from brelan.rules.state import TableState, begin_epoch


def evolve(state: TableState, event: TableEvent) -> None:
    """Fold one event, in place."""
    FOLDS[type(event)](state, event)


def apply_entry(state: TableState, committed: TableCommitted) -> None:
    """Fold one entry of the log, in place."""
    state.now_ms = committed.at_ms
    begin_epoch(state, committed.epoch)
    for event in committed.events:
        evolve(state, event)
    state.version = committed.version


FOLDS: dict[type[TableEvent], Callable[[TableState, Any], None]] = {
    # the table
    facts.TableOpened: tables.table_opened,
    facts.TableConfigured: tables.table_configured,
    facts.TablePaused: tables.table_paused,
    facts.TableResumed: tables.table_resumed,
    facts.TableClosing: tables.table_closing,
    facts.TableClosed: tables.table_closed,
    facts.TableFrozen: tables.table_frozen,
    facts.TableUnfrozen: tables.table_unfrozen,
    facts.OutageEnded: tables.outage_ended,
    # seats and money
    facts.SeatReserved: seats.seat_reserved,
    facts.SeatReleased: seats.seat_released,
    facts.PlayerSeated: seats.player_seated,
    facts.TopUpAsked: seats.top_up_asked,
    facts.TopUpRequested: seats.top_up_requested,
    facts.TopUpFunded: seats.top_up_funded,
    facts.TopUpDeclined: seats.transfer_settled,
    facts.ChipsAdded: seats.chips_added,
    facts.PreferencesSet: seats.preferences_set,
    facts.SeedsBrought: seats.seeds_brought,
    facts.KeyBrought: seats.key_brought,
    facts.SitOutAsked: seats.sit_out_asked,
    facts.SatOut: seats.sat_out,
    facts.CameBack: seats.came_back,
    facts.EntryChosen: seats.entry_chosen,
    facts.LeaveAsked: seats.leave_asked,
    facts.PlayerLeft: seats.player_left,
    facts.TransferSettled: seats.transfer_settled,
    facts.TransferAskedAgain: seats.transfer_asked_again,
    facts.TransferDeclined: seats.transfer_declined,
    facts.RefundRequested: seats.refund_requested,
    # between two hands
    facts.NextHandScheduled: tables.next_hand_scheduled,
    facts.PostAsked: tables.post_asked,
    facts.PostAgreed: tables.post_agreed,
    # the hand
    facts.HandStarted: play.hand_started,
    facts.Posted: play.posted,
    facts.DeckRequested: play.deck_requested,
    facts.DeckCommitted: play.deck_committed,
    facts.SeedsAsked: play.seeds_asked,
    facts.SeedGiven: play.seed_given,
    facts.SeedsWithheld: play.seeds_withheld,
    facts.CardsRequested: play.cards_requested,
    facts.CardsResealed: play.cards_resealed,
    facts.CardsDealt: play.cards_dealt,
    facts.TurnOpened: play.turn_opened,
    facts.Folded: play.folded,
    facts.Checked: play.checked,
    facts.BetPlaced: play.bet_placed,
    facts.TimedOut: play.timed_out,
    facts.AllInByTime: play.all_in_by_time,
    facts.DrawChosen: play.draw_chosen,
    facts.CardsDrawn: play.cards_drawn,
    facts.BetReturned: play.bet_returned,
    facts.PotsFormed: play.pots_formed,
    facts.DealerAskedAgain: play.dealer_asked_again,
    # its end
    facts.ShowdownRequested: ending.showdown_requested,
    facts.ShowdownResolved: ending.showdown_resolved,
    facts.HandShown: ending.hand_shown,
    facts.HandMucked: ending.hand_mucked,
    facts.PotAwarded: ending.pot_awarded,
    facts.HandEnded: ending.hand_ended,
    facts.HandVoided: ending.hand_voided,
    facts.ShowOffered: ending.show_offered,
    facts.ShowRequested: ending.show_requested,
}
