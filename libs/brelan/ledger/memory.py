"""Books in memory, for the simulator and fast tests.

``Vault`` is what outlives a writer; ``MemoryBooks`` is one writer.
"""

from collections.abc import Iterable

from brelan.ledger.accounts import may_be_negative
from brelan.ledger.books import Balance, Booked, Dead, Line, Numbered, Opened, Page, Refused, Tail, Written
from brelan.ledger.decide import Claimed, Ledger


class Vault:
    """What was written."""

    def __init__(self) -> None:
        self.pages = 0
        self.cursors: dict[str, str] = {}
        self.lines: dict[str, Line] = {}  # by transfer id, in the order written
        self.balances: dict[str, Balance] = {}
        self.outgoing: dict[str, list[bytes]] = {}
        self.dead: list[Dead] = []
        self.digests: dict[str, bytes] = {}
        self.tails: dict[str, Tail] = {}
        self.claims: dict[Claimed, int] = {}


class MemoryBooks:
    def __init__(self, vault: Vault | None = None) -> None:
        self.vault = vault or Vault()

    async def open(self) -> Opened:
        self.vault.pages += 1
        vault = self.vault
        open_claims = {claimed: amount for claimed, amount in vault.claims.items() if amount}
        return Opened(vault.pages, dict(vault.cursors), dict(vault.digests), dict(vault.tails), open_claims)

    async def known(self, accounts: Iterable[str], transfer_ids: Iterable[str]) -> Ledger:
        vault = self.vault
        return Ledger(
            {account: vault.balances[account].amount for account in accounts if account in vault.balances},
            {one: vault.lines[one].decided for one in transfer_ids if one in vault.lines},
        )

    async def write(self, page: Page) -> Written | None:
        vault = self.vault
        if page.page != vault.pages:
            return None
        balances = _after(vault, page.lines)
        vault.pages += 1
        vault.cursors.update(page.cursors)
        vault.lines.update((line.transfer_id, line) for line in page.lines)
        vault.balances.update(balances)
        for stream, data in page.outgoing:
            vault.outgoing.setdefault(stream, []).append(data)
        vault.dead.extend(page.dead)
        vault.digests = {stream: one for stream, one in vault.digests.items() if stream not in page.cursors}
        vault.digests.update(page.digests)
        vault.tails.update(page.tails)
        vault.claims.update(page.claims)
        return Written(balances)

    async def outgoing(self, stream: str, after: int, limit: int) -> list[Numbered]:
        entries = self.vault.outgoing.get(stream, [])[after : after + limit]
        return [Numbered(after + place, data) for place, data in enumerate(entries, start=1)]

    async def last_outgoing(self, stream: str) -> int:
        return len(self.vault.outgoing.get(stream, []))

    async def balances(self) -> dict[str, Balance]:
        return dict(self.vault.balances)

    async def booked(self, account: str, before: int | None, limit: int) -> list[Booked]:
        lines = [
            line
            for line in self.vault.lines.values()
            if line.transfer and any(posting.account == account for posting in line.transfer.postings)
        ]
        found = [Booked(place, line.transfer_id, line.decided.body) for place, line in enumerate(lines, start=1)]
        return [one for one in reversed(found) if before is None or one.sequence < before][:limit]

    async def close(self) -> None:
        """Nothing to let go of."""


def _after(vault: Vault, lines: Iterable[Line]) -> dict[str, Balance]:
    """The balances that these lines lead to. What a store must refuse it refuses here: a second line of one id, an
    account below zero."""
    balances: dict[str, Balance] = {}
    seen = set(vault.lines)
    for line in lines:
        if line.transfer_id in seen:
            raise Refused(f"transfer {line.transfer_id} is in the books already")
        seen.add(line.transfer_id)
        for posting in line.transfer.postings if line.transfer else ():
            before = balances.get(posting.account) or vault.balances.get(posting.account) or Balance(0, 0)
            balances[posting.account] = Balance(before.amount + posting.amount, before.sequence + 1)
    for account, balance in balances.items():
        if balance.amount < 0 and not may_be_negative(account):
            raise Refused(f"{account} would fall to {balance.amount}")
    return balances
