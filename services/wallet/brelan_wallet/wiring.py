"""Everything the wallet is made of, on one screen."""

import asyncio

from brelan.audit.continuous import audit_until
from brelan.audit.room import audit_escrow_until
from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import open_store
from brelan.sql import DatabaseError, create_engine, migrate
from brelan.sql.books import SqlBooks
from brelan.telemetry.service import Running, StartError
from brelan_wallet.service import BooksBehind, Wallet
from brelan_wallet.settings import WalletSettings


async def main(running: Running[WalletSettings]) -> None:
    settings, stop = running.settings, running.stop
    try:
        if not await running.until_answers("database", lambda: migrate(settings.database_url)):
            return
        engine = create_engine(settings.database_url)
    except DatabaseError as error:
        raise StartError(str(error)) from error
    store = open_store(settings)
    try:
        if not await running.until_log_answers(store, Service.WALLET):
            return
        wallet = Wallet(store, SqlBooks(engine), settings.shard_names)
        logs = {shard: store.log(shard) for shard in settings.shard_names}
        auditing = asyncio.gather(
            audit_until(stop, engine, logs, SqlBooks(engine), settings.audit_seconds),
            audit_escrow_until(stop, logs, SqlBooks(engine), settings.audit_seconds),
        )
        try:
            await wallet.run(stop, running.health)
        except BooksBehind as error:
            raise StartError(str(error)) from error
        finally:
            auditing.cancel()
            await asyncio.gather(auditing, return_exceptions=True)
    finally:
        await store.close()
        await engine.dispose()
