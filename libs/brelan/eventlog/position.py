"""The fields of a ``position`` hash: where a service stands on a shard.

``number``, ``nonce`` of the last commit, ``@<stream>`` for each cursor; ``owners`` who have taken over since a cursor
last moved, and ``attempt``/``attempted-by`` while entries are tried one by one (ARCHITECTURE §1, Poison).

An owner is named by what its nonces begin with. One that died never fences again: whoever does has only been fenced,
and is struck off the list of those that the attempt may have killed.
"""

from collections.abc import Mapping

from brelan.eventlog.log import Attempt, Commit, Position

MOST_OWNERS = 16  # remembered


def position_of(fields: Mapping[str, bytes]) -> Position:
    entry = fields.get("attempt", b"").decode()
    return Position(
        number=int(fields.get("number", b"0")),
        cursors={name[1:]: value.decode() for name, value in fields.items() if name.startswith("@")},
        takeovers=max(0, len(_names(fields, "owners")) - 1),
        attempt=Attempt(entry, _names(fields, "attempted-by")) if entry else None,
    )


def _names(fields: Mapping[str, bytes], field: str) -> tuple[str, ...]:
    return tuple(fields.get(field, b"").decode().split())


def position_fields(commit: Commit) -> dict[str, bytes]:
    """What a commit writes there."""
    fields = {"number": b"%d" % (commit.number + 1), "nonce": commit.nonce.encode()}
    for stream, cursor in commit.cursors.items():
        fields["@" + stream] = cursor.encode()
    if commit.cursors:
        fields["owners"] = b""
    attempt = commit.attempt
    fields["attempt"] = attempt.entry.encode() if attempt else b""
    if attempt:
        fields["attempted-by"] = " ".join(attempt.owners).encode()
    return fields


def fence_fields(fields: Mapping[str, bytes], nonce: str) -> dict[str, bytes]:
    """What a fence writes there, given what stands there; the attempt is kept for whoever takes over."""
    owner = owner_of(nonce)
    owners = (*(name for name in _names(fields, "owners") if name != owner), owner)
    attempted_by = (name for name in _names(fields, "attempted-by") if name != owner)
    return {
        "number": b"%d" % (int(fields.get("number", b"0")) + 1),
        "nonce": nonce.encode(),
        "owners": " ".join(owners[-MOST_OWNERS:]).encode(),
        "attempted-by": " ".join(attempted_by).encode(),
    }


def owner_of(nonce: str) -> str:
    """ "a1b2c3-17" -> "a1b2c3"; a nonce without a number is an owner of its own."""
    name, _, number = nonce.rpartition("-")
    return "_".join((name if name and number.isdecimal() else nonce).split())
