"""Everything history is made of, on one screen."""

from brelan.deck.keys import KeyFileError, load_record_opener
from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import open_store
from brelan.sql import DatabaseError, create_engine, migrate
from brelan.sql.archive import SqlArchive
from brelan.telemetry.service import Running, StartError
from brelan_history.service import ShardHistory, run_all
from brelan_history.settings import HistorySettings


async def main(running: Running[HistorySettings]) -> None:
    settings, stop = running.settings, running.stop
    try:
        open_record = load_record_opener(settings.key_folder)
        if not await running.until_answers("database", lambda: migrate(settings.database_url)):
            return
        engine = create_engine(settings.database_url)
    except (DatabaseError, KeyFileError) as error:
        raise StartError(str(error)) from error
    store = open_store(settings)
    archive = SqlArchive(engine)
    try:
        if await running.until_log_answers(store, Service.HISTORY):
            histories = [ShardHistory(store, archive, shard, open_record) for shard in settings.shard_names]
            await run_all(histories, stop, running.health)
    finally:
        await store.close()
        await archive.close()
