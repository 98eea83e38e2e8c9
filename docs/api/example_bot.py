"""A whole bot: python example_bot.py http://127.0.0.1:8000 "My bot" "a long password"."""

import asyncio
import sys

from brelan.client import Client, CommandRefused, Table
from brelan.views.messages import ActionView, TurnView


def choose(turn: TurnView) -> ActionView:
    """Check when it can, call what is cheap, else fold. What may be done is listed; nothing else is accepted."""
    actions = {action.kind: action for action in turn.actions}
    cheap = "call" in actions and actions["call"].pay <= 400
    wish = next(kind for kind in ("check", "bring_in", "call" if cheap else "fold", *actions) if kind in actions)
    return actions[wish]


async def play(table: Table) -> None:
    async for _ in table:  # every message of the room, folded into table.model
        if (turn := table.turn) is not None:
            try:
                action = choose(turn)
                await (table.draw() if action.kind == "draw" else table.act(action.kind, action.to))
            except CommandRefused as refused:  # too late, for example
                sys.stderr.write(f"{refused}\n")


async def main(url: str, name: str, password: str) -> None:
    async with Client(url) as client:
        await client.enter(name, password)  # registers at the first visit
        row = next(row for row in await client.tables() if row["players"] < row["seats"])
        async with client.table(row["table_id"]) as table:
            if table.model.my_seat is None:
                await table.sit(2 * row["minimum_buy_in"], entry="post")
            await play(table)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
