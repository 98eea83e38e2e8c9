"""Entries that could not be handled, kept with their errors on ``keys.dead(shard, service)`` for an operator."""

import msgspec


class DeadEntry(msgspec.Struct, frozen=True, array_like=True, tag=True):
    stream: str
    id: str
    data: bytes
    error: str


encode_dead = msgspec.msgpack.Encoder().encode
decode_dead = msgspec.msgpack.Decoder(DeadEntry).decode
