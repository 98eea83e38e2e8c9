"""Databases to keep accounts in."""

from tests.fixtures_sql import empty_postgres_url, postgres_server, postgres_url, sql_url, sqlite_url

__all__ = ["empty_postgres_url", "postgres_server", "postgres_url", "sql_url", "sqlite_url"]
