"""Tokens: JWT signed with Ed25519, of one kind only (RFC 8725).

The algorithm, the kind (``typ``), issuer and audience are pinned; a key is chosen by ``kid`` among those given here,
and nothing a token says is believed before its signature has been checked. Several keys verify while a new one takes
over.
"""

import hashlib
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any, get_args

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from brelan.auth.accounts import Player, Role

ALGORITHM = "EdDSA"
KIND = "brelan-player+jwt"
ISSUER = "brelan"
AUDIENCE = "brelan-gateway"
LIFETIME_SECONDS = 12 * 3600
LEEWAY_SECONDS = 5  # between the clocks of two gateways
LONGEST_TOKEN = 2_048

Clock = Callable[[], float]
_REQUIRED = ["iss", "aud", "exp", "nbf", "iat", "sub", "jti"]


class Claims(msgspec.Struct, frozen=True):
    player_id: str
    name: str
    role: Role
    issued_at: int  # seconds since 1970
    expires_at: int
    token_id: str


class BadToken(Exception):
    """It proves nothing. The message says why, for the log; a client is only told to log in again."""


def key_id(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


class Issuer:
    """``clock``: seconds since 1970."""

    def __init__(
        self, key: Ed25519PrivateKey, lifetime_seconds: int = LIFETIME_SECONDS, clock: Clock = time.time
    ) -> None:
        self.lifetime_seconds = lifetime_seconds
        self._key = key
        self._headers = {"typ": KIND, "kid": key_id(key.public_key())}
        self._clock = clock

    def token_for(self, player: Player) -> str:
        now = int(self._clock())
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": player.player_id,
            "name": player.name,
            "role": player.role,
            "iat": now,
            "nbf": now,
            "exp": now + self.lifetime_seconds,
            "jti": secrets.token_urlsafe(12),
        }
        return jwt.encode(claims, self._key, algorithm=ALGORITHM, headers=self._headers)


class Verifier:
    def __init__(self, keys: Iterable[Ed25519PublicKey], clock: Clock = time.time) -> None:
        self._keys = {key_id(key): key for key in keys}
        self._clock = clock

    def verify(self, token: str) -> Claims:
        """Raises BadToken."""
        if len(token) > LONGEST_TOKEN or not token.isascii():
            raise BadToken("no token, or too long for one")
        try:
            claims = jwt.decode(
                token,
                self._key_of(token),
                algorithms=[ALGORITHM],
                audience=AUDIENCE,
                issuer=ISSUER,
                # PyJWT would ask the machine's clock: the times are checked below, against ours
                options={"require": _REQUIRED, "verify_exp": False, "verify_nbf": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError as error:
            raise BadToken(str(error)) from error
        found = _claims(claims)
        now = self._clock()
        if not claims["nbf"] - LEEWAY_SECONDS <= now:
            raise BadToken("not valid yet")
        if not now < found.expires_at + LEEWAY_SECONDS:
            raise BadToken("expired")
        return found

    def _key_of(self, token: str) -> Ed25519PublicKey:
        """By ``kid``, from our own list: what else a header says about keys is not looked at."""
        header = jwt.get_unverified_header(token)
        if header.get("typ") != KIND or header.get("alg") != ALGORITHM:
            raise BadToken("of another kind")
        kid = header.get("kid")
        key = self._keys.get(kid) if isinstance(kid, str) else None
        if key is None:
            raise BadToken("signed with a key that is not ours")
        return key


def _claims(claims: dict[str, Any]) -> Claims:
    try:
        found = Claims(
            player_id=claims["sub"],
            name=claims["name"],
            role=claims["role"],
            issued_at=claims["iat"],
            expires_at=claims["exp"],
            token_id=claims["jti"],
        )
    except KeyError as error:
        raise BadToken(f"without {error}") from error
    times = (claims["nbf"], found.issued_at, found.expires_at)
    texts = (found.player_id, found.name, found.token_id)
    if found.role not in get_args(Role) or not all(type(one) is int for one in times):
        raise BadToken("with claims that are none of ours")
    if not all(isinstance(one, str) for one in texts):
        raise BadToken("with claims that are none of ours")
    return found
