"""What goes wrong, how often, and how often it did.

Every draw comes from the world's one source of chance. A kind that is switched off never draws, so that a world without
it is another world; but the same kinds and the same seed are the same world.
"""

from collections import Counter
from collections.abc import Collection
from random import Random
from typing import NoReturn

import msgspec

FAULTS: dict[str, str] = {
    # a call of the event log by any service
    "crash_before_commit": "a process dies with a commit decided and not sent",
    "crash_in_commit": "a process dies while its commit is under way: it was applied, or it was not",
    "crash_after_commit": "a process dies when its commit is applied, before it knows",
    "lost_reply": "a commit is applied, and the answer does not come back",
    "lost_commit": "a commit does not arrive, and nobody says so",
    "slow_store": "a call takes a second or more",
    "store_away": "a Redis server does not answer for some seconds",
    "tail_lost": "a Redis server is replaced by a replica that lacks its last writes",
    "replicas_away": "the replicas do not acknowledge for some seconds",
    # processes
    "two_owners": "a second owner of a shard works beside the first",
    "zombie_owner": "an owner stands still, is replaced, and goes on where it was",
    "dealer_killed": "the dealer dies in the middle of a hand",
    "wallet_killed": "the wallet dies",
    "history_killed": "the history service dies",
    "timer_killed": "the timer dies, and forgets what it has handed out",
    "broker_lost": "Celery's broker loses a task, delivers it twice, or late",
    "gateway_killed": "a gateway dies with its sockets",
    "room_stopped": "every process stops, for seconds or for minutes",
    # the SQL databases
    "slow_wallet": "the ledger's database takes its time",
    "books_away": "the ledger's database fails, before a page is written or after",
    "archive_away": "the history's database fails, before a page is written or after",
    # players and their connections
    "socket_dropped": "a player's connection breaks, and he resumes",
    "command_delayed": "a command is seconds on its way",
    "command_reordered": "a command is overtaken by later ones",
    "command_repeated": "a command arrives twice",
    "late_command": "a command arrives when its turn is long over",
    "wrong_player": "somebody answers a turn that is another's",
    "malformed_entry": "bytes that are no command lie among the commands",
}


class UnknownFault(ValueError):
    """Not a kind of fault; the message says which there are."""


def parse_faults(text: str) -> frozenset[str]:
    """``all``, ``none``, or names with commas between. Raises UnknownFault."""
    if text == "all":
        return frozenset(FAULTS)
    if text in ("none", ""):
        return frozenset()
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in FAULTS]:
        raise UnknownFault(f"There is no fault {', '.join(unknown)}. There are: all, none, {', '.join(FAULTS)}.")
    return frozenset(names)


class Killed(BaseException):
    """This process is dead: nothing it does has an effect any more. Not an Exception, so that nothing goes on."""


class Rates(msgspec.Struct, frozen=True):
    """How often, in one world: of calls, or how many seconds apart on the average."""

    commit: float = 0.004  # of commits, each kind of accident
    slow: float = 0.002  # of calls
    command: float = 0.03  # of commands, each kind of accident
    sql: float = 0.01  # of calls of a database
    seconds_between: float = 12.0  # of each kind that befalls the room


class Faults:
    """The dice of a world."""

    def __init__(self, kinds: Collection[str], chance: Random, rates: Rates) -> None:
        self.chance = chance
        self.rates = rates
        self.kinds = frozenset(kinds)
        self.counts: Counter[str] = Counter()
        self.on = True

    def strikes(self, kind: str, rate: float) -> bool:
        """Whether it happens now; it is counted then."""
        if not self.on or kind not in self.kinds or self.chance.random() >= rate:
            return False
        self.counts[kind] += 1
        return True

    def enabled(self, kind: str) -> bool:
        return self.on and kind in self.kinds

    def count(self, kind: str) -> None:
        self.counts[kind] += 1


def die() -> NoReturn:
    raise Killed
