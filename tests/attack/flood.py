"""One socket sends 10,000 messages a second: how soon it is closed, and what the other sockets notice.

    python -m tests.attack.flood [SECONDS]

Starts a room, measures from a command to its broadcast on another socket, first in quiet, then under the flood, and
prints both. The flooder comes back four times a second and goes on sending when it has been told to go.
"""

import asyncio
import base64
import contextlib
import itertools
import os
import select
import socket
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import msgspec
from websockets.asyncio.client import ClientConnection, connect

from brelan.client.rest import Client
from brelan.events import commands
from brelan.views import messages as views
from tests.room import start_room

PER_SECOND = 10_000
BATCH = 100  # messages at once
GOES_ON_SECONDS = 0.05  # after its close frame
COMES_BACK_SECONDS = 0.25
TABLES = 4  # an actor and an observer at each
ACTS_PER_SECOND = 12.0  # each
OP_TEXT, OP_CLOSE, OP_PING = 1, 8, 9


class Flood(NamedTuple):
    """``seconds`` from its first message to the close frame."""

    code: int
    seconds: float
    messages: int


class Figures(NamedTuple):
    quiet: list[float]  # seconds from command to broadcast
    flooded: list[float]
    floods: list[Flood]

    @property
    def ratio(self) -> float:
        return p99(self.flooded) / p99(self.quiet)


def p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100)[-1]


# --- the flooder -------------------------------------------------------------------------------------------------


def frame(opcode: int, data: bytes, final: bool = True) -> bytes:
    """Masked with zeros, as short as can be."""
    return bytes((opcode | 0x80 * final, 0x80 | len(data))) + bytes(4) + data


PING = frame(OP_TEXT, b'{"type":"ping","t":1}')


def flood_once(url: str, path: str, token: str, one: bytes = PING) -> Flood:
    """Until it is cut off, or five seconds have passed."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        read = b""
        while b"\r\n\r\n" not in read:
            read += connection.recv(65_536)
        assert read.startswith(b"HTTP/1.1 101"), read[:100]
        return _flood(connection, read.partition(b"\r\n\r\n")[2], one)


def _flood(connection: socket.socket, read: bytes, one: bytes) -> Flood:
    connection.setblocking(False)
    began = time.monotonic()
    code, closed_after, sent, left = 0, 0.0, 0, b""
    for number in itertools.count(1):
        due = began + number * BATCH / PER_SECOND
        now = time.monotonic()
        if now - began > (closed_after + GOES_ON_SECONDS if code else 5.0):
            break
        if not left:
            left, sent = one * BATCH, sent + BATCH
        try:
            with contextlib.suppress(BlockingIOError):
                left = left[connection.send(left) :]
            if select.select([connection], [], [], max(0.0, due - time.monotonic()))[0]:
                part = connection.recv(1 << 20)
                if not part:
                    break
                read += part
        except ConnectionError:
            break
        if not code and (code := _close_code(read)):
            closed_after = time.monotonic() - began
    return Flood(code, closed_after or time.monotonic() - began, sent)


def _close_code(read: bytes) -> int:
    for opcode, data in _frames(read):
        if opcode == OP_CLOSE:
            return int(struct.unpack("!H", data[:2])[0])
    return 0


def _frames(read: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while len(read) >= at + 2:
        opcode, length, start = read[at] & 15, read[at + 1], at + 2
        if length >= 126:
            size = 2 if length == 126 else 8
            length, start = int.from_bytes(read[start : start + size]), start + size
        if len(read) < start + length:
            return
        yield opcode, read[start : start + length]
        at = start + length


def flood(url: str, path: str, token: str, seconds: float) -> list[Flood]:
    """Again and again."""
    end = time.monotonic() + seconds
    floods = []
    while (began := time.monotonic()) < end:
        floods.append(flood_once(url, path, token))
        time.sleep(max(0.0, began + COMES_BACK_SECONDS - time.monotonic()))
    return floods


# --- the others --------------------------------------------------------------------------------------------------


class Pair:
    """A player alone at a table, and who watches him there."""

    def __init__(self, actor: ClientConnection, observer: ClientConnection) -> None:
        self._actor = actor
        self._observer = observer
        self._sent: dict[str, float] = {}
        self._versions: dict[int, float] = {}
        self._seen: dict[int, float] = {}

    async def sit(self) -> None:
        await self._send("sit", commands.SitDown(4_000))
        async with asyncio.timeout(20):
            while not any(isinstance(event, views.PlayerSeated) for event in await self._observe()):
                pass

    async def measure(self, seconds: float) -> list[float]:
        self._sent, self._versions, self._seen = {}, {}, {}
        listening = [asyncio.create_task(self._hear()), asyncio.create_task(self._watch())]
        end = time.monotonic() + seconds
        for number in itertools.count():
            if time.monotonic() >= end:
                break
            preferences = commands.SetPreferences(auto_post=True, auto_muck=number % 2 == 0)
            await self._send(f"{end}-{number}", preferences)
            await asyncio.sleep(1 / ACTS_PER_SECOND)
        await asyncio.sleep(0.5)
        for task in listening:
            task.cancel()
        return [self._seen[version] - sent for version, sent in self._versions.items() if version in self._seen]

    async def _send(self, name: str, command: views.SocketCommand) -> None:
        self._sent[name] = time.monotonic()
        await self._actor.send(views.encode(views.CommandMessage(name, command)))

    async def _hear(self) -> None:
        while True:
            message = views.decode_room(await self._actor.recv())
            if isinstance(message, views.Ack) and message.id in self._sent:
                self._versions[message.version] = self._sent[message.id]

    async def _watch(self) -> None:
        while True:
            await self._observe()

    async def _observe(self) -> tuple[object, ...]:
        message = views.decode_room(await self._observer.recv())
        if not isinstance(message, views.Events):
            return ()
        self._seen[message.version] = time.monotonic()
        return message.events


@contextlib.asynccontextmanager
async def pairs(url: str, operator: dict[str, str], suffix: str) -> AsyncIterator[tuple[list[Pair], str, str]]:
    """And where a flooder goes, with his token."""
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(url)) for _ in range(TABLES + 2)]
        boss, eve, *actors = clients
        await boss.log_in(**operator)
        await eve.register(f"Eve {suffix}", "a long password")
        found = []
        path = ""
        for number, actor in enumerate(actors):
            await actor.register(f"Ana {suffix} {number}", "a long password")
            table_id = await boss.open_table("stud 2-4", name=f"Flood {suffix} {number}")
            path = f"/api/tables/{table_id}/socket"
            address = url.replace("http", "ws", 1) + path
            opened = [
                await stack.enter_async_context(
                    connect(address, additional_headers=client.authorization, proxy=None, compression=None)
                )
                for client in (actor, eve)
            ]
            found.append(Pair(*opened))
        await asyncio.gather(*(pair.sit() for pair in found))
        yield found, path, eve.authorization["Authorization"].split()[1]
        for pair in found:
            await pair._send("leave", commands.Leave())
        for row in await boss.tables():
            if row["name"].startswith(f"Flood {suffix} "):
                await boss.operate(row["table_id"], "CloseTable")


async def measure(url: str, operator: dict[str, str], seconds: float, suffix: str = "x") -> Figures:
    """Quiet and flood by turns, so that what else the machine does is in both."""
    quiet: list[float] = []
    flooded: list[float] = []
    floods: list[Flood] = []
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(1, get_context("spawn")) as elsewhere:
        await loop.run_in_executor(elsewhere, p99, [0.0, 1.0])  # so that it has imported what it needs
        async with pairs(url, operator, suffix) as (found, path, token):
            for _ in range(2):
                for times in await asyncio.gather(*(pair.measure(seconds / 2) for pair in found)):
                    quiet += times
                flooding = loop.run_in_executor(elsewhere, flood, url, path, token, seconds / 2)
                for times in await asyncio.gather(*(pair.measure(seconds / 2) for pair in found)):
                    flooded += times
                floods += await flooding
    return Figures(quiet, flooded, floods)


def report(figures: Figures) -> dict[str, object]:
    return {
        "floods": len(figures.floods),
        "close_codes": sorted({one.code for one in figures.floods}),
        "closed_after_ms_most": round(1000 * max(one.seconds for one in figures.floods), 1),
        "messages_sent_each": round(statistics.mean(one.messages for one in figures.floods)),
        "samples": [len(figures.quiet), len(figures.flooded)],
        "quiet_p50_ms": round(1000 * statistics.median(figures.quiet), 1),
        "quiet_p99_ms": round(1000 * p99(figures.quiet), 1),
        "flooded_p50_ms": round(1000 * statistics.median(figures.flooded), 1),
        "flooded_p99_ms": round(1000 * p99(figures.flooded), 1),
        "ratio_p99": round(figures.ratio, 2),
    }


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with tempfile.TemporaryDirectory() as folder, start_room(Path(folder), "--no-bots") as room:
        figures = asyncio.run(measure(room.url, room.operator, seconds))
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(report(figures))).decode() + "\n")


if __name__ == "__main__":
    main()
