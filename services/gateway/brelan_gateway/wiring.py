"""Everything a gateway is made of, on one screen."""

import contextlib
import secrets

from sqlalchemy.ext.asyncio import AsyncEngine

from brelan.auth.accounts import AccountStore
from brelan.auth.oidc import Provider
from brelan.auth.provider_keys import ProviderKeys
from brelan.auth.tickets import TicketOffice
from brelan.auth.tokens import Issuer, Verifier
from brelan.deck.keys import DEALER_SIGN_PUBLIC, KeyFileError, load_hole_card_opener, load_keys, load_token_keys
from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import RedisStore, open_store
from brelan.histories.queries import Histories
from brelan.sql import DatabaseError, create_engine, migrate
from brelan.sql.dead import DeadLetters
from brelan.telemetry.health import listen
from brelan.telemetry.service import Running, StartError
from brelan_gateway.cashier import WALLET, Cashier
from brelan_gateway.doorkeeper import Doorkeeper
from brelan_gateway.feed import ShardFeed
from brelan_gateway.guests import Guests
from brelan_gateway.hole_cards import HoleCardReader
from brelan_gateway.inbox import Inbox
from brelan_gateway.room import Limits, Room, Shard
from brelan_gateway.routes import application
from brelan_gateway.service import serve
from brelan_gateway.settings import GatewaySettings


async def main(running: Running[GatewaySettings]) -> None:
    settings = running.settings
    async with contextlib.AsyncExitStack() as open_things:
        try:
            listening = open_things.enter_context(contextlib.closing(listen(settings.host, settings.port)))
            store = open_store(settings)
            open_things.push_async_callback(store.close)
            engine = create_engine(settings.database_url)
            open_things.push_async_callback(engine.dispose)
            room = build(settings, store, engine)
            open_things.push_async_callback(room.doorkeeper.close)
            if not await running.until_answers("database", lambda: migrate(settings.database_url)):
                return
        except OSError as error:
            where, why = f"{settings.host}:{settings.port}", error.strerror or error
            raise StartError(f"the page and the API cannot use {where} ({why}): choose another BRELAN_PORT.") from None
        except (DatabaseError, KeyFileError) as error:
            raise StartError(str(error)) from error
        if await running.until_log_answers(store, Service.GATEWAY):
            await serve(room, application(room, running.health), listening, running.health, running.stop)


def build(settings: GatewaySettings, store: RedisStore, engine: AsyncEngine) -> Room:
    """Raises KeyFileError."""
    name = f"gateway-{secrets.token_hex(4)}"
    key, *others = load_token_keys(settings.key_folder)
    verifying = [one.public_key() for one in (key, *others)]
    open_hole_cards = load_hole_card_opener(settings.key_folder)
    limits = Limits(settings)
    shards = {}
    for shard in settings.shard_names:
        log = store.log(shard)
        inbox = Inbox(log, name, settings.busy_after_ms)
        shards[shard] = Shard(ShardFeed(log, inbox, HoleCardReader(log, open_hole_cards)), inbox, log)
    cashier = Cashier(store.log(WALLET), settings.welcome_amount)
    accounts = AccountStore(engine)
    doorkeeper = Doorkeeper(
        accounts,
        Issuer(key),
        Verifier(verifying),
        TicketOffice(key, store, verifying),
        limits.failed_logins,
        limits.failed_logins_anywhere,
        guests_of(settings, accounts, cashier),
    )
    dealer_keys = tuple(key.hex() for key in load_keys(DEALER_SIGN_PUBLIC, settings.key_folder))
    return Room(settings, shards, cashier, doorkeeper, Histories(engine), limits, DeadLetters(engine), dealer_keys)


def guests_of(settings: GatewaySettings, accounts: AccountStore, cashier: Cashier) -> Guests | None:
    """None where the room keeps its accounts itself."""
    if not settings.oidc_issuer:
        return None
    keys = ProviderKeys(settings.oidc_issuer)
    return Guests(Provider(keys, settings.oidc_audience, settings.oidc_role_claim), accounts, cashier)
