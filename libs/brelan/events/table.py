"""The facts of a table's log. State is the fold of these (``brelan.rules.evolve``), nothing else changes it.

No hidden card is ever in here: only up cards, community cards and hands that were shown.
"""

from typing import Literal

import msgspec

from brelan.events.config import TableConfig

Entry = Literal["wait", "post"]  # D13, D14: wait for the big blind, or post to be dealt in at once
ActionKind = Literal["fold", "check", "call", "bet", "raise", "complete", "bring_in", "draw", "post", "decline"]
WagerKind = Literal["call", "bet", "raise", "complete", "bring_in"]
PostKind = Literal["ante", "small_blind", "big_blind", "live_post", "dead_small_blind"]
Cause = Literal["player", "time", "left"]  # why something was done: his own act, the clock (T2), or he left (M3)


class Event(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """Tagged by its class name. Fields are positional on the wire: append only, with defaults."""


# --- the table ---------------------------------------------------------------------------------------------------


class TableOpened(Event, frozen=True):
    table_id: str
    config: TableConfig
    opened_by: str


class TableConfigured(Event, frozen=True):
    """Takes effect from the next hand."""

    config: TableConfig
    by: str


class TablePaused(Event, frozen=True):
    by: str


class TableResumed(Event, frozen=True):
    by: str


class TableClosing(Event, frozen=True):
    """No new hand, no new player; when the hand in play is over everybody is cashed out and the table closes."""

    by: str


class TableClosed(Event, frozen=True):
    """``written_off``: chips that the table counted and nobody had, when an operator closed it broken as it was."""

    written_off: int = 0


class TableFrozen(Event, frozen=True):
    """An invariant would break, or the dealer or wallet does not answer: an operator has to look."""

    reason: str


class TableUnfrozen(Event, frozen=True):
    by: str


class OutageEnded(Event, frozen=True):
    """The room was away. Every open wait has its full time again (ARCHITECTURE §7)."""

    from_ms: int
    to_ms: int


# --- seats and money ---------------------------------------------------------------------------------------------


class SeatReserved(Event, frozen=True):
    """The seat is held while the wallet is asked for the buy-in."""

    seat: int
    player_id: str
    name: str
    amount: int
    transfer_id: str
    entry: Entry
    due_ms: int = 0  # when the wallet is asked again


class SeatReleased(Event, frozen=True):
    """The wallet declined; or he left, or the table closed, before it answered: what it funds then is refunded."""

    seat: int
    transfer_id: str
    reason: str
    unanswered: bool = False


class PlayerSeated(Event, frozen=True):
    """The buy-in is there: the reserved amount is his stack."""

    seat: int
    transfer_id: str


class TopUpAsked(Event, frozen=True):
    """Asked during a hand that he is in: waits for its end (M2)."""

    seat: int
    amount: int


class TopUpRequested(Event, frozen=True):
    """The wallet is asked."""

    seat: int
    amount: int
    transfer_id: str
    due_ms: int = 0


class TopUpFunded(Event, frozen=True):
    """The money is in escrow; it is added to the stack at once, or when the hand he is in is over (M2)."""

    seat: int
    amount: int
    transfer_id: str


class TopUpDeclined(Event, frozen=True):
    seat: int
    transfer_id: str
    reason: str


class ChipsAdded(Event, frozen=True):
    seat: int
    amount: int


class PreferencesSet(Event, frozen=True):
    """S2: antes (and blinds) posted without asking; losing hands mucked without asking."""

    seat: int
    auto_post: bool
    auto_muck: bool


class SeedsBrought(Event, frozen=True):
    """The tip of his chain of seeds (docs/fairness.md), 32 bytes; empty: he has none any more."""

    seat: int
    tip: bytes


class KeyBrought(Event, frozen=True):
    """The player's own key for his hole cards, 32 bytes each; empty: the gateways' common one."""

    seat: int
    hole_key: bytes  # X25519
    sign_key: bytes  # Ed25519
    hand_id: str = ""  # of the hand that it counts in already; empty: from the next one on


class SitOutAsked(Event, frozen=True):
    """In a hand: he sits out when it is over."""

    seat: int


class SatOut(Event, frozen=True):
    seat: int
    reason: Literal["asked", "timed_out", "no_chips", "declined_to_post", "withheld_seed"]


class CameBack(Event, frozen=True):
    seat: int
    entry: Entry


class EntryChosen(Event, frozen=True):
    seat: int
    entry: Entry


class LeaveAsked(Event, frozen=True):
    """In a hand: M3, he leaves when it is over."""

    seat: int


class PlayerLeft(Event, frozen=True):
    """The seat is free; ``amount`` goes back to his wallet under ``transfer_id`` (empty when there is nothing)."""

    seat: int
    player_id: str
    amount: int
    transfer_id: str
    due_ms: int = 0
    until_ms: int = 0  # M4: until then he comes back with at least this amount


class TransferSettled(Event, frozen=True):
    """The wallet has booked a cash-out, rake or refund; or declined what nobody waits for any more."""

    transfer_id: str


class TransferAskedAgain(Event, frozen=True):
    """The wallet has not answered in time: the same request goes out again under the same id."""

    transfer_id: str
    due_ms: int


class TransferDeclined(Event, frozen=True):
    """The wallet will not book what leaves the table. It is kept, and asked for again when the table is unfrozen."""

    transfer_id: str
    reason: str


class RefundRequested(Event, frozen=True):
    """The wallet funded something the table no longer expects: it goes back."""

    transfer_id: str  # "refund:<transfer>"
    player_id: str
    amount: int
    due_ms: int = 0


# --- the hand ----------------------------------------------------------------------------------------------------


class NextHandScheduled(Event, frozen=True):
    """The pause between hands; it is over at ``at_ms``. 0: called off, there are not two players any more."""

    at_ms: int


class PostAsked(Event, frozen=True):
    """S2: players who do not post without being asked. Answered by ``post`` or ``decline``, or not at all."""

    turn_id: int
    seats: tuple[int, ...]
    deadline_ms: int


class PostAgreed(Event, frozen=True):
    seat: int


class HandSeat(msgspec.Struct, frozen=True, array_like=True, gc=False):
    seat: int
    player_id: str
    name: str
    stack: int  # before anything is posted
    hole_key: bytes = b""  # his hole cards are sealed to; empty: the gateways'


class HandStarted(Event, frozen=True):
    hand_id: str
    number: int
    deck_size: int
    players: tuple[HandSeat, ...]  # in dealing order
    button: int | None = None  # draw
    small_blind: int | None = None  # seat; None when nobody posts it (D15)
    big_blind: int | None = None


class Posted(Event, frozen=True):
    """An ante, blind or entry post. ``amount`` may be short when he is all-in."""

    seat: int
    kind: PostKind
    amount: int


class DeckRequested(Event, frozen=True):
    """To the dealer: fix a deck for this hand, before any seed for it is known (docs/fairness.md)."""

    request_id: str  # "<hand_id>:deck"
    hand_id: str
    seq: int  # of the table's commitments in this epoch, from 1
    previous: bytes  # hash of the table's commitment before, 32 bytes
    due_ms: int


class DeckCommitted(Event, frozen=True):
    """The dealer's answer: what it has signed. Hashes have 32 bytes."""

    request_id: str
    hand_id: str
    seq: int
    root: bytes
    secret_hash: bytes
    reshuffle_hashes: tuple[bytes, ...]
    previous: bytes
    hash: bytes  # of the commitment: the next one's ``previous``
    signature: bytes  # Ed25519, 64 bytes
    dealer_key: bytes


class SeedsAsked(Event, frozen=True):
    """Of every seat dealt in that has a chain. Who keeps his back voids the hand before any card."""

    seats: tuple[int, ...]
    deadline_ms: int


class SeedGiven(Event, frozen=True):
    """The next element of his chain, 32 bytes."""

    seat: int
    element: bytes


class SeatSeed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    seat: int
    index: int  # of the element in its chain: the tip is 0
    element: bytes


class SeedsWithheld(Event, frozen=True):
    """The hand is void. ``seats`` gave no seed in time and have no chain any more; ``seeds`` are those given."""

    hand_id: str
    seats: tuple[int, ...]
    seeds: tuple[SeatSeed, ...] = ()


class CardsResealed(Event, frozen=True):
    """The dealer's answer to a ``KeyBrought`` in a hand: his cards so far lie sealed to that key."""

    hand_id: str
    seat: int
    hole_key: bytes


class CardsRequested(Event, frozen=True):
    """To the dealer: the next cards of this hand. ``street`` is one of the game's streets."""

    request_id: str  # "<hand_id>:<street>"
    hand_id: str
    street: str  # draw: "deal"; stud: "third", "fourth", "fifth", "sixth", "river"
    seats: tuple[int, ...]  # still in, in dealing order
    due_ms: int
    seeds: tuple[SeatSeed, ...] = ()  # with the first cards: what cuts the deck


class SeatCards(msgspec.Struct, frozen=True, array_like=True, gc=False):
    seat: int
    down: int  # how many cards came face down
    up: tuple[int, ...] = ()


class CardsDealt(Event, frozen=True):
    """The dealer's answer, logged by the table as it came. Down cards lie sealed in ``hole:<table>``."""

    request_id: str
    hand_id: str
    street: str
    cards: tuple[SeatCards, ...]  # in dealing order
    burned: int = 0  # cards burned before this street (S6)
    reshuffled: bool = False  # S10, D11
    community: int | None = None  # S10
    root: bytes = b""  # over the reshuffled cards (docs/fairness.md)


class Action(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One legal action. ``to``: his bet on this street after it (0: fold, check, draw); ``pay``: chips it takes."""

    kind: ActionKind
    to: int = 0
    pay: int = 0
    all_in: bool = False


class TurnOpened(Event, frozen=True):
    """``actions`` is all he may do; nothing else is accepted. ``raises_left`` None: unlimited (B3)."""

    turn_id: int
    seat: int
    deadline_ms: int
    actions: tuple[Action, ...]
    raises_left: int | None = None


class Folded(Event, frozen=True):
    seat: int
    cause: Cause = "player"


class Checked(Event, frozen=True):
    seat: int
    cause: Cause = "player"


class BetPlaced(Event, frozen=True):
    """Chips put in by choice (or forced: the bring-in). ``to`` is his bet on this street after it."""

    seat: int
    kind: WagerKind
    pay: int
    to: int
    all_in: bool = False
    cause: Cause = "player"


class TimedOut(Event, frozen=True):
    """The clock ran out. What follows from it (T2-T7) stands in the events after this one."""

    seat: int
    turn_id: int


class AllInByTime(Event, frozen=True):
    """T2: he acts no more in this hand; his chips stay his; he contests what his money reached."""

    seat: int
    day: int = 0  # T7: counted from the store's epoch


class DrawChosen(Event, frozen=True):
    """``positions`` (0..4, into his cards as dealt) are for the dealer alone; others learn their number (D10)."""

    seat: int
    positions: tuple[int, ...]
    request_id: str  # "" when he stands pat: the dealer has nothing to do
    due_ms: int = 0
    cause: Cause = "player"


class CardsDrawn(Event, frozen=True):
    """The dealer's answer. The kept cards stay in order, the new ones follow."""

    request_id: str
    hand_id: str
    seat: int
    count: int
    reshuffled: bool = False
    root: bytes = b""  # over the reshuffled cards


class BetReturned(Event, frozen=True):
    """B8: nobody matched it."""

    seat: int
    amount: int


class Pot(msgspec.Struct, frozen=True, array_like=True, gc=False):
    amount: int
    seats: tuple[int, ...]  # who can win it


class PotsFormed(Event, frozen=True):
    """A betting round is over. Main pot first."""

    pots: tuple[Pot, ...]


class ShowdownRequested(Event, frozen=True):
    """To the dealer: compare. ``order`` is H1's, the first one must show."""

    request_id: str
    hand_id: str
    pots: tuple[Pot, ...]
    order: tuple[int, ...]
    due_ms: int


class ShownHand(msgspec.Struct, frozen=True, array_like=True, gc=False):
    seat: int
    cards: tuple[int, ...]  # all of them, as dealt
    best: tuple[int, ...]  # the five that play
    category: str  # of brelan.rules.evaluation
    ranks: tuple[str, ...] = ()  # what the category is of: ("K", "T") for kings and tens


class ShowdownResolved(Event, frozen=True):
    """The dealer's answer. ``winners[i]``: the seats with the best hand for pot ``i``, in no order.

    ``hands``: only those that are shown, in H1's order: the first to show and every winner (H3).
    """

    request_id: str
    hand_id: str
    winners: tuple[tuple[int, ...], ...]
    hands: tuple[ShownHand, ...]


class HandShown(Event, frozen=True):
    hand: ShownHand


class HandMucked(Event, frozen=True):
    seat: int


class PotShare(msgspec.Struct, frozen=True, array_like=True, gc=False):
    seat: int
    amount: int


class PotAwarded(Event, frozen=True):
    """H7: the last side pot first. ``amount`` = rake + the shares."""

    pot: int  # its index in the last PotsFormed
    amount: int
    rake: int
    shares: tuple[PotShare, ...]


class HandEnded(Event, frozen=True):
    """``stacks`` of all who were dealt in. The rake goes to the house under ``transfer_id`` ("" when there is none)."""

    hand_id: str
    rake: int
    stacks: tuple[PotShare, ...]
    transfer_id: str = ""
    due_ms: int = 0


class HandVoided(Event, frozen=True):
    """Every bet goes back; ``stacks`` are those before the hand."""

    hand_id: str
    reason: str
    stacks: tuple[PotShare, ...]


class ShowOffered(Event, frozen=True):
    """H2, H3: until the next hand these may show what they held."""

    seats: tuple[int, ...]


class ShowRequested(Event, frozen=True):
    """To the dealer: he wants his hand seen."""

    request_id: str
    hand_id: str
    seat: int


class DealerAskedAgain(Event, frozen=True):
    """The dealer has not answered in time. The request goes out again under the same id."""

    request_id: str
    due_ms: int


TableEvent = (
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
    | TopUpAsked
    | TopUpRequested
    | TopUpFunded
    | TopUpDeclined
    | ChipsAdded
    | PreferencesSet
    | SeedsBrought
    | KeyBrought
    | SitOutAsked
    | SatOut
    | CameBack
    | EntryChosen
    | LeaveAsked
    | PlayerLeft
    | TransferSettled
    | TransferAskedAgain
    | TransferDeclined
    | RefundRequested
    | NextHandScheduled
    | PostAsked
    | PostAgreed
    | HandStarted
    | Posted
    | DeckRequested
    | DeckCommitted
    | SeedsAsked
    | SeedGiven
    | SeedsWithheld
    | CardsResealed
    | CardsRequested
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
    | ShowRequested
    | DealerAskedAgain
)
