"""The file of Redis users (``aclfile``): one for each service, with the rights of the catalogue and no others.

It needs Redis 7 or Valkey: a user there has selectors, each a list of commands with the keys that they may be used on.
Redis 6.2 knows only one list of each, for reading and writing alike: there one password for all has to do.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from brelan.eventlog.keys import Service
from brelan.eventlog.rights import KEYLESS, Right, auditors_rights, backups_rights, rights_of

AUDITOR, BACKUP, ADMINISTRATOR, REPLICA = "auditor", "backup", "administrator", "replica"

USERS = (*(service.value for service in Service), AUDITOR, BACKUP, ADMINISTRATOR)
MORE_USERS = (REPLICA,)  # only when it has a password

_WHAT = {
    AUDITOR: "brelan verify-log: reads tables",
    BACKUP: "brelan backup: reads everything, changes nothing",
    ADMINISTRATOR: "a person, and brelan restore",
    REPLICA: "replicas of this server (masteruser)",
}


def acl_file(passwords: Mapping[str, str], former: Mapping[str, str] | None = None) -> str:
    """``passwords``: of every user in USERS; ``former``: those good as well. Only their hashes are written."""
    lines = ["user default off resetchannels -@all"]
    for name in (*USERS, *MORE_USERS):
        if name in passwords:
            both = dict.fromkeys((passwords[name], (former or {}).get(name, passwords[name])))
            lines.append(user_line(name, *both))
    return "\n".join(lines) + "\n"


def user_line(name: str, *passwords: str) -> str:
    hashes = " ".join(f"#{hashlib.sha256(password.encode()).hexdigest()}" for password in passwords)
    return f"user {name} on {hashes} {rules_of(name)}"


def rules_of(name: str) -> str:
    """What follows the password."""
    if name == ADMINISTRATOR:
        return "~* &* +@all"
    if name == REPLICA:
        return "resetchannels -@all +psync +replconf +ping"
    keyless = " ".join(f"+{command}" for command in KEYLESS)
    return " ".join(["resetchannels -@all", keyless, *_selectors(_rights(name))])


def describe(name: str) -> str:
    return _WHAT.get(name, f"the {name} service")


def _rights(name: str) -> Sequence[Right]:
    if name == AUDITOR:
        return auditors_rights()
    if name == BACKUP:
        return backups_rights()
    return rights_of(Service(name))


def _selectors(rights: Iterable[Right]) -> list[str]:
    """Commands that may be used on the same keys stand together; one that names several keys needs them in one."""
    patterns: dict[tuple[tuple[str, ...], str], dict[str, None]] = {}
    for right in rights:
        of_these = patterns.setdefault((right.commands, right.access), {})
        of_these.update(dict.fromkeys(right.patterns))
    return [
        f"({' '.join(['-@all', *(f'+{command}' for command in commands), *(access + name for name in names)])})"
        for (commands, access), names in patterns.items()
    ]
