"""A record checked, from what it says and the dealer's public key alone. The verifier in JavaScript shares nothing.

Every check answers with a sentence. What no check can say stands in docs/fairness.md.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from brelan.deck.fair.commitment import FIRST_PREVIOUS, GAMES, is_signed, secret_hash
from brelan.deck.fair.drbg import sha256
from brelan.deck.fair.leaves import Opening, base_epoch, cut, opens_to, transcript
from brelan.deck.fair.record import Public, Record, encode, read, sealed_bytes
from brelan.rules.cards import deck

_STUD_FACES = ("down", "down", "up", "up", "up", "up", "down")


class Check(Struct, frozen=True):
    name: str
    ok: bool
    sentence: str


class Report(Struct, frozen=True):
    ok: bool
    hand_id: str
    checks: tuple[Check, ...]


class Broken(Exception):
    """A check that failed. The message is its sentence."""


class Place(NamedTuple):
    epoch: int
    leaf: int


def verify_record(data: bytes, dealer_public_keys: Collection[str] = ()) -> Report:
    """``dealer_public_keys`` in hexadecimal; without any, the record's own is taken. Raises RecordUnreadable."""
    record = read(data)
    checks: tuple[tuple[str, str, Callable[[], None]], ...] = (
        ("canonical", "The record is in its one form.", lambda: _canonical(data, record)),
        ("dealer_key", _key_sentence(dealer_public_keys), lambda: _dealer_key(record, dealer_public_keys)),
        ("commitment", "The commitment carries the dealer's signature.", lambda: _commitment(record.public)),
        ("seal", "The public part carries the dealer's signature.", lambda: _seal(record)),
        ("deck", "The deck has the size that the game asks for.", lambda: _deck(record.public)),
        ("seeds", "Every seed is the next element of its chain.", lambda: _seeds(record.public)),
        ("outcome", "What the record holds fits how the hand ended.", lambda: _outcome(record.public)),
        ("cut", "Every card dealt is the one that commitment and seeds determine.", lambda: _cut(record.public)),
        (
            "order",
            "The cards left the deck one after the other, by the rules of the game.",
            lambda: _order(record.public),
        ),
        ("openings", "Every opened card was fixed before the seeds were known.", lambda: _openings(record)),
        ("disclosure", "What must be open is open, and nothing else.", lambda: _disclosure(record)),
        ("own", "Your own part belongs to this hand.", lambda: _own(record)),
    )
    done = tuple(_run(name, sentence, check) for name, sentence, check in checks)
    return Report(all(check.ok for check in done), record.public.commitment.hand_id, done)


def verify_chain(publics: Sequence[Public]) -> Report:
    """A table's hands from its first one on: no commitment missing, every seed chain goes on where it was."""
    try:
        previous, epoch, seq = FIRST_PREVIOUS, "", 0
        tips: dict[int, tuple[int, str]] = {}
        for number, public in enumerate(publics, 1):
            commitment = public.commitment
            if commitment.table_id != epoch:  # another epoch counts from 1, and knows no chain
                epoch, seq, tips = commitment.table_id, 0, {}
            seq += 1
            _demand(commitment.seq == seq, f"Commitment {seq} of {epoch} is missing.")
            _demand(commitment.previous == previous, f"Commitment {seq} of {epoch} does not follow the one before.")
            _demand(_table(epoch) == _table(publics[0].commitment.table_id), "Not all hands are of one table.")
            previous = commitment.hash()
            for seed in public.seeds:
                # A new chain begins when a player sits down: at its tip.
                _demand(
                    seed.index == 1 or tips.get(seed.seat) == (seed.index - 1, seed.previous),
                    f"The seed of seat {seed.seat} in hand {commitment.hand_id} does not follow its last one.",
                )
                tips[seed.seat] = (seed.index, seed.element)
            used = [seed.element for each in publics[:number] for seed in each.seeds]
            _demand(len(used) == len(set(used)), "A seed was used twice.")
    except Broken as broken:
        return Report(False, "", (Check("chain", False, str(broken)),))
    return Report(True, "", (Check("chain", True, "No commitment is missing, and no seed was used twice."),))


def _table(name: str) -> str:
    """Without its epoch."""
    return name.rpartition("-")[0]


def _run(name: str, sentence: str, check: Callable[[], None]) -> Check:
    try:
        check()
    except Broken as broken:
        return Check(name, False, str(broken))
    return Check(name, True, sentence)


def _demand(holds: bool, sentence: str) -> None:
    if not holds:
        raise Broken(sentence)


# --- form and signatures -------------------------------------------------------------------------------------------


def _canonical(data: bytes, record: Record) -> None:
    _demand(encode(record) == data, "The same is written in another way: spaces, order or names of fields, numbers.")


def _key_sentence(keys: Collection[str]) -> str:
    if keys:
        return "The dealer's key is one that you trust."
    return "The dealer's key is the one in the record: compare it with the one the room publishes."


def _dealer_key(record: Record, keys: Collection[str]) -> None:
    _demand(not keys or record.public.dealer_key in keys, "The dealer's key is none of those that you trust.")


def _commitment(public: Public) -> None:
    signed = is_signed(public.dealer_key, public.signature, public.commitment.encoded())
    _demand(signed, "The commitment's signature is wrong.")


def _seal(record: Record) -> None:
    signed = is_signed(record.public.dealer_key, record.seal, sealed_bytes(record.public))
    _demand(signed, "The signature of the public part is wrong.")


# --- before the cards ----------------------------------------------------------------------------------------------


def _deck(public: Public) -> None:
    game, cards = public.commitment.game, public.commitment.cards
    _demand(cards in GAMES.get(game, ()), f"{game} is not played with {cards} cards.")
    players = len({deal.seat for deal in public.deals if deal.seat is not None})
    if game == "draw" and players:
        _demand((cards == 36) == (players == 5), f"{players} players are not dealt in with {cards} cards (D1).")


def _seeds(public: Public) -> None:
    seats = [seed.seat for seed in public.seeds]
    _demand(seats == sorted(set(seats)), "The seeds do not stand by seat, one each.")
    for seed in public.seeds:
        _demand(seed.index > 0, f"The seed of seat {seed.seat} is its chain's tip.")
        hashed = sha256(bytes.fromhex(seed.element)).hex()
        _demand(hashed == seed.previous, f"The seed of seat {seed.seat} is not the next one of its chain.")


def _outcome(public: Public) -> None:
    commitment = public.commitment
    if public.outcome == "played":
        _demand(not public.withheld, "A hand was played though a seat withheld its seed.")
        _demand(public.secret is None, "The secret of a hand that was played is published.")
        _demand(public.transcript is not None, "A hand was played without a transcript.")
        return
    empty = public.transcript is None and not (public.reshuffles or public.deals or public.openings)
    _demand(empty, "A void hand has cards.")
    _demand(bool(public.withheld), "A hand is void though no seat withheld its seed.")
    _demand(list(public.withheld) == sorted(set(public.withheld)), "The seats without a seed do not stand by number.")
    both = set(public.withheld) & {seed.seat for seed in public.seeds}
    _demand(not both, "A seat gave its seed and is said to have withheld it.")
    secret = bytes.fromhex(public.secret or "")
    _demand(secret_hash(secret) == commitment.secret_hash, "The published secret is not the one committed to.")
    if commitment.cards in (32, 36, 52):
        root = base_epoch(secret, commitment.hand_id, commitment.cards).root
        _demand(root == commitment.root, "The published secret does not lead to the root committed to.")


# --- the cards -----------------------------------------------------------------------------------------------------


def _cut(public: Public) -> None:
    if public.outcome == "void":
        return
    seeds = [(seed.seat, bytes.fromhex(seed.element)) for seed in public.seeds]
    recomputed = transcript(public.commitment, seeds)
    _demand(recomputed.hex() == public.transcript, "The transcript is not the one of this commitment and these seeds.")
    _demand(2 <= public.commitment.cards <= 52, "There is no such deck.")
    leaves = cut(public.commitment.cards, recomputed, seeds)
    for deal in public.deals:
        size = _sizes(public).get(deal.epoch, 0)
        _demand(deal.position < size, f"There is no place {deal.position} in epoch {deal.epoch}.")
        expected = deal.position if deal.epoch else leaves[deal.position]
        _demand(deal.leaf == expected, f"The card at place {deal.position} of epoch {deal.epoch} is another leaf's.")


def _sizes(public: Public) -> dict[int, int]:
    return {0: public.commitment.cards} | {each.epoch: each.cards for each in public.reshuffles}


def _order(public: Public) -> None:
    epochs = [each.epoch for each in public.reshuffles]
    _demand(epochs == list(range(1, len(epochs) + 1)), "The reshuffles are not numbered from 1 on.")
    _demand(len(epochs) <= len(public.commitment.reshuffle_hashes), "There are more reshuffles than were committed to.")
    _demand(
        sorted({deal.epoch for deal in public.deals} | {0}) == [0, *epochs], "A reshuffle and its cards do not match."
    )
    if public.commitment.game == "stud":
        _stud_order(public)
    else:
        _draw_order(public)
    _in_turn(public)


def _consecutive(public: Public) -> Iterator[tuple[int, bool]]:
    """Number of each deal, and whether it is the first one of a new epoch."""
    epoch, position = 0, 0
    for number, deal in enumerate(public.deals):
        begins = deal.epoch == epoch + 1 and deal.position == 0
        follows = (deal.epoch, deal.position) == (epoch, position)
        _demand(begins or follows, f"Card {number + 1} did not lie on top.")
        epoch, position = deal.epoch, deal.position + 1
        yield number, begins


def _stud_order(public: Public) -> None:
    held: dict[int, int] = {}
    sizes = _sizes(public)
    street, burned = 2, False  # cards that a seat had before this street; whether one was burned for the next
    for number, begins in _consecutive(public):
        deal = public.deals[number]
        if begins:
            remaining = public.commitment.cards - sum(held.values())
            _demand(deal.epoch == 1 and sizes[1] == remaining, "The reshuffle has another number of cards (S10).")
        _demand(
            (deal.seat is None) == (deal.face in {"burned", "common"}), "A card went to nobody, or a burn to a seat."
        )
        if deal.face == "burned":
            _demand(deal.epoch == 0, "A card was burned after the reshuffle (S10).")
            _demand(not burned, "Two cards were burned for one street (S6).")
            burned = True
        elif deal.face == "common":
            last = number == len(public.deals) - 1
            _demand(begins and last, "The community card is not the only one after the reshuffle (S10).")
        elif deal.seat is not None:
            count = held.get(deal.seat, 0)
            due = count > street and deal.epoch == 0
            _demand(burned == due, "A card is burned before every later street, and at no other time (S6).")
            street, burned = max(street, count), False
            _demand(count < 7 and deal.face == _STUD_FACES[count], f"A card of seat {deal.seat} lies the wrong way up.")
            held[deal.seat] = count + 1
    _demand(not burned, "A card is burned before every later street, and at no other time (S6).")


def _draw_order(public: Public) -> None:
    held: dict[int, int] = {}
    sizes = _sizes(public)
    reshuffled = 0
    for number, begins in _consecutive(public):
        deal = public.deals[number]
        _demand(deal.seat is not None and deal.face == "down", "In draw every card goes to a seat, face down.")
        if begins:
            _demand(number > 0, "The first card comes from a reshuffle.")
            _demand(public.deals[number - 1].position + 1 == sizes[deal.epoch - 1], "The stub was not used up (D11).")
            thrown = sum(count - 5 for seat, count in held.items() if seat != deal.seat) - reshuffled
            _demand(sizes[deal.epoch] == thrown, "The reshuffle has another number of cards (D11).")
            reshuffled += thrown
        if deal.seat is not None:
            held[deal.seat] = held.get(deal.seat, 0) + 1
            _demand(held[deal.seat] <= 10, f"Seat {deal.seat} got more than ten cards.")


def _in_turn(public: Public) -> None:
    """D9, D10, S3: whose the next card is does not lie with the dealer, who knows which one it is. Each round begins at
    the same seat, and goes clockwise."""
    seats = [deal.seat for deal in public.deals if deal.seat is not None]
    around = list(dict.fromkeys(seats))
    stud = public.commitment.game == "stud"
    lowest = around.index(min(around)) if around else 0
    _demand(around[lowest:] + around[:lowest] == sorted(around), "The cards did not go round clockwise.")
    _demand(not stud or lowest == 0, "The first card did not go to the lowest seat (S1).")
    whole, held = 3 if stud else 5, dict.fromkeys(around, 0)
    last: tuple[int, ...] = ()
    for seat in seats:
        place, count = around.index(seat), held[seat]
        turn = (count, place) if stud or count < whole else (whole, place, count)
        _demand(turn > last, f"A card went to seat {seat} out of turn.")
        last, held[seat] = turn, count + 1
    _demand(all(count >= whole for count in held.values()), "Not everybody was dealt as many cards.")


def _all_openings(record: Record) -> list[Opening]:
    """Public and own ones, a card that is in both once."""
    own = record.own.openings if record.own else ()
    public = record.public.openings
    return [*public, *(opening for opening in own if opening not in public)]


def _openings(record: Record) -> None:
    public = record.public
    commitment, sizes = public.commitment, _sizes(public)
    roots = {0: commitment.root} | {each.epoch: each.root for each in public.reshuffles}
    for opening in _all_openings(record):
        _demand(opening.epoch in roots, f"A card is opened in epoch {opening.epoch}, which is not there.")
        _demand(
            opens_to(opening, commitment.hand_id, sizes[opening.epoch], roots[opening.epoch]),
            f"The opening of leaf {opening.leaf} of epoch {opening.epoch} does not lead to its root.",
        )
        in_deck = commitment.cards in (32, 36, 52) and opening.card in deck(commitment.cards)
        _demand(in_deck, f"Card {opening.card} is not in the deck.")
    cards = [(opening.epoch, opening.card) for opening in _all_openings(record)]
    _demand(len(cards) == len(set(cards)), "A card is opened twice.")


def _disclosure(record: Record) -> None:
    public = record.public
    dealt = {Place(deal.epoch, deal.leaf): deal for deal in public.deals}
    opened = [Place(opening.epoch, opening.leaf) for opening in public.openings]
    _demand(len(opened) == len(set(opened)), "A leaf is opened twice.")
    for place in opened:
        _demand(place in dealt and dealt[place].face != "burned", "A leaf is open that was dealt to nobody.")
    for place, deal in dealt.items():
        _demand(deal.face not in {"up", "common"} or place in opened, "A card dealt face up is not opened.")
    if record.own is None:
        return
    seat = record.own.seat
    own = [Place(opening.epoch, opening.leaf) for opening in record.own.openings]
    expected = [place for place, deal in dealt.items() if deal.seat == seat]
    _demand(own == expected, "Your part does not open exactly the cards dealt to you, in their order.")


def _own(record: Record) -> None:
    own = record.own
    if own is None:
        return
    given = {seed.seat: seed.element for seed in record.public.seeds}.get(own.seat)
    _demand(own.element == given, "The seed of your seat is not the one you gave.")
    hash_ = record.public.commitment.hash() if given else None
    _demand(own.answered == hash_, "The commitment is not the one you answered with your seed.")
