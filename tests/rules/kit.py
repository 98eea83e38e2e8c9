"""Given, when, then for the rules: seats with stacks, cards and winners as the test wants them, acts in poker words.

    table = stud({1: 100, 2: 100, 3: 5}, up={1: "2c 9d", 2: "Kh 4c", 3: "Qs 5d"}, wins="3 > 1 = 2")
    table.play("1 bring_in, 2 call, 3 complete 5, 1 fold, 2 call")
    assert table.turn == "2: fold, check, bet 4"

Limits are 4-8, ante 1, bring-in 2, small blind 2, and the smallest chip is 1. A number is a seat, an amount is the bet
on the street after the act. ``time`` lets the open turn's time run out. Dealer and wallet answer at once, until told
not to.

Every decision is checked: its input is untouched, its state is what its events fold to, the invariants hold, the money
is all there, and whatever is waited for is due some time.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from brelan.events import commands, money, table
from brelan.events.config import TableConfig
from brelan.events.table import Entry
from brelan.rules.cards import cards_from_text, deck
from brelan.rules.invariants import violations
from brelan.rules.state import Decision, HandPlayer, Rejected, Seat, TableState, initial_state
from brelan.rules.stud import river_plan
from brelan.rules.table import AnyCommand, decide, escrow, evolve, next_due_ms
from tests.oracle.dealer import committed

TABLE = "s00-rules"
START_MS = 1_000_000
STUD = TableConfig(
    name="Stud 4-8",
    game="stud",
    lower_limit=4,
    upper_limit=8,
    seats=8,
    minimum_buy_in=40,
    ante=1,
    bring_in=2,
    currency_unit=1,
)
DRAW = TableConfig(
    name="Draw 4-8", game="draw", lower_limit=4, upper_limit=8, seats=5, minimum_buy_in=40, currency_unit=1
)
Kind = TypeVar("Kind")
_copy = msgspec.msgpack.Decoder(TableState).decode
_written = msgspec.msgpack.Encoder().encode


class Dealer:
    """Deals the up cards it was given, others from the rest; whoever is named first in ``wins`` has the best hand."""

    def __init__(self, up: Mapping[int, str], wins: str) -> None:
        self.up = {seat: list(cards_from_text(text.replace(" ", ""))) for seat, text in up.items()}
        self.strength = {
            int(seat): -place for place, tied in enumerate(wins.split(">")) for seat in tied.replace("=", " ").split()
        }
        self._wanted = {card for cards in self.up.values() for card in cards}
        self._free: list[int] = []
        self._hands: dict[int, list[int]] = {}
        self._thrown = self.burned = self.stub = 0

    def answer(self, event: object) -> Any:
        match event:
            case table.HandStarted():
                self.stub = event.deck_size
                self._free = [card for card in deck(event.deck_size) if card not in self._wanted]
                self._hands = {player.seat: [] for player in event.players}
                self._thrown = self.burned = 0
            case table.DeckRequested():
                return committed(event)
            case table.CardsRequested():
                return self._deal(event)
            case table.DrawChosen() if event.request_id:
                return self._draw(event)
            case table.ShowdownRequested():
                winners = tuple(self._best(pot.seats) for pot in event.pots)
                shown = {event.order[0]}.union(*winners)
                hands = tuple(self._hand(seat) for seat in event.order if seat in shown)
                return table.ShowdownResolved(event.request_id, event.hand_id, winners, hands)
            case table.ShowRequested():
                return table.HandShown(self._hand(event.seat))
        return None

    def _deal(self, asked: table.CardsRequested) -> table.CardsDealt:
        down, up = {"deal": (5, 0), "third": (2, 1), "river": (1, 0)}.get(asked.street, (0, 1))
        burned, plan, community = int(asked.street not in ("deal", "third")), "normal", None
        if asked.street == "river" and (plan := river_plan(self.stub, self.burned, len(asked.seats))) != "normal":
            self.stub, self.burned, burned = self.stub + self.burned, 0, 0
        if plan == "community":
            community, down = self._down(), 0
        cards = tuple(table.SeatCards(seat, down, self._give(seat, down, up)) for seat in asked.seats)
        self.burned += burned
        self.stub -= burned + (community is not None) + (down + up) * len(cards)
        return table.CardsDealt(
            asked.request_id, asked.hand_id, asked.street, cards, burned, plan != "normal", community
        )

    def _give(self, seat: int, down: int, up: int) -> tuple[int, ...]:
        own = self._hands[seat]
        own += [self._down() for _ in range(down)]
        shown = tuple((self.up.get(seat) or self._free).pop(0) for _ in range(up))
        own += shown
        return shown

    def _down(self) -> int:
        """When all others are dealt, what was meant for those who have folded since."""
        return self._free.pop() if self._free else next(cards for cards in self.up.values() if cards).pop()

    def _draw(self, chosen: table.DrawChosen) -> table.CardsDrawn:
        count, hand_id = len(chosen.positions), chosen.request_id.partition(":")[0]
        reshuffled = self.stub < count
        if reshuffled:
            self.stub, self._thrown = self.stub + self._thrown, 0
        self.stub -= count
        self._thrown += count
        return table.CardsDrawn(chosen.request_id, hand_id, chosen.seat, count, reshuffled)

    def _best(self, seats: tuple[int, ...]) -> tuple[int, ...]:
        best = max(self.strength.get(seat, -99) for seat in seats)
        return tuple(seat for seat in seats if self.strength.get(seat, -99) == best)

    def _hand(self, seat: int) -> table.ShownHand:
        own = tuple(self._hands[seat])
        return table.ShownHand(seat, own, own[:5], "high_card")


class Table:
    def __init__(self, config: TableConfig, dealer: Dealer | None = None) -> None:
        self.dealer = dealer or Dealer({}, "")
        self.now = START_MS
        self.state = initial_state()
        self.events: list[table.TableEvent] = []
        self.money = 0  # the ledger's escrow
        self.wallet_answers = self.dealer_answers = True
        self.asked: list[Any] = []  # what dealer and wallet would say to what they were not let answer
        self._fold(table.TableOpened(TABLE, config, "op"))

    # --- given -------------------------------------------------------------------------------------------------------

    def _fold(self, event: table.TableEvent) -> None:
        self.state.now_ms = self.now
        evolve(self.state, event)

    def seat(self, number: int, stack: int, entry: Entry = "wait") -> None:
        """However few chips, without asking."""
        player = player_of(number)
        self._fold(table.SeatReserved(number, player, player, stack, f"first{number}:{len(self.events)}", entry))
        self._fold(table.PlayerSeated(number, f"first{number}:{len(self.events)}"))
        self.money += stack

    def brought(self, number: int, tip: bytes) -> None:
        """A chain of seeds, before the first hand."""
        self._fold(table.SeedsBrought(number, tip))

    def keyed(self, number: int, hole_key: bytes, sign_key: bytes) -> None:
        """His hole cards are sealed to a key of his own."""
        self._fold(table.KeyBrought(number, hole_key, sign_key))

    def last_hand(self, button: int, small: int, big: int, seats: tuple[int, ...]) -> None:
        """As if such a hand had just been played."""
        self.state.last_players = tuple(table.HandSeat(seat, player_of(seat), player_of(seat), 1) for seat in seats)
        self.state.last_button, self.state.last_small_blind, self.state.last_big_blind = button, small, big
        self.state.hands_played = 1
        for one in self.state.seats:
            if one is not None and one.seat in seats:
                one.owes_big_blind = one.owes_small_blind = False

    def deal(self) -> "Table":
        """The next hand, at once."""
        if self.state.next_hand_ms is None:
            self._fold(table.NextHandScheduled(self.now))
        assert self.state.next_hand_ms is not None
        self.now = max(self.now, self.state.next_hand_ms)
        self.do(commands.ExpireTurn(self.state.next_hand_ms))
        return self

    # --- when --------------------------------------------------------------------------------------------------------

    def decide(self, command: AnyCommand, seat: int = 0, *, player: str = "", operator: bool = False) -> Any:
        before = _written(self.state)
        player = player or self._who(seat)
        decision = decide(
            self.state,
            command,
            now_ms=self.now,
            arrived_at_ms=self.now,
            player_id=player,
            name=player,
            operator=operator,
        )
        assert _written(self.state) == before, "the input was changed"
        return decision

    def _who(self, seat: int) -> str:
        owner = self.state.seats[seat - 1] if 0 < seat <= len(self.state.seats) else None
        return owner.player_id if owner is not None else player_of(seat) if seat else ""

    def refusal(self, command: AnyCommand, seat: int = 0, *, player: str = "", operator: bool = False) -> str:
        refused = self.decide(command, seat, player=player, operator=operator)
        assert isinstance(refused, Rejected), f"{command} was accepted"
        return refused.code

    def do(self, command: AnyCommand, seat: int = 0, *, player: str = "", operator: bool = False) -> "Table":
        decision = self.decide(command, seat, player=player, operator=operator)
        assert isinstance(decision, Decision), f"{command} was refused: {decision}"
        self._check(decision)
        self.state = decision.state
        self.events += decision.events
        for event in decision.events:
            self._hear(event)
        return self

    def _check(self, decision: Decision) -> None:
        state = _copy(_written(self.state))
        state.now_ms = decision.state.now_ms
        for event in decision.events:
            evolve(state, event)
        assert state == decision.state, "the events do not fold to the decision's state"
        assert violations(state) == []
        assert escrow(state) == self.money, "money is missing"
        if state.status in ("open", "paused", "closing") and state.hand is not None:
            assert next_due_ms(state) is not None, "the hand is stuck"

    def _hear(self, event: object) -> None:
        if (answer := self.dealer.answer(event)) is not None:
            answers = self.dealer_answers or isinstance(answer, table.DeckCommitted)
            self._answer(answer) if answers else self.asked.append(answer)
        if (reply := wallet_reply(event, self.state)) is not None:
            self._answer(reply) if self.wallet_answers else self.asked.append(reply)

    def _answer(self, answer: Any) -> None:
        match answer:
            case money.Funded():
                self.money += answer.amount
            case money.Booked():
                self.money -= answer.amount
        self.do(answer)

    def answer(self, which: int = 0) -> None:
        """Let one of those waiting be heard."""
        self._answer(self.asked.pop(which))

    def play(self, script: str) -> "Table":
        for line in script.replace("\n", ",").split(","):
            if words := line.split():
                self._act(int(words[0]), words[1], words[2:])
        return self

    def _act(self, seat: int, verb: str, rest: list[str]) -> None:
        match verb:
            case "leave":
                self.do(commands.Leave(), seat)
            case "sit_out":
                self.do(commands.SitOut(), seat)
            case "time":
                assert self.turn_seat == seat, f"it is {self.turn}"
                self.expire()
            case "draw" | "pat":
                assert self.turn_seat == seat, f"it is {self.turn}"
                thrown = tuple(range(int(rest[0]))) if rest else ()
                self.do(commands.Draw(self.turn_id, thrown), seat)
            case _:
                assert self.turn_seat == seat, f"{seat} {verb}: it is {self.turn}"
                kind: Any = verb
                self.do(commands.Act(self.turn_id, kind, int(rest[0]) if rest else None), seat)

    def expire(self) -> None:
        """Whatever is due next has waited long enough."""
        due = next_due_ms(self.state)
        assert due is not None
        self.now = max(self.now, due)
        self.do(commands.ExpireTurn(due))

    # --- then --------------------------------------------------------------------------------------------------------

    @property
    def turn_id(self) -> int:
        assert self.state.turn is not None, "nobody has the turn"
        return self.state.turn.turn_id

    @property
    def turn_seat(self) -> int | None:
        return self.state.turn.seat if self.state.turn is not None else None

    @property
    def turn(self) -> str:
        """``"2: fold, call 4, raise 8"``; ``""`` when nobody has to act."""
        if self.state.turn is None:
            return ""
        acts = [f"{one.kind} {one.to}" if one.to else one.kind for one in self.state.turn.actions]
        return f"{self.state.turn.seat}: {', '.join(acts)}"

    def owner(self, number: int) -> Seat:
        found = self.state.seats[number - 1]
        assert found is not None, f"nobody sits in seat {number}"
        return found

    def player(self, number: int) -> HandPlayer:
        assert self.state.hand is not None, "there is no hand"
        return next(player for player in self.state.hand.players if player.seat == number)

    @property
    def stacks(self) -> dict[int, int]:
        behind = {one.seat: one.stack for one in self.state.hand.players} if self.state.hand else {}
        return {one.seat: behind.get(one.seat, one.stack) for one in self.state.seats if one is not None}

    @property
    def street(self) -> int:
        assert self.state.hand is not None, "there is no hand"
        return self.state.hand.street

    @property
    def pots(self) -> list[tuple[int, set[int]]]:
        """As last formed, main pot first."""
        return [(pot.amount, set(pot.seats)) for pot in self.last(table.PotsFormed).pots]

    @property
    def returned(self) -> list[tuple[int, int]]:
        return [(event.seat, event.amount) for event in self.all(table.BetReturned)]

    @property
    def posts(self) -> list[str]:
        """Of the last hand: ``"2 small_blind 2"``."""
        last = max(place for place, event in enumerate(self.events) if isinstance(event, table.HandStarted))
        return [f"{one.seat} {one.kind} {one.amount}" for one in self.events[last:] if isinstance(one, table.Posted)]

    def all(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[Kind]) -> Kind:
        return self.all(kind)[-1]


def player_of(seat: int) -> str:
    return f"p{seat}"


def wallet_reply(event: object, state: TableState) -> money.WalletReply | None:
    """A wallet with money for everything."""
    match event:
        case table.SeatReserved():
            return money.Funded(event.transfer_id, TABLE, event.player_id, event.amount)
        case table.TopUpRequested():
            player = state.transfers[event.transfer_id].player_id
            return money.Funded(event.transfer_id, TABLE, player, event.amount)
        case table.PlayerLeft() | table.RefundRequested() if event.transfer_id:
            return money.Booked(event.transfer_id, TABLE, event.amount)
        case table.HandEnded() if event.transfer_id:
            return money.Booked(event.transfer_id, TABLE, event.rake)
        case _:
            return None


def stud(stacks: Mapping[int, int], up: Mapping[int, str] | None = None, wins: str = "", **changed: Any) -> Table:
    """A hand of stud that has just been dealt."""
    made = Table(msgspec.structs.replace(STUD, **changed), Dealer(up or {}, wins))
    for seat, stack in stacks.items():
        made.seat(seat, stack)
    return made.deal()


def draw(stacks: Mapping[int, int], button: int = 1, wins: str = "", **changed: Any) -> Table:
    """A hand of draw that has just been dealt, with the button where it is wanted."""
    made = draw_table(stacks, wins, **changed)
    seats = tuple(sorted(stacks))
    at = seats.index(button)
    if len(seats) == 2:  # D7: the last big blind gets the button
        made.last_hand(seats[at - 1], seats[at - 1], button, seats)
    else:
        made.last_hand(seats[at - 1], button, seats[(at + 1) % len(seats)], seats)
    return made.deal()


def draw_table(stacks: Mapping[int, int], wins: str = "", **changed: Any) -> Table:
    """Nothing was dealt yet."""
    made = Table(msgspec.structs.replace(DRAW, **changed), Dealer({}, wins))
    for seat, stack in stacks.items():
        made.seat(seat, stack)
    return made
