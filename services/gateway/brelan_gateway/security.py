"""Headers of every answer, who may open a socket from which page, and what cuts a connection."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from brelan.views import messages
from brelan_gateway.limits import Bucket, Rate
from brelan_gateway.sockets import ABORT

FRAMES = Rate(per_second=50, burst=200)  # of one socket, of any kind; beyond it the socket is closed
SLICE_BYTES = 1_024
LINGER_SECONDS = 0.5

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
    """uvicorn's, and the connection can be cut: one that nobody reads from cannot be closed politely.

    A flood is not read to its end. Every frame counts, also pings and pieces of messages, which reach no handler; what
    has come is looked at in slices, and once there were too many frames nothing more is. The close frame has a moment
    to arrive: who cuts a connection with something unread in it destroys what is on its way.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._frames_left = Bucket(FRAMES)
        self._ended = False

    async def run_asgi(self) -> None:
        extensions: dict[str, object] = self.scope["extensions"]  # type: ignore[assignment]
        extensions[ABORT] = self.transport.abort
        await super().run_asgi()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE_BYTES):
            if not self._ended:
                super().data_received(data[start : start + SLICE_BYTES])

    def handle_events(self) -> None:
        if self._frames_left.take(len(self.conn.events)) > 0:
            while not self.queue.empty():  # to answer hundreds of messages takes time from everybody else
                self.queue.get_nowait()
            self._end(messages.CLOSE_FLOODING, "Far too many messages: slow down.")
        else:
            super().handle_events()

    def handle_parser_exception(self) -> None:
        sent = self.conn.close_sent
        assert sent is not None
        self._end(sent.code, sent.reason)

    def _end(self, code: int, reason: str) -> None:
        """Nothing is read any more, and soon the connection is cut."""
        self._ended = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        if self.transport.is_closing():
            return
        if not self.handshake_complete:
            self.transport.abort()
            return
        if self.conn.state is State.OPEN:
            self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.read_paused = False  # so that it is not resumed
        self.transport.pause_reading()
        if self.close_timer is not None:
            self.close_timer.cancel()
        self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)
