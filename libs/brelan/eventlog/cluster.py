"""The servers of a Redis Cluster: each shard's commands go straight to the master of its slot (ADR 0010).

Where the slots are is asked of any node once a second, and at once when something fails. ``MOVED`` is an answer:
nothing was written, and the command is sent to where it says. While a slot is being moved key by key (``ASK``,
``TRYAGAIN``) its shard is unavailable and waits.
"""

import asyncio
import bisect
import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec
from redis.exceptions import RedisError

from brelan.eventlog import keys
from brelan.eventlog.connections import Probe, Redirected, addresses, failure, url_of
from brelan.eventlog.log import LogUnavailable
from brelan.eventlog.node import Node

REFRESH_SECONDS = 1.0
SHORTEST_REFRESH_SECONDS = 0.1


class SlotRange(msgspec.Struct, frozen=True, order=True):
    first: int
    last: int
    master: str  # "host:port"


def slot_ranges(answer: Sequence[Any], asked: str) -> list[SlotRange]:
    """From ``CLUSTER SLOTS``, in order. ``asked``: the address it came from; a node may not know its own host."""
    ranges = []
    for first, last, (host, port, *_), *_replicas in answer:
        name = (host or b"").decode() or asked.rpartition(":")[0]
        if name != "?":
            ranges.append(SlotRange(first, last, f"{name}:{port}"))
    return sorted(ranges)


def slot_of_shard(shard: str) -> int:
    return keys.slot_of(keys.prefix(shard)[1:-2])  # without "{" and "}:"


class Cluster:
    def __init__(self, url: str) -> None:
        self._url = url
        self._seeds = addresses(url)
        self._ranges: list[SlotRange] = []
        self._moved: dict[int, str] = {}  # slot -> master, as a node said since the ranges were asked
        self._nodes: dict[str, Node] = {}  # kept when they are masters no more: what is out there times out by itself
        self._probes: dict[str, Probe] = {}
        self._of: dict[str, Node] = {}
        self._doubted = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    # --- where a shard is --------------------------------------------------------------------------------------

    def of(self, shard: str) -> Node:
        node = self._of.get(shard)
        if node is None:
            slot = slot_of_shard(shard)
            master = self._moved.get(slot) or self._master(slot)
            if master is None:
                raise Redirected(f"no node of the cluster has slot {slot}", slot, "")
            node = self._of[shard] = self._node(master)
        return node

    def _master(self, slot: int) -> str | None:
        place = bisect.bisect_right(self._ranges, slot, key=lambda one: one.first) - 1
        if place < 0 or slot > self._ranges[place].last:
            return None
        return self._ranges[place].master

    def _node(self, address: str) -> Node:
        if address not in self._nodes:
            self._nodes[address] = Node(url_of(self._url, address))
        return self._nodes[address]

    async def follow(self, redirected: Redirected) -> None:
        if redirected.address.partition(":")[0]:
            self._moved[redirected.slot] = redirected.address
            self._of.clear()
            self.doubt()
        else:
            await self.refresh()

    def doubt(self) -> None:
        self._doubted.set()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())

    # --- watching ----------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._doubted.wait(), REFRESH_SECONDS)
            self._doubted.clear()
            with contextlib.suppress(LogUnavailable):
                await self.refresh()
            await asyncio.sleep(SHORTEST_REFRESH_SECONDS)

    async def refresh(self) -> None:
        """Ask one node after the other where the slots are. Raises LogUnavailable when none of them knows."""
        trouble: LogUnavailable | ValueError = LogUnavailable("no node of the cluster is known")
        for address in self._to_ask():
            try:
                found = await self._probe(address).command("CLUSTER", "SLOTS")
            except (RedisError, OSError) as error:
                trouble = failure(error)
                continue
            if ranges := slot_ranges(found, address):
                self._adopt(ranges)
                return
            trouble = LogUnavailable(f"{address} knows no slots: it is no node of a cluster, or of one in the making")
        raise trouble if isinstance(trouble, LogUnavailable) else LogUnavailable(str(trouble))

    def _to_ask(self) -> list[str]:
        """Every known node, another one first each time: what one of them believes may be old."""
        known = list(dict.fromkeys((*self._probes, *(one.master for one in self._ranges), *self._seeds)))
        return known[1:] + known[:1]

    def _probe(self, address: str) -> Probe:
        probe = self._probes.pop(address, None) or Probe(url_of(self._url, address))
        self._probes[address] = probe  # asked last, and so asked last the next time
        return probe

    def _adopt(self, ranges: list[SlotRange]) -> None:
        self._moved.clear()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        if ranges == self._ranges:
            return
        self._ranges = ranges
        self._of.clear()

    # --- the store's life --------------------------------------------------------------------------------------

    async def ping(self) -> None:
        await self.refresh()
        masters = {one.master for one in self._ranges}
        await asyncio.gather(*(self._node(master).reads.add("PING") for master in masters))

    async def finish(self) -> None:
        await asyncio.gather(*(node.finish() for node in self._nodes.values()))

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await asyncio.gather(*(node.close() for node in self._nodes.values()))
        await asyncio.gather(*(probe.close() for probe in self._probes.values()))
