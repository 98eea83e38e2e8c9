"""What must hold after every decision. The table service asks before it commits, and freezes the table instead.

M6: no chip is made or lost, neither by a hand nor by the table. No amount is negative. One wait at most is open, and a
turn is somebody's who can act. No card lies on the table twice.
"""

from brelan.rules.state import Hand, HandPlayer, TableState, player_at


def violations(state: TableState) -> list[str]:
    """Sentences; empty when all is well. As short as it can be: it is asked after every decision."""
    found: list[str] = []
    chips = 0
    for seat in state.seats:
        if seat is not None:
            stack, waiting = seat.stack, seat.chips_waiting
            chips += stack + waiting
            if stack < 0 or waiting < 0:
                found.append(f"seat {seat.seat} has {stack} chips, and {waiting} waiting")
    if chips != state.chips:
        found.append(f"the seats have {chips} chips, {state.chips} were brought")
    for transfer in state.transfers.values():
        if transfer.amount <= 0:
            found += [f"transfer {transfer.transfer_id} moves {transfer.amount}"]
    if state.hand is not None:
        _check_hand(state, state.hand, found)
    elif state.turn is not None or state.dealer_wait is not None:
        found.append("a turn or a request is open without a hand")
    elif state.post_ask and state.next_hand_ms is not None:
        found.append("the table waits for two things")
    return found


def _check_hand(state: TableState, hand: Hand, found: list[str]) -> None:
    left, price = 0, hand.price
    chips = bets = hand.rake - hand.awarded
    up: tuple[int, ...] = () if hand.community is None else (hand.community,)
    for player in hand.players:
        stack, put_in, bet = player.stack, player.put_in, player.bet
        chips += stack + put_in - player.starting_stack
        bets += bet - put_in
        up += player.up
        if not player.folded:
            left += 1
        if stack < 0 or bet < 0 or bet > price or bet + player.dead > put_in:
            found.append(f"seat {player.seat} has put in {put_in} and bet {bet} of {price}, and has {stack} left")
    if chips:
        found.append(f"the hand has {chips} chips more than it began with")
    in_pots = [pot.amount for pot in hand.pots]
    if in_pots and sum(in_pots) + bets + hand.awarded != hand.rake:
        found.append(f"the pots do not hold what was put in, but {in_pots}")
    if left != hand.left:
        found.append(f"{left} have not folded, not {hand.left}")
    if len(set(up)) != len(up):
        found.append("a card lies on the table twice")
    _check_wait(state, hand, found)


def _check_wait(state: TableState, hand: Hand, found: list[str]) -> None:
    turn = state.turn
    if (turn is not None) + (state.dealer_wait is not None) + bool(hand.seeds_asked) != 1:
        found.append("the hand has to wait for one of: a player, the dealer, seeds")
    elif turn is not None and not _may_decide(hand, player_at(hand, turn.seat)):
        found.append(f"it is the turn of seat {turn.seat}, who cannot act")
    if state.next_hand_ms is not None or state.post_ask:
        found.append("the next hand is waited for during a hand")


def _may_decide(hand: Hand, player: HandPlayer) -> bool:
    """Who is all-in still draws (D11)."""
    if player.folded or player.protected:
        return False
    return hand.phase == "drawing" or not player.all_in
