"""Players' balances, and the play money a new player gets."""

import asyncio

from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.events.envelope import encode
from brelan.events.money import CashierRequested, Deposit
from brelan.ledger.books import decode_balance

WALLET = "wallet"  # the name of the log of the room's own keys
WAIT_SECONDS = 2.0
STEP_SECONDS = 0.02


class Cashier:
    """``log``: the wallet's."""

    def __init__(self, log: Log, welcome_amount: int) -> None:
        self._log = log
        self._welcome_amount = welcome_amount

    async def balance(self, player_id: str) -> int | None:
        """In minor units; None while the wallet has never heard of him."""
        (found,) = await self._log.hash_get(keys.balances(), [player_id])
        return None if found is None else decode_balance(found).amount

    async def welcome(self, player_id: str) -> None:
        """Play money, once: the transfer's id makes asking again harmless, so whoever has no account yet is asked for
        again at every login."""
        if not self._welcome_amount or await self.balance(player_id) is not None:
            return
        deposit = Deposit(f"welcome:{player_id}", player_id, self._welcome_amount, by="room", reason="welcome")
        await self._log.append(keys.cashier(), encode(CashierRequested(deposit)))

    async def wait_for_account(self, player_id: str) -> None:
        """So that a new player finds his money; not for ever, it comes anyway."""
        if not self._welcome_amount:
            return
        for _ in range(int(WAIT_SECONDS / STEP_SECONDS)):
            if await self.balance(player_id) is not None:
                return
            await asyncio.sleep(STEP_SECONDS)
