"""``brelan bots`` that also write down what was acknowledged: ``python -m tests.cluster.recording_bots FILE ...``.

One line for each command that the room accepted: table, command id, kind, version.
"""

import secrets
import sys
from pathlib import Path
from typing import Any

from brelan.cli.bots import bots
from brelan.client.table import Table


def main() -> None:
    file = Path(sys.argv.pop(1)).open("w", buffering=1)  # noqa: SIM115 - open as long as the process lives
    said = Table.command

    async def command(table: Table, command: Any, command_id: str | None = None) -> int:
        command_id = command_id or secrets.token_hex(8)
        version = await said(table, command, command_id)
        file.write(f"{table.table_id} {command_id} {type(command).__name__} {version}\n")
        return version

    Table.command = command  # type: ignore[method-assign,assignment]
    bots()


if __name__ == "__main__":
    main()
