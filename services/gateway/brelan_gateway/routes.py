"""Every URL of the gateway."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.staticfiles import StaticFiles

from brelan.telemetry.health import Health
from brelan_gateway import bodies, entrance, handlers, operators, probes
from brelan_gateway.access import limited
from brelan_gateway.answers import answer_errors
from brelan_gateway.room import Room

WEB = Path(__file__).parent / "web"

REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": bodies.Error} for status in (401, 403, 404, 409, 413, 422, 429, 503, 504)
}


def application(room: Room, health: Health) -> FastAPI:
    app = FastAPI(
        title="Brelan",
        summary="A poker room: 5 Card Draw 7-A and Seven-Card Stud, fixed limit.",
        description="Tables are played over a WebSocket each, described in docs/api/socket.md.",
        version="1",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.room = room
    app.state.health = health
    answer_errors(app)
    app.include_router(_api())
    app.add_api_websocket_route("/api/tables/{table_id}/socket", entrance.table_socket)
    app.add_api_route("/livez", probes.livez, include_in_schema=False)
    app.add_api_route("/readyz", probes.readyz, include_in_schema=False)
    app.mount("/", StaticFiles(directory=WEB, html=True))
    return app


def _api() -> APIRouter:
    api = APIRouter(prefix="/api", dependencies=[Depends(limited)], responses=REFUSED)

    def route(method: str, path: str, handler: Callable[..., Any], status: int = 200) -> None:
        api.add_api_route(path, handler, methods=[method], status_code=status, operation_id=handler.__name__)

    route("POST", "/players", handlers.register, 201)
    route("POST", "/sessions", handlers.log_in)
    route("GET", "/me", handlers.me)
    route("GET", "/me/balance", handlers.balance)
    route("GET", "/me/hands", handlers.my_hands)
    route("GET", "/hands/{hand_id}", handlers.hand)
    route("GET", "/hands/{hand_id}/deal", handlers.deal)
    route("GET", "/fairness", handlers.fairness)
    route("GET", "/tables", handlers.tables)
    route("POST", "/tables", handlers.open_table, 201)
    route("GET", "/tables/{table_id}", handlers.table)
    route("GET", "/operator/tables/{table_id}", operators.operated_table)
    route("GET", "/operator/tables/{table_id}/log", operators.operated_log)
    route("POST", "/operator/tables/{table_id}/commands", operators.operate_table)
    route("GET", "/operator/dead", operators.dead_letters)
    route("POST", "/socket-tickets", handlers.socket_ticket, 201)
    return api
