"""Databases and servers for tests of retention."""

from tests.fixtures_redis import redis_server, redis_url
from tests.fixtures_sql import empty_postgres_url, postgres_server, postgres_url, sql_url, sqlite_url

__all__ = [
    "empty_postgres_url",
    "postgres_server",
    "postgres_url",
    "redis_server",
    "redis_url",
    "sql_url",
    "sqlite_url",
]
