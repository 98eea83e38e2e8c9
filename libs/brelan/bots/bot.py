"""One bot at one table: comes in, sits down, plays, has its habits, leaves.

It looks at the table as its client knows it, does what there is to do, and waits for the next message. Every command
has to end accepted once or refused with a code that is known; what does not is a violation, and reported.
"""

import asyncio
import secrets
from collections.abc import Callable
from random import Random

import httpx2
import structlog

from brelan.bots.accounts import Account
from brelan.bots.brain import decide
from brelan.bots.report import Report
from brelan.bots.temper import Temper
from brelan.client import Client, ClientError, CommandRefused, Table, TableClosed, Unanswered
from brelan.client.hole_keys import HoleKeys
from brelan.client.seeds import Seeds
from brelan.events import commands
from brelan.events.table import Entry
from brelan.views import messages as views

LOOK_SECONDS = 1.0  # without a message, how soon it looks again
UPKEEP_SECONDS = (1.0, 3.0)  # between two tries to sit down, come back, top up
REST_SECONDS = (1.0, 6.0)
AFTER_TROUBLE_SECONDS = (0.5, 2.0)
SPARE_SECONDS = 1.5  # before the deadline
REPEATS = 0.01  # of commands, sent once more under their id: the answer has to be the same
UNPOSTED = 0.01  # of hands, after which it changes its mind about posting without being asked
SEEDED = 0.5  # of the bots bring seeds for the deal
SEALED = 0.5  # of them are dealt to keys of their own
BUY_INS = (1, 1, 2, 3)  # times the minimum
TRY_AGAIN = frozenset({"busy", "rate_limited"})

logger = structlog.get_logger(__name__)


class Bot:
    def __init__(
        self,
        url: str,
        account: Account,
        table_id: str,
        temper: Temper,
        chance: Random,
        think: float,
        report: Report,
        known_codes: frozenset[str],
        renew: Callable[[Account], Account],
    ) -> None:
        self.came_in = asyncio.Event()
        self._url = url
        self._account = account
        self._table_id = table_id
        self._temper = temper
        self._chance = chance
        self._think = think
        self._report = report
        self._known_codes = known_codes
        self._renew = renew  # another account for one without money
        self._decided = -1  # the last turn that is dealt with
        self._not_before = 0.0  # the next upkeep, by the loop's clock
        self._resting = False
        self._brings_seeds = chance.random() < SEEDED
        self._hole_keys = HoleKeys() if chance.random() < SEALED else None

    async def run(self, stop: asyncio.Event, leave_at_end: bool, gate: asyncio.Semaphore) -> None:
        """``gate``: how many come in at once."""
        while not stop.is_set():
            try:
                async with Client(self._url) as client:
                    async with gate:
                        await client.enter(self._account.name, self._account.password)
                    self.came_in.set()
                    await self._visit(client, stop, leave_at_end)
            except (ClientError, httpx2.HTTPError) as error:
                logger.info("bot in trouble", name=self._account.name, reason=str(error))
                await asyncio.sleep(self._chance.uniform(*AFTER_TROUBLE_SECONDS))

    async def _visit(self, client: Client, stop: asyncio.Event, leave_at_end: bool) -> None:
        seeds = Seeds(await client.dealer_keys()) if self._brings_seeds else None
        async with client.table(self._table_id, seeds, self._hole_keys) as table:
            try:
                while not stop.is_set():
                    await self._act(client, table)
                    message = await table.next(LOOK_SECONDS)
                    if isinstance(message, views.Events):
                        await self._notice(table, message)
                if leave_at_end and table.model.my_seat is not None:
                    await self._do(table, commands.Leave())
            finally:
                self._report.reconnects += table.reconnects
                self._report.violations += [f"{self._account.name}: {each}" for each in table.violations]

    # --- what there is to do -----------------------------------------------------------------------------------

    async def _act(self, client: Client, table: Table) -> None:
        turn = table.turn
        if turn is not None and turn.turn_id != self._decided:
            await self._decide(table, turn)
        elif self._asked_to_post(table):
            await self._answer_post(table)
        elif asyncio.get_running_loop().time() >= self._not_before:
            await self._look_after_seat(client, table)

    async def _decide(self, table: Table, turn: views.TurnView) -> None:
        self._decided = turn.turn_id
        if self._chance.random() < self._temper.oversleeps:
            self._report.overslept.append((self._table_id, turn.turn_id))
            return
        await asyncio.sleep(self._thinking(turn.deadline_ms, table))
        hand = table.model.hand
        if hand is None or table.turn is None or table.turn.turn_id != turn.turn_id:
            return
        own = table.model.cards
        cards = own.cards if own is not None and own.hand_id == hand.hand_id else ()
        if hand.community is not None:
            cards = (*cards, hand.community)
        if await self._do(table, decide(turn, hand, cards, self._temper, self._chance)):
            self._report.actions += 1

    def _thinking(self, deadline_ms: int, table: Table) -> float:
        if not self._think:
            return 0.0
        left = (deadline_ms - table.now_ms()) / 1000 - SPARE_SECONDS
        wish = self._think * self._temper.pace * self._chance.uniform(0.3, 1.7)
        return max(0.0, min(wish, left))

    def _asked_to_post(self, table: Table) -> bool:
        ask, seat = table.model.post_ask, table.model.my_seat
        return ask is not None and seat in ask.seats and ask.turn_id != self._decided

    async def _answer_post(self, table: Table) -> None:
        ask = table.model.post_ask
        assert ask is not None
        self._decided = ask.turn_id
        await self._do(table, commands.Act(ask.turn_id, "post" if self._chance.random() < 0.9 else "decline"))

    # --- its seat ----------------------------------------------------------------------------------------------

    async def _look_after_seat(self, client: Client, table: Table) -> None:
        mine = table.model.mine
        if mine is None:
            await self._sit_down(client, table)
        elif mine.sitting_out and not (mine.reserved or mine.leave_asked):
            await self._come_back(client, table)

    async def _sit_down(self, client: Client, table: Table) -> None:
        self._wait(UPKEEP_SECONDS)
        config = table.model.config
        if config is None or table.model.status != "open" or not table.model.free_seats:
            return
        amount = config.minimum_buy_in * self._chance.choice(BUY_INS)
        if await self._can_pay(client, amount):
            await self._do(table, commands.SitDown(amount, entry=self._entry()))

    async def _come_back(self, client: Client, table: Table) -> None:
        self._wait(UPKEEP_SECONDS)
        mine, config = table.model.mine, table.model.config
        assert mine is not None
        assert config is not None
        if not mine.stack and not mine.chips_waiting:
            if await self._can_pay(client, config.minimum_buy_in):
                await self._do(table, commands.TopUp(config.minimum_buy_in))
            else:
                await self._do(table, commands.Leave())
        else:
            await self._do(table, commands.ComeBack(self._entry()))

    async def _can_pay(self, client: Client, amount: int) -> bool:
        """Without money it comes again under another name."""
        balance = await client.balance()
        if balance >= amount:
            return True
        if balance:  # a little is left: it will do for less, or not at all
            self._account = self._renew(self._account)
            raise ClientError("out of money")
        return False

    def _entry(self) -> Entry:
        return self._chance.choice(("wait", "post", "post"))

    def _wait(self, seconds: tuple[float, float]) -> None:
        self._not_before = asyncio.get_running_loop().time() + self._chance.uniform(*seconds)

    # --- habits ------------------------------------------------------------------------------------------------

    async def _notice(self, table: Table, message: views.Events) -> None:
        for event in message.events:
            match event:
                case views.HandEnded(hand_id=hand_id) | views.HandVoided(hand_id=hand_id):
                    self._report.hands.add(hand_id)
                    await self._indulge(table)
                case views.ShowOffered(seats=seats) if table.model.my_seat in seats:
                    await self._show(table)
                case _:
                    pass

    async def _indulge(self, table: Table) -> None:
        mine = table.model.mine
        if mine is None:
            return
        temper, chance = self._temper, self._chance
        if chance.random() < temper.drops:
            await table.drop()
        elif chance.random() < temper.rests and not mine.sitting_out:
            await self._do(table, commands.SitOut())
            self._wait(REST_SECONDS)
        elif chance.random() < temper.wanders:
            await self._do(table, commands.Leave())
            self._wait(REST_SECONDS)
        elif chance.random() < UNPOSTED or not mine.auto_post:
            await self._do(table, commands.SetPreferences(not mine.auto_post, mine.auto_muck))

    async def _show(self, table: Table) -> None:
        luck = self._chance.random()
        if luck < self._temper.shows:
            await self._do(table, commands.Show())
        elif luck < self._temper.shows + 0.1:
            await self._do(table, commands.Muck())

    # --- commands ----------------------------------------------------------------------------------------------

    async def _do(self, table: Table, command: views.SocketCommand) -> bool:
        """Whether it was accepted."""
        command_id = secrets.token_hex(8)
        started = asyncio.get_running_loop().time()
        try:
            version = await table.command(command, command_id)
            self._report.acked += 1
            self._report.waits.append(asyncio.get_running_loop().time() - started)
            if self._chance.random() < REPEATS:
                await self._repeat(table, command, command_id, version)
        except CommandRefused as refused:
            self._report.refused[refused.code] += 1
            if refused.code in TRY_AGAIN:  # the room is behind: whatever it was is still to be done
                self._decided = -1
                await asyncio.sleep(self._chance.uniform(*AFTER_TROUBLE_SECONDS))
            if refused.code not in self._known_codes:
                self._report.violations.append(f"{command!r} was refused with an unknown code, {refused.code}")
            return False
        except (Unanswered, TableClosed):
            self._report.unanswered += 1
            raise
        return True

    async def _repeat(self, table: Table, command: views.SocketCommand, command_id: str, version: int) -> None:
        again = await table.command(command, command_id)
        if again != version:
            self._report.violations.append(f"{command!r} was accepted at {version}, and again at {again}")
