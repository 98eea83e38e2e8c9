"""Durable marks on Redis: ``WAIT`` after what goes outside the shard, then the mark; readers that heed it.

``WAIT`` answers for what was written before it on its own connection, so it goes out in one pipeline with the commit.
When the replicas do not answer in time the commit has taken effect on the master and is not acknowledged:
LogUnavailable. The owner then fences, which waits for the replicas too, and goes on as after any outage.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from redis.exceptions import NoScriptError, ResponseError

from brelan.eventlog import keys
from brelan.eventlog.connections import Clients
from brelan.eventlog.durable import Bounds, Mark, encode_mark
from brelan.eventlog.encoding import FIELD, entries_of, entries_of_streams, milliseconds
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Batch, LogUnavailable
from brelan.eventlog.node import Node


class DurableMarks:
    """Those of one shard, as one log knows them."""

    def __init__(self, shard: str, replicas: int, wait_ms: int) -> None:
        self.shard = shard
        self.replicas = replicas
        self.bounds = Bounds()
        self._wait = ("WAIT", replicas, wait_ms)
        self._ends: dict[Service, Mark] = {}

    # --- writing -----------------------------------------------------------------------------------------------

    async def commit(self, clients: Clients, by_digest: Sequence[Any], by_text: Sequence[Any]) -> Any:
        """A commit and how many replicas have it. Raises what the server answers to the commit."""
        answer, acknowledged = await clients.commands((by_digest, self._wait))
        if isinstance(answer, NoScriptError):
            answer, acknowledged = await clients.commands((by_text, self._wait))
        return _answer(answer), _answer(acknowledged)

    async def advance(self, clients: Clients, service: Service, acknowledged: int, ends: Mark) -> None:
        """Replicas have these streams up to here. Raises LogUnavailable when they are too few."""
        if service not in self._ends:  # what the mark must say of the other streams is not known
            await self.renew(clients, service)
            return
        self._check(acknowledged)
        self._ends[service] |= ends
        await self._write(clients, service)

    async def renew(self, clients: Clients, service: Service) -> None:
        """Replicas have all that the service has ever sent outward. Raises LogUnavailable when they have not.

        An increment by nothing makes ``WAIT`` speak of now: a connection that has written nothing waits for nothing.
        """
        streams = keys.outward(self.shard, service)
        asked = [("XINFO", "STREAM", stream) for stream in streams]
        touched = ("HINCRBY", keys.position(self.shard, service), "number", 0)
        *found, _, acknowledged = await clients.commands([*asked, touched, self._wait])
        self._check(_answer(acknowledged))
        ends = {stream: last_id_of(answer) for stream, answer in zip(streams, found, strict=True)}
        self._ends[service] = {stream: end for stream, end in ends.items() if end != BEGINNING}
        await self._write(clients, service)

    def _check(self, acknowledged: int) -> None:
        if acknowledged < self.replicas:
            raise LogUnavailable(
                f"{acknowledged} replicas have what was written and {self.replicas} must (BRELAN_REPLICAS): nothing is "
                "acknowledged until they do"
            )

    async def _write(self, clients: Clients, service: Service) -> None:
        mark = encode_mark(self._ends[service])
        await clients.command("XADD", keys.durable(self.shard, service), "MAXLEN", 1, "*", FIELD, mark)

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(
        self, marks: Sequence[str], cursors: Mapping[str, str], count: int, block_ms: int, node: Node
    ) -> Batch:
        """The marks, then entries up to them: in one round trip, or when a mark moves.

        What a mark says is read by itself: after a fail-over its ids may begin lower, and a reader that only waits
        for higher ones would wait for the clock.
        """
        block = ("BLOCK", block_ms) if block_ms > 0 else ()
        seen = [self.bounds.ids.get(mark, BEGINNING) for mark in marks]
        _, *newest, found, now = await node.clients.read_and(
            ("XREAD", "COUNT", 1, *block, "STREAMS", *marks, *seen),
            *(("XREVRANGE", mark, "+", "-", "COUNT", 1) for mark in marks),
            ("XREAD", "COUNT", count, "STREAMS", *cursors.keys(), *cursors.values()),
            ("TIME",),
        )
        entries = [entry for mark, answer in zip(marks, newest, strict=True) for entry in entries_of(mark, answer)]
        self.bounds = Bounds(entries)
        return Batch(self.bounds.within(entries_of_streams(found)), milliseconds(now))


def last_id_of(answer: Any) -> str:
    """From XINFO STREAM, or its error. Raises any other error."""
    if isinstance(answer, ResponseError) and str(answer).startswith("no such key"):
        return BEGINNING
    fields = dict(zip(*[iter(_answer(answer))] * 2, strict=True))
    return str(fields[b"last-generated-id"].decode())


def _answer(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer
