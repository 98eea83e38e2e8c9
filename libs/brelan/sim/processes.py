"""Processes that can be killed, stopped and doubled, and the places that are filled again when one is gone.

A killed process is dead to the outside at once: whatever its tasks still try, every door says ``Killed``.
"""

import asyncio
from collections.abc import Awaitable, Callable

from brelan.sim.clock import VirtualLoop
from brelan.sim.faults import Killed

BARREN = 3  # a process that would be the next to die without any progress is spared: no entry is to be suspected

Main = Callable[["Process"], Awaitable[None]]
Crashed = Callable[["Process", Exception], None]


class Process:
    """One life of a service. ``stop``: asks it to end by itself."""

    def __init__(self, place: "Place", number: int) -> None:
        self.place = place
        self.name = f"{place.name}-{number}"
        self.alive = True
        self.stop = asyncio.Event()
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._task: asyncio.Task[None] | None = None

    def start(self, main: Main, crashed: Crashed) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(main, crashed))

    async def _run(self, main: Main, crashed: Crashed) -> None:
        try:
            await main(self)
        except Killed:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the world has to hear of it
            if self.alive:
                crashed(self, error)

    @property
    def is_owner(self) -> bool:
        return self.place.current is self

    def check(self) -> None:
        """Raises Killed."""
        if not self.alive:
            raise Killed

    async def door(self) -> None:
        """Before anything that others could see: waits while the process stands still. Raises Killed."""
        self.check()
        if not self._goes_on.is_set():
            await self._goes_on.wait()
            self.check()

    def progressed(self) -> None:
        self.place.barren = 0

    @property
    def may_die(self) -> bool:
        return self.alive and self.place.barren < BARREN

    def kill(self) -> None:
        if self.alive:
            self.alive = False
            self._goes_on.set()
            if self._task is not None:
                self._task.cancel()

    def stand_still(self) -> None:
        self._goes_on.clear()

    def go_on(self) -> None:
        self._goes_on.set()


class Place:
    """What one process at a time should fill. ``died`` is called with each that is killed."""

    def __init__(
        self, name: str, loop: VirtualLoop, main: Main, crashed: Crashed, died: Callable[[Process], None] | None = None
    ) -> None:
        self.name = name
        self.current: Process | None = None
        self.barren = 0  # lives without progress, one after the other
        self._loop = loop
        self._main = main
        self._crashed = crashed
        self._died = died
        self._number = 0
        self._others: list[Process] = []
        self._starting: asyncio.TimerHandle | None = None

    @property
    def alive(self) -> bool:
        return self.current is not None and self.current.alive

    def start(self) -> None:
        self._starting = None
        if self.alive:
            return
        self._number += 1
        self.current = Process(self, self._number)
        self.current.start(self._main, self._crashed)

    def kill(self, again_in: float) -> None:
        """And the next one starts after so many seconds."""
        if self.current is not None and self.current.alive:
            self.bury(self.current)
        self.start_in(again_in)

    def bury(self, process: Process) -> None:
        """The process itself says that it is dead, or somebody killed it."""
        if process.alive:
            self.barren += 1
            process.kill()
            if self._died is not None:
                self._died(process)

    def start_in(self, seconds: float) -> None:
        if self._starting is not None:
            self._starting.cancel()
        self._starting = self._loop.call_later(seconds, self.start)

    def stand_still(self, replaced_in: float, seconds: float) -> None:
        """The owner stops in his tracks, is replaced, goes on a while, and is gone."""
        old = self.current
        if old is None or not old.alive:
            return
        old.stand_still()
        self._others.append(old)
        self._loop.call_later(replaced_in, self._replace, old)
        self._loop.call_later(seconds, old.go_on)
        self._loop.call_later(seconds + replaced_in, self._remove, old)

    def double(self, seconds: float) -> None:
        """A second owner works beside the first, who then goes."""
        old = self.current
        if old is None or not old.alive:
            return
        self._others.append(old)
        self._replace(old)
        self._loop.call_later(seconds, self._remove, old)

    def _replace(self, old: Process) -> None:
        if self.current is old:
            self.current = None
            self.start()

    def _remove(self, old: Process) -> None:
        if old in self._others:
            self._others.remove(old)
        if self.current is not old and old.alive:
            old.kill()
            if self._died is not None:
                self._died(old)

    def heal(self) -> None:
        """One process, and it works."""
        for old in list(self._others):
            self._remove(old)
        if self._starting is not None:
            self._starting.cancel()
            self._starting = None
        if self.current is not None:
            self.current.go_on()
        self.start()
