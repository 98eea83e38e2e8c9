"""A person at the page of a running room: comes in, sits down, plays a whole hand of each game, leaves."""

import secrets
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.player import CHROMIUM_ARGS, Player, Watch, by_keys, by_mouse
from tests.room import Room

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def open_page(room: Room, chromium: str) -> Iterator[Callable[..., Page]]:
    """Opens pages that are watched: at the end, no error on any console and no request to another host."""
    watches: list[Watch] = []
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS) as it,
    ):

        def open_one(size: dict[str, int] = DESKTOP, language: str = "en-GB") -> Page:
            page = it.new_context(viewport=size, locale=language).new_page()  # type: ignore[arg-type]
            watches.append(Watch(page, room.url))
            return page

        yield open_one
        faults = [fault for watch in watches for fault in watch.faults]
    assert faults == []


def a_name() -> str:
    return f"Test-{secrets.token_hex(3)}"


@pytest.mark.parametrize("act", [by_mouse, by_keys])
@pytest.mark.parametrize("game", ["stud", "draw"])
def test_a_new_player_plays_a_whole_hand(
    room: Room, open_page: Callable[..., Page], game: str, act: Callable[[Page, list[str]], str]
) -> None:
    page = open_page()
    player = Player(page, room.url)
    player.register(a_name())
    at_first = player.balance()
    player.open_table(game)
    player.sit_down(post=game == "draw")
    expect(page.get_by_test_id("balance")).not_to_have_attribute("data-minor", str(at_first))
    bought_in = at_first - player.balance()

    hand_id = player.wait_for_cards()
    assert player.own_cards.count() >= (5 if game == "draw" else 3)
    assert player.backs_of_others() >= 2
    if game == "draw":
        assert player.faces_of_others() == 0
    page.get_by_test_id("sit-out").click()  # after this hand: then the stack stays as it is

    assert player.play_to_the_end(hand_id, act), "he was never asked"
    expect(page.locator('[data-testid="log"] [data-event^="PotAwarded"]').first).to_be_attached()
    expect(page.get_by_test_id("come-back")).to_be_visible()

    stack = player.stack()
    player.leave()
    expect(page.get_by_test_id("balance")).to_have_attribute("data-minor", str(at_first - bought_in + stack))

    page.get_by_test_id("nav-hands").click()
    page.locator(f'[data-testid="hand-row"][data-hand="{hand_id}"] a').click()
    expect(page.get_by_test_id("hand-text")).not_to_be_empty()


def test_with_auto_post_off_every_hand_asks_first(room: Room, open_page: Callable[..., Page]) -> None:
    page = open_page()
    player = Player(page, room.url)
    player.register(a_name())
    player.open_table("stud")
    player.sit_down()
    page.get_by_test_id("auto-post").uncheck()
    player.play_until("act-post", by_mouse)
    page.get_by_test_id("act-post").click()
    hand_id = player.wait_for_cards()
    player.play_to_the_end(hand_id, by_mouse)
    player.play_until("act-decline", by_mouse)
    page.get_by_test_id("act-decline").click()
    expect(page.get_by_test_id("act-decline")).to_have_count(0)
    player.leave()


WATCH_THE_BUTTONS = """() => {
  window.rests = [];
  const seen = new Map();
  new MutationObserver(() => {
    for (const button of document.querySelectorAll(".buttons button[class^=act-]")) {
      if (!seen.has(button)) seen.set(button, performance.now());
      if (!button.disabled && seen.get(button)) {
        window.rests.push(performance.now() - seen.get(button));
        seen.set(button, 0);
      }
    }
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""


def test_buttons_rest_for_300_ms_when_the_price_is_new(room: Room, open_page: Callable[..., Page]) -> None:
    page = open_page()
    player = Player(page, room.url)
    player.register(a_name())
    player.open_table("stud")
    page.evaluate(WATCH_THE_BUTTONS)
    player.sit_down()
    player.play_to_the_end(player.wait_for_cards(), by_mouse)
    rests = page.evaluate("window.rests")
    assert rests
    assert min(rests) > 280
    player.leave()


def test_on_a_phone_and_in_french_everything_is_within_reach(room: Room, open_page: Callable[..., Page]) -> None:
    page = open_page(PHONE, "fr-FR")
    player = Player(page, room.url)
    player.register(a_name())
    player.open_table("stud")
    player.sit_down()
    hand_id = player.wait_for_cards()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"], "the page scrolls sideways"
    plates = page.locator(".plate").evaluate_all("all => all.map((it) => it.getBoundingClientRect().toJSON())")
    assert all(plate["left"] >= 0 and plate["right"] <= PHONE["width"] + 1 for plate in plates)
    assert player.play_to_the_end(hand_id, by_mouse)
    player.leave()


def test_a_wrong_password_is_explained(room: Room, chromium: str) -> None:
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS) as it,
    ):
        page = it.new_page(locale="en-GB")
        page.goto(room.url)
        page.get_by_test_id("login-name").fill(a_name())
        page.get_by_test_id("login-password").fill("not the password")
        page.get_by_test_id("login-submit").click()
        expect(page.get_by_test_id("login-error")).to_contain_text(" ")


def test_the_page_weighs_under_300_kilobytes(room: Room, open_page: Callable[..., Page]) -> None:
    page = open_page()
    weights: list[int] = []
    page.on("response", lambda answer: weights.append(len(answer.body())) if "/api/" not in answer.url else None)
    player = Player(page, room.url)
    player.register(a_name())
    player.open_table("stud")
    assert 50_000 < sum(weights) < 300_000


def test_when_the_gateway_dies_in_mid_hand_the_page_comes_back_to_where_it_was(room: Room, chromium: str) -> None:
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS) as it,
    ):
        player = Player(it.new_page(locale="en-GB"), room.url)
        player.register(a_name())
        player.open_table("stud")
        player.sit_down()
        hand_id = player.wait_for_cards()
        held = player.own_cards.evaluate_all("all => all.map((it) => it.dataset.card)")

        room.kill("gateway")
        expect(player.page.get_by_test_id("link")).not_to_have_attribute("data-link", "live")
        expect(player.page.get_by_test_id("link")).to_have_attribute("data-link", "live")
        if player.hand_id() == hand_id:
            assert player.own_cards.evaluate_all("all => all.map((it) => it.dataset.card)")[: len(held)] == held
        player.play_to_the_end(player.wait_for_cards(), by_mouse)
        player.leave()


def test_a_deal_is_verified_in_the_browser_by_what_it_remembers(room: Room, open_page: Callable[..., Page]) -> None:
    page = open_page()
    player = Player(page, room.url)
    player.register(a_name())
    player.open_table("stud")
    player.sit_down()
    player.play_to_the_end(player.wait_for_cards(), by_mouse)  # may have begun before the chain was there
    hand_id = player.wait_for_cards()
    player.play_to_the_end(hand_id, by_mouse)
    player.leave()
    page.get_by_test_id("nav-hands").click()
    page.locator(f'[data-testid="hand-row"][data-hand="{hand_id}"] a').click()
    deal = page.get_by_test_id("deal")
    deal.get_by_role("button").click()
    expect(page.get_by_test_id("deal-verdict")).to_have_class("won")
    expect(deal.locator("li")).to_have_count(13)  # the twelve checks of the record, and this browser's own memory
    expect(deal.locator("li.lost")).to_have_count(0)
    expect(deal.get_by_role("link")).to_have_attribute("download", f"{hand_id}.json")
