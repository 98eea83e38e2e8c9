"""What requests and sockets work with: the shards, the accounts, the histories and the limits of this gateway."""

import hashlib
from collections.abc import Iterator, Mapping

import msgspec

from brelan.eventlog import keys
from brelan.eventlog.log import Log
from brelan.histories.queries import Histories
from brelan.sql.dead import DeadLetters
from brelan_gateway import refusals
from brelan_gateway.cashier import Cashier
from brelan_gateway.doorkeeper import Doorkeeper
from brelan_gateway.feed import ShardFeed
from brelan_gateway.inbox import Inbox
from brelan_gateway.limits import Buckets, Rate
from brelan_gateway.lobby import Row
from brelan_gateway.settings import GatewaySettings
from brelan_gateway.sockets import OpenSockets

ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
ID_LENGTH = 6
ANYWHERE = 10  # times as many failed logins of one name are heard from all addresses together


class Shard(msgspec.Struct, frozen=True):
    feed: ShardFeed
    inbox: Inbox
    log: Log


class Limits:
    """One bucket for each player, address or name."""

    def __init__(self, settings: GatewaySettings) -> None:
        def buckets(per_second: float, seconds_at_once: float) -> Buckets:
            return Buckets(Rate(per_second, max(1.0, per_second * seconds_at_once)))

        self.commands = buckets(settings.commands_per_second, 2)
        self.requests = buckets(settings.requests_per_second, 10)
        self.registrations = buckets(settings.registrations_per_minute / 60, 60)
        self.failed_logins = buckets(settings.failed_logins_per_minute / 60, 60)
        self.failed_logins_anywhere = buckets(ANYWHERE * settings.failed_logins_per_minute / 60, 60)


class Room:
    def __init__(
        self,
        settings: GatewaySettings,
        shards: Mapping[str, Shard],
        cashier: Cashier,
        doorkeeper: Doorkeeper,
        histories: Histories,
        limits: Limits,
        dead_letters: DeadLetters,
        dealer_keys: tuple[str, ...],
    ) -> None:
        self.settings = settings
        self.shards = shards
        self.cashier = cashier
        self.doorkeeper = doorkeeper
        self.histories = histories
        self.limits = limits
        self.dead_letters = dead_letters
        self.dealer_keys = dealer_keys  # public, in hexadecimal
        self.sockets = OpenSockets(
            settings.max_sockets, settings.max_sockets_per_player, settings.max_sockets_per_address
        )

    def shard_of(self, table_id: str) -> Shard:
        """Raises Refusal."""
        try:
            return self.shards[keys.shard_of(table_id)]
        except (ValueError, KeyError):
            raise refusals.unknown_table(table_id) from None

    def row_of(self, table_id: str) -> Row:
        """Raises Refusal."""
        feed = self.shard_of(table_id).feed
        if not feed.begun:
            raise refusals.unavailable()
        row = feed.lobby.find(table_id)
        if row is None:
            raise refusals.unknown_table(table_id)
        return row

    def rows(self) -> Iterator[Row]:
        """Raises Refusal: half a lobby would be taken for a whole one."""
        if not all(shard.feed.begun for shard in self.shards.values()):
            raise refusals.unavailable()
        for shard in self.shards.values():
            yield from shard.feed.lobby

    def new_table_id(self, player_id: str, idempotency_key: str) -> str:
        """The same for the same key, so that a table that was asked for twice is opened once."""
        digest = hashlib.sha256(f"{player_id}\n{idempotency_key}".encode()).digest()
        names = sorted(self.shards)
        shard = names[digest[0] % len(names)]
        number = int.from_bytes(digest[1:9])
        letters = []
        for _ in range(ID_LENGTH):
            number, letter = divmod(number, len(ID_LETTERS))
            letters.append(ID_LETTERS[letter])
        return f"{shard}-{''.join(letters)}"

    @property
    def trouble(self) -> dict[str, str]:
        """By shard, why it cannot be served."""
        return {name: shard.feed.trouble for name, shard in self.shards.items() if shard.feed.trouble}
