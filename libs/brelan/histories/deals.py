"""How an archive keeps what records of the deal are made of: compressed, for most of it are names and numbers."""

import zlib

import msgspec

from brelan.events.dealing import DealRecord

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(DealRecord).decode


def written_deal(deal: DealRecord) -> bytes:
    return zlib.compress(_encode(deal), level=6)


def read_deal(written: bytes) -> DealRecord:
    return _decode(zlib.decompress(written))
