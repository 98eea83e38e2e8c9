"""One server: its connections, its scripts, and what is sent to it together."""

import hashlib
from collections.abc import Sequence
from typing import Any

from redis.exceptions import NoScriptError

from brelan.eventlog.batching import Batcher
from brelan.eventlog.connections import Clients
from brelan.eventlog.encoding import script

READS_IN_FLIGHT = 4


class Script:
    """A Lua script, called by its digest."""

    def __init__(self, clients: Clients, name: str) -> None:
        self._clients = clients
        self._text = script(name)
        self._digest = hashlib.sha1(self._text.encode(), usedforsecurity=False).hexdigest()

    def calls(self, names: Sequence[str], *arguments: str | bytes | int) -> tuple[Sequence[Any], Sequence[Any]]:
        """By its digest, and in full for a server that does not know it."""
        keys_and_arguments = (len(names), *names, *arguments)
        return ("EVALSHA", self._digest, *keys_and_arguments), ("EVAL", self._text, *keys_and_arguments)

    async def __call__(self, names: Sequence[str], *arguments: str | bytes | int) -> Any:
        by_digest, by_text = self.calls(names, *arguments)
        try:
            return await self._clients.command(*by_digest)
        except NoScriptError:
            return await self._clients.command(*by_text)


class Node:
    def __init__(self, url: str) -> None:
        self.clients = Clients(url)
        self.commit = Script(self.clients, "commit")
        self.fence = Script(self.clients, "fence")
        self.lease = Script(self.clients, "lease")
        self.appends = Batcher(self.clients, in_flight=1)
        self.reads = Batcher(self.clients, in_flight=READS_IN_FLIGHT)

    async def finish(self) -> None:
        """Waits for what is out."""
        await self.appends.close()
        await self.reads.close()

    async def close(self) -> None:
        """Whoever still waits for an answer gets an error."""
        await self.clients.close()
        await self.finish()
