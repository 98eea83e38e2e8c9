"""Settings of the gateway, beside those of every service: ``BRELAN_HOST``, ``BRELAN_PORT`` and so on."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from brelan.auth.provider_keys import trustworthy
from brelan.settings import RoomSettings


class GatewaySettings(RoomSettings):
    host: str = "127.0.0.1"  # of the page and the API; in a container 0.0.0.0
    port: int = Field(default=8000, ge=0, le=65535)
    allowed_origins: tuple[str, ...] = ()  # pages of other hosts that may use API and sockets: ["https://play.example"]
    trusted_proxies: str = ""  # addresses whose X-Forwarded-For is believed, comma-separated
    welcome_amount: int = Field(default=100_000, ge=0)  # play money of a new player, in minor units; 0: none
    max_sockets: int = Field(default=20_000, ge=1)
    max_sockets_per_player: int = Field(default=64, ge=1)
    max_sockets_per_address: int = Field(default=2_000, ge=1)  # many players may share one
    busy_after_ms: int = Field(default=5_000, ge=100)  # a shard's oldest command has no answer for longer: BUSY
    commands_per_second: float = Field(default=20, gt=0)  # of one player; twice as many at once
    requests_per_second: float = Field(default=50, gt=0)  # of one address; ten times as many at once
    registrations_per_minute: float = Field(default=120, gt=0)  # of one address; as many at once
    failed_logins_per_minute: float = Field(default=6, gt=0)  # for one name and address; as many at once
    oidc_issuer: str = ""  # an OpenID Connect provider that keeps the accounts; empty: the room does
    oidc_audience: str = ""  # what the room is called there (client id)
    oidc_role_claim: str = ""  # where its tokens name roles of the room: "realm_access.roles"; empty: all are players

    @field_validator("allowed_origins")
    @classmethod
    def _origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            parts = urlsplit(origin)
            if parts.scheme not in {"http", "https"} or origin != f"{parts.scheme}://{parts.netloc.lower()}":
                raise ValueError(f"{origin!r} is no origin: it is scheme and host, as https://play.example")
        return origins

    @model_validator(mode="after")
    def _provider(self) -> Self:
        if self.oidc_issuer and not trustworthy(self.oidc_issuer):
            raise ValueError("BRELAN_OIDC_ISSUER is an https address, or an http one of this machine")
        if bool(self.oidc_issuer) != bool(self.oidc_audience):
            raise ValueError("BRELAN_OIDC_ISSUER and BRELAN_OIDC_AUDIENCE are set together, or neither is")
        return self
