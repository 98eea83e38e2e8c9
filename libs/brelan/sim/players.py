"""Players of every temper at simulated connections.

They see what their sockets send and nothing else. A command without an answer is sent again under its id; a connection
that breaks is replaced, and play resumed from the last version seen.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Protocol

import msgspec

from brelan.bots import brain
from brelan.bots.temper import Temper
from brelan.client.hole_keys import HoleKeys
from brelan.client.model import TableModel
from brelan.client.seeds import Seeds
from brelan.events import commands
from brelan.events.commands import ClientCommand
from brelan.events.table import Entry
from brelan.sim.faults import Faults
from brelan.sim.gateway import Gateway, Sent, Session
from brelan.views import messages as views
from brelan.views.messages import OwnCards, decode_room
from brelan_gateway.feed import Since
from brelan_gateway.inbox import Answer

RECONNECT_SECONDS = (0.05, 1.0)
AGAIN_SECONDS = (1.5, 4.0)  # without an answer, a command is sent again
UPKEEP_SECONDS = (0.5, 3.0)
SEEDS = 12  # in a chain: some are used up


class Character(msgspec.Struct, frozen=True):
    """``nonsense``: how often he sends what no client would; ``doubles``: how often he clicks twice."""

    temper: Temper
    think_seconds: float
    nonsense: float = 0.0
    doubles: float = 0.0
    keyed: float = 0.0  # he is dealt to keys of his own, and changes them so often when he comes back
    chain: bool = True  # he brings seeds ...
    withholds: float = 0.0  # ... and keeps one back so often


CHARACTERS = (
    Character(Temper("sensible", 0.5, 0.5, 0.05, 1.0), 0.25, keyed=0.05),
    Character(Temper("maniac", 0.9, 0.95, 0.3, 0.4, shows=0.6), 0.1),
    Character(Temper("timid", 0.15, 0.2, 0.0, 1.2), 0.3, chain=False),
    Character(Temper("sleeper", 0.7, 0.4, 0.05, 1.5, oversleeps=0.2), 0.4, withholds=0.05),
    Character(Temper("wanderer", 0.7, 0.5, 0.1, 0.8, drops=0.1, rests=0.08, wanders=0.12), 0.2, keyed=0.5),
    Character(Temper("double-clicker", 0.7, 0.5, 0.1, 0.6), 0.15, doubles=0.3),
    Character(Temper("liar", 0.6, 0.6, 0.2, 0.8), 0.2, nonsense=0.2, keyed=0.2, withholds=0.1),
    Character(Temper("caller", 0.95, 0.1, 0.0, 0.7), 0.15),
)


class Room(Protocol):
    """What a player needs of the world around him."""

    faults: Faults
    dealer_key: str

    def gateway(self) -> Gateway | None:
        """Any that lives."""

    def session_number(self) -> int: ...

    def balance(self, player_id: str) -> int: ...

    def deposit(self, player_id: str, amount: int) -> None: ...

    def saw(self, player: "Player", message: views.Snapshot | views.Resumed | views.Events) -> None:
        """Before it is folded."""

    def saw_cards(self, player: "Player", cards: OwnCards) -> None: ...

    def has_keys(self, hole_keys: HoleKeys) -> None:
        """Somebody brings these."""

    def answered(self, sent: Sent, answer: Answer) -> None: ...

    def must_refuse(self, sent: Sent) -> None: ...


class Player:
    def __init__(self, room: Room, chance: Random, player_id: str, table_id: str, character: Character) -> None:
        self.player_id = player_id
        self.name = player_id.title()
        self.table_id = table_id
        self.character = character
        self.model = TableModel()
        self.pending: dict[str, Sent] = {}
        self.playing = True  # False: he sits down no more
        self.patient = True  # False: whatever he thinks, he thinks at once, and never falls asleep
        self._room = room
        self._chance = chance
        self._session: Session | None = None
        self._commands = 0
        self._decided: tuple[int, int] = (0, -1)
        self._brings = 1
        self.seeds = Seeds([room.dealer_key], chance.randbytes, SEEDS) if character.chain else None
        self.hole_keys: HoleKeys | None = None
        if character.keyed:
            self._take_keys(None)

    # --- his connection ----------------------------------------------------------------------------------------

    def come_in(self) -> None:
        self._connect()
        self._later(UPKEEP_SECONDS, self._upkeep)

    def _take_keys(self, previous: HoleKeys | None) -> None:
        self.hole_keys = HoleKeys(previous=previous, random_bytes=self._chance.randbytes)
        self._room.has_keys(self.hole_keys)

    def _connect(self) -> None:
        gateway = self._room.gateway()
        if self._session is not None:
            return
        if gateway is None:
            self._later(RECONNECT_SECONDS, self._connect)
            return
        self._session = Session(gateway, self, self.table_id, self._room.session_number())
        since = Since(self.model.version, self.model.epoch) if self.model.known else None
        self._session.start(since)

    def drop(self) -> None:
        if self._session is not None:
            self._session.cut()

    def disconnected(self, session: Session) -> None:
        if self._session is session:
            self._session = None
            if self._chance.random() < self.character.keyed:  # from another device, which may have the old key too
                self._take_keys(self.hole_keys if self._chance.random() < 0.5 else None)
            self._later(RECONNECT_SECONDS, self._connect)

    @property
    def connected(self) -> bool:
        return self._session is not None

    def _later(self, seconds: tuple[float, float], act: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(self._chance.uniform(*seconds), act)

    # --- what he hears -----------------------------------------------------------------------------------------

    def hear(self, text: str) -> None:
        message = decode_room(text)
        if self.hole_keys is not None:
            message = self.hole_keys.opened(self.table_id, message)
        match message:
            case views.Snapshot():
                self._room.saw(self, message)
                self.model.begin(message)
                self._look_at_cards(message.cards)
            case views.Resumed():
                self._room.saw(self, message)
            case views.Events():
                self._room.saw(self, message)
                self.model.take(message)
                if message.cards is not msgspec.UNSET:
                    self._look_at_cards(message.cards)
                for event in message.events:
                    self._notice(event)
            case _:
                return
        self._consider()

    def _look_at_cards(self, cards: OwnCards | None) -> None:
        if cards is not None:
            self._room.saw_cards(self, cards)

    def _notice(self, event: views.AnyEventView) -> None:
        match event:
            case views.HandEnded() | views.HandVoided():
                self._indulge()
            case views.ShowOffered(seats=seats) if self.model.my_seat in seats:
                if self._chance.random() < self.character.temper.shows:
                    self.do(commands.Show())
            case _:
                pass

    # --- what he does ------------------------------------------------------------------------------------------

    def _consider(self) -> None:
        self._contribute()
        turn, me = self.model.turn, self.model.my_seat
        key = (self.model.epoch, turn.turn_id if turn else -1)
        if turn is not None and turn.seat == me and key != self._decided:
            self._decided = key
            if self.patient and self._chance.random() < self.character.temper.oversleeps:
                return
            self._later(self._thinking, lambda: self._play(key))
        ask = self.model.post_ask
        if ask is not None and me in ask.seats and (self.model.epoch, ask.turn_id) != self._decided:
            self._decided = (self.model.epoch, ask.turn_id)
            self.do(commands.Act(ask.turn_id, "post" if self._chance.random() < 0.8 else "decline"))

    def _contribute(self) -> None:
        """His key and his seeds, for the deal."""
        if self.hole_keys is not None and (key := self.hole_keys.due(self.model)) is not None:
            self._later((0.01, 0.2), lambda: self._say(key))
        said = self.seeds.due(self.model) if self.seeds is not None else None
        if said is None or (isinstance(said, commands.GiveSeed) and self._keeps_back()):
            return
        self._later((0.01, 0.2), lambda: self._say(said))

    def _say(self, said: ClientCommand) -> None:
        self.do(said)

    def _keeps_back(self) -> bool:
        return self.patient and self._chance.random() < self.character.withholds

    @property
    def _thinking(self) -> tuple[float, float]:
        seconds = self.character.think_seconds if self.patient else 0.05
        return 0.1 * seconds, 1.5 * seconds

    def _play(self, key: tuple[int, int]) -> None:
        turn, hand = self.model.turn, self.model.hand
        if turn is None or hand is None or (self.model.epoch, turn.turn_id) != key:
            return
        own = self.model.cards
        cards = own.cards if own is not None and own.hand_id == hand.hand_id else ()
        if hand.community is not None:
            cards = (*cards, hand.community)
        self._misbehave(turn)
        decided = brain.decide(turn, hand, cards, self.character.temper, self._chance)
        self.do(decided)
        if self._chance.random() < self.character.doubles:
            self.do(decided)  # another click is another command: the turn is over by then

    def _upkeep(self) -> None:
        self._later(UPKEEP_SECONDS, self._upkeep)
        if not self.connected or not self.model.known or self.pending:
            return
        mine = self.model.mine
        if mine is None:
            if self.playing and self.model.status == "open" and self.model.free_seats:
                self._sit_down()
        elif mine.reserved and self._chance.random() < 0.2:
            self.do(commands.Leave())  # before the buy-in is there: it has to come back
        elif mine.sitting_out and not (mine.reserved or mine.leave_asked):
            if mine.stack or mine.chips_waiting:
                self.do(commands.ComeBack(self._chance.choice(("wait", "post"))))
            else:
                self._buy(commands.TopUp)

    def _sit_down(self) -> None:
        entry: Entry = self._chance.choice(("wait", "post", "post"))
        self._buy(lambda amount: commands.SitDown(amount, entry=entry))

    def _buy(self, command: Callable[[int], ClientCommand]) -> None:
        config = self.model.config
        assert config is not None
        amount = config.minimum_buy_in * self._chance.choice((1, 1, 2, 3)) * self._brings
        if self._room.balance(self.player_id) < amount:
            self._room.deposit(self.player_id, 3 * amount)
            if self._chance.random() < 0.7:
                return  # the others try it all the same, and are declined
        self.do(command(amount))

    def _indulge(self) -> None:
        """Habits, at the end of a hand."""
        mine, temper, chance = self.model.mine, self.character.temper, self._chance
        if mine is None or not self.playing:
            return
        if chance.random() < temper.rests:
            self.do(commands.SitOut())
        elif chance.random() < temper.wanders:
            self.do(commands.Leave())
        elif chance.random() < 0.02 or not mine.auto_post:
            self.do(commands.SetPreferences(not mine.auto_post, chance.random() < 0.7))
        elif chance.random() < 0.03 and self.model.config is not None:
            self._buy(commands.TopUp)

    def _misbehave(self, turn: views.TurnView) -> None:
        """What his client would never send."""
        faults, rate = self._room.faults, self._room.faults.rates.command
        if faults.strikes("late_command", rate) and self._decided[1] > 1:
            action = turn.actions[0]
            self.do(commands.Act(turn.turn_id - 1, action.kind, action.to), refused=True)
        if self._chance.random() < self.character.nonsense:
            self.do(self._nonsense(turn))

    def _nonsense(self, turn: views.TurnView) -> ClientCommand:
        far = 10**15
        return self._chance.choice(
            (
                commands.SitDown(-5),
                commands.SitDown(0, seat=99),
                commands.TopUp(far),
                commands.Act(turn.turn_id, "raise", far),
                commands.Act(-1, "check"),
                commands.Act(far, "fold"),
                commands.Draw(turn.turn_id, (7, 7, 7)),
                commands.Draw(turn.turn_id, (-1,)),
                commands.Muck(),
                commands.GiveSeed("h", "00" * 32),
                commands.BringSeeds("zz"),
                commands.BringKey("zz" * 32),
                commands.PauseTable(),
                commands.CloseTable(),
                commands.UnfreezeTable(True),
            )
        )

    def meddle(self) -> bool:
        """Answers a turn that is another's; whether there is one."""
        turn = self.model.turn
        if turn is None or turn.seat == self.model.my_seat or self.model.my_seat is None:
            return False
        action = turn.actions[-1]
        self.do(commands.Act(turn.turn_id, action.kind, action.to), refused=True)
        return True

    # --- commands ----------------------------------------------------------------------------------------------

    def do(self, command: ClientCommand, refused: bool = False, operator: bool = False) -> Sent:
        self._commands += 1
        command_id = f"{self.player_id}-{self._commands}"
        sent = Sent(self.table_id, self.player_id, self.name, command_id, command, operator)
        if refused:
            self._room.must_refuse(sent)
        self.pending[command_id] = sent
        self._transmit(sent)
        self._later(AGAIN_SECONDS, lambda: self._again(sent))
        return sent

    def _again(self, sent: Sent) -> None:
        if sent.command_id in self.pending:
            self._transmit(sent)
            self._later(AGAIN_SECONDS, lambda: self._again(sent))

    def _transmit(self, sent: Sent) -> None:
        session, faults = self._session, self._room.faults
        if session is None:
            return
        rate = faults.rates.command
        if faults.strikes("command_delayed", rate):
            self._later((1.0, 15.0), lambda: session.send(sent))
        elif faults.strikes("command_reordered", rate):
            self._later((0.1, 0.8), lambda: session.send(sent))
        else:
            session.send(sent)
        if faults.strikes("command_repeated", rate):
            self._later((0.0, 3.0), lambda: session.send(sent))

    def answered(self, sent: Sent, answer: Answer) -> None:
        self._room.answered(sent, answer)
        if answer.code == "brings_too_little":  # M4: he left with more
            self._brings *= 2
        elif isinstance(sent.command, commands.SitDown) and not answer.code:
            self._brings = 1
        self.pending.pop(sent.command_id, None)
