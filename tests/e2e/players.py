"""Players on the raw socket protocol, with every frame they get kept. Written from ``docs/api`` alone, so that the
room's own client cannot hide what it receives."""

import asyncio
import json
import random
from typing import Any

import httpx2
import websockets

Frame = dict[str, Any]


async def _ping(socket: websockets.ClientConnection) -> None:
    while True:
        await asyncio.sleep(5)
        await socket.send(json.dumps({"type": "ping", "t": 0}))


class RawPlayer:
    """One account at one table. ``frames`` is all it was sent, as text; ``seat`` None watches only."""

    def __init__(self, url: str, name: str, chance: random.Random) -> None:
        self.url = url
        self.name = name
        self.player_id = ""
        self.seat: int | None = None
        self.frames: list[str] = []
        self.hands_ended = 0
        self._chance = chance
        self._token = ""
        self._commands = 0
        self._sent: dict[str, str] = {}
        self._again_tasks: set[asyncio.Task[None]] = set()

    async def register(self) -> None:
        async with httpx2.AsyncClient(base_url=self.url, trust_env=False) as http:
            answer = await http.post("/api/players", json={"name": self.name, "password": "long enough 42"})
            answer.raise_for_status()
            self._token = answer.json()["token"]
            self.player_id = answer.json()["player"]["player_id"]
            for _ in range(100):
                balance = await http.get("/api/me/balance", headers=self._authorization)
                if balance.status_code == 200 and balance.json()["balance"] > 0:
                    return
                await asyncio.sleep(0.05)
        raise AssertionError("the play money did not come")

    async def tables(self) -> dict[str, str]:
        """Table id to game."""
        async with httpx2.AsyncClient(base_url=self.url, trust_env=False) as http:
            rows = (await http.get("/api/tables", headers=self._authorization)).json()["tables"]
        return {row["table_id"]: row["game"] for row in rows}

    @property
    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}

    async def play(self, table_id: str, buy_in: int | None, enough: asyncio.Event, hands: int) -> None:
        """Until somebody at this table has seen ``hands`` hands end, and says so. ``buy_in`` None: an observer."""
        address = f"{self.url.replace('http', 'ws', 1)}/api/tables/{table_id}/socket"
        async with websockets.connect(address, additional_headers=self._authorization, proxy=None) as socket:
            if buy_in is not None:
                await self._command(socket, {"type": "SitDown", "amount": buy_in, "entry": "post"})
            pinging = asyncio.create_task(_ping(socket))
            try:
                async for text in socket:
                    assert isinstance(text, str)
                    self.frames.append(text)
                    await self._react(socket, json.loads(text))
                    if self.hands_ended >= hands:
                        enough.set()
                    if enough.is_set():
                        return
            finally:
                for task in (pinging, *self._again_tasks):
                    task.cancel()

    async def _command(self, socket: websockets.ClientConnection, command: Frame) -> None:
        self._commands += 1
        command_id = f"{self.name}-{self._commands}"
        self._sent[command_id] = json.dumps({"type": "command", "id": command_id, "command": command})
        await socket.send(self._sent[command_id])

    async def _again(self, socket: websockets.ClientConnection, refused: Frame) -> None:
        """Too fast, or the room is behind: the same command once more, when it says so."""
        await asyncio.sleep(refused["retry_in_ms"] / 1000)
        await socket.send(self._sent[refused["id"]])

    async def _react(self, socket: websockets.ClientConnection, frame: Frame) -> None:
        if frame["type"] == "refused" and frame.get("retry_in_ms"):
            self._again_tasks.add(asyncio.create_task(self._again(socket, frame)))
        for event in frame.get("events", ()):
            match event["type"]:
                case "SeatReserved" if event["player_id"] == self.player_id:
                    self.seat = event["seat"]
                case "TurnOpened" if event["seat"] == self.seat:
                    await self._command(socket, self._decision(event))
                case "SatOut" if event["seat"] == self.seat and event["reason"] != "no_chips":
                    await self._command(socket, {"type": "ComeBack", "entry": "post"})
                case "ChipsAdded" if event["seat"] == self.seat and event["amount"]:
                    await self._command(socket, {"type": "ComeBack", "entry": "post"})
                case "HandEnded" | "HandVoided":
                    self.hands_ended += 1
                    await self._refill(socket, event)

    async def _refill(self, socket: websockets.ClientConnection, event: Frame) -> None:
        mine = [share["amount"] for share in event["stacks"] if share["seat"] == self.seat]
        if mine and mine[0] < 1_000:
            await self._command(socket, {"type": "TopUp", "amount": 4_000})
        elif self._chance.random() < 0.2:
            await self._command(socket, {"type": "Show"})

    def _decision(self, turn: Frame) -> Frame:
        actions = turn["actions"]
        kinds = [action["kind"] for action in actions]
        if "draw" in kinds:
            thrown = sorted(self._chance.sample(range(5), self._chance.choice((0, 1, 2, 3, 3, 5))))
            return {"type": "Draw", "turn_id": turn["turn_id"], "positions": thrown}
        weights = [{"fold": 1, "check": 6, "call": 6}.get(kind, 2) for kind in kinds]
        chosen = self._chance.choices(actions, weights)[0]
        return {"type": "Act", "turn_id": turn["turn_id"], "kind": chosen["kind"], "to": chosen["to"]}
