"""A table's socket as a player uses it: what he sees of it, what he does at it.

The connection comes back by itself and goes on from the version it had; a command is sent again under its id until it
is answered. What goes against the protocol is noted in ``violations``.
"""

import asyncio
import contextlib
import random
import secrets
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Self, get_args

import httpx2
import msgspec
import websockets
from websockets.asyncio.client import ClientConnection, connect

from brelan.client.errors import CommandRefused, RequestRefused, TableClosed, Unanswered
from brelan.client.hole_keys import HoleKeys
from brelan.client.model import TableModel
from brelan.client.seeds import Seeds
from brelan.events import commands
from brelan.events.table import ActionKind, Entry
from brelan.views import messages
from brelan.views.messages import Ack, CommandMessage, Events, Ping, Pong, Refused, Resumed, Snapshot, TurnView

if TYPE_CHECKING:
    from brelan.client.rest import Client

ASK_AGAIN_SECONDS = 5.0
GIVE_UP_SECONDS = 60.0
PING_SECONDS = 5.0
OPEN_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 3.0  # seconds between two tries to connect
KEPT_MESSAGES = 10_000  # of those nobody has taken yet
KEPT_ANSWERS = 1_000
NOT_SENT_ON = {"busy", "rate_limited", "forbidden"}  # refusals of the gateway itself
FOR_GOOD = {messages.CLOSE_MALFORMED, messages.CLOSE_UNKNOWN_TABLE, messages.CLOSE_TOO_MANY_SOCKETS}

Message = messages.RoomMessage
Answer = Ack | Refused
Contribution = commands.BringKey | commands.BringSeeds | commands.GiveSeed


class Pending:
    """A command without its answer."""

    __slots__ = ("answer", "sends", "sent_at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.sends = 0
        self.sent_at = 0.0
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()


class Table:
    """Made by ``Client.table``. Iterating gives every message of the room, after it was taken into ``model``."""

    def __init__(
        self, client: "Client", table_id: str, seeds: Seeds | None = None, hole_keys: HoleKeys | None = None
    ) -> None:
        self.table_id = table_id
        self.seeds = seeds
        self.hole_keys = hole_keys
        self.model = TableModel()
        self.violations: list[str] = []
        self.reconnects = 0
        self.latency = 0.0  # seconds, of the last ping
        self._client = client
        self._socket: ClientConnection | None = None
        self._pending: dict[str, Pending] = {}
        self._answers: dict[str, Answer] = {}
        self._messages: deque[Message] = deque(maxlen=KEPT_MESSAGES)
        self._arrived = asyncio.Event()
        self._ready = asyncio.Event()
        self._ended: TableClosed | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._clock_offset_ms = 0
        self._contributing: asyncio.Task[None] | None = None

    # --- coming and going --------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Connected, and the table is known. Raises TableClosed when it cannot be watched."""
        self._tasks = [asyncio.create_task(self._stay_connected()), asyncio.create_task(self._keep_asking())]
        await self._ready.wait()
        if self._ended is not None:
            await self.leave_socket()
            raise self._ended
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave_socket()

    async def leave_socket(self) -> None:
        """Stop watching. A seat at the table stays taken."""
        self._end(TableClosed("You have left the table's socket."))
        tasks = [*self._tasks, *([self._contributing] if self._contributing is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def drop(self) -> None:
        """Lose the connection, as on a train in a tunnel. It comes back by itself."""
        if self._socket is not None:
            self._socket.transport.abort()

    # --- what is seen ------------------------------------------------------------------------------------------

    @property
    def turn(self) -> TurnView | None:
        """My open decision."""
        turn = self.model.turn
        return turn if turn is not None and turn.seat == self.model.my_seat else None

    def now_ms(self) -> int:
        """The room's clock, about."""
        return time.monotonic_ns() // 1_000_000 + self._clock_offset_ms

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        while not self._messages:
            if self._ended is not None:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._messages.popleft()

    async def next(self, seconds: float) -> Message | None:
        """The next message, or None when none comes in time. Raises TableClosed."""
        try:
            async with asyncio.timeout(seconds):
                return await anext(self)
        except TimeoutError:
            return None
        except StopAsyncIteration:
            assert self._ended is not None
            raise self._ended from None

    # --- what is done ------------------------------------------------------------------------------------------

    async def sit(self, amount: int, seat: int | None = None, entry: Entry = "wait") -> int:
        return await self.command(commands.SitDown(amount, seat, entry))

    async def act(self, kind: ActionKind, to: int | None = None, turn_id: int | None = None) -> int:
        return await self.command(commands.Act(self._turn_id(turn_id), kind, to))

    async def draw(self, positions: tuple[int, ...] = (), turn_id: int | None = None) -> int:
        return await self.command(commands.Draw(self._turn_id(turn_id), positions))

    async def leave(self) -> int:
        return await self.command(commands.Leave())

    async def command(self, command: messages.SocketCommand, command_id: str | None = None) -> int:
        """The version at which it was accepted. Raises CommandRefused, Unanswered or TableClosed."""
        if self._ended is not None:
            raise self._ended
        command_id = command_id or secrets.token_hex(8)
        pending = self._pending.setdefault(command_id, Pending(messages.encode(CommandMessage(command_id, command))))
        await self._send(pending)
        try:
            async with asyncio.timeout(GIVE_UP_SECONDS):
                answer = await asyncio.shield(pending.answer)
        except TimeoutError:
            raise Unanswered(f"No answer within {GIVE_UP_SECONDS:.0f} s.") from None
        finally:
            self._pending.pop(command_id, None)
        if isinstance(answer, Refused):
            raise CommandRefused(answer.code, answer.message)
        return answer.version

    def _turn_id(self, turn_id: int | None) -> int:
        if turn_id is not None:
            return turn_id
        if self.turn is None:
            raise CommandRefused("not_your_turn", "It is not your turn.")
        return self.turn.turn_id

    async def _send(self, pending: Pending) -> None:
        """What does not get through is sent again by ``_keep_asking``, or when the connection is back."""
        pending.sent_at = time.monotonic()
        if self._socket is not None:
            pending.sends += 1
            with contextlib.suppress(websockets.ConnectionClosed):
                await self._socket.send(pending.text)

    async def _keep_asking(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            now = time.monotonic()
            for pending in [each for each in self._pending.values() if now - each.sent_at > ASK_AGAIN_SECONDS]:
                await self._send(pending)

    # --- the connection ----------------------------------------------------------------------------------------

    async def _stay_connected(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                await self._connection()
                pause = FIRST_PAUSE
            except (OSError, TimeoutError, websockets.WebSocketException, httpx2.HTTPError):
                pass
            except (RequestRefused, TableClosed) as error:
                self._end(error if isinstance(error, TableClosed) else TableClosed(str(error)))
                return
            self.reconnects += 1
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - no secret, only not all at once
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _connection(self) -> None:
        """One, until it closes. Raises TableClosed when it will not do again."""
        async with connect(
            self._address(),
            additional_headers=self._client.authorization,
            compression=None,
            max_size=2**22,
            open_timeout=OPEN_SECONDS,
            close_timeout=1.0,
            proxy=None,
        ) as socket:
            self._socket = socket
            pinging = asyncio.create_task(self._keep_pinging(socket))
            try:
                with contextlib.suppress(websockets.ConnectionClosed):
                    async for frame in socket:
                        if (message := _decode(frame)) is not None:
                            await self._take(message)
            finally:
                self._socket = None
                pinging.cancel()
        if socket.close_code in FOR_GOOD:
            raise TableClosed(socket.close_reason or f"The room closed the socket ({socket.close_code}).")
        if socket.close_code == messages.CLOSE_UNAUTHENTICATED:
            await self._client.log_in_again()

    def _address(self) -> str:
        address = f"{self._client.url.replace('http', 'ws', 1)}/api/tables/{self.table_id}/socket"
        model = self.model
        return f"{address}?since={model.version}&epoch={model.epoch}" if model.known else address

    async def _keep_pinging(self, socket: ClientConnection) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await socket.send(messages.encode(Ping(time.monotonic() * 1000)))
                await asyncio.sleep(PING_SECONDS)

    # --- messages ----------------------------------------------------------------------------------------------

    async def _take(self, message: Message) -> None:
        if self.hole_keys is not None:
            message = self.hole_keys.opened(self.table_id, message)
        match message:
            case Snapshot() | Resumed():
                self._begin(message)
                for pending in list(self._pending.values()):
                    await self._send(pending)
            case Events():
                self._entry(message)
            case Ack() | Refused():
                self._answered(message)
            case Pong(t=t, now=now):
                here_ms = time.monotonic() * 1000
                self.latency = (here_ms - t) / 1000
                self._clock_offset_ms = now - int((here_ms + t) / 2)
            case _:
                pass
        self._messages.append(message)
        self._arrived.set()
        self._contribute()

    def _contribute(self) -> None:
        """The key or the seed that is due, if one is."""
        if self._contributing is None and (said := self._due()) is not None:
            self._contributing = asyncio.create_task(self._say(said))

    def _due(self) -> Contribution | None:
        key = self.hole_keys.due(self.model) if self.hole_keys is not None else None
        return key or (self.seeds.due(self.model) if self.seeds is not None else None)

    async def _say(self, said: Contribution) -> None:
        with contextlib.suppress(CommandRefused, Unanswered, TableClosed):
            await self.command(said)
        self._contributing = None
        self._contribute()

    def _begin(self, message: Snapshot | Resumed) -> None:
        model = self.model
        if model.known and message.epoch == model.epoch and message.version < model.version:
            self.violations.append(f"version {message.version} after {model.version} in epoch {model.epoch}")
        if isinstance(message, Snapshot):
            model.begin(message)
        elif (message.version, message.epoch) != (model.version, model.epoch):
            self.violations.append(f"resumed at {message.version}, asked for {model.version}")
        self._ready.set()

    def _entry(self, message: Events) -> None:
        if message.version != self.model.version + 1 or message.epoch != self.model.epoch:
            self.violations.append(f"entry {message.epoch}:{message.version} after {self.model.version}")
        self.model.take(message)

    def _answered(self, answer: Answer) -> None:
        before = self._answers.setdefault(answer.id, answer)
        if not _same(before, answer):
            self.violations.append(f"command {answer.id} was answered {before} and {answer}")
        if isinstance(answer, Ack) and answer.version > self.model.version:
            self.violations.append(f"command {answer.id} acknowledged before its entry {answer.version}")
        while len(self._answers) > KEPT_ANSWERS:
            del self._answers[next(iter(self._answers))]
        pending = self._pending.get(answer.id)
        if pending is None or pending.answer.done():
            return
        if isinstance(answer, Refused) and answer.code in NOT_SENT_ON and pending.sends > 1:
            return  # it says nothing about what was sent before
        pending.answer.set_result(answer)

    def _end(self, why: TableClosed) -> None:
        if self._ended is None:
            self._ended = why
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_exception(why)
        self._ready.set()
        self._arrived.set()


def _same(one: Answer, other: Answer) -> bool:
    """A gateway's own refusal (the command was not sent on) is no answer of the table: another may follow."""
    if isinstance(one, Ack) and isinstance(other, Ack):
        return one.version == other.version
    codes = {answer.code for answer in (one, other) if isinstance(answer, Refused)}
    return bool(codes & NOT_SENT_ON) or (isinstance(one, Refused) and isinstance(other, Refused) and len(codes) == 1)


def _decode(frame: str | bytes) -> Message | None:
    """None for a type of message that is not known here. Events that are not known are left out."""
    try:
        return messages.decode_room(frame)
    except msgspec.ValidationError:
        plain = msgspec.json.decode(frame)
        if plain.get("type") not in KNOWN_MESSAGES:
            return None
        if "events" in plain:
            plain["events"] = [event for event in plain["events"] if event.get("type") in KNOWN_EVENTS]
        message: Message = msgspec.convert(plain, messages.RoomMessage)
        return message


KNOWN_MESSAGES = {kind.__struct_config__.tag for kind in get_args(messages.RoomMessage)}
KNOWN_EVENTS = {kind.__name__ for kind in get_args(messages.AnyEventView)}
