"""Servers for the timer's tests."""

from tests.fixtures_redis import redis_server, redis_url

__all__ = ["redis_server", "redis_url"]
