"""What a viewer gets of each event, and what he never gets."""

from typing import get_args

import msgspec
import pytest

from brelan.events import table as facts
from brelan.events.config import TableConfig
from brelan.events.dealing import HoleCards
from brelan.events.envelope import TableCommitted
from brelan.events.table import TableEvent
from brelan.rules.cards import cards_from_text
from brelan.rules.state import DealerWait, Hand, HandPlayer, Seat, TableState
from brelan.views import messages as views
from brelan.views.entries import entry_view, owners_of, with_cards
from brelan.views.projection import config_view, view_of
from brelan.views.snapshot import DealtTo, dealt_to, own_cards, seat_of, snapshot, table_view
from tests.contract.samples import Sampler, samples

EVENTS = get_args(TableEvent)
NOBODYS_BUSINESS = {"request_id", "transfer_id", "by", "opened_by", "due_ms", "positions"}
CONFIG = TableConfig(name="Draw", game="draw", lower_limit=200, upper_limit=400, seats=5, minimum_buy_in=2000)


def texts(value: object) -> set[str]:
    """Every text and number in it, as text."""
    match value:
        case dict():
            return set().union(*map(texts, value.values()))
        case list() | tuple():
            return set().union(*map(texts, value)) if value else set()
        case _:
            return {str(value)}


def secrets_of(event: msgspec.Struct) -> set[str]:
    return {str(getattr(event, name)) for name in event.__struct_fields__ if name in NOBODYS_BUSINESS}


def committed(*events: TableEvent, version: int = 7) -> TableCommitted:
    return TableCommitted("s00-abcdef", 1, version, 1_000, tuple(events), player_id="secret-id", command_id="secret-c")


def seated(*names: str, config: TableConfig = CONFIG) -> TableState:
    seats = [Seat(number, f"p-{name}", name, stack=4000) for number, name in enumerate(names, start=1)]
    return TableState("s00-abcdef", config, status="open", version=6, seats=[*seats, None])


def decoded(message: str) -> views.Events:
    value = views.decode_room(message)
    assert isinstance(value, views.Events)
    return value


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_every_event_has_a_view_of_its_name_or_none(kind: type[TableEvent]) -> None:
    for event in samples(kind):
        seen = view_of(event)
        for view in (seen.public, seen.own):
            assert view is None or type(view).__name__ == kind.__name__


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_ids_of_requests_and_transfers_and_operators_reach_nobody(kind: type[TableEvent]) -> None:
    for event in samples(kind):
        seen = view_of(event)
        for view in (seen.public, seen.own):
            shown = texts(msgspec.to_builtins(view)) if view is not None else set()
            assert not shown & {each for each in secrets_of(event) if not each.isdigit()}
            assert view is None or not NOBODYS_BUSINESS & set(view.__struct_fields__)


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_a_view_is_what_clients_decode(kind: type[TableEvent]) -> None:
    for event in samples(kind):
        seen = view_of(event)
        for view in (seen.public, seen.own):
            if view is not None:
                assert msgspec.json.decode(views.encode(view), type=views.AnyEventView) == view


def test_no_view_passes_a_fact_through() -> None:
    for kind in EVENTS:
        for event in samples(kind):
            assert not any(isinstance(view, facts.Event) for view in (view_of(event).public, view_of(event).own))


def test_D10_how_many_were_drawn_is_public_which_never() -> None:
    assert view_of(facts.DrawChosen(3, (0, 4), "request", 99)).public == views.DrawChosen(3, 2, "player")


def test_why_a_table_is_frozen_is_for_operators() -> None:
    seen = view_of(facts.TableFrozen("escrow differs by 400"))
    assert seen.public == views.TableFrozen()


def test_down_cards_are_a_number_and_up_cards_are_text() -> None:
    dealt = facts.CardsDealt("r", "h", "third", (facts.SeatCards(2, 2, cards_from_text("7c")),))
    cards = (views.SeatCardsView(2, 2, ("7c",)),)
    assert view_of(dealt).public == views.CardsDealt("h", "third", cards, 0, False, None, "")


def test_a_configuration_is_shown_field_by_field() -> None:
    config = Sampler(full=True).of(TableConfig)
    assert msgspec.to_builtins(config_view(config)) == msgspec.to_builtins(config)


# --- entries -----------------------------------------------------------------------------------------------------


def test_M3_that_somebody_will_be_folded_when_it_is_his_turn_is_told_to_him_alone() -> None:
    view = entry_view(committed(facts.LeaveAsked(1)), owners_of(seated("Ana", "Ben")))
    assert decoded(view.message_for("p-Ben")).events == ()
    assert decoded(view.message_for("p-Ana")).events == (views.LeaveAsked(1),)


def test_an_entry_that_concerns_others_only_still_has_its_version() -> None:
    assert decoded(entry_view(committed(facts.LeaveAsked(1)), owners_of(seated("Ana"))).everybody).version == 7


def test_why_a_buy_in_was_declined_is_told_to_the_buyer_alone() -> None:
    reserved = facts.SeatReserved(2, "p-Ben", "Ben", 4000, "t", "wait")
    view = entry_view(committed(reserved, facts.SeatReleased(2, "t", "You have 12.")), owners_of(seated("Ana")))
    assert "You have" in view.message_for("p-Ben")
    assert "You have" not in view.message_for("p-Ana")
    assert decoded(view.message_for("p-Ana")).events[-1] == views.SeatReleased(2)


def test_events_for_everybody_are_encoded_once() -> None:
    view = entry_view(committed(facts.Checked(1)), owners_of(seated("Ana", "Ben")))
    assert view.message_for("p-Ana") is view.message_for("p-Ben") is view.everybody


def test_who_commanded_it_is_not_told() -> None:
    assert "secret" not in entry_view(committed(facts.Checked(1)), owners_of(seated("Ana"))).everybody


def test_own_cards_are_spliced_into_a_message() -> None:
    cards = views.OwnCards("h", 1, ("Th", "As"), (False, False))
    message = with_cards(entry_view(committed(facts.Checked(1)), owners_of(seated("Ana"))).everybody, cards)
    assert decoded(message).cards == cards
    assert decoded(message).events == (views.Checked(1, "player"),)


# --- snapshots ---------------------------------------------------------------------------------------------------


def playing(**changes: object) -> TableState:
    state = seated("Ana", "Ben")
    players = [HandPlayer(1, "p-Ana", "Ana", 3800, 4000, put_in=200, down=2), HandPlayer(2, "p-Ben", "Ben", 3800, 4000)]
    state.hand = Hand("h", 1, 32, players)
    return msgspec.structs.replace(state, **changes)


def test_a_snapshot_shows_others_no_plans_and_preferences() -> None:
    table = msgspec.to_builtins(table_view(seated("Ana", "Ben"), "p-Ana"))
    private = {"chips_waiting", "top_up_asked", "sit_out_asked", "leave_asked", "auto_post", "auto_muck"}
    assert private <= set(table["seats"][0])
    assert not private & set(table["seats"][1])


def test_a_snapshot_is_what_clients_decode() -> None:
    you = views.You("p-Ana", "Ana", 1)
    for state in (playing(), Sampler(full=True).of(TableState)):
        shot = snapshot(state, you, 5, None)
        assert views.decode_room(views.encode(shot)) == shot


def test_nothing_internal_is_in_a_snapshot() -> None:
    state = Sampler(full=True).of(TableState)
    message = views.encode(table_view(state, "nobody"))
    for word in ("transfer", "request", "frozen_reason", "dealer_wait", "departed", "protected_used", "acted_at"):
        assert word not in message


def test_a_table_that_was_never_opened_has_no_view() -> None:
    with pytest.raises(ValueError, match="no such table"):
        table_view(TableState(), "p-Ana")


def test_the_seat_of_a_viewer() -> None:
    assert seat_of(seated("Ana", "Ben"), "p-Ben") == 2
    assert seat_of(seated("Ana", "Ben"), "p-Eve") is None


# --- own cards ---------------------------------------------------------------------------------------------------

HOLE = HoleCards("h", 1, "p-Ana", cards_from_text("ThAs7c"), (False, False, True))


def test_a_player_gets_his_own_cards() -> None:
    shown = own_cards(HOLE, DealtTo("h", 1, "p-Ana", 3))
    assert shown == views.OwnCards("h", 1, ("Th", "As", "7c"), (False, False, True))


def test_cards_that_the_table_has_not_seen_dealt_are_held_back() -> None:
    assert own_cards(HOLE, DealtTo("h", 1, "p-Ana", 2)) == views.OwnCards("h", 1, ("Th", "As"), (False, False))


@pytest.mark.parametrize(
    "dealt", [DealtTo("another", 1, "p-Ana", 3), DealtTo("h", 1, "p-Ben", 3), DealtTo("h", 2, "p-Ana", 3)]
)
def test_cards_of_another_hand_or_player_are_shown_to_nobody(dealt: DealtTo) -> None:
    assert own_cards(HOLE, dealt) is None


def test_what_was_dealt_to_a_player_is_what_his_table_says() -> None:
    assert dealt_to(playing(), "p-Ana") == DealtTo("h", 1, "p-Ana", 2)
    assert dealt_to(playing(), "p-Ben") is None  # nothing yet
    assert dealt_to(playing(), "p-Eve") is None
    assert dealt_to(seated("Ana"), "p-Ana") is None


def test_D10_new_cards_are_not_known_before_the_table_has_seen_them_drawn() -> None:
    """The dealer's hash may hold them already."""
    wait = DealerWait("h:draw:1", 0)
    assert dealt_to(playing(dealer_wait=wait), "p-Ana") is None
    assert dealt_to(playing(dealer_wait=DealerWait("h:draw:2", 0)), "p-Ana") is not None
