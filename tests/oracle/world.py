"""A table and all that it talks to, one message at a time, checked after every decision.

Dealer and wallet keep what they were asked until told to answer: late, in another order, twice, or with a refusal. The
wallet has its own idea of the table's escrow. ``do`` checks what has to hold whatever happens:

- deciding changes nothing but what it returns, and that is what folding the events gives, also once they have been
  written and read again;
- the invariants hold, and the table's escrow is what the wallet thinks;
- the table waits for something, or there is nothing to wait for;
- a time-out leads to what T2 to T7 say, worked out here from the hand's events alone;
- nobody posts the big blind twice in a row while three or more play (D15); no rake before the first round is complete
  and none above its cap (M5).
"""

from collections import Counter
from itertools import pairwise, product
from typing import get_args

import msgspec

from brelan.deck.fair.chains import chain_elements
from brelan.events import commands, money, table
from brelan.events.config import TableConfig
from brelan.rules.evaluation import board_value
from brelan.rules.invariants import violations
from brelan.rules.state import Decision, Rejected, Seat, TableState, initial_state
from brelan.rules.table import AnyCommand, decide, escrow, evolve, legal_actions, next_due_ms
from tests.oracle.dealer import Answer, RoomDealer
from tests.oracle.playing import TABLE_ID, player_of

_encode = msgspec.msgpack.Encoder().encode
_state = msgspec.msgpack.Decoder(TableState).decode
_event = msgspec.msgpack.Decoder(table.TableEvent).decode
KINDS: tuple[table.ActionKind, ...] = get_args(table.ActionKind)


class World:
    def __init__(self, config: TableConfig, stacks: dict[int, int], seed: int) -> None:
        self.now = 1_000
        self.dealer = RoomDealer(seed)
        self.asked_dealer: list[Answer] = []
        self._answers: dict[str, Answer] = {}  # by request
        self.asked_wallet: dict[str, money.WalletReply] = {}  # what it would answer
        self.said: list[money.WalletReply | Answer] = []  # what was answered before
        self.escrow = 0
        self.state = initial_state()
        self.log: list[tuple[int, table.TableEvent]] = []
        self._given = 0
        self._seeds: list[bytes] = []  # given for this hand
        self._cut = False  # its first cards were asked for
        self.next_seed: dict[bytes, bytes] = {}  # of every chain that was brought: element -> the one after it
        self._config_of_hand = config
        self._have_bet: set[int] = set()  # T3
        self._protected: Counter[tuple[str, int]] = Counter()  # T7: by player and day
        self._players: set[str] = set()
        self._big_blind = ""
        self._before: tuple[set[str], str] = set(), ""
        self._pots_formed = self._dealt_in = 0
        self._pots: tuple[table.Pot, ...] = ()
        self._order: list[int] = []
        self._folded: set[int] = set()
        self._first = self._last_bet = self._last_bet_of_all = 0
        self._fold(table.TableOpened(TABLE_ID, config, ""))
        for seat, stack in stacks.items():
            self._fold(table.SeatReserved(seat, player_of(seat), player_of(seat), stack, f"first{seat}", "wait"))
            self._fold(table.PlayerSeated(seat, f"first{seat}"))
            self.escrow += stack
        self._fold(table.NextHandScheduled(self.now))
        self._older = (self.state, _encode(self.state))  # what an earlier decision returned, and still is

    def _fold(self, event: table.TableEvent) -> None:
        self.state.now_ms = self.now
        evolve(self.state, event)
        self.log.append((self.now, event))

    # --- deciding ----------------------------------------------------------------------------------------------------

    def try_(self, command: AnyCommand, player_id: str = "", *, arrived: int | None = None) -> Decision | Rejected:
        before = _encode(self.state)
        decision = decide(
            self.state,
            command,
            now_ms=self.now,
            arrived_at_ms=self.now if arrived is None else arrived,
            player_id=player_id,
            name=player_id,
            operator=player_id == "operator",
        )
        assert _encode(self.state) == before, f"deciding {command} changed the table"
        return decision

    def do(self, command: AnyCommand, player_id: str = "", *, arrived: int | None = None) -> Decision | Rejected:
        decision = self.try_(command, player_id, arrived=arrived)
        if isinstance(decision, Rejected):
            assert decision.code
            assert decision.message.endswith((".", "?", "!")), decision
            return decision
        self._check_fold(decision)
        before, self.state = self.state, decision.state
        assert _encode(self._older[0]) == self._older[1], "a state that was returned before has changed"
        self._older = (decision.state, _encode(decision.state))
        for number, event in enumerate(decision.events):
            self._hear(event)
            if isinstance(event, table.TimedOut):
                self._check_time_out(before, event, decision.events[number + 1])
            elif isinstance(event, table.DrawChosen) and event.cause == "time":  # T6
                assert event.positions == ()
        self.check()
        return decision

    def _check_fold(self, decision: Decision) -> None:
        folded = _state(_encode(self.state))
        assert folded == self.state, "the state is not what was written"
        folded.now_ms = self.now
        for event in decision.events:
            read = _event(_encode(event))
            assert read == event
            evolve(folded, read)
            self.log.append((self.now, read))
        folded.version = decision.state.version
        assert folded == decision.state, "the decision's state is not the fold of its events"

    def check_whole_fold(self) -> None:
        """The table from its log alone."""
        folded = initial_state()
        for at, event in self.log:
            folded.now_ms = at
            evolve(folded, event)
        folded.now_ms, folded.version = self.state.now_ms, self.state.version
        assert folded == self.state

    # --- what must hold ----------------------------------------------------------------------------------------------

    def check(self) -> None:
        state = self.state
        assert violations(state) == []
        assert escrow(state) == self.escrow, f"the table has {escrow(state)}, the wallet gave {self.escrow}"
        if state.hand is None:
            assert not [seat for seat in self.seats() if waits_for_the_end_of_a_hand(seat)]
        if state.status in ("frozen", "closed"):
            return
        if state.hand is not None:
            waits = [state.turn, state.dealer_wait, state.hand.seeds_asked or None]
            assert len(waits) - waits.count(None) == 1, "a hand waits for a player, the dealer, or seeds"
        elif state.status == "open":
            waiting = state.next_hand_ms is not None or state.post_ask
            assert waiting or len(self.able()) < 2, f"{self.able()} could play and nothing is due"
        if state.turn is not None:
            assert legal_actions(state, state.turn.seat) == state.turn.actions
            assert state.turn.actions
        if state.turn or state.post_ask or state.dealer_wait or state.next_hand_ms is not None or state.transfers:
            assert next_due_ms(state) is not None

    @property
    def config(self) -> TableConfig:
        assert self.state.config is not None
        return self.state.config

    def able(self) -> list[int]:
        return [seat.seat for seat in self.seats() if able(seat)]

    def seats(self) -> list[Seat]:
        return [seat for seat in self.state.seats if seat is not None]

    def check_exactly_the_listed(self) -> None:
        """Every kind, without an amount and with those that are listed and their neighbours."""
        turn = self.state.turn
        assert turn is not None
        owner = self.player_at(turn.seat)
        listed = {(action.kind, action.to) for action in turn.actions}
        amounts = {0} | {to + off for _, to in listed for off in (-1, 0, 1)}
        for kind, to in product(KINDS, (None, *sorted(amounts))):
            if kind == "draw":
                continue
            fits = [one for one in listed if one[0] == kind and to in (None, one[1])]
            answer = self.try_(commands.Act(turn.turn_id, kind, to), owner)
            accepted = not isinstance(answer, Rejected)
            assert accepted == (len(fits) == 1), f"{kind} {to} of {sorted(listed)}: {answer}"
        drawing = ("draw", 0) in listed
        for positions, good in (((), True), ((0, 1, 2, 3, 4), True), ((4,), True), ((5,), False), ((1, 1), False)):
            answer = self.try_(commands.Draw(turn.turn_id, positions), owner)
            assert isinstance(answer, Rejected) != (drawing and good)
        for kind, to in listed:
            stale = self.try_(commands.Act(turn.turn_id - 1, kind, to), owner)
            assert isinstance(stale, Rejected), "an old turn's id"
            for seat in self.seats():
                if seat.seat != turn.seat:
                    assert isinstance(self.try_(commands.Act(turn.turn_id, kind, to), seat.player_id), Rejected)
            assert isinstance(self.try_(commands.Act(turn.turn_id, kind, to), "a stranger"), Rejected)

    def check_only_who_is_asked_posts(self) -> None:
        """S2."""
        state = self.state
        kinds: tuple[table.ActionKind, ...] = ("post", "decline")
        for seat, kind, off in product(self.seats(), kinds, (-1, 0, 1)):
            answer = self.try_(commands.Act(state.post_turn_id + off, kind), seat.player_id)
            assert isinstance(answer, Rejected) == (off != 0 or seat.seat not in state.post_ask)

    def player_at(self, number: int) -> str:
        return self.player_in(self.state, number)

    @staticmethod
    def player_in(state: TableState, number: int) -> str:
        seat = state.seats[number - 1]
        assert seat is not None
        return seat.player_id

    def _check_time_out(self, before: TableState, timed_out: table.TimedOut, then: table.TableEvent) -> None:
        turn, config, seat = before.turn, self._config_of_hand, timed_out.seat
        assert turn is not None
        assert (turn.turn_id, turn.seat) == (timed_out.turn_id, seat)
        assert self.now >= turn.deadline_ms
        kinds = {action.kind: action for action in turn.actions}
        player_day = (self.player_in(before, seat), self.now // 86_400_000)
        limit = config.protected_all_ins_per_day
        expected: table.TableEvent
        assert "draw" not in kinds, "T6: nothing happens to him but that he stands pat"
        if (forced := kinds.get("bring_in")) is not None:  # T4
            expected = table.BetPlaced(seat, "bring_in", forced.pay, forced.to, forced.all_in, "time")
        elif config.timeout_policy == "fold" or (limit is not None and self._protected[player_day] >= limit):  # T7
            expected = table.Checked(seat, "time") if "check" in kinds else table.Folded(seat, "time")
        elif seat in self._have_bet:  # T2, T5
            expected = table.AllInByTime(seat, self.now // 86_400_000)
            self._protected[player_day] += 1
        else:
            expected = table.Folded(seat, "time")
        assert then == expected

    def _check_hand(self, event: object) -> None:
        """T3, H1, H6, M5 and D15, by what was told."""
        match event:
            case table.HandStarted():
                self._config_of_hand = self.config  # a new one counts from here on
                self._have_bet, self._folded = set(), set()
                self._seeds, self._cut = [], False
                self._pots_formed = 0
                self._dealt_in = len(event.players)
                self._order = [player.seat for player in event.players]
                self._first = self._last_bet = self._last_bet_of_all = 0
                players = {one.player_id for one in event.players}
                big = next((one.player_id for one in event.players if one.seat == event.big_blind), "")
                afresh = len(players & self._players) < 2
                assert afresh or len(players) < 3 or big != self._big_blind or not big, "the big blind twice in a row"
                self._before = self._players, self._big_blind
                self._players, self._big_blind = players, big
            case table.HandVoided():  # it was never dealt
                self._players, self._big_blind = self._before
            case table.Posted(kind="small_blind" | "big_blind" | "live_post") | table.BetPlaced():
                self._have_bet.add(event.seat)
                if isinstance(event, table.BetPlaced) and event.kind in ("bet", "raise", "complete"):
                    self._last_bet = self._last_bet_of_all = event.seat
            case table.Folded():
                self._folded.add(event.seat)
            case table.CardsDealt() | table.DrawChosen():
                self._first = self._last_bet = 0
            case table.TurnOpened():
                self._first = self._first or event.seat
            case table.PotsFormed():
                self._pots_formed += 1
                self._pots = event.pots
            case table.ShowdownRequested():
                assert event.pots == self._pots
                assert event.order == self._show_order()
            case table.PotAwarded():
                alone = len(self._pots[event.pot].seats) == 1 and event.pot > 0
                assert not (alone and event.rake), "nobody else could win it"
                assert event.rake + sum(share.amount for share in event.shares) == self._pots[event.pot].amount
            case table.SeedGiven():
                self._seeds.append(event.element)
            case table.CardsRequested():
                assert [seed.element for seed in event.seeds] == self._seeds, (
                    "the seeds of this hand, with its first cards"
                )
                self._seeds, self._cut = [], True
            case table.SeedsWithheld():
                assert not self._cut, "seeds come before cards"
            case table.HandEnded():
                rake = self._config_of_hand.rake
                caps = {cap.players: cap.cap for cap in rake.caps if cap.players <= self._dealt_in}
                assert not event.rake or self._pots_formed > 1, "no draw no drop, no fourth street no drop"
                assert not rake.caps or event.rake <= (caps[max(caps)] if caps else 0)
                assert event.rake % self._config_of_hand.smallest_chip == 0

    def _show_order(self) -> tuple[int, ...]:
        """H1, H6: side pots first, each clockwise from the last to bet, from the first to act, from the last of all."""
        first = self._last_bet or self._first or self._last_bet_of_all
        at = self._order.index(first) if first else self._opener()
        clockwise = [seat for seat in self._order[at:] + self._order[:at] if seat not in self._folded]
        contested = [pot.seats for pot in self._pots if len(pot.seats) > 1]
        showing: list[int] = []
        for seats in reversed(contested):
            showing += [seat for seat in clockwise if seat in seats and seat not in showing]
        return (*showing, *(seat for seat in clockwise if seat not in showing))

    def _opener(self) -> int:
        """Nobody bet or acted in the whole hand: the highest board (S7), or left of the button."""
        hand = self.state.hand
        assert hand is not None
        if self.config.game == "draw":
            return 0
        in_hand = [index for index, seat in enumerate(self._order) if seat not in self._folded]
        return max(in_hand, key=lambda index: (board_value(hand.players[index].up), -index))

    # --- dealer and wallet -------------------------------------------------------------------------------------------

    def _hear(self, event: object) -> None:
        self._check_hand(event)
        if (answer := self.dealer.answer(event)) is not None:
            self.asked_dealer.append(answer)
            if not isinstance(answer, table.HandShown):
                self._answers[answer.request_id] = answer
        match event:
            case table.DealerAskedAgain(request_id=request_id) if self._answers[request_id] not in self.asked_dealer:
                self.asked_dealer.append(self._answers[request_id])
            case table.SeatReserved():
                self._ask(money.Funded(event.transfer_id, TABLE_ID, event.player_id, event.amount))
            case table.TopUpRequested():
                player_id = self.state.transfers[event.transfer_id].player_id  # he may have left since
                self._ask(money.Funded(event.transfer_id, TABLE_ID, player_id, event.amount))
            case table.PlayerLeft() | table.RefundRequested() if event.transfer_id:
                self._ask(money.Booked(event.transfer_id, TABLE_ID, event.amount))
            case table.HandEnded() if event.transfer_id:
                self._ask(money.Booked(event.transfer_id, TABLE_ID, event.rake))
            case _:
                pass

    def _ask(self, reply: money.WalletReply) -> None:
        assert reply.transfer_id not in self.asked_wallet, "a transfer id twice"
        assert reply.amount > 0
        self.asked_wallet[reply.transfer_id] = reply

    def dealer_answers(self) -> None:
        answer = self.asked_dealer.pop(0)
        self.said.append(answer)
        assert not isinstance(self.do(answer), Rejected)

    def wallet_answers(self, which: int, *, declines: bool = False) -> None:
        transfer_id = list(self.asked_wallet)[which % len(self.asked_wallet)]
        reply = self.asked_wallet.pop(transfer_id)
        if isinstance(reply, money.Funded) and declines:
            self._reply(money.Declined(transfer_id, TABLE_ID, reply.player_id, reply.amount, "Not enough."))
            return
        self.escrow += reply.amount if isinstance(reply, money.Funded) else -reply.amount
        self._reply(reply)

    def _reply(self, reply: money.WalletReply) -> None:
        self.said.append(reply)
        assert not isinstance(self.do(reply), Rejected)

    def wallet_funds_what_nobody_asked(self, amount: int) -> None:
        """It goes back, once. (That the wallet says a thing once is the wallet's and the stream's promise.)"""
        self._given += 1
        self.escrow += amount
        answer = self.do(money.Funded(f"unknown{self._given}", TABLE_ID, "somebody", amount))
        assert not isinstance(answer, Rejected)
        assert [type(event) for event in answer.events] == [table.RefundRequested]

    def say_again(self, which: int) -> None:
        """What the dealer or the wallet has said before changes nothing."""
        if self.said:
            decision = self.do(self.said[which % len(self.said)])
            assert isinstance(decision, Rejected) or decision.events == ()

    # --- seeds -------------------------------------------------------------------------------------------------------

    def bring_seeds(self, player_id: str, secret: bytes) -> Decision | Rejected:
        elements = chain_elements(secret, 3)
        self.next_seed |= dict(pairwise(elements))
        return self.do(commands.BringSeeds(elements[0].hex()), player_id)

    def give_seed(self, number: int) -> None:
        """The next one of his chain, after one that is not it; nothing when his chain is used up."""
        hand, seat = self.state.hand, self.state.seats[number - 1]
        assert hand is not None
        assert seat is not None
        wrong = self.do(commands.GiveSeed(hand.hand_id, bytes(32).hex()), seat.player_id)
        assert isinstance(wrong, Rejected)
        if seat.seed in self.next_seed:
            given = self.do(commands.GiveSeed(hand.hand_id, self.next_seed[seat.seed].hex()), seat.player_id)
            assert not isinstance(given, Rejected)

    # --- time --------------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """The next wait runs out: just before its time nothing happens."""
        due = next_due_ms(self.state)
        if due is None:
            return
        if due > self.now:
            self.now = due - 1
            early = self.do(commands.ExpireTurn(due))
            assert isinstance(early, Rejected) or early.events == ()
        self.now = max(self.now, due)
        self.do(commands.ExpireTurn(due))
        again = self.do(commands.ExpireTurn(due))
        assert isinstance(again, Rejected) or again.events == () or next_due_ms(self.state) == due


def waits_for_the_end_of_a_hand(seat: Seat) -> bool:
    """M2, M3, T7."""
    plans = (seat.chips_waiting, seat.top_up_asked, seat.sit_out_asked, seat.leave_asked, seat.away)
    return not seat.reserved and any(plans)


def able(seat: Seat) -> bool:
    """Nothing but a partner keeps him from playing."""
    return (
        not (seat.reserved or seat.sitting_out or seat.away or seat.leave_asked or seat.sit_out_asked)
        and seat.stack > 0
    )
