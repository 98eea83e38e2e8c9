"""A table as its messages tell it: a snapshot, then every entry folded in.

The fields are those of the snapshot (``brelan.views.messages.TableView``): folding the entries after one snapshot gives
what a later one says. Only what the messages say is known; nothing is guessed.
"""

from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from brelan.events.config import Game
from brelan.views import messages as views
from brelan.views.messages import (
    AnyEventView,
    Card,
    ConfigView,
    Events,
    Hex,
    OwnCards,
    PotView,
    SeedView,
    ShareView,
    ShownHandView,
    Snapshot,
    Status,
    TurnView,
)

DEAD = {"ante", "dead_small_blind"}


class SeatModel(msgspec.Struct, kw_only=True):
    """``chips_waiting`` and what follows is known of one's own seat only."""

    seat: int
    player_id: str
    name: str
    stack: int = 0
    reserved: int = 0
    sitting_out: bool = False
    away: bool = False
    seed: Hex = ""
    seed_index: int = 0
    chips_waiting: int = 0
    top_up_asked: int = 0
    sit_out_asked: bool = False
    leave_asked: bool = False
    auto_post: bool = True
    auto_muck: bool = True
    hole_key: Hex = ""


class PlayerModel(msgspec.Struct, kw_only=True):
    """In the hand in play."""

    seat: int
    player_id: str
    name: str
    stack: int
    starting_stack: int
    put_in: int = 0
    bet: int = 0
    folded: bool = False
    all_in: bool = False
    protected: bool = False
    up: tuple[Card, ...] = ()
    down: int = 0
    drew: int | None = None
    shown: ShownHandView | None = None
    mucked: bool = False
    hole_key: Hex = ""  # his own only: what his cards of this hand are sealed to; empty: the gateways'


class HandModel(msgspec.Struct, kw_only=True):
    hand_id: str
    number: int
    deck_size: int
    players: list[PlayerModel]
    button: int | None = None
    small_blind: int | None = None
    big_blind: int | None = None
    community: Card | None = None
    pots: tuple[PotView, ...] = ()
    pot: int = 0
    committed: views.DeckCommitted | None = None
    seeds: tuple[SeedView, ...] = ()
    seeds_asked: tuple[int, ...] = ()
    seeds_due_ms: int = 0

    def at(self, seat: int) -> PlayerModel | None:
        return next((player for player in self.players if player.seat == seat), None)


class TableModel:
    """Empty until the first snapshot."""

    def __init__(self) -> None:
        self.known = False
        self.version = 0
        self.epoch = 0
        self.table_id = ""
        self.player_id = ""
        self.config: ConfigView | None = None
        self.next_config: ConfigView | None = None  # from the next hand on
        self.status: Status = "none"
        self.seats: list[SeatModel | None] = []
        self.hand: HandModel | None = None
        self.turn: TurnView | None = None
        self.post_ask: views.PostAsked | None = None
        self.next_hand_ms: int | None = None
        self.show_offered: tuple[int, ...] = ()
        self.hands_played = 0
        self.cards: OwnCards | None = None

    # --- questions ---------------------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        assert self.config is not None
        return self.config.game

    @property
    def my_seat(self) -> int | None:
        return next((seat.seat for seat in self._taken() if seat.player_id == self.player_id), None)

    @property
    def mine(self) -> SeatModel | None:
        seat = self.my_seat
        return None if seat is None else self.seats[seat - 1]

    @property
    def me(self) -> PlayerModel | None:
        """Me in the hand in play."""
        if self.hand is None:
            return None
        return next((player for player in self.hand.players if player.player_id == self.player_id), None)

    @property
    def free_seats(self) -> list[int]:
        return [number for number, seat in enumerate(self.seats, start=1) if seat is None]

    def _taken(self) -> Iterable[SeatModel]:
        return (seat for seat in self.seats if seat is not None)

    # --- messages ----------------------------------------------------------------------------------------------

    def begin(self, message: Snapshot) -> None:
        table = message.table
        self.known = True
        self.version, self.epoch = message.version, message.epoch
        self.player_id = message.you.player_id
        self.table_id, self.config, self.status = table.table_id, table.config, table.status
        self.next_config = table.next_config
        self.seats = [None if seat is None else msgspec.convert(_plain(seat), SeatModel) for seat in table.seats]
        self.hand = None if table.hand is None else msgspec.convert(_plain(table.hand), HandModel)
        self.turn = table.turn
        self.post_ask = None
        if (ask := table.post_ask) is not None:
            self.post_ask = views.PostAsked(ask.turn_id, ask.seats, ask.deadline_ms)
            for seat in ask.agreed:
                self._answered_post(seat)
        self.next_hand_ms = table.next_hand_ms
        self.show_offered = table.show_offered
        self.hands_played = table.hands_played
        self.cards = message.cards

    def take(self, message: Events) -> None:
        if message.epoch != self.epoch:  # a chain of seeds holds for one
            for seat in self._taken():
                seat.seed, seat.seed_index = "", 0
        for event in message.events:
            self._take(event)
        if message.cards is not UNSET:
            self.cards = message.cards
        self.version, self.epoch = message.version, message.epoch

    def _take(self, event: AnyEventView) -> None:
        match event:
            case views.TurnOpened():
                turn = (event.turn_id, event.seat, event.deadline_ms, event.actions, event.raises_left)
                self.turn = TurnView(*turn)
            case views.HandStarted():
                self._hand_started(event)
            case views.PostAsked():
                self.post_ask, self.next_hand_ms = event, None
            case views.NextHandScheduled(at_ms=next_hand_ms):
                self.next_hand_ms, self.post_ask = next_hand_ms or None, None
            case views.ShowOffered(seats=seats):
                self.show_offered = seats
            case views.HandMucked(seat=seat) | views.HandShown(hand=views.ShownHandView(seat=seat)):
                self._no_longer_offered(seat)
                self._take_of_player(event)
            case views.HandEnded(stacks=stacks) | views.HandVoided(stacks=stacks):
                self._hand_over(stacks)
            case views.OutageEnded(to_ms=to_ms):
                self._clock_restarted(to_ms)
            case _:
                self._take_of_table(event)
                self._take_of_seeds(event)
                self._take_of_seat(event)
                self._take_of_player(event)

    # --- the table ---------------------------------------------------------------------------------------------

    def _take_of_table(self, event: AnyEventView) -> None:
        match event:
            case views.TableOpened(table_id=table_id, config=config):
                self.table_id, self.config, self.status = table_id, config, "open"
                self.seats = [None] * config.seats
            case views.TableConfigured(config=config):
                self.next_config = config
            case views.TablePaused():
                self.status, self.next_hand_ms = "paused", None
            case views.TableResumed() | views.TableUnfrozen():
                self.status = "open"
            case views.TableClosing():
                self.status, self.next_hand_ms, self.post_ask = "closing", None, None
            case views.TableClosed():
                self.status = "closed"
            case views.TableFrozen():
                self.status = "frozen"
            case _:
                pass

    def _clock_restarted(self, to_ms: int) -> None:
        assert self.config is not None
        deadline_ms = to_ms + self.config.action_time_ms
        if self.next_hand_ms is not None:
            self.next_hand_ms = to_ms + self.config.hand_pause_ms
        if self.turn is not None:
            self.turn = msgspec.structs.replace(self.turn, deadline_ms=deadline_ms)
        if self.post_ask is not None:
            self.post_ask = msgspec.structs.replace(self.post_ask, deadline_ms=deadline_ms)
        if self.hand is not None and self.hand.seeds_asked:
            self.hand.seeds_due_ms = deadline_ms

    # --- seats -------------------------------------------------------------------------------------------------

    def _take_of_seat(self, event: AnyEventView) -> None:
        match event:
            case views.SeatReserved():
                seat = SeatModel(seat=event.seat, player_id=event.player_id, name=event.name, reserved=event.amount)
                self.seats[event.seat - 1] = seat
            case views.SeatReleased(seat=number) | views.PlayerLeft(seat=number):
                self.seats[number - 1] = None
                self._no_longer_offered(number)
                self._answered_post(number)
            case views.PostAgreed(seat=number):
                self._answered_post(number)
            case _ if isinstance(event, OfASeat) and (held := self.seats[event.seat - 1]) is not None:
                _take_of_held_seat(held, event)
                if isinstance(event, views.SatOut):
                    self._answered_post(event.seat)
            case _:
                pass

    def _answered_post(self, number: int) -> None:
        """S2: he is no longer asked."""
        if self.post_ask is not None:
            left = tuple(seat for seat in self.post_ask.seats if seat != number)
            self.post_ask = msgspec.structs.replace(self.post_ask, seats=left) if left else None

    def _no_longer_offered(self, number: int) -> None:
        self.show_offered = tuple(seat for seat in self.show_offered if seat != number)

    # --- seeds and keys -----------------------------------------------------------------------------------------------

    def _take_of_seeds(self, event: AnyEventView) -> None:
        hand = self.hand
        match event:
            case views.DeckCommitted() if hand is not None:
                hand.committed = event
            case views.SeedsAsked() if hand is not None:
                hand.seeds_asked, hand.seeds_due_ms = event.seats, event.deadline_ms
            case views.SeedGiven(seat=number, element=element):
                held = self.seats[number - 1]
                if held is not None and hand is not None:
                    held.seed, held.seed_index = element, held.seed_index + 1
                    hand.seeds += (SeedView(number, held.seed_index, element),)
                    hand.seeds_asked = tuple(seat for seat in hand.seeds_asked if seat != number)
                    hand.seeds_due_ms = hand.seeds_due_ms if hand.seeds_asked else 0
            case views.SeedsWithheld(seats=numbers):
                for number in numbers:
                    if (held := self.seats[number - 1]) is not None:
                        held.seed, held.seed_index = "", 0
            case views.KeyBrought(seat=number, hole_key=hole_key) if (held := self.seats[number - 1]) is not None:
                held.hole_key = hole_key
                if hand is not None and hand.hand_id == event.hand_id and (player := hand.at(number)) is not None:
                    player.hole_key = hole_key
            case views.SeedsBrought(seat=number, tip=tip) if (held := self.seats[number - 1]) is not None:
                held.seed, held.seed_index = tip, 0
            case _:
                pass

    # --- the hand ----------------------------------------------------------------------------------------------

    def _hand_started(self, event: views.HandStarted) -> None:
        players = [
            PlayerModel(
                seat=each.seat, player_id=each.player_id, name=each.name, stack=each.stack, starting_stack=each.stack
            )
            for each in event.players
        ]
        self.hand = HandModel(
            hand_id=event.hand_id,
            number=event.number,
            deck_size=event.deck_size,
            players=players,
            button=event.button,
            small_blind=event.small_blind,
            big_blind=event.big_blind,
        )
        if (mine := self.mine) is not None and (player := self.hand.at(mine.seat)) is not None:
            player.hole_key = mine.hole_key
        self.hands_played = event.number
        self.config, self.next_config = self.next_config or self.config, None
        self.turn = self.post_ask = self.next_hand_ms = self.cards = None
        self.show_offered = ()

    def _hand_over(self, stacks: tuple[ShareView, ...]) -> None:
        for share in stacks:
            seat = self.seats[share.seat - 1]
            if seat is not None:
                seat.stack = share.amount
        self.hand = self.turn = None

    def _take_of_player(self, event: AnyEventView) -> None:
        hand = self.hand
        if hand is None:
            return
        match event:
            case views.CardsDealt():
                self._dealt(hand, event)
            case views.PotsFormed(pots=pots):
                hand.pots = pots
                for player in hand.players:
                    player.bet = 0
            case views.PotAwarded():
                hand.pot -= event.amount
                for share in event.shares:
                    if (player_at := hand.at(share.seat)) is not None:
                        player_at.stack += share.amount
            case views.ShowdownResolved(hands=hands):
                for shown in hands:
                    _show(hand, shown)
            case views.HandShown(hand=shown):
                _show(hand, shown)
            case _ if isinstance(event, OfAPlayer) and (one := hand.at(event.seat)) is not None:
                self._take_of_one(hand, one, event)
            case _:
                pass

    def _dealt(self, hand: HandModel, event: views.CardsDealt) -> None:
        hand.community = event.community or hand.community
        for cards in event.cards:
            player = hand.at(cards.seat)
            if player is not None:
                player.down += cards.down
                player.up += cards.up

    def _take_of_one(self, hand: HandModel, player: PlayerModel, event: "OfAPlayer") -> None:
        match event:
            case views.Posted():
                _pay(hand, player, event.amount)
                player.bet += 0 if event.kind in DEAD else event.amount
            case views.BetPlaced():
                self._acted(event.seat)
                _pay(hand, player, event.pay)
                player.bet = event.to
            case views.BetReturned():
                _pay(hand, player, -event.amount)
                player.bet = max(0, player.bet - event.amount)
                player.all_in = player.protected
            case views.Folded():
                self._acted(event.seat)
                player.folded = True
            case views.Checked():
                self._acted(event.seat)
            case views.TimedOut():
                self._acted(event.seat)
            case views.AllInByTime():
                player.all_in = player.protected = True
            case views.DrawChosen():
                self._acted(event.seat)
                player.drew = event.count
            case views.HandMucked():
                player.mucked = True

    def _acted(self, seat: int) -> None:
        if self.turn is not None and self.turn.seat == seat:
            self.turn = None


OfAPlayer = (
    views.Posted
    | views.BetPlaced
    | views.BetReturned
    | views.Folded
    | views.Checked
    | views.TimedOut
    | views.AllInByTime
    | views.DrawChosen
    | views.HandMucked
)
OfASeat = (
    views.PlayerSeated
    | views.ChipsAdded
    | views.SatOut
    | views.CameBack
    | views.TimedOut
    | views.TopUpAsked
    | views.TopUpRequested
    | views.TopUpFunded
    | views.PreferencesSet
    | views.SitOutAsked
    | views.LeaveAsked
)


def _take_of_held_seat(seat: SeatModel, event: OfASeat) -> None:
    match event:
        case views.PlayerSeated():
            seat.stack, seat.reserved = seat.reserved, 0
        case views.ChipsAdded():
            seat.stack += event.amount
            seat.chips_waiting = max(0, seat.chips_waiting - event.amount)
        case views.SatOut():
            seat.sitting_out, seat.sit_out_asked, seat.away = True, False, False
        case views.CameBack():
            seat.sitting_out = seat.sit_out_asked = seat.away = False
        case views.TimedOut():
            seat.away = True
        case views.TopUpAsked():
            seat.top_up_asked = event.amount
        case views.TopUpRequested():
            seat.top_up_asked = 0
        case views.TopUpFunded():
            seat.chips_waiting += event.amount
        case views.PreferencesSet():
            seat.auto_post, seat.auto_muck = event.auto_post, event.auto_muck
        case views.SitOutAsked():
            seat.sit_out_asked = True
        case views.LeaveAsked():
            seat.leave_asked = True


def _pay(hand: HandModel, player: PlayerModel, amount: int) -> None:
    player.stack -= amount
    player.put_in += amount
    player.all_in = player.all_in or player.stack == 0
    hand.pot += amount


def _show(hand: HandModel, shown: ShownHandView) -> None:
    player = hand.at(shown.seat)
    if player is not None:
        player.shown = shown


def _plain(view: msgspec.Struct) -> object:
    return msgspec.to_builtins(view)
