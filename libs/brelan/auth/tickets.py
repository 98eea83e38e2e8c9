"""Tickets: a browser cannot send its token with a WebSocket's handshake, and a token has no place in an address, which
may be logged. A ticket stands for a session for half a minute, opens one socket, and is no token: another kind, another
audience.

That it was used is remembered where all gateways of the room see it (``Uses``).
"""

import secrets
import time
from collections.abc import Iterable
from math import ceil
from typing import Protocol

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from brelan.auth.tokens import ALGORITHM, ISSUER, LEEWAY_SECONDS, LONGEST_TOKEN, BadToken, Claims, Clock, key_id

KIND = "brelan-ticket+jwt"
AUDIENCE = "brelan-socket"
LIFETIME_SECONDS = 30


class Uses(Protocol):
    """The event log's store."""

    async def use_ticket(self, ticket_id: str, ttl_ms: int) -> bool:
        """True the first time, at whichever gateway; remembered for so long."""


class TicketOffice:
    """``clock``: seconds since 1970. ``trusted``: keys of other gateways, while one key takes over from another."""

    def __init__(
        self, key: Ed25519PrivateKey, uses: Uses, trusted: Iterable[Ed25519PublicKey] = (), clock: Clock = time.time
    ) -> None:
        self._key = key
        self._headers = {"typ": KIND, "kid": key_id(key.public_key())}
        self._trusted = {key_id(one): one for one in (key.public_key(), *trusted)}
        self._clock = clock
        self._uses = uses

    def issue(self, session: Claims) -> str:
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": session.player_id,
            "exp": int(self._clock()) + LIFETIME_SECONDS,
            "jti": secrets.token_urlsafe(12),
            "session": msgspec.to_builtins(session),
        }
        return jwt.encode(claims, self._key, algorithm=ALGORITHM, headers=self._headers)

    async def redeem(self, ticket: str) -> Claims:
        """The session it stands for. Raises BadToken, also for one that was redeemed before, and LogUnavailable."""
        if len(ticket) > LONGEST_TOKEN:
            raise BadToken("too long")
        try:
            claims = jwt.decode(
                ticket,
                self._key_of(ticket),
                algorithms=[ALGORITHM],
                audience=AUDIENCE,
                issuer=ISSUER,
                options={"require": ["iss", "aud", "exp", "sub", "jti", "session"], "verify_exp": False},
            )
            session = msgspec.convert(claims["session"], Claims)
        except (jwt.InvalidTokenError, msgspec.ValidationError) as error:
            raise BadToken(str(error)) from error
        await self._use(claims["jti"], claims["exp"])
        if self.seconds_left(session) <= 0:
            raise BadToken("its session has ended")
        return session

    def seconds_left(self, session: Claims) -> float:
        return session.expires_at - self._clock()

    async def _use(self, ticket_id: object, ends: object) -> None:
        if not isinstance(ticket_id, str) or type(ends) is not int:
            raise BadToken("with claims that are none of ours")
        left = ends + LEEWAY_SECONDS - self._clock()
        if left <= 0:
            raise BadToken("expired")
        if not await self._uses.use_ticket(ticket_id, ceil(left * 1000)):
            raise BadToken("used before")

    def _key_of(self, ticket: str) -> Ed25519PublicKey:
        header = jwt.get_unverified_header(ticket)
        key = self._trusted.get(str(header.get("kid", "")))
        if header.get("typ") != KIND or header.get("alg") != ALGORITHM or key is None:
            raise BadToken("of another kind")
        return key
