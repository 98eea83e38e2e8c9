"""Dealers for the tests: the room's own, and one written apart from it whose cards a test can choose.

``Dealer`` deals one card at a time from the left (D9, S3), burns (S6), reshuffles (D11, S10) and compares hands
(D2, S14). ``wanted`` stacks the deck: by seat, the cards it is to get in the order it gets them, the drawn ones too;
what is not wanted comes from the shuffled rest.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Literal, Protocol

from brelan.deck import dealing
from brelan.deck.events import HandFinished
from brelan.events import table
from brelan.events.config import Game
from brelan.rules.cards import cards_from_text, deck
from brelan.rules.evaluation import (
    HandValue,
    best_five,
    best_hand_stud,
    hand_value_draw,
    hand_value_standard_five,
    name_of_hand,
)

Answer = table.DeckCommitted | table.CardsDealt | table.CardsDrawn | table.ShowdownResolved | table.HandShown
_CARDS_A_STREET = {"deal": 5, "third": 3, "fourth": 1, "fifth": 1, "sixth": 1, "river": 1}


def committed(request: table.DeckRequested) -> table.DeckCommitted:
    """To nothing."""
    nothing = bytes(32)
    hash_ = sha256(request.hand_id.encode()).digest()
    return table.DeckCommitted(
        request.request_id,
        request.hand_id,
        request.seq,
        nothing,
        nothing,
        (nothing, nothing),
        request.previous,
        hash_,
        bytes(64),
        nothing,
    )


class AnyDealer(Protocol):
    """Give it every event of the table; it answers those that ask it for something."""

    def answer(self, event: object) -> Answer | None: ...


class RoomDealer:
    """The room's own. ``burns``: all cards burned in the hand.

    ``alike``: a stud deck for up to four that gives everybody the same ranks as long as nobody folds, for ties.
    """

    def __init__(self, seed: int, *, alike: bool = False) -> None:
        self._random = Random(seed)
        self._alike = alike
        self._deck: dealing.DeckState | None = None
        self.burns: list[int] = []

    @property
    def now(self) -> dealing.DeckState:
        assert self._deck is not None, "no hand was dealt"
        return self._deck

    def cards(self, seat: int) -> tuple[int, ...]:
        return self.now.hands[seat].cards

    def answer(self, event: object) -> Answer | None:
        match event:
            case table.HandStarted():
                alike = self._alike and len(event.players) <= 4
                order = self._same_ranks(len(event.players)) if alike else self._shuffle(deck(event.deck_size))
                fresh = dealing.shuffled(event.hand_id, event.deck_size, dealing.seats_of(event), lambda _: order)
                self._deck = dealing.evolve(None, fresh)
                self.burns = []
                return None
            case table.DeckRequested():
                return committed(event)
            case table.CardsRequested() | table.ShowdownRequested() | table.ShowRequested():
                return self._deal(event)
            case table.DrawChosen(request_id=request_id) if request_id:
                return self._deal(event)
            case table.HandEnded():
                self._deck = dealing.evolve(self.now, HandFinished())
                return None
            case _:
                return None

    def _deal(self, request: dealing.Request) -> Answer:
        dealt = dealing.deal(self.now, request, self._shuffle)
        self._deck = dealt.state
        self.burns += dealt.state.burned[len(self.burns) :]
        return dealt.answer

    def _shuffle(self, cards: Sequence[int]) -> tuple[int, ...]:
        return tuple(self._random.sample(cards, len(cards)))

    def _same_ranks(self, players: int) -> tuple[int, ...]:
        """Seven rounds, each of one rank; a card to burn before each from the fourth on."""
        ranks = self._random.sample(range(13), 7)
        rounds = [[4 * rank + suit for suit in self._random.sample(range(4), players)] for rank in ranks]
        others = list(self._shuffle(sorted(set(deck(52)) - {card for each in rounds for card in each})))
        streets = [*rounds[:3], *([others.pop(), *each] for each in rounds[3:])]
        return (*(card for street in streets for card in street), *others)


class Dealer:
    """Written apart."""

    def __init__(
        self, game: Game, seed: int = 0, wanted: Mapping[int, str] | None = None, deck_size: Literal[52] | None = None
    ) -> None:
        self.game = game
        self.cards: dict[int, list[int]] = {}
        self.community: int | None = None
        self.stub: list[int] = []
        self.burned: list[int] = []
        self.discards: list[int] = []
        self._random = Random(seed)
        self._wanted = {seat: cards_from_text(text.replace(" ", "")) for seat, text in (wanted or {}).items()}
        self._given: dict[int, int] = {}
        self._deck_size = 52 if game == "stud" else 32
        self._always = deck_size  # five-card draw as others play it
        self._hand_id = ""

    def answer(self, event: object) -> Answer | None:
        match event:
            case table.HandStarted():
                self._shuffle(event)
            case table.DeckRequested():
                return committed(event)
            case table.CardsRequested():
                return self._deal(event)
            case table.DrawChosen(request_id=request_id) if request_id:
                return self._draw(event)
            case table.ShowdownRequested():
                return self._compare(event)
            case table.ShowRequested():
                return table.HandShown(self._shown(event.seat))
        return None

    def value(self, seat: int) -> HandValue:
        """What the seat's hand is worth."""
        cards = self._playing(seat)
        if self.game == "stud":
            return best_hand_stud(cards)
        return hand_value_standard_five(cards) if self._deck_size == 52 else hand_value_draw(cards, self._deck_size)

    def _shuffle(self, started: table.HandStarted) -> None:
        self._hand_id = started.hand_id
        self._deck_size = self._always or started.deck_size
        self.stub = list(deck(self._deck_size))
        self._random.shuffle(self.stub)
        self.burned, self.discards, self.community = [], [], None
        self.cards = {player.seat: [] for player in started.players}
        self._given = dict.fromkeys(self.cards, 0)

    def _next(self, seat: int | None) -> int:
        """The wanted card or the top one that nobody wants."""
        if seat is not None:
            given = self._given[seat]
            self._given[seat] = given + 1
            if given < len(self._wanted.get(seat, ())):
                card = self._wanted[seat][given]
                self.stub.remove(card)
                return card
        reserved = {
            card for other, cards in self._wanted.items() for card in cards[self._given.get(other, len(cards)) :]
        }
        index = next((index for index, card in enumerate(self.stub) if card not in reserved), 0)
        return self.stub.pop(index)

    def _deal(self, asked: table.CardsRequested) -> table.CardsDealt:
        burned, reshuffled = 0, False
        if asked.street == "river" and len(self.stub) <= len(asked.seats):
            reshuffled = True  # S10
            self.stub += self.burned
            self.burned = []
            self._random.shuffle(self.stub)
            if len(self.stub) < len(asked.seats):
                self.community = self._next(None)
                nothing = tuple(table.SeatCards(seat, 0) for seat in asked.seats)
                return table.CardsDealt(
                    asked.request_id, asked.hand_id, asked.street, nothing, reshuffled=True, community=self.community
                )
        elif asked.street not in ("deal", "third"):
            burned = 1
            self.burned.append(self._next(None))
        for _ in range(_CARDS_A_STREET[asked.street]):
            for seat in asked.seats:
                self.cards[seat].append(self._next(seat))
        cards = tuple(self._seen(seat, asked.street) for seat in asked.seats)
        return table.CardsDealt(asked.request_id, asked.hand_id, asked.street, cards, burned, reshuffled)

    def _seen(self, seat: int, street: str) -> table.SeatCards:
        match street:
            case "deal":
                return table.SeatCards(seat, 5)
            case "third":
                return table.SeatCards(seat, 2, (self.cards[seat][2],))
            case "river":
                return table.SeatCards(seat, 1)
            case _:
                return table.SeatCards(seat, 0, (self.cards[seat][-1],))

    def _draw(self, chosen: table.DrawChosen) -> table.CardsDrawn:
        held = self.cards[chosen.seat]
        thrown = [held[position] for position in chosen.positions]
        kept = [card for card in held if card not in thrown]
        reshuffled = len(self.stub) < len(thrown)
        if reshuffled:  # D11: the stub first, under it what others threw
            self._random.shuffle(self.discards)
            self.stub += self.discards
            self.discards = []
        drawn = [self._next(chosen.seat) for _ in thrown]
        self.discards += thrown
        self.cards[chosen.seat] = kept + drawn
        return table.CardsDrawn(chosen.request_id, self._hand_id, chosen.seat, len(thrown), reshuffled)

    def _compare(self, asked: table.ShowdownRequested) -> table.ShowdownResolved:
        winners = tuple(self.best_of(pot.seats) for pot in asked.pots)
        first = asked.order[0]
        showing = [seat for seat in asked.order if seat == first or any(seat in each for each in winners)]
        hands = tuple(self._shown(seat) for seat in showing)
        return table.ShowdownResolved(asked.request_id, asked.hand_id, winners, hands)

    def best_of(self, seats: Sequence[int]) -> tuple[int, ...]:
        best = max(self.value(seat) for seat in seats)
        return tuple(seat for seat in seats if self.value(seat) == best)

    def _playing(self, seat: int) -> tuple[int, ...]:
        return (*self.cards[seat], *(() if self.community is None else (self.community,)))

    def _shown(self, seat: int) -> table.ShownHand:
        name = name_of_hand(self.value(seat))
        best = best_five(self._playing(seat), self._deck_size)
        return table.ShownHand(seat, tuple(self.cards[seat]), best, name.category, name.ranks)
