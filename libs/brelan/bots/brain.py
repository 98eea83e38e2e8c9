"""What a bot does with its cards: legal, varied, sensible. It sees what its socket was sent and nothing else."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from brelan.bots.temper import Temper
from brelan.client.model import HandModel
from brelan.events.commands import Act, Draw
from brelan.rules.cards import ACE, card_from_text, rank_of, suit_of
from brelan.rules.evaluation import Category, best_hand_stud, category, hand_value_draw
from brelan.views.messages import ActionView, TurnView

# What a made hand is worth, of 1, before anybody else's cards are thought of.
WORTH: dict[Category, float] = {
    "high_card": 0.15,
    "one_pair": 0.4,
    "two_pair": 0.68,
    "three_of_a_kind": 0.78,
    "straight": 0.86,
    "flush": 0.9,
    "full_house": 0.94,
    "four_of_a_kind": 0.98,
    "straight_flush": 0.99,
    "royal_flush": 1.0,
}
STREET_CARDS = 7


def decide(turn: TurnView, hand: HandModel, cards: Sequence[str], temper: Temper, chance: Random) -> Act | Draw:
    """``cards``: all of the bot's own, community card included."""
    held = [card_from_text(card) for card in cards]
    if any(action.kind == "draw" for action in turn.actions):
        return Draw(turn.turn_id, throw(held, hand.deck_size, temper, chance))
    strength = strength_of(held, hand.deck_size)
    action = choose(turn.actions, strength, hand.pot, temper, chance)
    return Act(turn.turn_id, action.kind, action.to)


def choose(actions: Sequence[ActionView], strength: float, pot: int, temper: Temper, chance: Random) -> ActionView:
    """One of the listed actions."""
    felt = strength + chance.gauss(0, 0.08)
    if chance.random() < temper.bluff:
        felt += 0.5
    raises = [action for action in actions if action.kind in {"bet", "raise", "complete"}]
    if raises and felt > 0.95 - 0.5 * temper.aggression:
        return chance.choice(raises)
    stays = [action for action in actions if action.kind in {"check", "bring_in", "call", "post"}]
    if not stays:
        return chance.choice([*(action for action in actions if action.kind == "fold"), *raises] or list(actions))
    stay = stays[0]
    folds = [action for action in actions if action.kind in {"fold", "decline"}]
    price = stay.pay / (pot + stay.pay) if stay.pay else 0.0
    needed = price * 1.1 + 0.25 * (1 - temper.looseness)
    return folds[0] if folds and stay.pay and felt < needed else stay


# --- what cards are worth ----------------------------------------------------------------------------------------


def strength_of(cards: Sequence[int], deck_size: int) -> float:
    """About how good, of 1: what is made, a little for high ranks, a little for what may come."""
    if not cards:
        return 0.3
    made = WORTH[_category(cards, deck_size)]
    top = max(rank_of(card) for card in cards) / ACE
    return min(1.0, made + 0.08 * top + _hopes(cards))


def _category(cards: Sequence[int], deck_size: int) -> Category:
    if len(cards) >= 5:
        if deck_size == 52:
            return category(best_hand_stud(cards))
        return category(hand_value_draw(cards, deck_size))
    counts = sorted(Counter(map(rank_of, cards)).values(), reverse=True)
    if counts[0] >= 3:
        return "four_of_a_kind" if counts[0] == 4 else "three_of_a_kind"
    if counts[:2] == [2, 2]:
        return "two_pair"
    return "one_pair" if counts[0] == 2 else "high_card"


def _hopes(cards: Sequence[int]) -> float:
    """For flushes and straights that are not there yet."""
    if len(cards) >= STREET_CARDS:
        return 0.0
    suited = max(Counter(map(suit_of, cards)).values())
    ranks = {rank_of(card) for card in cards}
    running = max(len(ranks & set(range(low, low + 5))) for low in range(ACE - 3))
    missing = min(5 - suited, 5 - running)
    return {0: 0.0, 1: 0.15, 2: 0.06}.get(missing, 0.0)


# --- the draw ----------------------------------------------------------------------------------------------------


def throw(cards: Sequence[int], deck_size: int, temper: Temper, chance: Random) -> tuple[int, ...]:
    """Positions of the cards to throw (D10)."""
    if len(cards) != 5:
        return ()
    if chance.random() < temper.bluff / 4:
        return ()  # a snow: nothing, played as if pat
    kept = _kept(cards, deck_size, chance)
    return tuple(position for position, card in enumerate(cards) if card not in kept)


def _kept(cards: Sequence[int], deck_size: int, chance: Random) -> set[int]:
    made = _category(cards, deck_size)
    if made in {"straight", "flush", "full_house", "straight_flush", "royal_flush", "four_of_a_kind"}:
        return set(cards)
    by_rank = Counter(map(rank_of, cards))
    grouped = {card for card in cards if by_rank[rank_of(card)] > 1}
    if made in {"two_pair", "three_of_a_kind"}:
        return grouped
    if four := _four_to_something(cards):
        return four
    best = max(cards)
    if made == "one_pair":
        kicker = {max(set(cards) - grouped)} if chance.random() < 0.2 else set()
        return grouped | kicker
    return {best} if chance.random() < 0.8 else set()


def _four_to_something(cards: Sequence[int]) -> set[int]:
    """Four to a flush, or to a straight open at both ends."""
    for suit, count in Counter(map(suit_of, cards)).items():
        if count == 4:
            return {card for card in cards if suit_of(card) == suit}
    for low in range(1, ACE - 3):
        run = {rank_of(card): card for card in cards if low <= rank_of(card) < low + 4}
        if len(run) == 4:
            return set(run.values())
    return set()
