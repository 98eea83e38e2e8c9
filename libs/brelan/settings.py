"""Settings that several services share: environment variables that begin with ``BRELAN_``.

A service with settings of its own subclasses ``RoomSettings``. A wrong value ends the service with a sentence
(``telemetry.service``). Every setting is described in ``docs/operating``.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from brelan.eventlog import keys


class RoomSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="BRELAN_", extra="ignore", frozen=True)

    redis_url: str = ""  # the event log; empty: none was given, and whoever needs one starts its own or says so
    replicas: int = Field(default=0, ge=0, le=8)  # that must have what anybody outside a shard is told
    replica_wait_ms: int = Field(default=1_000, ge=10, le=2_000)
    broker_url: str = ""  # Celery's own Redis, which may lose everything
    sql_url: str = ""  # ledger, accounts, histories; empty: SQLite in the data folder
    data: Path = Path("var")
    keys: Path | None = None  # the folder of the key files; default <data>/keys
    shards: int = Field(default=2, ge=1, le=1024)  # fixed for the life of a room
    http_host: str = "127.0.0.1"  # of health and metrics; in a container 0.0.0.0
    http_port: int = Field(default=9100, ge=0, le=65535)
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @property
    def key_folder(self) -> Path:
        return self.keys or self.data / "keys"

    @property
    def database_url(self) -> str:
        return self.sql_url or f"sqlite+aiosqlite:///{self.data.absolute() / 'brelan.db'}"

    @property
    def shard_names(self) -> tuple[str, ...]:
        """``("s00", "s01", ...)``."""
        return tuple(keys.shard_name(number) for number in range(self.shards))
