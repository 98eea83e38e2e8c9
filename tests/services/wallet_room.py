"""What tests of the wallet need of a room: tables that ask, a cashier, and somebody who reads the replies."""

import asyncio
from collections.abc import Sequence

from brelan.eventlog import keys
from brelan.eventlog.log import Store
from brelan.events import envelope, money
from brelan.events.envelope import encode
from brelan.events.money import CashierCommand, CashierRequested, WalletReply, WalletRequest, WalletRequested
from brelan.ledger.books import Books, decode_balance
from brelan_wallet.service import ROOM, Wallet

SHARDS = ("s00", "s01")
A, B = "s00-a", "s01-b"  # a table on each

Request = WalletRequest | CashierCommand


async def ask(store: Store, *requests: Request) -> None:
    for request in requests:
        if isinstance(request, money.Deposit | money.Withdraw):
            await store.log(ROOM).append(keys.cashier(), encode(CashierRequested(request)))
        else:
            shard = keys.shard_of(request.table_id)
            await store.log(shard).append(keys.wallet_requests(shard), encode(WalletRequested(request)))


async def replies(store: Store, shard: str = "s00") -> list[WalletReply]:
    entries = await store.log(shard).range(keys.wallet_replies(shard))
    assert [entry.id for entry in entries] == [f"{number}-0" for number in range(1, len(entries) + 1)]
    return [envelope.decode_wallet_reply(entry.data).reply for entry in entries]


async def copied(store: Store) -> dict[str, int]:
    """The balances as the gateway reads them."""
    fields = await store.log(ROOM).hash_all(keys.balances())
    return {player: decode_balance(value).amount for player, value in fields.items()}


async def serve_all(wallet: Wallet, rounds: int = 3) -> None:
    """Until every inbox is empty: cashiers first."""
    for _ in range(rounds):
        for shard in wallet.inboxes:
            while await wallet.serve(shard, block_ms=0):
                pass


async def run_wallet(store: Store, books: Books, shards: Sequence[str] = SHARDS) -> Wallet:
    """A wallet that starts, does all there is to do, and is gone."""
    wallet = Wallet(store, books, shards)
    await wallet.open()
    await serve_all(wallet)
    return wallet


async def accounts(books: Books) -> dict[str, int]:
    return {account: balance.amount for account, balance in (await books.balances()).items() if balance.amount}


async def until(true: "object", seconds: float = 10.0) -> None:
    """Polls an async function until it answers something true."""
    assert callable(true)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not await true():
        assert loop.time() < deadline, "not in time"
        await asyncio.sleep(0.02)
