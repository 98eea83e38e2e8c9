"""What a table knows. Plain data: it is changed by ``evolve`` alone, and is itself the snapshot.

Two layers: the table with its seats (between hands), and the ``Hand`` in play. Seats are numbered from 1, clockwise.
"""

from typing import Literal

import msgspec

from brelan.events.config import TableConfig
from brelan.events.table import Action, Entry, HandSeat, Pot, ShownHand, TableEvent

Phase = Literal["posting", "dealing", "betting", "drawing", "showdown"]


class Rejected(msgspec.Struct, frozen=True):
    """An answer, not an exception. ``code`` is one of ``brelan.rules.rejections``; ``message`` a sentence."""

    code: str
    message: str


class Transfer(msgspec.Struct):
    """Asked of the wallet and not answered yet."""

    kind: Literal["buy_in", "top_up", "cash_out", "rake", "refund"]
    transfer_id: str
    amount: int
    due_ms: int  # when it is asked again
    player_id: str = ""
    seat: int = 0
    asked: int = 1  # how often


class Seat(msgspec.Struct):
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


class Departed(msgspec.Struct):
    """M4: who left with how much, and until when he must bring it back."""

    player_id: str
    amount: int
    until_ms: int


class HandPlayer(msgspec.Struct):
    seat: int
    player_id: str
    name: str
    stack: int  # chips left in front of him (the hand's, not the seat's, is the live figure during a hand)
    starting_stack: int
    put_in: int = 0  # all of the hand, antes and dead blinds included, returned bets not
    dead: int = 0  # antes and dead blinds among it (B9)
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


class Turn(msgspec.Struct):
    turn_id: int
    seat: int
    deadline_ms: int
    actions: tuple[Action, ...]
    raises_left: int | None = None


class DealerWait(msgspec.Struct):
    """The dealer has been asked and has not answered yet."""

    request_id: str
    due_ms: int
    asked: int = 1


class Hand(msgspec.Struct):
    hand_id: str
    number: int
    deck_size: int
    players: list[HandPlayer]  # in dealing order
    button: int | None = None
    small_blind: int | None = None
    big_blind: int | None = None
    phase: Phase = "posting"
    street: int = 0  # index into the game's streets
    full_level: int = 0  # B7: F
    price: int = 0  # the highest bet on this street
    bets_made: int = 0  # B3, B4: bets and raises of this street
    capped: bool = False  # B5: the cap was reached while three or more were in the hand
    wager: int = 0  # W: the size of the street's next bet or raise
    open_pair: bool = False  # S9
    bring_in: int | None = None  # the seat that owes or has posted it
    last_aggressor: int | None = None  # H1, of this street
    hand_aggressor: int | None = None  # H6, of any street
    first_to_act: int | None = None  # H1, of this street
    last_to_act: int | None = None  # on this street
    community: int | None = None
    burned: int = 0
    dealt: int = 0  # cards off the deck, burned ones not counted
    reshuffled: bool = False
    discards: int = 0  # draw: thrown and not yet reshuffled
    first_round_complete: bool = False  # M5: no draw no drop
    pots: tuple[Pot, ...] = ()
    rake: int = 0
    awarded: int = 0  # already paid out of the pots
    showdown: tuple[int, ...] = ()  # H1's order, once it is on


class TableState(msgspec.Struct):
    table_id: str = ""
    config: TableConfig | None = None
    next_config: TableConfig | None = None  # from the next hand on
    status: Literal["none", "open", "paused", "closing", "closed", "frozen"] = "none"
    frozen_reason: str = ""
    frozen_from: Literal["open", "paused", "closing"] = "open"  # what it goes back to
    epoch: int = 1
    version: int = 0  # entries folded; kept by whoever folds
    now_ms: int = 0  # the latest ``now`` of the table
    seats: list[Seat | None] = []  # index = seat - 1
    hand: Hand | None = None
    hands_played: int = 0
    turns_opened: int = 0
    transfers_made: int = 0
    turn: Turn | None = None
    post_ask: tuple[int, ...] = ()  # S2: who is asked ...
    post_turn_id: int = 0
    post_deadline_ms: int = 0
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


class Decision(msgspec.Struct, frozen=True):
    """What a command led to, and the state after it. No events: accepted, and nothing changed."""

    events: tuple[TableEvent, ...]
    state: TableState


def initial_state() -> TableState:
    return TableState()
