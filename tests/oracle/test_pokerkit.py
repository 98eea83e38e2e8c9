"""Random stud hands against pokerkit, decision by decision: what may be done, then the pots, the winners, the stacks.

A seed makes a table, the cards and the choices; both play the same. Every fifth hand is dealt so that hands, boards and
door cards are of equal ranks. Where the two rule sets differ, and what is made of
it here:

- **Raise cap heads-up (B3, B5).** pokerkit stops at four bets whoever is left. With two in the hand we list the next
  raise and pokerkit does not: that, and nothing else, is asserted, and the raise is not taken.
- **Fourth street with an open pair (S9).** pokerkit knows no double bet. Ours are its actions and more, all the more
  wagers; what is done is chosen from pokerkit's.
- **Short all-ins (B7).** Below half a bet pokerkit counts an all-in toward the cap and lets the next raise start from
  it: such an all-in is compared when it is offered and never made. From half a bet up it is made: both start the next
  raise from it, but pokerkit keeps a player who has acted from raising it unless it was full, and B7 does not: where
  only that stands between them, our raise is asserted and not taken.
- **A raise that nobody can match.** Where the only players left to act would be all-in by calling, pokerkit refuses a
  raise and B11 does not, since they can act. Asserted, not taken.
- **A bring-in that is short (S13).** Others owe the full one here, the short one there: no stack lies between the ante
  and ante plus bring-in.
- **Deck (S10, S11).** The room's dealer deals and pokerkit is told the cards. It would shuffle folded hands back in on
  the river: its muck is kept empty. Then both turn a community card in the same hands.
- **Odd chips (B10).** pokerkit gives a pot's whole remainder to its first winner and splits pots together that the same
  players win, the rule gives one chip each and splits each pot on its own: pokerkit's pots and winners are split by
  the rule; in every fourth hand that is compared with what it pays itself, where no pot is split.
- A pot that one player alone can win is a pot to pokerkit and a returned bet to us (B9): pots of two and more are
  compared, the rest shows in the stacks.
"""

import os
import warnings
from collections.abc import Iterable
from random import Random

import pytest
from pokerkit import Automation, Card, FixedLimitSevenCardStud, Mode, State
from pokerkit import Hand as Combination

from brelan.events import table
from brelan.events.config import TableConfig
from brelan.rules.cards import TEXTS
from tests.oracle.dealer import RoomDealer
from tests.oracle.playing import Playing, seated, stud

CARDS = [next(iter(Card.parse(text))) for text in TEXTS]
UNKNOWN = next(iter(Card.parse("??")))
STREETS = ("third", "fourth", "fifth", "sixth", "river")
CARDS_OF = {
    "third": slice(0, 3),
    "fourth": slice(3, 4),
    "fifth": slice(4, 5),
    "sixth": slice(5, 6),
    "river": slice(6, 7),
}
ALIKE = 5  # every fifth hand is dealt for ties
PAID_BY_POKERKIT = 4  # it takes its time: every fourth hand
SEEDS = 8
HANDS = int(os.environ.get("BRELAN_POKERKIT_HANDS", "20000"))

Legal = set[tuple[str, int]]
LIMITS = ((2, 1, 1), (4, 1, 2), (5, 1, 2), (10, 2, 3), (15, 3, 7), (50, 10, 20))  # lower limit, ante, bring-in


class Muck(list[Card]):
    """S11: what is folded is gone."""

    def extend(self, cards: Iterable[Card]) -> None:
        pass


class Hand:
    """One hand, played by both."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self._hands: dict[int, Combination] = {}
        self.config = self._config()
        stacks = [self._stack() for _ in range(self.random.randint(2, 8))]
        self.dealer = RoomDealer(seed, alike=seed % ALIKE == 1)
        self.ours = Playing(seated(self.config, dict(enumerate(stacks, start=1))), self.dealer)
        self.theirs = FixedLimitSevenCardStud.create_state(
            (
                Automation.ANTE_POSTING,
                Automation.BET_COLLECTION,
                Automation.CHIPS_PULLING,
            ),
            True,
            self.config.ante,
            self.config.bring_in,
            self.config.lower_limit,
            self.config.upper_limit,
            stacks,
            len(stacks),
            mode=Mode.CASH_GAME,
        )
        self.theirs.mucked_cards = Muck()
        self._told = 0

    def _config(self) -> TableConfig:
        lower, ante, bring_in = self.random.choice(LIMITS)
        return stud(lower, 2 * lower, ante=ante, bring_in=bring_in)

    def _stack(self) -> int:
        """Often short, never between the ante and the ante and bring-in."""
        lower = self.config.lower_limit
        most = self.random.choice((self.config.ante, 2 * lower, 6 * lower, 20 * lower, 100 * lower))
        stack = self.random.randint(1, most)
        if self.config.ante < stack < self.config.ante + self.config.bring_in:
            return self.config.ante + self.config.bring_in
        return stack

    def play(self) -> None:
        self.ours.deal()
        self._tell()
        while self.ours.state.turn is not None:
            chosen = self._choose(self._compare_legal())
            self._act(*chosen)
            self._tell()
        self._compare_end()

    # --- what may be done --------------------------------------------------------------------------------------------

    def _compare_legal(self) -> Legal:
        """Asserts that they agree, and gives what both may do."""
        seat = self.ours.turn.seat
        assert self.theirs.actor_index == seat - 1
        ours, theirs = legal_for_us(self.ours), legal_for_pokerkit(self.theirs)
        more = ours - theirs
        if theirs == ours or not more:
            assert ours == theirs
            return theirs
        assert theirs <= ours, "pokerkit allows what we do not"
        assert all(kind == "wager" for kind, _ in more)
        hand = self.ours.hand
        two_left = sum(not player.folded for player in hand.players) == 2
        wager_there = any(kind == "wager" for kind, _ in theirs)
        assert (
            (hand.open_pair and wager_there)
            or (two_left and self.theirs.completion_betting_or_raising_count == 4)
            or self._acted_before_a_short_all_in(seat - 1)
            or self._nobody_can_match(seat - 1)
        ), f"we allow {more} beside {theirs}"
        return theirs

    def _acted_before_a_short_all_in(self, index: int) -> bool:
        state = self.theirs
        short = sum(state.consecutive_short_all_in_amounts)
        return 0 < short < state.completion_betting_or_raising_amount and index in state.acted_player_indices

    def _nobody_can_match(self, index: int) -> bool:
        state = self.theirs
        return all(
            state.stacks[other] + state.bets[other] <= max(state.bets)
            for other in state.player_indices
            if self._other(index, other)
        )

    # --- what is done ------------------------------------------------------------------------------------------------

    def _choose(self, legal: Legal) -> tuple[str, int]:
        wanted = self.random.choices(("fold", "call", "wager", "bring_in"), (14, 50, 36, 50))[0]
        choices = sorted(legal - {("wager", self._below_half())})
        return next((choice for choice in choices if choice[0] == wanted), self.random.choice(choices))

    def _below_half(self) -> int:
        """B7: to where an all-in would count as nothing; -1 when there is none."""
        hand = self.ours.hand
        least = self.config.bring_in if hand.street == 0 and hand.full_level == 0 else hand.full_level
        for action in self.ours.turn.actions:
            if action.all_in and action.kind in ("bet", "raise", "complete"):
                full = hand.full_level + hand.wager
                if 2 * (action.to - least) < full - least:
                    return action.to
        return -1

    def _act(self, kind: str, amount: int) -> None:
        seat = self.ours.turn.seat
        match kind:
            case "fold":
                self.ours.play(f"{seat} fold")
                self.theirs.fold()
                self._pass_alone()
            case "bring_in":
                self.ours.play(f"{seat} bring_in")
                self.theirs.post_bring_in()
            case "call":
                self.ours.play(f"{seat} {'call' if amount else 'check'}")
                self.theirs.check_or_call()
            case _:
                name = next(action.kind for action in self.ours.turn.actions if is_wager(action, amount))
                self.ours.play(f"{seat} {name} {amount}")
                self.theirs.complete_bet_or_raise_to(amount)

    def _pass_alone(self) -> None:
        """Who has nobody left to bet against is still asked by pokerkit when the last one folds before a bet (B11)."""
        index = self.theirs.actor_index
        if index is None or self.theirs.checking_or_calling_amount:
            return
        if not any(self.theirs.stacks[other] for other in self.theirs.player_indices if self._other(index, other)):
            self.theirs.check_or_call()

    def _other(self, index: int, other: int) -> bool:
        return other != index and self.theirs.statuses[other]

    def _tell(self) -> None:
        """pokerkit gets the cards that were dealt since."""
        new, self._told = self.ours.events[self._told :], len(self.ours.events)
        for event in new:
            if not isinstance(event, table.CardsDealt):
                continue
            self._show()  # all-in, pokerkit turns the hands up before the next card
            if self.theirs.card_burning_status:
                index = STREETS.index(event.street) - 1
                self.theirs.burn_card(CARDS[self.dealer.burns[index]] if event.burned else UNKNOWN)
            if event.community is not None:
                self.theirs.deal_board((CARDS[event.community],))
                continue
            for each in event.cards:
                assert self.theirs.hole_dealee_index == each.seat - 1
                cards = self.dealer.cards(each.seat)[CARDS_OF[event.street]]
                self.theirs.deal_hole(tuple(CARDS[card] for card in cards))

    # --- the end -----------------------------------------------------------------------------------------------------

    def _compare_end(self) -> None:
        assert self.ours.state.hand is None
        pots = [(pot.amount, pot.player_indices) for pot in self.theirs.pots]
        contested = [(amount, eligible) for amount, eligible in pots if len(eligible) > 1]
        winners = [self._best_of(eligible) for _, eligible in contested]
        by_rule = [stack + bet for stack, bet in zip(self.theirs.stacks, self.theirs.bets, strict=True)]
        for amount, eligible in pots:
            split(amount, self._best_of(eligible) if len(eligible) > 1 else eligible, by_rule)
        if contested:
            assert [pot for pot in self.ours.pots if len(pot[1]) > 1] == [
                (amount, seats_of(eligible)) for amount, eligible in contested
            ]
            assert self._our_winners() == [seats_of(each) for each in winners]
        assert list(self.ours.stacks.values()) == by_rule
        if self.seed % PAID_BY_POKERKIT == 0:
            self._pay()
            if all(len(each) == 1 for each in winners):
                assert by_rule == self.theirs.stacks

    def _pay(self) -> None:
        self._show()
        while self.theirs.can_kill_hand():
            self.theirs.kill_hand()
        while self.theirs.can_push_chips():
            self.theirs.push_chips()
        assert not self.theirs.status

    def _show(self) -> None:
        """All show, so that pokerkit mucks nobody out of a pot."""
        while self.theirs.can_show_or_muck_hole_cards():
            self.theirs.show_or_muck_hole_cards(True)

    def _best_of(self, eligible: tuple[int, ...]) -> tuple[int, ...]:
        hands = {index: self._hand_of(index) for index in eligible}
        best = max(hands.values())
        return tuple(index for index, hand in hands.items() if hand == best)

    def _hand_of(self, index: int) -> Combination:
        if index not in self._hands:
            hand = self.theirs.get_hand(index, 0, 0)
            assert hand is not None
            self._hands[index] = hand
        return self._hands[index]

    def _our_winners(self) -> list[tuple[int, ...]]:
        awarded = {event.pot: event for event in self.ours.all(table.PotAwarded)}
        return [
            tuple(sorted(share.seat for share in awarded[index].shares))
            for index, (_, eligible) in enumerate(self.ours.pots)
            if len(eligible) > 1
        ]


def is_wager(action: table.Action, amount: int) -> bool:
    return action.kind in ("bet", "raise", "complete") and action.to == amount


def legal_for_us(ours: Playing) -> Legal:
    """A call is known by what it pays, a wager by where it goes to."""
    legal: Legal = set()
    for action in ours.turn.actions:
        match action.kind:
            case "check" | "call":
                legal.add(("call", action.pay))
            case "fold":
                legal.add(("fold", 0))
            case "bring_in":
                legal.add(("bring_in", action.pay))
            case _:
                legal.add(("wager", action.to))
    return legal


def legal_for_pokerkit(theirs: State) -> Legal:
    legal: Legal = set()
    if theirs.can_fold():
        legal.add(("fold", 0))
    if theirs.can_post_bring_in():
        legal.add(("bring_in", theirs.effective_bring_in_amount or 0))
    if theirs.can_check_or_call():
        legal.add(("call", theirs.checking_or_calling_amount or 0))
    least = theirs.min_completion_betting_or_raising_to_amount
    if least is not None:
        assert least == theirs.max_completion_betting_or_raising_to_amount
        if ("bring_in", least) not in legal:  # his last chips: it is the bring-in
            legal.add(("wager", least))
    return legal


def seats_of(indices: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(index + 1 for index in indices)


def split(amount: int, winners: tuple[int, ...], stacks: list[int]) -> None:
    """B10."""
    share, odd = divmod(amount, len(winners))
    for place, index in enumerate(winners):
        stacks[index] += share + (place < odd)


def play_hands(seeds: Iterable[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pokerkit recommends other cards than we tell it
        for seed in seeds:
            try:
                Hand(seed).play()
            except Exception as error:
                raise AssertionError(f"hand {seed}: {error}") from error


def test_stud_hands_go_as_with_pokerkit() -> None:
    play_hands(range(150))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(SEEDS))
def test_many_stud_hands_go_as_with_pokerkit(part: int) -> None:
    """``BRELAN_POKERKIT_HANDS`` hands in all."""
    play_hands(range(1000 + part, 1000 + HANDS, SEEDS))
