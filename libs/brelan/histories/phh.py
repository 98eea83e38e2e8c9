"""Reading hands in the Poker Hand History format (PHH, https://arxiv.org/abs/2312.11753): fixed-limit stud, ``F7S``.

Only parsing: what the actions mean is decided by the rules (``brelan.audit.replay``). Players are numbered from 1 in
dealing order; amounts are integers in the unit of the file.
"""

import re
import tomllib
from typing import Any, Literal

import msgspec

from brelan.rules.cards import cards_from_text

_ACTION = re.compile(
    r"(?:p(?P<player>[1-9]\d*) (?P<verb>pb|cc|cbr|f|sm)|d (?P<deal>dh p(?P<to>[1-9]\d*)|db))(?: (?P<rest>\S+))?"
)

_MOST = 10**15


class PhhError(Exception):
    """The file cannot be read as a hand. The message says where and why."""


class PhhAction(msgspec.Struct, frozen=True):
    """``hole``, ``board``: the dealer; the rest by ``player``. ``text`` is the line itself, for messages."""

    kind: Literal["hole", "board", "bring_in", "check_or_call", "bet", "fold", "show"]
    player: int
    text: str
    cards: tuple[int, ...] = ()
    amount: int = 0  # of a bet: to this much on the street


class PhhHand(msgspec.Struct, frozen=True):
    ante: int
    bring_in: int
    small_bet: int
    big_bet: int
    starting_stacks: tuple[int, ...]
    actions: tuple[PhhAction, ...]
    finishing_stacks: tuple[int, ...] | None = None


def parse(text: str) -> PhhHand:
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PhhError(f"it is not TOML: {error}") from None
    except RecursionError:
        raise PhhError("it is not a hand: it is nested too deep") from None
    if fields.get("variant") != "F7S":
        variant = fields.get("variant")
        raise PhhError(f"its variant is {variant!r}: only F7S (fixed-limit seven-card stud) is played here")
    stacks = _amounts(fields, "starting_stacks")
    if not 2 <= len(stacks) <= 8 or min(stacks) <= 0:
        raise PhhError("starting_stacks has to name 2 to 8 stacks above zero")
    antes = _amounts(fields, "antes")
    if len(set(antes)) != 1 or len(antes) != len(stacks):
        raise PhhError("antes has to name the same ante for every player")
    actions = fields.get("actions")
    if not isinstance(actions, list):
        raise PhhError("it has no list of actions")
    finishing = _amounts(fields, "finishing_stacks") if "finishing_stacks" in fields else None
    return PhhHand(
        ante=antes[0],
        bring_in=_amount(fields, "bring_in"),
        small_bet=_amount(fields, "small_bet"),
        big_bet=_amount(fields, "big_bet"),
        starting_stacks=stacks,
        actions=tuple(_action(line, len(stacks)) for line in actions if not _is_comment(line)),
        finishing_stacks=finishing,
    )


def _amount(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    if type(value) is not int or not 0 < value <= _MOST:
        raise PhhError(f"{name} is {value!r}: it has to be a whole number above zero, at most {_MOST}")
    return value


def _amounts(fields: dict[str, Any], name: str) -> tuple[int, ...]:
    values = fields.get(name)
    if not isinstance(values, list) or not all(type(value) is int and 0 <= value <= _MOST for value in values):
        raise PhhError(f"{name} is {values!r}: it has to be a list of whole numbers from zero to {_MOST}")
    return tuple(values)


def _is_comment(line: object) -> bool:
    return isinstance(line, str) and line.lstrip().startswith("#")


def _action(line: object, players: int) -> PhhAction:
    text = str(line).partition("#")[0].strip()
    found = _ACTION.fullmatch(text)
    if found is None:
        raise PhhError(f"the action {line!r} is not one of stud's")
    player = int(found["player"] or found["to"] or 0)
    if player > players:
        raise PhhError(f"the action {text!r} names player {player} of {players}")
    rest = found["rest"] or ""
    try:
        return _read(found, text, player, rest)
    except ValueError as error:
        raise PhhError(f"the action {text!r}: {error}") from None


def _read(found: re.Match[str], text: str, player: int, rest: str) -> PhhAction:
    match found["verb"]:
        case None if found["deal"] == "db":
            return PhhAction("board", 0, text, cards_from_text(rest))
        case None:
            return PhhAction("hole", player, text, cards_from_text(rest))
        case "pb":
            return PhhAction("bring_in", player, text)
        case "cc":
            return PhhAction("check_or_call", player, text)
        case "cbr":
            return PhhAction("bet", player, text, amount=int(rest))
        case "f":
            return PhhAction("fold", player, text)
        case _:
            return PhhAction("show", player, text, cards_from_text(rest) if rest and "?" not in rest else ())
