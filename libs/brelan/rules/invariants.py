"""What must hold after every decision; checked in production, before it is committed.

M6: a hand makes no chips and loses none. Cards are unique. One open wait at most, for somebody who can act.
"""

from brelan.rules.state import Hand, TableState


def violations(state: TableState) -> list[str]:
    """Sentences; empty when all is well."""
    found = []
    for seat in state.seats:
        if seat is not None and min(seat.stack, seat.chips_waiting, seat.reserved) < 0:
            found.append(f"seat {seat.seat} has a negative amount")  # noqa: PERF401 - it hardly ever happens
    if any(transfer.amount <= 0 for transfer in state.transfers.values()):
        found.append("a transfer has no amount")
    if state.hand is not None:
        found += _in_hand(state, state.hand)
    elif state.turn is not None or state.dealer_wait is not None:
        found.append("something is open without a hand")
    return found


def _in_hand(state: TableState, hand: Hand) -> list[str]:
    found = []
    before = now = in_pots = 0
    cards: list[int] = [] if hand.community is None else [hand.community]
    for player in hand.players:
        before += player.starting_stack
        now += player.stack
        in_pots += player.put_in
        cards += player.up
        if player.stack < 0 or player.put_in < player.bet or player.put_in < player.dead:
            found.append(f"seat {player.seat} has a negative amount")
    if now + in_pots + hand.rake - hand.awarded != before:
        found.append(f"the hand began with {before} and now accounts for {now + in_pots + hand.rake - hand.awarded}")
    if len(set(cards)) != len(cards):
        found.append("a card lies on the table twice")
    if state.turn is not None and state.dealer_wait is not None:
        found.append("a turn is open while the dealer is waited for")
    if state.turn is None and state.dealer_wait is None:
        found.append("the hand waits for nobody")
    if state.turn is not None and not _may_decide(hand, state.turn.seat):
        found.append(f"seat {state.turn.seat} has the turn and cannot act")
    return found


def _may_decide(hand: Hand, seat: int) -> bool:
    for player in hand.players:
        if player.seat == seat:
            return not player.folded and (not player.all_in or (hand.phase == "drawing" and not player.protected))
    return False
