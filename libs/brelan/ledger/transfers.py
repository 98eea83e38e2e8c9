"""What a transfer is: an id, a kind, and postings that sum to zero."""

from typing import Literal

import msgspec

Kind = Literal["buy_in", "cash_out", "refund", "rake", "deposit", "withdrawal", "settlement"]

MAX_AMOUNT = 10**15  # minor units in one transfer
MAX_BALANCE = 10**18  # of one account, either way; a 64-bit column holds nine times as much


class Posting(msgspec.Struct, frozen=True, array_like=True):
    """``amount`` is added to the account: above zero it receives, below zero it gives."""

    account: str
    amount: int


class Transfer(msgspec.Struct, frozen=True):
    """Refuses to exist unbalanced: a programming error, caught before anything is written."""

    id: str
    kind: Kind
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        if len(self.postings) < 2 or any(posting.amount == 0 for posting in self.postings):
            raise ValueError(f"transfer {self.id}: needs two postings or more, none of zero")
        if len({posting.account for posting in self.postings}) != len(self.postings):
            raise ValueError(f"transfer {self.id}: names an account twice")
        if total := sum(posting.amount for posting in self.postings):
            raise ValueError(f"transfer {self.id}: does not balance, it is off by {total}")


def move(transfer_id: str, kind: Kind, amount: int, source: str, target: str) -> Transfer:
    """``amount`` from one account to another."""
    return Transfer(transfer_id, kind, (Posting(source, -amount), Posting(target, amount)))
