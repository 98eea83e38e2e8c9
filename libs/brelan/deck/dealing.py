"""The deck of one hand as a state machine: a known order, requests in, cards out.

- **D1** 32 cards, 36 when five are dealt in; the table says which.
- **D9** Draw: five cards face down, one at a time.
- **D10, D11** Who draws gets the next cards of the stub. When it has too few, the cards thrown by those who drew before
  him and not yet reshuffled are shuffled under what is left of it: never his own, never those of folded hands.
- **S3** Third street: two down, then one up, one at a time, no burn.
- **S6** One card is burned before 4th, 5th and 6th street and the river; the river comes face down.
- **S10** River: when the stub cannot burn one and serve everybody, stub and burned cards are shuffled together; when
  even they do not serve everybody, one of them is turned up for all.
- **S11** Folded hands never come back into play.

``deal`` answers a request, ``evolve`` folds an event of the dealer's log. Chance comes in as ``Shuffle`` only: for a
new deck, and for a reshuffle, which is given its cards in ascending order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from msgspec.structs import replace

from brelan.deck.comparing import shown_hand, value_of, winners_of
from brelan.deck.events import (
    Answer,
    AnyDeckEvent,
    DeckPrepared,
    DeckPutAway,
    DeckSeat,
    DeckShuffled,
    HandDrawn,
    HandFinished,
    HandsCompared,
    HandTurnedUp,
    KeyChanged,
    Reshuffled,
    StreetDealt,
)
from brelan.deck.secret import Secret
from brelan.events.dealing import HoleCards, SeatRecord
from brelan.events.table import (
    CardsDealt,
    CardsDrawn,
    CardsRequested,
    DeckCommitted,
    DrawChosen,
    HandShown,
    HandStarted,
    SeatCards,
    SeatSeed,
    ShowdownRequested,
    ShowdownResolved,
    ShownHand,
    ShowRequested,
)
from brelan.rules.cards import deck
from brelan.rules.stud import river_plan

Request = CardsRequested | DrawChosen | ShowdownRequested | ShowRequested
Shuffle = Callable[[Sequence[int]], tuple[int, ...]]
RootOf = Callable[[Sequence[int]], bytes]

UP, DOWN = True, False
STUD_STREETS = {
    "third": (DOWN, DOWN, UP),  # one round after the other, a card to each player
    "fourth": (UP,),
    "fifth": (UP,),
    "sixth": (UP,),
    "river": (DOWN,),
}
DRAW_STREETS = {"deal": (DOWN,) * 5}
_ROUNDS = STUD_STREETS | DRAW_STREETS
_HELD_BEFORE = {"deal": 0, "third": 0, "fourth": 3, "fifth": 4, "sixth": 5, "river": 6}
_NO_BURN = ("deal", "third")


def no_root(_: Sequence[int]) -> bytes:
    return b""


class DealError(ValueError):
    """The request does not fit the hand: the table and the dealer disagree. Names no card."""


class SeatHand(Secret, frozen=True):
    """What a seat holds. ``cards`` as dealt; in draw the kept ones first, then the drawn ones."""

    seat: int
    player_id: str
    cards: tuple[int, ...] = ()
    up: tuple[bool, ...] = ()
    discards: tuple[int, ...] = ()
    hole_key: bytes = b""


class DeckState(Secret, frozen=True):
    """All that the dealer knows of a hand. Never changed: ``evolve`` makes the next one."""

    hand_id: str
    deck_size: int
    hands: Mapping[int, SeatHand]  # by seat, in dealing order
    stub: tuple[int, ...]  # the next card first
    burned: tuple[int, ...] = ()
    discards: tuple[int, ...] = ()  # thrown and not yet reshuffled
    community: int | None = None
    shuffles: int = 1
    answers: Mapping[str, Answer] = {}  # by request id: asked again, answered the same
    betting_over: bool = False


class Dealing(Secret, frozen=True):
    """What a request led to. No events: it had been asked before."""

    state: DeckState
    events: tuple[AnyDeckEvent, ...]
    answer: Answer


# --- asked -------------------------------------------------------------------------------------------------------


def shuffled(
    hand_id: str, deck_size: int, seats: tuple[DeckSeat, ...], shuffle: Shuffle, seeds: tuple[SeatSeed, ...] = ()
) -> DeckShuffled:
    """D1: a new deck for a hand that begins. The chance of the whole hand is in here, but for reshuffles."""
    cards = deck(deck_size)
    order = shuffle(cards)
    if len(order) != len(cards) or set(order) != set(cards):
        raise DealError(f"a shuffled deck of {deck_size} cards has other cards than the deck")
    return DeckShuffled(hand_id, deck_size, seats, order, seeds)


def seats_of(started: HandStarted) -> tuple[DeckSeat, ...]:
    return tuple(DeckSeat(player.seat, player.player_id, player.hole_key) for player in started.players)


def deal(state: DeckState, request: Request, shuffle: Shuffle, root_of: RootOf = no_root) -> Dealing:
    """Answer a request of the table; the same one again gets the same answer. ``root_of``: of cards just reshuffled, in
    their new order. Raises DealError.
    """
    answered = state.answers.get(request.request_id)
    if answered is not None:
        return Dealing(state, (), answered)
    events = _events(state, request, shuffle, root_of)
    for event in events:
        state = _next(state, event)
    return Dealing(state, events, state.answers[request.request_id])


def stacked(*top: int) -> Shuffle:
    """For rules and tests: these cards lie on top in this order, the others below them in ascending order."""
    return lambda cards: (*top, *sorted(set(cards) - set(top))) if set(top) <= set(cards) else tuple(cards)


def _events(state: DeckState, request: Request, shuffle: Shuffle, root_of: RootOf) -> tuple[AnyDeckEvent, ...]:
    match request:
        case CardsRequested():
            return _deal_street(state, request, shuffle, root_of)
        case DrawChosen():
            return _draw(state, request, shuffle, root_of)
        case ShowdownRequested():
            return (_compare(state, request),)
        case ShowRequested():
            return (_turn_up(state, request),)
        case _:
            assert_never(request)


# --- streets -----------------------------------------------------------------------------------------------------


def _deal_street(
    state: DeckState, request: CardsRequested, shuffle: Shuffle, root_of: RootOf
) -> tuple[AnyDeckEvent, ...]:
    _check_street(state, request)
    seats = request.seats
    if request.street == "river":
        plan = river_plan(len(state.stub), len(state.burned), len(seats))
        if plan != "normal":
            return _deal_short_river(state, request, shuffle, root_of, community=plan == "community")
    burned = 0 if request.street in _NO_BURN else 1
    return (StreetDealt(_dealt(request, state.stub[burned:], burned)),)


def _deal_short_river(
    state: DeckState, request: CardsRequested, shuffle: Shuffle, root_of: RootOf, *, community: bool
) -> tuple[AnyDeckEvent, ...]:
    """S10: the burned cards are counted in, and there is no burn."""
    stub = shuffle(sorted(state.stub + state.burned))
    root = root_of(stub)
    if not community:
        answer = replace(_dealt(request, stub, 0), reshuffled=True, root=root)
    else:
        nothing = tuple(SeatCards(seat, 0) for seat in request.seats)
        answer = CardsDealt(
            request.request_id,
            request.hand_id,
            request.street,
            nothing,
            reshuffled=True,
            community=stub[0],
            root=root,
        )
    return Reshuffled(stub), StreetDealt(answer)


def _dealt(request: CardsRequested, stub: tuple[int, ...], burned: int) -> CardsDealt:
    """One card at a time from the top of the stub, round after round."""
    rounds, seats = _ROUNDS[request.street], request.seats
    if len(stub) < len(rounds) * len(seats):
        raise DealError(f"{len(stub)} cards do not serve {len(seats)} players on {request.street}")
    cards = []
    for place, seat in enumerate(seats):
        own = stub[place :: len(seats)][: len(rounds)]
        up = tuple(card for card, is_up in zip(own, rounds, strict=True) if is_up)
        cards.append(SeatCards(seat, len(rounds) - len(up), up))
    return CardsDealt(request.request_id, request.hand_id, request.street, tuple(cards), burned)


def _check_street(state: DeckState, request: CardsRequested) -> None:
    _check_hand(state, request.hand_id)
    streets = STUD_STREETS if state.deck_size == 52 else DRAW_STREETS
    if request.street not in streets:
        raise DealError(f"there is no street {request.street!r} with {state.deck_size} cards")
    _check_seats(state, request.seats)
    for seat in request.seats:
        if (held := len(state.hands[seat].cards)) != _HELD_BEFORE[request.street]:
            raise DealError(f"seat {seat} holds {held} cards before {request.street}")
    if state.community is not None:
        raise DealError("no street follows a community card")


def _check_hand(state: DeckState, hand_id: str) -> None:
    if state.hand_id != hand_id:
        raise DealError(f"the hand dealt is {state.hand_id}, not {hand_id}")


def _check_seats(state: DeckState, seats: Sequence[int]) -> None:
    if not seats or len(set(seats)) != len(seats) or not set(seats) <= set(state.hands):
        raise DealError(f"seats {seats} are not players of the hand, each once")


# --- the draw ----------------------------------------------------------------------------------------------------


def _draw(state: DeckState, request: DrawChosen, shuffle: Shuffle, root_of: RootOf) -> tuple[AnyDeckEvent, ...]:
    positions = tuple(sorted(request.positions))
    _check_draw(state, request.seat, positions)
    reshuffled = len(state.stub) < len(positions)
    back = shuffle(sorted(state.discards)) if reshuffled else ()
    stub = state.stub + back
    if len(stub) < len(positions):
        raise DealError(f"{len(stub)} cards do not serve a draw of {len(positions)}")
    root = root_of(back) if reshuffled else b""
    answer = CardsDrawn(request.request_id, state.hand_id, request.seat, len(positions), reshuffled, root)
    drawn = HandDrawn(answer, positions)
    return (Reshuffled(stub), drawn) if reshuffled else (drawn,)


def _check_draw(state: DeckState, seat: int, positions: tuple[int, ...]) -> None:
    _check_seats(state, (seat,))
    hand = state.hands[seat]
    if state.deck_size == 52 or len(hand.cards) != 5:
        raise DealError(f"seat {seat} holds {len(hand.cards)} cards of {state.deck_size}: nobody draws to that")
    if hand.discards:
        raise DealError(f"seat {seat} has drawn before")
    if not positions or len(set(positions)) != len(positions) or not set(positions) <= set(range(5)):
        raise DealError("positions are 0 to 4, each once, at least one")


# --- the showdown ------------------------------------------------------------------------------------------------


def _compare(state: DeckState, request: ShowdownRequested) -> HandsCompared:
    _check_hand(state, request.hand_id)
    _check_seats(state, request.order)
    whole = 7 if state.deck_size == 52 else 5
    for seat in request.order:
        if (held := len(_playable(state, seat))) != whole:
            raise DealError(f"seat {seat} has {held} of {whole} cards at the showdown")
    if not {seat for pot in request.pots for seat in pot.seats} <= set(request.order):
        raise DealError("a pot is contested by somebody who is not at the showdown")
    values = {seat: value_of(_playable(state, seat), state.deck_size) for seat in request.order}
    winners = tuple(winners_of(pot, values) for pot in request.pots)
    # A pot that only one of them can win goes back to him: it is nothing he has to show for (B9, H3).
    contested = [won for pot, won in zip(request.pots, winners, strict=True) if len(pot.seats) > 1]
    shown = {request.order[0], *(seat for won in contested for seat in won)}
    hands = tuple(_shown(state, seat) for seat in request.order if seat in shown)
    return HandsCompared(ShowdownResolved(request.request_id, request.hand_id, winners, hands))


def _turn_up(state: DeckState, request: ShowRequested) -> HandTurnedUp:
    _check_hand(state, request.hand_id)
    _check_seats(state, (request.seat,))
    if not state.betting_over:
        raise DealError(f"seat {request.seat} cannot show while the hand is played")
    if not state.hands[request.seat].cards:
        raise DealError(f"seat {request.seat} has no cards to show")
    return HandTurnedUp(request.request_id, HandShown(_shown(state, request.seat)))


def _playable(state: DeckState, seat: int) -> tuple[int, ...]:
    own = state.hands[seat].cards
    return own if state.community is None else (*own, state.community)


def _shown(state: DeckState, seat: int) -> ShownHand:
    return shown_hand(seat, state.hands[seat].cards, state.community, state.deck_size)


# --- folded ------------------------------------------------------------------------------------------------------


def evolve(state: DeckState | None, event: AnyDeckEvent) -> DeckState | None:
    """The state after an event of the dealer's log. None: there is no hand."""
    match event:
        case DeckShuffled():
            hands = {one.seat: SeatHand(one.seat, one.player_id, hole_key=one.hole_key) for one in event.seats}
            return DeckState(event.hand_id, event.deck_size, hands, event.order)
        case DeckPrepared() | DeckPutAway():
            return None
        case KeyChanged() if state is None:  # before the first card: the deck is cut with this key among its seats
            return None
    if state is None:
        raise DealError("a deck's log does not begin with a shuffled deck")
    return _next(state, event)


def _next(state: DeckState, event: AnyDeckEvent) -> DeckState:
    match event:
        case Reshuffled():
            return replace(state, stub=event.stub, burned=(), discards=(), shuffles=state.shuffles + 1)
        case StreetDealt():
            return _street_dealt(state, event.answer)
        case HandDrawn():
            return _hand_drawn(state, event.answer, event.positions)
        case HandsCompared():
            return replace(_answered(state, event.answer.request_id, event.answer), betting_over=True)
        case HandTurnedUp():
            return _answered(state, event.request_id, event.answer)
        case KeyChanged():
            hand = replace(state.hands[event.seat], hole_key=event.hole_key)
            return replace(state, hands={**state.hands, event.seat: hand})
        case HandFinished():
            return replace(state, betting_over=True)
        case DeckPrepared() | DeckShuffled() | DeckPutAway():
            raise DealError("a hand's deck is shuffled once, before anything else")
        case _:
            assert_never(event)


def _answered(state: DeckState, request_id: str, answer: Answer) -> DeckState:
    return replace(state, answers={**state.answers, request_id: answer})


def _street_dealt(state: DeckState, answer: CardsDealt) -> DeckState:
    state = _answered(state, answer.request_id, answer)
    if answer.community is not None:
        return replace(state, stub=state.stub[1:], community=answer.community)
    burned, stub = state.stub[: answer.burned], state.stub[answer.burned :]
    rounds, players = _ROUNDS[answer.street], len(answer.cards)
    hands = dict(state.hands)
    for place, cards in enumerate(answer.cards):
        hand = hands[cards.seat]
        own = stub[place::players][: len(rounds)]
        hands[cards.seat] = replace(hand, cards=hand.cards + own, up=hand.up + rounds)
    return replace(state, hands=hands, stub=stub[len(rounds) * players :], burned=state.burned + burned)


def _hand_drawn(state: DeckState, answer: CardsDrawn, positions: tuple[int, ...]) -> DeckState:
    hand = state.hands[answer.seat]
    kept = tuple(card for place, card in enumerate(hand.cards) if place not in positions)
    thrown = tuple(hand.cards[place] for place in positions)
    drawn, stub = state.stub[: answer.count], state.stub[answer.count :]
    return replace(
        _answered(state, answer.request_id, answer),
        hands={**state.hands, answer.seat: replace(hand, cards=kept + drawn, discards=thrown)},
        stub=stub,
        discards=state.discards + thrown,
    )


# --- handed on ---------------------------------------------------------------------------------------------------


def hole_cards(state: DeckState, seat: int) -> HoleCards:
    """For the owner of the seat: all of his own cards so far."""
    hand = state.hands[seat]
    return HoleCards(state.hand_id, seat, hand.player_id, hand.cards, hand.up)


def changed_seats(answer: Answer) -> tuple[int, ...]:
    """Whose own cards are others after this answer."""
    match answer:
        case DeckCommitted():
            return ()
        case CardsDealt():
            return tuple(cards.seat for cards in answer.cards if cards.down or cards.up)
        case CardsDrawn():
            return (answer.seat,)
        case ShowdownResolved() | HandShown():
            return ()
        case _:
            assert_never(answer)


def seat_records(state: DeckState) -> tuple[SeatRecord, ...]:
    """For the history, after the hand: what every seat held. Cards that stayed in the stub are in nobody's record."""
    return tuple(SeatRecord(hand.seat, hand.player_id, hand.cards, hand.discards) for hand in state.hands.values())
