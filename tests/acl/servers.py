"""A server with the room's users on it, each with its name as password."""

from typing import Any
from urllib.parse import urlsplit

import redis

from brelan.eventlog.acl import MORE_USERS, USERS, acl_file

PASSWORDS = {name: f"password-of-{name}" for name in (*USERS, *MORE_USERS)}


def add_users(url: str) -> None:
    """As the file says; ``default`` stays as it is, for the test to look with."""
    with redis.Redis.from_url(url) as admin:
        for line in acl_file(PASSWORDS).splitlines():
            _, name, *rules = line.split()
            if name != "default":
                client: Any = admin
                client.execute_command("ACL", "SETUSER", name, "reset", *rules)


def url_of(url: str, user: str) -> str:
    host = urlsplit(url).netloc.rpartition("@")[2]
    return f"redis://{user}:{PASSWORDS[user]}@{host}/0"
