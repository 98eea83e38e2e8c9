"""A hand as one player may see it. Nobody gets hidden cards any other way, whatever his role.

He sees what everybody saw, his own cards, and nothing else: not folded hands, not a winner's who was not called. What
lost a contested showdown unshown is told only when a player of that hand asks by e-mail (H5): ``disclose``.
"""

from collections.abc import Iterable, Mapping

import msgspec

from brelan.events.config import Game
from brelan.events.dealing import SeatRecord
from brelan.events.table import Cause
from brelan.histories.hand import HandHistory, HandPlayer, PotResult, Step, StepKind
from brelan.rules.cards import TEXTS
from brelan.rules.evaluation.names import HandName, sentence_of

Card = str  # "Th"
HIDDEN: Card = "??"


class StepView(msgspec.Struct, frozen=True, omit_defaults=True):
    """``cards``: those this viewer may see, ``"??"`` for one he may not. The rest is as in ``hand.Step``."""

    kind: StepKind
    street: str = ""
    seat: int = 0
    amount: int = 0
    to: int = 0
    all_in: bool = False
    cards: tuple[Card, ...] = ()
    count: int = 0
    pot: int = 0
    cause: Cause = "player"


class PlayerView(msgspec.Struct, frozen=True):
    seat: int
    player_id: str
    name: str
    starting_stack: int
    finishing_stack: int
    result: int
    won: int
    up: tuple[Card, ...]
    cards: tuple[Card, ...] | None  # all of them; None: not to be seen
    discards: tuple[Card, ...]  # his own only
    shown: bool
    mucked: bool
    disclosable: bool  # H5: can be learnt by e-mail, by the players of the hand
    hand: str  # what was shown, in words; "" otherwise


class ShareView(msgspec.Struct, frozen=True):
    seat: int
    amount: int


class PotView(msgspec.Struct, frozen=True):
    amount: int
    rake: int
    shares: tuple[ShareView, ...]


class HandView(msgspec.Struct, frozen=True, kw_only=True):
    hand_id: str
    number: int
    table_id: str
    table_name: str
    game: Game
    lower_limit: int
    upper_limit: int
    currency_unit: int
    ante: int
    bring_in: int
    deck_size: int
    started_ms: int
    ended_ms: int
    button: int | None
    small_blind: int | None
    big_blind: int | None
    community: Card | None
    pot: int
    rake: int
    voided: str
    viewer_seat: int | None
    players: tuple[PlayerView, ...]
    pots: tuple[PotView, ...]
    steps: tuple[StepView, ...]


def project(
    history: HandHistory, records: Iterable[SeatRecord], viewer: str | None, disclose: bool = False
) -> HandView:
    """``viewer``: a player's id; None: somebody who was not in the hand. ``records``: every seat's own cards."""
    seat = next((player.seat for player in history.players if player.player_id == viewer), None)
    by_seat = {record.seat: record for record in records}
    visible = {
        player.seat: cards
        for player in history.players
        if (cards := _visible(player, by_seat, own=player.seat == seat, disclose=disclose and seat is not None))
    }
    own = by_seat.get(seat) if seat is not None else None
    discards = own.discards if own is not None and own.player_id == viewer else ()
    return HandView(
        hand_id=history.hand_id,
        number=history.number,
        table_id=history.table_id,
        table_name=history.table_name,
        game=history.game,
        lower_limit=history.lower_limit,
        upper_limit=history.upper_limit,
        currency_unit=history.currency_unit,
        ante=history.ante,
        bring_in=history.bring_in,
        deck_size=history.deck_size,
        started_ms=history.started_ms,
        ended_ms=history.ended_ms,
        button=history.button,
        small_blind=history.small_blind,
        big_blind=history.big_blind,
        community=None if history.community is None else TEXTS[history.community],
        pot=history.pot,
        rake=history.rake,
        voided=history.voided,
        viewer_seat=seat,
        players=tuple(
            _player_view(player, visible.get(player.seat), discards if player.seat == seat else ())
            for player in history.players
        ),
        pots=tuple(map(_pot_view, history.pots)),
        steps=_steps(history, visible, discards, seat),
    )


def _visible(
    player: HandPlayer, records: Mapping[int, SeatRecord], *, own: bool, disclose: bool
) -> tuple[int, ...] | None:
    """The cards of a player, if this viewer may see them."""
    if player.shown is not None:
        return player.shown.cards
    record = records.get(player.seat)
    if record is None or record.player_id != player.player_id:
        return None
    return record.cards if own or (disclose and player.disclosable) else None


def _player_view(player: HandPlayer, cards: tuple[int, ...] | None, discards: tuple[int, ...]) -> PlayerView:
    shown = player.shown
    return PlayerView(
        seat=player.seat,
        player_id=player.player_id,
        name=player.name,
        starting_stack=player.starting_stack,
        finishing_stack=player.finishing_stack,
        result=player.result,
        won=player.won,
        up=_texts(player.up),
        cards=None if cards is None else _texts(cards),
        discards=_texts(discards),
        shown=shown is not None,
        mucked=player.mucked,
        disclosable=player.disclosable,
        hand=sentence_of(HandName(shown.category, shown.ranks)) if shown else "",  # type: ignore[arg-type]
    )


def _pot_view(pot: PotResult) -> PotView:
    return PotView(pot.amount, pot.rake, tuple(ShareView(share.seat, share.amount) for share in pot.shares))


# --- cards at the moment they were dealt, as far as the viewer may see them now ------------------------------------


def _steps(
    history: HandHistory, visible: Mapping[int, tuple[int, ...]], discards: tuple[int, ...], viewer: int | None
) -> tuple[StepView, ...]:
    drew = {step.seat: step.count for step in history.steps if step.kind == "drew"}
    hands: dict[int, _StudCards | _DrawCards] = {}
    for player in history.players:
        cards = visible.get(player.seat)
        if history.game == "stud":
            hands[player.seat] = _StudCards(cards)
        else:
            thrown = discards if player.seat == viewer else ()
            hands[player.seat] = _DrawCards(cards, thrown, drew.get(player.seat, 0))
    return tuple(_step_view(step, hands) for step in history.steps)


def _step_view(step: Step, hands: Mapping[int, "_StudCards | _DrawCards"]) -> StepView:
    match step.kind:
        case "dealt":
            cards = hands[step.seat].dealt(step)
        case "drew":
            cards = hands[step.seat].drawn(step)
        case _:
            cards = _texts(step.cards)
    return StepView(
        step.kind, step.street, step.seat, step.amount, step.to, step.all_in, cards, step.count, step.pot, step.cause
    )


class _StudCards:
    """In the order dealt, face down before face up on each street (S3)."""

    def __init__(self, cards: tuple[int, ...] | None) -> None:
        self._cards = cards
        self._before = 0

    def dealt(self, step: Step) -> tuple[Card, ...]:
        first, self._before = self._before, self._before + step.count + len(step.cards)
        if self._cards is None:
            return (HIDDEN,) * step.count + _texts(step.cards)
        return _texts(self._cards[first : first + step.count] + step.cards)

    def drawn(self, _: Step) -> tuple[Card, ...]:
        return ()


class _DrawCards:
    """The record has them as they were in the end: those kept, then those drawn."""

    def __init__(self, cards: tuple[int, ...] | None, discards: tuple[int, ...], count: int) -> None:
        self._cards = cards
        self._discards = discards
        self._kept = None if cards is None else len(cards) - count

    def dealt(self, step: Step) -> tuple[Card, ...]:
        if self._cards is None or self._kept is None:
            return (HIDDEN,) * step.count
        known = _texts(self._cards[: self._kept] + self._discards)
        return known + (HIDDEN,) * (step.count - len(known))

    def drawn(self, step: Step) -> tuple[Card, ...]:
        if self._cards is None or self._kept is None:
            return (HIDDEN,) * step.count
        return _texts(self._cards[self._kept :])


def _texts(cards: Iterable[int]) -> tuple[Card, ...]:
    return tuple(TEXTS[card] for card in cards)
