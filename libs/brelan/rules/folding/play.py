"""Facts of a hand in play."""

from brelan.events import table as facts
from brelan.rules import betting
from brelan.rules.folding.seats import change_seat
from brelan.rules.folding.tables import call_off
from brelan.rules.game import limit_of, street_index
from brelan.rules.games import game_of
from brelan.rules.state import (
    DAY_MS,
    Before,
    DealerWait,
    Hand,
    HandPlayer,
    Owed,
    TableState,
    Turn,
    config_of,
    epoch_of,
    hand_of,
    player_at,
    seat_at,
)

# --- the deal ----------------------------------------------------------------------------------------------------


def hand_started(state: TableState, event: facts.HandStarted) -> None:
    """A configuration that was changed meanwhile holds from here on."""
    if state.next_config is not None:
        state.config, state.next_config = state.next_config, None
    call_off(state)
    before = _before(state)
    state.hands_played = event.number
    state.show_offered = ()
    state.show_requests = {}
    state.hand = Hand(
        event.hand_id,
        event.number,
        event.deck_size,
        [_dealt_in(state, one) for one in event.players],
        len(event.players),
        event.button,
        event.small_blind,
        event.big_blind,
        wager=config_of(state).lower_limit,
        before=before,
    )
    if game_of(config_of(state)).has_blinds:
        _settle_blinds(state, event)
    state.last_hand_id, state.last_players = event.hand_id, event.players
    state.last_button = event.button
    state.last_small_blind, state.last_big_blind = event.small_blind, event.big_blind


def _dealt_in(state: TableState, one: facts.HandSeat) -> HandPlayer:
    player = HandPlayer(one.seat, one.player_id, one.name, one.stack, one.stack)
    player.hole_key, player.sign_key = one.hole_key, seat_at(state, one.seat).sign_key
    return player


def _before(state: TableState) -> Before:
    owed = tuple(
        Owed(seat.seat, seat.player_id, seat.owes_big_blind, seat.owes_small_blind)
        for seat in state.seats
        if seat is not None and not seat.reserved
    )
    return Before(state.last_players, state.last_button, state.last_small_blind, state.last_big_blind, owed)


def _settle_blinds(state: TableState, event: facts.HandStarted) -> None:
    """D13, D14: who is dealt in owes nothing any more; who sits out owes the blinds that came past him."""
    dealt_in = {player.seat for player in event.players}
    for seat in state.seats:
        if seat is None or seat.reserved:
            continue
        if seat.seat in dealt_in:
            change_seat(state, seat.seat, owes_big_blind=False, owes_small_blind=False)
        elif seat.sitting_out:
            big = seat.owes_big_blind or _came_past(seat.seat, state.last_big_blind, event.big_blind)
            small = seat.owes_small_blind or _came_past(seat.seat, state.last_small_blind, event.small_blind)
            change_seat(state, seat.seat, owes_big_blind=big, owes_small_blind=small)


def _came_past(seat: int, last: int | None, now: int | None) -> bool:
    """Clockwise the seat lies between where the blind was and where it is."""
    if last is None or now is None:
        return False
    return last < seat < now if last <= now else seat > last or seat < now


def posted(state: TableState, event: facts.Posted) -> None:
    """T3: an ante and a dead small blind are no bets. D6: the big blind is the first one, however short."""
    hand = state.hand
    assert hand is not None
    player = player_at(hand, event.seat)
    player.stack -= event.amount
    player.put_in += event.amount
    player.all_in = not player.stack
    if event.kind == "dead_small_blind":
        player.dead += event.amount
    elif event.kind != "ante":
        player.bet += event.amount
        player.has_bet = True
    if event.kind == "big_blind":
        hand.price = hand.full_level = config_of(state).lower_limit
        hand.bets_made = 1


def deck_requested(state: TableState, event: facts.DeckRequested) -> None:
    state.dealer_wait = DealerWait(event.request_id, event.due_ms)


def deck_committed(state: TableState, event: facts.DeckCommitted) -> None:
    hand = hand_of(state)
    hand.phase, hand.committed = "seeding", event
    state.commitments, state.commitments_epoch = event.seq, epoch_of(event.hand_id)
    state.last_commitment = event.hash
    state.dealer_wait = None


def seeds_asked(state: TableState, event: facts.SeedsAsked) -> None:
    hand = hand_of(state)
    hand.seeds_asked, hand.seeds_due_ms = event.seats, event.deadline_ms


def seed_given(state: TableState, event: facts.SeedGiven) -> None:
    hand = hand_of(state)
    seat = change_seat(state, event.seat, seed=event.element, seed_index=seat_at(state, event.seat).seed_index + 1)
    hand.seeds += (facts.SeatSeed(event.seat, seat.seed_index, event.element),)
    hand.seeds_asked = tuple(one for one in hand.seeds_asked if one != event.seat)


def seeds_withheld(state: TableState, event: facts.SeedsWithheld) -> None:
    hand_of(state).seeds_asked = ()
    day = state.now_ms // DAY_MS
    counts = state.withheld if state.withheld_day == day else {}
    for number in event.seats:
        seat = change_seat(state, number, seed=b"", seed_index=0)
        counts = {**counts, seat.player_id: counts.get(seat.player_id, 0) + 1}
    state.withheld, state.withheld_day = counts, day


def cards_requested(state: TableState, event: facts.CardsRequested) -> None:
    hand_of(state).phase = "dealing"
    state.dealer_wait = DealerWait(event.request_id, event.due_ms)


def cards_resealed(state: TableState, event: facts.CardsResealed) -> None:
    """The cards are the same."""


def cards_dealt(state: TableState, event: facts.CardsDealt) -> None:
    hand, config = hand_of(state), config_of(state)
    game = game_of(config)
    for cards in event.cards:
        player = player_at(hand, cards.seat)
        player.down += cards.down
        player.up += cards.up
        hand.dealt += cards.down + len(cards.up)
    if event.reshuffled:  # S10: the burned cards are dealt too
        hand.reshuffled = True
        hand.burned = 0
    hand.burned += event.burned
    if event.community is not None:
        hand.community = event.community
        hand.dealt += 1
    street = street_index(game, event.street)
    if street:
        _open_street(hand, street, limit_of(config, game.streets[street]))
    game.dealt(hand, config, event)
    hand.phase = "betting"
    state.dealer_wait = None


def dealer_asked_again(state: TableState, event: facts.DealerAskedAgain) -> None:
    wait = state.dealer_wait
    assert wait is not None
    state.dealer_wait = DealerWait(wait.request_id, event.due_ms, wait.asked + 1)


# --- the draw ----------------------------------------------------------------------------------------------------


def draw_chosen(state: TableState, event: facts.DrawChosen) -> None:
    hand = state.hand
    assert hand is not None
    player = player_at(hand, event.seat)
    player.drew = len(event.positions)
    state.turn = None
    if event.request_id:
        state.dealer_wait = DealerWait(event.request_id, event.due_ms)
    else:
        _close_draw(state, hand)


def cards_drawn(state: TableState, event: facts.CardsDrawn) -> None:
    """D11: what was thrown before him goes back under the stub when that runs out."""
    hand = state.hand
    assert hand is not None
    state.dealer_wait = None
    if event.reshuffled:
        hand.reshuffled = True
        hand.dealt -= hand.discards
        hand.discards = 0
    hand.dealt += event.count
    hand.discards += event.count
    _close_draw(state, hand)


def _close_draw(state: TableState, hand: Hand) -> None:
    for player in hand.players:
        if player.drew is None and not player.folded:
            return
    config = config_of(state)
    street = hand.street + 1
    _open_street(hand, street, limit_of(config, game_of(config).streets[street]))
    hand.phase = "betting"


# --- betting rounds ----------------------------------------------------------------------------------------------


def _open_street(hand: Hand, street: int, limit: int) -> None:
    """Bets are in the pots since ``PotsFormed``; who bet last is forgotten only now (H1)."""
    hand.street = street
    hand.wager = limit
    hand.open_pair = False
    hand.forced = 0
    hand.last_aggressor = hand.first_to_act = hand.last_to_act = None


def turn_opened(state: TableState, event: facts.TurnOpened) -> None:
    hand = state.hand
    assert hand is not None
    state.turn = Turn(event.turn_id, event.seat, event.deadline_ms, event.actions, event.raises_left)
    state.turns_opened = event.turn_id
    if hand.first_to_act is None and hand.phase == "betting":
        hand.first_to_act = event.seat


def folded(state: TableState, event: facts.Folded) -> None:
    hand = state.hand
    assert hand is not None
    player_at(hand, event.seat).folded = True
    hand.left -= 1
    hand.last_to_act = event.seat
    state.turn = None


def checked(state: TableState, event: facts.Checked) -> None:
    hand = state.hand
    assert hand is not None
    player_at(hand, event.seat).acted_at = hand.full_level
    hand.last_to_act = event.seat
    state.turn = None


def bet_placed(state: TableState, event: facts.BetPlaced) -> None:
    hand = state.hand
    assert hand is not None
    player = player_at(hand, event.seat)
    player.stack -= event.pay
    player.put_in += event.pay
    player.bet = event.to
    player.has_bet = True
    player.all_in = not player.stack
    if event.kind == "bring_in":
        hand.price = hand.forced
    elif event.kind != "call":
        betting.raise_price(hand, config_of(state), event)
    player.acted_at = hand.full_level
    hand.last_to_act = event.seat
    state.turn = None


def timed_out(state: TableState, event: facts.TimedOut) -> None:
    """T7: away, until he says that he is back."""
    change_seat(state, event.seat, away=True)
    state.turn = None


def all_in_by_time(state: TableState, event: facts.AllInByTime) -> None:
    hand = state.hand
    assert hand is not None
    player = player_at(hand, event.seat)
    player.all_in = player.protected = True
    hand.last_to_act = event.seat
    today = state.protected if state.protected_day == event.day else {}
    state.protected = {**today, player.player_id: today.get(player.player_id, 0) + 1}
    state.protected_day = event.day


def bet_returned(state: TableState, event: facts.BetReturned) -> None:
    player = player_at(hand_of(state), event.seat)
    player.stack += event.amount
    player.put_in -= event.amount
    player.bet = max(0, player.bet - event.amount)
    player.all_in = player.protected or not player.stack


def pots_formed(state: TableState, event: facts.PotsFormed) -> None:
    hand = state.hand
    assert hand is not None
    hand.pots = event.pots
    hand.price = hand.full_level = hand.bets_made = 0
    hand.capped = False
    for player in hand.players:
        player.bet = 0
        player.acted_at = -1
    if hand.left > 1:
        hand.first_round_complete = True
        draws = game_of(config_of(state)).streets[hand.street].draws_after
        hand.phase = "drawing" if draws else "dealing"
