"""Plays a recorded hand through the rules: the deal and the actions are the file's, everything else is ours.

A file says what was done in other rooms and engines, whose rules differ from ours in two things about players who are
all-in for less. Both show in what the others then do, so both are read the file's way (``_by_the_file``):

- after a bring-in that is short, others call what is there, not the full bring-in (S13);
- where a raise starts from a short all-in that we don't count as one, it starts from there (B7).
"""

from collections.abc import Iterator

from brelan.events import commands, table
from brelan.events.config import TableConfig
from brelan.histories.phh import PhhAction, PhhHand
from brelan.rules import betting
from brelan.rules.cards import text_of
from brelan.rules.evaluation import best_hand_stud
from brelan.rules.invariants import violations
from brelan.rules.state import Rejected, TableState, Turn, in_hand, initial_state, player_at
from brelan.rules.table import AnyCommand, decide, evolve

_TABLE_ID = "s00-replay"
_DEAL_MS = 1
_WAGERS = ("bet", "raise", "complete", "bring_in")


class ReplayError(Exception):
    """The recorded hand and the rules do not fit. The message names the action and says why."""


class Replay:
    """One hand in the making. Seats are the file's players, 1 in dealing order."""

    def __init__(self, hand: PhhHand) -> None:
        self._cards: dict[int, list[int]] = {player: [] for player in range(1, len(hand.starting_stacks) + 1)}
        self._community: tuple[int, ...] = ()
        self._actions: Iterator[PhhAction] = (action for action in hand.actions if action.kind != "show")
        self._next = next(self._actions, None)
        self._asked: table.DeckRequested | table.CardsRequested | table.ShowdownRequested | None = None
        self.read_by_the_file: list[str] = []  # the actions that our rules alone would not have given
        self.state = _seated(hand)

    def play(self) -> tuple[int, ...]:
        """The stacks at the end, in the file's order. Raises ReplayError."""
        self._do(commands.ExpireTurn(_DEAL_MS), "the first deal")
        while self.state.hand is not None:
            self._step()
        if self._next is not None:
            raise ReplayError(f"the hand is over, but the file goes on with {self._next.text!r}")
        return tuple(seat.stack for seat in self.state.seats if seat is not None)

    def _step(self) -> None:
        """One thing the table waits for: a decision, cards, or the comparison of hands."""
        if self.state.turn is not None:
            self._act(self.state.turn)
        elif isinstance(self._asked, table.DeckRequested):
            self._commit(self._asked)
        elif isinstance(self._asked, table.CardsRequested):
            self._deal(self._asked)
        elif isinstance(self._asked, table.ShowdownRequested):
            self._compare(self._asked)
        else:
            raise ReplayError("the table waits for nothing, and the hand is not over")

    def _take(self, what: str) -> PhhAction:
        action = self._next
        if action is None:
            raise ReplayError(f"the file ends where {what} is due")
        self._next = next(self._actions, None)
        return action

    def _do(self, command: AnyCommand, text: str, player_id: str = "") -> None:
        try:
            decision = decide(self.state, command, now_ms=_DEAL_MS, arrived_at_ms=_DEAL_MS, player_id=player_id)
        except ValueError as error:  # cards that do not fit
            raise ReplayError(f"{text!r} does not fit: {error}") from None
        if isinstance(decision, Rejected):
            raise ReplayError(f"{text!r} was refused: {decision.message} ({decision.code})")
        if broken := violations(decision.state):
            raise ReplayError(f"after {text!r} an invariant does not hold: {'; '.join(broken)}")
        self.state = decision.state
        self._asked = None
        for event in decision.events:
            if isinstance(event, table.DeckRequested | table.CardsRequested | table.ShowdownRequested):
                self._asked = event

    def _act(self, turn: Turn) -> None:
        action = self._take(f"the decision of p{turn.seat}")
        if action.player != turn.seat:
            raise ReplayError(f"p{turn.seat} has to act, not {action.text!r}")
        chosen = self._by_the_file(turn, action)
        if chosen is None:
            legal = ", ".join(f"{legal.kind} {legal.to}" if legal.to else legal.kind for legal in turn.actions)
            raise ReplayError(f"{action.text!r} is not legal: p{turn.seat} may {legal}")
        self._do(commands.Act(turn.turn_id, chosen.kind, chosen.to), action.text, f"p{turn.seat}")

    def _by_the_file(self, turn: Turn, action: PhhAction) -> table.Action | None:
        """What the action is. A bet is matched, and raised, from what the file takes it for."""
        ours = chosen = _chosen(action, turn.actions)
        hand = self.state.hand
        assert hand is not None
        there = max(player.bet for player in hand.players)
        if there < hand.price:  # a short bring-in
            hand.price = there
            self._list_again(turn)
            chosen = _chosen(action, turn.actions)
        if chosen is None and action.kind == "bet" and hand.full_level < hand.price:
            level, hand.full_level = hand.full_level, hand.price
            self._list_again(turn)
            chosen = _chosen(action, turn.actions)
            if chosen is None:
                hand.full_level = level
                self._list_again(turn)
        if chosen is not None and chosen != ours:
            self.read_by_the_file.append(action.text)
        return chosen

    def _list_again(self, turn: Turn) -> None:
        """The turn's actions, after the hand was changed."""
        hand, config = self.state.hand, self.state.config
        assert hand is not None
        assert config is not None
        turn.actions = betting.actions(hand, config, player_at(hand, turn.seat), betting.raises_left(hand, config))

    def _commit(self, asked: table.DeckRequested) -> None:
        """To nothing: the cards are the file's."""
        nothing = bytes(32)
        hashes = (nothing, nothing, (), asked.previous, nothing)
        answer = table.DeckCommitted(asked.request_id, asked.hand_id, asked.seq, *hashes, bytes(64), nothing)
        self._do(answer, "the deck")

    def _deal(self, asked: table.CardsRequested) -> None:
        third = asked.street == "third"
        river = asked.street == "river"
        if self._next is not None and self._next.kind == "board":
            self._community = self._take("the community card").cards
            if len(self._community) != 1 or not river:
                raise ReplayError("one community card can be dealt, on the river")
            self._see(self._community)
            cards = tuple(table.SeatCards(seat, 0) for seat in asked.seats)
        else:
            cards = tuple(self._cards_for(seat, third, river) for seat in asked.seats)
        hand = self.state.hand
        assert hand is not None
        left = hand.deck_size - hand.dealt - hand.burned
        normal = not third and not self._community and left > len(asked.seats)
        dealt = table.CardsDealt(
            asked.request_id,
            asked.hand_id,
            asked.street,
            cards,
            burned=int(normal),
            reshuffled=river and not normal,
            community=self._community[0] if self._community else None,
        )
        self._do(dealt, f"the deal of {asked.street}")

    def _cards_for(self, seat: int, third: bool, river: bool) -> table.SeatCards:
        action = self._take(f"a card for p{seat}")
        wanted = 3 if third else 1
        if action.kind != "hole" or action.player != seat or len(action.cards) != wanted:
            raise ReplayError(f"p{seat} has to be dealt {wanted} card(s), not {action.text!r}")
        self._see(action.cards)
        self._cards[seat].extend(action.cards)
        if third:
            return table.SeatCards(seat, 2, action.cards[2:])
        return table.SeatCards(seat, 1) if river else table.SeatCards(seat, 0, action.cards)

    def _see(self, cards: tuple[int, ...]) -> None:
        """Other rooms may shuffle folded hands back in (S11 does not), but nobody's card is dealt again."""
        hand = self.state.hand
        assert hand is not None
        held = [card for player in in_hand(hand) for card in self._cards[player.seat]]
        if set(cards) & set(held) or len(set(cards)) < len(cards):
            raise ReplayError(f"{text_of(cards)} cannot be dealt: somebody holds such a card")

    def _compare(self, asked: table.ShowdownRequested) -> None:
        values = {seat: best_hand_stud((*self._cards[seat], *self._community)) for seat in asked.order}
        winners = []
        for pot in asked.pots:
            best = max(values[seat] for seat in pot.seats)
            winners.append(tuple(seat for seat in pot.seats if values[seat] == best))
        self._do(table.ShowdownResolved(asked.request_id, asked.hand_id, tuple(winners), ()), "the showdown")


def _seated(hand: PhhHand) -> TableState:
    """A table at which the file's players sit with their stacks, and the first hand is due."""
    config = TableConfig(
        name="replay",
        game="stud",
        lower_limit=hand.small_bet,
        upper_limit=hand.big_bet,
        seats=len(hand.starting_stacks),
        minimum_buy_in=1,
        ante=hand.ante,
        bring_in=hand.bring_in,
    )
    state = initial_state()
    evolve(state, table.TableOpened(_TABLE_ID, config, ""))
    for seat, stack in enumerate(hand.starting_stacks, start=1):
        evolve(state, table.SeatReserved(seat, f"p{seat}", f"p{seat}", stack, f"t{seat}", "wait"))
        evolve(state, table.PlayerSeated(seat, f"t{seat}"))
    evolve(state, table.NextHandScheduled(_DEAL_MS))
    return state


def _chosen(action: PhhAction, legal: tuple[table.Action, ...]) -> table.Action | None:
    match action.kind:
        case "fold":
            return next((one for one in legal if one.kind == "fold"), None)
        case "check_or_call":
            return next((one for one in legal if one.kind in ("check", "call")), None)
        case "bring_in":
            return next((one for one in legal if one.kind == "bring_in"), None)
        case "bet":
            named = [one for one in legal if one.to == action.amount]
            return next((one for one in named if one.kind in _WAGERS), named[0] if named else None)
        case _:
            return None
