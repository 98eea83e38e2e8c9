"""The operator's audit of every hand: from S and E, after the hand, all of it is computed anew.

And what the record says is held against what everybody saw: record and secrets are both the dealer's word.
"""

from collections.abc import Iterable, Sequence

from brelan.deck.dealing import DeckState, evolve
from brelan.deck.events import AnyDeckEvent, HandDrawn, Reshuffled, StreetDealt
from brelan.deck.fair.commitment import reshuffle_hash, secret_hash
from brelan.deck.fair.leaves import Epoch, base_epoch, cut, reshuffled, transcript
from brelan.deck.fair.record import Public
from brelan.events import table


def cards_and_thrown(events: Iterable[AnyDeckEvent]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """From the dealer's log of one hand: every card that left the deck, in its order, and what went into reshuffles."""
    cards: list[int] = []
    thrown: list[tuple[int, ...]] = []
    state: DeckState | None = None
    for event in events:
        if state is not None:
            match event:
                case Reshuffled():
                    is_stud = state.deck_size == 52
                    thrown.append(state.stub + state.burned if is_stud else state.discards)
                case StreetDealt(answer=answer):
                    dealt = answer.burned + sum(each.down + len(each.up) for each in answer.cards)
                    cards += state.stub[: 1 if answer.community is not None else dealt]
                case HandDrawn(answer=answer):
                    cards += state.stub[: answer.count]
                case _:
                    pass
        state = evolve(state, event)
    return tuple(cards), tuple(thrown)


def audit_hand(
    public: Public,
    secret: bytes,
    reshuffle_secrets: Sequence[bytes],
    cards: Sequence[int],
    thrown: Sequence[Sequence[int]] = (),
) -> list[str]:
    """The problems, as sentences that name no card.

    ``cards``: what was dealt, card by card as in ``public.deals``; ``thrown``: the cards that went into each reshuffle,
    as the dealer's log has them.
    """
    commitment = public.commitment
    problems = []
    if secret_hash(secret) != commitment.secret_hash:
        problems.append("The secret is not the one committed to.")
    if tuple(reshuffle_hash(each) for each in reshuffle_secrets) != commitment.reshuffle_hashes:
        problems.append("The reshuffle secrets are not those committed to.")
    base = base_epoch(secret, commitment.hand_id, commitment.cards)
    if base.root != commitment.root:
        problems.append("The root is not the one of the secret.")
    seeds = [(seed.seat, bytes.fromhex(seed.element)) for seed in public.seeds]
    cut_by = transcript(commitment, seeds)
    leaves = cut(commitment.cards, cut_by, seeds)
    epochs = [base]
    if len(thrown) != len(public.reshuffles) or len(thrown) > len(reshuffle_secrets):
        return [*problems, "The reshuffles are not those of the dealer's log."]
    for published, again, each in zip(public.reshuffles, thrown, reshuffle_secrets, strict=False):
        order = reshuffled(each, cut_by, commitment.hand_id, published.epoch, again)
        epochs.append(Epoch(secret, commitment.hand_id, published.epoch, order))
        if epochs[-1].root != published.root:
            problems.append(f"The root of reshuffle {published.epoch} is not the one of its secret.")
    if len(cards) != len(public.deals):
        return [*problems, "The cards dealt are not as many as the record says."]
    for deal, card in zip(public.deals, cards, strict=True):
        leaf = deal.position if deal.epoch else leaves[deal.position]
        if deal.leaf != leaf or epochs[deal.epoch].order[leaf] != card:
            problems.append(f"The card at place {deal.position} of epoch {deal.epoch} is another one.")
    return problems


def audit_log(public: Public, events: Iterable[table.TableEvent], cards: Sequence[int]) -> list[str]:
    """The problems, as sentences that name no card.

    ``events``: of the table's log, from the hand's start on; ``cards``: as for ``audit_hand``.
    """
    seen = _Seen(public.commitment.hand_id)
    for event in events:
        seen.take(event)
    dealt = list(zip(public.deals, cards, strict=False))
    seats = {deal.seat for deal in public.deals if deal.seat is not None}
    up = {seat: [card for deal, card in dealt if deal.seat == seat and deal.face == "up"] for seat in seats}
    held = {seat: {card for deal, card in dealt if deal.seat == seat} for seat in seats}
    counts = {seat: sum(deal.seat == seat for deal in public.deals) for seat in seats}
    checks = (
        (seen.commitment == _committed(public), "The commitment is not the one in the log."),
        (seen.seeds == {seed.seat: seed.element for seed in public.seeds}, "The seeds are not those in the log."),
        (seen.withheld == public.withheld, "Other seats withheld their seed."),
        (
            not seats or list(dict.fromkeys(d.seat for d in public.deals if d.seat is not None)) == seen.players,
            "The cards went round in another order.",
        ),
        (seen.counts == counts, "Not as many cards were dealt to everybody."),
        (seen.up == up, "The cards face up were other ones."),
        (seen.common == [card for deal, card in dealt if deal.face == "common"], "The community card was another one."),
        (all(shown <= held.get(seat, set()) for seat, shown in seen.shown), "A hand was shown that was not dealt."),
        (seen.roots == [each.root for each in public.reshuffles], "The reshuffles have other roots in the log."),
    )
    return [sentence for holds, sentence in checks if not holds]


def _committed(public: Public) -> tuple[object, ...]:
    of = public.commitment
    return of.seq, of.root, of.secret_hash, of.reshuffle_hashes, of.previous


class _Seen:
    """A hand as everybody saw it."""

    def __init__(self, hand_id: str) -> None:
        self._hand_id, self._is_on = hand_id, False
        self.players: list[int] = []
        self.commitment: tuple[object, ...] = ()
        self.seeds: dict[int, str] = {}
        self.withheld: tuple[int, ...] = ()
        self.counts: dict[int, int] = {}
        self.up: dict[int, list[int]] = {}
        self.common: list[int] = []
        self.shown: list[tuple[int, set[int]]] = []
        self.roots: list[str] = []

    def take(self, event: table.TableEvent) -> None:
        if isinstance(event, table.HandStarted):
            self._is_on = event.hand_id == self._hand_id
            self.players = [player.seat for player in event.players] if self._is_on else self.players
        elif self._is_on:
            self._take(event)

    def _take(self, event: table.TableEvent) -> None:
        match event:
            case table.DeckCommitted():
                hashes = tuple(each.hex() for each in event.reshuffle_hashes)
                fixed = event.root.hex(), event.secret_hash.hex(), hashes, event.previous.hex()
                self.commitment = (event.seq, *fixed)
            case table.SeedGiven():
                self.seeds[event.seat] = event.element.hex()
            case table.SeedsWithheld():
                self.withheld = tuple(sorted(event.seats))
            case table.CardsDealt():
                for cards in event.cards:
                    self._count(cards.seat, cards.down + len(cards.up))
                    self.up.setdefault(cards.seat, []).extend(cards.up)
                self.common += [] if event.community is None else [event.community]
            case table.CardsDrawn():
                self._count(event.seat, event.count)
            case table.HandShown():
                self.shown.append((event.hand.seat, set(event.hand.cards)))
            case _:
                pass
        if isinstance(event, table.CardsDealt | table.CardsDrawn) and event.reshuffled:
            self.roots.append(event.root.hex())

    def _count(self, seat: int, cards: int) -> None:
        self.counts[seat] = self.counts.get(seat, 0) + cards
