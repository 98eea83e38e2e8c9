"""What must hold after every decision. The table service asks before it commits, and freezes the table instead.

M6: no chip is made or lost, neither by a hand nor by the table. No amount is negative. One wait at most is open, and a
turn is somebody's who can act. No card lies on the table twice.
"""

from brelan.rules.state import Hand, HandPlayer, TableState, player_at


def violations(state: TableState) -> list[str]:
    """Sentences; empty when all is well."""
    found: list[str] = []
    chips = 0
    for seat in state.seats:
        if seat is None:
            continue
        chips += seat.stack + seat.chips_waiting
        if seat.stack < 0 or seat.chips_waiting < 0 or seat.reserved < 0 or seat.top_up_asked < 0:
            found.append(f"seat {seat.seat} has a negative amount")
    if chips != state.chips:
        found.append(f"the seats have {chips} chips, {state.chips} were brought")
    for transfer in state.transfers.values():
        if transfer.amount <= 0:
            found += [f"transfer {transfer.transfer_id} moves {transfer.amount}"]
    waits = (state.turn, state.dealer_wait, state.next_hand_ms, state.post_ask or None)
    if sum(wait is not None for wait in waits) > 1:
        found.append("the table waits for more than one thing")
    if state.hand is not None:
        _check_hand(state, state.hand, found)
    elif state.turn is not None or state.dealer_wait is not None:
        found.append("a turn or a request is open without a hand")
    return found


def _check_hand(state: TableState, hand: Hand, found: list[str]) -> None:
    began = have = put_in = bets = cards = 0
    up: set[int] = set() if hand.community is None else {hand.community}
    for player in hand.players:
        began += player.starting_stack
        have += player.stack
        put_in += player.put_in
        bets += player.bet
        cards += len(player.up)
        up.update(player.up)
        if player.stack < 0 or not 0 <= player.bet + player.dead <= player.put_in or player.bet > hand.price:
            found.append(
                f"seat {player.seat} has put in {player.put_in}, has bet {player.bet}, has {player.stack} left"
            )
        seat = state.seats[player.seat - 1]
        if seat is None or seat.player_id != player.player_id or seat.stack != player.starting_stack:
            found.append(f"seat {player.seat} changed during the hand")
    if have + put_in - hand.awarded + hand.rake != began:
        found.append(f"the hand began with {began} chips and has {have + put_in - hand.awarded + hand.rake}")
    if hand.pots and sum(pot.amount for pot in hand.pots) != put_in - bets:
        found.append(f"the pots do not hold the {put_in - bets} that were put in")
    if len(up) != cards + (hand.community is not None):
        found.append("a card lies on the table twice")
    if state.turn is None and state.dealer_wait is None:
        found.append("the hand waits for nobody")
    elif state.turn is not None and not _may_decide(hand, player_at(hand, state.turn.seat)):
        found.append(f"it is the turn of seat {state.turn.seat}, who cannot act")


def _may_decide(hand: Hand, player: HandPlayer) -> bool:
    """Who is all-in still draws (D11)."""
    if player.folded or player.protected:
        return False
    return hand.phase == "drawing" or not player.all_in
