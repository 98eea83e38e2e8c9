"""Both games with everything that can happen at a table, in any order (``World`` says what is checked).

Random tables with short stacks and rake and every policy; hand after hand; players sit down, leave, sit out, come back,
top up; they act, time out, say things at the wrong time; the wallet is late or refuses, the dealer is late or repeats
itself, the room was away, the operator pauses, configures, freezes.
"""

from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from msgspec.structs import replace

from brelan.events import commands, table
from brelan.events.config import Game, Rake, RakeCap, TableConfig
from brelan.rules.configuration import problems
from brelan.rules.state import Rejected, Turn
from tests.oracle.playing import player_of
from tests.oracle.world import KINDS, World

GAMES: tuple[Game, ...] = ("stud", "draw")
SEEDS = st.integers(0, 2**32 - 1)
PLAYERS = st.integers(1, 10).map(player_of)


def a_table(random: Random, game: Game | None = None) -> TableConfig:
    chosen: Game = random.choice(GAMES) if game is None else game
    chip = random.choice((1, 1, 5))
    lower = chip * random.choice((2, 3, 4, 10, 20, 50))
    bring_in = chip * random.randint(1, lower // chip - 1)
    config = TableConfig(
        name="any",
        game=chosen,
        lower_limit=lower,
        upper_limit=random.choice((2 * lower, 2 * lower, lower, 3 * lower)),
        seats=random.randint(2, 8 if chosen == "stud" else 5),
        minimum_buy_in=10 * lower,
        ante=chip * random.randint(1, bring_in // chip) if chosen == "stud" else 0,
        bring_in=bring_in if chosen == "stud" else 0,
        small_blind=chip * random.randint(1, lower // chip) if chosen == "draw" else None,
        smallest_chip=chip,
        currency_unit=random.choice((1, chip, 100)),
        timeout_policy=random.choice(("protect", "protect", "fold")),
        protected_all_ins_per_day=random.choice((None, None, 0, 1)),
        cap_lifted_heads_up=random.random() < 0.7,
        rake=random.choice((Rake(), Rake(500, (RakeCap(2, 3 * chip), RakeCap(4, 10 * chip))), Rake(1000))),
        hand_pause_ms=random.choice((0, 4_000)),
    )
    assert problems(config) == []
    return config


def stacks(config: TableConfig, random: Random) -> dict[int, int]:
    """Short ones among them, in whole chips."""
    seats = sorted(random.sample(range(1, config.seats + 1), random.randint(2, config.seats)))
    most = {seat: random.choice((1, 2, 5, 15, 40)) * config.lower_limit // config.smallest_chip for seat in seats}
    return {seat: random.randint(1, chips) * config.smallest_chip for seat, chips in most.items()}


class Table(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world: World

    @initialize(seed=SEEDS)
    def open(self, seed: int) -> None:
        random = Random(seed)
        config = a_table(random)
        self.world = World(config, stacks(config, random), seed)

    # --- play goes on ------------------------------------------------------------------------------------------------

    @rule(seed=SEEDS, steps=st.integers(1, 150))
    def play(self, seed: int, steps: int) -> None:
        random = Random(seed)
        for _ in range(steps):
            go_on(self.world, random)

    @rule(seed=SEEDS, steps=st.integers(1, 80))
    def play_and_talk(self, seed: int, steps: int) -> None:
        random = Random(seed)
        for _ in range(steps):
            if random.random() < 0.25:
                say_something(self.world, random)
            go_on(self.world, random)

    @precondition(lambda self: self.world.state.turn is not None and self.world.state.status != "frozen")
    @rule()
    def try_everything(self) -> None:
        self.world.check_exactly_the_listed()

    @precondition(lambda self: self.world.state.post_ask and self.world.state.status != "frozen")
    @rule()
    def try_to_post(self) -> None:
        self.world.check_only_who_is_asked_posts()

    @rule()
    def time_passes(self) -> None:
        self.world.expire()

    @precondition(lambda self: self.world.asked_dealer)
    @rule()
    def dealer_answers(self) -> None:
        self.world.dealer_answers()

    @precondition(lambda self: self.world.asked_wallet)
    @rule(which=st.integers(0, 9), declines=st.booleans())
    def wallet_answers(self, which: int, declines: bool) -> None:
        self.world.wallet_answers(which, declines=declines)

    @precondition(lambda self: self.world.said)
    @rule(which=st.integers(0, 999))
    def said_again(self, which: int) -> None:
        self.world.say_again(which)

    @rule(amount=st.integers(1, 100))
    def unexpected_money(self, amount: int) -> None:
        self.world.wallet_funds_what_nobody_asked(amount)

    # --- players -----------------------------------------------------------------------------------------------------

    @rule(seed=SEEDS)
    def a_player_says(self, seed: int) -> None:
        say_something(self.world, Random(seed))

    @rule(
        player=PLAYERS,
        command=st.builds(commands.SitDown, st.integers(-5, 100), st.none() | st.integers(-1, 9))
        | st.builds(commands.TopUp, st.integers(-5, 100))
        | st.builds(commands.Draw, st.integers(0, 3), st.lists(st.integers(-1, 5), max_size=6).map(tuple))
        | st.sampled_from((commands.SitOut(), commands.ComeBack(), commands.Show(), commands.Muck())),
    )
    def anybody_says_anything(self, player: str, command: commands.PlayerCommand) -> None:
        self.world.do(command, player)

    @rule(player=PLAYERS, kind=st.sampled_from(KINDS), to=st.none() | st.integers(-1, 300), turn=st.integers(-2, 2))
    def acts_anyhow(self, player: str, kind: table.ActionKind, to: int | None, turn: int) -> None:
        self.world.do(commands.Act(self.world.state.turns_opened + turn, kind, to), player)

    # --- the room ----------------------------------------------------------------------------------------------------

    @rule(away=st.integers(1, 600_000))
    def was_away(self, away: int) -> None:
        before = self.world.now
        self.world.now += away
        self.world.do(commands.EndOutage(before, self.world.now))

    @rule(seed=SEEDS, steps=st.integers(0, 40))
    def is_paused_and_resumed(self, seed: int, steps: int) -> None:
        random = Random(seed)
        self.world.do(commands.PauseTable(), "operator")
        for _ in range(steps):
            if random.random() < 0.25:
                say_something(self.world, random)
            go_on(self.world, random)
        self.world.do(commands.ResumeTable(), "operator")

    @rule(void_hand=st.booleans(), waits=st.integers(0, 3))
    def is_frozen_and_unfrozen(self, void_hand: bool, waits: int) -> None:
        self.world.do(commands.FreezeTable("A test."))
        for _ in range(waits):
            self.world.expire()
        self.world.do(commands.UnfreezeTable(void_hand), "operator")

    @rule(seed=SEEDS)
    def configures(self, seed: int) -> None:
        old = self.world.config
        config = replace(a_table(Random(seed), old.game), seats=old.seats, smallest_chip=old.smallest_chip)
        self.world.do(commands.ConfigureTable(config), "operator")

    @rule(command=st.sampled_from((commands.CloseTable(), commands.PauseTable(), commands.UnfreezeTable())))
    def a_player_plays_operator(self, command: commands.OperatorCommand) -> None:
        answer = self.world.do(command, "p1")
        assert isinstance(answer, Rejected)
        assert answer.code == "not_operator"

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.check_whole_fold()
            finish(self.world)


def go_on(world: World, random: Random) -> None:
    """The next thing that somebody waits for."""
    state = world.state
    if world.asked_wallet and random.random() < 0.4:
        world.wallet_answers(random.randrange(100), declines=random.random() < 0.1)
    elif world.asked_dealer and random.random() < 0.95:
        world.dealer_answers()
    elif state.post_ask and random.random() < 0.9:
        kind: table.ActionKind = "post" if random.random() < 0.8 else "decline"
        world.do(commands.Act(state.post_turn_id, kind), world.player_at(random.choice(state.post_ask)))
    elif state.hand is not None and state.hand.seeds_asked and state.status != "frozen" and random.random() < 0.9:
        world.give_seed(random.choice(state.hand.seeds_asked))
        if world.state.hand is not None and world.state.hand.seeds_asked == state.hand.seeds_asked:
            world.expire()  # his chain is used up
    elif state.turn is None or state.status == "frozen" or random.random() < 0.05:
        world.expire()
    else:
        decide_turn(world, state.turn, random)


def decide_turn(world: World, turn: Turn, random: Random) -> None:
    if random.random() < 0.02:
        world.check_exactly_the_listed()
    owner = world.player_at(turn.seat)
    if turn.actions[0].kind == "draw":
        positions = random.sample(range(5), random.randint(0, 5))
        answer = world.do(commands.Draw(turn.turn_id, tuple(positions)), owner)
    else:
        action = random.choices(turn.actions, [1 if one.kind == "fold" else 4 for one in turn.actions])[0]
        answer = world.do(commands.Act(turn.turn_id, action.kind, action.to), owner)
        assert not isinstance(answer, Rejected)
        placed = answer.events[0]
        if isinstance(placed, table.BetPlaced):
            assert (placed.kind, placed.to, placed.pay, placed.all_in) == msgspec.structs.astuple(action)
    assert not isinstance(answer, Rejected)


def say_something(world: World, random: Random) -> None:
    """Somebody at the table, or who would be, says something that may well be possible."""
    config = world.config
    amount = random.choice((10, 10, 12, 30)) * config.lower_limit
    entry: table.Entry = random.choice(("wait", "post"))
    seats = world.seats()
    if random.random() < 0.35 or not seats:
        world.do(commands.SitDown(amount, None, entry), player_of(random.randint(1, 12)))
        return
    if random.random() < 0.15:
        world.bring_seeds(random.choice(seats).player_id, random.randbytes(32))
        return
    said: tuple[commands.PlayerCommand, ...] = (
        commands.SitOut(),
        commands.ComeBack(entry),
        commands.ComeBack(entry),
        commands.ComeBack(entry),
        commands.ChooseEntry(entry),
        commands.SetPreferences(auto_post=random.random() < 0.7, auto_muck=random.random() < 0.5),
        commands.Leave(),
        commands.Show(),
        commands.Muck(),
        commands.TopUp(amount),
        commands.TopUp(amount),
    )
    world.do(random.choice(said), random.choice(seats).player_id)


def finish(world: World) -> None:
    """Whatever happened: unfrozen and left alone, the hand comes to its end, and all the money goes back."""
    if world.state.status == "frozen":
        world.do(commands.UnfreezeTable(void_hand=bool(world.state.hand)), "operator")
    if world.state.status in ("open", "paused"):
        assert not isinstance(world.do(commands.CloseTable(), "operator"), Rejected)
    for _ in range(400):
        if world.asked_dealer and world.state.dealer_wait is not None:
            world.dealer_answers()
        elif world.asked_wallet:
            world.wallet_answers(0)
        elif world.state.hand is not None:
            world.expire()
        else:
            break
    assert world.state.status == "closed"
    assert world.escrow == 0


def so_much(max_examples: int, steps: int, *, smaller: bool) -> settings:
    """``smaller`` takes minutes when something fails; without it, and in CI, the same tables are played every time."""
    always_the_same = not smaller or settings().derandomize
    phases = (Phase.explicit, Phase.reuse, Phase.generate, *((Phase.shrink,) if smaller else ()))
    return settings(
        max_examples=max_examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=always_the_same,
        database=None if always_the_same else DirectoryBasedExampleDatabase(".hypothesis/examples"),
        suppress_health_check=list(HealthCheck),
        phases=phases,
    )


def test_tables() -> None:
    run_state_machine_as_test(Table, settings=so_much(250, 25, smaller=False))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_tables() -> None:
    run_state_machine_as_test(Table, settings=so_much(1000, 60, smaller=True))
