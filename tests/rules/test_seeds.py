"""Before the first card: commitment, chains of seeds, and what becomes of who keeps his seed (docs/fairness.md)."""

import pytest
from msgspec.structs import replace

from brelan.deck.fair.chains import chain_elements
from brelan.events import commands, table
from brelan.rules.seeds import MOST_WITHHELD
from brelan.rules.state import DAY_MS, Decision, TableState
from brelan.rules.table import decide, evolve, next_due_ms
from tests.oracle.dealer import committed
from tests.rules.kit import DRAW, START_MS, STUD, Table

ACTION_MS = STUD.action_time_ms
CHAINS = {seat: chain_elements(bytes([seat]) * 32, 5) for seat in (1, 2, 3)}


def tip(seat: int) -> commands.BringSeeds:
    return commands.BringSeeds(CHAINS[seat][0].hex())


def seed(played: Table, seat: int, index: int = 1) -> commands.GiveSeed:
    return commands.GiveSeed(played.last(table.HandStarted).hand_id, CHAINS[seat][index].hex())


def asked(*chains: int, seats: tuple[int, ...] = (1, 2, 3)) -> Table:
    """A hand has begun, its deck is committed to, and these are asked for their first seed."""
    played = Table(STUD)
    for seat in seats:
        played.seat(seat, 100)
    for seat in chains:
        played.brought(seat, CHAINS[seat][0])
    return played.deal()


def waiting(state: TableState) -> tuple[int, ...]:
    assert state.hand is not None
    return state.hand.seeds_asked


def test_a_table_without_chains_asks_nobody_and_deals() -> None:
    played = asked()
    assert not played.all(table.SeedsAsked)
    assert played.last(table.CardsRequested).seeds == ()
    assert played.turn_seat is not None


def test_the_deck_is_committed_to_before_any_seed_is_known_and_cards_come_after_all_of_them() -> None:
    played = asked(1, 3)
    kinds = [type(event).__name__ for event in played.events]
    assert kinds.index("DeckRequested") < kinds.index("DeckCommitted") < kinds.index("SeedsAsked")
    assert played.last(table.SeedsAsked) == table.SeedsAsked((1, 3), START_MS + ACTION_MS)
    assert next_due_ms(played.state) == START_MS + ACTION_MS
    played.do(seed(played, 3), 3)
    assert waiting(played.state) == (1,)
    assert not played.all(table.CardsRequested)
    played.do(seed(played, 1), 1)
    given = (table.SeatSeed(3, 1, CHAINS[3][1]), table.SeatSeed(1, 1, CHAINS[1][1]))
    assert played.last(table.CardsRequested).seeds == given
    assert played.turn_seat is not None


def test_a_chain_goes_on_from_hand_to_hand_and_only_with_its_next_element() -> None:
    played = asked(1)
    for wrong in (CHAINS[1][0], CHAINS[1][2], bytes(32)):
        given = commands.GiveSeed(played.last(table.HandStarted).hand_id, wrong.hex())
        assert played.refusal(given, 1) == "wrong_seed"
    played.do(seed(played, 1), 1)
    assert played.refusal(seed(played, 1), 1) == "no_seed_due"
    played.play(f"{played.turn_seat} bring_in")
    while played.state.hand is not None:
        played.play(f"{played.turn_seat} fold")
    played.deal()
    assert played.refusal(seed(played, 1), 1) == "wrong_seed", "used for the hand before"
    played.do(seed(played, 1, 2), 1)
    assert played.last(table.CardsRequested).seeds == (table.SeatSeed(1, 2, CHAINS[1][2]),)


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "0" * 63, "00" * 33, " " + "00" * 31 + "0"])
def test_what_is_no_seed_is_refused(text: str) -> None:
    played = asked(1)
    given = commands.GiveSeed(played.last(table.HandStarted).hand_id, text)
    assert played.refusal(given, 1) == "bad_seed"
    if text:
        assert played.refusal(commands.BringSeeds(text), 2) == "bad_seed"


def test_a_seed_is_for_the_hand_that_it_names_and_for_who_is_asked() -> None:
    played = asked(1)
    assert played.refusal(commands.GiveSeed("another", CHAINS[1][1].hex()), 1) == "no_seed_due"
    assert played.refusal(seed(played, 2), 2) == "no_seed_due"
    assert played.refusal(tip(2), 1) == "seed_due"


def test_who_keeps_his_seed_back_voids_the_hand_before_any_card_and_sits_out() -> None:
    played = asked(1, 2)
    before = {1: 100, 2: 100, 3: 100}
    played.do(seed(played, 2), 2)
    played.expire()
    withheld = played.last(table.SeedsWithheld)
    assert (withheld.seats, withheld.seeds) == ((1,), (table.SeatSeed(2, 1, CHAINS[2][1]),))
    assert not played.all(table.CardsDealt)
    assert not played.all(table.CardsRequested)
    assert played.stacks == before, "the antes are back"
    assert "seat 1" in played.last(table.HandVoided).reason
    assert played.last(table.SatOut) == table.SatOut(1, "withheld_seed")
    assert played.owner(1).sitting_out
    assert played.owner(1).seed == b""
    played.deal()
    assert played.last(table.SeedsAsked).seats == (2,)
    played.do(seed(played, 2, 2), 2)
    assert {card.seat for card in played.last(table.CardsDealt).cards} == {2, 3}


def test_who_withheld_comes_back_without_a_chain_or_with_a_new_one() -> None:
    played = asked(1)
    played.expire()
    played.do(commands.ComeBack(), 1).deal()
    assert len(played.all(table.SeedsAsked)) == 1, "nobody is asked in the second hand"
    played.do(tip(3), 1)
    assert played.owner(1).seed == CHAINS[3][0]


def test_just_before_the_time_is_up_nobody_has_withheld_anything() -> None:
    played = asked(1)
    due = next_due_ms(played.state)
    assert due is not None
    played.now = due - 1
    played.do(commands.ExpireTurn(due))
    assert waiting(played.state) == (1,)
    played.do(seed(played, 1), 1)
    assert played.turn_seat is not None


def test_the_rooms_own_absence_costs_nobody_his_seat() -> None:
    played = asked(1)
    played.now += 60_000
    played.do(commands.EndOutage(START_MS, played.now))
    assert next_due_ms(played.state) == played.now + ACTION_MS


def test_who_leaves_while_his_seed_is_waited_for_is_paid_when_the_hand_is_void() -> None:
    played = asked(1)
    played.do(commands.Leave(), 1)
    played.expire()
    assert played.last(table.PlayerLeft).amount == 100
    assert played.state.seats[0] is None


def test_a_chain_can_be_laid_down_and_brought_again_says_nothing() -> None:
    played = Table(STUD)
    played.seat(1, 100)  # alone
    played.do(tip(1), 1)
    count = len(played.events)
    played.do(tip(1), 1)
    assert len(played.events) == count
    played.do(commands.BringSeeds(""), 1)
    assert played.last(table.SeedsBrought) == table.SeedsBrought(1, b"")
    assert played.refusal(tip(1), player="a stranger") == "not_seated"


def test_commitments_are_numbered_and_chained_in_an_epoch() -> None:
    played = asked()
    first = played.last(table.DeckCommitted)
    assert (first.seq, first.previous) == (1, bytes(32))
    while played.state.hand is not None:
        played.play(f"{played.turn_seat} {'bring_in' if 'bring_in' in played.turn else 'fold'}")
    played.deal()
    second = played.last(table.DeckCommitted)
    assert (second.seq, second.previous) == (2, first.hash)
    played.state.hand = played.state.turn = None
    played.state.epoch += 1
    for one in played.state.seats:
        if one is not None:
            one.stack = 100
    played.money = played.state.chips = 300
    played.deal()
    third = played.last(table.DeckCommitted)
    assert (third.seq, third.previous) == (1, second.hash)


def test_another_epoch_knows_no_chain_and_calls_off_a_hand_that_waits_for_one() -> None:
    """What was given in the lost part of the one before is not known: no element may be asked for twice."""
    played = asked(1)
    played.state.epoch += 1
    played.do(commands.EndOutage(played.now, played.now))
    assert "restarted" in played.last(table.HandVoided).reason
    assert not played.all(table.SeedsWithheld)
    assert not played.owner(1).sitting_out
    played.deal()
    assert len(played.all(table.SeedsAsked)) == 1
    assert played.turn_seat is not None
    assert played.owner(1).seed_epoch == 1
    played.do(tip(1), 1)
    assert played.owner(1).seed_epoch == 2


def test_a_deck_that_was_asked_for_in_another_epoch_counts_there() -> None:
    """The table was frozen meanwhile; the new epoch counts from 1."""
    asking = Table(STUD)
    for seat in (1, 2):
        asking.seat(seat, 100)
    asking.state.next_hand_ms = asking.now
    decision = decide(asking.state, commands.ExpireTurn(asking.now), now_ms=asking.now, arrived_at_ms=asking.now)
    assert isinstance(decision, Decision)
    (request,) = [event for event in decision.events if isinstance(event, table.DeckRequested)]
    decision.state.epoch += 1
    evolve(decision.state, committed(request))
    assert (decision.state.commitments, decision.state.commitments_epoch) == (1, 1)


def test_a_commitment_that_was_not_asked_for_is_refused_or_ignored() -> None:
    played = asked(1)
    request = played.last(table.DeckRequested)
    answer = committed(request)
    version = len(played.events)
    played.do(answer)
    assert len(played.events) == version, "nobody waits for it any more"
    fresh = Table(STUD)
    for seat in (1, 2):
        fresh.seat(seat, 100)
    fresh.state.next_hand_ms = fresh.now
    before = decide(fresh.state, commands.ExpireTurn(fresh.now), now_ms=fresh.now, arrived_at_ms=fresh.now)
    with pytest.raises(ValueError, match="not a deck for"):
        decide(before.state, replace(answer, hand_id="other"), now_ms=fresh.now, arrived_at_ms=fresh.now)  # type: ignore[union-attr]
    for other in (replace(answer, seq=2), replace(answer, previous=bytes([1]) * 32)):
        with pytest.raises(ValueError, match="does not follow"):
            decide(before.state, other, now_ms=fresh.now, arrived_at_ms=fresh.now)  # type: ignore[union-attr]


@pytest.mark.parametrize("void_hand", [False, True])
def test_a_table_frozen_while_seeds_are_waited_for_goes_on_with_its_full_time_or_begins_anew(void_hand: bool) -> None:
    played = asked(1, 2)
    played.do(seed(played, 2), 2)
    played.do(commands.FreezeTable("A test."))
    assert next_due_ms(played.state) is None
    assert played.refusal(seed(played, 1), 1) == "table_frozen"
    played.now += 3_600_000
    played.do(commands.UnfreezeTable(void_hand), operator=True)
    if void_hand:
        assert played.stacks == {1: 100, 2: 100, 3: 100}
        played.deal()
        played.do(seed(played, 2, 2), 2)
    else:
        assert next_due_ms(played.state) == played.now + ACTION_MS
    played.do(seed(played, 1), 1)
    assert len(played.all(table.CardsDealt)) == 1


def test_who_sits_out_while_his_seed_is_waited_for_gives_it_and_plays_the_hand() -> None:
    played = asked(1)
    played.do(commands.SitOut(), 1)
    played.do(seed(played, 1), 1)
    assert played.turn_seat is not None
    assert played.owner(1).sit_out_asked


def test_a_chain_ends_with_the_seat() -> None:
    played = asked(1)
    played.do(commands.Leave(), 1)
    played.do(seed(played, 1), 1)
    while played.state.hand is not None:
        played.play(f"{played.turn_seat} {'bring_in' if 'bring_in' in played.turn else 'fold'}")
    assert played.state.seats[0] is None
    played.do(commands.SitDown(200, 1), player="p1")
    assert played.owner(1).seed == b""


def test_D15_a_void_hand_was_never_dealt_the_button_stays_and_debts_stand() -> None:
    """Or a partner's seed kept back would be a big blind saved, and an entry post."""
    played = Table(DRAW)
    for seat in (1, 2, 3):
        played.seat(seat, 100)
    played.seat(4, 100, "post")
    played.last_hand(button=1, small=2, big=3, seats=(1, 2, 3))
    played.brought(2, CHAINS[2][0])
    played.deal()
    first, posts = played.last(table.HandStarted), played.posts
    assert any("live_post" in post or "4 big_blind" in post for post in posts), posts
    assert not played.owner(4).owes_big_blind
    played.expire()
    assert played.all(table.HandVoided)
    assert played.owner(4).owes_big_blind
    assert (played.state.last_button, played.state.last_big_blind) == (1, 3)
    played.do(commands.ComeBack("post"), 2)
    played.deal()
    again = played.last(table.HandStarted)
    assert (again.button, again.small_blind, again.big_blind) == (first.button, first.small_blind, first.big_blind)
    assert played.posts == posts


def test_D13_who_leaves_during_a_hand_and_comes_back_is_new_also_when_it_is_void() -> None:
    played = Table(DRAW)
    for seat in (1, 2, 3, 4):
        played.seat(seat, 100)
    played.last_hand(button=1, small=2, big=3, seats=(1, 2, 3, 4))
    played.do(commands.SitOut(), 4)
    played.brought(2, CHAINS[2][0])
    played.deal()
    played.do(commands.Leave(), 4)
    played.do(commands.SitDown(100, 4), player="p4")
    assert played.owner(4).owes_big_blind
    played.expire()
    assert played.all(table.HandVoided)
    assert played.owner(4).owes_big_blind


def test_nobody_stops_a_table_by_coming_back_and_keeping_his_seed_again() -> None:
    played = asked(1)
    for number in range(MOST_WITHHELD):
        assert waiting(played.state) == (1,)
        played.expire()
        played.do(commands.ComeBack(), 1)
        if number < MOST_WITHHELD - 1:
            played.do(tip(number + 1), 1)
            played.deal()
    assert played.refusal(tip(1), 1) == "no_more_chains"
    played.deal()
    assert played.turn_seat is not None, "the hand is dealt without him asked"
    assert len(played.all(table.HandVoided)) == MOST_WITHHELD
    played.do(commands.BringSeeds(""), 1)
    played.now += DAY_MS
    assert played.do(tip(1), 1).owner(1).seed == CHAINS[1][0], "tomorrow"


def test_who_withholds_and_sits_down_again_is_still_known() -> None:
    played = asked(1)
    played.state.withheld, played.state.withheld_day = {"p1": MOST_WITHHELD}, played.now // DAY_MS
    played.do(seed(played, 1), 1)
    played.do(commands.Leave(), 1)
    while played.state.hand is not None:
        played.play(f"{played.turn_seat} {'bring_in' if 'bring_in' in played.turn else 'fold'}")
    played.do(commands.SitDown(200, 1), player="p1")
    assert played.refusal(tip(1), 1) == "no_more_chains"
