"""Rubbish for every inbox: bytes that are no message at all, whatever the stream; and messages of other streams."""

import random

from brelan.eventlog.keys import Service
from brelan.events import commands, money, table
from brelan.events.dealing import Dealt, SealedRecord
from brelan.events.envelope import CommandRefused, PlayerCommanded, TableCommitted, TurnExpired, encode
from brelan.events.money import CashierRequested, WalletReplied, WalletRequested
from brelan.telemetry import metrics

LARGEST = 2**64 - 1  # what fits into a message
LARGE = 5_000_000  # bytes

OF_STREAMS: dict[str, bytes] = {
    "commands": encode(PlayerCommanded("s00-test", "ann", "Ann", "c1", commands.Leave())),
    "dealt": encode(Dealt("s00-test", "r", table.CardsDrawn("r", "h", 1, 2))),
    "wallet-replies": encode(WalletReplied(money.Booked("t", "s00-test", 5))),
    "wallet-requests": encode(WalletRequested(money.TakeRake("rake:h", "s00-test", 5))),
    "cashier": encode(CashierRequested(money.Deposit("d", "ann", 5, "op"))),
    "feed": encode(TableCommitted("s00-nobody", 1, 1, 1, (table.TablePaused("op"),))),
    "refusal": encode(CommandRefused("s00-nobody", "ann", "c1", "no", "No.")),
    "records": encode(SealedRecord("s00-test", "h", b"sealed")),
    "time-outs": encode(TurnExpired("s00-nobody", commands.ExpireTurn(1))),
}
MEANT_FOR = {"commands": {"commands", "time-outs"}, "feed": {"feed", "refusal"}}
ELSEWHERE = "s01-other"
PLAYERS = tuple(table.HandSeat(seat, f"p{seat}", "P", 4000) for seat in (1, 2))


def no_message(inbox: str) -> dict[str, bytes]:
    """Nothing of this can be read by whoever reads this inbox."""
    chance = random.Random(7)
    of_its_own = OF_STREAMS[inbox]
    rubbish = {
        "nothing": b"",
        "a byte": b"\xc1",
        "random bytes": chance.randbytes(200),
        "text": "Ännchen".encode("latin-1"),
        "half a message": of_its_own[: len(of_its_own) // 2],
        "a message and more": of_its_own + b"\x01",
        "lists in lists": b"\x91" * 200_000 + b"\xc0",
        "maps in maps": b"\x81\xa1a" * 100_000 + b"\xc0",
        "a list that claims to be endless": b"\xdd\xff\xff\xff\xff" + b"\x01" * 100,
        "five megabytes": chance.randbytes(LARGE),
        "five megabytes of a name": b"\x96" + b"\xdb" + LARGE.to_bytes(4) + b"x" * LARGE,
        "a name that is no text": of_its_own.replace(b"s00-", b"s0\xff-").replace(b"\xa3ann", b"\xa3a\xffn"),
    }
    strange = {
        f"a message of {stream}": data
        for stream, data in OF_STREAMS.items()
        if stream not in MEANT_FOR.get(inbox, {inbox})
    }
    return rubbish | strange


def committed(*events: table.TableEvent, table_id: str = "s00-nobody", version: int = 1) -> bytes:
    return encode(TableCommitted(table_id, 1, version, 1, events))


def buried_by(service: Service) -> float:
    return float(metrics.dead_letters.labels(service.value)._value.get())
