"""Which server holds a shard: the one there is, or that of the shard's slot on a Redis Cluster (ADR 0010)."""

from typing import Protocol

from brelan.eventlog.cluster import Cluster
from brelan.eventlog.connections import Redirected, is_cluster
from brelan.eventlog.node import Node


class Router(Protocol):
    def of(self, shard: str) -> Node:
        """Raises Redirected when it is not known yet."""

    async def follow(self, redirected: Redirected) -> None:
        """A server said that the shard is elsewhere. Raises LogUnavailable when nobody knows where."""

    def doubt(self) -> None:
        """Something failed: what is known may be out of date."""

    async def ping(self) -> None:
        """Raises LogUnavailable, RedisError or OSError unless every server is there and ready."""

    async def finish(self) -> None: ...

    async def close(self) -> None: ...


class OneServer:
    def __init__(self, url: str) -> None:
        self.node = Node(url)

    def of(self, shard: str) -> Node:  # noqa: ARG002 - it holds all of them
        return self.node

    async def follow(self, redirected: Redirected) -> None:
        raise redirected  # a node of a cluster, named as if it were alone

    def doubt(self) -> None:
        """There is nowhere else to go."""

    async def ping(self) -> None:
        await self.node.reads.add("PING")

    async def finish(self) -> None:
        await self.node.finish()

    async def close(self) -> None:
        await self.node.close()


def router(url: str) -> Router:
    return Cluster(url) if is_cluster(url) else OneServer(url)
