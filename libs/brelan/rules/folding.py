"""``evolve``: what each fact changes. Nothing is decided here, so a log always folds to the same state."""

from collections.abc import Callable
from typing import Any

from brelan.events import table as t
from brelan.rules import betting
from brelan.rules.games import game_of
from brelan.rules.state import DealerWait, Departed, Hand, HandPlayer, Seat, TableState, Transfer, Turn

RETURN_MS = 3_600_000  # M4: sixty minutes
DEPARTED = 64  # remembered at most
DAY_MS = 86_400_000
WAIT_MS = 5_000  # before the wallet is asked again


def evolve(state: TableState, event: t.TableEvent) -> None:
    """Fold one event, in place."""
    _FOLDS[type(event)](state, event)


def _seat(state: TableState, seat: int) -> Seat:
    found = state.seats[seat - 1]
    if found is None:
        raise ValueError(f"nobody sits in seat {seat}")
    return found


def _player(state: TableState, seat: int) -> HandPlayer:
    assert state.hand is not None
    for player in state.hand.players:
        if player.seat == seat:
            return player
    raise ValueError(f"seat {seat} was not dealt in")


def _hand(state: TableState) -> Hand:
    assert state.hand is not None
    return state.hand


def _asks(state: TableState, transfer: Transfer) -> None:
    state.transfers[transfer.transfer_id] = transfer


# --- the table ---------------------------------------------------------------------------------------------------


def _table_opened(state: TableState, event: t.TableOpened) -> None:
    state.table_id = event.table_id
    state.config = event.config
    state.status = "open"
    state.seats = [None] * event.config.seats


def _table_configured(state: TableState, event: t.TableConfigured) -> None:
    state.next_config = event.config


def _table_paused(state: TableState, _: t.TablePaused) -> None:
    state.status = "paused"
    state.next_hand_ms = None


def _table_goes_on(state: TableState, _: t.TableResumed | t.TableUnfrozen) -> None:
    state.status = "open"
    state.frozen_reason = ""


def _table_closing(state: TableState, _: t.TableClosing) -> None:
    state.status = "closing"
    state.next_hand_ms = None
    state.post_ask = state.post_agreed = ()


def _table_closed(state: TableState, _: t.TableClosed) -> None:
    state.status = "closed"


def _table_frozen(state: TableState, event: t.TableFrozen) -> None:
    assert state.status in ("open", "paused", "closing")
    state.frozen_from = state.status
    state.status = "frozen"
    state.frozen_reason = event.reason


def _outage_ended(state: TableState, event: t.OutageEnded) -> None:
    """Every open wait has its full time again."""
    assert state.config is not None
    turn_ms = event.to_ms + state.config.action_time_ms
    if (turn := state.turn) is not None:
        state.turn = Turn(turn.turn_id, turn.seat, turn_ms, turn.actions, turn.raises_left)
    if state.post_ask:
        state.post_deadline_ms = turn_ms
    if state.next_hand_ms is not None:
        state.next_hand_ms = event.to_ms + state.config.hand_pause_ms
    if (wait := state.dealer_wait) is not None:
        state.dealer_wait = DealerWait(wait.request_id, event.to_ms + WAIT_MS, wait.asked)
    for transfer in state.transfers.values():
        transfer.due_ms = event.to_ms + WAIT_MS


# --- seats and money ---------------------------------------------------------------------------------------------


def _seat_reserved(state: TableState, event: t.SeatReserved) -> None:
    assert state.config is not None
    owes = game_of(state.config).has_blinds
    state.seats[event.seat - 1] = Seat(
        event.seat, event.player_id, event.name, reserved=event.amount, entry=event.entry, owes_big_blind=owes
    )
    state.transfers_made += 1
    due_ms = state.now_ms + WAIT_MS
    _asks(state, Transfer("buy_in", event.transfer_id, event.amount, due_ms, event.player_id, event.seat))


def _seat_released(state: TableState, event: t.SeatReleased) -> None:
    """The transfer stays when the wallet has not answered: what it funds all the same goes back."""
    state.seats[event.seat - 1] = None
    transfer = state.transfers.get(event.transfer_id)
    if transfer is not None:
        transfer.seat = 0


def _player_seated(state: TableState, event: t.PlayerSeated) -> None:
    seat = _seat(state, event.seat)
    seat.stack, seat.reserved = seat.reserved, 0
    del state.transfers[event.transfer_id]
    state.departed = [one for one in state.departed if one.player_id != seat.player_id]


def _top_up_asked(state: TableState, event: t.TopUpAsked) -> None:
    _seat(state, event.seat).top_up_asked = event.amount


def _top_up_requested(state: TableState, event: t.TopUpRequested) -> None:
    seat = _seat(state, event.seat)
    seat.top_up_asked = 0
    state.transfers_made += 1
    due_ms = state.now_ms + WAIT_MS
    _asks(state, Transfer("top_up", event.transfer_id, event.amount, due_ms, seat.player_id, event.seat))


def _top_up_funded(state: TableState, event: t.TopUpFunded) -> None:
    del state.transfers[event.transfer_id]
    _seat(state, event.seat).chips_waiting += event.amount


def _top_up_declined(state: TableState, event: t.TopUpDeclined) -> None:
    del state.transfers[event.transfer_id]


def _chips_added(state: TableState, event: t.ChipsAdded) -> None:
    seat = _seat(state, event.seat)
    seat.chips_waiting -= event.amount
    seat.stack += event.amount


def _preferences_set(state: TableState, event: t.PreferencesSet) -> None:
    seat = _seat(state, event.seat)
    seat.auto_post, seat.auto_muck = event.auto_post, event.auto_muck


def _sit_out_asked(state: TableState, event: t.SitOutAsked) -> None:
    _seat(state, event.seat).sit_out_asked = True


def _sat_out(state: TableState, event: t.SatOut) -> None:
    seat = _seat(state, event.seat)
    seat.sitting_out = True
    seat.sit_out_asked = seat.away = False
    state.post_ask = tuple(one for one in state.post_ask if one != event.seat)
    state.post_agreed = tuple(one for one in state.post_agreed if one != event.seat)


def _came_back(state: TableState, event: t.CameBack) -> None:
    seat = _seat(state, event.seat)
    seat.sitting_out = seat.sit_out_asked = seat.away = False
    seat.entry = event.entry


def _entry_chosen(state: TableState, event: t.EntryChosen) -> None:
    _seat(state, event.seat).entry = event.entry


def _leave_asked(state: TableState, event: t.LeaveAsked) -> None:
    _seat(state, event.seat).leave_asked = True


def _player_left(state: TableState, event: t.PlayerLeft) -> None:
    state.seats[event.seat - 1] = None
    state.post_ask = tuple(one for one in state.post_ask if one != event.seat)
    state.post_agreed = tuple(one for one in state.post_agreed if one != event.seat)
    state.show_offered = tuple(one for one in state.show_offered if one != event.seat)
    for transfer in state.transfers.values():
        if transfer.kind == "top_up" and transfer.seat == event.seat:
            transfer.seat = 0
    if not event.amount:
        return
    state.transfers_made += 1
    _asks(state, Transfer("cash_out", event.transfer_id, event.amount, state.now_ms + WAIT_MS, event.player_id))
    kept = [one for one in state.departed if one.until_ms > state.now_ms and one.player_id != event.player_id]
    state.departed = [*kept[1 - DEPARTED :], Departed(event.player_id, event.amount, state.now_ms + RETURN_MS)]


def _transfer_settled(state: TableState, event: t.TransferSettled) -> None:
    del state.transfers[event.transfer_id]


def _transfer_asked_again(state: TableState, event: t.TransferAskedAgain) -> None:
    transfer = state.transfers[event.transfer_id]
    transfer.due_ms = event.due_ms
    transfer.asked += 1


def _refund_requested(state: TableState, event: t.RefundRequested) -> None:
    state.transfers.pop(event.transfer_id.removeprefix("refund:"), None)
    _asks(state, Transfer("refund", event.transfer_id, event.amount, state.now_ms + WAIT_MS, event.player_id))


# --- the hand ----------------------------------------------------------------------------------------------------


def _next_hand_scheduled(state: TableState, event: t.NextHandScheduled) -> None:
    """Called off or put off: whoever had agreed to post (S2) had agreed to another hand."""
    state.next_hand_ms = event.at_ms or None
    state.post_ask = state.post_agreed = ()


def _post_asked(state: TableState, event: t.PostAsked) -> None:
    state.post_ask = event.seats
    state.post_turn_id = state.turns_opened = event.turn_id
    state.post_deadline_ms = event.deadline_ms
    state.next_hand_ms = None


def _post_agreed(state: TableState, event: t.PostAgreed) -> None:
    state.post_ask = tuple(one for one in state.post_ask if one != event.seat)
    state.post_agreed += (event.seat,)


def _hand_started(state: TableState, event: t.HandStarted) -> None:
    if state.next_config is not None:
        state.config, state.next_config = state.next_config, None
    assert state.config is not None
    game = game_of(state.config)
    game.pass_blinds(state, event)
    players = [HandPlayer(one.seat, one.player_id, one.name, one.stack, one.stack) for one in event.players]
    hand = Hand(event.hand_id, event.number, event.deck_size, players)
    hand.button, hand.small_blind, hand.big_blind = event.button, event.small_blind, event.big_blind
    game.open_first_street(hand, state.config)
    state.hand = hand
    state.hands_played = event.number
    state.next_hand_ms = None
    state.post_ask = state.post_agreed = state.show_offered = ()
    state.show_requests = {}
    state.last_hand_id, state.last_players = event.hand_id, event.players
    state.last_button, state.last_small_blind, state.last_big_blind = event.button, event.small_blind, event.big_blind


def _posted(state: TableState, event: t.Posted) -> None:
    player = _player(state, event.seat)
    player.stack -= event.amount
    player.put_in += event.amount
    if event.kind in ("ante", "dead_small_blind"):  # T3: neither is a bet
        player.dead += event.amount
    else:
        player.bet += event.amount
        player.has_bet = True
    player.all_in = not player.stack


def _cards_requested(state: TableState, event: t.CardsRequested) -> None:
    _hand(state).phase = "dealing"
    state.dealer_wait = DealerWait(event.request_id, event.due_ms)


def _cards_dealt(state: TableState, event: t.CardsDealt) -> None:
    assert state.config is not None
    hand = _hand(state)
    state.dealer_wait = None
    for cards in event.cards:
        player = _player(state, cards.seat)
        player.down += cards.down
        player.up += cards.up
        hand.dealt += cards.down + len(cards.up)
    if event.reshuffled:
        hand.reshuffled, hand.burned = True, 0
    hand.burned += event.burned
    if event.community is not None:
        hand.community = event.community
        hand.dealt += 1
    game_of(state.config).open_street(hand, state.config, event.street)
    hand.phase = "betting"


def _turn_opened(state: TableState, event: t.TurnOpened) -> None:
    hand = _hand(state)
    state.turn = Turn(event.turn_id, event.seat, event.deadline_ms, event.actions, event.raises_left)
    state.turns_opened = event.turn_id
    if hand.phase == "betting" and hand.first_to_act is None:
        hand.first_to_act = event.seat


def _acted(state: TableState, seat: int) -> None:
    state.turn = None
    _hand(state).last_to_act = seat


def _folded(state: TableState, event: t.Folded) -> None:
    _player(state, event.seat).folded = True
    _acted(state, event.seat)


def _checked(state: TableState, event: t.Checked) -> None:
    hand = _hand(state)
    _player(state, event.seat).acted_at = hand.full_level
    _acted(state, event.seat)


def _bet_placed(state: TableState, event: t.BetPlaced) -> None:
    assert state.config is not None
    player, hand = _player(state, event.seat), _hand(state)
    player.stack -= event.pay
    player.put_in += event.pay
    player.bet = event.to
    player.has_bet = True
    player.all_in = not player.stack
    if event.kind == "bring_in":
        hand.bring_in = event.seat
        hand.price = state.config.bring_in
    elif event.kind != "call":
        betting.raise_level(hand, state.config, event)
    player.acted_at = hand.full_level
    _acted(state, event.seat)


def _timed_out(state: TableState, event: t.TimedOut) -> None:
    """T7: away, until he says that he is back."""
    _seat(state, event.seat).away = True
    state.turn = None


def _all_in_by_time(state: TableState, event: t.AllInByTime) -> None:
    player = _player(state, event.seat)
    player.all_in = player.protected = True
    if (day := state.now_ms // DAY_MS) != state.protected_day:
        state.protected_day, state.protected = day, {}
    state.protected[player.player_id] = state.protected.get(player.player_id, 0) + 1
    _acted(state, event.seat)


def _draw_chosen(state: TableState, event: t.DrawChosen) -> None:
    hand = _hand(state)
    _player(state, event.seat).drew = len(event.positions)
    state.turn = None
    if event.request_id:
        state.dealer_wait = DealerWait(event.request_id, event.due_ms)
    else:
        _close_draw(state, hand)


def _cards_drawn(state: TableState, event: t.CardsDrawn) -> None:
    hand = _hand(state)
    state.dealer_wait = None
    if event.reshuffled:
        hand.reshuffled = True
        hand.dealt, hand.discards = hand.dealt - hand.discards, 0
    hand.dealt += event.count
    hand.discards += event.count
    _close_draw(state, hand)


def _close_draw(state: TableState, hand: Hand) -> None:
    assert state.config is not None
    if all(player.folded or player.drew is not None for player in hand.players):
        game_of(state.config).open_street(hand, state.config, "draw")
        hand.phase = "betting"


def _bet_returned(state: TableState, event: t.BetReturned) -> None:
    player = _player(state, event.seat)
    player.stack += event.amount
    player.put_in -= event.amount
    player.bet = max(0, player.bet - event.amount)
    player.dead = min(player.dead, player.put_in)
    player.all_in = player.protected or not player.stack


def _pots_formed(state: TableState, event: t.PotsFormed) -> None:
    assert state.config is not None
    hand = _hand(state)
    hand.pots = event.pots
    hand.first_round_complete = True
    for player in hand.players:
        player.bet = 0
    if game_of(state.config).draws_after(hand):
        hand.phase = "drawing"


def _showdown_requested(state: TableState, event: t.ShowdownRequested) -> None:
    hand = _hand(state)
    hand.phase = "showdown"
    hand.showdown = event.order
    state.dealer_wait = DealerWait(event.request_id, event.due_ms)


def _showdown_resolved(state: TableState, _: t.ShowdownResolved) -> None:
    state.dealer_wait = None


def _hand_shown(state: TableState, event: t.HandShown) -> None:
    seat = event.hand.seat
    if state.hand is not None:
        _player(state, seat).shown = event.hand
    state.show_requests = {name: one for name, one in state.show_requests.items() if one != seat}
    state.show_offered = tuple(one for one in state.show_offered if one != seat)


def _hand_mucked(state: TableState, event: t.HandMucked) -> None:
    if state.hand is not None:
        _player(state, event.seat).mucked = True
    state.show_offered = tuple(one for one in state.show_offered if one != event.seat)


def _pot_awarded(state: TableState, event: t.PotAwarded) -> None:
    hand = _hand(state)
    hand.rake += event.rake
    hand.awarded += event.amount
    for share in event.shares:
        _player(state, share.seat).stack += share.amount


def _hand_ended(state: TableState, event: t.HandEnded) -> None:
    _hand_over(state, event.stacks)
    if event.transfer_id:
        _asks(state, Transfer("rake", event.transfer_id, event.rake, state.now_ms + WAIT_MS))


def _hand_voided(state: TableState, event: t.HandVoided) -> None:
    _hand_over(state, event.stacks)


def _hand_over(state: TableState, stacks: tuple[t.PotShare, ...]) -> None:
    for share in stacks:
        _seat(state, share.seat).stack = share.amount
    state.hand = state.turn = state.dealer_wait = None


def _show_offered(state: TableState, event: t.ShowOffered) -> None:
    state.show_offered = event.seats


def _show_requested(state: TableState, event: t.ShowRequested) -> None:
    state.show_requests[event.request_id] = event.seat


def _dealer_asked_again(state: TableState, event: t.DealerAskedAgain) -> None:
    wait = state.dealer_wait
    assert wait is not None
    state.dealer_wait = DealerWait(wait.request_id, event.due_ms, wait.asked + 1)


_FOLDS: dict[type, Callable[[TableState, Any], None]] = {
    t.TableOpened: _table_opened,
    t.TableConfigured: _table_configured,
    t.TablePaused: _table_paused,
    t.TableResumed: _table_goes_on,
    t.TableClosing: _table_closing,
    t.TableClosed: _table_closed,
    t.TableFrozen: _table_frozen,
    t.TableUnfrozen: _table_goes_on,
    t.OutageEnded: _outage_ended,
    t.SeatReserved: _seat_reserved,
    t.SeatReleased: _seat_released,
    t.PlayerSeated: _player_seated,
    t.TopUpAsked: _top_up_asked,
    t.TopUpRequested: _top_up_requested,
    t.TopUpFunded: _top_up_funded,
    t.TopUpDeclined: _top_up_declined,
    t.ChipsAdded: _chips_added,
    t.PreferencesSet: _preferences_set,
    t.SitOutAsked: _sit_out_asked,
    t.SatOut: _sat_out,
    t.CameBack: _came_back,
    t.EntryChosen: _entry_chosen,
    t.LeaveAsked: _leave_asked,
    t.PlayerLeft: _player_left,
    t.TransferSettled: _transfer_settled,
    t.TransferAskedAgain: _transfer_asked_again,
    t.RefundRequested: _refund_requested,
    t.NextHandScheduled: _next_hand_scheduled,
    t.PostAsked: _post_asked,
    t.PostAgreed: _post_agreed,
    t.HandStarted: _hand_started,
    t.Posted: _posted,
    t.CardsRequested: _cards_requested,
    t.CardsDealt: _cards_dealt,
    t.TurnOpened: _turn_opened,
    t.Folded: _folded,
    t.Checked: _checked,
    t.BetPlaced: _bet_placed,
    t.TimedOut: _timed_out,
    t.AllInByTime: _all_in_by_time,
    t.DrawChosen: _draw_chosen,
    t.CardsDrawn: _cards_drawn,
    t.BetReturned: _bet_returned,
    t.PotsFormed: _pots_formed,
    t.ShowdownRequested: _showdown_requested,
    t.ShowdownResolved: _showdown_resolved,
    t.HandShown: _hand_shown,
    t.HandMucked: _hand_mucked,
    t.PotAwarded: _pot_awarded,
    t.HandEnded: _hand_ended,
    t.HandVoided: _hand_voided,
    t.ShowOffered: _show_offered,
    t.ShowRequested: _show_requested,
    t.DealerAskedAgain: _dealer_asked_again,
}
