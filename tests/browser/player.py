"""Somebody at the page: comes in, sits down, plays by clicking or by keys. What he does, a person can do."""

import contextlib
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, WebSocket, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT_MS = 60_000  # a hand of bots takes seconds; a busy machine takes longer
expect.set_options(timeout=30_000)


class Watch:
    """Everything a page must not do: errors on the console, and requests to other hosts."""

    def __init__(self, page: Page, url: str) -> None:
        self._host = urlsplit(url).netloc
        self.faults: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", self._request)
        page.on("websocket", self._socket)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _request(self, request: Request) -> None:
        self._same_host(request.url)

    def _socket(self, socket: WebSocket) -> None:
        self._same_host(socket.url)

    def _same_host(self, url: str) -> None:
        if urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).netloc != self._host:
            self.faults.append(f"request to another host: {url}")


class Player:
    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        page.set_default_timeout(WAIT_MS)

    # --- coming in ---------------------------------------------------------------------------------------------

    def register(self, name: str, password: str = "a long password") -> None:
        self.page.goto(self.url)
        self.page.get_by_test_id("login-name").fill(name)
        self.page.get_by_test_id("login-password").fill(password)
        self.page.get_by_test_id("register-submit").click()
        expect(self.page.get_by_test_id("lobby")).to_be_visible()
        expect(self.page.get_by_test_id("balance")).to_have_attribute("data-minor", re.compile(r"\d"))

    def balance(self) -> int:
        return int(self.page.get_by_test_id("balance").get_attribute("data-minor") or "")

    def open_table(self, game: str) -> None:
        self.page.get_by_test_id("nav-lobby").click()
        row = self.page.locator(f'[data-testid="table-row"][data-game="{game}"]').first
        row.get_by_test_id("open-table").click()
        expect(self.page.get_by_test_id("link")).to_have_attribute("data-link", "live")

    def sit_down(self, *, post: bool = False) -> None:
        self.page.get_by_test_id("sit-down").click()
        if post:
            self.page.get_by_test_id("entry-post").check()
        self.page.get_by_test_id("sit-confirm").click()
        expect(self.page.get_by_test_id("sit-dialog")).to_have_count(0)
        expect(self.seat).to_be_visible()

    def leave(self) -> None:
        if not self.page.get_by_test_id("leave").is_visible():
            self.page.get_by_test_id("side-toggle").click()
        self.page.get_by_test_id("leave").click()
        self.page.get_by_test_id("leave-confirm").click()
        expect(self.page.get_by_test_id("seat-menu")).to_have_count(0)

    # --- what he sees ------------------------------------------------------------------------------------------

    @property
    def seat(self) -> Locator:
        return self.page.locator('[data-mine="true"]')

    @property
    def own_cards(self) -> Locator:
        return self.page.get_by_test_id("own-hand").get_by_test_id("card")

    def stack(self) -> int:
        return int(self.seat.get_by_test_id("stack").get_attribute("data-minor") or "")

    def faces_of_others(self) -> int:
        return self.page.locator('[data-testid^="seat-"]:not([data-mine="true"]) [data-testid="card"]').count()

    def backs_of_others(self) -> int:
        return self.page.locator('[data-testid^="seat-"]:not([data-mine="true"]) [data-testid="card-back"]').count()

    def hand_id(self) -> str:
        return self.page.get_by_test_id("table-page").get_attribute("data-hand") or ""

    # --- playing -----------------------------------------------------------------------------------------------

    def wait_for_cards(self) -> str:
        """Until he holds cards of a hand in play; its id."""
        self.page.locator(
            '[data-testid="table-page"]:not([data-phase="over"]) [data-mine="true"] [data-testid="card"]'
        ).first.wait_for()
        return self.hand_id()

    def play_to_the_end(self, hand_id: str, act: Callable[[Page, list[str]], str]) -> list[str]:
        """Until the hand has ended. ``act`` is given the buttons he has, by test id, and answers which one it used."""
        page = f'[data-testid="table-page"][data-hand="{hand_id}"]'
        over = self.page.locator(f"{page}[data-phase='over'], [data-testid='table-page']:not([data-hand='{hand_id}'])")
        return self._play_until(over, f"{page}:not([data-phase='over'])", act)

    def play_until(self, test_id: str, act: Callable[[Page, list[str]], str]) -> None:
        """Until there is such a button."""
        self._play_until(self.page.get_by_test_id(test_id), '[data-testid="table-page"]', act)

    def _play_until(self, end: Locator, page: str, act: Callable[[Page, list[str]], str]) -> list[str]:
        used: list[str] = []
        turn = self.page.locator(f"{page} .buttons button:enabled[class^='act-']")
        while True:
            turn.or_(end).first.wait_for()
            if end.count():
                return used
            buttons = [str(name) for name in turn.evaluate_all("all => all.map((it) => it.dataset.testid)")]
            with contextlib.suppress(PlaywrightTimeout):  # his time ran out meanwhile
                if buttons:
                    used.append(act(self.page, buttons))
                    turn.first.wait_for(state="hidden", timeout=5_000)


def by_mouse(page: Page, buttons: list[str]) -> str:
    """Checks and calls to the end; throws two cards."""
    for choice in ("act-check", "act-call", "act-bring_in", "act-draw", "act-muck"):
        if choice in buttons:
            if choice == "act-draw":
                page.get_by_test_id("throw-1").click(timeout=3_000)
                page.get_by_test_id("throw-2").click(timeout=3_000)
            page.get_by_test_id(choice).click(timeout=3_000)
            return choice
    raise AssertionError(f"nothing to check, call or draw among {buttons}")


def by_keys(page: Page, buttons: list[str]) -> str:
    """The same with the keyboard; opens or raises where nothing was bet."""
    if "act-draw" in buttons:
        page.keyboard.press("2")
        page.keyboard.press("4")
        expect(page.get_by_test_id("throw-2")).to_have_attribute("aria-pressed", "true", timeout=3_000)
        page.keyboard.press("d")
        return "act-draw"
    key = "r" if "act-check" in buttons and "act-bet" in buttons else "c"
    page.keyboard.press(key)
    return (
        "act-bet" if key == "r" else next(name for name in buttons if name in ("act-check", "act-call", "act-bring_in"))
    )
