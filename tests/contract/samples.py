"""Sample values of message types, made from the types themselves: small ones, and ones with every field filled."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect


class Sampler:
    """Deterministic. Numbers count up, so that two fields that change places are noticed."""

    def __init__(self, full: bool) -> None:
        self.full = full
        self._numbers = iter(range(1, 1_000_000))

    def of(self, kind: Any, name: str = "") -> Any:
        return self._value(inspect.type_info(kind), name)

    def _value(self, kind: inspect.Type, name: str) -> Any:
        match kind:
            case inspect.StructType():
                return kind.cls(**{field.name: self._value(field.type, field.name) for field in self._fields(kind)})
            case inspect.UnionType():
                return self._value(self._member(kind), name)
            case inspect.VarTupleType():
                return (self._value(kind.item_type, name), self._value(kind.item_type, name))
            case inspect.ListType():
                return [self._value(kind.item_type, name)]
            case inspect.DictType():
                return {self._value(kind.key_type, name): self._value(kind.value_type, name)}
            case inspect.LiteralType():
                return kind.values[-1]
            case inspect.StrType():
                return f"{name}-{next(self._numbers)}"
            case inspect.IntType():
                number = next(self._numbers)
                return number % 52 if name in CARD_FIELDS else number
            case inspect.BoolType():
                return True
            case inspect.BytesType():
                return b"bytes-%d" % next(self._numbers)
            case inspect.NoneType():
                return None
            case _:
                raise AssertionError(f"no sample for {kind}")

    def _fields(self, kind: inspect.StructType) -> Iterator[inspect.Field]:
        return (field for field in kind.fields if self.full or field.required)

    def _member(self, kind: inspect.UnionType) -> inspect.Type:
        wanted = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        return wanted[0] if self.full or len(wanted) == len(kind.types) else inspect.NoneType()


CARD_FIELDS = {"cards", "up", "best", "community", "discards"}


def samples(kind: type[msgspec.Struct]) -> list[Any]:
    """The smallest value, and one with every field filled, when they differ."""
    small, full = Sampler(full=False).of(kind), Sampler(full=True).of(kind)
    return [small] if small == full else [small, full]
