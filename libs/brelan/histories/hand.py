"""A finished hand, folded from its events. Public facts only: no hidden card is in here, nor which cards were thrown.

``HandBuilder`` takes the events of a hand one by one; ``HandHistory`` is what is kept.
"""

from typing import Literal

import msgspec

from brelan.events import table
from brelan.events.config import Game, TableConfig
from brelan.events.table import Cause, PostKind, PotShare, ShownHand, TableEvent, WagerKind

StepKind = (
    PostKind
    | WagerKind
    | Literal[
        "dealt",  # ``count`` face down, ``cards`` face up
        "community",
        "reshuffled",
        "fold",
        "check",
        "timed_out",
        "all_in_by_time",
        "drew",  # ``count``; 0: stood pat
        "returned",
        "shown",
        "mucked",
        "won",  # ``amount`` of pot number ``pot``
    ]
)


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that everybody saw. ``to``: his bet on the street after it; ``street``: "" before the first card."""

    kind: StepKind
    street: str = ""
    seat: int = 0
    amount: int = 0
    to: int = 0
    all_in: bool = False
    cards: tuple[int, ...] = ()
    count: int = 0
    pot: int = 0
    cause: Cause = "player"


class HandPlayer(msgspec.Struct, frozen=True):
    seat: int
    player_id: str
    name: str
    starting_stack: int
    finishing_stack: int
    won: int = 0
    up: tuple[int, ...] = ()
    shown: ShownHand | None = None
    mucked: bool = False  # he chose not to show
    disclosable: bool = False  # H5: he lost a contested showdown and has not shown

    @property
    def result(self) -> int:
        return self.finishing_stack - self.starting_stack


class PotResult(msgspec.Struct, frozen=True):
    amount: int
    rake: int
    shares: tuple[PotShare, ...]


class HandHistory(msgspec.Struct, frozen=True, kw_only=True):
    """Amounts in minor units, ``currency_unit`` of them in a whole one; times in milliseconds since 1970."""

    hand_id: str
    number: int
    table_id: str
    table_name: str
    game: Game
    lower_limit: int
    upper_limit: int
    currency_unit: int
    ante: int
    bring_in: int
    deck_size: int
    started_ms: int
    ended_ms: int
    button: int | None
    small_blind: int | None
    big_blind: int | None
    players: tuple[HandPlayer, ...]  # in dealing order
    steps: tuple[Step, ...]
    pots: tuple[PotResult, ...]  # main pot first
    rake: int
    community: int | None = None
    voided: str = ""  # why it was called off, all bets returned

    @property
    def pot(self) -> int:
        return sum(pot.amount for pot in self.pots)

    def player_at(self, seat: int) -> HandPlayer | None:
        return next((player for player in self.players if player.seat == seat), None)

    def with_hand_shown(self, hand: ShownHand) -> "HandHistory":
        """H2, H3: shown after the hand was over."""
        step = Step("shown", "showdown", hand.seat, cards=hand.cards)
        return self._with(hand.seat, step, shown=hand, mucked=False, disclosable=False)

    def with_hand_mucked(self, seat: int) -> "HandHistory":
        return self._with(seat, Step("mucked", "showdown", seat), mucked=True)

    def _with(self, seat: int, step: Step, **changed: object) -> "HandHistory":
        players = tuple(
            msgspec.structs.replace(player, **changed) if player.seat == seat else player for player in self.players
        )
        return msgspec.structs.replace(self, players=players, steps=(*self.steps, step))


encode_history = msgspec.msgpack.Encoder().encode
decode_history = msgspec.msgpack.Decoder(HandHistory).decode


class _Player:
    """While the hand is played."""

    __slots__ = ("mucked", "shown", "start", "up", "won")

    def __init__(self, start: table.HandSeat) -> None:
        self.start = start
        self.up: tuple[int, ...] = ()
        self.shown: ShownHand | None = None
        self.mucked = False
        self.won = 0


class HandBuilder:
    def __init__(self, table_id: str, config: TableConfig, started: table.HandStarted, at_ms: int) -> None:
        self.hand_id = started.hand_id
        self.table_id = table_id
        self.config = config
        self.started = started
        self.started_ms = at_ms
        self._players = {player.seat: _Player(player) for player in started.players}
        self._street = ""
        self._steps: list[Step] = []
        self._community: int | None = None
        self._pots: dict[int, PotResult] = {}
        self._order: tuple[int, ...] = ()  # who is asked to the showdown
        self._showdown: tuple[int, ...] = ()  # the same, once it was decided

    def apply(self, event: TableEvent) -> None:
        """Takes what belongs to the hand; other events of the table pass by."""
        match event:
            case table.Posted():
                self._step(event.kind, event.seat, amount=event.amount)
            case table.CardsDealt():
                self._dealt(event)
            case table.DrawChosen():
                self._street = "draw"
                self._step("drew", event.seat, count=len(event.positions), cause=event.cause)
            case table.CardsDrawn() if event.reshuffled:
                self._step("reshuffled")
            case table.BetReturned():
                self._step("returned", event.seat, amount=event.amount)
            case table.Folded() | table.Checked() | table.BetPlaced() | table.TimedOut() | table.AllInByTime():
                self._acted(event)
            case table.ShowdownResolved() | table.ShowdownRequested() | table.HandShown() | table.HandMucked():
                self._showed(event)
            case table.PotAwarded():
                self._awarded(event)
            case _:
                pass

    def ended(self, event: table.HandEnded | table.HandVoided, at_ms: int) -> HandHistory:
        stacks = {share.seat: share.amount for share in event.stacks}
        voided = isinstance(event, table.HandVoided)
        return HandHistory(
            hand_id=self.hand_id,
            number=self.started.number,
            table_id=self.table_id,
            table_name=self.config.name,
            game=self.config.game,
            lower_limit=self.config.lower_limit,
            upper_limit=self.config.upper_limit,
            currency_unit=self.config.currency_unit,
            ante=self.config.ante,
            bring_in=self.config.bring_in,
            deck_size=self.started.deck_size,
            started_ms=self.started_ms,
            ended_ms=at_ms,
            button=self.started.button,
            small_blind=self.started.small_blind,
            big_blind=self.started.big_blind,
            players=tuple(self._finished(player, stacks, voided) for player in self._players.values()),
            steps=tuple(self._steps),
            pots=() if voided else tuple(pot for _, pot in sorted(self._pots.items())),
            rake=0 if isinstance(event, table.HandVoided) else event.rake,
            community=self._community,
            voided=event.reason or "called off" if isinstance(event, table.HandVoided) else "",
        )

    def _finished(self, player: _Player, stacks: dict[int, int], voided: bool) -> HandPlayer:
        seat = player.start.seat
        contested = not voided and seat in self._showdown
        return HandPlayer(
            seat=seat,
            player_id=player.start.player_id,
            name=player.start.name,
            starting_stack=player.start.stack,
            finishing_stack=stacks.get(seat, player.start.stack),
            won=0 if voided else player.won,
            up=player.up,
            shown=player.shown,
            mucked=player.mucked,
            disclosable=contested and player.shown is None,
        )

    def _step(
        self,
        kind: StepKind,
        seat: int = 0,
        *,
        amount: int = 0,
        to: int = 0,
        all_in: bool = False,
        cards: tuple[int, ...] = (),
        count: int = 0,
        pot: int = 0,
        cause: Cause = "player",
    ) -> None:
        self._steps.append(Step(kind, self._street, seat, amount, to, all_in, cards, count, pot, cause))

    def _dealt(self, event: table.CardsDealt) -> None:
        self._street = event.street
        if event.reshuffled:
            self._step("reshuffled")
        for cards in event.cards:
            if cards.down or cards.up:
                self._players[cards.seat].up += cards.up
                self._step("dealt", cards.seat, cards=cards.up, count=cards.down)
        if event.community is not None:
            self._community = event.community
            self._step("community", cards=(event.community,))

    def _acted(
        self, event: table.Folded | table.Checked | table.BetPlaced | table.TimedOut | table.AllInByTime
    ) -> None:
        if self._street == "draw" and not isinstance(event, table.TimedOut):
            self._street = "after_draw"  # a decision that is no draw: the second round has begun
        match event:
            case table.Folded():
                self._step("fold", event.seat, cause=event.cause)
            case table.Checked():
                self._step("check", event.seat, cause=event.cause)
            case table.BetPlaced():
                self._step(
                    event.kind, event.seat, amount=event.pay, to=event.to, all_in=event.all_in, cause=event.cause
                )
            case table.TimedOut():
                self._step("timed_out", event.seat)
            case table.AllInByTime():
                self._step("all_in_by_time", event.seat)

    def _showed(
        self, event: table.ShowdownResolved | table.ShowdownRequested | table.HandShown | table.HandMucked
    ) -> None:
        match event:
            case table.ShowdownRequested():
                self._order = event.order
            case table.ShowdownResolved():
                self._showdown = self._order
                for hand in event.hands:
                    self._shown(hand)
            case table.HandShown() if self._decided:
                self._shown(event.hand)
            case table.HandMucked() if self._decided:
                self._street = "showdown"
                self._players[event.seat].mucked = True
                self._step("mucked", event.seat)
            case _:  # late, of the hand before
                pass

    @property
    def _decided(self) -> bool:
        """Before that nobody shows anything of this hand."""
        return bool(self._showdown or self._pots)

    def _shown(self, hand: ShownHand) -> None:
        """The dealer's answer and the table's own event may both say it."""
        if self._players[hand.seat].shown == hand:
            return
        self._street = "showdown"
        self._players[hand.seat].shown = hand
        self._step("shown", hand.seat, cards=hand.cards)

    def _awarded(self, event: table.PotAwarded) -> None:
        self._pots[event.pot] = PotResult(event.amount, event.rake, event.shares)
        for share in event.shares:
            self._players[share.seat].won += share.amount
            self._step("won", share.seat, amount=share.amount, pot=event.pot)
