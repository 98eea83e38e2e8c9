"""A hand asked for street by street, as a table asks; the dealer's log is kept as it would be written."""

from collections.abc import Sequence

from brelan.deck.dealing import DeckState, Request, Shuffle, deal, evolve, hole_cards, shuffled, stacked
from brelan.deck.events import Answer, AnyDeckEvent, DeckSeat, DeckShuffled, HandFinished
from brelan.events.table import (
    CardsDealt,
    CardsDrawn,
    CardsRequested,
    DrawChosen,
    Pot,
    ShowdownRequested,
    ShowdownResolved,
)
from brelan.rules.cards import cards_from_text, text_of

HAND = "s00-a-1-1"


def fresh_deck(deck_size: int, players: int, shuffle: Shuffle) -> DeckShuffled:
    seats = tuple(DeckSeat(seat, f"p{seat}") for seat in range(1, players + 1))
    return shuffled(HAND, deck_size, seats, shuffle)


class DealtHand:
    """Cards go in and come out as text: ``"AsKd"``."""

    def __init__(self, deck_size: int, players: int, shuffle: Shuffle | str = "") -> None:
        """``shuffle`` as text: these cards lie on top."""
        self.shuffle = stacked(*cards_from_text(shuffle)) if isinstance(shuffle, str) else shuffle
        self.log: list[AnyDeckEvent] = [fresh_deck(deck_size, players, self.shuffle)]
        self.seats = tuple(range(1, players + 1))
        self.state = self.replayed()

    def replayed(self) -> DeckState:
        """What a dealer knows that reads the log again."""
        state: DeckState | None = None
        for event in self.log:
            state = evolve(state, event)
        assert state is not None
        return state

    def ask(self, request: Request) -> Answer:
        dealing = deal(self.state, request, self.shuffle)
        self.log += dealing.events
        self.state = dealing.state
        return dealing.answer

    def street(self, street: str, seats: Sequence[int] = ()) -> CardsDealt:
        answer = self.ask(CardsRequested(f"{HAND}:{street}", HAND, street, tuple(seats) or self.seats, 0))
        assert isinstance(answer, CardsDealt)
        return answer

    def streets(self, *streets: str, seats: Sequence[int] = ()) -> CardsDealt:
        return [self.street(street, seats) for street in streets][-1]

    def draw(self, seat: int, *positions: int) -> CardsDrawn:
        answer = self.ask(DrawChosen(seat, positions, f"{HAND}:draw:{seat}"))
        assert isinstance(answer, CardsDrawn)
        return answer

    def showdown(self, *order: int, pots: Sequence[Sequence[int]] = ()) -> ShowdownResolved:
        contested = tuple(Pot(100, tuple(seats)) for seats in pots or (order,))
        answer = self.ask(ShowdownRequested(f"{HAND}:showdown", HAND, contested, order, 0))
        assert isinstance(answer, ShowdownResolved)
        return answer

    def finish(self) -> None:
        """The table says that the hand is over."""
        self.log.append(HandFinished())
        self.state = self.replayed()

    def cards(self, seat: int) -> str:
        return text_of(hole_cards(self.state, seat).cards)

    def stub(self) -> str:
        return text_of(self.state.stub)

    def everywhere(self) -> list[int]:
        """Every card of the deck, wherever it is."""
        state = self.state
        held = [card for hand in state.hands.values() for card in hand.cards]
        community = [] if state.community is None else [state.community]
        return sorted([*held, *state.stub, *state.burned, *state.discards, *community])


def reversing() -> Shuffle:
    """The first deck in ascending order, every reshuffle in descending order: easy to tell apart."""
    decks: list[int] = []

    def shuffle(cards: Sequence[int]) -> tuple[int, ...]:
        decks.append(len(cards))
        return tuple(cards) if len(decks) == 1 else tuple(reversed(cards))

    return shuffle
