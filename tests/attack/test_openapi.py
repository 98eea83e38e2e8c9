"""Whatever the gateway's description of itself allows, and what it does not: no fault, no answer that it does not
describe, and nobody else notices."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from brelan.sql.engine import create_engine, reading
from brelan.sql.schema import players
from tests.services.gateway_room import PASSWORD, GatewayRoom, ScriptedTable, gateway_room

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
EXAMPLES = 6  # of each route, besides those at the edges of its schema
UNLIMITED: dict[str, Any] = {  # or most of it would be refused for being much
    "requests_per_second": 1e6,
    "registrations_per_minute": 1e6,
    "failed_logins_per_minute": 1e6,
}


async def others(room: GatewayRoom, table: ScriptedTable, known: set[str]) -> tuple[Any, ...]:
    """All that belongs to somebody else."""
    engine = create_engine(room.settings.database_url)
    async with reading(engine) as connection:
        rows = [tuple(row) for row in await connection.execute(select(players)) if row.name in known]
    await engine.dispose()
    async with room.http("Ben") as http:
        shown = [
            (await http.get(path)).json() for path in ("/api/me", "/api/me/balance", "/api/me/hands", "/api/tables")
        ]
    return rows, shown, table.version, room.commands(), room.deposits()


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("who", "phases", "least"),
    [("Eve", "coverage,fuzzing", 300), ("", "fuzzing", 50)],  # nobody is refused at most doors
    ids=["a player", "nobody"],
)
async def test_no_request_breaks_anything_or_touches_anybody_else(
    tmp_path: Path, who: str, phases: str, least: int
) -> None:
    async with gateway_room(tmp_path, welcome_amount=0, **UNLIMITED) as room:
        table = room.open_table()
        table.seat("Ana", "Ben")
        await room.sees(table)
        room.wallet_books("p-Ben", 4_000)
        for name in ("Ana", "Ben"):
            await room.room.doorkeeper.register(name, PASSWORD)
        before = await others(room, table, {"Ana", "Ben"})
        said = await schemathesis(room, tmp_path, who, phases)
        assert await others(room, table, {"Ana", "Ben"}) == before
        cases = re.search(r"(\d+) generated, (\d+) passed", said)
        assert cases, said
        assert int(cases[1]) == int(cases[2]) > least, said
        assert (await room.room.doorkeeper.log_in("Ana", PASSWORD, "")).name == "Ana"


async def schemathesis(room: GatewayRoom, folder: Path, who: str, phases: str) -> str:
    """What it says of a run over all routes. It is a program, and its requests come from another process."""
    bearing = ["--header", f"Authorization: Bearer {room.token(who)}"] if who else []
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("st"), "run", f"{room.url}/api/openapi.json", *bearing,
        "--phases", phases, "--checks", CHECKS, "--max-examples", str(EXAMPLES), "--no-shrink",
        "--generation-deterministic", "--continue-on-failure", "--no-color",
        "--warnings", "off",
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()
