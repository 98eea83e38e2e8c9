"""The bytes of the dealer's log as they first shipped decode for ever: a dealer of tomorrow finishes today's hand."""

import msgspec
import pytest

from brelan.deck.events import (
    AnyDeckEvent,
    DeckEntry,
    DeckPutAway,
    DeckSeat,
    DeckShuffled,
    HandDrawn,
    HandFinished,
    HandsCompared,
    HandTurnedUp,
    Reshuffled,
    StreetDealt,
    decode_entry,
    encode_entry,
)
from brelan.events.table import CardsDealt, CardsDrawn, HandShown, SeatCards, ShowdownResolved, ShownHand

SHOWN = ShownHand(1, (1, 2, 3), (1, 2, 3), "one_pair", ("A",))
GOLDEN: dict[AnyDeckEvent, str] = {
    DeckShuffled("h", 32, (DeckSeat(1, "ana"), DeckSeat(2, "zoe")), (51, 20)): (
        "9195ac4465636b53687566666c6564a168209292" "01a3616e619202a37a6f65923314"
    ),
    Reshuffled((5, 6)): "9192aa52657368756666" "6c6564920506",
    StreetDealt(CardsDealt("h:third", "h", "third", (SeatCards(1, 2, (7,)),), 1, True, 9)): (
        "9192ab53747265657444" "65616c7498aa43617264734465616c74a7683a7468697264a168a57468697264919301029107"
        "01c309"
    ),
    HandDrawn(CardsDrawn("d", "h", 2, 1, True), (4,)): (
        "9193a948616e644472" "61776e96aa4361726473447261776ea164a1680201c39104"
    ),
    HandsCompared(ShowdownResolved("s", "h", ((1,),), (SHOWN,))): (
        "9192ad48616e6473436f6d70617265" "6495b053686f77646f776e5265736f6c766564a173a168919101919501930102039301"
        "0203a86f6e655f7061697291a141"
    ),
    HandTurnedUp("r", HandShown(SHOWN)): (
        "9193ac48616e645475726e65645570a17292a948616e6453686f776e" "950193010203930102" "03a86f6e655f7061697291a141"
    ),
    HandFinished(): "9191ac48616e6446696e6973686564",
    DeckPutAway(): "9191ab4465636b50757441776179",
}  # fmt: skip


@pytest.mark.parametrize("event", GOLDEN, ids=lambda event: type(event).__name__)
def test_golden_bytes(event: AnyDeckEvent) -> None:
    assert encode_entry(DeckEntry((event,))).hex()[2:] == GOLDEN[event]
    assert decode_entry(bytes.fromhex("91" + GOLDEN[event])) == DeckEntry((event,))


def test_every_event_is_there() -> None:
    assert {type(event) for event in GOLDEN} == set(AnyDeckEvent.__args__)


def test_a_field_that_is_added_later_does_not_hurt_today() -> None:
    longer = msgspec.msgpack.encode([[["HandFinished", "something new"]]])
    assert decode_entry(longer) == DeckEntry((HandFinished(),))
