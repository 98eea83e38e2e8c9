"""What wraps commands and facts on a stream, and the one encoder and decoder of each stream."""

import msgspec

from brelan.events.commands import ClientCommand, ExpireTurn
from brelan.events.dealing import Dealt, HandRecord, HandSecrets, HoleCards, PlayersBoxes, SealedRecord
from brelan.events.money import CashierRequested, WalletReplied, WalletRequested
from brelan.events.table import TableEvent


class PlayerCommanded(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """On ``commands``, from a gateway, which has checked who he is and that his role allows it."""

    table_id: str
    player_id: str
    name: str
    command_id: str  # chosen by the client: repeating it gets the same answer
    command: ClientCommand
    trace: str = ""
    operator: bool = False


class TurnExpired(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """On ``commands``, from the timer."""

    table_id: str
    command: ExpireTurn
    trace: str = ""


class GatewayAlive(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """On ``commands``, from every gateway twice a second: while none is heard, no clock is enforced."""

    gateway: str


class TailLost(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """On ``commands``, from a reader outside the shard (gateway, wallet, history): it saw more than is there now."""

    reader: str  # "<service>" or "<service>/<name>"
    epoch: int  # the highest it has seen
    stream: str
    id: str  # of the last entry it had taken, which is not there any more, or is another one


class Epoch(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """In the shard's key ``epoch``: (epoch, version) of a table's log never comes again with other content."""

    number: int
    server: str  # which server's memory it stands in: on another one a tail may be missing


class TableCommitted(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """One decided command and all that followed from it: an entry of the table's log, and of the feed."""

    table_id: str
    epoch: int
    version: int  # 1, 2, 3 ... without a gap
    at_ms: int  # the table's ``now`` when it was decided
    events: tuple[TableEvent, ...]
    cause: str = ""  # "<stream>/<id>" of the entry that led to it
    trace: str = ""
    player_id: str = ""  # who commanded it, when a client did ...
    command_id: str = ""  # ... and the id of that command, acknowledged by this entry


class CommandRefused(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """On the feed only: an answer, not a fact."""

    table_id: str
    player_id: str
    command_id: str
    code: str
    message: str
    cause: str = ""
    trace: str = ""


class CommandRepeated(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """On the feed only: this command id was answered before, and this was the answer."""

    table_id: str
    player_id: str
    command_id: str
    version: int  # of the accepted command; 0 when it was refused
    code: str = ""
    message: str = ""
    cause: str = ""
    trace: str = ""


FeedEntry = TableCommitted | CommandRefused | CommandRepeated
CommandEntry = PlayerCommanded | TurnExpired | GatewayAlive | TailLost

encode = msgspec.msgpack.Encoder().encode

decode_command = msgspec.msgpack.Decoder(CommandEntry).decode
decode_feed = msgspec.msgpack.Decoder(FeedEntry).decode
decode_committed = msgspec.msgpack.Decoder(TableCommitted).decode
decode_epoch = msgspec.msgpack.Decoder(Epoch).decode
decode_dealt = msgspec.msgpack.Decoder(Dealt).decode
decode_hole_cards = msgspec.msgpack.Decoder(HoleCards).decode
decode_players_boxes = msgspec.msgpack.Decoder(PlayersBoxes).decode
decode_record = msgspec.msgpack.Decoder(HandRecord).decode
decode_hand_secrets = msgspec.msgpack.Decoder(HandSecrets).decode
decode_sealed_record = msgspec.msgpack.Decoder(SealedRecord).decode
decode_wallet_request = msgspec.msgpack.Decoder(WalletRequested).decode
decode_wallet_reply = msgspec.msgpack.Decoder(WalletReplied).decode
decode_cashier = msgspec.msgpack.Decoder(CashierRequested).decode
