"""Health and metrics over HTTP, and what they say."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from brelan.telemetry import metrics
from brelan.telemetry.health import Health, listen


@contextlib.asynccontextmanager
async def served(health: Health) -> AsyncIterator[httpx2.AsyncClient]:
    with contextlib.closing(listen("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        serving = asyncio.create_task(health.serve_on(listening))
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            yield client
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


async def get(client: httpx2.AsyncClient, path: str) -> tuple[int, Any]:
    answer = await client.get(path)
    return answer.status_code, json.loads(answer.content)


async def test_is_not_ready_before_it_has_said_anything() -> None:
    async with served(Health("table")) as client:
        status, body = await get(client, "/readyz")
    assert status == 503
    assert body == {"service": "table", "ready": False, "reasons": {"start": "starting"}}


async def test_is_ready_when_nothing_is_missing() -> None:
    health = Health("table")
    health.ready("event log", False, "connection refused")
    health.ready("shards", True)
    async with served(health) as client:
        assert await get(client, "/readyz") == (
            503,
            {"service": "table", "ready": False, "reasons": {"event log": "connection refused"}},
        )
        health.ready("event log", True)
        assert await get(client, "/readyz") == (200, {"service": "table", "ready": True, "reasons": {}})


async def test_is_alive_while_it_answers() -> None:
    async with served(Health("table")) as client:
        assert (await get(client, "/livez"))[0] == 200
        assert (await get(client, "/elsewhere"))[0] == 404


async def test_metrics_are_served() -> None:
    metrics.rejections.labels("not_your_turn").inc()
    async with served(Health("table")) as client:
        text = (await client.get("/metrics")).text
    assert 'brelan_rejections_total{code="not_your_turn"}' in text
    assert 'brelan_build_info{service="table",version="' in text


async def test_a_taken_port_is_an_error_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            await Health("table").serve(taken.getsockname()[1])
