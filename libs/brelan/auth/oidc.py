"""OpenID Connect: tokens of a provider who keeps the accounts instead of the room.

The algorithms are pinned and all asymmetric, the keys are the provider's own (``provider_keys``), and nothing a token
says is believed before its signature has been checked. Logout tokens have the same issuer and audience and are no
tokens to come in with; a token for several audiences has to be issued to us.
"""

import math
import time
from typing import Any, NamedTuple

import jwt

from brelan.auth.accounts import Role
from brelan.auth.provider_keys import ProviderKeys
from brelan.auth.tokens import LEEWAY_SECONDS, LIFETIME_SECONDS, BadToken, Clock

ALGORITHMS = ("EdDSA", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
KINDS = (None, "JWT", "jwt", "at+jwt")
LONGEST_TOKEN = 8_192
LONGEST_SUBJECT = 255  # OpenID Connect Core, section 2
NAME_CLAIMS = ("preferred_username", "nickname")  # not "name": that is often the real one
POWER: tuple[Role, ...] = ("administrator", "operator", "auditor", "support", "player")  # the first one found counts


class Guest(NamedTuple):
    """Whom a provider speaks for. ``name``: as he is called there; ``expires_at``: twelve hours from now at most."""

    issuer: str
    subject: str
    name: str
    role: Role
    issued_at: int
    expires_at: int
    token_id: str


class Provider:
    """``audience``: what the room is called there (client id). ``role_claim``: where a token names a role of the room,
    its parts joined by dots ("realm_access.roles"); empty: everybody is a player."""

    def __init__(self, keys: ProviderKeys, audience: str, role_claim: str = "", clock: Clock = time.time) -> None:
        self.issuer = keys.issuer
        self._keys = keys
        self._audience = audience
        self._role_claim = role_claim
        self._clock = clock

    async def verify(self, token: str) -> Guest:
        """Raises BadToken, ProviderUnavailable."""
        if len(token) > LONGEST_TOKEN or not token.isascii():
            raise BadToken("no token, or too long for one")
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS or header.get("typ") not in KINDS:
                raise BadToken("of another kind")
            claims = jwt.decode(
                token,
                await self._keys.find(header.get("kid"), algorithm),
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self.issuer,
                # PyJWT would ask the machine's clock: the times are checked below, against ours
                options={
                    "require": ["iss", "aud", "exp", "sub"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                    "enforce_minimum_key_length": True,
                },
            )
        except jwt.PyJWTError as error:
            raise BadToken(str(error)) from error
        self._check_party(claims)
        return self._guest(claims)

    async def close(self) -> None:
        await self._keys.close()

    def _check_party(self, claims: dict[str, Any]) -> None:
        audiences, party = claims["aud"], claims.get("azp")
        several = isinstance(audiences, list) and len(audiences) > 1
        if party not in (None, self._audience) or (several and party is None):
            raise BadToken("issued to somebody else")
        if "events" in claims:
            raise BadToken("a logout token")

    def _guest(self, claims: dict[str, Any]) -> Guest:
        now = self._clock()
        expires = _time(claims["exp"])
        if now >= expires + LEEWAY_SECONDS:
            raise BadToken("expired")
        if _time(claims.get("nbf", 0)) - LEEWAY_SECONDS > now:
            raise BadToken("not valid yet")
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
            raise BadToken("without a subject")
        return Guest(
            issuer=self.issuer,
            subject=subject,
            name=_name_in(claims),
            role=_role_in(claims, self._role_claim),
            issued_at=int(now),
            expires_at=int(min(expires, now + LIFETIME_SECONDS)),
            token_id=str(claims.get("jti", ""))[:64],
        )


def _time(value: object) -> float:
    """Seconds since 1970; whole or not, both are allowed."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadToken("with a time that is none")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not math.isfinite(seconds):
        raise BadToken("with a time that is none")
    return seconds


def _name_in(claims: dict[str, Any]) -> str:
    """An address is no name: it is nobody else's business."""
    found = (claims.get(claim) for claim in NAME_CLAIMS)
    return next((name for name in found if isinstance(name, str) and name and "@" not in name), "")


def _role_in(claims: dict[str, Any], path: str) -> Role:
    found: Any = claims if path else ()
    for part in path.split(".") if path else ():
        found = found.get(part) if isinstance(found, dict) else None
    roles = [found] if isinstance(found, str) else found
    return next((role for role in POWER if isinstance(roles, list) and role in roles), "player")
