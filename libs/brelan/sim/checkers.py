"""What a room has promised, checked at every write: from the entries alone, folded a second time.

``Auditor`` is told of each write when it is applied (``store.Watching``), of each page of the databases, of what
players see and are answered. The first promise broken ends the world.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from brelan.deck import dealing
from brelan.deck.events import DeckPutAway, DeckShuffled, decode_entry
from brelan.deck.sealing import DeckSeal
from brelan.eventlog import keys
from brelan.eventlog.dead import decode_dead
from brelan.eventlog.keys import Service
from brelan.eventlog.log import Append, Commit
from brelan.eventlog.memory_log import Hash, SortedSet, Stream, String
from brelan.eventlog.tables import decode_state, encode_state
from brelan.eventlog.tail import digest
from brelan.events import table as facts
from brelan.events.envelope import GatewayAlive, TableCommitted, decode_command, decode_committed, decode_epoch
from brelan.histories.archive import Page as HistoryPage
from brelan.histories.archive import Shelves
from brelan.ledger.accounts import may_be_negative, table_account, table_of
from brelan.ledger.books import Page
from brelan.ledger.memory import Vault
from brelan.rules.cards import card_from_text
from brelan.rules.invariants import violations
from brelan.rules.state import TableState, Transfer, initial_state
from brelan.rules.table import apply_entry, escrow, next_due_ms
from brelan.sim.deals import DealChecker
from brelan.sim.gateway import Sent
from brelan.sim.store import Node
from brelan.views.messages import OwnCards
from brelan_gateway.inbox import Answer

OUTAGE_MS = 1_500  # the room's own limit ...
SLACK_MS = 3_500  # ... and how much longer a gap may look from here: a call on its way, a batch being decided

Key = tuple[str, str, str]  # table, player, command id
Held = tuple[tuple[int, ...], tuple[int, ...]]  # cards, discards


class WatchedTable:
    """One table, folded from its log; and what must not come twice."""

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.shard = keys.shard_of(table_id)
        self.state: TableState = initial_state()
        self.effects: dict[Key, int] = {}  # command -> the version of its one entry
        self.contents: dict[tuple[int, int], bytes] = {}  # epoch, version -> digest of the last entry of that name ...
        self.shown: dict[tuple[int, int], bytes] = {}  # ... and of the one that a client was shown
        self.hands: dict[str, bytes] = {}  # hand that is over -> the entry it ended in
        self.voided: set[str] = set()
        self.started: set[str] = set()
        self.playing = ""  # the last hand that was started
        self.ends: dict[int, bytes] = {}  # the states in which hands ended, of the last commit
        self.armed_ms = 0  # since when the open turn has its time
        self.disturbed = False  # a tail was lost that others had seen: sums are right again when all is settled
        self.flapped = False  # an epoch was lost too: it is there again until somebody who had seen it says so
        self.deck: dealing.DeckState | None = None
        self.shuffled: dict[str, tuple[int, ...]] = {}


class Auditor:
    def __init__(
        self,
        now_ms: Callable[[], int],
        deck_seal: DeckSeal,
        held: Callable[[str, int, bytes, bytes], OwnCards | None],
        vault: Vault,
        shelves: Shelves,
        deals: DealChecker,
        fail: Callable[[str, str], None],
    ) -> None:
        self.checks: Counter[str] = Counter()
        self.tables: dict[str, WatchedTable] = {}
        self.malformed: set[bytes] = set()
        self.hands_ended = 0
        self.lost = 0  # acknowledged commands that a server without replicas has lost
        self._now_ms = now_ms
        self._deck_seal = deck_seal
        self._held = held
        self._vault = vault
        self._shelves = shelves
        self._deals = deals
        self._seeds: dict[bytes, str] = {}  # element -> the hand it was given for
        self._fail = fail
        self._truth: dict[tuple[str, int], set[Held]] = {}  # hand, seat -> all that it ever held
        self._community: dict[str, set[int]] = {}  # hand -> its community card; another one when a tail was lost
        self._numbers: dict[tuple[str, Service], int] = {}  # of the next commit
        self._owners: dict[tuple[str, int], set[str]] = {}  # hand, seat -> whose it is
        self._answers: dict[Key, Answer] = {}
        self._must_refuse: set[Key] = set()
        self._served: dict[str, Gaps] = {}
        self._gateways: dict[str, Gaps] = {}
        self._balances: Counter[str] = Counter()
        self._transfers: set[str] = set()
        self._kept: dict[str, int] = {}  # hand -> its pages in the archive

    def check(self, name: str, holds: bool, *what: object) -> None:
        """``what`` went wrong, as words."""
        self.checks[name] += 1
        if not holds:
            self._fail(name, " ".join(map(str, what)))

    def table(self, table_id: str) -> WatchedTable:
        found = self.tables.get(table_id)
        if found is None:
            found = self.tables[table_id] = WatchedTable(table_id)
        return found

    # --- the event log -----------------------------------------------------------------------------------------

    def fenced(self, shard: str, service: Service) -> None:
        self._numbers[shard, service] = self._numbers.get((shard, service), 0) + 1

    def committed(self, node: Node, shard: str, commit: Commit) -> None:
        number = self._numbers.get((shard, commit.service), 0)
        self.check(
            "an overtaken owner writes nothing", commit.number == number, shard, commit.service, commit.number, number
        )
        self._numbers[shard, commit.service] = number + 1
        match commit.service:
            case Service.TABLE:
                self._table_committed(node, shard, commit)
            case Service.DEALER:
                self._dealer_committed(commit)
            case _:
                pass
        for append in commit.appends:
            if append.stream.startswith(keys.prefix(shard) + "dead:"):
                dead = decode_dead(append.data)
                self._only_malformed_dies(dead.data, dead.error)

    def _only_malformed_dies(self, data: bytes, error: str) -> None:
        self.check("only what is malformed is buried", data in self.malformed, error)

    def appended(self, shard: str, stream: str, data: Sequence[bytes], ids: Sequence[str]) -> None:
        if stream != keys.commands(shard):
            return
        for one, entry_id in zip(data, ids, strict=True):
            if one in self.malformed:
                continue
            if isinstance(decode_command(one), GatewayAlive):
                self._gateways.setdefault(shard, Gaps()).heard(int(entry_id.partition("-")[0]))

    def _table_committed(self, node: Node, shard: str, commit: Commit) -> None:
        self._served.setdefault(shard, Gaps()).heard(self._now_ms())
        touched: dict[str, WatchedTable] = {}
        for append in commit.appends:
            _, _, table_id = append.stream.partition(":table:")
            if table_id:
                table = self.table(table_id)
                if table_id not in touched:
                    table.ends = {}
                touched[table_id] = table
                self._entry(table, append)
        for table in touched.values():
            self._settled(node, table)
        self._snapshots(commit)

    def _entry(self, table: WatchedTable, append: Append) -> None:
        entry = decode_committed(append.data)
        state = table.state
        self.check(
            "versions have no gap",
            entry.version == state.version + 1 and append.id == f"{entry.version}-0" and entry.epoch >= state.epoch,
            table.table_id,
            append.id,
            entry.epoch,
            entry.version,
            "after",
            state.epoch,
            state.version,
        )
        table.contents[entry.epoch, entry.version] = digest(append.data)
        if entry.command_id:
            self._effect(table, entry)
        for event in entry.events:
            self._before(table, entry, event)
        apply_entry(state, entry)
        for event in entry.events:
            self._after(table, event, append.data)
        if any(isinstance(event, facts.HandEnded | facts.HandVoided) for event in entry.events):
            table.ends[entry.version] = encode_state(state)
        broken = violations(state) if state.status != "frozen" else []
        self.check("M6: no chip is made or lost", not broken, table.table_id, broken)

    def _effect(self, table: WatchedTable, entry: TableCommitted) -> None:
        key = (entry.table_id, entry.player_id, entry.command_id)
        before = self._answers.get(key)
        self.check(
            "a command has one effect",
            key not in table.effects and (before is None or (not before.code and before.version == entry.version)),
            key,
            "at",
            entry.version,
            ", after",
            table.effects.get(key),
            "and the answer",
            before,
        )
        table.effects[key] = entry.version

    # --- one event ---------------------------------------------------------------------------------------------

    def _before(self, table: WatchedTable, entry: TableCommitted, event: facts.TableEvent) -> None:
        state = table.state
        match event:
            case facts.TimedOut(seat=seat):
                self._timed_out(table, entry, seat)
            case facts.DrawChosen(seat=seat, cause="time") if _is_turn_of(state, seat):  # else he is protected
                self._timed_out(table, entry, seat)
            case facts.Folded(cause="player") | facts.Checked(cause="player") | facts.BetPlaced(cause="player"):
                self._own_act(state, entry, event.seat)
            case facts.DrawChosen(cause="player"):
                self._own_act(state, entry, event.seat)
            case facts.TableFrozen(reason=reason):
                self.check("no table is frozen", False, table.table_id, reason)
            case facts.HandStarted(hand_id=hand_id):
                self.check(
                    "a hand is played once",
                    hand_id not in table.started,
                    hand_id,
                    "starts a second time",
                )
                table.started.add(hand_id)
            case facts.HandVoided(hand_id=hand_id, stacks=stacks) if state.hand is not None:
                before = {(player.seat, player.starting_stack) for player in state.hand.players}
                back = {(stack.seat, stack.amount) for stack in stacks}
                self.check("a void hand gives every bet back", back == before, hand_id, back, "instead of", before)
            case _:
                pass

    def _own_act(self, state: TableState, entry: TableCommitted, seat: int) -> None:
        found = state.seats[seat - 1]
        self.check(
            "nobody acts for another",
            found is not None and found.player_id == entry.player_id,
            entry.table_id,
            entry.version,
            entry.player_id,
            "acted for seat",
            seat,
        )

    def _timed_out(self, table: WatchedTable, entry: TableCommitted, seat: int) -> None:
        turn, config = table.state.turn, table.state.config
        assert config is not None
        now_ms = self._now_ms()
        own = turn is not None and turn.seat == seat
        deadline_ms = turn.deadline_ms if turn is not None else 0
        self.check(
            "nobody is timed out early",
            own and deadline_ms <= min(entry.at_ms, now_ms) and now_ms - table.armed_ms >= config.action_time_ms,
            table.table_id,
            entry.version,
            "seat",
            seat,
            "at",
            now_ms,
            "armed",
            table.armed_ms,
            "due",
            deadline_ms,
        )
        served, heard = self._served[table.shard], self._gateways.setdefault(table.shard, Gaps())
        gaps = {"table": served.longest(table.armed_ms, now_ms), "gateways": heard.longest(table.armed_ms, now_ms)}
        self.check(
            "nobody is timed out by an outage",
            max(gaps.values()) <= OUTAGE_MS + SLACK_MS,
            table.table_id,
            entry.version,
            ": seat",
            seat,
            ", while away:",
            gaps,
        )

    def _after(self, table: WatchedTable, event: facts.TableEvent, data: bytes) -> None:
        match event:
            case facts.TurnOpened() | facts.OutageEnded():
                table.armed_ms = table.state.now_ms
            case facts.CardsDealt(hand_id=hand_id, cards=cards, community=community):
                for each in cards:
                    self._up_cards(hand_id, each.seat, each.up)
                if community is not None:
                    dealt = community in self._community.get(hand_id, ())
                    self.check("cards are what was dealt", dealt, hand_id, ": another community card")
            case facts.SeedGiven(element=element):
                first = self._seeds.setdefault(element, table.playing)
                self.check("a seed cuts one deck", first == table.playing, first, "and", table.playing)
            case facts.HandStarted(hand_id=hand_id, players=players):
                table.playing = hand_id
                for player in players:
                    self._owners.setdefault((hand_id, player.seat), set()).add(player.player_id)
            case facts.HandShown(hand=hand):
                self._shown(table.playing, hand)
            case facts.ShowdownResolved(hand_id=hand_id, hands=hands):
                for hand in hands:
                    self._shown(hand_id, hand)
            case facts.HandEnded(hand_id=hand_id):
                self.hands_ended += 1
                self._over(table, hand_id, data)
            case facts.HandVoided(hand_id=hand_id):
                table.voided.add(hand_id)
                self._over(table, hand_id, data)
            case _:
                pass

    def _over(self, table: WatchedTable, hand_id: str, data: bytes) -> None:
        self.check(
            "a hand ends once",
            hand_id in table.started and hand_id not in table.hands,
            hand_id,
            "ends, started:",
            hand_id in table.started,
        )
        table.hands[hand_id] = data

    def _up_cards(self, hand_id: str, seat: int, up: Sequence[int]) -> None:
        truths = self._truth.get((hand_id, seat), set())
        self.check(
            "cards are what was dealt",
            any(set(up) <= set(cards) for cards, _ in truths) or not up,
            hand_id,
            "seat",
            seat,
            tuple(up),
            "was not dealt to it",
        )

    def _shown(self, hand_id: str, hand: facts.ShownHand) -> None:
        truths = self._truth.get((hand_id, hand.seat), set())
        community = self._community.get(hand_id, set())
        self.check(
            "cards are what was dealt",
            any(set(cards) == set(hand.cards) for cards, _ in truths) and {*hand.cards, *community} >= {*hand.best},
            hand_id,
            ": seat",
            hand.seat,
            "shows what it does not hold",
        )

    # --- after a commit ----------------------------------------------------------------------------------------

    def _settled(self, node: Node, table: WatchedTable) -> None:
        due = next_due_ms(table.state)
        deadlines = node.find(keys.deadlines(table.shard), SortedSet) or SortedSet()
        self.check(
            "the deadline set holds the next wait",
            deadlines.get(table.table_id) == due,
            table.table_id,
            deadlines.get(table.table_id),
            ", not",
            due,
        )
        self.escrow_of(table)

    def escrow_of(self, table: WatchedTable) -> None:
        """The ledger's escrow is what lies on the table, give or take what one of the two has not heard of yet."""
        if table.disturbed:
            return
        state, vault = table.state, self._vault
        booked = [
            one
            for one in state.transfers.values()
            if (line := vault.lines.get(one.transfer_id)) is not None and line.transfer is not None
        ]
        balance = vault.balances.get(table_account(table.table_id))
        held = balance.amount if balance else 0
        self.check(
            "wallet and tables agree",
            held == escrow(state) + sum(map(_under_way, booked)),
            table.table_id,
            ": the ledger has",
            held,
            ", the table",
            escrow(state),
            ", on their way",
            booked,
        )

    def _snapshots(self, commit: Commit) -> None:
        for key, data in commit.string_set.items():
            _, _, rest = key.partition(":snapshot:")
            if rest:
                table = self.table(rest)
                version = decode_state(data).version
                there = encode_state(table.state) if version == table.state.version else table.ends.get(version)
                self.check(
                    "a snapshot is what the log says",
                    data == there,
                    key,
                )

    def live(self, table_id: str, state: TableState) -> None:
        """What an owner has in memory, when the log is as long as he thinks."""
        watched = self.table(table_id).state
        if (state.epoch, state.version) == (watched.epoch, watched.version):
            self.check(
                "replay equals the live state",
                encode_state(state) == encode_state(watched),
                table_id,
                "at",
                state.version,
            )

    # --- the dealer --------------------------------------------------------------------------------------------

    def _dealer_committed(self, commit: Commit) -> None:
        for append in commit.appends:
            _, _, table_id = append.stream.partition(":deck:")
            if table_id:
                assert append.id is not None
                self._deck_entry(self.table(table_id), append.id, append.data)
        for key, fields in commit.hash_set.items():
            _, _, table_id = key.partition(":hole:")
            if table_id:
                self._hole_cards(self.table(table_id), fields)

    def _deck_entry(self, table: WatchedTable, entry_id: str, data: bytes, trimmed: bool = False) -> None:
        """``trimmed``: what was before it is gone, also of the hand that this entry may have ended."""
        for event in decode_entry(self._deck_seal.open(table.table_id, entry_id, data)).events:
            trimmed = trimmed and not isinstance(event, DeckShuffled | DeckPutAway)
            if trimmed:
                continue
            if isinstance(event, DeckShuffled):
                self.check(
                    "a deck is shuffled once",
                    table.shuffled.setdefault(event.hand_id, event.order) == event.order,
                    event.hand_id,
                    "is shuffled a second time",
                )
            table.deck = dealing.evolve(table.deck, event)
            self._unique(table.deck)

    def _unique(self, deck: dealing.DeckState | None) -> None:
        if deck is None:
            return
        cards = [*deck.stub, *deck.burned, *deck.discards]
        for hand in deck.hands.values():
            cards += hand.cards
            self._truth.setdefault((deck.hand_id, hand.seat), set()).add((hand.cards, hand.discards))
        if deck.community is not None:
            cards.append(deck.community)
            self._community.setdefault(deck.hand_id, set()).add(deck.community)
        self.check(
            "a card is there once",
            len(set(cards)) == len(cards) and len(cards) <= deck.deck_size,
            deck.hand_id,
            len(cards),
            "cards,",
            len(set(cards)),
            "different",
        )

    def _hole_cards(self, table: WatchedTable, fields: Mapping[str, bytes]) -> None:
        for field, sealed in fields.items():
            hand = table.deck.hands.get(int(field)) if table.deck is not None else None
            held = None if hand is None else self._held(table.table_id, hand.seat, sealed, hand.hole_key)
            self.check(
                "hole cards go to their owner",
                hand is not None and held is not None and tuple(map(card_from_text, held.cards)) == hand.cards,
                table.table_id,
                "seat",
                field,
            )

    def showed(self, table_id: str, epoch: int, version: int) -> None:
        """A client was shown this entry. Without replicas two fail-overs may lose an epoch before it is known again."""
        table = self.table(table_id)
        there = table.contents.get((epoch, version))
        self.check(
            "what was shown is never another",
            there is not None and (table.flapped or table.shown.setdefault((epoch, version), there) == there),
            *(table_id, epoch, version),
        )

    def saw_cards(self, player_id: str, cards: OwnCards) -> None:
        """On a player's socket."""
        his = player_id in self._owners.get((cards.hand_id, cards.seat), ())
        held = {card_from_text(card) for card in cards.cards}
        truths = self._truth.get((cards.hand_id, cards.seat), set())
        self.check(
            "a player is sent his own cards",
            his and any(held <= {*own, *thrown} for own, thrown in truths),
            player_id,
            "was sent cards of seat",
            cards.seat,
            "in",
            cards.hand_id,
        )

    # --- answers -----------------------------------------------------------------------------------------------

    def must_refuse(self, sent: Sent) -> None:
        self._must_refuse.add((sent.table_id, sent.player_id, sent.command_id))

    def answered(self, sent: Sent, answer: Answer) -> None:
        """A client was told, or told again, what became of his command."""
        key = (sent.table_id, sent.player_id, sent.command_id)
        table = self.table(sent.table_id)
        version = table.state.version
        # A server without replicas may lose an entry after a gateway has read it, and before it has answered.
        lost = answer.version > version and table.disturbed and any(answer.version == at for _, at in table.contents)
        before = answer if lost else self._answers.setdefault(key, answer)
        self.check(
            "a command has one answer",
            (before.version, before.code) == (answer.version, answer.code),
            key,
            before,
            ", then",
            answer,
        )
        effect = table.effects.get(key)
        self.check(
            "an answer is true",
            effect is None if answer.code else effect in (None, answer.version),
            key,
            answer,
            ", and the log has it at",
            effect,
        )
        self.check(
            "an answer is true",
            answer.version <= version or lost,
            key,
            answer,
            ", and the log ends at",
            version,
        )
        self.check(
            "a stale or foreign command is refused",
            key not in self._must_refuse or bool(answer.code),
            key,
            sent.command,
            "was accepted",
        )

    # --- the databases -----------------------------------------------------------------------------------------

    def booked(self, page: Page) -> None:
        touched: set[str] = set()
        for line in page.lines:
            postings = line.transfer.postings if line.transfer else ()
            self.check(
                "the ledger balances",
                sum(posting.amount for posting in postings) == 0 and line.transfer_id not in self._transfers,
                line.transfer_id,
                line.transfer,
            )
            self._transfers.add(line.transfer_id)
            for posting in postings:
                self._balances[posting.account] += posting.amount
                touched.add(posting.account)
        for account in touched:
            balance, own = self._vault.balances[account].amount, self._balances[account]
            self.check(
                "the ledger balances",
                balance == own and (own >= 0 or may_be_negative(account)),
                account,
                "stands at",
                balance,
                "not",
                own,
            )
        for dead in page.dead:
            self._only_malformed_dies(dead.data, dead.error)
        for account in touched:
            if (table_id := table_of(account)) is not None:
                self.escrow_of(self.table(table_id))

    def archived(self, page: HistoryPage) -> None:
        for lost in page.lost:
            for hand_id in lost.hand_ids:
                self._kept.pop(hand_id, None)
        for hand in page.hands:
            history = hand.history
            table = self.table(history.table_id)
            if not hand.new:
                continue
            self._kept[history.hand_id] = self._kept.get(history.hand_id, 0) + 1
            ended = table.hands.get(history.hand_id)
            self.check(
                "history has every hand once",
                self._kept[history.hand_id] == 1 and ended is not None and hand.entries[-1].data == ended,
                history.hand_id,
                ": kept",
                self._kept[history.hand_id],
                "times",
            )
        for dead in page.dead:
            self._only_malformed_dies(dead.data, dead.error)

    # --- a server replaced -------------------------------------------------------------------------------------

    def replaced(self, node: Node, shards: Sequence[str]) -> None:
        """What was lost is forgotten here too; what was acknowledged behind the durable mark must be there."""
        for (shard, service), number in self._numbers.items():
            if shard in shards:
                position = node.find(keys.position(shard, service), Hash) or Hash()
                self._numbers[shard, service] = min(number, int(position.get("number", b"0")))
        for table in self.tables.values():
            if table.shard in shards:
                self._fold_again(node, table)

    def _fold_again(self, node: Node, table: WatchedTable) -> None:
        before = table.state
        snapshot = node.find(keys.snapshot(table.table_id), String)
        state = decode_state(snapshot) if snapshot else initial_state()
        log = node.find(keys.table_log(table.table_id), Stream) or Stream()
        for _, data in log.after(f"{state.version}-0", None):
            apply_entry(state, decode_committed(data))
        table.state = state
        answers = [(key, answer) for key, answer in self._answers.items() if key[0] == table.table_id]
        gone = {key for key, version in table.effects.items() if version > state.version}
        acknowledged = {key for key, answer in answers if key in gone or answer.version > state.version}
        self.check(
            "what was acknowledged survives",
            not (node.replicas and acknowledged),
            table.table_id,
            sorted(acknowledged),
            "are lost, the log ends at",
            state.version,
        )
        self.lost += len(acknowledged)
        for key in gone:
            del table.effects[key]
        if not node.replicas:  # an answer that no entry holds may be lost, and be another one the next time
            for key, _ in answers:
                if key not in table.effects:
                    del self._answers[key]
        stored = node.find(keys.epoch(table.shard), String)
        epoch = decode_epoch(stored).number if stored else 0
        table.flapped = table.flapped or any(known > epoch for known, _ in table.contents)
        if before.version != state.version:
            table.disturbed = table.disturbed or not node.replicas
            self._forget_hands(table)
        self._deck_again(node, table)

    def _forget_hands(self, table: WatchedTable) -> None:
        """Of what was lost, the hands may be played again, or others under their names."""
        state = table.state
        known = state.hands_played
        for hands in (table.started, table.voided):
            for hand_id in [one for one in hands if _number(one) > known]:
                hands.discard(hand_id)
        for hand_id in [one for one in table.hands if _number(one) > known]:
            del table.hands[hand_id]
        table.playing = state.hand.hand_id if state.hand is not None else state.last_hand_id
        if state.hand is not None:
            table.started.add(state.hand.hand_id)
            table.hands.pop(state.hand.hand_id, None)
            table.voided.discard(state.hand.hand_id)

    def _deck_again(self, node: Node, table: WatchedTable) -> None:
        table.deck = None
        table.shuffled = {}
        deck = node.find(keys.deck(table.table_id), Stream) or Stream()
        for place, (entry_id, data) in enumerate(deck.after("0-0", None)):
            self._deck_entry(table, entry_id, data, trimmed=place == 0)

    # --- at the end --------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Everything is settled: nothing may be on its way any more."""
        self.check(
            "the ledger balances",
            sum(balance.amount for balance in self._vault.balances.values()) == 0,
            "all accounts together:",
            self._vault.balances,
        )
        for hand_id, troubles in self._deals.troubles():
            self.check("every deal can be verified", not troubles, hand_id, *troubles)
        for table in self.tables.values():
            table.disturbed = False
            self.escrow_of(table)
            missing = sorted(set(table.hands) - set(self._shelves.histories))
            self.check("history has every hand once", not missing, "missing:", missing)
            self.check(
                "every hand ends",
                table.state.hand is None,
                table.table_id,
                table.playing,
                "is still open",
            )


class Gaps:
    """When something was heard, as far as it was too long ago."""

    def __init__(self) -> None:
        self._last_ms = 0
        self._long: list[tuple[int, int]] = []

    def heard(self, at_ms: int) -> None:
        if self._last_ms and at_ms - self._last_ms > OUTAGE_MS:
            self._long.append((self._last_ms, at_ms))
        self._last_ms = max(self._last_ms, at_ms)

    def longest(self, from_ms: int, to_ms: int) -> int:
        """The longest silence between two moments."""
        silences = [(last, to_ms) for last in (self._last_ms,)]
        while self._long and self._long[0][1] < from_ms - 600_000:
            self._long.pop(0)
        silences += self._long
        return max((min(end, to_ms) - max(begin, from_ms) for begin, end in silences), default=0)


def _is_turn_of(state: TableState, seat: int) -> bool:
    return state.turn is not None and state.turn.seat == seat


def _under_way(transfer: Transfer) -> int:
    return transfer.amount if transfer.kind in ("buy_in", "top_up") else -transfer.amount


def _number(hand_id: str) -> int:
    """Hand ids end with the number of the hand at its table."""
    return int(hand_id.rpartition("-")[2])
