"""What the gateway itself refuses: every code, its HTTP status and its sentence. Others are ``brelan.rules``'s."""

from math import ceil

import msgspec


class Refusal(Exception):
    """Answered to the client as ``{"code", "message"}``."""

    def __init__(self, status: int, code: str, message: str, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_seconds = retry_seconds

    @property
    def retry_after(self) -> int | None:
        """Whole seconds, for the header of that name."""
        return None if self.retry_seconds is None else max(1, ceil(self.retry_seconds))

    @property
    def retry_in_ms(self) -> int | msgspec.UnsetType:
        return msgspec.UNSET if self.retry_seconds is None else ceil(self.retry_seconds * 1000)


BUSY_RETRY_SECONDS = 1.0
PROVIDER_RETRY_SECONDS = 5.0


def invalid(message: str) -> Refusal:
    return Refusal(422, "invalid", message)


def out_of_range() -> Refusal:
    return invalid("A number is far too large, or a text cannot be written. Check what you send.")


def too_large() -> Refusal:
    return Refusal(413, "too_large", "That is more than this room reads at once.")


def unauthenticated() -> Refusal:
    return Refusal(401, "unauthenticated", "You are not logged in, or your session has ended. Log in again.")


def wrong_password() -> Refusal:
    return Refusal(401, "wrong_password", "The name or the password is wrong. Check both and try again.")


def accounts_elsewhere(issuer: str) -> Refusal:
    return Refusal(
        403, "accounts_elsewhere", f"This room has no passwords: log in at {issuer} and come with its token."
    )


def forbidden() -> Refusal:
    return Refusal(403, "forbidden", "Only an operator of the room may do this.")


def unknown_table(table_id: str) -> Refusal:
    return Refusal(404, "unknown_table", f"There is no table {table_id[:64]}. Pick one from the lobby.")


def unknown_deal() -> Refusal:
    return Refusal(404, "unknown_deal", "There is no record of such a deal: the hand is not over, or was called off.")


def unknown_hand() -> Refusal:
    return Refusal(404, "unknown_hand", "There is no such hand among those you may see.")


def unknown_address() -> Refusal:
    return Refusal(404, "not_found", "There is nothing under this address. docs/api lists what there is.")


def rate_limited(seconds: float) -> Refusal:
    return Refusal(429, "rate_limited", "That was too much at once. Wait a moment and try again.", seconds)


def busy() -> Refusal:
    return Refusal(503, "busy", "The room is behind just now. Wait a moment and try again.", BUSY_RETRY_SECONDS)


def no_answer() -> Refusal:
    message = "The room has not answered yet. Ask again with the same Idempotency-Key: nothing happens twice."
    return Refusal(504, "no_answer", message, BUSY_RETRY_SECONDS)


def unavailable() -> Refusal:
    message = "The room's store cannot be reached just now. Wait a moment and try again."
    return Refusal(503, "unavailable", message, BUSY_RETRY_SECONDS)


def provider_unavailable() -> Refusal:
    message = "Whoever keeps this room's accounts cannot be reached just now. Wait a moment and try again."
    return Refusal(503, "provider_unavailable", message, PROVIDER_RETRY_SECONDS)


def broken() -> Refusal:
    return Refusal(500, "broken", "Something went wrong in the room. It is logged; try again, or tell an operator.")
