"""Logs to try the contract on."""

from tests.fixtures_redis import fresh_redis_url, redis_server, redis_url

__all__ = ["fresh_redis_url", "redis_server", "redis_url"]
