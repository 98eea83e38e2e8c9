"""Tokens of an identity provider: a real one, that changes its keys, goes away and comes back."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from brelan.auth import provider_keys
from brelan.auth.oidc import Guest, Provider
from brelan.auth.provider_keys import ProviderKeys, ProviderUnavailable, trustworthy
from brelan.auth.tokens import LEEWAY_SECONDS, LIFETIME_SECONDS, BadToken
from tests.auth.oidc_provider import AUDIENCE, MAKERS, OidcProvider, SigningKey

KEYS = {algorithm: SigningKey(f"key {algorithm}", algorithm) for algorithm in MAKERS}


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def there() -> Iterator[OidcProvider]:
    with OidcProvider(*KEYS.values()) as there:
        yield there


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def provider(there: OidcProvider, clock: Clock) -> AsyncIterator[Provider]:
    provider = Provider(ProviderKeys(there.issuer, clock), AUDIENCE, "realm_access.roles")
    yield provider
    await provider.close()


async def test_a_guest_is_who_his_provider_says(provider: Provider, there: OidcProvider) -> None:
    guest = await provider.verify(there.token("abc", jti="j", realm_access={"roles": ["player", "operator"]}))
    assert guest[:4] == (there.issuer, "abc", "Ana", "operator")
    assert guest.token_id == "j"
    assert 590 < guest.expires_at - time.time() < 601


@pytest.mark.parametrize("algorithm", list(MAKERS))
async def test_each_pinned_algorithm_verifies(provider: Provider, there: OidcProvider, algorithm: str) -> None:
    assert (await provider.verify(there.token(key=KEYS[algorithm]))).subject == "sub-1"


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        ({}, "player"),
        ({"realm_access": {"roles": "support"}}, "support"),
        ({"realm_access": {"roles": ["god", "auditor", "support"]}}, "auditor"),
        ({"realm_access": ["operator"]}, "player"),
        ({"realm_access": {"roles": {"operator": True}}}, "player"),
        ({"realm_access": {"roles": [["operator"]]}}, "player"),
        ({"roles": ["operator"]}, "player"),
    ],
)
async def test_roles_come_from_the_configured_claim_only(
    provider: Provider, there: OidcProvider, claims: dict[str, Any], role: str
) -> None:
    assert (await provider.verify(there.token(**claims))).role == role


async def test_without_a_claim_for_roles_everybody_is_a_player(there: OidcProvider, clock: Clock) -> None:
    provider = Provider(ProviderKeys(there.issuer, clock), AUDIENCE)
    assert (await provider.verify(there.token(role="operator", roles=["operator"]))).role == "player"
    await provider.close()


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "ana@example.org", "nickname": "Annie"}, "Annie"),
        ({"preferred_username": "ana@example.org", "name": "Ana Real Name"}, ""),
        ({"preferred_username": ["x"]}, ""),
    ],
)
async def test_neither_addresses_nor_real_names_are_shown(
    provider: Provider, there: OidcProvider, claims: dict[str, Any], name: str
) -> None:
    assert (await provider.verify(there.token(**claims))).name == name


now = int(time.time())
NO_GUESTS = [
    {"iss": "https://elsewhere.example"},
    {"iss": None},
    {"aud": "another-client"},
    {"aud": [AUDIENCE, "another-client"]},
    {"aud": [AUDIENCE, "another-client"], "azp": "another-client"},
    {"aud": []},
    {"azp": "another-client"},
    {"exp": now - 600},
    {"exp": now - LEEWAY_SECONDS - 1},
    {"exp": "never"},
    {"exp": True},
    {"exp": None},
    {"nbf": now + 600},
    {"nbf": "now"},
    {"sub": None},
    {"sub": ""},
    {"sub": "x" * 256},
    {"sub": "a\x00b"},
    {"events": {"http://schemas.openid.net/event/backchannel-logout": {}}},
]


@pytest.mark.parametrize("claims", NO_GUESTS)
async def test_a_token_that_is_not_for_us_now_opens_nothing(
    provider: Provider, there: OidcProvider, claims: dict[str, Any]
) -> None:
    given = {name: value for name, value in {**there.claims(), **claims}.items() if value is not None}
    key = there.keys[0]
    token = jwt.PyJWS().encode(json.dumps(given).encode(), key.private, key.algorithm, {"kid": key.kid})
    with pytest.raises(BadToken):
        await provider.verify(token)


@pytest.mark.parametrize("claims", [{"exp": now - 1}, {"nbf": now + 3}, {"aud": [AUDIENCE]}, {"azp": AUDIENCE}])
async def test_clocks_may_differ_by_seconds(provider: Provider, there: OidcProvider, claims: dict[str, Any]) -> None:
    claims = {
        name: int(time.time()) + value - now if name in {"exp", "nbf"} else value for name, value in claims.items()
    }
    assert (await provider.verify(there.token(**claims))).subject == "sub-1"


@pytest.mark.parametrize("exp", [10**10, 10**400], ids=["far", "beyond"])
async def test_a_session_ends_after_twelve_hours_whatever_is_said(
    provider: Provider, there: OidcProvider, exp: int
) -> None:
    try:
        guest = await provider.verify(there.token(exp=exp))
    except BadToken:
        assert exp > 10**300
    else:
        assert abs(guest.expires_at - time.time() - LIFETIME_SECONDS) < 5


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
@pytest.mark.parametrize("algorithm", list(MAKERS))
async def test_forgeries_open_nothing(provider: Provider, there: OidcProvider, algorithm: str) -> None:
    key = KEYS[algorithm]
    public = key.private.public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    headers = {"kid": key.kid}
    forged = [
        jwt.encode(there.claims(), "", algorithm="none", headers=headers),
        hs256(there.claims(), pem, headers),
        there.token(key=SigningKey(key.kid, algorithm)),
        there.token(key=SigningKey("unknown", algorithm)),
        jwt.encode(there.claims(), key.private, algorithm, {**headers, "typ": "logout+jwt"}),
        there.token()[:-4] + "AAAA",
    ]
    others = [other for other in KEYS.values() if other is not key]
    forged += [jwt.encode(there.claims(), other.private, other.algorithm, headers) for other in others]
    if algorithm == "RS256":
        forged.append(jwt.encode(there.claims(), key.private, "PS256", headers))  # its key says RS256
    for token in forged:
        with pytest.raises(BadToken):
            await provider.verify(token)


def hs256(claims: dict[str, Any], key: bytes, headers: dict[str, str]) -> str:
    """As an attacker signs who has the public key; PyJWT would not."""
    parts = [jwt.utils.base64url_encode(json.dumps(part).encode()) for part in ({"alg": "HS256", **headers}, claims)]
    text = b".".join(parts)
    return b".".join((text, jwt.utils.base64url_encode(hmac.digest(key, text, hashlib.sha256)))).decode()


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
async def test_a_secret_or_short_key_of_the_provider_verifies_nothing(there: OidcProvider, clock: Clock) -> None:
    weak = SigningKey("weak", "RS256")
    weak.private = rsa.generate_private_key(public_exponent=65_537, key_size=1_024)
    shared = {"kty": "oct", "kid": "shared", "k": jwt.utils.base64url_encode(b"x" * 32).decode()}
    there.jwks = {"keys": [shared, weak.jwk, {**KEYS["RS256"].jwk, "use": "enc"}, 7]}
    provider = Provider(ProviderKeys(there.issuer, clock), AUDIENCE)
    for token in (
        hs256(there.claims(), b"x" * 32, {"kid": "shared"}),
        there.token(key=weak),
        there.token(key=KEYS["RS256"]),
    ):
        with pytest.raises(BadToken):
            await provider.verify(token)
    await provider.close()


async def test_a_new_key_is_found_and_an_old_one_ends(provider: Provider, there: OidcProvider, clock: Clock) -> None:
    old = there.keys[0]
    await provider.verify(there.token(key=old))
    new = SigningKey("new", "EdDSA")
    there.keys = [new]
    clock.now += provider_keys.PAUSE_SECONDS
    await provider.verify(there.token(key=new))
    with pytest.raises(BadToken):
        await provider.verify(there.token(key=old))


async def test_a_key_that_was_withdrawn_is_forgotten_within_the_hour(
    provider: Provider, there: OidcProvider, clock: Clock
) -> None:
    old = there.keys[0]
    await provider.verify(there.token(key=old))
    there.keys = there.keys[1:]
    clock.now += provider_keys.OLD_SECONDS + 1
    await provider.verify(there.token(key=old))  # nobody waits for the fetch that it sets off
    async with asyncio.timeout(5):
        while len(there.asked) < 4 or provider._keys._fetching:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    with pytest.raises(BadToken):
        await provider.verify(there.token(key=old))


async def test_keys_that_do_not_exist_make_nobody_fetch_for_ever(
    provider: Provider, there: OidcProvider, clock: Clock
) -> None:
    await provider.verify(there.token())
    rubbish = [there.token(key=SigningKey(f"rubbish {number}", "EdDSA")) for number in range(50)]
    for at in range(3):
        clock.now += provider_keys.PAUSE_SECONDS
        answers = await asyncio.gather(*(provider.verify(token) for token in rubbish), return_exceptions=True)
        assert all(isinstance(answer, BadToken) for answer in answers)
        assert len(there.asked) == 2 * (at + 2)
    await provider.verify(there.token())


async def test_when_the_provider_is_away_known_keys_go_on_working(
    provider: Provider, there: OidcProvider, clock: Clock
) -> None:
    await provider.verify(there.token())
    there.go()
    clock.now += provider_keys.OLD_SECONDS + 1
    for _ in range(3):
        assert isinstance(await provider.verify(there.token()), Guest)
    new = SigningKey("new", "ES256")
    clock.now += provider_keys.PAUSE_SECONDS
    with pytest.raises(ProviderUnavailable):
        await provider.verify(there.token(key=new))
    there.keys.append(new)
    there.come()
    clock.now += provider_keys.PAUSE_SECONDS
    await provider.verify(there.token(key=new))


async def test_a_provider_that_was_never_there_refuses_nobody_for_good(there: OidcProvider, clock: Clock) -> None:
    there.go()
    provider = Provider(ProviderKeys(there.issuer, clock), AUDIENCE)
    with pytest.raises(ProviderUnavailable):
        await provider.verify(there.token())
    there.come()
    with pytest.raises(ProviderUnavailable):
        await provider.verify(there.token())
    clock.now += provider_keys.PAUSE_SECONDS
    await provider.verify(there.token())
    await provider.close()


@pytest.mark.parametrize(
    ("discovery", "jwks"),
    [
        ({"issuer": "https://elsewhere.example"}, None),
        ({"jwks_uri": "http://elsewhere.example/keys"}, None),
        ({"jwks_uri": "file:///etc/passwd"}, None),
        ({"jwks_uri": 7}, None),
        ({}, []),
        ({}, {"keys": []}),
        ({}, {"keys": "x"}),
        ({}, {"keys": ["x" * provider_keys.LARGEST_ANSWER]}),
    ],
    ids=lambda given: str(given)[:40],
)
async def test_a_provider_that_answers_rubbish_is_as_good_as_away(
    there: OidcProvider, clock: Clock, discovery: dict[str, Any], jwks: object
) -> None:
    there.discovery, there.jwks = discovery, jwks
    provider = Provider(ProviderKeys(there.issuer, clock), AUDIENCE)
    with pytest.raises(ProviderUnavailable):
        await provider.verify(there.token())
    await provider.close()


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://id.example/realm", True),
        ("http://127.0.0.1:8080", True),
        ("http://id.example", False),
        ("ftp://127.0.0.1", False),
        ("https://", False),
        ("https://[", False),
        ("id.example", False),
    ],
)
def test_only_who_cannot_be_impersonated_on_the_way_is_asked(url: str, good: bool) -> None:
    assert trustworthy(url) is good
