"""What befalls the room as a whole: processes die, stand still, are doubled; servers go; the lights go out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from brelan.eventlog import keys
from brelan.events.commands import Act, ExpireTurn
from brelan.events.envelope import PlayerCommanded, TurnExpired, encode
from brelan.sim.checkers import Auditor
from brelan.sim.clock import VirtualLoop
from brelan.sim.faults import Faults
from brelan.sim.players import Player
from brelan.sim.processes import Place
from brelan.sim.store import Node, Servers

SHARED = ("table-", "dealer-", "history-", "wallet")  # places that must have one owner


class Victim(Protocol):
    """What of a world can be hit."""

    servers: Servers
    shards: tuple[str, ...]
    places: dict[str, Place]
    players: list[Player]
    auditor: Auditor

    def replaced(self, node: Node) -> None: ...


class Misfortune:
    """Each enabled kind strikes by itself, again and again, at random moments."""

    def __init__(self, faults: Faults, loop: VirtualLoop, victim: Victim) -> None:
        self._faults = faults
        self._chance = faults.chance
        self._loop = loop
        self._victim = victim
        self._over = False
        self._stopped_until = 0.0
        self._kinds: Mapping[str, tuple[Callable[[], bool], float]] = {
            # how it strikes, and how many times rarer than the others
            "store_away": (self._store_away, 2),
            "tail_lost": (self._tail_lost, 1.5),
            "replicas_away": (self._replicas_away, 1.5),
            "two_owners": (self._two_owners, 1),
            "zombie_owner": (self._zombie_owner, 1),
            "dealer_killed": (self._dealer_killed, 1),
            "wallet_killed": (lambda: self._kill("wallet"), 1),
            "history_killed": (lambda: self._kill("history"), 1),
            "timer_killed": (lambda: self._kill("timer"), 1),
            "gateway_killed": (lambda: self._kill("gateway"), 1),
            "room_stopped": (self._room_stopped, 4),
            "socket_dropped": (self._socket_dropped, 0.3),
            "wrong_player": (self._wrong_player, 0.3),
            "malformed_entry": (self._malformed_entry, 0.5),
        }

    def begin(self) -> None:
        for kind in self._kinds:
            if self._faults.enabled(kind):
                self._wait(kind)

    def end(self) -> None:
        self._over = True

    def _wait(self, kind: str) -> None:
        _, rarer = self._kinds[kind]
        seconds = self._chance.expovariate(1 / (self._faults.rates.seconds_between * rarer))
        self._loop.call_later(max(0.5, seconds), self._strike, kind)

    def _strike(self, kind: str) -> None:
        if self._over:
            return
        strike, _ = self._kinds[kind]
        if strike():
            self._faults.count(kind)
        self._wait(kind)

    def _places(self, *beginnings: str) -> list[Place]:
        return [place for name, place in self._victim.places.items() if name.startswith(beginnings)]

    # --- processes ---------------------------------------------------------------------------------------------

    def _kill(self, beginning: str) -> bool:
        return self._kill_one(self._chance.choice(self._places(beginning)))

    def _kill_one(self, place: Place) -> bool:
        if place.current is None or not place.current.may_die:
            return False
        place.kill(self._chance.uniform(0.1, 4.0))
        return True

    def _dealer_killed(self) -> bool:
        tables = self._victim.auditor.tables.values()
        shards = sorted({table.shard for table in tables if table.state.hand is not None})
        return bool(shards) and self._kill_one(self._victim.places[f"dealer-{self._chance.choice(shards)}"])

    def _two_owners(self) -> bool:
        place = self._chance.choice(self._places(*SHARED))
        alive = place.alive
        place.double(self._chance.uniform(0.5, 8.0))
        return alive

    def _zombie_owner(self) -> bool:
        place = self._chance.choice(self._places(*SHARED))
        alive = place.alive
        replaced_in = self._chance.uniform(0.5, 3.0)
        place.stand_still(replaced_in, replaced_in + self._chance.uniform(0.0, 4.0))
        return alive

    def _room_stopped(self) -> bool:
        if self._loop.time() < self._stopped_until:
            return False
        seconds = self._chance.choice((self._chance.uniform(1, 20), self._chance.uniform(30, 300)))
        self._stopped_until = self._loop.time() + 2 * seconds
        for place in self._victim.places.values():
            place.barren = 0  # that so many die is nobody's fault
            place.kill(seconds + self._chance.uniform(0, 2))
        return True

    # --- servers -----------------------------------------------------------------------------------------------

    def _node(self) -> Node:
        return self._chance.choice(self._victim.servers.nodes)

    def _store_away(self) -> bool:
        node = self._node()
        node.away = True
        self._loop.call_later(self._chance.uniform(0.2, 6.0), self._back, node, self._chance.random() < 0.5)
        return True

    def _back(self, node: Node, restarted: bool) -> None:
        node.away = False
        if restarted:
            node.restart()

    def _tail_lost(self) -> bool:
        node = self._node()
        if node.away:
            return False
        self._fail_over(node)
        if self._chance.random() < 0.2:  # and the next one does not last
            self._loop.call_later(self._chance.uniform(0.5, 8.0), self._lose_tail, node)
        return True

    def _fail_over(self, node: Node) -> None:
        node.away = True
        self._loop.call_later(self._chance.uniform(0.1, 4.0), self._back, node, False)
        node.fail_over()
        self._victim.replaced(node)

    def _replicas_away(self) -> bool:
        node = self._node()
        if not node.replicas or not node.acknowledging:
            return False
        node.acknowledging = False
        seconds = self._chance.uniform(0.5, 5.0)
        self._loop.call_later(seconds, setattr, node, "acknowledging", True)
        if self._faults.enabled("tail_lost") and self._chance.random() < 0.3:  # the master goes just then
            self._loop.call_later(self._chance.uniform(0, seconds), self._lose_tail, node)
        return True

    def _lose_tail(self, node: Node) -> None:
        if not self._over and not node.away:
            self._faults.count("tail_lost")
            self._fail_over(node)

    # --- players -----------------------------------------------------------------------------------------------

    def _player(self) -> Player | None:
        connected = [player for player in self._victim.players if player.connected]
        return self._chance.choice(connected) if connected else None

    def _socket_dropped(self) -> bool:
        player = self._player()
        if player is not None:
            player.drop()
        return player is not None

    def _wrong_player(self) -> bool:
        player = self._player()
        return player is not None and player.meddle()

    # --- bytes -------------------------------------------------------------------------------------------------

    def _malformed_entry(self) -> bool:
        """Into any inbox of any service, past every door: as if somebody had written there by hand."""
        shard = self._chance.choice(self._victim.shards)
        stream = self._chance.choice(self._inboxes(shard))
        data = self._chance.choice(self._malformed(shard))()
        node = self._victim.servers.node_of("wallet" if stream == keys.cashier() else shard)
        if node.away:
            return False
        self._victim.auditor.malformed.add(data)
        node.scribble("wallet" if stream == keys.cashier() else shard, stream, data)
        return True

    def _inboxes(self, shard: str) -> Sequence[str]:
        return (keys.commands(shard), keys.cashier(), keys.records(shard), keys.dealt(shard))

    def _malformed(self, shard: str) -> Sequence[Callable[[], bytes]]:
        chance = self._chance
        nobody = PlayerCommanded(f"{shard}-nowhere", "nobody", "Nobody", "x", Act(1, "fold"))
        return (
            lambda: chance.randbytes(chance.randint(1, 60)),
            lambda: encode(nobody)[: chance.randint(1, 12)],
            lambda: b"\xc1" + chance.randbytes(8),
            lambda: encode(TurnExpired(f"{shard}-nowhere", ExpireTurn(chance.randint(1, 10**6)))),
            lambda: encode(["GatewayAlive", chance.random()]),
        )
