"""The course of a hand: from the deck through its streets to the showdown.

``go_on`` takes it as far as it can go without a player or the dealer. M3: a player who has left is folded at his turn;
a bring-in that he owes is posted first, at the draw he stands pat. D11: so does, at once, who is all-in by T2.
"""

from brelan.events import commands, table
from brelan.events.table import Action, Cause
from brelan.rules import betting, dealing, seeds, showdown
from brelan.rules.draft import Draft
from brelan.rules.game import Lineup
from brelan.rules.games import game_of
from brelan.rules.rejections import rejected
from brelan.rules.state import Hand, HandPlayer, Rejected, Seat, Turn, in_hand, index_of, player_at, seat_at

DRAW = (Action("draw"),)

# --- from street to street ---------------------------------------------------------------------------------------


def start(draft: Draft, lineup: Lineup) -> None:
    """Dealt in, posted, and the deck is asked for."""
    state = draft.state
    number = state.hands_played + 1
    hand_id = f"{state.table_id}-{state.epoch}-{number}"
    seats = [seat_at(state, seat) for seat in lineup.seats]
    players = tuple(table.HandSeat(seat.seat, seat.player_id, seat.name, seat.stack, seat.hole_key) for seat in seats)
    deck_size = draft.game.deck_size(len(players))
    blinds = (lineup.button, lineup.small_blind, lineup.big_blind)
    draft.emit(table.HandStarted(hand_id, number, deck_size, players, *blinds))
    for post in lineup.posts:
        amount = min(post.amount, player_at(draft.hand, post.seat).stack)
        if amount:
            draft.emit(table.Posted(post.seat, post.kind, amount))
    seeds.request_deck(draft)


def go_on(draft: Draft) -> bool:
    """One step. False: the hand is over."""
    hand = draft.hand
    if hand.left == 1:
        showdown.pay_uncontested(draft, in_hand(hand)[0])
        return False
    if hand.phase == "betting":
        _next_turn(draft, hand)
    elif hand.phase == "drawing":
        _next_draw(draft, hand)
    elif hand.phase == "seeding":
        return seeds.go_on(draft)
    else:
        _next_street(draft, hand)
    return True


def _next_street(draft: Draft, hand: Hand) -> None:
    if hand.street + 1 < len(draft.game.streets):
        dealing.request_cards(draft, hand.street + 1)
    else:
        showdown.request_comparison(draft)


def _next_turn(draft: Draft, hand: Hand) -> None:
    config, last = draft.config, hand.last_to_act
    player = betting.next_to_act(hand, game_of(config).opener(hand) if last is None else index_of(hand, last) + 1)
    if player is None:
        showdown.collect_bets(draft)
    elif seat_at(draft.state, player.seat).leave_asked:
        _act_for_leaver(draft, player)
    else:
        raises = betting.raises_left(hand, config)
        _open_turn(draft, player, betting.actions(hand, config, player, raises), raises)


def _open_turn(draft: Draft, player: HandPlayer, actions: tuple[Action, ...], raises_left: int | None = None) -> None:
    turn_id = draft.state.turns_opened + 1
    draft.emit(table.TurnOpened(turn_id, player.seat, draft.turn_due_ms, actions, raises_left))


def _next_draw(draft: Draft, hand: Hand) -> None:
    """D10. ``draw_chosen`` and ``cards_drawn`` open the last round when everybody has drawn."""
    player = next(player for player in hand.players if not player.folded and player.drew is None)
    if player.protected:
        dealing.choose_draw(draft, player.seat, (), "time")
    elif seat_at(draft.state, player.seat).leave_asked:
        dealing.choose_draw(draft, player.seat, (), "left")
    else:
        _open_turn(draft, player, DRAW)


# --- decisions ---------------------------------------------------------------------------------------------------


def act(draft: Draft, command: commands.Act, seat: Seat) -> Rejected | None:
    """Accepted exactly when it is listed."""
    turn = draft.state.turn
    if turn is None or turn.turn_id != command.turn_id or turn.seat != seat.seat:
        return _not_open(turn, command.turn_id)
    kind, to = command.kind, command.to
    fitting = [action for action in turn.actions if action.kind == kind and (to is None or to == action.to)]
    if kind == "draw" or not fitting:
        return rejected("illegal_action", _in_words(turn.actions))
    if len(fitting) > 1:
        return rejected("ambiguous_amount", _in_words(tuple(fitting)))
    _do(draft, turn.seat, fitting[0], "player")
    return None


def draw(draft: Draft, command: commands.Draw, seat: Seat) -> Rejected | None:
    turn = draft.state.turn
    if turn is None or turn.turn_id != command.turn_id or turn.seat != seat.seat:
        return _not_open(turn, command.turn_id)
    if turn.actions != DRAW:
        return rejected("illegal_action", _in_words(turn.actions))
    positions = command.positions
    if len(set(positions)) != len(positions) or not set(positions) <= set(range(draft.game.streets[0].down)):
        return rejected("bad_positions")
    dealing.choose_draw(draft, turn.seat, tuple(sorted(positions)), "player")
    return None


def _not_open(turn: Turn | None, turn_id: int) -> Rejected:
    """T8: whichever comes first, the decision or the clock, decides."""
    return rejected("not_your_turn" if turn is not None and turn.turn_id == turn_id else "stale_turn")


def _in_words(actions: tuple[Action, ...]) -> str:
    return ", ".join(f"{action.kind} {action.to}" if action.to else action.kind for action in actions)


def _do(draft: Draft, seat: int, action: Action, cause: Cause) -> None:
    match action.kind:
        case "fold":
            draft.emit(table.Folded(seat, cause))
        case "check":
            draft.emit(table.Checked(seat, cause))
        case "call" | "bet" | "raise" | "complete" | "bring_in":
            draft.emit(table.BetPlaced(seat, action.kind, action.pay, action.to, action.all_in, cause))
        case "draw" | "post" | "decline":
            raise ValueError(f"{action.kind} is not a betting action")


# --- leaving -----------------------------------------------------------------------------------------------------


def leave_turn(draft: Draft, turn: Turn) -> None:
    """M3: he leaves while he is asked."""
    if turn.actions == DRAW:
        dealing.choose_draw(draft, turn.seat, (), "left")
    else:
        _act_for_leaver(draft, player_at(draft.hand, turn.seat))


def _act_for_leaver(draft: Draft, player: HandPlayer) -> None:
    """M3, S5."""
    hand = draft.hand
    if hand.forced and not hand.price:
        bring_in = betting.actions(hand, draft.config, player, None)[0]
        _do(draft, player.seat, bring_in, "left")
    else:
        draft.emit(table.Folded(player.seat, "left"))
