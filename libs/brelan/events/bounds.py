"""What a message may hold and no store can: checked before it reaches SQL, where one such value would stop the rest."""

import msgspec

LARGEST = 2**63 - 1  # of a column
LONGEST = 1_024  # letters of a name or an id; PostgreSQL's indexes hold no more than 2,704 bytes


def check_storable(value: object) -> None:
    """Raises ValueError for numbers that no column holds, and texts that no database or index does."""
    _check(msgspec.to_builtins(value))


def _check(value: object) -> None:
    match value:
        case bool() | None | float():
            return
        case int():
            if not -LARGEST <= value <= LARGEST:
                raise ValueError(f"no column holds the number {value}")
        case str():
            if "\x00" in value or len(value) > LONGEST:
                raise ValueError(f"no column holds a text like {value[:40]!r}, {len(value)} letters long")
        case dict():
            for inner in value.values():
                _check(inner)
        case list() | tuple():
            for inner in value:
                _check(inner)
        case _:
            raise ValueError(f"{type(value).__name__} cannot be stored")


def error_text(error: Exception) -> str:
    """What went wrong with an entry, fit to be stored beside it."""
    return f"{type(error).__name__}: {error}".replace("\x00", "\\0")[:LONGEST]
