"""A whole table as one viewer may see it, and his own hole cards as far as they were dealt to him."""

import msgspec
from msgspec import UNSET

from brelan.events.dealing import HoleCards, PlayersBoxes
from brelan.rules.state import Hand, HandPlayer, Seat, TableState, Turn
from brelan.views.messages import (
    HandPlayerView,
    HandView,
    OwnCards,
    PostAskView,
    SealedCards,
    SeatView,
    SeedView,
    Snapshot,
    TableView,
    TurnView,
    You,
)
from brelan.views.projection import (
    action_view,
    card_text,
    card_texts,
    committed_view,
    config_view,
    pot_view,
    shown_view,
)


def snapshot(state: TableState, viewer: You, now_ms: int, cards: OwnCards | None) -> Snapshot:
    return Snapshot(
        version=state.version,
        epoch=state.epoch,
        now=now_ms,
        table=table_view(state, viewer.player_id),
        you=viewer,
        cards=cards,
    )


def holding(shot: Snapshot, cards: OwnCards | SealedCards | None) -> Snapshot:
    """With the viewer's own cards."""
    if isinstance(cards, SealedCards):
        return msgspec.structs.replace(shot, sealed=cards)
    return msgspec.structs.replace(shot, cards=cards)


def seat_of(state: TableState, player_id: str) -> int | None:
    """Where he sits, or has a seat reserved."""
    return next((seat.seat for seat in state.seats if seat is not None and seat.player_id == player_id), None)


def table_view(state: TableState, viewer_id: str) -> TableView:
    """Raises ValueError for a table that was never opened."""
    if state.config is None:
        raise ValueError("there is no such table")
    return TableView(
        table_id=state.table_id,
        config=config_view(state.config),
        next_config=config_view(state.next_config) if state.next_config else None,
        status=state.status,
        seats=tuple(_seat_view(seat, viewer_id, state.epoch) if seat is not None else None for seat in state.seats),
        hand=_hand_view(state.hand, viewer_id) if state.hand else None,
        turn=_turn_view(state.turn) if state.turn else None,
        post_ask=_post_ask(state) if state.post_ask else None,
        next_hand_ms=state.next_hand_ms,
        show_offered=state.show_offered,
        hands_played=state.hands_played,
    )


def _seat_view(seat: Seat, viewer_id: str, epoch: int) -> SeatView:
    has_chain = seat.seed_epoch == epoch
    own = seat.player_id == viewer_id
    return SeatView(
        seat=seat.seat,
        player_id=seat.player_id,
        name=seat.name,
        stack=seat.stack,
        reserved=seat.reserved,
        entry=seat.entry,
        owes_big_blind=seat.owes_big_blind,
        owes_small_blind=seat.owes_small_blind,
        sitting_out=seat.sitting_out,
        away=seat.away,
        seed=seat.seed.hex() if has_chain else "",
        seed_index=seat.seed_index if has_chain else 0,
        chips_waiting=seat.chips_waiting if own else UNSET,
        top_up_asked=seat.top_up_asked if own else UNSET,
        sit_out_asked=seat.sit_out_asked if own else UNSET,
        leave_asked=seat.leave_asked if own else UNSET,
        auto_post=seat.auto_post if own else UNSET,
        auto_muck=seat.auto_muck if own else UNSET,
        hole_key=seat.hole_key.hex() if own else UNSET,
    )


def _hand_view(hand: Hand, viewer_id: str) -> HandView:
    return HandView(
        hand_id=hand.hand_id,
        number=hand.number,
        deck_size=hand.deck_size,
        players=tuple(_hand_player_view(player, viewer_id) for player in hand.players),
        button=hand.button,
        small_blind=hand.small_blind,
        big_blind=hand.big_blind,
        phase=hand.phase,
        street=hand.street,
        price=hand.price,
        bring_in=hand.bring_in,
        community=card_text(hand.community),
        pots=tuple(map(pot_view, hand.pots)),
        pot=max(0, sum(player.put_in for player in hand.players) - hand.awarded),
        showdown=hand.showdown,
        committed=committed_view(hand.committed) if hand.committed else None,
        seeds=tuple(SeedView(seed.seat, seed.index, seed.element.hex()) for seed in hand.seeds),
        seeds_asked=hand.seeds_asked,
        seeds_due_ms=hand.seeds_due_ms if hand.seeds_asked else 0,
    )


def _hand_player_view(player: HandPlayer, viewer_id: str) -> HandPlayerView:
    return HandPlayerView(
        seat=player.seat,
        player_id=player.player_id,
        name=player.name,
        stack=player.stack,
        starting_stack=player.starting_stack,
        put_in=player.put_in,
        bet=player.bet,
        folded=player.folded,
        all_in=player.all_in,
        protected=player.protected,
        up=card_texts(player.up),
        down=player.down,
        drew=player.drew,
        shown=shown_view(player.shown) if player.shown else None,
        mucked=player.mucked,
        hole_key=player.hole_key.hex() if player.player_id == viewer_id else UNSET,
    )


def _turn_view(turn: Turn) -> TurnView:
    actions = tuple(map(action_view, turn.actions))
    return TurnView(turn.turn_id, turn.seat, turn.deadline_ms, actions, turn.raises_left)


def _post_ask(state: TableState) -> PostAskView:
    return PostAskView(state.post_turn_id, state.post_ask, state.post_deadline_ms, state.post_agreed)


# --- own cards ---------------------------------------------------------------------------------------------------


class DealtTo(msgspec.Struct, frozen=True):
    """How many cards the table has seen dealt to a player of the hand in play."""

    hand_id: str
    seat: int
    player_id: str
    count: int


def dealt_to(state: TableState, player_id: str) -> DealtTo | None:
    """None when he holds no cards, or when it is not known yet which (he has just drawn)."""
    hand = state.hand
    if hand is None:
        return None
    player = next((each for each in hand.players if each.player_id == player_id), None)
    if player is None or not (count := player.down + len(player.up)):
        return None
    if state.dealer_wait is not None and state.dealer_wait.request_id == f"{hand.hand_id}:draw:{player.seat}":
        return None
    return DealtTo(hand.hand_id, player.seat, player_id, count)


def own_cards(hole: HoleCards, dealt: DealtTo) -> OwnCards | None:
    """None when they are another hand's or another player's.

    The dealer may be a street ahead of the log: only as many cards as the table has seen dealt are shown.
    """
    if (hole.hand_id, hole.seat, hole.player_id) != (dealt.hand_id, dealt.seat, dealt.player_id):
        return None
    return OwnCards(dealt.hand_id, dealt.seat, card_texts(hole.cards[: dealt.count]), hole.up[: dealt.count])


def sealed_cards(boxes: PlayersBoxes, dealt: DealtTo) -> SealedCards | None:
    """The newest of what the table has seen dealt. None when there is none, or it is another hand's or player's."""
    if (boxes.hand_id, boxes.player_id) != (dealt.hand_id, dealt.player_id):
        return None
    known = [each for each in boxes.boxes if each.count <= dealt.count]
    return SealedCards(dealt.hand_id, dealt.seat, known[-1].count, known[-1].box.hex()) if known else None
