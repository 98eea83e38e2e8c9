"""Crashes between any two steps: a stand-in for a store or for books that dies at the n-th call, before or after it."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

Where = Literal["before", "after"]


class Crash(BaseException):
    """The process is gone. Not an Exception: nothing may catch it and go on."""


class Fuse:
    """Burns at call number ``at`` (from 1) of everything it is built into; 0: never."""

    def __init__(self, at: int = 0, where: Where = "before") -> None:
        self.at = at
        self.where = where
        self.calls = 0

    async def around(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        if self.calls == self.at and self.where == "before":
            raise Crash
        answer = await call()
        if self.calls == self.at and self.where == "after":
            raise Crash
        return answer


class Fused:
    """Any object, each of whose coroutine methods passes the fuse. ``log`` of a store is fused in turn."""

    def __init__(self, inner: Any, fuse: Fuse) -> None:
        self._inner = inner
        self._fuse = fuse

    def log(self, shard: str) -> "Fused":
        return Fused(self._inner.log(shard), self._fuse)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found) or name == "close":
            return found

        async def call(*arguments: Any, **named: Any) -> Any:
            return await self._fuse.around(lambda: found(*arguments, **named))

        return call
