"""The bots' accounts: made up for one run, or kept in a file so that the same ones come back."""

import contextlib
import json
import os
import secrets
from pathlib import Path

import msgspec

FIRST_NAMES = (
    "Ada", "Anselm", "Berthe", "Blaise", "Camille", "Cosima", "Denis", "Edith", "Emil", "Fleur", "Gaspard", "Greta",
    "Hugo", "Ines", "Jules", "Karla", "Leon", "Lucie", "Marius", "Nadja", "Odette", "Pascal", "Quentin", "Rosa",
    "Simon", "Theo", "Ursule", "Victor", "Wanda", "Xavier", "Yvonne", "Zoe",
)  # fmt: skip


class Account(msgspec.Struct, frozen=True):
    name: str
    password: str


class Accounts:
    """``file`` None: nobody sees these bots again."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._accounts: list[Account] = []
        self._prefix = f"bot {secrets.token_hex(3)}"
        if file is not None:
            with contextlib.suppress(FileNotFoundError):
                self._accounts = msgspec.json.decode(file.read_bytes(), type=list[Account])

    def get(self, number: int) -> Account:
        while len(self._accounts) <= number:
            self._accounts.append(self._new(len(self._accounts)))
            self._keep()
        return self._accounts[number]

    def renew(self, spent: Account) -> Account:
        """Another one in the place of one that has no money left."""
        number = self._accounts.index(spent)
        self._accounts[number] = Account(f"{_base(spent.name)} {secrets.token_hex(2)}", secrets.token_urlsafe(12))
        self._keep()
        return self._accounts[number]

    def _new(self, number: int) -> Account:
        name = f"{self._prefix} {number}"
        if self._file is not None:
            name = FIRST_NAMES[number % len(FIRST_NAMES)]
            if number >= len(FIRST_NAMES):
                name = f"{name} {number // len(FIRST_NAMES) + 1}"
        return Account(name, secrets.token_urlsafe(12))

    def _keep(self) -> None:
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._file.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump([msgspec.to_builtins(account) for account in self._accounts], file)
        fresh.replace(self._file)


def _base(name: str) -> str:
    return name.rsplit(" ", 1)[0] if name.count(" ") else name
