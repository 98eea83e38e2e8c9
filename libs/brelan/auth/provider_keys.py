"""The public keys of an OpenID Connect provider: found from its issuer, kept, fetched again for one not seen before.

Not more often than once in some seconds, however many tokens name keys that do not exist. When the provider is away,
the keys that are known go on working. Once an hour they are fetched anew: a key withdrawn there is withdrawn here.
"""

import asyncio
import time
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
import msgspec
import structlog

from brelan.auth.tokens import BadToken, Clock

DISCOVERY = "/.well-known/openid-configuration"
PAUSE_SECONDS = 5.0  # at least, between two fetches
OLD_SECONDS = 3_600.0
TIMEOUT_SECONDS = 5.0  # for each of the two answers
LARGEST_ANSWER = 262_144  # bytes
MOST_KEYS = 100
KINDS = {"RSA", "EC", "OKP"}  # of keys: a secret that is shared verifies nothing here

logger = structlog.get_logger(__name__)


class ProviderUnavailable(Exception):
    """The provider cannot be asked for a key that is not known here."""


class ProviderKeys:
    """``clock``: seconds, of any beginning."""

    def __init__(self, issuer: str, clock: Clock = time.monotonic) -> None:
        self.issuer = issuer
        self._clock = clock
        self._http = httpx2.AsyncClient(timeout=TIMEOUT_SECONDS)
        self._keys: dict[str, dict[str, Any]] = {}  # by kid
        self._tried_at = -PAUSE_SECONDS - OLD_SECONDS
        self._fetched_at = self._tried_at
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, kid: object, algorithm: str) -> jwt.PyJWK:
        """Raises BadToken, ProviderUnavailable, jwt.PyJWTError."""
        key = self._key(kid)
        if key is None:
            if fetching := self._fetch():
                await asyncio.shield(fetching)
            key = self._key(kid)
        elif self._clock() - self._fetched_at > OLD_SECONDS:
            self._fetch()  # nobody has to wait for it
        if key is None:
            if self._failed or not self._keys:
                raise ProviderUnavailable(f"no key of {self.issuer} is known here")
            raise BadToken("signed with a key that is not the provider's")
        if key.get("alg", algorithm) != algorithm:
            raise BadToken("signed with a key for another algorithm")
        return jwt.PyJWK(key, algorithm)

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
        await self._http.aclose()

    def _key(self, kid: object) -> dict[str, Any] | None:
        if kid is None and len(self._keys) == 1:  # allowed where there is no choice
            return next(iter(self._keys.values()))
        return self._keys.get(kid) if isinstance(kid, str) else None

    def _fetch(self) -> asyncio.Task[None] | None:
        """The fetch under way, or a new one when it is time."""
        if self._fetching is None and self._clock() - self._tried_at >= PAUSE_SECONDS:
            self._tried_at = self._clock()
            self._fetching = asyncio.create_task(self._fetch_keys())
            self._fetching.add_done_callback(self._done)
        return self._fetching

    def _done(self, _: asyncio.Task[None]) -> None:
        self._fetching = None

    async def _fetch_keys(self) -> None:
        try:
            found = await self._read_keys()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            self._failed = True
            logger.warning("provider's keys cannot be fetched", issuer=self.issuer, reason=str(error) or repr(error))
            return
        self._keys, self._failed, self._fetched_at = found, False, self._clock()

    async def _read_keys(self) -> dict[str, dict[str, Any]]:
        """Raises ValueError for an answer that is none."""
        described = await self._get(self.issuer.rstrip("/") + DISCOVERY)
        if described.get("issuer") != self.issuer:
            raise ValueError("the provider calls itself otherwise than BRELAN_OIDC_ISSUER")
        where = described.get("jwks_uri")
        if not isinstance(where, str) or not trustworthy(where):
            raise ValueError("the provider names no safe address of its keys")
        listed = (await self._get(where)).get("keys")
        found = [key for key in listed if _verifies(key)] if isinstance(listed, list) else []
        if not found:
            raise ValueError("the provider has no keys to verify with")
        return {str(key.get("kid", "")): key for key in found[:MOST_KEYS]}

    async def _get(self, url: str) -> dict[str, Any]:
        read = b""
        async with self._http.stream("GET", url, headers={"Accept": "application/json"}) as answer:
            if answer.status_code != 200:
                raise ValueError(f"{url} is answered with status {answer.status_code}")
            async for part in answer.aiter_bytes():
                read += part
                if len(read) > LARGEST_ANSWER:
                    raise ValueError(f"{url} is answered with too much")
        return msgspec.json.decode(read, type=dict[str, Any])


def _verifies(key: object) -> bool:
    return isinstance(key, dict) and key.get("kty") in KINDS and key.get("use", "sig") == "sig" and "d" not in key


def trustworthy(url: str) -> bool:
    """Nobody on the way can answer instead: https, or this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return bool(host) and (
        parts.scheme == "https" or (parts.scheme == "http" and host in {"127.0.0.1", "::1", "localhost"})
    )
