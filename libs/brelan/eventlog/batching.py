"""Commands of everybody in this process, sent together: while pipelines are out, the next one fills.

An append waits for the disk, and a thousand appends wait for it together; what a redis-py call costs is shared too.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from redis.exceptions import RedisError

from brelan.eventlog.connections import Clients, failure
from brelan.eventlog.log import LogUnavailable

MOST_COMMANDS = 1_000  # in one pipeline


class Batcher:
    """``in_flight`` 1 keeps the order in which commands were added."""

    def __init__(self, clients: Clients, in_flight: int) -> None:
        self._clients = clients
        self._in_flight = in_flight
        self._waiting: deque[tuple[Sequence[Any], asyncio.Future[Any]]] = deque()
        self._senders: set[asyncio.Task[None]] = set()
        self._sending = 0  # of them, those that will look at what is waiting once more

    def add(self, *command: Any) -> asyncio.Future[Any]:
        """The answer to come; raises LogUnavailable, or ValueError for a key that holds another kind of value."""
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, answered))
        if self._sending < self._in_flight:
            self._sending += 1
            sender = asyncio.create_task(self._send())
            self._senders.add(sender)
            sender.add_done_callback(self._senders.discard)
        return answered

    async def _send(self) -> None:
        try:
            while self._waiting:
                await self._send_some()
        finally:
            self._sending -= 1  # at once: whoever was just answered may ask again before this task counts as done

    async def _send_some(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_COMMANDS))]
        try:
            answers = await self._clients.commands([command for command, _ in batch])
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            answers = [error] * len(batch)
        for (_, answered), answer in zip(batch, answers, strict=True):
            _settle(answered, answer)

    async def close(self) -> None:
        """Waits for what is out, not for what is waiting behind it."""
        while self._waiting:
            _, answered = self._waiting.popleft()
            if not answered.done():
                answered.set_exception(LogUnavailable("the connection to the event log was closed"))
        if self._senders:
            await asyncio.wait(self._senders)


def _settle(answered: asyncio.Future[Any], answer: Any) -> None:
    if answered.done():  # its caller was cancelled
        return
    if isinstance(answer, RedisError | OSError):
        answered.set_exception(failure(answer))
    elif isinstance(answer, Exception):
        answered.set_exception(answer)
    else:
        answered.set_result(answer)
