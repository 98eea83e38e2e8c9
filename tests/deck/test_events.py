"""The bytes of the dealer's log as they first shipped decode for ever: a dealer of tomorrow finishes today's hand."""

import msgspec
import pytest

from brelan.deck.events import (
    AnyDeckEvent,
    DeckEntry,
    DeckPrepared,
    DeckPutAway,
    DeckSeat,
    DeckShuffled,
    HandDrawn,
    HandFinished,
    HandsCompared,
    HandTurnedUp,
    KeyChanged,
    Reshuffled,
    StreetDealt,
    decode_entry,
    encode_entry,
)
from brelan.deck.fair.commitment import Commitment
from brelan.deck.fair.kept import Kept
from brelan.events.table import CardsDealt, CardsDrawn, HandShown, SeatCards, ShowdownResolved, ShownHand

SHOWN = ShownHand(1, (1, 2, 3), (1, 2, 3), "one_pair", ("A",))
COMMITMENT = Commitment("h", 1, "t", "draw", 32, "00" * 32, "01" * 32, ("02" * 32,), "03" * 32)
KEPT = Kept(b"s", (b"e",), COMMITMENT, "04" * 64, "05" * 32)
GOLDEN: dict[AnyDeckEvent, str] = {
    DeckPrepared("h", 32, (DeckSeat(1, "ana", b"k"),), KEPT): (
        "9195ac4465636b5072657061726564a16820919301a3616e61c4016b96c4017391c4016589a768616e645f6964a168a373657101a8"
        "7461626c655f6964a174a467616d65a464726177a5636172647320a4726f6f74d94030303030303030303030303030303030"
        "303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030ab73"
        "65637265745f68617368d9403031303130313031303130313031303130313031303130313031303130313031303130313031"
        "3031303130313031303130313031303130313031303130313031b0726573687566666c655f68617368657391d94030323032"
        "3032303230323032303230323032303230323032303230323032303230323032303230323032303230323032303230323032"
        "30323032303230323032a870726576696f7573d9403033303330333033303330333033303330333033303330333033303330"
        "3330333033303330333033303330333033303330333033303330333033303330333033d98030343034303430343034303430"
        "3430343034303430343034303430343034303430343034303430343034303430343034303430343034303430343034303430"
        "3430343034303430343034303430343034303430343034303430343034303430343034303430343034303430343034303430"
        "343034303430343034303430343034d940303530353035303530353035303530353035303530353035303530353035303530"
        "3530353035303530353035303530353035303530353035303530353035303590"
    ),
    DeckShuffled("h", 32, (DeckSeat(1, "ana", b"k"), DeckSeat(2, "zoe")), (51, 20)): (
        "9196ac4465636b53687566666c6564a16820929301a3616e61c4016b9302a37a6f65c40092331490"
    ),
    Reshuffled((5, 6)): "9192aa52657368756666" "6c6564920506",
    StreetDealt(CardsDealt("h:third", "h", "third", (SeatCards(1, 2, (7,)),), 1, True, 9)): (
        "9192ab5374726565744465616c7499aa43617264734465616c74a7683a7468697264a168a5746869726491930102910701c3"
        "09c400"
    ),
    HandDrawn(CardsDrawn("d", "h", 2, 1, True), (4,)): (
        "9193a948616e64447261776e97aa4361726473447261776ea164a1680201c3c4009104"
    ),
    HandsCompared(ShowdownResolved("s", "h", ((1,),), (SHOWN,))): (
        "9192ad48616e6473436f6d70617265" "6495b053686f77646f776e5265736f6c766564a173a168919101919501930102039301"
        "0203a86f6e655f7061697291a141"
    ),
    HandTurnedUp("r", HandShown(SHOWN)): (
        "9193ac48616e645475726e65645570a17292a948616e6453686f776e" "950193010203930102" "03a86f6e655f7061697291a141"
    ),
    KeyChanged(2, b"k"): "9193aa4b65794368616e67656402c4016b",
    HandFinished(): "9191ac48616e6446696e6973686564",
    DeckPutAway(): "9191ab4465636b50757441776179",
}  # fmt: skip


@pytest.mark.parametrize("event", GOLDEN, ids=lambda event: type(event).__name__)
def test_golden_bytes(event: AnyDeckEvent) -> None:
    assert encode_entry(DeckEntry((event,))).hex()[2:] == GOLDEN[event]
    assert decode_entry(bytes.fromhex("91" + GOLDEN[event])) == DeckEntry((event,))


def test_seats_of_before_players_had_keys() -> None:
    now = "9196ac4465636b53687566666c6564a16820929301a3616e61c4016b9302a37a6f65c40092331490"
    then = now.replace("9301a3616e61c4016b", "9201a3616e61").replace("9302a37a6f65c400", "9202a37a6f65")
    seats = (DeckSeat(1, "ana"), DeckSeat(2, "zoe"))
    assert decode_entry(bytes.fromhex("91" + then)) == DeckEntry((DeckShuffled("h", 32, seats, (51, 20)),))


def test_every_event_is_there() -> None:
    assert {type(event) for event in GOLDEN} == set(AnyDeckEvent.__args__)


def test_a_field_that_is_added_later_does_not_hurt_today() -> None:
    longer = msgspec.msgpack.encode([[["HandFinished", "something new"]]])
    assert decode_entry(longer) == DeckEntry((HandFinished(),))
