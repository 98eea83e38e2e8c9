"""Who asks, and whether he may: what handlers have FastAPI fetch for them. Each raises Refusal."""

from typing import Annotated

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from brelan_gateway import refusals
from brelan_gateway.identity import Identity
from brelan_gateway.room import Room


def room_of(connection: HTTPConnection) -> Room:
    room: Room = connection.app.state.room
    return room


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def limited(connection: HTTPConnection) -> None:
    """This address, for one more request."""
    seconds = room_of(connection).limits.requests.take(address_of(connection))
    if seconds > 0:
        raise refusals.rate_limited(seconds)


def bearer_of(connection: HTTPConnection) -> str | None:
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def maybe_identify(request: Request) -> Identity | None:
    """None without a token; one that is no good is refused."""
    token = bearer_of(request)
    return None if token is None else await room_of(request).doorkeeper.identify(token)


async def identify(request: Request) -> Identity:
    identity = await maybe_identify(request)
    if identity is None:
        raise refusals.unauthenticated()
    return identity


async def identify_operator(request: Request) -> Identity:
    identity = await identify(request)
    if not identity.operator:
        raise refusals.forbidden()
    return identity


TheRoom = Annotated[Room, Depends(room_of)]
Visitor = Annotated[Identity | None, Depends(maybe_identify)]
LoggedIn = Annotated[Identity, Depends(identify)]
Operator = Annotated[Identity, Depends(identify_operator)]
