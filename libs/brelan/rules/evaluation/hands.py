"""The values of hands and boards, and the five cards that play.

Every card has a signature: a one in the octal digit of its rank, a one in the hexadecimal digit of its suit. The sum
over a hand counts both at once; the suit counts start at 3, so the top bit of one shows a flush. Without a flush the
rank counts decide alone, and what they are worth is remembered: there are 49,205 of them in seven cards.

Cards are distinct: that is for whoever deals them to see to, and not checked for every hand.
"""

from collections.abc import Iterable, Sequence
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple

from brelan.rules.cards import ACE, RANKS, deck, rank_of, suit_of
from brelan.rules.evaluation.values import HandValue, Level, value_of

_SUITS_AT = 40
_SIGNATURES = tuple(1 << 3 * rank_of(card) | 1 << _SUITS_AT + 4 * suit_of(card) for card in deck(52))
_NO_CARDS = 0x3333 << _SUITS_AT
_FLUSHES = 0x8888 << _SUITS_AT
_RANK_COUNTS = (1 << 3 * len(RANKS)) - 1


class Straight(NamedTuple):
    ranks: int  # one bit each
    top: int


class Ranking(NamedTuple):
    """What a deck makes of hands: D2 and D3 with 32 and 36 cards, S14 with 52."""

    lowest: int  # rank in the deck
    most_cards: int
    flush: Level
    straights: tuple[Straight, ...]  # the highest first


def _straights(lowest: int) -> tuple[Straight, ...]:
    """D3: the ace also plays directly below the lowest rank."""
    regular = (Straight(0b11111 << top - 4, top) for top in range(ACE, lowest + 3, -1))
    return (*regular, Straight(0b1111 << lowest | 1 << ACE, lowest + 3))


def _ranking(deck_size: int, most_cards: int, flush: Level) -> Ranking:
    lowest = rank_of(deck(deck_size)[0])
    return Ranking(lowest, most_cards, flush, _straights(lowest))


_RANKINGS = {
    32: _ranking(32, 5, Level.FLUSH_IN_DRAW),
    36: _ranking(36, 5, Level.FLUSH_IN_DRAW),
    52: _ranking(52, 7, Level.FLUSH),
}


def best_hand_stud(cards: Sequence[int]) -> HandValue:
    """S14: the value of the best five of five to seven cards of 52. ValueError when the cards are not such a hand."""
    counts = _NO_CARDS
    for card in cards:
        counts += _SIGNATURES[card]
    if counts & _FLUSHES:
        return _flush(_RANKINGS[52], cards, counts)
    return _WITHOUT_FLUSH[52](counts & _RANK_COUNTS)


def hand_value_standard_five(cards: Sequence[int]) -> HandValue:
    """The value of five cards of 52, standard ranking: five-card draw as others play it."""
    if len(cards) != 5:
        raise ValueError(f"a hand of five cards has five, not {len(cards)}")
    return best_hand_stud(cards)


def hand_value_draw(cards: Sequence[int], deck_size: int) -> HandValue:
    """D2, D3: the value of five cards of a 7-A deck of 32 or 36. ValueError when the cards are not such a hand."""
    if deck_size not in (32, 36):
        raise ValueError(f"7-A is played with 32 or 36 cards, not {deck_size}")
    counts = _NO_CARDS
    for card in cards:
        counts += _SIGNATURES[card]
    if counts & _FLUSHES:
        return _flush(_RANKINGS[deck_size], cards, counts)
    return _WITHOUT_FLUSH[deck_size](counts & _RANK_COUNTS)


def board_value(up_cards: Sequence[int]) -> HandValue:
    """S7: the value of one to four up cards, to compare with that of as many: no straights, no flushes."""
    if not 1 <= len(up_cards) <= 4:
        raise ValueError(f"a board has one to four up cards, not {len(up_cards)}")
    counts = 0
    for card in up_cards:
        counts += _SIGNATURES[card]
    return _board(counts & _RANK_COUNTS)


def best_five(cards: Sequence[int], deck_size: int) -> tuple[int, ...]:
    """The five cards that play, as a player would lay them out; of equal choices the higher suits, for display only.

    ``deck_size``: 32 or 36 for 7-A, 52 for the standard ranking. An ace that plays low comes last.
    """
    value_with = best_hand_stud if deck_size == 52 else partial(hand_value_draw, deck_size=deck_size)
    value_with(cards)  # refuses what is no hand
    five = max(combinations(sorted(cards, reverse=True), 5), key=value_with)
    return _laid_out(five, _RANKINGS[deck_size].straights[-1])


def _laid_out(five: tuple[int, ...], lowest_straight: Straight) -> tuple[int, ...]:
    """Fours, threes and pairs first, then by rank."""
    ranks = [rank_of(card) for card in five]
    low_ace = _bits(ranks) == lowest_straight.ranks

    def place(card: int) -> tuple[int, int, int]:
        rank = rank_of(card)
        return ranks.count(rank), -1 if low_ace and rank == ACE else rank, suit_of(card)

    return tuple(sorted(five, key=place, reverse=True))


def _flush(ranking: Ranking, cards: Sequence[int], counts: int) -> HandValue:
    """Five of a suit leave at most two cards, too few for a full house or four of a kind beside them."""
    _check(ranking, counts & _RANK_COUNTS)
    suit = next(suit for suit in range(4) if counts & 8 << _SUITS_AT + 4 * suit)
    ranks = sorted((rank_of(card) for card in cards if suit_of(card) == suit), reverse=True)
    top = _top_of_straight(ranking.straights, ranks)
    if top is None:
        return value_of(ranking.flush, ranks)
    if top == ACE:
        return value_of(Level.ROYAL_FLUSH, ())
    return value_of(Level.STRAIGHT_FLUSH, (top,))


def _without_flush(ranking: Ranking, counts: int) -> HandValue:
    _check(ranking, counts)
    return _by_ranks(counts, ranking.straights)


_WITHOUT_FLUSH = {size: cache(partial(_without_flush, ranking)) for size, ranking in _RANKINGS.items()}


@cache
def _board(counts: int) -> HandValue:
    return _by_ranks(counts, ())


def _by_ranks(counts: int, straights: tuple[Straight, ...]) -> HandValue:
    """The best of at most five cards by the number of each rank."""
    groups = sorted(((_count(counts, rank), rank) for rank in range(len(RANKS)) if _count(counts, rank)), reverse=True)
    ranks = sorted((rank for _, rank in groups), reverse=True)
    match groups:
        case [(4, four), *_]:
            return _made(Level.FOUR_OF_A_KIND, (four,), ranks, kickers=1)
        case [(3, three), (2 | 3, pair), *_]:
            return _made(Level.FULL_HOUSE, (three, pair), ranks, kickers=0)
    if (top := _top_of_straight(straights, ranks)) is not None:
        return value_of(Level.STRAIGHT, (top,))
    match groups:
        case [(3, three), *_]:
            return _made(Level.THREE_OF_A_KIND, (three,), ranks, kickers=2)
        case [(2, high), (2, low), *_]:
            return _made(Level.TWO_PAIR, (high, low), ranks, kickers=1)
        case [(2, pair), *_]:
            return _made(Level.ONE_PAIR, (pair,), ranks, kickers=3)
        case _:
            return value_of(Level.HIGH_CARD, ranks)


def _made(level: Level, of: tuple[int, ...], ranks: list[int], *, kickers: int) -> HandValue:
    others = [rank for rank in ranks if rank not in of]
    return value_of(level, (*of, *others[:kickers]))


def _top_of_straight(straights: tuple[Straight, ...], ranks: Iterable[int]) -> int | None:
    there = _bits(ranks)
    return next((straight.top for straight in straights if straight.ranks & ~there == 0), None)


def _bits(ranks: Iterable[int]) -> int:
    bits = 0
    for rank in ranks:
        bits |= 1 << rank
    return bits


def _count(counts: int, rank: int) -> int:
    return counts >> 3 * rank & 7


def _check(ranking: Ranking, counts: int) -> None:
    """ValueError when such cards are not in the deck, or too few or too many. Once per sum: a known one was right."""
    by_rank = [_count(counts, rank) for rank in range(len(RANKS))]
    if not 5 <= (number := sum(by_rank)) <= ranking.most_cards:
        raise ValueError(f"{number} cards are too {'few' if number < 5 else 'many'} for a hand")
    if max(by_rank) > 4:
        raise ValueError("a hand has at most four cards of a rank")
    if any(by_rank[: ranking.lowest]):
        raise ValueError(f"the lowest rank in this deck is {RANKS[ranking.lowest]}")
