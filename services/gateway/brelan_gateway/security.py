"""Headers of every answer, who may open a socket from which page, and what cuts a connection."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from brelan_gateway.sockets import ABORT

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "media-src 'self'",
        "manifest-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
DEFAULT_PORTS = {"http": 80, "https": 443}
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class SecurityHeaders:
    """ASGI. The API's answers are never kept; the page's files are asked for again, and answered 304 when unchanged."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cache = b"no-store" if scope["path"].startswith("/api/") else b"no-cache"

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *HEADERS]
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", cache))
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, send_with_headers)


class BoundedBodies:
    """ASGI. Nobody makes a gateway read more than ``limit`` bytes of one request."""

    def __init__(self, app: App, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        read = 0

        async def receive_bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise HTTPException(413)
            return message

        await self._app(scope, receive_bounded, send)


def origin_allowed(origin: str | None, scheme: str, host: str | None, allowed: Iterable[str]) -> bool:
    """A browser always says where its page is from; other clients need not, and prove who they are by their token.

    ``scheme``: of the socket. A page that came without TLS is another one than the room's own, whoever wrote it.
    """
    if origin is None or origin in allowed:
        return True
    own = "https" if scheme == "wss" else "http"
    return host is not None and _site(origin) == _site(f"{own}://{host}") is not None


def _site(origin: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None for what is no origin."""
    try:
        parts = urlsplit(origin)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def cross_origin(app: App, allowed: Sequence[str]) -> App:
    """ASGI. Pages of the origins that are configured may read the API's answers; without any, no page of others may."""
    if not allowed:
        return app
    return CORSMiddleware(
        app,
        allow_origins=allowed,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
        expose_headers=["Retry-After"],
    )


class CuttableProtocol(WebSocketsSansIOProtocol):
    """uvicorn's, and the connection can be cut: one that nobody reads from cannot be closed politely."""

    async def run_asgi(self) -> None:
        extensions: dict[str, object] = self.scope["extensions"]  # type: ignore[assignment]
        extensions[ABORT] = self.transport.abort
        await super().run_asgi()
