"""What a table knows. Plain data: it is changed by ``evolve`` alone, and is itself the snapshot.

Two layers: the table with its seats (between hands), and the ``Hand`` in play. Seats are numbered from 1, clockwise.
During a hand a player's live chips are the hand's; his seat keeps the stack he began it with until the hand is over.
"""

from typing import Literal

import msgspec

from brelan.events.config import TableConfig
from brelan.events.table import Action, DeckCommitted, Entry, HandSeat, Pot, SeatSeed, ShownHand, TableEvent

NEVER = -1  # a time
DAY_MS = 86_400_000
Phase = Literal["posting", "seeding", "dealing", "betting", "drawing", "showdown"]
Status = Literal["none", "open", "paused", "closing", "closed", "frozen"]


class Rejected(msgspec.Struct, frozen=True, gc=False):
    """An answer, not an exception. ``code`` is one of ``brelan.rules.rejections``; ``message`` a sentence."""

    code: str
    message: str


class Transfer(msgspec.Struct, gc=False):
    """Asked of the wallet and not answered yet."""

    kind: Literal["buy_in", "top_up", "cash_out", "rake", "refund"]
    transfer_id: str
    amount: int
    due_ms: int  # when it is asked again; NEVER: it was declined, an operator has to look
    player_id: str = ""
    seat: int = 0
    asked: int = 1  # how often
    declined: int = 0  # how often what leaves the table was not taken


class Seat(msgspec.Struct, gc=False):
    seat: int
    player_id: str
    name: str
    stack: int = 0
    reserved: int = 0  # buy-in asked for; he is not seated yet
    chips_waiting: int = 0  # funded top-ups, added when the hand he is in is over (M2)
    top_up_asked: int = 0  # to be asked of the wallet when the hand he is in is over (M2)
    entry: Entry = "wait"  # D13, D14
    owes_big_blind: bool = False  # draw: new, or missed it
    owes_small_blind: bool = False  # draw: missed it (dead)
    sitting_out: bool = False
    sit_out_asked: bool = False
    away: bool = False  # T7: timed out, sat out at the end of the hand
    leave_asked: bool = False
    auto_post: bool = True
    auto_muck: bool = True
    seed: bytes = b""  # the last element he gave of his chain, at first the tip; empty: he has none
    seed_index: int = 0  # its place in the chain
    seed_epoch: int = 0  # of another one nothing is asked: part of it may be lost
    hole_key: bytes = b""  # his own, from the next hand on; empty: the gateways'
    sign_key: bytes = b""


class Departed(msgspec.Struct, gc=False):
    """M4: who left with how much, and until when he must bring it back."""

    player_id: str
    amount: int
    until_ms: int


class HandPlayer(msgspec.Struct, gc=False):
    seat: int
    player_id: str
    name: str
    stack: int  # chips left in front of him (the hand's, not the seat's, is the live figure during a hand)
    starting_stack: int
    put_in: int = 0  # all of the hand, antes and dead blinds included, returned bets not
    dead: int = 0  # the dead blind among it: no level of a bet, it goes to the main pot (B9)
    bet: int = 0  # on this street
    folded: bool = False
    all_in: bool = False  # no chips left, or T2
    protected: bool = False  # all-in by T2
    has_bet: bool = False  # T3
    acted_at: int = -1  # B7: the full level when he last acted on this street; -1: not yet
    up: tuple[int, ...] = ()  # stud: face up, in order
    down: int = 0  # how many face down
    drew: int | None = None  # draw: how many, once he did
    shown: ShownHand | None = None
    mucked: bool = False
    hole_key: bytes = b""  # his cards of this hand are sealed to; empty: the gateways'
    sign_key: bytes = b""  # whose signature moves them to another


class Turn(msgspec.Struct, gc=False):
    turn_id: int
    seat: int
    deadline_ms: int
    actions: tuple[Action, ...]
    raises_left: int | None = None


class DealerWait(msgspec.Struct, gc=False):
    """The dealer has been asked and has not answered yet."""

    request_id: str
    due_ms: int
    asked: int = 1


class Owed(msgspec.Struct, frozen=True, gc=False):
    """D13, D14: what a player owed before the hand."""

    seat: int
    player_id: str
    big_blind: bool
    small_blind: bool


class Before(msgspec.Struct, frozen=True, gc=False):
    """What the hand changes when it begins, as it was: a hand that is called off was never dealt."""

    players: tuple[HandSeat, ...]
    button: int | None
    small_blind: int | None
    big_blind: int | None
    owed: tuple[Owed, ...]


class Hand(msgspec.Struct, gc=False):
    hand_id: str
    number: int
    deck_size: int
    players: list[HandPlayer]  # in dealing order
    left: int = 0  # how many of them have not folded
    button: int | None = None
    small_blind: int | None = None
    big_blind: int | None = None
    phase: Phase = "posting"
    street: int = 0  # index into the game's streets
    full_level: int = 0  # B7: F
    price: int = 0  # the highest bet on this street
    bets_made: int = 0  # B3, B4: bets and raises of this street
    capped: bool = False  # B5: the cap was reached while three or more were in
    wager: int = 0  # W: the size of the street's next bet or raise
    open_pair: bool = False  # S9
    bring_in: int | None = None  # the seat that owes or has posted it
    forced: int = 0  # the bring-in in full, on the street that has one
    last_aggressor: int | None = None  # H1, of this street
    hand_aggressor: int | None = None  # H6, of any street
    first_to_act: int | None = None  # H1, of this street
    last_to_act: int | None = None  # on this street
    community: int | None = None
    burned: int = 0
    dealt: int = 0  # cards off the deck, burned ones not counted
    reshuffled: bool = False
    discards: int = 0  # draw: thrown and not yet reshuffled
    first_round_complete: bool = False  # M5: no draw no drop, no fourth street no drop
    pots: tuple[Pot, ...] = ()
    rake: int = 0
    awarded: int = 0  # already paid out of the pots
    showdown: tuple[int, ...] = ()  # H1's order, once it is on
    before: Before | None = None
    committed: DeckCommitted | None = None
    seeds_asked: tuple[int, ...] = ()  # seats that owe their seed
    seeds_due_ms: int = 0  # 0: nobody was asked
    seeds: tuple[SeatSeed, ...] = ()


class TableState(msgspec.Struct, gc=False):
    table_id: str = ""
    config: TableConfig | None = None
    next_config: TableConfig | None = None  # from the next hand on
    status: Status = "none"
    frozen_reason: str = ""
    frozen_from: Status = "open"  # what it goes back to
    epoch: int = 1
    version: int = 0  # entries folded; kept by whoever folds
    now_ms: int = 0  # the latest ``now`` of the table
    seats: list[Seat | None] = []  # index = seat - 1
    chips: int = 0  # M6: all that were ever brought to the seats, less all that left them
    hand: Hand | None = None
    hands_played: int = 0
    turns_opened: int = 0
    transfers_made: int = 0
    turn: Turn | None = None
    post_ask: tuple[int, ...] = ()  # S2: who is asked and has not answered yet ...
    post_turn_id: int = 0
    post_deadline_ms: int = 0  # 0: nobody was asked for the hand to come
    post_agreed: tuple[int, ...] = ()  # ... and who said yes, for the hand to come
    next_hand_ms: int | None = None  # the pause
    dealer_wait: DealerWait | None = None
    show_requests: dict[str, int] = {}  # request id -> seat: wants his hand shown (H2, H3)
    show_offered: tuple[int, ...] = ()
    last_hand_id: str = ""
    last_players: tuple[HandSeat, ...] = ()
    last_button: int | None = None
    last_small_blind: int | None = None
    last_big_blind: int | None = None
    transfers: dict[str, Transfer] = {}
    departed: list[Departed] = []
    protected_day: int = 0  # T7: the day (ms // 86,400,000) ...
    protected: dict[str, int] = {}  # ... and how many protected all-ins each player had on it, seated still or not
    withheld_day: int = 0  # the day (ms // 86,400,000) ...
    withheld: dict[str, int] = {}  # ... and how many seeds each player kept back on it, seated still or not
    commitments: int = 0  # to decks, in ``commitments_epoch``
    commitments_epoch: int = 0
    last_commitment: bytes = bytes(32)  # its hash
    former_epochs: dict[str, int] = {}  # what their transfer ids begin with: how many had been made when it was over


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What a command led to, and the state after it. No events: accepted, and nothing changed."""

    events: tuple[TableEvent, ...]
    state: TableState


def initial_state() -> TableState:
    return TableState()


_copy = msgspec.Struct.__copy__  # type: ignore[attr-defined]  # what ``copy.copy`` comes to after a while


def copy_of(state: TableState) -> TableState:
    """A copy that ``evolve`` may change. Every decision begins with it, so it is no deeper than it has to be.

    Only the table, the hand and the hand's players are changed in place; whatever else changes is replaced.
    """
    copied: TableState = _copy(state)
    if state.hand is not None:
        hand: Hand = _copy(state.hand)
        hand.players = [_copy(player) for player in hand.players]
        copied.hand = hand
    return copied


TURNS_LOST = 1_000  # more than a lost tail ever opens at one table


def begin_epoch(state: TableState, epoch: int) -> None:
    """Something of the log may be lost. Transfers made after this point of the former epoch are not known any more,
    and no turn opened from here on has the number of one that was opened there."""
    if epoch == state.epoch:
        return
    known = max(state.former_epochs.values(), default=0)
    if state.transfers_made > known:
        state.former_epochs = {**state.former_epochs, f"{state.table_id}:{state.epoch}": state.transfers_made}
    if state.turns_opened:
        state.turns_opened += TURNS_LOST
    state.epoch = epoch


def epoch_of(hand_id: str) -> int:
    """In which epoch it began: "s07-k3f9x2-1-93" -> 1."""
    return int(hand_id.rsplit("-", 2)[1])


# --- looking things up -------------------------------------------------------------------------------------------


def config_of(state: TableState) -> TableConfig:
    assert state.config is not None, "the table was never opened"
    return state.config


def hand_of(state: TableState) -> Hand:
    assert state.hand is not None, "no hand is in play"
    return state.hand


def seat_at(state: TableState, number: int) -> Seat:
    seat = state.seats[number - 1]
    assert seat is not None, f"nobody has seat {number}"
    return seat


def seat_of(state: TableState, player_id: str) -> Seat | None:
    """Where he sits, or has a seat reserved."""
    for seat in state.seats:
        if seat is not None and seat.player_id == player_id:
            return seat
    return None


def player_at(hand: Hand, number: int) -> HandPlayer:
    for player in hand.players:
        if player.seat == number:
            return player
    raise ValueError(f"seat {number} was not dealt in")


def is_dealt_in(state: TableState, number: int) -> bool:
    return state.hand is not None and any(player.seat == number for player in state.hand.players)


def in_hand(hand: Hand) -> list[HandPlayer]:
    """Those who have not folded, in dealing order."""
    return [player for player in hand.players if not player.folded]


def can_act(player: HandPlayer) -> bool:
    return not (player.folded or player.all_in)


def can_play(seat: Seat) -> bool:
    """Present and playing: dealt in, if his blinds allow it (D13-D15)."""
    return seat.stack > 0 and not (seat.sitting_out or seat.leave_asked or seat.reserved)


def present(state: TableState) -> list[int]:
    """The seats of all who can play, ascending."""
    return [seat.seat for seat in state.seats if seat is not None and can_play(seat)]


def index_of(hand: Hand, number: int) -> int:
    """His place in dealing order."""
    for index, player in enumerate(hand.players):
        if player.seat == number:
            return index
    raise ValueError(f"seat {number} was not dealt in")
