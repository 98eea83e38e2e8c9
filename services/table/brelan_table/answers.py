"""What was answered to whom: repeating a command id gets the same answer, not the same effect.

The last 64 answers of each player at each table live in the hash ``answers:<table>``, written in the commit that
decided them: one small field per answer, ``<player>:<slot>``, slots used round and round.
"""

from collections import OrderedDict

import msgspec

SLOTS = 64
PLAYERS = 64  # per table; the player who was quiet longest is forgotten first


class Answer(msgspec.Struct, frozen=True, array_like=True):
    command_id: str
    number: int  # this player's answers at this table, counted from 0; slot = number % SLOTS
    version: int  # of the entry that accepted it; 0: refused
    code: str = ""
    message: str = ""


encode_answer = msgspec.msgpack.Encoder().encode
decode_answer = msgspec.msgpack.Decoder(Answer).decode


def field(player_id: str, number: int) -> str:
    return f"{player_id}:{number % SLOTS}"


class Answers:
    """The answers of one table. ``given`` is only called once the commit that holds the answer is through."""

    def __init__(self) -> None:
        self._players: OrderedDict[str, OrderedDict[str, Answer]] = OrderedDict()
        self._numbers: dict[str, int] = {}

    @classmethod
    def from_hash(cls, fields: dict[str, bytes]) -> "Answers":
        """Rebuilds from the hash; ``fields`` in any order."""
        answers = cls()
        kept = [(name.rpartition(":")[0], decode_answer(data)) for name, data in fields.items()]
        for player_id, answer in sorted(kept, key=lambda item: item[1].number):
            answers.given(player_id, answer)
        return answers

    def to(self, player_id: str, command_id: str) -> Answer | None:
        mine = self._players.get(player_id)
        return mine.get(command_id) if mine is not None else None

    def next_number(self, player_id: str) -> int:
        return self._numbers.get(player_id, 0)

    def given(self, player_id: str, answer: Answer) -> None:
        mine = self._players.setdefault(player_id, OrderedDict())
        mine[answer.command_id] = answer
        if len(mine) > SLOTS:
            mine.popitem(last=False)
        self._players.move_to_end(player_id)
        self._numbers[player_id] = answer.number + 1

    def forgotten(self, newcomer: str) -> tuple[str, list[str]] | None:
        """Who has to be forgotten, with his fields, so that ``newcomer`` can be remembered."""
        if newcomer in self._players or len(self._players) < PLAYERS:
            return None
        player_id, mine = next(iter(self._players.items()))
        return player_id, [field(player_id, answer.number) for answer in mine.values()]

    def forget(self, player_id: str) -> None:
        self._players.pop(player_id, None)
        self._numbers.pop(player_id, None)
