"""What each URL of the REST interface does. ``routes`` names them."""

import asyncio
import secrets
import time
from typing import Annotated, Any, Literal

import msgspec
import structlog
from fastapi import Header, Path, Query, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import StringConstraints

from brelan.auth.accounts import Player
from brelan.deck.fair.record import FORMAT
from brelan.eventlog.log import LogUnavailable
from brelan.events.commands import OpenTable
from brelan.events.config import TableConfig
from brelan.events.envelope import PlayerCommanded
from brelan.histories.text import as_text
from brelan.rules import configuration
from brelan.views.projection import config_view
from brelan_gateway import bodies, refusals
from brelan_gateway.access import LoggedIn, Operator, TheRoom, Visitor, address_of
from brelan_gateway.identity import Identity
from brelan_gateway.inbox import Answer
from brelan_gateway.lobby import Row
from brelan_gateway.refusals import Refusal
from brelan_gateway.room import Room

ANSWER_SECONDS = 10.0

logger = structlog.get_logger(__name__)

# --- players and sessions ----------------------------------------------------------------------------------------


async def register(body: bodies.Registration, request: Request, room: TheRoom) -> bodies.Session:
    """A new player, logged in, with play money."""
    room.doorkeeper.keeps_accounts()
    seconds = room.limits.registrations.take(address_of(request))
    if seconds > 0:
        raise refusals.rate_limited(seconds)
    player = await room.doorkeeper.register(body.name, body.password)
    await room.cashier.welcome(player.player_id)
    await room.cashier.wait_for_account(player.player_id)
    return _session(room, player)


async def log_in(body: bodies.Login, request: Request, room: TheRoom) -> bodies.Session:
    """A token for a name and a password."""
    player = await room.doorkeeper.log_in(body.name, body.password, address_of(request))
    try:
        await room.cashier.welcome(player.player_id)
    except LogUnavailable as error:  # he gets it next time
        logger.warning("welcome money cannot be asked for", reason=str(error))
    return _session(room, player)


def _session(room: Room, player: Player) -> bodies.Session:
    token, expires_in = room.doorkeeper.token_for(player)
    return bodies.Session(token=token, expires_in=expires_in, player=_me(player))


def _me(player: Player | Identity) -> bodies.Me:
    return bodies.Me(player_id=player.player_id, name=player.name, role=player.role)


async def me(player: LoggedIn) -> bodies.Me:
    """Who I am."""
    return _me(player)


async def balance(player: LoggedIn, room: TheRoom) -> bodies.Balance:
    """What is in my wallet. Chips on a table are not."""
    return bodies.Balance(balance=await room.cashier.balance(player.player_id) or 0)


async def socket_ticket(player: LoggedIn, room: TheRoom) -> bodies.Ticket:
    """Good for one socket, soon."""
    ticket, expires_in = room.doorkeeper.ticket_for(player)
    return bodies.Ticket(ticket=ticket, expires_in=expires_in)


# --- tables ------------------------------------------------------------------------------------------------------


async def tables(visitor: Visitor, room: TheRoom) -> bodies.Tables:
    """The lobby."""
    rows = sorted(room.rows(), key=lambda row: (row.config.game, row.config.lower_limit, row.config.name, row.table_id))
    open_rows = [row for row in rows if row.status != "closed"]
    return bodies.Tables(tables=[bodies.LobbyRow(**_row(row, visitor)) for row in open_rows])


async def table(table_id: str, visitor: Visitor, room: TheRoom) -> bodies.TableDetails:
    """One table of the lobby, with its whole configuration."""
    row = room.row_of(table_id)
    return bodies.TableDetails(**_row(row, visitor), config=msgspec.to_builtins(config_view(row.config)))


def _row(row: Row, visitor: Identity | None) -> dict[str, Any]:
    config = row.config
    return {
        "table_id": row.table_id,
        "name": config.name,
        "game": config.game,
        "status": row.status,
        "lower_limit": config.lower_limit,
        "upper_limit": config.upper_limit,
        "seats": config.seats,
        "players": len(row.players),
        "minimum_buy_in": config.minimum_buy_in,
        "action_time_ms": config.action_time_ms,
        "currency_unit": config.currency_unit,
        "average_pot": row.average_pot,
        "hands_per_hour": row.hands_per_hour,
        "my_seat": row.seat_of(visitor.player_id) if visitor else None,
    }


async def open_table(
    body: bodies.TableToOpen,
    operator: Operator,
    room: TheRoom,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=64)] = None,
) -> bodies.OpenedTable:
    """Open a table. The same `Idempotency-Key` again: the same table."""
    key = idempotency_key or secrets.token_hex(16)
    table_id = room.new_table_id(operator.player_id, key)
    command = PlayerCommanded(
        table_id=table_id,
        player_id=operator.player_id,
        name=operator.name,
        command_id=key,
        command=OpenTable(_config(body)),
        trace=secrets.token_hex(8),
        operator=True,
    )
    answer = await ask(room, command)
    if not answer.version:
        raise Refusal(409, answer.code, answer.message)
    return bodies.OpenedTable(table_id=table_id, version=answer.version)


def _config(body: bodies.TableToOpen) -> TableConfig:
    """Raises Refusal with everything that is wrong."""
    given = dict(body.model_extra or {})
    if body.preset is not None:
        given = {**msgspec.to_builtins(_preset(body.preset)), **given}
    elif body.config is not None:
        given = {**body.config, **given}
    try:
        config = msgspec.convert(given, TableConfig)
    except msgspec.ValidationError as error:
        raise refusals.invalid(f"This is no configuration of a table: {error}.") from None
    if problems := configuration.problems(config):
        raise refusals.invalid(" ".join(problems))
    return config


def _preset(name: str) -> TableConfig:
    """``"stud 2-4"``."""
    game, _, limit = name.partition(" ")
    for preset in configuration.PRESETS:
        if preset == (game, limit):
            return configuration.PRESETS[preset]
    raise refusals.invalid(
        f"There is no preset {name!r}. There are stud and draw, each {', '.join(configuration.LIMITS)}."
    )


async def ask(room: Room, command: PlayerCommanded) -> Answer:
    """Send a command and wait for its answer. Raises Refusal."""
    answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def waiter(answer: Answer) -> None:
        if not answered.done():
            answered.set_result(answer)

    room.shard_of(command.table_id).inbox.send(command, time.monotonic(), waiter)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await answered
    except TimeoutError:
        raise refusals.no_answer() from None


# --- hands -------------------------------------------------------------------------------------------------------


HandId = Annotated[str, StringConstraints(pattern=r"^[\w:.-]{1,128}$")]


async def my_hands(
    player: LoggedIn,
    room: TheRoom,
    before: Annotated[HandId | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Response:
    """Hands I was dealt in, newest first."""
    return _json(await room.histories.hands_of(player.player_id, before, limit))


async def hand(
    hand_id: Annotated[HandId, Path()],
    player: LoggedIn,
    room: TheRoom,
    form: Annotated[Literal["json", "text"], Query(alias="format")] = "json",
) -> Response:
    """A finished hand as I may see it: my own cards with what everybody saw, or only that."""
    histories = room.histories
    view = await histories.hand_for(player.player_id, hand_id) or await histories.public_hand(hand_id)
    if view is None:
        raise refusals.unknown_hand()
    return PlainTextResponse(as_text(view)) if form == "text" else _json(view)


async def deal(hand_id: Annotated[HandId, Path()], player: LoggedIn, room: TheRoom) -> Response:
    """The record of a finished hand's deal, to be verified: with the proofs of my own cards, or without."""
    record = await room.histories.deal_for(player.player_id, hand_id)
    if record is None:
        raise refusals.unknown_deal()
    return Response(record, media_type="application/json")


async def fairness(room: TheRoom) -> bodies.Fairness:
    """The keys that the dealer signs with: the one in use, then older ones."""
    return bodies.Fairness(format=FORMAT, dealer_keys=list(room.dealer_keys))


def _json(value: msgspec.Struct) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")
