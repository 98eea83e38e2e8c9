"""Hands of both games, played by the deck's own state machine from one seed, with their records."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brelan.deck.dealing import STUD_STREETS, DeckState, Request, deal, evolve, shuffled
from brelan.deck.events import AnyDeckEvent, DeckSeat
from brelan.deck.fair.audit import cards_and_thrown
from brelan.deck.fair.chains import SeedChain, chain_elements
from brelan.deck.fair.commitment import FIRST_PREVIOUS
from brelan.deck.fair.hand import FairHand, seal, void
from brelan.deck.fair.kept import Kept, commit
from brelan.deck.fair.record import Own, Public, Record, Seed, encode
from brelan.events.table import CardsRequested, DrawChosen, Pot, ShowdownRequested, ShowRequested

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC_KEY = KEY.public_key().public_bytes_raw().hex()


@dataclass
class Player:
    elements: tuple[bytes, ...]
    chain: SeedChain

    @classmethod
    def new(cls, chance: random.Random, length: int = 4) -> "Player":
        elements = chain_elements(chance.randbytes(32), length)
        return cls(elements, SeedChain(elements[0]))

    def seed(self, seat: int) -> Seed:
        before = self.chain
        self.chain = before.accept(self.elements[before.index + 1])
        return Seed(seat, self.chain.index, before.last.hex(), self.chain.last.hex())


@dataclass
class Played:
    kept: Kept
    fair: FairHand
    state: DeckState
    events: list[AnyDeckEvent]
    public: Public
    cards: tuple[int, ...]  # as dealt, burned ones too
    thrown: tuple[tuple[int, ...], ...]

    def record(self, seat: int | None) -> Record:
        return seal(self.public, KEY, None if seat is None else self.own(seat))

    def own(self, seat: int) -> Own:
        element = next((seed.element for seed in self.kept.seeds if seed.seat == seat), None)
        answered = self.kept.commitment.hash() if element else None
        return Own(seat, answered, element, self.fair.own_openings(seat))


class Game:
    """One hand being dealt."""

    def __init__(self, kept: Kept, seats: tuple[int, ...]) -> None:
        self.kept, self.seats = kept, seats
        self.fair = FairHand(kept)
        hand_id, size = kept.commitment.hand_id, kept.commitment.cards
        players = tuple(DeckSeat(seat, f"p{seat}") for seat in seats)
        first = shuffled(hand_id, size, players, self.fair.shuffle)
        self.fair.follow(first)
        self.events: list[AnyDeckEvent] = [first]
        state = evolve(None, first)
        assert state is not None
        self.state = state

    def ask(self, request: Request) -> None:
        dealing = deal(self.state, request, self.fair.shuffle)
        for event in dealing.events:
            self.fair.follow(event)
            self.events.append(event)
        self.state = dealing.state

    def street(self, name: str, seats: tuple[int, ...]) -> None:
        self.ask(CardsRequested(f"{self.state.hand_id}:{name}", self.state.hand_id, name, seats, 0))

    def showdown(self, seats: tuple[int, ...]) -> None:
        self.ask(ShowdownRequested(f"{self.state.hand_id}:s", self.state.hand_id, (Pot(10, seats),), seats, 0))

    def show(self, seat: int) -> None:
        self.ask(ShowRequested(f"{self.state.hand_id}:show:{seat}", self.state.hand_id, seat))

    def over(self) -> Played:
        return Played(self.kept, self.fair, self.state, self.events, self.fair.public(), *cards_and_thrown(self.events))


def kept_for(
    chance: random.Random, game: str, cards: int, *, hand_id: str = "t1-1", seq: int = 1, previous: str = FIRST_PREVIOUS
) -> Kept:
    secret, reshuffles = chance.randbytes(32), (chance.randbytes(32), chance.randbytes(32))
    return commit(
        secret, reshuffles, KEY, hand_id=hand_id, seq=seq, table_id="t1", game=game, cards=cards, previous=previous
    )


def play(chance: random.Random, kept: Kept, seats: tuple[int, ...]) -> Played:
    """To the end or, now and then, until all but one have folded."""
    game = Game(kept, seats)
    if kept.commitment.game == "draw":
        _play_draw(chance, game, seats)
    else:
        _play_stud(chance, game, seats)
    return game.over()


def _folded(chance: random.Random, live: tuple[int, ...], likely: float) -> tuple[int, ...]:
    staying = tuple(seat for seat in live if chance.random() >= likely)
    return staying or live[:1]


def _play_draw(chance: random.Random, game: Game, seats: tuple[int, ...]) -> None:
    game.street("deal", seats)
    live = _folded(chance, seats, chance.choice((0.0, 0.1, 0.4)))
    if len(live) == 1:
        return
    for seat in live:
        if thrown := chance.choice((0, 1, 2, 3, 3, 4, 5, 5)):
            positions = tuple(sorted(chance.sample(range(5), thrown)))
            game.ask(DrawChosen(seat, positions, f"{game.state.hand_id}:d{seat}"))
    game.showdown(live)
    if chance.random() < 0.3:
        game.show(live[-1])


def _play_stud(chance: random.Random, game: Game, seats: tuple[int, ...]) -> None:
    live, likely = seats, chance.choice((0.0, 0.0, 0.05, 0.2))
    for name in STUD_STREETS:
        game.street(name, live)
        live = _folded(chance, live, likely)
        if len(live) == 1:
            return
    game.showdown(live)


def hand(number: int) -> tuple[Record, Played | None]:
    """The hand of this number, and one player's record (or a stranger's). Some are void, some seats have no chain."""
    chance = random.Random(number)
    game = chance.choice(("draw", "stud"))
    count = chance.choice((2, 3, 4, 5, 5)) if game == "draw" else chance.choice((2, 4, 6, 7, 7, 8, 8))
    cards = 52 if game == "stud" else 36 if count == 5 else 32
    seats = tuple(range(count))
    kept = kept_for(chance, game, cards, hand_id=f"t1-{number}")
    chained = [seat for seat in seats if chance.random() < 0.7]
    seeds = [Player.new(chance).seed(seat) for seat in chained]
    if chained and chance.random() < 0.05:
        return seal(void(kept.seeded(seeds[1:]), [seeds[0].seat]), KEY), None
    start = chance.randrange(count) if game == "draw" else 0
    played = play(chance, kept.seeded(seeds), seats[start:] + seats[:start])
    return played.record(chance.choice((None, *seats))), played


def corpus(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield encode(hand(number)[0])
