"""From facts to what a viewer may know: every event of a table, field by field.

``view_of`` says of each event what everybody sees and what only the owner of the seat sees; an event without a line
here does not type-check. ``brelan.views.entries`` encodes whole log entries with it, ``brelan.views.snapshot`` shows
whole tables.
"""

from typing import assert_never

import msgspec

from brelan.events import table as facts
from brelan.events.config import TableConfig
from brelan.events.table import Action, Pot, PotShare, SeatCards, ShownHand, TableEvent
from brelan.rules.cards import TEXTS
from brelan.views import messages as views
from brelan.views.messages import (
    ActionView,
    AnyEventView,
    ConfigView,
    HandSeatView,
    PotView,
    PublicEventView,
    RakeCapView,
    RakeView,
    SeatCardsView,
    ShareView,
    ShownHandView,
)


class Seen(msgspec.Struct, frozen=True):
    """``public``: for everybody, None: nobody's business. ``own``: what whoever sits at ``seat`` gets instead of it."""

    public: PublicEventView | None
    own: AnyEventView | None = None
    seat: int = 0


HIDDEN = Seen(None)

TableFact = (
    facts.TableOpened
    | facts.TableConfigured
    | facts.TablePaused
    | facts.TableResumed
    | facts.TableClosing
    | facts.TableClosed
    | facts.TableFrozen
    | facts.TableUnfrozen
    | facts.OutageEnded
)
MoneyFact = (
    facts.TopUpAsked
    | facts.TopUpRequested
    | facts.TopUpFunded
    | facts.TopUpDeclined
    | facts.ChipsAdded
    | facts.TransferSettled
    | facts.TransferAskedAgain
    | facts.TransferDeclined
    | facts.RefundRequested
)
SeatFact = (
    facts.SeatReserved
    | facts.SeatReleased
    | facts.PlayerSeated
    | facts.PreferencesSet
    | facts.SeedsBrought
    | facts.KeyBrought
    | facts.SitOutAsked
    | facts.SatOut
    | facts.CameBack
    | facts.EntryChosen
    | facts.LeaveAsked
    | facts.PlayerLeft
)
DealFact = (
    facts.NextHandScheduled
    | facts.PostAsked
    | facts.PostAgreed
    | facts.HandStarted
    | facts.Posted
    | facts.CardsResealed
    | facts.CardsRequested
    | facts.CardsDealt
    | facts.CardsDrawn
    | facts.DealerAskedAgain
)
SeedFact = facts.DeckRequested | facts.DeckCommitted | facts.SeedsAsked | facts.SeedGiven | facts.SeedsWithheld
TurnFact = (
    facts.TurnOpened
    | facts.Folded
    | facts.Checked
    | facts.BetPlaced
    | facts.TimedOut
    | facts.AllInByTime
    | facts.DrawChosen
    | facts.BetReturned
    | facts.PotsFormed
)
EndFact = (
    facts.ShowdownRequested
    | facts.ShowdownResolved
    | facts.HandShown
    | facts.HandMucked
    | facts.PotAwarded
    | facts.HandEnded
    | facts.HandVoided
    | facts.ShowOffered
    | facts.ShowRequested
)


def view_of(event: TableEvent) -> Seen:
    if isinstance(event, TurnFact):
        return Seen(_turn(event))
    if isinstance(event, DealFact):
        return Seen(_deal(event))
    if isinstance(event, SeedFact):
        return Seen(_seeds(event))
    if isinstance(event, EndFact):
        return Seen(_end(event))
    if isinstance(event, SeatFact):
        return _seat(event)
    if isinstance(event, MoneyFact):
        return _money(event)
    if isinstance(event, TableFact):
        return Seen(_table(event))
    assert_never(event)


# --- by group ----------------------------------------------------------------------------------------------------


def _table(event: TableFact) -> PublicEventView:
    """Who of the operators did it, and why a table is frozen, is between operators."""
    match event:
        case facts.TableOpened():
            return views.TableOpened(event.table_id, config_view(event.config))
        case facts.TableConfigured():
            return views.TableConfigured(config_view(event.config))
        case facts.TablePaused():
            return views.TablePaused()
        case facts.TableResumed():
            return views.TableResumed()
        case facts.TableClosing():
            return views.TableClosing()
        case facts.TableClosed():
            return views.TableClosed()
        case facts.TableFrozen():
            return views.TableFrozen()
        case facts.TableUnfrozen():
            return views.TableUnfrozen()
        case facts.OutageEnded():
            return views.OutageEnded(event.from_ms, event.to_ms)
        case _:
            assert_never(event)


def _seat(event: SeatFact) -> Seen:
    match event:
        case facts.SeatReserved():
            return Seen(views.SeatReserved(event.seat, event.player_id, event.name, event.amount, event.entry))
        case facts.SeatReleased():
            own = views.SeatReleased(event.seat, event.reason)
            return Seen(views.SeatReleased(event.seat), own, event.seat)
        case facts.PlayerSeated():
            return Seen(views.PlayerSeated(event.seat))
        case facts.PreferencesSet():
            return Seen(None, views.PreferencesSet(event.seat, event.auto_post, event.auto_muck), event.seat)
        case facts.SeedsBrought():
            return Seen(views.SeedsBrought(event.seat, event.tip.hex()))
        case facts.KeyBrought():
            return Seen(None, views.KeyBrought(event.seat, event.hole_key.hex(), event.hand_id), event.seat)
        case facts.SitOutAsked():
            return Seen(None, views.SitOutAsked(event.seat), event.seat)
        case facts.SatOut():
            return Seen(views.SatOut(event.seat, event.reason))
        case facts.CameBack():
            return Seen(views.CameBack(event.seat, event.entry))
        case facts.EntryChosen():
            return Seen(views.EntryChosen(event.seat, event.entry))
        case facts.LeaveAsked():
            return Seen(None, views.LeaveAsked(event.seat), event.seat)
        case facts.PlayerLeft():
            return Seen(views.PlayerLeft(event.seat))
        case _:
            assert_never(event)


def _money(event: MoneyFact) -> Seen:
    """What somebody has in his wallet or on its way is his business until the chips lie on the table."""
    match event:
        case facts.TopUpAsked():
            return Seen(None, views.TopUpAsked(event.seat, event.amount), event.seat)
        case facts.TopUpRequested():
            return Seen(None, views.TopUpRequested(event.seat, event.amount), event.seat)
        case facts.TopUpFunded():
            return Seen(None, views.TopUpFunded(event.seat, event.amount), event.seat)
        case facts.TopUpDeclined():
            return Seen(None, views.TopUpDeclined(event.seat, event.reason), event.seat)
        case facts.ChipsAdded():
            return Seen(views.ChipsAdded(event.seat, event.amount))
        case facts.TransferSettled() | facts.TransferAskedAgain() | facts.TransferDeclined() | facts.RefundRequested():
            return HIDDEN
        case _:
            assert_never(event)


def _deal(event: DealFact) -> PublicEventView | None:
    match event:
        case facts.NextHandScheduled():
            return views.NextHandScheduled(event.at_ms)
        case facts.PostAsked():
            return views.PostAsked(event.turn_id, event.seats, event.deadline_ms)
        case facts.PostAgreed():
            return views.PostAgreed(event.seat)
        case facts.HandStarted():
            players = tuple(HandSeatView(each.seat, each.player_id, each.name, each.stack) for each in event.players)
            return views.HandStarted(
                event.hand_id,
                event.number,
                event.deck_size,
                players,
                event.button,
                event.small_blind,
                event.big_blind,
            )
        case facts.Posted():
            return views.Posted(event.seat, event.kind, event.amount)
        case facts.CardsDealt():
            return views.CardsDealt(
                event.hand_id,
                event.street,
                tuple(map(_seat_cards, event.cards)),
                event.burned,
                event.reshuffled,
                card_text(event.community),
                event.root.hex(),
            )
        case facts.CardsDrawn():
            return views.CardsDrawn(event.hand_id, event.seat, event.count, event.reshuffled, event.root.hex())
        case facts.CardsRequested() | facts.CardsResealed() | facts.DealerAskedAgain():
            return None
        case _:
            assert_never(event)


def _seeds(event: SeedFact) -> PublicEventView | None:
    match event:
        case facts.DeckCommitted():
            return committed_view(event)
        case facts.SeedsAsked():
            return views.SeedsAsked(event.seats, event.deadline_ms)
        case facts.SeedGiven():
            return views.SeedGiven(event.seat, event.element.hex())
        case facts.SeedsWithheld():
            return views.SeedsWithheld(event.hand_id, event.seats)
        case facts.DeckRequested():
            return None
        case _:
            assert_never(event)


def _turn(event: TurnFact) -> PublicEventView:
    match event:
        case facts.TurnOpened():
            actions = tuple(map(action_view, event.actions))
            return views.TurnOpened(event.turn_id, event.seat, event.deadline_ms, actions, event.raises_left)
        case facts.Folded():
            return views.Folded(event.seat, event.cause)
        case facts.Checked():
            return views.Checked(event.seat, event.cause)
        case facts.BetPlaced():
            return views.BetPlaced(event.seat, event.kind, event.pay, event.to, event.all_in, event.cause)
        case facts.TimedOut():
            return views.TimedOut(event.seat, event.turn_id)
        case facts.AllInByTime():
            return views.AllInByTime(event.seat)
        case facts.DrawChosen():
            return views.DrawChosen(event.seat, len(event.positions), event.cause)
        case facts.BetReturned():
            return views.BetReturned(event.seat, event.amount)
        case facts.PotsFormed():
            return views.PotsFormed(tuple(map(pot_view, event.pots)))
        case _:
            assert_never(event)


def _end(event: EndFact) -> PublicEventView | None:
    match event:
        case facts.ShowdownRequested():
            return views.ShowdownRequested(event.hand_id, event.order)
        case facts.ShowdownResolved():
            return views.ShowdownResolved(event.hand_id, event.winners, tuple(map(shown_view, event.hands)))
        case facts.HandShown():
            return views.HandShown(shown_view(event.hand))
        case facts.HandMucked():
            return views.HandMucked(event.seat)
        case facts.PotAwarded():
            return views.PotAwarded(event.pot, event.amount, event.rake, tuple(map(_share, event.shares)))
        case facts.HandEnded():
            return views.HandEnded(event.hand_id, event.rake, tuple(map(_share, event.stacks)))
        case facts.HandVoided():
            return views.HandVoided(event.hand_id, event.reason, tuple(map(_share, event.stacks)))
        case facts.ShowOffered():
            return views.ShowOffered(event.seats)
        case facts.ShowRequested():
            return None
        case _:
            assert_never(event)


# --- parts -------------------------------------------------------------------------------------------------------


def card_text(card: int | None) -> str | None:
    return None if card is None else TEXTS[card]


def card_texts(cards: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(TEXTS[card] for card in cards)


def config_view(config: TableConfig) -> ConfigView:
    rake = RakeView(config.rake.basis_points, tuple(RakeCapView(cap.players, cap.cap) for cap in config.rake.caps))
    return ConfigView(
        name=config.name,
        game=config.game,
        lower_limit=config.lower_limit,
        upper_limit=config.upper_limit,
        seats=config.seats,
        minimum_buy_in=config.minimum_buy_in,
        ante=config.ante,
        bring_in=config.bring_in,
        small_blind=config.small_blind,
        smallest_chip=config.smallest_chip,
        currency_unit=config.currency_unit,
        action_time_ms=config.action_time_ms,
        timeout_policy=config.timeout_policy,
        protected_all_ins_per_day=config.protected_all_ins_per_day,
        cap_lifted_heads_up=config.cap_lifted_heads_up,
        rake=rake,
        hand_pause_ms=config.hand_pause_ms,
    )


def committed_view(event: facts.DeckCommitted) -> views.DeckCommitted:
    return views.DeckCommitted(
        event.hand_id,
        event.seq,
        event.root.hex(),
        event.secret_hash.hex(),
        tuple(each.hex() for each in event.reshuffle_hashes),
        event.previous.hex(),
        event.signature.hex(),
        event.dealer_key.hex(),
    )


def action_view(action: Action) -> ActionView:
    return ActionView(action.kind, action.to, action.pay, action.all_in)


def pot_view(pot: Pot) -> PotView:
    return PotView(pot.amount, pot.seats)


def shown_view(hand: ShownHand) -> ShownHandView:
    return ShownHandView(hand.seat, card_texts(hand.cards), card_texts(hand.best), hand.category, hand.ranks)


def _share(share: PotShare) -> ShareView:
    return ShareView(share.seat, share.amount)


def _seat_cards(dealt: SeatCards) -> SeatCardsView:
    return SeatCardsView(dealt.seat, dealt.down, card_texts(dealt.up))
