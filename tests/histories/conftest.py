"""Databases to keep hands in."""

from tests.fixtures_sql import empty_postgres_url, postgres_server, postgres_url, sql_url, sqlite_url

__all__ = ["empty_postgres_url", "postgres_server", "postgres_url", "sql_url", "sqlite_url"]
