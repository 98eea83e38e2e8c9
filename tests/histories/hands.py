"""Hands to write histories of: the log entries of a table, as the table service would commit them."""

from collections.abc import Sequence

import msgspec

from brelan.events import table
from brelan.events.config import Rake, RakeCap, TableConfig
from brelan.events.dealing import HandRecord, SeatRecord
from brelan.events.envelope import TableCommitted, encode
from brelan.events.table import HandSeat, Pot, PotShare, SeatCards, ShownHand, TableEvent
from brelan.rules.cards import cards_from_text as cards
from tests import tables

TABLE = "s00-a"
START_MS = 1_764_558_000_000
STUD = msgspec.structs.replace(tables.STUD, name="Stud two four", rake=Rake(500, (RakeCap(2, 100),)))
DRAW = msgspec.structs.replace(tables.DRAW, name="Draw two four")

# (events of one entry, ...) for each entry
Script = Sequence[Sequence[TableEvent]]


class Log:
    """A table's log in the making."""

    def __init__(self, config: TableConfig = STUD, table_id: str = TABLE) -> None:
        self.table_id = table_id
        self.entries: list[TableCommitted] = []
        self.add(table.TableOpened(table_id, config, "operator"))

    def add(self, *events: TableEvent) -> None:
        version = len(self.entries) + 1
        at_ms = START_MS + 1000 * version
        self.entries.append(TableCommitted(self.table_id, 1, version, at_ms, tuple(events)))

    def play(self, script: Script) -> None:
        for events in script:
            self.add(*events)

    @property
    def data(self) -> list[bytes]:
        return [encode(entry) for entry in self.entries]


def hand_id(number: int, table_id: str = TABLE) -> str:
    return f"{table_id}:1:{number}"


def players(*seats: int, stack: int = 4000) -> tuple[HandSeat, ...]:
    return tuple(HandSeat(seat, f"p{seat}", f"Player{seat}", stack) for seat in seats)


def shown(seat: int, text: str, category: str = "one_pair", ranks: tuple[str, ...] = ("K",)) -> ShownHand:
    own = cards(text)
    return ShownHand(seat, own, own[:5], category, ranks)


STUD_CARDS = {2: "KhKs2c3d5h7c9s", 4: "AhAs4c6d8hTcJs", 5: "2d2h9c"}
STUD_RECORD = HandRecord(
    TABLE, hand_id(1), tuple(SeatRecord(seat, f"p{seat}", cards(text)) for seat, text in STUD_CARDS.items())
)


def stud_hand(number: int = 1, table_id: str = TABLE) -> Script:
    """Seat 5 folds; 4 wins the showdown with aces, 2 loses it and mucks. Down are cards 1, 2 and 7."""
    name = hand_id(number, table_id)
    up = {seat: cards(text)[2:6] for seat, text in STUD_CARDS.items()}
    script: list[list[TableEvent]] = [
        [
            table.HandStarted(name, number, 52, players(2, 4, 5)),
            *(table.Posted(seat, "ante", 40) for seat in (2, 4, 5)),
            table.CardsRequested(f"{name}:third", name, "third", (2, 4, 5), 0),
        ],
        [
            table.CardsDealt(
                f"{name}:third", name, "third", tuple(SeatCards(seat, 2, up[seat][:1]) for seat in (2, 4, 5))
            ),
            table.TurnOpened(1, 2, 0, ()),
        ],
        [table.BetPlaced(2, "bring_in", 100, 100), table.TurnOpened(2, 4, 0, ())],
        [table.BetPlaced(4, "complete", 200, 200), table.TurnOpened(3, 5, 0, ())],
        [table.Folded(5), table.TurnOpened(4, 2, 0, ())],
        [table.BetPlaced(2, "call", 100, 200), table.PotsFormed((Pot(520, (2, 4)),))],
    ]
    for place, street in enumerate(("fourth", "fifth", "sixth"), start=1):
        script += [
            [
                table.CardsDealt(
                    f"{name}:{street}",
                    name,
                    street,
                    tuple(SeatCards(seat, 0, up[seat][place : place + 1]) for seat in (2, 4)),
                    burned=1,
                )
            ],
            [table.Checked(2)],
            [table.Checked(4), table.PotsFormed((Pot(520, (2, 4)),))],
        ]
    script += [
        [table.CardsDealt(f"{name}:river", name, "river", (SeatCards(2, 1), SeatCards(4, 1)), burned=1)],
        [table.Checked(2)],
        [
            table.Checked(4),
            table.PotsFormed((Pot(520, (2, 4)),)),
            table.ShowdownRequested(f"{name}:showdown", name, (Pot(520, (2, 4)),), (4, 2), 0),
        ],
        [
            table.ShowdownResolved(f"{name}:showdown", name, ((4,),), (shown(4, STUD_CARDS[4], ranks=("A",)),)),
            table.HandShown(shown(4, STUD_CARDS[4], ranks=("A",))),
            table.PotAwarded(0, 520, 26, (PotShare(4, 494),)),
            table.HandMucked(2),
            table.ShowOffered((2,)),
            table.HandEnded(name, 26, (PotShare(2, 3760), PotShare(4, 4254), PotShare(5, 3960)), f"rake:{name}"),
            table.NextHandScheduled(0),
        ],
    ]
    return script


DRAW_CARDS = {1: ("AhAsKdQc9h", "7d"), 2: ("7h8h9cTdJs", ""), 3: ("AcAdKhQs8c", "")}
DRAW_RECORD = HandRecord(
    TABLE,
    hand_id(1),
    tuple(SeatRecord(seat, f"p{seat}", cards(kept), cards(thrown)) for seat, (kept, thrown) in DRAW_CARDS.items()),
)


def draw_hand(number: int = 1, table_id: str = TABLE) -> Script:
    """Seat 1 (the button, small blind 2, big blind 3) draws one and bets; nobody calls: a winner who need not show."""
    name = hand_id(number, table_id)
    return [
        [
            table.HandStarted(name, number, 32, players(2, 3, 1), 1, 2, 3),
            table.Posted(2, "small_blind", 100),
            table.Posted(3, "big_blind", 200),
            table.CardsRequested(f"{name}:deal", name, "deal", (2, 3, 1), 0),
        ],
        [table.CardsDealt(f"{name}:deal", name, "deal", tuple(SeatCards(seat, 5) for seat in (2, 3, 1)))],
        [table.BetPlaced(1, "call", 200, 200)],
        [table.TimedOut(2, 2), table.AllInByTime(2)],
        [table.Checked(3), table.PotsFormed((Pot(300, (1, 2, 3)), Pot(200, (1, 3))))],
        [table.DrawChosen(2, (), "", cause="time")],
        [table.DrawChosen(3, (), "")],
        [table.DrawChosen(1, (2,), f"{name}:draw:1")],
        [table.CardsDrawn(f"{name}:draw:1", name, 1, 1)],
        [table.Checked(3)],
        [table.BetPlaced(1, "bet", 400, 400)],
        [
            table.Folded(3),
            table.BetReturned(1, 400),
            table.PotsFormed((Pot(300, (1, 2)), Pot(200, (1,)))),
            table.PotAwarded(1, 200, 0, (PotShare(1, 200),)),
            table.ShowdownRequested(f"{name}:showdown", name, (Pot(300, (1, 2)),), (1, 2), 0),
        ],
        [
            table.ShowdownResolved(
                f"{name}:showdown", name, ((2,),), (shown(1, DRAW_CARDS[1][0]), shown(2, DRAW_CARDS[2][0], "straight"))
            ),
            table.PotAwarded(0, 300, 0, (PotShare(2, 300),)),
            table.HandEnded(name, 0, (PotShare(2, 4200), PotShare(3, 3800), PotShare(1, 4000))),
        ],
    ]


def walk(number: int = 1, table_id: str = TABLE) -> Script:
    """Stud: 4 folds to 2's completion; the winner was not called and shows nothing (H2)."""
    name = hand_id(number, table_id)
    return [
        [
            table.HandStarted(name, number, 52, players(2, 4)),
            table.Posted(2, "ante", 40),
            table.Posted(4, "ante", 40),
        ],
        [table.CardsDealt(f"{name}:third", name, "third", (SeatCards(2, 2, (0,)), SeatCards(4, 2, (51,))))],
        [table.BetPlaced(2, "bring_in", 200, 200)],
        [
            table.Folded(4),
            table.BetReturned(2, 200),
            table.PotAwarded(0, 80, 0, (PotShare(2, 80),)),
            table.HandEnded(name, 0, (PotShare(2, 4040), PotShare(4, 3960))),
            table.ShowOffered((2,)),
        ],
    ]
