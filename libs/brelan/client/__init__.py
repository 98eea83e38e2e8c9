"""The Python client: what players' programs, and the room's own bots, play with. See ``docs/api/example_bot.py``."""

from brelan.client.errors import ClientError, CommandRefused, RequestRefused, TableClosed, Unanswered
from brelan.client.rest import Client
from brelan.client.table import Table

__all__ = ["Client", "ClientError", "CommandRefused", "RequestRefused", "Table", "TableClosed", "Unanswered"]
