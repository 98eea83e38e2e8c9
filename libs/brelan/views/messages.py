"""What travels between the room and its clients as JSON: socket messages, event views, the snapshot of a table.

Every shape here is an allow-list: ``brelan.views.projection`` fills it field by field from the table's facts, so a
field added to an event reaches nobody until somebody writes it here. Cards are text ("Th"), amounts integers in minor
units, times milliseconds of the room's clock. Described for client developers in ``docs/api/socket.md``.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from brelan.events.commands import (
    CloseTable,
    ConfigureTable,
    PauseTable,
    PlayerCommand,
    ResumeTable,
    UnfreezeTable,
)
from brelan.events.config import Game, TimeoutPolicy
from brelan.events.table import ActionKind, Cause, Entry, PostKind, WagerKind

CommandId = Annotated[str, Meta(min_length=1, max_length=64)]
Card = str  # "Th"
Hex = str  # bytes, two lower-case digits each

# --- client to room ----------------------------------------------------------------------------------------------

OperatorsCommand = ConfigureTable | PauseTable | ResumeTable | CloseTable | UnfreezeTable
SocketCommand = PlayerCommand | OperatorsCommand


class CommandMessage(msgspec.Struct, frozen=True, tag="command"):
    """``id`` is the client's own; sending it again gets the same answer and has no second effect."""

    id: CommandId
    command: SocketCommand


class Ping(msgspec.Struct, frozen=True, tag="ping"):
    """``t`` comes back as it was sent."""

    t: float = 0


ClientMessage = CommandMessage | Ping

# --- parts -------------------------------------------------------------------------------------------------------


class RakeCapView(msgspec.Struct, frozen=True):
    players: int
    cap: int


class RakeView(msgspec.Struct, frozen=True):
    basis_points: int
    caps: tuple[RakeCapView, ...]


class ConfigView(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    game: Game
    lower_limit: int
    upper_limit: int
    seats: int
    minimum_buy_in: int
    ante: int
    bring_in: int
    small_blind: int | None
    smallest_chip: int
    currency_unit: int
    action_time_ms: int
    timeout_policy: TimeoutPolicy
    protected_all_ins_per_day: int | None
    cap_lifted_heads_up: bool
    rake: RakeView
    hand_pause_ms: int


class ActionView(msgspec.Struct, frozen=True):
    """``to``: his bet on this street after it; ``pay``: the chips it takes."""

    kind: ActionKind
    to: int
    pay: int
    all_in: bool


class PotView(msgspec.Struct, frozen=True):
    amount: int
    seats: tuple[int, ...]


class ShareView(msgspec.Struct, frozen=True):
    seat: int
    amount: int


class HandSeatView(msgspec.Struct, frozen=True):
    seat: int
    player_id: str
    name: str
    stack: int


class SeatCardsView(msgspec.Struct, frozen=True):
    seat: int
    down: int
    up: tuple[Card, ...]


class ShownHandView(msgspec.Struct, frozen=True):
    seat: int
    cards: tuple[Card, ...]
    best: tuple[Card, ...]
    category: str
    ranks: tuple[str, ...]


class OwnCards(msgspec.Struct, frozen=True):
    """All cards of the viewer's own hand so far, in the order dealt (draw: the kept ones, then the drawn ones)."""

    hand_id: str
    seat: int
    cards: tuple[Card, ...]
    up: tuple[bool, ...]  # which of them lie face up


class SealedCards(msgspec.Struct, frozen=True):
    """Instead of ``OwnCards``: the first ``count`` cards of the viewer's own hand, sealed to his own key
    (docs/hole-cards.md)."""

    hand_id: str
    seat: int
    count: int
    box: Hex


# --- event views: what everybody at the table may know ------------------------------------------------------------


class EventView(msgspec.Struct, frozen=True, tag=True):
    """Tagged by its class name, which is that of the event."""


class TableOpened(EventView, frozen=True):
    table_id: str
    config: ConfigView


class TableConfigured(EventView, frozen=True):
    config: ConfigView


class TablePaused(EventView, frozen=True):
    pass


class TableResumed(EventView, frozen=True):
    pass


class TableClosing(EventView, frozen=True):
    pass


class TableClosed(EventView, frozen=True):
    pass


class TableFrozen(EventView, frozen=True):
    pass


class TableUnfrozen(EventView, frozen=True):
    pass


class OutageEnded(EventView, frozen=True):
    from_ms: int
    to_ms: int


class SeatReserved(EventView, frozen=True):
    seat: int
    player_id: str
    name: str
    amount: int
    entry: Entry


class SeatReleased(EventView, frozen=True):
    seat: int
    reason: str | UnsetType = UNSET  # the owner's only


class PlayerSeated(EventView, frozen=True):
    seat: int


class ChipsAdded(EventView, frozen=True):
    seat: int
    amount: int


class SeedsBrought(EventView, frozen=True):
    """``tip`` of his chain; empty: he has none any more."""

    seat: int
    tip: Hex


class KeyBrought(EventView, frozen=True):
    """To its owner only. ``hand_id``: counts in this hand already; empty: from the next one on."""

    seat: int
    hole_key: Hex  # empty: the gateways'
    hand_id: str


class SatOut(EventView, frozen=True):
    seat: int
    reason: Literal["asked", "timed_out", "no_chips", "declined_to_post", "withheld_seed"]


class CameBack(EventView, frozen=True):
    seat: int
    entry: Entry


class EntryChosen(EventView, frozen=True):
    seat: int
    entry: Entry


class PlayerLeft(EventView, frozen=True):
    seat: int


class NextHandScheduled(EventView, frozen=True):
    at_ms: int


class PostAsked(EventView, frozen=True):
    turn_id: int
    seats: tuple[int, ...]
    deadline_ms: int


class PostAgreed(EventView, frozen=True):
    seat: int


class HandStarted(EventView, frozen=True):
    hand_id: str
    number: int
    deck_size: int
    players: tuple[HandSeatView, ...]
    button: int | None
    small_blind: int | None
    big_blind: int | None


class Posted(EventView, frozen=True):
    seat: int
    kind: PostKind
    amount: int


class DeckCommitted(EventView, frozen=True):
    """What the dealer has signed before any seed for this hand was known (docs/fairness.md)."""

    hand_id: str
    seq: int
    root: Hex
    secret_hash: Hex
    reshuffle_hashes: tuple[Hex, ...]
    previous: Hex
    signature: Hex
    dealer_key: Hex


class SeedsAsked(EventView, frozen=True):
    seats: tuple[int, ...]
    deadline_ms: int


class SeedGiven(EventView, frozen=True):
    seat: int
    element: Hex


class SeedsWithheld(EventView, frozen=True):
    """These gave no seed in time: the hand is void, and they have no chain any more."""

    hand_id: str
    seats: tuple[int, ...]


class CardsDealt(EventView, frozen=True):
    """Down cards as a number. The viewer's own come beside the events, as ``OwnCards``."""

    hand_id: str
    street: str
    cards: tuple[SeatCardsView, ...]
    burned: int
    reshuffled: bool
    community: Card | None
    root: Hex  # over the reshuffled cards


class TurnOpened(EventView, frozen=True):
    turn_id: int
    seat: int
    deadline_ms: int
    actions: tuple[ActionView, ...]
    raises_left: int | None


class Folded(EventView, frozen=True):
    seat: int
    cause: Cause


class Checked(EventView, frozen=True):
    seat: int
    cause: Cause


class BetPlaced(EventView, frozen=True):
    seat: int
    kind: WagerKind
    pay: int
    to: int
    all_in: bool
    cause: Cause


class TimedOut(EventView, frozen=True):
    seat: int
    turn_id: int


class AllInByTime(EventView, frozen=True):
    seat: int


class DrawChosen(EventView, frozen=True):
    """D10: how many, never which."""

    seat: int
    count: int
    cause: Cause


class CardsDrawn(EventView, frozen=True):
    hand_id: str
    seat: int
    count: int
    reshuffled: bool
    root: Hex


class BetReturned(EventView, frozen=True):
    seat: int
    amount: int


class PotsFormed(EventView, frozen=True):
    pots: tuple[PotView, ...]


class ShowdownRequested(EventView, frozen=True):
    hand_id: str
    order: tuple[int, ...]


class ShowdownResolved(EventView, frozen=True):
    hand_id: str
    winners: tuple[tuple[int, ...], ...]
    hands: tuple[ShownHandView, ...]


class HandShown(EventView, frozen=True):
    hand: ShownHandView


class HandMucked(EventView, frozen=True):
    seat: int


class PotAwarded(EventView, frozen=True):
    pot: int
    amount: int
    rake: int
    shares: tuple[ShareView, ...]


class HandEnded(EventView, frozen=True):
    hand_id: str
    rake: int
    stacks: tuple[ShareView, ...]


class HandVoided(EventView, frozen=True):
    hand_id: str
    reason: str
    stacks: tuple[ShareView, ...]


class ShowOffered(EventView, frozen=True):
    seats: tuple[int, ...]


# --- event views that only the owner of the seat receives ----------------------------------------------------------


class TopUpAsked(EventView, frozen=True):
    seat: int
    amount: int


class TopUpRequested(EventView, frozen=True):
    seat: int
    amount: int


class TopUpFunded(EventView, frozen=True):
    seat: int
    amount: int


class TopUpDeclined(EventView, frozen=True):
    seat: int
    reason: str


class PreferencesSet(EventView, frozen=True):
    seat: int
    auto_post: bool
    auto_muck: bool


class SitOutAsked(EventView, frozen=True):
    seat: int


class LeaveAsked(EventView, frozen=True):
    """M3: he will be folded when it is his turn, which his opponents must not know before."""

    seat: int


PublicEventView = (
    TableOpened
    | TableConfigured
    | TablePaused
    | TableResumed
    | TableClosing
    | TableClosed
    | TableFrozen
    | TableUnfrozen
    | OutageEnded
    | SeatReserved
    | SeatReleased
    | PlayerSeated
    | ChipsAdded
    | SeedsBrought
    | KeyBrought
    | SatOut
    | CameBack
    | EntryChosen
    | PlayerLeft
    | NextHandScheduled
    | PostAsked
    | PostAgreed
    | HandStarted
    | Posted
    | DeckCommitted
    | SeedsAsked
    | SeedGiven
    | SeedsWithheld
    | CardsDealt
    | TurnOpened
    | Folded
    | Checked
    | BetPlaced
    | TimedOut
    | AllInByTime
    | DrawChosen
    | CardsDrawn
    | BetReturned
    | PotsFormed
    | ShowdownRequested
    | ShowdownResolved
    | HandShown
    | HandMucked
    | PotAwarded
    | HandEnded
    | HandVoided
    | ShowOffered
)
OwnEventView = TopUpAsked | TopUpRequested | TopUpFunded | TopUpDeclined | PreferencesSet | SitOutAsked | LeaveAsked
AnyEventView = PublicEventView | OwnEventView

# --- the snapshot ------------------------------------------------------------------------------------------------

Status = Literal["none", "open", "paused", "closing", "closed", "frozen"]
Phase = Literal["posting", "seeding", "dealing", "betting", "drawing", "showdown"]


class SeatView(msgspec.Struct, frozen=True, kw_only=True):
    """The fields after ``seed_index`` are there on the viewer's own seat only."""

    seat: int
    player_id: str
    name: str
    stack: int
    reserved: int
    entry: Entry
    owes_big_blind: bool
    owes_small_blind: bool
    sitting_out: bool
    away: bool
    seed: Hex  # the last element he gave of his chain of seeds, at first its tip; empty: he has no chain
    seed_index: int  # its place in the chain
    chips_waiting: int | UnsetType = UNSET
    top_up_asked: int | UnsetType = UNSET
    sit_out_asked: bool | UnsetType = UNSET
    leave_asked: bool | UnsetType = UNSET
    auto_post: bool | UnsetType = UNSET
    auto_muck: bool | UnsetType = UNSET
    hole_key: Hex | UnsetType = UNSET  # his own; empty: the gateways'


class HandPlayerView(msgspec.Struct, frozen=True, kw_only=True):
    """``stack``: the chips in front of him now. ``drew``: how many, once he did."""

    seat: int
    player_id: str
    name: str
    stack: int
    starting_stack: int
    put_in: int
    bet: int
    folded: bool
    all_in: bool
    protected: bool
    up: tuple[Card, ...]
    down: int
    drew: int | None
    shown: ShownHandView | None
    mucked: bool
    hole_key: Hex | UnsetType = (
        UNSET  # the viewer's own: what his cards of this hand are sealed to; empty: the gateways'
    )


class SeedView(msgspec.Struct, frozen=True):
    seat: int
    index: int
    element: Hex


class HandView(msgspec.Struct, frozen=True, kw_only=True):
    """``street``: 0 for the first one of the game. ``pots``: of the betting rounds that are over."""

    hand_id: str
    number: int
    deck_size: int
    players: tuple[HandPlayerView, ...]  # in dealing order
    button: int | None
    small_blind: int | None
    big_blind: int | None
    phase: Phase
    street: int
    price: int
    bring_in: int | None
    community: Card | None
    pots: tuple[PotView, ...]
    pot: int  # all chips in the middle: pots and bets
    showdown: tuple[int, ...]
    committed: DeckCommitted | None
    seeds: tuple[SeedView, ...]
    seeds_asked: tuple[int, ...]  # who has not given his yet
    seeds_due_ms: int  # 0: nobody is asked


class TurnView(msgspec.Struct, frozen=True):
    turn_id: int
    seat: int
    deadline_ms: int
    actions: tuple[ActionView, ...]
    raises_left: int | None


class PostAskView(msgspec.Struct, frozen=True):
    turn_id: int
    seats: tuple[int, ...]
    deadline_ms: int
    agreed: tuple[int, ...]


class TableView(msgspec.Struct, frozen=True, kw_only=True):
    table_id: str
    config: ConfigView
    next_config: ConfigView | None
    status: Status
    seats: tuple[SeatView | None, ...]  # index = seat - 1
    hand: HandView | None
    turn: TurnView | None
    post_ask: PostAskView | None
    next_hand_ms: int | None
    show_offered: tuple[int, ...]
    hands_played: int


class You(msgspec.Struct, frozen=True):
    player_id: str
    name: str
    seat: int | None  # None: an observer


# --- room to client ----------------------------------------------------------------------------------------------


class Snapshot(msgspec.Struct, frozen=True, tag="snapshot", kw_only=True):
    """First message of a socket; again whenever the room cannot continue from what the client has."""

    version: int
    epoch: int
    now: int
    table: TableView
    you: You
    cards: OwnCards | None
    sealed: SealedCards | UnsetType = UNSET


class Resumed(msgspec.Struct, frozen=True, tag="resumed", kw_only=True):
    """First message instead of a snapshot: the entries after ``version`` follow."""

    version: int
    epoch: int
    now: int
    you: You


class Events(msgspec.Struct, frozen=True, tag="events", kw_only=True):
    """One entry of the table's log. Versions have no gap; ``events`` may be empty for those it does not concern."""

    version: int
    epoch: int
    at: int
    events: tuple[AnyEventView, ...]
    cards: OwnCards | UnsetType = UNSET
    sealed: SealedCards | UnsetType = UNSET


class Ack(msgspec.Struct, frozen=True, tag="ack"):
    """The command was accepted; its consequences stand in the entry ``version``, which came before this message."""

    id: str
    version: int


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    id: str
    code: str
    message: str
    retry_in_ms: int | UnsetType = UNSET


class Pong(msgspec.Struct, frozen=True, tag="pong"):
    t: float
    now: int


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """``code``: restarting, slow_down."""

    code: str
    message: str
    retry_in_ms: int | UnsetType = UNSET


RoomMessage = Snapshot | Resumed | Events | Ack | Refused | Pong | Notice

_encode = msgspec.json.Encoder().encode


def encode(message: msgspec.Struct) -> str:
    """As text: a WebSocket carries text frames, encoded once for all its readers."""
    return _encode(message).decode()


decode_client = msgspec.json.Decoder(ClientMessage).decode
decode_room = msgspec.json.Decoder(RoomMessage).decode

# --- close codes -------------------------------------------------------------------------------------------------

CLOSE_BROKEN = 1011
CLOSE_RESTART = 1012
CLOSE_TRY_LATER = 1013
CLOSE_MALFORMED = 4400
CLOSE_UNAUTHENTICATED = 4401
CLOSE_UNKNOWN_TABLE = 4404
CLOSE_SILENT = 4408
CLOSE_TOO_MANY_SOCKETS = 4409
CLOSE_FLOODING = 4429
