"""A table decides (``decide``), and its facts change it (``evolve``). No clock, no chance, no I/O.

``decide`` takes what a player, an operator, the timer, the dealer or the wallet says, and answers with events and the
state after them, or with a ``Rejected``. It goes on by itself until somebody else has to say something: a player (a
turn, or the question whether he posts), the dealer, or the time.
"""

from typing import assert_never

from brelan.events import commands, money, table
from brelan.events.commands import ClientCommand, InternalCommand, OperatorCommand, PlayerCommand
from brelan.events.envelope import TableCommitted
from brelan.events.money import WalletReply
from brelan.events.table import Action, CardsDealt, CardsDrawn, HandShown, PotShare, ShowdownResolved
from brelan.rules import betting, clock, seating, showdown
from brelan.rules import draw as _draw  # noqa: F401 - registers the game
from brelan.rules import stud as _stud  # noqa: F401 - registers the game
from brelan.rules.configuration import problems
from brelan.rules.draft import WAIT_MS, Draft, clockwise_from, player_at, seat_of
from brelan.rules.folding import evolve
from brelan.rules.games import game_of
from brelan.rules.rejections import rejected
from brelan.rules.state import Decision, HandPlayer, Rejected, Seat, TableState, Turn

DealerAnswer = CardsDealt | CardsDrawn | ShowdownResolved | HandShown
AnyCommand = ClientCommand | InternalCommand | DealerAnswer | WalletReply

DEALER_TRIES = 3  # then the table is frozen

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
    """``state`` stays as it is. Raises ValueError when the dealer's answer does not fit what it was asked."""
    draft = Draft(state, now_ms)
    refusal = _dispatch(draft, command, arrived_at_ms, player_id, name, operator)
    if refusal is not None:
        return refusal
    _go_on(draft)
    return Decision(tuple(draft.events), draft.state)


def apply_entry(state: TableState, committed: TableCommitted) -> None:
    """Fold one entry of the log, in place."""
    state.now_ms = committed.at_ms
    state.epoch = committed.epoch
    for event in committed.events:
        evolve(state, event)
    state.version = committed.version


# --- questions ---------------------------------------------------------------------------------------------------


def legal_actions(state: TableState, seat: int) -> tuple[Action, ...]:
    """All that this seat may do now; ``decide`` accepts nothing else."""
    return state.turn.actions if state.turn is not None and state.turn.seat == seat else ()


def next_due_ms(state: TableState) -> int | None:
    """The earliest time at which something the table waits for has waited long enough."""
    dues = [transfer.due_ms for transfer in state.transfers.values()]
    if state.status not in ("frozen", "closed"):
        if state.turn is not None:
            dues.append(state.turn.deadline_ms)
        if state.post_ask:
            dues.append(state.post_deadline_ms)
        if state.next_hand_ms is not None:
            dues.append(state.next_hand_ms)
        if state.dealer_wait is not None:
            dues.append(state.dealer_wait.due_ms)
    return min(dues, default=None)


def pots_now(state: TableState) -> tuple[table.Pot, ...]:
    return state.hand.pots if state.hand is not None else ()


def total_in_play(state: TableState) -> int:
    """Everything in the middle: pots and bets."""
    return sum(player.put_in for player in state.hand.players) - state.hand.awarded if state.hand is not None else 0


def escrow(state: TableState) -> int:
    """M6: what the table's account in the ledger has to hold: stacks, pots, and what the wallet has not booked yet."""
    total = total_in_play(state)
    behind = {} if state.hand is None else {player.seat: player.stack for player in state.hand.players}
    if state.hand is not None:
        total += state.hand.rake
    for seat in state.seats:
        if seat is not None:
            total += behind.get(seat.seat, seat.stack) + seat.chips_waiting
    return total + sum(one.amount for one in state.transfers.values() if one.kind in seating.OUTGOING)


# --- who says what -----------------------------------------------------------------------------------------------


def _dispatch(
    draft: Draft, command: AnyCommand, arrived_at_ms: int, player_id: str, name: str, operator: bool
) -> Rejected | None:
    match command:
        case commands.ExpireTurn():
            _expire(draft, command.deadline_ms, arrived_at_ms)
        case commands.EndOutage():
            _end_outage(draft, command.from_ms)
        case commands.FreezeTable():
            if draft.state.status not in ("none", "frozen", "closed"):
                draft.emit(table.TableFrozen(command.reason))
        case money.Funded():
            seating.funded(draft, command)
        case money.Declined():
            seating.declined(draft, command)
        case money.Booked():
            seating.booked(draft, command)
        case CardsDealt() | CardsDrawn() | ShowdownResolved():
            _dealer_answered(draft, command)
        case HandShown():
            if command.hand.seat in draft.state.show_requests.values():
                draft.emit(command)
        case (
            commands.OpenTable()
            | commands.ConfigureTable()
            | commands.PauseTable()
            | commands.ResumeTable()
            | commands.CloseTable()
            | commands.UnfreezeTable()
        ):
            return _operator(draft, command, player_id) if operator else rejected("not_operator")
        case _:
            return _player(draft, command, player_id, name)
    return None


def _operator(draft: Draft, command: OperatorCommand, by: str) -> Rejected | None:
    status = draft.state.status
    if isinstance(command, commands.OpenTable):
        return _open_table(draft, command, by)
    if status in ("none", "closed"):
        return rejected("table_closed")
    match command:
        case commands.ConfigureTable():
            return _configure(draft, command, by)
        case commands.PauseTable():
            if status != "open":
                return rejected("not_open")
            draft.emit(table.TablePaused(by))
        case commands.ResumeTable():
            if status != "paused":
                return rejected("not_paused")
            draft.emit(table.TableResumed(by))
        case commands.CloseTable():
            if status in ("closing", "frozen"):
                return rejected("table_closing" if status == "closing" else "table_frozen")
            draft.emit(table.TableClosing(by))
        case commands.UnfreezeTable():
            return _unfreeze(draft, command, by)
        case _:
            assert_never(command)
    return None


def _open_table(draft: Draft, command: commands.OpenTable, by: str) -> Rejected | None:
    if draft.state.status != "none":
        return rejected("table_exists")
    if wrong := problems(command.config):
        return rejected("bad_configuration", " ".join(wrong))
    draft.emit(table.TableOpened(draft.state.table_id, command.config, by))
    return None


def _configure(draft: Draft, command: commands.ConfigureTable, by: str) -> Rejected | None:
    wrong = problems(command.config)
    if (command.config.game, command.config.seats) != (draft.config.game, draft.config.seats):
        wrong.append("Game and number of seats stay as they are: open another table instead.")
    if wrong:
        return rejected("bad_configuration", " ".join(wrong))
    draft.emit(table.TableConfigured(command.config, by))
    return None


def _unfreeze(draft: Draft, command: commands.UnfreezeTable, by: str) -> Rejected | None:
    if draft.state.status != "frozen":
        return rejected("not_frozen")
    before = draft.state.frozen_from
    draft.emit(table.TableUnfrozen(by))
    if before != "open":
        draft.emit(table.TablePaused(by) if before == "paused" else table.TableClosing(by))
    if command.void_hand and draft.state.hand is not None:
        hand = draft.hand
        stacks = tuple(PotShare(player.seat, player.starting_stack) for player in hand.players)
        draft.emit(table.HandVoided(hand.hand_id, f"An operator ({by}) voided the hand.", stacks))
        seating.after_hand(draft)
    if draft.state.dealer_wait is not None:  # what he answered meanwhile was not heard
        draft.emit(table.DealerAskedAgain(draft.state.dealer_wait.request_id, draft.now_ms + WAIT_MS))
    _end_outage(draft, draft.now_ms)
    return None


def _player(draft: Draft, command: PlayerCommand, player_id: str, name: str) -> Rejected | None:
    state = draft.state
    if state.status in ("none", "closed"):
        return rejected("table_closed")
    if state.status == "frozen":
        return rejected("table_frozen")
    seat = seat_of(state, player_id)
    if isinstance(command, commands.SitDown):
        if state.status == "closing":
            return rejected("table_closing")
        return rejected("already_seated") if seat else seating.sit_down(draft, command, player_id, name)
    if seat is None:
        return rejected("not_seated")
    match command:
        case commands.Act():
            return _act(draft, command, seat)
        case commands.Draw():
            return _draw_cards(draft, command, seat)
        case commands.TopUp():
            return seating.top_up(draft, command, seat)
        case commands.SitOut():
            return seating.sit_out(draft, seat)
        case commands.ComeBack():
            return seating.come_back(draft, command, seat)
        case commands.ChooseEntry():
            draft.emit(table.EntryChosen(seat.seat, command.entry))
        case commands.SetPreferences():
            draft.emit(table.PreferencesSet(seat.seat, command.auto_post, command.auto_muck))
        case commands.Leave():
            return _leave(draft, seat)
        case commands.Show() | commands.Muck():
            return _show_or_muck(draft, command, seat)
        case _:
            assert_never(command)
    return None


def _leave(draft: Draft, seat: Seat) -> Rejected | None:
    refusal = seating.leave(draft, seat)
    turn = draft.state.turn
    if refusal is None and turn is not None and turn.seat == seat.seat:
        clock.act_for_leaver(draft)
    return refusal


def _show_or_muck(draft: Draft, command: commands.Show | commands.Muck, seat: Seat) -> Rejected | None:
    """H2, H3."""
    state = draft.state
    if seat.seat not in state.show_offered or seat.seat in state.show_requests.values():
        return rejected("nothing_to_show")
    if isinstance(command, commands.Muck):
        draft.emit(table.HandMucked(seat.seat))
    else:
        request_id = f"{state.last_hand_id}:show:{seat.seat}"
        draft.emit(table.ShowRequested(request_id, state.last_hand_id, seat.seat))
    return None


# --- decisions ---------------------------------------------------------------------------------------------------


def _turn_for(draft: Draft, turn_id: int, seat: Seat) -> Turn | Rejected:
    turn = draft.state.turn
    if turn is None or turn.turn_id != turn_id:
        return rejected("stale_turn")
    return turn if turn.seat == seat.seat else rejected("not_your_turn")


def _act(draft: Draft, command: commands.Act, seat: Seat) -> Rejected | None:
    state = draft.state
    if command.kind in ("post", "decline"):
        return _answer_post(draft, command, seat)
    turn = _turn_for(draft, command.turn_id, seat)
    if isinstance(turn, Rejected):
        return turn
    of_kind = [action for action in turn.actions if action.kind == command.kind and action.kind != "draw"]
    found = [action for action in of_kind if command.to is None or action.to == command.to]
    if not found:
        return rejected("illegal_action", _listed(turn.actions))
    if len(found) > 1:
        return rejected("ambiguous_amount", _listed(tuple(found)))
    clock.act(draft, seat.seat, found[0], "player")
    assert state.turn is None
    return None


def _listed(actions: tuple[Action, ...]) -> str:
    return ", ".join(f"{action.kind} {action.to}" if action.to else action.kind for action in actions)


def _answer_post(draft: Draft, command: commands.Act, seat: Seat) -> Rejected | None:
    """S2."""
    state = draft.state
    if not state.post_ask or command.turn_id != state.post_turn_id:
        return rejected("stale_turn")
    if seat.seat not in state.post_ask:
        return rejected("not_your_turn")
    if command.kind == "post":
        draft.emit(table.PostAgreed(seat.seat))
    else:
        draft.emit(table.SatOut(seat.seat, "declined_to_post"))
    return None


def _draw_cards(draft: Draft, command: commands.Draw, seat: Seat) -> Rejected | None:
    """D10."""
    turn = _turn_for(draft, command.turn_id, seat)
    if isinstance(turn, Rejected):
        return turn
    if turn.actions[0].kind != "draw":
        return rejected("illegal_action", _listed(turn.actions))
    positions = command.positions
    if len(set(positions)) != len(positions) or any(not 0 <= position <= 4 for position in positions):
        return rejected("bad_positions")
    clock.draw(draft, seat.seat, tuple(positions), "player")
    return None


# --- time --------------------------------------------------------------------------------------------------------


def _expire(draft: Draft, deadline_ms: int, arrived_at_ms: int) -> None:
    """T8: applied only to what is due at that time or before, and never before that time has come."""
    if arrived_at_ms < deadline_ms:
        return
    state = draft.state
    for transfer in list(state.transfers.values()):
        if transfer.due_ms <= deadline_ms:
            seating.ask_again(draft, transfer)
    if state.status in ("none", "frozen", "closed"):
        return
    if state.dealer_wait is not None and state.dealer_wait.due_ms <= deadline_ms:
        _ask_dealer_again(draft)
    elif state.turn is not None and state.turn.deadline_ms <= deadline_ms:
        clock.run_out(draft)
    elif state.post_ask and state.post_deadline_ms <= deadline_ms:
        for seat in state.post_ask:
            draft.emit(table.SatOut(seat, "timed_out"))
        _start_hand(draft)
    elif state.next_hand_ms is not None and state.next_hand_ms <= deadline_ms:
        _start_hand(draft)


def _ask_dealer_again(draft: Draft) -> None:
    wait = draft.state.dealer_wait
    assert wait is not None
    if wait.asked >= DEALER_TRIES:
        draft.emit(table.TableFrozen(f"The dealer does not answer {wait.request_id}."))
    else:
        draft.emit(table.DealerAskedAgain(wait.request_id, draft.now_ms + WAIT_MS))


def _end_outage(draft: Draft, from_ms: int) -> None:
    state = draft.state
    waits = state.turn or state.post_ask or state.next_hand_ms is not None or state.dealer_wait or state.transfers
    if waits and state.status != "none":
        draft.emit(table.OutageEnded(from_ms, draft.now_ms))


# --- the dealer's answers ----------------------------------------------------------------------------------------


def _dealer_answered(draft: Draft, answer: CardsDealt | CardsDrawn | ShowdownResolved) -> None:
    state = draft.state
    if state.status == "frozen" or state.dealer_wait is None or state.dealer_wait.request_id != answer.request_id:
        return  # asked twice, answered twice
    match answer:
        case CardsDealt():
            _check_deal(draft, answer)
            draft.emit(answer)
        case CardsDrawn():
            if player_at(draft.hand, answer.seat).drew != answer.count:
                raise ValueError("the dealer gave another number of cards than were thrown")
            draft.emit(answer)
        case ShowdownResolved():
            showdown.resolve(draft, answer)
            seating.after_hand(draft)
        case _:
            assert_never(answer)


def _check_deal(draft: Draft, dealt: CardsDealt) -> None:
    """The right street, for the right players, the right number of cards."""
    hand, game = draft.hand, game_of(draft.config)
    waiting = next(street for street in game.streets if dealt.request_id.endswith(f":{street.name}"))
    seats = [player.seat for player in betting.in_hand(hand)]
    if dealt.street != waiting.name or [cards.seat for cards in dealt.cards] != seats:
        raise ValueError("the dealer dealt another street, or to other players, than it was asked to")
    down = 0 if dealt.community is not None else waiting.down
    if any((cards.down, len(cards.up)) != (down, waiting.up) for cards in dealt.cards):
        raise ValueError("the dealer dealt another number of cards than it was asked to")


# --- going on ----------------------------------------------------------------------------------------------------


def _go_on(draft: Draft) -> None:
    """Until somebody else has to say something."""
    state = draft.state
    while state.status in ("open", "paused", "closing"):
        if state.hand is None:
            if not _between_hands(draft):
                return
        elif state.turn is not None or state.dealer_wait is not None:
            return
        else:
            _play_on(draft)


def _between_hands(draft: Draft) -> bool:
    """Whether a hand has begun."""
    state = draft.state
    if state.status == "closing":
        seating.close(draft)
        return False
    if state.status == "paused" or len(seating.ready(draft)) < 2:
        if state.next_hand_ms is not None or state.post_ask or state.post_agreed:
            draft.emit(table.NextHandScheduled(0))
        return False
    if state.post_ask or state.next_hand_ms is not None:
        return False
    if state.post_agreed or draft.config.hand_pause_ms == 0 or state.hands_played == 0:
        return _start_hand(draft)
    draft.emit(table.NextHandScheduled(draft.now_ms + draft.config.hand_pause_ms))
    return False


def _start_hand(draft: Draft) -> bool:
    """Ask who does not post by himself (S2), then begin."""
    state = draft.state
    config = state.next_config or draft.config
    game = game_of(config)
    line_up = game.line_up(state, config, seating.ready(draft)) if state.status == "open" else None
    if line_up is None:
        return False
    asked = tuple(sorted({post.seat for post in line_up.posts if _has_to_be_asked(draft, post.seat)}))
    if asked:
        draft.emit(table.PostAsked(state.turns_opened + 1, asked, draft.now_ms + config.action_time_ms))
        return False
    number = state.hands_played + 1
    hand_id = f"{state.table_id}-{state.epoch}-{number}"
    players = tuple(_hand_seat(draft, seat) for seat in line_up.seats)
    draft.emit(
        table.HandStarted(
            hand_id,
            number,
            game.deck_size(len(players)),
            players,
            line_up.button,
            line_up.small_blind,
            line_up.big_blind,
        )
    )
    for post in line_up.posts:
        amount = min(post.amount, player_at(draft.hand, post.seat).stack)
        if amount:
            draft.emit(table.Posted(post.seat, post.kind, amount))
    _request_cards(draft, game.streets[0].name)
    return True


def _has_to_be_asked(draft: Draft, seat: int) -> bool:
    owner = draft.state.seats[seat - 1]
    assert owner is not None
    return not owner.auto_post and seat not in draft.state.post_agreed


def _hand_seat(draft: Draft, seat: int) -> table.HandSeat:
    owner = draft.state.seats[seat - 1]
    assert owner is not None
    return table.HandSeat(seat, owner.player_id, owner.name, owner.stack)


def _request_cards(draft: Draft, street: str) -> None:
    hand = draft.hand
    seats = tuple(player.seat for player in betting.in_hand(hand))
    request_id = f"{hand.hand_id}:{street}"
    draft.emit(table.CardsRequested(request_id, hand.hand_id, street, seats, draft.now_ms + WAIT_MS))


def _play_on(draft: Draft) -> None:
    hand, config = draft.hand, draft.config
    left = betting.in_hand(hand)
    if len(left) == 1:
        showdown.uncontested(draft, left[0])
        seating.after_hand(draft)
    elif hand.phase == "drawing":
        _next_draw(draft)
    elif (forced := game_of(config).forced(hand, config)) is not None:
        clock.open_turn(draft, *forced, betting.raises_left(hand, config))
    elif (player := betting.next_to_decide(hand, _in_turn(draft))) is not None:
        clock.open_turn(draft, player, betting.actions(hand, config, player), betting.raises_left(hand, config))
    else:
        _end_round(draft)


def _in_turn(draft: Draft) -> list[HandPlayer]:
    hand = draft.hand
    if hand.last_to_act is None:
        return clockwise_from(hand, game_of(draft.config).first_to_act(hand).seat)
    around = clockwise_from(hand, hand.last_to_act)
    return [*around[1:], around[0]]


def _end_round(draft: Draft) -> None:
    hand, game = draft.hand, game_of(draft.config)
    showdown.collect(draft)
    if hand.phase == "drawing":
        return
    if hand.street + 1 < len(game.streets):
        _request_cards(draft, game.streets[hand.street + 1].name)
    else:
        showdown.request(draft)


def _next_draw(draft: Draft) -> None:
    """D10, D11: who is all-in by T2 stands pat at once."""
    for player in game_of(draft.config).from_the_left(draft.hand):
        if not player.folded and player.drew is None:
            if player.protected:
                clock.draw(draft, player.seat, (), "time")
            else:
                clock.open_turn(draft, player, (Action("draw"),))
            return
