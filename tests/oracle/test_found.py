"""Situations that once went wrong, found by the machine or by reading: each as short as it gets."""

from msgspec.structs import replace

from brelan.events import commands, table
from brelan.events.config import Rake, RakeCap
from tests.oracle.dealer import RoomDealer
from tests.oracle.playing import Playing, draw, player_of, seated, stud
from tests.oracle.world import World


def posted(playing: Playing) -> list[tuple[int, str]]:
    """By whom, in the hand in play."""
    began = playing.events.index(playing.last(table.HandStarted))
    return [(event.seat, event.kind) for event in playing.events[began:] if isinstance(event, table.Posted)]


def test_D15_who_left_and_came_back_is_new() -> None:
    """Heads-up: he leaves, takes the same seat again and waits. With him nobody is left from the last hand but one:
    all start afresh, and nobody posts on top of a blind."""
    playing = Playing(seated(draw(4, 8, small_blind=2), {1: 100, 2: 100}, button=1), RoomDealer(0)).deal()
    playing.play("1 fold\n2 leave")
    playing.do(commands.SitDown(102, 2, "wait"), 2)
    playing.deal()
    assert sorted(kind for _, kind in posted(playing)) == ["big_blind", "small_blind"]


def test_D15_a_new_player_in_the_seat_of_the_last_big_blind() -> None:
    """He has not posted it: the next hand is not his to have the button for it."""
    stacks = {1: 100, 2: 100, 3: 100}
    playing = Playing(seated(draw(4, 8, small_blind=2), stacks, button=1), RoomDealer(0)).deal()
    assert posted(playing) == [(2, "small_blind"), (3, "big_blind")]
    playing.play("1 fold\n2 fold\n3 leave")
    playing.do(commands.SitDown(100, 3, "wait"), 4)
    playing.deal()
    assert (3, "live_post") not in posted(playing)
    assert (3, "small_blind") not in posted(playing)


def test_M6_a_buy_in_that_was_given_up_does_not_pay_for_the_next_one() -> None:
    """He leaves before the wallet has answered and sits down again, in the same seat, with more."""
    world = World(stud(4, 8, ante=1, bring_in=2), {1: 100, 2: 100}, 0)
    newcomer = player_of(3)
    world.do(commands.SitDown(40, 3), newcomer)
    world.do(commands.Leave(), newcomer)
    world.do(commands.SitDown(400, 3), newcomer)
    assert len(world.asked_wallet) == 2
    world.wallet_answers(0)
    assert [transfer.amount for transfer in world.state.transfers.values()] == [400, 40], "the first one goes back"
    world.wallet_answers(0)
    assert world.player_at(3) == newcomer
    assert [seat.stack for seat in world.seats()] == [100, 100, 400]


def test_M5_a_table_configured_in_mid_hand_plays_and_rakes_it_by_the_old_configuration() -> None:
    """The next hand may begin in the very decision that ends this one."""
    config = replace(stud(40, 80, ante=10, bring_in=20), rake=Rake(1000), currency_unit=1, hand_pause_ms=0)
    world = World(config, {1: 2_000, 2: 2_000, 3: 2_000}, 0)
    world.expire()
    world.dealer_answers()
    changed = replace(config, rake=Rake(500, (RakeCap(2, 1),)), timeout_policy="fold")
    world.do(commands.ConfigureTable(changed), "operator")
    slow = 0  # who brings it in, and says nothing from then on
    while not (ends := [event for _, event in world.log if isinstance(event, table.HandEnded)]):
        if world.asked_dealer:
            world.dealer_answers()
        elif (turn := world.state.turn) is None or turn.seat == slow:
            world.expire()
        else:
            action = next(one for one in turn.actions if one.kind in ("bring_in", "call", "check"))
            slow = next((event.seat for _, event in world.log if isinstance(event, table.BetPlaced)), 0)
            world.do(commands.Act(turn.turn_id, action.kind, action.to), world.player_at(turn.seat))
    events = [event for _, event in world.log]
    assert table.AllInByTime(slow, 0) in events, "protected as it was"
    assert ends[0].rake == sum(event.rake for event in events if isinstance(event, table.PotAwarded)) > 0
    assert world.config == changed, "the next hand has begun"
