"""A table of the rules that is played by text, with a dealer and a wallet that answer at once.

A line of a script is one act: ``2 bring_in``, ``3 complete 10``, ``1 fold``, ``2 draw 034`` (positions of the cards to
throw), ``2 draw`` (stands pat), ``4 time`` (lets his time run out), ``4 leave``, ``4 sit_out``. The number is the seat;
an amount is his bet on the street after the act. It has to be that seat's turn, except to leave or sit out.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from brelan.events import commands, money, table
from brelan.events.config import TableConfig
from brelan.rules.invariants import violations
from brelan.rules.state import Decision, Hand, HandPlayer, Rejected, Seat, TableState, Turn, initial_state
from brelan.rules.table import AnyCommand, decide, evolve
from tests.oracle.dealer import AnyDealer

TABLE_ID = "s00-oracle"
_Kind = TypeVar("_Kind")


def player_of(seat: int) -> str:
    return f"p{seat}"


def stud(lower: int, upper: int, *, ante: int, bring_in: int, seats: int = 8) -> TableConfig:
    return TableConfig(
        name="stud",
        game="stud",
        lower_limit=lower,
        upper_limit=upper,
        seats=seats,
        minimum_buy_in=10 * lower,
        ante=ante,
        bring_in=bring_in,
    )


def draw(lower: int, upper: int, *, small_blind: int, seats: int = 5) -> TableConfig:
    return TableConfig(
        name="draw",
        game="draw",
        lower_limit=lower,
        upper_limit=upper,
        seats=seats,
        minimum_buy_in=10 * lower,
        small_blind=small_blind,
    )


def seated(config: TableConfig, stacks: Mapping[int, int], *, button: int | None = None) -> TableState:
    """A table where these sit with such stacks, however small, and the next hand is due; draw: ``button`` gets it."""
    state = initial_state()
    evolve(state, table.TableOpened(TABLE_ID, config, ""))
    for seat, stack in stacks.items():
        evolve(state, table.SeatReserved(seat, player_of(seat), player_of(seat), stack, f"t{seat}", "wait"))
        evolve(state, table.PlayerSeated(seat, f"t{seat}"))
    if button is not None:
        _last_hand_before(state, sorted(stacks), button)
    evolve(state, table.NextHandScheduled(1))
    return state


def _last_hand_before(state: TableState, seats: list[int], button: int) -> None:
    """A last hand after which D15 gives ``button`` the button, and nobody owes a blind."""
    at = seats.index(button)
    state.last_players = tuple(table.HandSeat(seat, player_of(seat), player_of(seat), 1) for seat in seats)
    state.last_button = seats[at - 1]
    state.last_small_blind = button
    state.last_big_blind = seats[(at + 1) % len(seats)]
    if len(seats) == 2:  # D7: the last big blind gets the button
        state.last_small_blind, state.last_big_blind = state.last_button, button
    for seat in state.seats:
        if seat is not None:
            seat.owes_big_blind = seat.owes_small_blind = False


class Playing:
    """``events`` are all that followed from what was done; ``state`` the table now; ``now`` its clock."""

    def __init__(self, state: TableState, dealer: AnyDealer, *, after: Callable[[], None] | None = None) -> None:
        self.state = state
        self.dealer = dealer
        self.now = 0
        self.events: list[object] = []
        self._after = after
        self._open: list[AnyCommand] = []  # answers of dealer and wallet that are on their way

    # --- doing -------------------------------------------------------------------------------------------------------

    def try_(self, command: AnyCommand, seat: int = 0, *, arrived: int | None = None) -> Decision | Rejected:
        arrived = self.now if arrived is None else arrived
        player_id = player_of(seat) if seat else ""
        operator = not seat
        return decide(
            self.state,
            command,
            now_ms=self.now,
            arrived_at_ms=arrived,
            player_id=player_id,
            name=player_id,
            operator=operator,
        )

    def do(self, command: AnyCommand, seat: int = 0) -> None:
        """Decided, folded, and whatever dealer and wallet have to say to it."""
        self._do(command, seat)
        while self._open:
            self._do(self._open.pop(0), 0)

    def refused(self, command: AnyCommand, seat: int) -> str:
        """The code of the refusal."""
        decision = self.try_(command, seat)
        assert isinstance(decision, Rejected), f"{command} was accepted"
        return decision.code

    def _do(self, command: AnyCommand, seat: int) -> None:
        decision = self.try_(command, seat)
        assert not isinstance(decision, Rejected), f"{command} was refused: {decision.message} ({decision.code})"
        assert violations(decision.state) == []
        self.state = decision.state
        for event in decision.events:
            self.events.append(event)
            answer = self.dealer.answer(event) or wallet_answer(event)
            if answer is not None:
                self._open.append(answer)
        if self._after is not None:
            self._after()

    # --- a hand ------------------------------------------------------------------------------------------------------

    def deal(self) -> "Playing":
        """The pause is over: the next hand."""
        assert self.state.next_hand_ms is not None, "no hand is due"
        self.now = max(self.now, self.state.next_hand_ms)
        self.do(commands.ExpireTurn(self.state.next_hand_ms))
        return self

    def play(self, script: str) -> "Playing":
        for line in script.strip().splitlines():
            text = line.partition("#")[0].strip()
            if text:
                self._line(text)
        return self

    def _line(self, text: str) -> None:
        number, verb, *rest = text.split()
        seat = int(number)
        if verb == "leave":
            return self.do(commands.Leave(), seat)
        if verb == "sit_out":
            return self.do(commands.SitOut(), seat)
        turn = self.turn
        assert turn.seat == seat, f"{text!r}: it is the turn of seat {turn.seat}"
        if verb == "time":
            self.now = turn.deadline_ms
            return self.do(commands.ExpireTurn(turn.deadline_ms))
        if verb == "draw":
            positions = tuple(int(digit) for digit in rest[0]) if rest else ()
            return self.do(commands.Draw(turn.turn_id, positions), seat)
        listed = [action for action in turn.actions if action.kind == verb]
        if rest:
            listed = [action for action in listed if action.to == int(rest[0])]
        assert len(listed) == 1, f"{text!r}: seat {seat} may {sorted(self.legal)}"
        return self.do(commands.Act(turn.turn_id, listed[0].kind, listed[0].to), seat)

    # --- looking -----------------------------------------------------------------------------------------------------

    @property
    def turn(self) -> Turn:
        assert self.state.turn is not None, "nobody has to act"
        return self.state.turn

    @property
    def legal(self) -> set[str]:
        """What the open turn allows: ``{"fold", "call 4", "raise 8"}``."""
        return {f"{action.kind} {action.to}" if action.to else action.kind for action in self.turn.actions}

    @property
    def hand(self) -> Hand:
        assert self.state.hand is not None, "no hand is in play"
        return self.state.hand

    def player(self, seat: int) -> HandPlayer:
        return next(player for player in self.hand.players if player.seat == seat)

    def seat(self, number: int) -> Seat:
        seat = self.state.seats[number - 1]
        assert seat is not None, f"seat {number} is free"
        return seat

    @property
    def stacks(self) -> dict[int, int]:
        return {seat.seat: seat.stack for seat in self.state.seats if seat is not None}

    @property
    def pots(self) -> list[tuple[int, tuple[int, ...]]]:
        """Amount and who can win it, main pot first, as last formed."""
        formed = self.last(table.PotsFormed)
        return [(pot.amount, tuple(sorted(pot.seats))) for pot in formed.pots]

    def all(self, kind: type[_Kind]) -> list[_Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[_Kind]) -> _Kind:
        return self.all(kind)[-1]


def wallet_answer(event: object) -> money.WalletReply | None:
    """A wallet with money for everything."""
    match event:
        case table.SeatReserved():
            return money.Funded(event.transfer_id, TABLE_ID, event.player_id, event.amount)
        case table.TopUpRequested():
            return money.Funded(event.transfer_id, TABLE_ID, player_of(event.seat), event.amount)
        case table.PlayerLeft() | table.RefundRequested() if event.transfer_id:
            return money.Booked(event.transfer_id, TABLE_ID, event.amount)
        case table.HandEnded() if event.transfer_id:
            return money.Booked(event.transfer_id, TABLE_ID, event.rake)
        case _:
            return None
