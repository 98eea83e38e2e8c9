"""The fields of a ``position`` hash: where a service stands on a shard.

``number``, ``nonce`` of the last commit, ``@<stream>`` for each cursor; ``takeovers`` since a cursor last moved, and
``attempt``/``attempts`` while entries are tried one by one (ARCHITECTURE §1, Poison).
"""

from collections.abc import Mapping

from brelan.eventlog.log import Attempt, Commit, Position


def position_of(fields: Mapping[str, bytes]) -> Position:
    entry = fields.get("attempt", b"").decode()
    return Position(
        number=int(fields.get("number", b"0")),
        cursors={name[1:]: value.decode() for name, value in fields.items() if name.startswith("@")},
        takeovers=int(fields.get("takeovers", b"0")),
        attempt=Attempt(entry, int(fields["attempts"])) if entry else None,
    )


def position_fields(commit: Commit) -> dict[str, bytes]:
    """What a commit writes there."""
    fields = {"number": b"%d" % (commit.number + 1), "nonce": commit.nonce.encode()}
    for stream, cursor in commit.cursors.items():
        fields["@" + stream] = cursor.encode()
    if commit.cursors:
        fields["takeovers"] = b"0"
    attempt = commit.attempt
    fields["attempt"] = attempt.entry.encode() if attempt else b""
    if attempt:
        fields["attempts"] = b"%d" % attempt.times
    return fields


def fence_fields(fields: Mapping[str, bytes], nonce: str) -> dict[str, bytes]:
    """What a fence writes there, given what stands there; the attempt is kept for whoever takes over."""
    return {
        "number": b"%d" % (int(fields.get("number", b"0")) + 1),
        "nonce": nonce.encode(),
        "takeovers": b"%d" % (int(fields.get("takeovers", b"0")) + 1),
    }
