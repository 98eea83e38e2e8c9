"""Tokens: good ones are believed, and every way of forging one that has ever worked somewhere is not."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as new_ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from brelan.auth.accounts import Player
from brelan.auth.tokens import AUDIENCE, ISSUER, KIND, BadToken, Issuer, Verifier, key_id

NOW = 1_800_000_000
ANA = Player("p_ana", "Ana", "player", 0)
OURS = Ed25519PrivateKey.generate()
THEIRS = Ed25519PrivateKey.generate()
PUBLIC = OURS.public_key()
PUBLIC_PEM = PUBLIC.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def verifier(at: float = NOW) -> Verifier:
    return Verifier([PUBLIC], lambda: at)


def issuer(key: Ed25519PrivateKey = OURS, lifetime: int = 3600) -> Issuer:
    return Issuer(key, lifetime, lambda: NOW)


def claims(**changed: Any) -> dict[str, Any]:
    good = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "p_ana",
        "name": "Ana",
        "role": "player",
        "iat": NOW,
        "nbf": NOW,
        "exp": NOW + 3600,
        "jti": "x",
    }
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def headers(**changed: Any) -> dict[str, Any]:
    good = {"typ": KIND, "alg": "EdDSA", "kid": key_id(PUBLIC)}
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def part(data: object) -> str:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: dict[str, Any], body: object, sign: Callable[[bytes], bytes] = OURS.sign) -> str:
    text = f"{part(header)}.{part(body)}"
    return f"{text}.{part(sign(text.encode()))}"


def mac(key: bytes) -> Callable[[bytes], bytes]:
    return lambda text: hmac.new(key, text, hashlib.sha256).digest()


def test_a_token_tells_who_he_is() -> None:
    found = verifier().verify(issuer().token_for(ANA))
    assert (found.player_id, found.name, found.role) == ("p_ana", "Ana", "player")
    assert (found.issued_at, found.expires_at) == (NOW, NOW + 3600)


def test_two_tokens_are_never_the_same() -> None:
    tokens = {issuer().token_for(ANA) for _ in range(3)}
    assert len({verifier().verify(token).token_id for token in tokens}) == 3


def test_the_hand_made_good_one_is_believed() -> None:
    """So that the forgeries below are refused for what is wrong with them."""
    assert verifier().verify(signed(headers(), claims())).player_id == "p_ana"


@pytest.mark.parametrize(
    ("at", "good"), [(0, True), (3599, True), (3606, False), (-4, True), (-6, False), (10**6, False)]
)
def test_a_token_is_good_for_its_time(at: int, good: bool) -> None:
    token = issuer().token_for(ANA)
    if good:
        verifier(NOW + at).verify(token)
    else:
        with pytest.raises(BadToken):
            verifier(NOW + at).verify(token)


def test_an_old_key_is_good_until_it_is_taken_off_the_list() -> None:
    old = issuer(THEIRS).token_for(ANA)
    both = Verifier([PUBLIC, THEIRS.public_key()], lambda: NOW)
    assert both.verify(old).player_id == both.verify(issuer().token_for(ANA)).player_id
    with pytest.raises(BadToken):
        verifier().verify(old)


EC = new_ec_key(SECP256R1())


def ec_token() -> str:
    assert isinstance(EC, EllipticCurvePrivateKey)
    return jwt.encode(claims(), EC, algorithm="ES256", headers={"typ": KIND, "kid": key_id(PUBLIC)})


def jwk(key: Ed25519PrivateKey) -> dict[str, str]:
    return {"kty": "OKP", "crv": "Ed25519", "x": part(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))}


FORGED = {
    "empty": "",
    "no token": "not a token",
    "two parts": "a.b",
    "four parts": signed(headers(), claims()) + ".x",
    "not ascii": signed(headers(), claims()) + "é",
    "too long": signed(headers(), claims(padding="x" * 4000)),
    "unsigned": f"{part(headers(alg='none'))}.{part(claims())}.",
    "unsigned, NoNe": f"{part(headers(alg='NoNe'))}.{part(claims())}.",
    "no signature": f"{part(headers())}.{part(claims())}.",
    "without an algorithm": signed(headers(alg=None), claims()),
    "signed by somebody else": signed(headers(), claims(), THEIRS.sign),
    "signed by somebody else, under his own kid": signed(
        headers(kid=key_id(THEIRS.public_key())), claims(), THEIRS.sign
    ),
    "his own key brought along": signed(headers(jwk=jwk(THEIRS)), claims(), THEIRS.sign),
    "his own key brought along, no kid": signed(headers(kid=None, jwk=jwk(THEIRS)), claims(), THEIRS.sign),
    "his own key on his server": signed(headers(jku="https://evil.example/keys", kid="x"), claims(), THEIRS.sign),
    "x5u": signed(headers(x5u="https://evil.example/cert", kid="x"), claims(), THEIRS.sign),
    "kid of a file": signed(headers(kid="../../../../dev/null"), claims(), mac(b"")),
    "kid with SQL": signed(headers(kid="' UNION SELECT 'x"), claims(), mac(b"x")),
    "kid that is a list": signed(headers(kid=["x"]), claims()),
    "kid missing": signed(headers(kid=None), claims()),
    "HS256 with our public key": signed(headers(alg="HS256"), claims(), mac(PUBLIC_PEM)),
    "HS256 with its raw bytes": signed(
        headers(alg="HS256"), claims(), mac(PUBLIC.public_bytes(Encoding.Raw, PublicFormat.Raw))
    ),
    "HS256 said to be EdDSA": signed(headers(), claims(), mac(PUBLIC_PEM)),
    "another curve": ec_token(),
    "an algorithm that must be understood": signed(headers(crit=["exp"]), claims()),
    "payload apart": signed(headers(b64=False, crit=["b64"]), claims()),
    "a JWT of another kind": signed(headers(typ="JWT"), claims()),
    "no kind": signed(headers(typ=None), claims()),
    "for somebody else": signed(headers(), claims(aud="brelan-internal")),
    "for several": signed(headers(), claims(aud=["brelan-internal", "x"])),
    "for nobody": signed(headers(), claims(aud=None)),
    "from somebody else": signed(headers(), claims(iss="evil")),
    "from nobody": signed(headers(), claims(iss=None)),
    "expired": signed(headers(), claims(exp=NOW - 60)),
    "not valid yet": signed(headers(), claims(nbf=NOW + 60)),
    "never expiring": signed(headers(), claims(exp=None)),
    "expiring at a text": signed(headers(), claims(exp="9999999999")),
    "expiring at infinity": signed(headers(), claims(exp=float("inf"))),
    "expiring at a truth": signed(headers(), claims(exp=True)),
    "of nobody": signed(headers(), claims(sub=None)),
    "of a list": signed(headers(), claims(sub=["p_ana"])),
    "without a name": signed(headers(), claims(name=None)),
    "without a role": signed(headers(), claims(role=None)),
    "of a role that we do not know": signed(headers(), claims(role="god")),
    "of a role that is a list": signed(headers(), claims(role=["operator"])),
    "without an id": signed(headers(), claims(jti=None)),
    "a list instead of claims": signed(headers(), [1]),
}


@pytest.mark.parametrize("token", FORGED.values(), ids=list(FORGED))
def test_a_forged_token_proves_nothing(token: str) -> None:
    with pytest.raises(BadToken):
        verifier().verify(token)


def test_every_byte_counts() -> None:
    token = issuer().token_for(ANA)
    for place in range(0, len(token), 7):
        other = "A" if token[place] != "A" else "B"
        changed = token[:place] + other + token[place + 1 :]
        with pytest.raises(BadToken):
            verifier().verify(changed)


def test_a_role_cannot_be_raised() -> None:
    header, _, signature = issuer().token_for(ANA).split(".")
    with pytest.raises(BadToken):
        verifier().verify(f"{header}.{part(claims(role='operator'))}.{signature}")
