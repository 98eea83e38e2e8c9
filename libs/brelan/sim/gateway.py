"""A gateway's shards, and the players' connections to it.

Commands, feed, folding, resuming and own cards are the gateway's own code. Left out is what lies before it: HTTP,
tickets, frames, limits. A message is text as on a socket, and the player's side reads it as his client does.
"""

import asyncio
from typing import Protocol

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.log import LogUnavailable
from brelan.events.commands import ClientCommand
from brelan.events.envelope import PlayerCommanded
from brelan.sim.faults import Killed
from brelan.sim.processes import Process
from brelan.sim.services import Secrets
from brelan.sim.store import Servers
from brelan_gateway.feed import ShardFeed, Since
from brelan_gateway.hole_cards import HoleCardReader
from brelan_gateway.inbox import Answer, Inbox
from brelan_gateway.refusals import Refusal

BUSY_AFTER_MS = 5_000


class Gateway:
    """One life of a gateway."""

    def __init__(self, servers: Servers, secrets: Secrets, shards: tuple[str, ...], process: Process) -> None:
        self.process = process
        self.sessions: dict[Session, None] = {}
        store = servers.door(process)
        self._inboxes: dict[str, Inbox] = {}
        self._feeds: dict[str, ShardFeed] = {}
        for shard in shards:
            log = store.log(shard)
            inbox = self._inboxes[shard] = Inbox(log, process.name, BUSY_AFTER_MS)
            self._feeds[shard] = ShardFeed(log, inbox, HoleCardReader(log, secrets.open_hole_cards))

    async def run(self) -> None:
        stop = self.process.stop
        await asyncio.gather(
            *(inbox.run(stop) for inbox in self._inboxes.values()), *(feed.run(stop) for feed in self._feeds.values())
        )

    def feed(self, table_id: str) -> ShardFeed:
        return self._feeds[keys.shard_of(table_id)]

    def inbox(self, table_id: str) -> Inbox:
        return self._inboxes[keys.shard_of(table_id)]

    def died(self) -> None:
        for session in list(self.sessions):
            session.cut()


class Sent(msgspec.Struct, frozen=True):
    """A command as a client sends it."""

    table_id: str
    player_id: str
    name: str
    command_id: str
    command: ClientCommand
    operator: bool = False


class Client(Protocol):
    @property
    def player_id(self) -> str: ...

    @property
    def name(self) -> str: ...

    def hear(self, text: str) -> None: ...

    def answered(self, sent: Sent, answer: Answer) -> None: ...

    def disconnected(self, session: "Session") -> None: ...


class Session:
    """One connection of a client to a table: a ``Watcher`` of the feed."""

    def __init__(self, gateway: Gateway, client: Client, table_id: str, number: int) -> None:
        self.gateway = gateway
        self.table_id = table_id
        self.player_id = client.player_id
        self.name = client.name
        self.version = 0
        self.open = True
        self._client = client
        self._number = number
        self._held: list[str] | None = []  # until the first messages are there

    def __hash__(self) -> int:
        return self._number  # so that the order of a feed's watchers is the same every time

    def __eq__(self, other: object) -> bool:
        return self is other

    def start(self, since: Since | None) -> None:
        self.gateway.sessions[self] = None
        asyncio.get_running_loop().create_task(self._join(since)).add_done_callback(_note)

    async def _join(self, since: Since | None) -> None:
        try:
            first = await self.gateway.feed(self.table_id).join(self.table_id, self, since)
        except (Refusal, LogUnavailable, Killed):
            self.cut()
            return
        held, self._held = self._held or [], None
        for text in (*first, *held):
            self._deliver(text)

    # --- for the feed ------------------------------------------------------------------------------------------

    def push(self, message: str, arrived: float = 0.0) -> None:  # noqa: ARG002 - nothing is measured here
        if self._held is not None:
            self._held.append(message)
        elif self.open:
            asyncio.get_running_loop().call_soon(self._deliver, message)

    def close(self, code: int, reason: str) -> None:  # noqa: ARG002 - a client comes back whatever it was
        self.cut()

    # --- for the client ----------------------------------------------------------------------------------------

    def send(self, sent: Sent) -> None:
        """It may be lost: the gateway is dead, or behind. The client asks again."""
        if not self.gateway.process.alive:
            return
        command = PlayerCommanded(
            sent.table_id, sent.player_id, sent.name, sent.command_id, sent.command, operator=sent.operator
        )
        try:
            arrived = asyncio.get_running_loop().time()
            self.gateway.inbox(sent.table_id).send(command, arrived, lambda answer: self._answer(sent, answer))
        except Refusal:
            return

    def _answer(self, sent: Sent, answer: Answer) -> None:
        if self.gateway.process.alive and self.open:
            asyncio.get_running_loop().call_soon(self._client.answered, sent, answer)

    def _deliver(self, text: str) -> None:
        if self.open and self.gateway.process.alive:
            self._client.hear(text)

    def cut(self) -> None:
        """The connection is gone, on both sides."""
        if not self.open:
            return
        self.open = False
        self.gateway.sessions.pop(self, None)
        self.gateway.feed(self.table_id).leave(self.table_id, self)
        self._client.disconnected(self)


def _note(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error  # to the loop's handler of exceptions
