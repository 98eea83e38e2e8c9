"""Who comes in: new players, logins, tokens, tickets. Refuses in the client's words; the reasons go to the log."""

import time

import structlog

from brelan.auth.accounts import AccountStore, Player, Refused
from brelan.auth.names import key_of
from brelan.auth.provider_keys import ProviderUnavailable
from brelan.auth.tickets import LIFETIME_SECONDS, TicketOffice
from brelan.auth.tokens import BadToken, Claims, Issuer, Verifier
from brelan.telemetry import metrics
from brelan_gateway import refusals
from brelan_gateway.guests import Guests
from brelan_gateway.identity import Identity
from brelan_gateway.limits import Buckets
from brelan_gateway.refusals import Refusal

HTTP_STATUS = {"name_taken": 409}

logger = structlog.get_logger(__name__)


class Doorkeeper:
    """``failures``: how many wrong passwords are heard for one name from one address; ``failures_anywhere``: from all.

    So nobody guesses for long, and who guesses somewhere keeps nobody out elsewhere. ``guests``: where an identity
    provider keeps the accounts, its tokens are good and none of ours is.
    """

    def __init__(
        self,
        accounts: AccountStore,
        issuer: Issuer,
        verifier: Verifier,
        tickets: TicketOffice,
        failures: Buckets,
        failures_anywhere: Buckets,
        guests: Guests | None = None,
    ) -> None:
        self._accounts = accounts
        self._issuer = issuer
        self._verifier = verifier
        self._tickets = tickets
        self._failures = failures
        self._failures_anywhere = failures_anywhere
        self._guests = guests

    def keeps_accounts(self) -> None:
        """Raises Refusal when somebody else does."""
        if self._guests is not None:
            raise refusals.accounts_elsewhere(self._guests.issuer)

    async def register(self, name: str, password: str) -> Player:
        self.keeps_accounts()
        player = await self._accounts.register(name, password)
        if isinstance(player, Refused):
            raise Refusal(HTTP_STATUS.get(player.code, 422), player.code, player.message)
        return player

    async def log_in(self, name: str, password: str, address: str) -> Player:
        """Whoever guesses has to wait. Every try counts until it has turned out right: many at once are many."""
        self.keeps_accounts()
        account = key_of(name)
        buckets = (self._failures.of(f"{account} {address}"), self._failures_anywhere.of(account))
        if seconds := max(bucket.missing() for bucket in buckets):
            raise refusals.rate_limited(seconds)
        for bucket in buckets:
            bucket.take()
        player = await self._accounts.verify(name, password)
        if player is None:
            metrics.login_failures.inc()
            raise refusals.wrong_password()
        for bucket in buckets:
            bucket.put_back()
        return player

    def token_for(self, player: Player) -> tuple[str, int]:
        """And the seconds it is good for."""
        return self._issuer.token_for(player), self._issuer.lifetime_seconds

    async def identify(self, token: str) -> Identity:
        try:
            if self._guests is not None:
                return self._identity(await self._guests.session_of(token))
            return self._identity(self._verifier.verify(token))
        except BadToken as error:
            logger.info("token refused", reason=str(error))
            raise refusals.unauthenticated() from None
        except ProviderUnavailable as error:
            logger.warning("token cannot be checked", reason=str(error))
            raise refusals.provider_unavailable() from None

    def ticket_for(self, identity: Identity) -> tuple[str, int]:
        return self._tickets.issue(identity.session), LIFETIME_SECONDS

    async def redeem(self, ticket: str) -> Identity:
        """Raises Refusal, LogUnavailable."""
        try:
            return self._identity(await self._tickets.redeem(ticket))
        except BadToken as error:
            logger.info("ticket refused", reason=str(error))
            raise refusals.unauthenticated() from None

    async def close(self) -> None:
        if self._guests is not None:
            await self._guests.close()

    def _identity(self, session: Claims) -> Identity:
        return Identity(session, time.monotonic() + self._tickets.seconds_left(session))
