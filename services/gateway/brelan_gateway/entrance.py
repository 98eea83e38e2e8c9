"""Through the door to a table's socket: origin, ticket, limits; then the feed, until one side leaves."""

import contextlib

import structlog
from fastapi import WebSocket

from brelan.eventlog.log import LogUnavailable
from brelan.sql import DatabaseError
from brelan.views import messages
from brelan_gateway import refusals
from brelan_gateway.access import address_of, bearer_of, limited, room_of
from brelan_gateway.feed import Since
from brelan_gateway.identity import Identity
from brelan_gateway.refusals import Refusal
from brelan_gateway.room import Room
from brelan_gateway.security import origin_allowed
from brelan_gateway.sockets import Socket

logger = structlog.get_logger(__name__)


async def table_socket(
    websocket: WebSocket,
    table_id: str,
    ticket: str | None = None,
    since: int | None = None,
    epoch: int | None = None,
) -> None:
    """docs/api/socket.md."""
    room = room_of(websocket)
    headers = websocket.headers
    if not origin_allowed(
        headers.get("origin"), websocket.url.scheme, headers.get("host"), room.settings.allowed_origins
    ):
        await websocket.close()  # before it is accepted: 403
        return
    await websocket.accept()
    try:
        socket = await _socket(websocket, room, table_id, ticket)
        known = None if since is None or epoch is None else Since(since, epoch)
        await _watch(socket, room, address_of(websocket), known)
    except _Closed as closed:
        with contextlib.suppress(RuntimeError, OSError):  # he is gone already
            await websocket.close(closed.code, closed.reason)


async def _watch(socket: Socket, room: Room, address: str, since: Since | None) -> None:
    """Raises _Closed when he cannot be shown the table."""
    table_id = socket.table_id
    feed = room.shard_of(table_id).feed
    with room.sockets.holding(socket, address):
        try:
            await socket.run(await feed.join(table_id, socket, since))
        except Refusal as refusal:
            raise _closed(refusal) from None
        except LogUnavailable:
            raise _store_away() from None
        except Exception:  # what is wrong with one socket or one table must not trouble the others
            logger.exception("socket failed", table=table_id)
            raise _Closed(messages.CLOSE_BROKEN, "Something went wrong in the room. It is logged.") from None
        finally:
            feed.leave(table_id, socket)


class _Closed(Exception):
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def _store_away() -> _Closed:
    return _Closed(messages.CLOSE_TRY_LATER, "The room's store cannot be reached just now.")


def _closed(refusal: Refusal) -> _Closed:
    return _Closed(_CLOSE_CODES.get(refusal.code, messages.CLOSE_TRY_LATER), refusal.message)


async def _socket(websocket: WebSocket, room: Room, table_id: str, ticket: str | None) -> Socket:
    """Raises _Closed for whoever may not come in."""
    try:
        limited(websocket)
        identity = await _identify_socket(websocket, room, ticket)
        room.row_of(table_id)
    except Refusal as refusal:
        raise _closed(refusal) from None
    except (LogUnavailable, DatabaseError):
        raise _store_away() from None
    if room.sockets.full:
        raise _Closed(messages.CLOSE_TRY_LATER, "This part of the room is full. Try again in a moment.")
    if problem := room.sockets.too_many(identity.player_id, table_id, address_of(websocket)):
        raise _Closed(messages.CLOSE_TOO_MANY_SOCKETS, problem)
    shard = room.shard_of(table_id)
    commands = room.limits.commands.of(identity.player_id)
    return Socket(websocket, identity, table_id, shard.inbox, shard.feed.clock, commands)


_CLOSE_CODES = {
    "unauthenticated": messages.CLOSE_UNAUTHENTICATED,
    "unknown_table": messages.CLOSE_UNKNOWN_TABLE,
    "rate_limited": messages.CLOSE_FLOODING,
}


async def _identify_socket(websocket: WebSocket, room: Room, ticket: str | None) -> Identity:
    if ticket is not None:
        return await room.doorkeeper.redeem(ticket)
    token = bearer_of(websocket)
    if token is None:
        raise refusals.unauthenticated()
    return await room.doorkeeper.identify(token)
