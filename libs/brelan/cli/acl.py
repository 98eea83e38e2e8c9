"""``brelan acl``: the file of Redis users, one for each service, with the rights that it needs and no others."""

import os
import secrets
import sys
from pathlib import Path

import click

from brelan.cli.running import write_whole
from brelan.eventlog.acl import MORE_USERS, USERS, acl_file, describe

PASSWORD_BYTES = 24


class PasswordFileError(Exception):
    """A sentence."""


@click.command("acl")
@click.option(
    "--passwords",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="A line <user>=<password> for each user. Made, with random passwords, when it is not there.",
)
@click.option(
    "--former",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Passwords that are good as well, while services change from them to the others.",
)
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), help="The file; without it, it is printed.")
def acl(passwords: Path, former: Path | None, to: Path | None) -> None:
    """Write Redis's aclfile: one user for each service. Only hashes of passwords are in it.

    Start Redis with ``--aclfile FILE``, or have it read again with ``ACL LOAD``; each service gets its own
    BRELAN_REDIS_URL, redis://<user>:<password>@host:port/0.
    """
    try:
        also = _read(former) if former is not None else {}
        if not passwords.exists():
            _make(passwords)
            click.echo(f"made {passwords}: keep it where only you can read it.", err=True)
        current = _read(passwords)
        if lost := [name for name in also if name not in current]:
            raise PasswordFileError(f"{passwords} has no password for {', '.join(lost)}, which {former} has.")
        text = acl_file(current, also)
        if to is None:
            click.echo(text, nl=False)
        else:
            write_whole(to, text)
            click.echo(f"wrote {to}: {', '.join(f'{name} ({describe(name)})' for name in USERS)}.", err=True)
    except (PasswordFileError, OSError, UnicodeError) as error:
        click.echo(f"brelan acl: {error}", err=True)
        sys.exit(2)


def _make(path: Path) -> None:
    lines = [f"{name}={secrets.token_urlsafe(PASSWORD_BYTES)}\n" for name in USERS]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.writelines(lines)


def _read(path: Path) -> dict[str, str]:
    """Raises PasswordFileError, OSError, UnicodeError."""
    if path.stat().st_mode & 0o077:
        raise PasswordFileError(f"{path} is open to others than its owner: chmod 600 {path}")
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, separator, password = line.partition("=")
        if not separator or not password or name not in (*USERS, *MORE_USERS):
            raise PasswordFileError(f"line {number} of {path} is no <user>=<password> of a user that there is.")
        if name in found:
            raise PasswordFileError(f"line {number} of {path} names {name} a second time.")
        found[name] = password
    if missing := [name for name in USERS if name not in found]:
        raise PasswordFileError(f"{path} has no password for {', '.join(missing)}.")
    return found
