"""The room's REST interface: accounts, lobby, histories, and the way to a table's socket."""

import asyncio
import secrets
from types import TracebackType
from typing import Any, Self

import httpx2
import msgspec

from brelan.client.errors import RequestRefused
from brelan.client.hole_keys import HoleKeys
from brelan.client.seeds import Seeds
from brelan.client.table import Table

TIMEOUT_SECONDS = 20.0
TRIES = 6  # of a request that the room is too busy for, or whose answer got lost
PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 5.0


class Client:
    """One player's way into the room at ``url``::

    async with Client("http://127.0.0.1:8000") as client:
        await client.register("Ana", "a long password")
        async with client.table(table_id) as table:
            await table.sit(4000)
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.player_id = ""
        self.name = ""
        self.role = ""
        self._password = ""
        self._token = ""
        self._http = httpx2.AsyncClient(base_url=self.url, timeout=TIMEOUT_SECONDS, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    # --- accounts ----------------------------------------------------------------------------------------------

    async def register(self, name: str, password: str) -> None:
        """A new player, logged in. Raises RequestRefused, with code ``name_taken`` and others."""
        self._came_in(password, await self._ask("POST", "/api/players", {"name": name, "password": password}))

    async def log_in(self, name: str, password: str) -> None:
        self._came_in(password, await self._ask("POST", "/api/sessions", {"name": name, "password": password}))

    async def enter(self, name: str, password: str) -> None:
        """Log in, or register who is not known yet."""
        try:
            await self.register(name, password)
        except RequestRefused as refused:
            if refused.code != "name_taken":
                raise
            await self.log_in(name, password)

    def _came_in(self, password: str, session: dict[str, Any]) -> None:
        self._token = session["token"]
        self._password = password
        self.player_id, self.name = session["player"]["player_id"], session["player"]["name"]
        self.role = session["player"]["role"]

    async def log_in_again(self) -> None:
        """After the session has ended."""
        await self.log_in(self.name, self._password)

    @property
    def authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    async def balance(self) -> int:
        """In minor units."""
        return int((await self._ask("GET", "/api/me/balance"))["balance"])

    # --- tables ------------------------------------------------------------------------------------------------

    async def tables(self) -> list[dict[str, Any]]:
        """The lobby's rows, as in docs/api/rest.md."""
        return list((await self._ask("GET", "/api/tables"))["tables"])

    async def table_details(self, table_id: str) -> dict[str, Any]:
        return await self._ask("GET", f"/api/tables/{table_id}")

    async def open_table(
        self, preset: str | None = None, config: dict[str, Any] | None = None, key: str | None = None, **changes: Any
    ) -> str:
        """For operators. The new table's id; with the same ``key`` again it is the same table."""
        body = {"preset": preset, "config": config, **changes}
        given = {name: value for name, value in body.items() if value is not None}
        headers = {"Idempotency-Key": key or secrets.token_hex(16)}
        return str((await self._ask("POST", "/api/tables", given, headers))["table_id"])

    def table(self, table_id: str, seeds: Seeds | None = None, hole_keys: HoleKeys | None = None) -> Table:
        """Its socket, to be entered: ``async with client.table(id) as table``. ``seeds``: to contribute to the deal;
        ``hole_keys``: to be dealt cards that only this client can open."""
        return Table(self, table_id, seeds, hole_keys)

    async def dealer_keys(self) -> list[str]:
        """The public keys that the room's dealer signs with, in hexadecimal."""
        return list((await self._ask("GET", "/api/fairness"))["dealer_keys"])

    # --- for operators -----------------------------------------------------------------------------------------

    async def operated_table(self, table_id: str) -> dict[str, Any]:
        """``{"table": …, "problem": …}``, as in docs/api/rest.md."""
        return await self._ask("GET", f"/api/operator/tables/{table_id}")

    async def table_log(self, table_id: str, count: int = 50, before: int | None = None) -> dict[str, Any]:
        query = f"?count={count}" + (f"&before={before}" if before else "")
        return await self._ask("GET", f"/api/operator/tables/{table_id}/log{query}")

    async def operate(self, table_id: str, command: str, key: str | None = None, **fields: Any) -> int:
        """``operate(id, "UnfreezeTable", void_hand=True)``. The version that it led to."""
        headers = {"Idempotency-Key": key or secrets.token_hex(16)}
        body = {"type": command, **fields}
        return int((await self._ask("POST", f"/api/operator/tables/{table_id}/commands", body, headers))["version"])

    async def dead_letters(self, hours: int = 24, count: int = 100) -> list[dict[str, Any]]:
        return list((await self._ask("GET", f"/api/operator/dead?hours={hours}&count={count}"))["dead"])

    # --- histories ---------------------------------------------------------------------------------------------

    async def hands(self, before: str | None = None, limit: int = 50) -> dict[str, Any]:
        """My hands, newest first: ``{"hands": [...], "next": ...}``; ``next`` is the ``before`` of the next page."""
        query = f"?limit={limit}" + (f"&before={before}" if before else "")
        return await self._ask("GET", f"/api/me/hands{query}")

    async def hand(self, hand_id: str) -> dict[str, Any]:
        return await self._ask("GET", f"/api/hands/{hand_id}")

    async def deal(self, hand_id: str) -> bytes:
        """The record of its deal, to be verified (docs/fairness.md)."""
        return msgspec.json.encode(await self._ask("GET", f"/api/hands/{hand_id}/deal"))

    # --- requests ----------------------------------------------------------------------------------------------

    async def _ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Asked again when the room is busy or an answer is lost: every request of this interface may be."""
        pause = PAUSE_SECONDS
        for attempt in range(1, TRIES + 1):
            try:
                answer = await self._http.request(
                    method, path, json=body, headers={**self.authorization, **(headers or {})}
                )
            except httpx2.TransportError:
                if attempt == TRIES:
                    raise
            else:
                if answer.is_success:
                    return dict(answer.json())
                if answer.status_code not in {429, 503, 504} or attempt == TRIES:
                    raise _refused(answer)
                pause = max(pause, float(answer.headers.get("Retry-After", 0)))
            await asyncio.sleep(min(pause, LONGEST_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("unreachable")


def _refused(answer: httpx2.Response) -> RequestRefused:
    try:
        body = answer.json()
        return RequestRefused(answer.status_code, body["code"], body["message"])
    except (ValueError, KeyError, TypeError):
        return RequestRefused(answer.status_code, f"http_{answer.status_code}", answer.text[:200])
