"""What the table asks of the dealer, and whether the answer fits.

The table never sees a hidden card. It asks for a street, for a draw, for a showdown; it keeps one request open at a
time, and asks again by the same id when the answer is late. An answer that nobody waits for is ignored; one that does
not fit what was asked is a fault of the dealer: ``ValueError``.
"""

from brelan.events import table
from brelan.rules.draft import Draft
from brelan.rules.draw import needs_reshuffle, stub_of
from brelan.rules.game import street_index
from brelan.rules.state import Hand, TableState, in_hand, player_at

TRIES = 4  # then the table is frozen


def request_cards(draft: Draft, street: int) -> None:
    hand, name = draft.hand, draft.game.streets[street].name
    seats = tuple(player.seat for player in in_hand(hand))
    seeds = () if street else hand.seeds
    draft.emit(table.CardsRequested(f"{hand.hand_id}:{name}", hand.hand_id, name, seats, draft.answer_due_ms, seeds))


def choose_draw(draft: Draft, seat: int, positions: tuple[int, ...], cause: table.Cause) -> None:
    """D10. Whoever stands pat needs nothing of the dealer."""
    if not positions:
        draft.emit(table.DrawChosen(seat, (), "", 0, cause))
        return
    request_id = f"{draft.hand.hand_id}:draw:{seat}"
    draft.emit(table.DrawChosen(seat, positions, request_id, draft.answer_due_ms, cause))


def ask_again(draft: Draft) -> None:
    wait = draft.state.dealer_wait
    assert wait is not None
    if wait.asked >= TRIES:
        draft.emit(table.TableFrozen(f"The dealer has not answered {wait.request_id}, asked {wait.asked} times."))
    else:
        draft.emit(table.DealerAskedAgain(wait.request_id, draft.answer_due_ms))


def is_awaited(state: TableState, request_id: str) -> bool:
    """Not when the table is frozen: the dealer is asked again afterwards."""
    return state.status != "frozen" and state.dealer_wait is not None and state.dealer_wait.request_id == request_id


# --- answers -----------------------------------------------------------------------------------------------------


def cards_dealt(draft: Draft, answer: table.CardsDealt) -> None:
    if is_awaited(draft.state, answer.request_id):
        _check_deal(draft, answer)
        draft.emit(answer)


def _check_deal(draft: Draft, answer: table.CardsDealt) -> None:
    hand, game = draft.hand, draft.game
    street = street_index(game, answer.street)
    if (answer.hand_id, f"{hand.hand_id}:{answer.street}") != (hand.hand_id, answer.request_id):
        raise ValueError(f"{answer.request_id} was asked for, not {answer.street} of {answer.hand_id}")
    wanted = game.deal(hand, street)
    if (answer.burned, answer.reshuffled) != (wanted.burned, wanted.reshuffled):
        raise ValueError(
            f"{answer.request_id}: {wanted.burned} cards have to be burned, reshuffled {wanted.reshuffled}"
        )
    if (answer.community is not None) != wanted.community:
        raise ValueError(f"{answer.request_id}: a community card is {'due' if wanted.community else 'not due'} (S10)")
    if [cards.seat for cards in answer.cards] != [player.seat for player in hand.players if not player.folded]:
        raise ValueError(f"{answer.request_id}: not the players who are in the hand")
    new: list[int] = [] if answer.community is None else [answer.community]
    for cards in answer.cards:
        if cards.down != wanted.down or len(cards.up) != wanted.up:
            raise ValueError(f"{answer.request_id}: everybody gets {wanted.down} cards down and {wanted.up} up")
        new += cards.up
    if new:
        _check_new(hand, new)


def _check_new(hand: Hand, new: list[int]) -> None:
    """Of the deck, and none that lies on the table already."""
    lying = [card for player in hand.players for card in player.up]
    if len({*lying, *new}) != len(lying) + len(new):
        raise ValueError("a card was dealt twice")
    if not 52 - hand.deck_size <= min(new) <= max(new) < 52:
        raise ValueError(f"a card is none of the {hand.deck_size} in the deck")


def cards_drawn(draft: Draft, answer: table.CardsDrawn) -> None:
    if not is_awaited(draft.state, answer.request_id):
        return
    hand = draft.hand
    if (answer.hand_id, answer.request_id) != (hand.hand_id, f"{hand.hand_id}:draw:{answer.seat}"):
        raise ValueError(f"{answer.request_id} was asked for, not a draw of seat {answer.seat} of {answer.hand_id}")
    thrown = player_at(hand, answer.seat).drew
    if answer.count != thrown:
        raise ValueError(f"{answer.request_id}: {thrown} cards were thrown, {answer.count} came back")
    if answer.reshuffled and not needs_reshuffle(stub_of(hand), answer.count):
        raise ValueError(f"{answer.request_id}: with {stub_of(hand)} cards left there is nothing to reshuffle (D11)")
    draft.emit(answer)
