"""The operator's audit of every hand: from S and E, after the hand, all of it is computed anew."""

from collections.abc import Iterable, Sequence

from brelan.deck.dealing import DeckState, evolve
from brelan.deck.events import AnyDeckEvent, HandDrawn, Reshuffled, StreetDealt
from brelan.deck.fair.commitment import reshuffle_hash, secret_hash
from brelan.deck.fair.leaves import Epoch, base_epoch, cut, reshuffled, transcript
from brelan.deck.fair.record import Public


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
