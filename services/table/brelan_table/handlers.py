"""The table service's decisions on one shard: entries in, one commit's worth of consequences out.

Everything that is decided stands on staged copies until the commit is through (``committed``), so a fenced or failed
batch leaves nothing behind. Who may do what is decided in ``brelan.rules``; here is only what a log adds: versions,
repeated command ids, deadlines, requests, snapshots, outages.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import msgspec
import structlog

from brelan.eventlog import keys
from brelan.eventlog.keys import Service
from brelan.eventlog.log import BEGINNING, Entry, Log, LogUnavailable
from brelan.eventlog.processor import Outputs, Undecodable
from brelan.eventlog.tables import encode_state, load_with_snapshot
from brelan.events import commands, envelope, table
from brelan.events.config import Game
from brelan.events.envelope import (
    CommandRefused,
    CommandRepeated,
    Epoch,
    PlayerCommanded,
    TableCommitted,
    TailLost,
    encode,
)
from brelan.events.money import WalletRequested
from brelan.events.table import TableEvent
from brelan.rules import rejections
from brelan.rules.invariants import violations
from brelan.rules.state import Decision, Rejected, TableState, begin_epoch, copy_of, epoch_of
from brelan.rules.table import AnyCommand, decide, next_due_ms
from brelan.telemetry import metrics
from brelan_table.answers import Answer, Answers, encode_answer, field
from brelan_table.observing import Census, observe
from brelan_table.requests import wallet_requests
from brelan_table.trimming import Standing, Trimming

Message = TypeVar("Message")

logger = structlog.get_logger(__name__)

OUTAGE_MS = 1_500  # nobody served the table, or no gateway was heard, for longer than this: clocks start again
EPOCHS_SINCE = 1_600_000_000  # the Unix second that epochs are counted from: the clock makes them new for ever
MOST_EPOCHS_AHEAD = 1_000  # of ours can a reader have seen; more is nonsense
LOADING = 64  # tables read at once when a shard is taken over


class Loaded:
    """A table in memory."""

    __slots__ = ("answers", "due_ms", "snapshot", "state")

    def __init__(self, state: TableState, answers: Answers, due_ms: int | None, snapshot: int = 0) -> None:
        self.state = state
        self.answers = answers
        self.due_ms = due_ms
        self.snapshot = snapshot  # the version of the last one


class Staged:
    """A table as the batch in hand leaves it."""

    __slots__ = ("answered", "base", "due_ms", "numbers", "snapshot", "state")

    def __init__(self, base: Loaded) -> None:
        self.base = base
        self.state = base.state
        self.due_ms = base.due_ms
        self.snapshot = base.snapshot
        self.answered: dict[tuple[str, str], Answer] = {}
        self.numbers: dict[str, int] = {}


async def _load_table(log: Log, table_id: str) -> Loaded:
    state, snapshot = await load_with_snapshot(log, table_id)
    answers = Answers.from_hash(await log.hash_all(keys.answers(table_id)))
    return Loaded(state, answers, next_due_ms(state), snapshot)


class TableHandler:
    service = Service.TABLE

    def __init__(self, shard: str, trimming: Trimming | None = None) -> None:
        self.shard = shard
        self._trimming = trimming or Trimming(shard)
        self._tables: dict[str, Loaded] = {}
        self._aside: dict[str, str] = {}  # tables that are left alone, so that the others play on, and why
        self._staged: dict[str, Staged] = {}
        self._served_ms = 0  # when this shard's tables were last served
        self._gateway_ms = 0  # when a gateway was last heard
        self._staged_gateway_ms = 0
        self._outage: tuple[int, int] | None = None
        self._epoch = self._staged_epoch = Epoch(1, "")
        self._epoch_stored = True  # it stands in the log
        self._happened: list[tuple[Game, TableEvent]] = []
        self._late_ms: list[int] = []
        self._census = Census()

    def inboxes(self, shard: str) -> tuple[str, ...]:
        return keys.commands(shard), keys.dealt(shard), keys.wallet_replies(shard)

    # --- taking over, adopting, forgetting ---------------------------------------------------------------------

    async def load(self, log: Log) -> None:
        self.discard()
        now_ms = await log.now_ms()
        beat = await log.get(keys.heartbeat(self.shard))
        await self._load_epoch(log, now_ms)
        gate = asyncio.Semaphore(LOADING)

        async def load_one(table_id: str) -> None:
            async with gate:
                try:
                    self._tables[table_id] = await _load_table(log, table_id)
                except LogUnavailable:
                    raise
                except Exception as error:  # noqa: BLE001 - one table must not close its shard
                    self._leave_alone(table_id, f"its log cannot be read: {error!r}")

        await asyncio.gather(*map(load_one, await log.hash_all(keys.tables(self.shard))))
        self._served_ms = self._gateway_ms = self._staged_gateway_ms = now_ms
        if beat is not None:
            self._outage = (int(beat), now_ms)

    def set_aside(self, stream: str, last_id: str) -> None:
        for table_id in list(self._tables):
            if keys.table_log(table_id) == stream:
                version = self._tables[table_id].state.version
                self._leave_alone(table_id, f"its log ends with {last_id}, not with version {version}")

    def _leave_alone(self, table_id: str, reason: str) -> None:
        self._tables.pop(table_id, None)
        self._staged.pop(table_id, None)
        self._aside[table_id] = reason
        logger.error("table left alone", table=table_id, reason=reason)

    async def _load_epoch(self, log: Log, now_ms: int) -> None:
        """On another server than before a tail of the log may be missing, the last epochs with it: what is decided from
        here on is of one that never was (ADR 0008)."""
        stored, server = await log.get(keys.epoch(self.shard)), await log.server_id()
        if stored is None:
            self._epoch, self._epoch_stored = Epoch(1, server), False
            return
        before = envelope.decode_epoch(stored)
        self._epoch_stored = before.server == server
        if self._epoch_stored:
            self._epoch = before
        else:
            self._epoch = Epoch(max(before.number + 1, now_ms // 1000 - EPOCHS_SINCE), server)

    async def prepare(self, log: Log, entries: Sequence[Entry]) -> None:
        """Every table of the shard is in memory since ``load``."""

    def committed(self) -> None:
        for table_id, staged in self._staged.items():
            loaded = self._tables.setdefault(table_id, staged.base)
            loaded.state = staged.state
            loaded.due_ms = staged.due_ms
            loaded.snapshot = staged.snapshot
            for (player_id, _), answer in staged.answered.items():
                if forgotten := loaded.answers.forgotten(player_id):
                    loaded.answers.forget(forgotten[0])
                loaded.answers.given(player_id, answer)
        self._staged = {}
        self._trimming.committed()
        self._gateway_ms = self._staged_gateway_ms
        self._epoch, self._epoch_stored = self._staged_epoch, True
        self._outage = None
        self._count()

    def _count(self) -> None:
        for game, event in self._happened:
            observe(event, game)
        for late_ms in self._late_ms:
            metrics.timeout_lateness_seconds.observe(late_ms / 1000)
        self._happened, self._late_ms = [], []

    def discard(self) -> None:
        self._census.leave()
        self._trimming.discard()
        self._tables = {}
        self._aside = {}
        self._staged = {}
        self._outage = None

    # --- a batch -----------------------------------------------------------------------------------------------

    def handle(self, entries: Sequence[Entry], now_ms: int) -> Outputs:
        outputs = self._begin(now_ms)
        for entry in entries:
            self._handle_entry(entry, now_ms, outputs)
        self._finish(outputs)
        return outputs

    def housekeeping(self, now_ms: int) -> Outputs | None:
        """Twice a second: the heartbeat, by which the next owner knows since when nobody served this shard."""
        outputs = self._begin(now_ms)
        outputs.string_set(keys.heartbeat(self.shard), b"%d" % now_ms)
        self._census.take([loaded.state for loaded in self._tables.values()], len(self._aside))
        self._finish(outputs)
        self._trimming.trim(now_ms, self._standings(), outputs)
        return outputs

    async def look(self, log: Log, now_ms: int) -> None:
        await self._trimming.look(log, now_ms, self._standings())

    def _standings(self) -> Iterator[Standing]:
        for table_id, loaded in self._tables.items():
            yield Standing(table_id, loaded.state.version, loaded.snapshot)

    def poisoned(self, entry: Entry, error: str) -> Outputs:
        """The entry goes to the dead stream; a table that waits for it cannot go on and is frozen."""
        outputs = self._begin(entry_now := self._served_ms)
        if entry.stream == keys.commands(self.shard):
            self._refuse_poison(entry, error, outputs)
        elif table_id := _table_of_answer(entry):
            freeze = commands.FreezeTable(f"An answer on {entry.stream} could not be applied: {error}")
            self._decide(table_id, freeze, entry_now, 0, outputs, cause=_cause(entry))
        self._finish(outputs)
        return outputs

    def _begin(self, now_ms: int) -> Outputs:
        self._staged = {}
        self._happened, self._late_ms = [], []
        self._staged_gateway_ms = self._gateway_ms
        self._staged_epoch = self._epoch
        outputs = Outputs()
        if not self._epoch_stored:
            outputs.string_set(keys.epoch(self.shard), encode(self._epoch))
        if self._outage is None and self._served_ms and now_ms - self._served_ms > OUTAGE_MS:
            self._outage = (self._served_ms, now_ms)
        if self._outage is not None:
            self._end_outage(self._outage[0], now_ms, outputs)
        self._served_ms = max(self._served_ms, now_ms)
        return outputs

    def _handle_entry(self, entry: Entry, now_ms: int, outputs: Outputs) -> None:
        cause = _cause(entry)
        if entry.stream == keys.commands(self.shard):
            command = _decoded(envelope.decode_command, entry)
            match command:
                case PlayerCommanded():
                    self._player_command(command, entry, now_ms, outputs)
                case envelope.TurnExpired():
                    self._expire(command, entry, now_ms, outputs)
                case envelope.GatewayAlive():
                    self._hear_gateway(entry.at_ms, now_ms, outputs)
                case TailLost():
                    self._lose_tail(command, entry, now_ms, outputs)
        elif entry.stream == keys.dealt(self.shard):
            dealt = _decoded(envelope.decode_dealt, entry)
            self._decide(dealt.table_id, dealt.answer, now_ms, entry.at_ms, outputs, cause=cause, trace=dealt.trace)
        else:
            replied = _decoded(envelope.decode_wallet_reply, entry)
            reply = replied.reply
            self._decide(reply.table_id, reply, now_ms, now_ms, outputs, cause=cause, trace=replied.trace)

    def _finish(self, outputs: Outputs) -> None:
        """The table's one member in the deadline set: moved when its earliest wait has moved, and only then."""
        for table_id, staged in self._staged.items():
            due = next_due_ms(staged.state)
            if due == staged.base.due_ms:
                continue
            staged.due_ms = due
            if due is None:
                outputs.zset_remove(keys.deadlines(self.shard), table_id)
            else:
                outputs.zset_add(keys.deadlines(self.shard), table_id, due)

    # --- commands ----------------------------------------------------------------------------------------------

    def _player_command(self, message: PlayerCommanded, entry: Entry, now_ms: int, outputs: Outputs) -> None:
        cause = _cause(entry)
        opening = isinstance(message.command, commands.OpenTable)
        if message.table_id in self._aside:
            self._refuse(None, message, rejections.rejected("table_frozen"), cause, outputs)
            return
        staged = self._stage(message.table_id, create=opening)
        if staged is None:
            rejected = Rejected("unknown_table", f"There is no table {message.table_id}. Pick one from the lobby.")
            self._refuse(None, message, rejected, cause, outputs)
            return
        before = _answer_to(staged, message)
        if before is not None:
            _repeat(message, before, cause, self.shard, outputs)
            return
        decision = decide(
            self._in_epoch(staged.state),
            message.command,
            now_ms=now_ms,
            arrived_at_ms=entry.at_ms,
            player_id=message.player_id,
            name=message.name,
            operator=message.operator,
        )
        if isinstance(decision, Rejected):
            self._refuse(staged, message, decision, cause, outputs)
            if opening and staged.state.status == "none":
                del self._staged[message.table_id]
            return
        frozen = self._broken(decision.state)
        if frozen:
            self._freeze(message.table_id, frozen, now_ms, outputs, cause)
            if staged.state.status == "frozen" and isinstance(message.command, commands.UnfreezeTable):
                refusal = rejections.rejected("cannot_resume", frozen)
            else:
                refusal = rejections.rejected("table_frozen")
            self._refuse(staged, message, refusal, cause, outputs)
            return
        if decision.events:
            self._commit(staged, decision, cause, message.trace, outputs, message)
            version = staged.state.version
        else:
            version = max(staged.state.version, 1)
            _acknowledge(message, version, cause, self.shard, outputs)
        self._answer(staged, message, outputs, version=version)

    def _expire(self, message: envelope.TurnExpired, entry: Entry, now_ms: int, outputs: Outputs) -> None:
        if message.table_id in self._aside:
            outputs.zset_remove(keys.deadlines(self.shard), message.table_id)  # or it would come again for ever
            return
        if entry.at_ms - self._staged_gateway_ms > OUTAGE_MS:
            # No gateway was there to bring a decision: the clocks start again, nobody is folded by our fault.
            again = commands.EndOutage(self._staged_gateway_ms, now_ms)
            self._decide(message.table_id, again, now_ms, entry.at_ms, outputs, cause=_cause(entry))
            return
        due_ms = message.command.deadline_ms
        if entry.at_ms < due_ms:
            metrics.early_timeouts.inc()
        if self._decide(
            message.table_id, message.command, now_ms, entry.at_ms, outputs, cause=_cause(entry), trace=message.trace
        ):
            self._late_ms.append(now_ms - due_ms)

    def _hear_gateway(self, at_ms: int, now_ms: int, outputs: Outputs) -> None:
        if at_ms - self._staged_gateway_ms > OUTAGE_MS:
            self._end_outage(self._staged_gateway_ms, now_ms, outputs)
        self._staged_gateway_ms = max(self._staged_gateway_ms, at_ms)

    def _end_outage(self, from_ms: int, now_ms: int, outputs: Outputs) -> None:
        for table_id in sorted(self._tables.keys() | self._staged.keys()):
            end = commands.EndOutage(from_ms, now_ms)
            self._decide_or_leave_alone(table_id, end, now_ms, outputs, "outage")

    def _lose_tail(self, lost: TailLost, entry: Entry, now_ms: int, outputs: Outputs) -> None:
        """Somebody outside has seen more than is here. Each table says so once, in an epoch above all he has seen."""
        if lost.epoch > self._staged_epoch.number + MOST_EPOCHS_AHEAD:
            raise ValueError(f"{lost.reader} says that it has seen epoch {lost.epoch}")
        if lost.epoch >= self._staged_epoch.number:
            self._staged_epoch = Epoch(lost.epoch + 1, self._staged_epoch.server)
            outputs.string_set(keys.epoch(self.shard), encode(self._staged_epoch))
        metrics.tails_lost.labels(reader=lost.reader.partition("/")[0]).inc()
        for table_id in sorted(self._tables.keys() | self._staged.keys()):
            state = (self._staged.get(table_id) or self._tables[table_id]).state
            if state.epoch <= lost.epoch or (state.hand is not None and epoch_of(state.hand.hand_id) <= lost.epoch):
                lose = commands.LoseTail(lost.epoch)
                self._decide_or_leave_alone(table_id, lose, now_ms, outputs, _cause(entry))

    # --- deciding and recording --------------------------------------------------------------------------------

    def _decide(
        self,
        table_id: str,
        command: AnyCommand,
        now_ms: int,
        arrived_at_ms: int,
        outputs: Outputs,
        *,
        cause: str,
        trace: str = "",
    ) -> bool:
        """A command that no client sent: nobody waits for its answer. Whether anything came of it."""
        staged = self._stage(table_id)
        if staged is None:
            raise ValueError(f"there is no table {table_id}" + self._aside.get(table_id, ""))
        decision = decide(self._in_epoch(staged.state), command, now_ms=now_ms, arrived_at_ms=arrived_at_ms)
        if isinstance(decision, Rejected) or not decision.events:
            return False
        frozen = self._broken(decision.state)
        if frozen:
            self._freeze(table_id, frozen, now_ms, outputs, cause)
        else:
            self._commit(staged, decision, cause, trace, outputs)
        return True

    def _decide_or_leave_alone(
        self, table_id: str, command: AnyCommand, now_ms: int, outputs: Outputs, cause: str
    ) -> None:
        """What is said to every table: one that cannot take it must not spoil the entry for the others."""
        try:
            self._decide(table_id, command, now_ms, now_ms, outputs, cause=cause)
        except Exception as error:  # noqa: BLE001
            self._leave_alone(table_id, f"it cannot go on: {error!r}")

    def _in_epoch(self, state: TableState) -> TableState:
        if state.epoch == self._staged_epoch.number:
            return state
        state = copy_of(state)
        begin_epoch(state, self._staged_epoch.number)
        return state

    def _broken(self, state: TableState) -> str:
        """Invariants are checked before a commit. "" when all hold."""
        if state.status == "frozen":
            return ""
        try:
            return "; ".join(violations(state))
        except Exception as error:  # noqa: BLE001 - so broken that it cannot even be looked at
            return f"the invariants cannot be checked: {error!r}"

    def _freeze(self, table_id: str, reason: str, now_ms: int, outputs: Outputs, cause: str) -> None:
        staged = self._stage(table_id)
        assert staged is not None
        decision = decide(
            self._in_epoch(staged.state), commands.FreezeTable(reason), now_ms=now_ms, arrived_at_ms=now_ms
        )
        if isinstance(decision, Decision) and decision.events:
            self._commit(staged, decision, cause, "", outputs)

    def _stage(self, table_id: str, create: bool = False) -> Staged | None:
        staged = self._staged.get(table_id)
        if staged is None:
            loaded = self._tables.get(table_id)
            if loaded is None:
                if not create or keys.shard_of(table_id) != self.shard:
                    return None
                loaded = Loaded(TableState(table_id=table_id), Answers(), None)
            staged = self._staged[table_id] = Staged(loaded)
        return staged

    def _commit(
        self,
        staged: Staged,
        decision: Decision,
        cause: str,
        trace: str,
        outputs: Outputs,
        message: PlayerCommanded | None = None,
    ) -> None:
        state = decision.state
        version = staged.state.version + 1
        state.version = version
        committed = TableCommitted(
            table_id=state.table_id,
            epoch=state.epoch,
            version=version,
            at_ms=state.now_ms,
            events=decision.events,
            cause=cause,
            trace=trace or (message.trace if message else ""),
            player_id=message.player_id if message else "",
            command_id=message.command_id if message else "",
        )
        assert state.config is not None
        self._happened.extend((state.config.game, event) for event in decision.events)
        data = encode(committed)
        log_key = keys.table_log(state.table_id)
        outputs.expect(log_key, f"{version - 1}-0" if version > 1 else BEGINNING)
        outputs.append(log_key, data, id=f"{version}-0")
        outputs.append(keys.feed(self.shard), data)
        for request in wallet_requests(decision.events, state):
            outputs.append(keys.wallet_requests(self.shard), encode(WalletRequested(request, cause, committed.trace)))
        self._record_lifecycle(staged, state, decision, outputs)
        staged.state = state

    def _record_lifecycle(self, staged: Staged, state: TableState, decision: Decision, outputs: Outputs) -> None:
        for event in decision.events:
            match event:
                case table.TableOpened() | table.TableConfigured():
                    outputs.hash_set(keys.tables(self.shard), state.table_id, encode(event.config))
                case table.HandEnded() | table.HandVoided():
                    outputs.string_set(keys.snapshot(state.table_id), encode_state(state))
                    staged.snapshot = state.version
                case _:
                    pass

    # --- answers -----------------------------------------------------------------------------------------------

    def _refuse(
        self, staged: Staged | None, message: PlayerCommanded, rejected: Rejected, cause: str, outputs: Outputs
    ) -> None:
        metrics.rejections.labels(code=rejected.code).inc()
        refusal = CommandRefused(
            message.table_id,
            message.player_id,
            message.command_id,
            rejected.code,
            rejected.message,
            cause,
            message.trace,
        )
        outputs.append(keys.feed(self.shard), encode(refusal))
        if staged is not None and staged.state.status != "none":
            self._answer(staged, message, outputs, rejected=rejected)

    def _answer(
        self,
        staged: Staged,
        message: PlayerCommanded,
        outputs: Outputs,
        *,
        version: int = 0,
        rejected: Rejected | None = None,
    ) -> None:
        player_id = message.player_id
        number = staged.numbers.get(player_id, staged.base.answers.next_number(player_id))
        staged.numbers[player_id] = number + 1
        answer = Answer(
            message.command_id,
            number,
            version,
            rejected.code if rejected else "",
            rejected.message if rejected else "",
        )
        staged.answered[player_id, message.command_id] = answer
        key = keys.answers(message.table_id)
        if forgotten := staged.base.answers.forgotten(player_id):
            for old in forgotten[1]:
                outputs.hash_delete(key, old)
        outputs.hash_set(key, field(player_id, number), encode_answer(answer))

    def _refuse_poison(self, entry: Entry, error: str, outputs: Outputs) -> None:
        try:
            message = envelope.decode_command(entry.data)
        except msgspec.MsgspecError:
            return
        if isinstance(message, envelope.TurnExpired):
            if self._stage(message.table_id) is None:
                outputs.zset_remove(keys.deadlines(self.shard), message.table_id)  # or it would come again for ever
            else:
                freeze = commands.FreezeTable(f"A time-out could not be applied: {error}")
                self._decide(message.table_id, freeze, self._served_ms, 0, outputs, cause=_cause(entry))
        elif isinstance(message, PlayerCommanded):
            rejected = Rejected("internal_error", "The room could not handle that. It was noted; please try again.")
            self._refuse(self._stage(message.table_id), message, rejected, _cause(entry), outputs)


def _cause(entry: Entry) -> str:
    return f"{entry.stream.rpartition(':')[2]}/{entry.id}"


def _decoded(decode: Callable[[bytes], Message], entry: Entry) -> Message:
    try:
        return decode(entry.data)
    except msgspec.MsgspecError as error:
        raise Undecodable(str(error)) from error


def _table_of_answer(entry: Entry) -> str | None:
    """Which table an answer that cannot be applied was for, if that much can be read."""
    try:
        if entry.stream.endswith(":dealt"):
            return envelope.decode_dealt(entry.data).table_id
        return envelope.decode_wallet_reply(entry.data).reply.table_id
    except msgspec.MsgspecError:
        return None


def _answer_to(staged: Staged, message: PlayerCommanded) -> Answer | None:
    return staged.answered.get((message.player_id, message.command_id)) or staged.base.answers.to(
        message.player_id, message.command_id
    )


def _repeat(message: PlayerCommanded, answer: Answer, cause: str, shard: str, outputs: Outputs) -> None:
    repeated = CommandRepeated(
        message.table_id,
        message.player_id,
        message.command_id,
        answer.version,
        answer.code,
        answer.message,
        cause,
        message.trace,
    )
    outputs.append(keys.feed(shard), encode(repeated))


def _acknowledge(message: PlayerCommanded, version: int, cause: str, shard: str, outputs: Outputs) -> None:
    """Accepted, and nothing had to change."""
    repeated = CommandRepeated(
        message.table_id, message.player_id, message.command_id, version, "", "", cause, message.trace
    )
    outputs.append(keys.feed(shard), encode(repeated))
