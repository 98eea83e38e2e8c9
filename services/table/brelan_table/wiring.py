"""Everything the table service is made of, on one screen."""

from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import open_store
from brelan.eventlog.worker import ShardWorker
from brelan.rules.rejections import SENTENCES
from brelan.settings import RoomSettings
from brelan.telemetry import metrics
from brelan.telemetry.service import Running
from brelan_table.handlers import TableHandler

for code in SENTENCES:  # a refusal that never happened counts 0, and is not missing
    metrics.rejections.labels(code=code)
for reader in (Service.GATEWAY, Service.WALLET, Service.HISTORY):
    metrics.tails_lost.labels(reader=reader)


async def main(running: Running[RoomSettings]) -> None:
    store = open_store(running.settings)
    try:
        if await running.until_log_answers(store, Service.TABLE):
            shards = running.settings.shard_names
            worker = ShardWorker(store, Service.TABLE, shards, TableHandler, health=running.health)
            await worker.run(running.stop)
    finally:
        await store.close()
