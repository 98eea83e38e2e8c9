"""What can go wrong for a client."""


class ClientError(Exception):
    """Something the room said no to, or that cannot be done."""


class RequestRefused(ClientError):
    """A REST request was refused."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.status = status
        self.code = code
        self.message = message


class CommandRefused(ClientError):
    """A command at a table was refused; it had no effect."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class Unanswered(ClientError):
    """The room did not answer a command in time. Whether it took effect is unknown."""


class TableClosed(ClientError):
    """The socket cannot be opened (again): no such table, no right, or the client left."""
