"""Everything the dealer is made of, on one screen."""

from pathlib import Path

from brelan.deck.keys import (
    AUDITOR_PUBLIC,
    GATEWAY_HOLE_PUBLIC,
    HISTORY_PUBLIC,
    KeyFileError,
    load_dealer_signing_key,
    load_deck_seal,
    load_keys,
)
from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import open_store
from brelan.eventlog.worker import ShardWorker
from brelan.settings import RoomSettings
from brelan.telemetry.service import Running, StartError
from brelan_dealer.handlers import DealerHandler, DealerKeys


async def main(running: Running[RoomSettings]) -> None:
    settings = running.settings
    dealer_keys = load_dealer_keys(settings.key_folder)
    store = open_store(settings)
    try:
        if await running.until_log_answers(store, Service.DEALER):
            worker = ShardWorker(
                store,
                Service.DEALER,
                settings.shard_names,
                lambda shard: DealerHandler(shard, dealer_keys),
                health=running.health,
            )
            await worker.run(running.stop)
    finally:
        await store.close()


def load_dealer_keys(folder: Path) -> DealerKeys:
    """From the key files. Raises StartError."""
    try:
        return DealerKeys(
            load_deck_seal(folder),
            load_dealer_signing_key(folder),
            gateway=load_keys(GATEWAY_HOLE_PUBLIC, folder)[0],
            history=load_keys(HISTORY_PUBLIC, folder)[0],
            auditor=load_keys(AUDITOR_PUBLIC, folder)[0],
        )
    except KeyFileError as error:
        raise StartError(str(error)) from error
