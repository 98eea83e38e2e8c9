"""The room's SQL database: ledger, histories, players. SQLite on one machine, PostgreSQL in production.

``schema`` has every table, ``engine`` opens a database, ``migrate`` brings it up to date (every service does when it
starts), ``books`` keeps the ledger.
"""

from brelan.sql.engine import DatabaseError, DatabaseUnavailable, create_engine, reading, writing
from brelan.sql.migrate import migrate

__all__ = ["DatabaseError", "DatabaseUnavailable", "create_engine", "migrate", "reading", "writing"]
