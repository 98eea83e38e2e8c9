"""Every deliberate defect is found on a pinned seed, by the promise that it breaks."""

import pytest

from brelan.sim.defects import DEFECTS
from brelan.sim.faults import parse_faults
from brelan.sim.world import Setup, play

TAILS = "tail_lost,crash_in_commit,store_away,wallet_killed,history_killed"
OWNERS = "two_owners,zombie_owner"
WALLET = "slow_wallet,wallet_killed"

# defect: seed, hands, faults, the promise
FOUND = {
    "acknowledged_before_durable": ("d19", 30, "tail_lost,replicas_away", "what was acknowledged survives"),
    "another_card_is_shown": ("d0", 10, "none", "cards are what was dealt"),
    "answers_forgotten": ("d0", 10, "command_repeated", "a command has one answer"),
    "anybody_may_act": ("d1", 30, "wrong_player", "nobody acts for another"),
    "card_twice_in_the_deck": ("d0", 5, "none", "a card is there once"),
    "cursor_moved_too_far": ("d1", 30, "crash_before_commit,lost_commit", "only what is malformed is buried"),
    "cursor_not_moved": ("d0", 30, "dealer_killed", "a deck is shuffled once"),
    "deadline_left_standing": ("d0", 5, "none", "the deadline set holds the next wait"),
    "dealer_reshuffles": ("d1", 30, "dealer_killed", "hole cards go to their owner"),
    "early_sweep": ("d1", 30, "none", "nobody is timed out early"),
    "epoch_not_raised": ("d1", 30, TAILS, "versions have no gap"),
    "escrow_not_debited": ("d0", 30, "none", "wallet and tables agree"),
    "fence_not_checked": ("d1", 30, OWNERS, "an overtaken owner writes nothing"),
    "hand_pause_for_ever": ("d0", 1, "none", "every hand ends"),
    "history_forgets_where_it_was": ("d0", 30, "history_killed", "only what is malformed is buried"),
    "history_skips_a_hand": ("d0", 10, "none", "everything is settled in the end"),
    "hole_cards_to_the_wrong_seat": ("d0", 5, "none", "hole cards go to their owner"),
    "ledger_forgets_ids": ("d6", 30, WALLET, "no table is frozen"),
    "message_lost_on_its_way": ("d0", 5, "none", "a client misses nothing"),
    "neither_fence_nor_version_checked": ("d1", 30, OWNERS, "an overtaken owner writes nothing"),
    "odd_chip_lost": ("d8", 200, "none", "no table is frozen"),
    "outage_not_ended": ("d7", 30, "room_stopped", "nobody is timed out by an outage"),
    "refund_forgotten": ("d4", 30, WALLET, "everything is settled in the end"),
    "reply_applied_twice": ("d8", 30, WALLET, "wallet and tables agree"),
    "request_not_sent": ("d0", 30, "none", "everything is settled in the end"),
    "snapshot_wrong": ("d0", 5, "none", "a snapshot is what the log says"),
    "stale_turn_accepted": ("d1", 30, "late_command", "a stale or foreign command is refused"),
}


def test_every_defect_has_its_seed() -> None:
    assert len(DEFECTS) >= 15
    assert set(FOUND) == set(DEFECTS)
    assert all(hands <= 200 for _, hands, _, _ in FOUND.values())


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sorted(FOUND))
def test_every_defect_is_found(name: str) -> None:
    """And without it the same world keeps all its promises: see ``test_the_same_worlds_without_defects``."""
    seed, hands, faults, check = FOUND[name]
    outcome = play(Setup(seed, hands, tuple(sorted(parse_faults(faults))), defect=name))
    assert outcome.found is not None, "nothing was found"
    assert outcome.found.check == check, outcome.found


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("world", sorted({(seed, hands, faults) for seed, hands, faults, _ in FOUND.values()}))
def test_the_same_worlds_without_defects(world: tuple[str, int, str]) -> None:
    seed, hands, faults = world
    outcome = play(Setup(seed, hands, tuple(sorted(parse_faults(faults)))))
    assert outcome.found is None, outcome.found
