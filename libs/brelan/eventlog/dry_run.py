"""Has this service's Redis user the rights that it needs? Tried when it starts: a script that is refused half-way has
written its first half, for Redis does not roll back (ARCHITECTURE §1).

Nothing is tried where there are no users: as ``default``, or on a Redis older than 7, which cannot try.
"""

import asyncio
import re
from collections.abc import Sequence

import structlog

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.redis_log import RedisStore
from brelan.eventlog.rights import Right, rights_of, sample

WALLET = "wallet"  # the slot of what belongs to no shard
MOST_NAMED = 3  # in the sentence

logger = structlog.get_logger(__name__)


class RightMissing(Exception):
    """The user may not do what the service has to. The message names user, command and key."""


async def try_rights(store: RedisStore, service: Service, shards: Sequence[str]) -> int:
    """How many were tried. Raises RightMissing, LogUnavailable."""
    tried, missing, user = 0, [], ""
    for shard in shards:  # in a cluster each server has users of its own
        user = (await store.read(shard, "ACL", "WHOAMI")).decode()
        if user == "default":
            return 0
        if await _too_old(store, shard):
            logger.warning("rights are not tried: this Redis is older than version 7", user=user)
            return 0
        for command, key, allowed in await _tried(store, service, shard, user):
            tried += 1
            if not allowed:
                missing.append(f"{command.upper().replace('|', ' ')} on {key}")
    if missing:
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        raise RightMissing(
            f"the event log's user {user!r} may not do what the {service} service has to: "
            f"{', '.join(missing[:MOST_NAMED])}{more}. `brelan acl` writes the users that are needed."
        )
    return tried


async def _tried(store: RedisStore, service: Service, shard: str, user: str) -> list[tuple[str, str, bool]]:
    """Command, key, and whether it may be done."""
    asked = [(command, *_place(right, shard)) for right in rights_of(service) for command in right.commands]
    answers = await asyncio.gather(
        *(store.read(place, "ACL", "DRYRUN", user, *sample(command, key)) for command, place, key in asked)
    )
    return [(command, key, answer == b"OK") for (command, _, key), answer in zip(asked, answers, strict=True)]


def _place(right: Right, shard: str) -> tuple[str, str]:
    """The slot and the key to try it on."""
    if right.family.tags == (keys.WALLET_TAG,):
        shard = WALLET
    elif right.family.tags == (f"{{{keys.ROOM}}}",):
        shard = keys.ROOM
    return shard, right.key_of(shard)


async def _too_old(store: RedisStore, shard: str) -> bool:
    found = re.search(rb"redis_version:(\d+)", await store.read(shard, "INFO", "server"))
    return found is not None and int(found[1]) < 7
