"""Between tables, cashiers and the wallet.

``transfer_id`` makes each idempotent; the same id with another body is an error.
Accounts: ``player:<id>``, ``table:<id>`` (escrow), ``house:rake``, ``cashier``. Amounts in minor units, above zero.
"""

import msgspec


class Message(msgspec.Struct, frozen=True, tag=True):
    """Tagged by its class name."""


# --- a table to the wallet (wallet-requests) ---------------------------------------------------------------------


class BuyIn(Message, frozen=True):
    """From the player's account to the table's escrow: sitting down, or a top-up."""

    transfer_id: str
    table_id: str
    player_id: str
    amount: int


class CashOut(Message, frozen=True):
    """Back to the player. Also the refund of a buy-in nobody expects: ``refund:<transfer>``."""

    transfer_id: str
    table_id: str
    player_id: str
    amount: int


class TakeRake(Message, frozen=True):
    transfer_id: str  # "rake:<hand_id>"; with ":<epoch>" when the hand ended in another one than it began in
    table_id: str
    amount: int


WalletRequest = BuyIn | CashOut | TakeRake


class WalletRequested(msgspec.Struct, frozen=True, array_like=True):
    """An entry on ``wallet-requests``."""

    request: WalletRequest
    cause: str = ""
    trace: str = ""


# --- the wallet's answers (wallet-replies) -----------------------------------------------------------------------


class Funded(Message, frozen=True):
    transfer_id: str
    table_id: str
    player_id: str
    amount: int


class Declined(Message, frozen=True):
    transfer_id: str
    table_id: str
    player_id: str
    amount: int
    reason: str  # a sentence for the player
    code: str = "insufficient_funds"


class Booked(Message, frozen=True):
    """A cash-out, refund or rake is in the ledger."""

    transfer_id: str
    table_id: str
    amount: int


WalletReply = Funded | Declined | Booked


class WalletReplied(msgspec.Struct, frozen=True, array_like=True):
    """An entry on ``wallet-replies``."""

    reply: WalletReply
    cause: str = ""
    trace: str = ""


# --- the cashier -------------------------------------------------------------------------------------------------


class Deposit(Message, frozen=True):
    """From ``cashier`` to the player: play money on registration, or an operator's deposit."""

    transfer_id: str
    player_id: str
    amount: int
    by: str
    reason: str = ""


class Withdraw(Message, frozen=True):
    transfer_id: str
    player_id: str
    amount: int
    by: str
    reason: str = ""


CashierCommand = Deposit | Withdraw


class CashierRequested(msgspec.Struct, frozen=True, array_like=True):
    """An entry on ``cashier``."""

    command: CashierCommand
    trace: str = ""
