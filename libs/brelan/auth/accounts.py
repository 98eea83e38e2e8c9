"""Players' accounts in SQL: names, passwords (argon2id), roles; and whom an identity provider speaks for.

Hashing takes tens of milliseconds and tens of megabytes on purpose: it runs in threads, a few at a time.
"""

import asyncio
import contextlib
import secrets
import time
from typing import Literal, get_args

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.sql.elements import ColumnElement

from brelan.auth import names
from brelan.sql.engine import create_engine, reading, writing
from brelan.sql.schema import players, players_elsewhere

Role = Literal["player", "support", "operator", "auditor", "administrator"]
ROLES: tuple[Role, ...] = get_args(Role)

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 256
HASHES_AT_ONCE = 2
NAMES_TRIED = 8  # for one who comes from elsewhere
NAMELESS = "Player"


class Player(msgspec.Struct, frozen=True):
    player_id: str
    name: str
    role: Role
    created_at_ms: int


class Refused(msgspec.Struct, frozen=True):
    """Why there is no account: ``bad_name``, ``name_taken``, ``bad_password``."""

    code: str
    message: str


class AccountStore:
    """Every method may raise DatabaseUnavailable."""

    def __init__(self, url: str | AsyncEngine, hasher: PasswordHasher | None = None) -> None:
        self._engine = create_engine(url) if isinstance(url, str) else url
        self._hasher = hasher or PasswordHasher()
        self._hashing = asyncio.Semaphore(HASHES_AT_ONCE)
        self._nobody = ""  # a hash for names that do not exist: they take as long to refuse

    async def register(self, name: str, password: str, role: Role = "player") -> Player | Refused:
        if problem := names.problem_of(name, reserved_allowed=role != "player"):
            return Refused("bad_name", problem)
        if problem := _problem_of_password(name, password):
            return Refused("bad_password", problem)
        player = Player(f"p_{secrets.token_hex(6)}", name, role, time.time_ns() // 1_000_000)
        if await self.by_name(name) is not None:
            return _taken(name)
        row = {
            **msgspec.structs.asdict(player),
            "name_key": names.key_of(name),
            "password_hash": await self._hash(password),
        }
        try:
            async with writing(self._engine) as connection:
                await connection.execute(insert(players).values(**row))
        except IntegrityError:  # somebody was a moment faster
            return _taken(name)
        return player

    async def verify(self, name: str, password: str) -> Player | None:
        """The player, if the password is his."""
        row = await self._find(players.c.name_key == names.key_of(name))
        if row is None:
            await self._matches(await self._nobodys_hash(), password)
            return None
        player, password_hash = row
        if not await self._matches(password_hash, password):
            return None
        if self._hasher.check_needs_rehash(password_hash):
            await self._change(player.player_id, password_hash=await self._hash(password))
        return player

    async def of_subject(self, issuer: str, subject: str, called: str) -> Player:
        """The player an identity provider speaks for; made when he comes for the first time, with a name as much like
        ``called`` as the rules and the others leave it. Nobody logs in as him with a password."""
        while (player := await self._by_subject(issuer, subject)) is None:
            await self._make_for(issuer, subject, names.suggested(called) or NAMELESS)
        return player

    async def _by_subject(self, issuer: str, subject: str) -> Player | None:
        of_his = select(players_elsewhere.c.player_id).where(
            players_elsewhere.c.issuer == issuer, players_elsewhere.c.subject == subject
        )
        row = await self._find(players.c.player_id.in_(of_his))
        return row[0] if row else None

    async def _make_for(self, issuer: str, subject: str, name: str) -> None:
        """One way or another he is there afterwards, or a name was taken a moment before."""
        row = {
            "player_id": f"p_{secrets.token_hex(6)}",
            "role": "player",
            "created_at_ms": time.time_ns() // 1_000_000,
            "password_hash": await self._hash(secrets.token_hex()),
        }
        link = {"issuer": issuer, "subject": subject, "player_id": row["player_id"]}
        name = await self._free_name(name)
        with contextlib.suppress(IntegrityError):  # somebody was a moment faster
            async with writing(self._engine) as connection:
                await connection.execute(insert(players).values(**row, name=name, name_key=names.key_of(name)))
                await connection.execute(insert(players_elsewhere).values(**link))

    async def _free_name(self, name: str) -> str:
        """The name, or the name with a number that nobody has."""
        tried = name
        for digits in range(2, NAMES_TRIED + 2):
            if not names.problem_of(tried) and await self.by_name(tried) is None:
                return tried
            number = secrets.randbelow(9 * 10 ** (digits - 1)) + 10 ** (digits - 1)
            tried = f"{name[: names.LONGEST - digits - 1].strip()} {number}"
        return tried

    async def get(self, player_id: str) -> Player | None:
        row = await self._find(players.c.player_id == player_id)
        return row[0] if row else None

    async def by_name(self, name: str) -> Player | None:
        """However it is written: "ANA" finds Ana."""
        row = await self._find(players.c.name_key == names.key_of(name))
        return row[0] if row else None

    async def set_role(self, player_id: str, role: Role) -> bool:
        """False: there is no such player."""
        return await self._change(player_id, role=role)

    async def set_password(self, player_id: str, password: str) -> Refused | None:
        """None: it is his password now."""
        player = await self.get(player_id)
        if player is None:
            return Refused("unknown_player", f"There is no player {player_id}.")
        if problem := _problem_of_password(player.name, password):
            return Refused("bad_password", problem)
        await self._change(player_id, password_hash=await self._hash(password))
        return None

    async def close(self) -> None:
        await self._engine.dispose()

    async def _find(self, where: ColumnElement[bool]) -> tuple[Player, str] | None:
        async with reading(self._engine) as connection:
            row = (await connection.execute(select(players).where(where))).first()
        if row is None:
            return None
        return Player(row.player_id, row.name, row.role, row.created_at_ms), row.password_hash

    async def _change(self, player_id: str, **values: str) -> bool:
        async with writing(self._engine) as connection:
            changed = await connection.execute(update(players).where(players.c.player_id == player_id).values(**values))
        return changed.rowcount == 1

    async def _hash(self, password: str) -> str:
        async with self._hashing:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def _matches(self, password_hash: str, password: str) -> bool:
        async with self._hashing:
            try:
                return await asyncio.to_thread(self._hasher.verify, password_hash, password)
            except (VerificationError, InvalidHashError):
                return False

    async def _nobodys_hash(self) -> str:
        if not self._nobody:
            self._nobody = await self._hash(secrets.token_hex())
        return self._nobody


def _problem_of_password(name: str, password: str) -> str:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        return f"A password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; this one has {len(password)}."
    if password.casefold() == name.casefold():
        return "A password has to be something else than the name."
    return ""


def _taken(name: str) -> Refused:
    return Refused("name_taken", f"Somebody else plays under the name {name}, or one too much like it. Choose another.")
