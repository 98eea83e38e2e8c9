"""``/livez`` and ``/readyz`` for load balancers, on the port they balance. Metrics are on the port of every service."""

from fastapi import Request
from fastapi.responses import JSONResponse, Response


async def livez() -> Response:
    return JSONResponse({"service": "gateway", "alive": True})


async def readyz(request: Request) -> Response:
    """Reasons are for operators: they stand on the other port."""
    ready = not request.app.state.health.reasons
    return JSONResponse({"service": "gateway", "ready": ready}, 200 if ready else 503)
