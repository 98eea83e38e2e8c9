"""Who comes with the token of an identity provider: which player he is here, made when he is first seen."""

from collections import OrderedDict

import structlog

from brelan.auth.accounts import AccountStore, Player
from brelan.auth.oidc import Guest, Provider
from brelan.auth.tokens import Claims
from brelan.eventlog.log import LogUnavailable
from brelan_gateway.cashier import Cashier

REMEMBERED = 100_000  # players; the one longest not seen is forgotten first

logger = structlog.get_logger(__name__)


class Guests:
    def __init__(self, provider: Provider, accounts: AccountStore, cashier: Cashier) -> None:
        self._provider = provider
        self._accounts = accounts
        self._cashier = cashier
        self._players: OrderedDict[str, Player] = OrderedDict()  # by subject

    @property
    def issuer(self) -> str:
        return self._provider.issuer

    async def session_of(self, token: str) -> Claims:
        """His role is what the token says. Raises BadToken, ProviderUnavailable, DatabaseUnavailable."""
        guest = await self._provider.verify(token)
        player = self._players.get(guest.subject)
        if player is None:
            player = await self._welcome(guest)
        else:
            self._players.move_to_end(guest.subject)
        return Claims(player.player_id, player.name, guest.role, guest.issued_at, guest.expires_at, guest.token_id)

    async def _welcome(self, guest: Guest) -> Player:
        player = await self._accounts.of_subject(guest.issuer, guest.subject, guest.name)
        try:
            await self._cashier.welcome(player.player_id)
        except LogUnavailable as error:  # he gets it next time
            logger.warning("welcome money cannot be asked for", reason=str(error))
            return player
        self._players[guest.subject] = player
        if len(self._players) > REMEMBERED:
            self._players.popitem(last=False)
        return player

    async def close(self) -> None:
        await self._provider.close()
