"""One socket: a reader and a writer, and between them and the feed a bounded queue.

Nobody waits for a slow reader: when his queue is full, or one write takes too long, his connection is cut.
"""

import asyncio
import contextlib
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, MutableMapping
from typing import Any

import msgspec
import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from brelan.events.envelope import PlayerCommanded
from brelan.telemetry import metrics
from brelan.views import messages
from brelan.views.messages import Ack, CommandMessage, Notice, OperatorsCommand, Ping, Pong, Refused, encode
from brelan_gateway import refusals
from brelan_gateway.clock import RoomClock
from brelan_gateway.identity import Identity
from brelan_gateway.inbox import Answer, Inbox
from brelan_gateway.limits import Bucket
from brelan_gateway.refusals import Refusal

OUTBOX_MESSAGES = 512
WRITE_SECONDS = 5.0
SILENT_SECONDS = 30.0
SOCKETS_PER_TABLE = 8  # of one player
REASON_BYTES = 120  # a close frame has room for 123

ABORT = "brelan.abort"  # the connection's, in the scope's extensions

logger = structlog.get_logger(__name__)
Closing = tuple[int, str]


class Socket:
    """A watcher of one table. ``held``: what is pushed waits until the first messages are there."""

    def __init__(
        self,
        websocket: WebSocket,
        identity: Identity,
        table_id: str,
        inbox: Inbox,
        clock: RoomClock,
        commands: Bucket,
    ) -> None:
        self.player_id = identity.player_id
        self.name = identity.name
        self.table_id = table_id
        self.version = 0
        self._identity = identity
        self._websocket = websocket
        self._inbox = inbox
        self._clock = clock
        self._commands = commands
        self._outbox: deque[tuple[str, float]] = deque()
        self._wake = asyncio.Event()
        self._closing: Closing | None = None
        self._gone = False
        self._warned = False

    # --- for the feed ------------------------------------------------------------------------------------------

    def push(self, message: str, arrived: float = 0.0) -> None:
        if self._gone or self._closing is not None:
            return
        if len(self._outbox) >= OUTBOX_MESSAGES:
            self._cut()
            return
        self._outbox.append((message, arrived))
        self._wake.set()

    def close(self, code: int, reason: str) -> None:
        """After what is in the queue."""
        if self._closing is None:
            self._closing = (code, reason)
            self._wake.set()

    def restart(self, retry_in_ms: int) -> None:
        words = "This part of the room restarts. You are connected again in a moment."
        self.push(encode(Notice("restarting", words, retry_in_ms)))
        self.close(messages.CLOSE_RESTART, "restarting")

    def _cut(self) -> None:
        """He does not read: a close frame would not reach him either."""
        metrics.slow_reader_closes.inc()
        self._gone = True
        self._outbox.clear()
        self._wake.set()
        self._abort()

    def _abort(self) -> None:
        abort: Callable[[], None] | None = self._websocket.scope.get("extensions", {}).get(ABORT)
        if abort is not None:
            abort()

    # --- the session -------------------------------------------------------------------------------------------

    async def run(self, first: Iterable[str]) -> None:
        """Until either side closes."""
        self._outbox.extendleft((message, 0.0) for message in reversed(list(first)))
        self._wake.set()
        async with asyncio.TaskGroup() as tasks:
            reader = tasks.create_task(self._read())
            writer = tasks.create_task(self._write())
            writer.add_done_callback(lambda _: reader.cancel())

    async def _write(self) -> None:
        try:
            while not self._gone:
                await self._wake.wait()
                self._wake.clear()
                await self._write_outbox()
                if self._closing is not None and not self._gone:
                    code, reason = self._closing
                    async with asyncio.timeout(WRITE_SECONDS):
                        await self._websocket.close(code, _short(reason))
                    return
        except TimeoutError:
            self._cut()
        except (WebSocketDisconnect, OSError, RuntimeError):
            self._gone = True

    async def _write_outbox(self) -> None:
        while self._outbox:
            message, arrived = self._outbox.popleft()
            async with asyncio.timeout(WRITE_SECONDS):
                await self._websocket.send({"type": "websocket.send", "text": message})
            metrics.messages_sent.inc()
            if arrived:
                metrics.action_to_broadcast_seconds.observe(time.monotonic() - arrived)

    async def _read(self) -> None:
        while self._closing is None and not self._gone:
            try:
                async with asyncio.timeout(SILENT_SECONDS):
                    frame = await self._websocket.receive()
            except TimeoutError:
                self.close(messages.CLOSE_SILENT, "Nothing was heard from you: send a ping now and then.")
                return
            if frame["type"] == "websocket.disconnect":
                self._gone = True
                self._wake.set()
                return
            self._hear(frame)

    # --- what the client says ----------------------------------------------------------------------------------

    def _hear(self, frame: MutableMapping[str, Any]) -> None:
        arrived = time.monotonic()
        if self._identity.ended(arrived):
            self.close(messages.CLOSE_UNAUTHENTICATED, "Your session has ended. Log in again.")
            return
        try:
            message = messages.decode_client(frame.get("text") or frame.get("bytes") or b"")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self.close(messages.CLOSE_MALFORMED, f"Not a message of this protocol: {error}")
            return
        match message:
            case Ping(t=t):
                self.push(encode(Pong(t, self._clock.now_ms())))
            case CommandMessage():
                try:
                    self._command(message, arrived)
                except Refusal as refusal:
                    self.push(encode(Refused(message.id, refusal.code, refusal.message, refusal.retry_in_ms)))

    def _command(self, message: CommandMessage, arrived: float) -> None:
        """Raises Refusal for what is not sent on."""
        if (seconds := self._commands.take()) > 0:
            self._warn()
            raise refusals.rate_limited(seconds)
        operators = isinstance(message.command, OperatorsCommand)
        if operators and not self._identity.operator:
            raise refusals.forbidden()
        command = PlayerCommanded(
            table_id=self.table_id,
            player_id=self.player_id,
            name=self.name,
            command_id=message.id,
            command=message.command,
            trace=secrets.token_hex(8),
            operator=operators,
        )
        self._inbox.send(command, arrived, lambda answer: self._answer(message.id, answer))

    def _answer(self, command_id: str, answer: Answer) -> None:
        if answer.version:
            self.push(encode(Ack(command_id, answer.version)))
        else:
            self.push(encode(Refused(command_id, answer.code, answer.message)))

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            words = "Too many commands at once. Who goes on like this is disconnected."
            self.push(encode(Notice("slow_down", words)))


class OpenSockets:
    """All sockets of this gateway."""

    def __init__(self, limit: int, of_a_player: int, of_an_address: int) -> None:
        self._limit = limit
        self._of_a_player = of_a_player
        self._of_an_address = of_an_address
        self._sockets: set[Socket] = set()
        self._open: Counter[Hashable] = Counter()  # by player, by player and table, by address
        self.closing = False

    def __len__(self) -> int:
        return len(self._sockets)

    @property
    def full(self) -> bool:
        return self.closing or len(self._sockets) >= self._limit

    def too_many(self, player_id: str, table_id: str, address: str) -> str:
        """Why this one is one too many, in a sentence; "" when it is not."""
        if self._open[player_id, table_id] >= SOCKETS_PER_TABLE:
            return "You are connected to this table too often already."
        if self._open["player", player_id] >= self._of_a_player:
            return "You are connected too often already: close a table."
        if self._open["address", address] >= self._of_an_address:
            return "There are too many connections from your address already: close one."
        return ""

    @contextlib.contextmanager
    def holding(self, socket: Socket, address: str) -> Iterator[Socket]:
        counted = ((socket.player_id, socket.table_id), ("player", socket.player_id), ("address", address))
        self._sockets.add(socket)
        self._open.update(counted)
        metrics.sockets.inc()
        try:
            yield socket
        finally:
            self._sockets.discard(socket)
            self._open.subtract(counted)
            for key in counted:
                if not self._open[key]:
                    del self._open[key]
            metrics.sockets.dec()

    def restart(self, retry_in_ms: int) -> None:
        """This gateway goes: clients spread their return over the time given."""
        self.closing = True
        for socket in tuple(self._sockets):
            socket.restart(retry_in_ms)


def _short(reason: str) -> str:
    return reason.encode()[:REASON_BYTES].decode(errors="ignore")
