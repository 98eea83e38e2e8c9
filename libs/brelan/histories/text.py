"""A hand as plain text, for a page, a file or a letter: a ``HandView``, so what its viewer may not see is not in it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from brelan.histories.projection import HandView, PlayerView, StepView

GAMES = {"stud": "Seven-Card Stud", "draw": "5 Card Draw 7-A"}
STREETS = {
    "third": "Third street",
    "fourth": "Fourth street",
    "fifth": "Fifth street",
    "sixth": "Sixth street",
    "river": "River",
    "deal": "First round",
    "draw": "Draw",
    "after_draw": "Second round",
    "showdown": "Showdown",
}
CAUSES = {"player": "", "time": " (time ran out)", "left": " (left the table)"}
POSTS = {
    "ante": "posts the ante of",
    "small_blind": "posts the small blind of",
    "big_blind": "posts the big blind of",
    "live_post": "posts",
    "dead_small_blind": "posts a dead small blind of",
}
BETS = {
    "call": "calls {pay}",
    "bring_in": "brings in for {pay}",
    "bet": "bets {pay}",
    "complete": "completes to {to}",
    "raise": "raises to {to}",
}
DECISIONS = {
    "fold": "folds",
    "check": "checks",
    "timed_out": "has run out of time",
    "all_in_by_time": "is all-in with what he has put in",
    "mucked": "mucks",
}


def as_text(view: HandView) -> str:
    return "\n".join(_lines(view)) + "\n"


def money(amount: int, unit: int) -> str:
    """``1250`` to ``"12.50"`` with a unit of 100, ``"12.5"`` with 10, ``"1250"`` with 1."""
    if unit <= 1:
        return str(amount)
    whole, rest = divmod(abs(amount), unit)
    sign = "-" if amount < 0 else ""
    return f"{sign}{whole}" if not rest else f"{sign}{whole}.{rest:0{len(str(unit - 1))}d}"


def _lines(view: HandView) -> Iterator[str]:
    limits = f"{_sum(view, view.lower_limit)}/{_sum(view, view.upper_limit)}"
    yield f"Brelan hand {view.hand_id}: {GAMES[view.game]}, fixed limit {limits}"
    yield f"Table {view.table_name} ({view.table_id}), {_when(view.started_ms)} to {_when(view.ended_ms)} UTC"
    if view.button is not None:
        yield f"Seat {view.button} has the button"
    names = {player.seat: player.name for player in view.players}
    for player in view.players:
        yield f"Seat {player.seat}: {player.name} ({_sum(view, player.starting_stack)} in chips)"
    street = ""
    for step in view.steps:
        if step.street != street:
            street = step.street
            yield f"*** {STREETS.get(street, street)} ***"
        yield _step(view, step, names)
    yield "*** Summary ***"
    if view.voided:
        yield f"Called off, all bets returned: {view.voided}"
    yield f"Pot {_sum(view, view.pot)}, rake {_sum(view, view.rake)}"
    if view.community is not None:
        yield f"Community card [{view.community}]"
    for player in view.players:
        yield _summary(view, player)


def _step(view: HandView, step: StepView, names: Mapping[int, str]) -> str:
    name = names.get(step.seat, "")
    match step.kind:
        case kind if kind in POSTS:
            return f"{name} {POSTS[kind]} {_sum(view, step.amount)}"
        case kind if kind in BETS:
            bet = BETS[kind].format(pay=_sum(view, step.amount), to=_sum(view, step.to))
            return f"{name} {bet}{' and is all-in' if step.all_in else ''}{CAUSES[step.cause]}"
        case kind if kind in DECISIONS:
            return f"{name} {DECISIONS[kind]}{CAUSES[step.cause]}"
        case "dealt":
            return f"Dealt to {name}: {_dealt(step)}"
        case "community":
            return f"Community card [{' '.join(step.cards)}]"
        case "reshuffled":
            return "The deck is made up again and shuffled"
        case "drew":
            return _drew(name, step)
        case "returned":
            return f"{_sum(view, step.amount)} not called, back to {name}"
        case "shown":
            hand = next(player.hand for player in view.players if player.seat == step.seat)
            return f"{name} shows [{' '.join(step.cards)}]" + (f" ({hand})" if hand else "")
        case "won":
            return f"{name} wins {_sum(view, step.amount)} from {_pot_name(view, step.pot)}"
        case kind:
            raise ValueError(f"{kind} has no words")


def _dealt(step: StepView) -> str:
    down = f"[{' '.join(step.cards[: step.count])}]" if step.count else ""
    return " ".join(part for part in (down, " ".join(step.cards[step.count :])) if part)


def _drew(name: str, step: StepView) -> str:
    if not step.count:
        return f"{name} stands pat{CAUSES[step.cause]}"
    cards = "" if "??" in step.cards else f" [{' '.join(step.cards)}]"
    return f"{name} draws {step.count}{cards}{CAUSES[step.cause]}"


def _pot_name(view: HandView, pot: int) -> str:
    if len(view.pots) < 2:
        return "the pot"
    return "the main pot" if pot == 0 else f"side pot {pot}"


def _summary(view: HandView, player: PlayerView) -> str:
    cards = f" [{' '.join(player.cards)}]" if player.cards is not None else ""
    thrown = f", threw [{' '.join(player.discards)}]" if player.discards else ""
    mucked = ", mucked" if player.mucked else ""
    sign = "+" if player.result > 0 else ""
    result = f"{sign}{_sum(view, player.result)}"
    return (
        f"Seat {player.seat}: {player.name}{cards}{thrown}{mucked}: {result}, {_sum(view, player.finishing_stack)} left"
    )


def _sum(view: HandView, amount: int) -> str:
    return money(amount, view.currency_unit)


def _when(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
