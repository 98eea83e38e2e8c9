"""What knows cards that others must not."""

from typing import Any

import msgspec


class Secret(msgspec.Struct, frozen=True):
    """Whatever prints it prints only what it is."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []
