"""An OpenID Connect provider, as far as a room asks one: discovery, keys that change, tokens. A real server."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

AUDIENCE = "brelan-room"
MAKERS: dict[str, Any] = {
    "RS256": lambda: rsa.generate_private_key(public_exponent=65_537, key_size=2_048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


class SigningKey:
    def __init__(self, kid: str, algorithm: str) -> None:
        self.kid = kid
        self.algorithm = algorithm
        self.private = MAKERS[algorithm]()

    @property
    def jwk(self) -> dict[str, Any]:
        public = json.loads(jwt.get_algorithm_by_name(self.algorithm).to_jwk(self.private.public_key()))
        return {**public, "kid": self.kid, "use": "sig", "alg": self.algorithm}


class OidcProvider:
    """``asked``: the paths that were asked for. Stop it and it is away; it comes back on the same port."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys = list(keys) or [SigningKey("one", "ES256")]
        self.asked: list[str] = []
        self.discovery: dict[str, Any] = {}  # what differs
        self.jwks: Any = None  # instead of the keys
        self._port = 0
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        self.come()
        return self

    def __exit__(self, *_: object) -> None:
        self.go()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._port}/realm"

    def come(self) -> None:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked.append(self.path)
                answer = json.dumps(provider.answer(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def go(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, path: str) -> Any:
        if path.endswith("/.well-known/openid-configuration"):
            return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", **self.discovery}
        return {"keys": [key.jwk for key in self.keys]} if self.jwks is None else self.jwks

    def claims(self, subject: str = "sub-1", **claims: Any) -> dict[str, Any]:
        now = int(time.time())
        return {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": subject,
            "iat": now,
            "exp": now + 600,
            "preferred_username": "Ana",
            **claims,
        }

    def token(self, subject: str = "sub-1", key: SigningKey | None = None, **claims: Any) -> str:
        key = key or self.keys[0]
        return jwt.encode(
            self.claims(subject, **claims), key.private, algorithm=key.algorithm, headers={"kid": key.kid}
        )
