"""Deliberate defects."""

import contextlib
from collections.abc import Iterator

DEFECTS: dict[str, str] = {}


@contextlib.contextmanager
def applied(_name: str) -> Iterator[None]:
    yield
