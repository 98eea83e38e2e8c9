"""The accounts of the ledger. Money is only ever moved between them, so their sum is always zero (M6).

``player:<id>``   what a player owns, away from the tables
``table:<id>``    escrow: the stacks and pots of a table
``house:rake``    what the house has earned (M5)
``cashier``       the outside world: money that came in stands here below zero
``suspense``      differences found after a fail-over, until somebody has looked
"""

CASHIER = "cashier"
HOUSE_RAKE = "house:rake"
SUSPENSE = "suspense"

_PLAYER = "player:"
_TABLE = "table:"


def player_account(player_id: str) -> str:
    return _PLAYER + player_id


def table_account(table_id: str) -> str:
    return _TABLE + table_id


def player_of(account: str) -> str | None:
    """Whose account it is; None when it is no player's."""
    return account.removeprefix(_PLAYER) if account.startswith(_PLAYER) else None


def table_of(account: str) -> str | None:
    return account.removeprefix(_TABLE) if account.startswith(_TABLE) else None


def may_be_negative(account: str) -> bool:
    return account in (CASHIER, SUSPENSE)
