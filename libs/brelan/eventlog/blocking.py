"""Plain clients of the event log, for code without asyncio: Celery's tasks. On a cluster, those of the slots' masters.

Nothing is sent again here: what fails raises, and whoever asked knows whether it may be repeated.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from redis import Redis
from redis.exceptions import MovedError, RedisError

from brelan.eventlog.cluster import SlotRange, slot_of_shard, slot_ranges
from brelan.eventlog.connections import addresses, blocking_client, is_cluster, url_of
from brelan.eventlog.log import LogUnavailable

Answer = TypeVar("Answer")


class BlockingStore:
    """Shared by threads."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._only = None if is_cluster(url) else blocking_client(url)
        self._clients: dict[str, Redis] = {}
        self._ranges: list[SlotRange] = []
        self._changing = threading.Lock()

    def on(self, shard: str, call: Callable[[Redis], Answer]) -> Answer:
        """``call`` with the client that has the shard; with the right one when that one had it no more.

        Raises RedisError, OSError, LogUnavailable.
        """
        try:
            return call(self.client(shard))
        except MovedError:
            self._forget()
            return call(self.client(shard))
        except (RedisError, OSError):
            self._forget()
            raise

    def client(self, shard: str) -> Redis:
        if self._only is not None:
            return self._only
        with self._changing:
            slot = slot_of_shard(shard)
            if not self._ranges:
                self._ranges = self._ask()
            for one in self._ranges:
                if one.first <= slot <= one.last:
                    return self._client(one.master)
        raise LogUnavailable(f"no node of the cluster has slot {slot}")

    def spread(self, shards: Sequence[str]) -> list[tuple[Redis, list[str]]]:
        """Each client with its shards, as of now."""
        self._forget()
        found: dict[Redis, list[str]] = {}
        for shard in shards:
            found.setdefault(self.client(shard), []).append(shard)
        return list(found.items())

    def _ask(self) -> list[SlotRange]:
        trouble: Exception = LogUnavailable("no node of the cluster is known")
        for address in dict.fromkeys((*self._clients, *addresses(self._url))):
            try:
                if found := slot_ranges(self._client(address).execute_command("CLUSTER", "SLOTS"), address):  # type: ignore[no-untyped-call]
                    return found
            except (RedisError, OSError) as error:
                trouble = error
        raise trouble

    def _client(self, address: str) -> Redis:
        if address not in self._clients:
            self._clients[address] = blocking_client(url_of(self._url, address))
        return self._clients[address]

    def _forget(self) -> None:
        with self._changing:
            self._ranges = []

    def close(self) -> None:
        for client in (*self._clients.values(), *([self._only] if self._only else [])):
            client.close()

    def __enter__(self) -> "BlockingStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
