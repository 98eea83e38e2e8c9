"""Before the first card: the dealer commits to a deck, then the players' seeds cut it (docs/fairness.md).

- A player brings the tip of a hash chain, and with every hand gives its next element, once the deck is fixed. Who has
  no chain contributes nothing, and plays all the same.
- Who keeps his seed back voids the hand before any card: every bet goes back, he sits out, and his chain is forgotten.
  The hand is never dealt without it.
- Who has kept back MOST_WITHHELD on one day brings no chain to this table any more that day, and plays without: nobody
  stops a table by coming back again and again.
- A chain holds for one epoch: what was given in the lost part of another one is not known here, and no element is to be
  used for two hands.
"""

from hashlib import sha256

from brelan.events import commands, table
from brelan.rules import showdown
from brelan.rules.dealing import is_awaited, request_cards
from brelan.rules.draft import Draft
from brelan.rules.rejections import rejected
from brelan.rules.state import DAY_MS, Rejected, Seat, TableState, epoch_of, seat_at

_BYTES = 32
MOST_WITHHELD = 3  # by a player on a day; a lost connection costs one


def request_deck(draft: Draft) -> None:
    state, hand_id = draft.state, draft.hand.hand_id
    seq = _next_seq(state, hand_id)
    draft.emit(table.DeckRequested(f"{hand_id}:deck", hand_id, seq, state.last_commitment, draft.answer_due_ms))


def _next_seq(state: TableState, hand_id: str) -> int:
    return state.commitments + 1 if state.commitments_epoch == epoch_of(hand_id) else 1


def deck_committed(draft: Draft, answer: table.DeckCommitted) -> None:
    if not is_awaited(draft.state, answer.request_id):
        return
    if answer.hand_id != draft.hand.hand_id:
        raise ValueError(f"{answer.request_id} was asked for, not a deck for {answer.hand_id}")
    if (answer.seq, answer.previous) != (_next_seq(draft.state, answer.hand_id), draft.state.last_commitment):
        raise ValueError(f"{answer.request_id}: commitment {answer.seq} does not follow the table's last one")
    draft.emit(answer)


def go_on(draft: Draft) -> bool:
    """The deck is fixed: seeds, then cards. False: the hand is over."""
    state, hand = draft.state, draft.hand
    if hand.seeds_asked:  # in an epoch whose chains do not count any more
        showdown.void(draft, "The room was restarted before the first card. Every bet went back.")
        return False
    owing = [] if hand.seeds_due_ms else [one.seat for one in hand.players if _has_chain(state, one.seat)]
    if owing:
        draft.emit(table.SeedsAsked(tuple(sorted(owing)), draft.turn_due_ms))
    else:
        request_cards(draft, 0)
    return True


def are_awaited(state: TableState) -> bool:
    hand = state.hand
    return hand is not None and bool(hand.seeds_asked) and epoch_of(hand.hand_id) == state.epoch


def _has_chain(state: TableState, number: int) -> bool:
    seat = seat_at(state, number)
    return bool(seat.seed) and seat.seed_epoch == state.epoch


def run_out(draft: Draft) -> None:
    """Time is up."""
    hand = draft.hand
    withheld = hand.seeds_asked
    draft.emit(table.SeedsWithheld(hand.hand_id, withheld, hand.seeds))
    names = " and ".join(f"seat {number}" for number in withheld)
    showdown.void(draft, f"No seed came from {names}. Every bet went back.")
    for number in withheld:
        draft.emit(table.SatOut(number, "withheld_seed"))


# --- players -----------------------------------------------------------------------------------------------------


def bring(draft: Draft, command: commands.BringSeeds, seat: Seat) -> Rejected | None:
    if _is_asked(draft.state, seat):
        return rejected("seed_due")
    tip = _decoded(command.tip)
    if tip is None and command.tip:
        return rejected("bad_seed")
    tip = tip or b""
    if tip and _withheld_today(draft, seat) >= MOST_WITHHELD:
        return rejected("no_more_chains")
    if (seat.seed, seat.seed_epoch) != (tip, draft.state.epoch) and (tip or seat.seed):
        draft.emit(table.SeedsBrought(seat.seat, tip))
    return None


def give(draft: Draft, command: commands.GiveSeed, seat: Seat) -> Rejected | None:
    state = draft.state
    if not _is_asked(state, seat) or command.hand_id != draft.hand.hand_id:
        return rejected("no_seed_due")
    element = _decoded(command.element)
    if element is None:
        return rejected("bad_seed")
    if sha256(element).digest() != seat.seed:
        return rejected("wrong_seed", seat.seed_index + 1)
    draft.emit(table.SeedGiven(seat.seat, element))
    return None


def _withheld_today(draft: Draft, seat: Seat) -> int:
    state = draft.state
    return state.withheld.get(seat.player_id, 0) if state.withheld_day == draft.now_ms // DAY_MS else 0


def _is_asked(state: TableState, seat: Seat) -> bool:
    return are_awaited(state) and state.hand is not None and seat.seat in state.hand.seeds_asked


def _decoded(text: str) -> bytes | None:
    try:
        decoded = bytes.fromhex(text)
    except ValueError:
        return None
    return decoded if len(decoded) == _BYTES and len(text) == 2 * _BYTES else None
