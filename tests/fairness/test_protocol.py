"""What a dealer, a server or a player could try, with every signature right: which check says so."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from brelan.cli.verify_hand import verify_hand
from brelan.deck.dealing import DeckState, evolve
from brelan.deck.events import HandDrawn, HandsCompared, HandTurnedUp, StreetDealt
from brelan.deck.fair.audit import audit_hand, audit_log
from brelan.deck.fair.chains import SeedChain, SeedRefused, chain_elements
from brelan.deck.fair.commitment import FIRST_PREVIOUS, Signed, is_fraud_proof, sign
from brelan.deck.fair.drbg import sha256
from brelan.deck.fair.hand import FairDealError, FairHand, seal, void
from brelan.deck.fair.kept import Kept
from brelan.deck.fair.leaves import Epoch, leaf_hash, opens_to
from brelan.deck.fair.merkle import Tree
from brelan.deck.fair.record import Deal, Face, Public, Record, encode
from brelan.deck.fair.verify import verify_chain
from brelan.events import table
from tests.fairness.hands import KEY, PUBLIC_KEY, Played, Player, hand, kept_for, play
from tests.fairness.verifiers import in_javascript, in_python


def find(wanted: Callable[[Played], bool]) -> Played:
    for number in range(1000):
        played = hand(number)[1]
        if played and wanted(played):
            return played
    raise AssertionError("the corpus has no such hand")


def stud_hand() -> Played:
    return find(lambda played: played.public.commitment.game == "stud" and bool(played.public.reshuffles))


def draw_hand(cards: int = 36, reshuffles: int = 2) -> Played:
    return find(lambda played: played.public.commitment.cards == cards and len(played.public.reshuffles) == reshuffles)


def resigned(public: Public) -> Public:
    """The dealer itself lies: its signatures are right."""
    return replace(public, signature=sign(KEY, public.commitment.encoded()))


def fails(record: Record) -> set[str]:
    """In both verifiers alike."""
    data = encode(record)
    failed = in_python(data)
    assert in_javascript([data]) == [failed]
    return set(failed)


# --- the dealer -----------------------------------------------------------------------------------------------------


def test_a_deck_of_another_size_is_seen() -> None:
    played = draw_hand(32, 0)
    for cards in (36, 52):
        public = resigned(replace(played.public, commitment=replace(played.public.commitment, cards=cards)))
        assert {"deck", "cut"} <= fails(seal(public, KEY))
    # Even when the dealer deals honestly from it.
    kept = kept_for(random.Random(1), "draw", 36)
    assert fails(play(random.Random(2), kept, (0, 1)).record(0)) == {"deck"}


def test_cards_chosen_after_the_seeds_were_known_are_seen() -> None:
    played = stud_hand()
    other = replace(played.kept, secret=bytes(32))
    public = replace(FairHand(other).public(), deals=played.public.deals)
    swapped = FairHand(other)
    for event in played.events:
        swapped.follow(event)
    public = replace(swapped.public(), commitment=played.public.commitment)
    assert "openings" in fails(seal(public, KEY))


def test_a_card_from_another_place_is_seen() -> None:
    played = stud_hand()
    first, second, *rest = played.public.deals
    swapped = (replace(first, leaf=second.leaf), replace(second, leaf=first.leaf), *rest)
    assert "cut" in fails(seal(replace(played.public, deals=swapped), KEY))
    skipped = tuple(replace(deal, position=deal.position + 1) for deal in played.public.deals if deal.epoch == 0)
    assert "order" in fails(seal(replace(played.public, deals=skipped), KEY))


Order = Callable[[tuple[Deal, ...]], tuple[Deal, ...]]


def to_another_seat(first: int, second: int) -> Order:
    """Two cards of one round change their seats."""

    def change(deals: tuple[Deal, ...]) -> tuple[Deal, ...]:
        moved = list(deals)
        moved[first], moved[second] = (
            replace(deals[first], seat=deals[second].seat),
            replace(deals[second], seat=deals[first].seat),
        )
        return tuple(moved)

    return change


def faces(deals: tuple[Deal, ...], number: int, face: Face, seat: int | None) -> tuple[Deal, ...]:
    return (*deals[:number], replace(deals[number], face=face, seat=seat), *deals[number + 1 :])


def burned_later(deals: tuple[Deal, ...]) -> tuple[Deal, ...]:
    """The card that is burned for fourth street goes to a seat, and the next one is burned instead."""
    number = next(number for number, deal in enumerate(deals) if deal.face == "burned")
    return faces(faces(deals, number, "up", deals[number + 1].seat), number + 1, "burned", None)


def from_another_seat_on(deals: tuple[Deal, ...]) -> tuple[Deal, ...]:
    """Every card goes to the next seat instead."""
    seats = sorted({deal.seat for deal in deals if deal.seat is not None})
    after = dict(zip(seats, (*seats[1:], seats[0]), strict=True))
    return tuple(deal if deal.seat is None else replace(deal, seat=after[deal.seat]) for deal in deals)


@pytest.mark.parametrize(
    ("game", "order"),
    [
        ("draw", to_another_seat(0, 1)),
        ("draw", to_another_seat(5, 7)),
        ("draw", to_another_seat(0, 2)),
        ("stud", to_another_seat(0, 1)),
        ("stud", to_another_seat(8, 9)),
        ("stud", burned_later),
        ("stud", from_another_seat_on),
    ],
)
def test_whose_a_card_is_does_not_lie_with_the_dealer_who_knows_which_it_is(game: str, order: Order) -> None:
    played = draw_hand() if game == "draw" else find(lambda played: played.public.commitment.game == "stud")
    public = replace(played.public, deals=order(played.public.deals), openings=())
    assert "order" in fails(seal(public, KEY))


def test_two_commitments_for_one_hand_are_a_proof_of_fraud() -> None:
    one, other = (kept_for(random.Random(seed), "stud", 52) for seed in (1, 2))
    a, b = (Signed(kept.commitment, kept.signature) for kept in (one, other))
    assert is_fraud_proof(a, b, PUBLIC_KEY)
    assert not is_fraud_proof(a, a, PUBLIC_KEY)
    assert not is_fraud_proof(a, replace(b, signature=a.signature), PUBLIC_KEY)
    later = kept_for(random.Random(3), "stud", 52, hand_id="t1-2", seq=2)
    assert not is_fraud_proof(a, Signed(later.commitment, later.signature), PUBLIC_KEY)


def test_a_phantom_commitment_is_seen_by_who_answered_another() -> None:
    """His seed is taken for hand A; then hand B is dealt with it."""
    chance = random.Random(5)
    answered, dealt = (kept_for(chance, "stud", 52, hand_id=hand_id) for hand_id in ("t1-A", "t1-B"))
    seed = Player.new(chance).seed(0)
    played = play(chance, dealt.seeded([seed]), (0, 1))
    assert fails(played.record(0)) == set()
    own = replace(played.own(0), answered=answered.commitment.hash())
    assert fails(seal(played.public, KEY, own)) == {"own"}


def test_a_seed_left_out_is_seen_by_its_player() -> None:
    chance = random.Random(6)
    kept = kept_for(chance, "stud", 52)
    seeds = [Player.new(chance).seed(seat) for seat in (0, 1)]
    played = play(chance, kept.seeded(seeds[1:]), (0, 1))
    own = replace(played.own(0), answered=kept.commitment.hash(), element=seeds[0].element)
    assert fails(seal(played.public, KEY, own)) == {"own"}


def test_more_reshuffles_than_were_committed_to_are_refused() -> None:
    played = stud_hand()
    commitment = replace(played.public.commitment, reshuffle_hashes=())
    assert "order" in fails(seal(resigned(replace(played.public, commitment=commitment)), KEY))
    with pytest.raises(FairDealError, match="binds 0 reshuffles"):
        _followed(replace(played.kept, reshuffle_secrets=()), played, 1).shuffle((1, 2))


def _followed(kept: Kept, played: Played, events: int) -> FairHand:
    fair = FairHand(kept)
    for event in played.events[:events]:
        fair.follow(event)
    return fair


def log_of(played: Played) -> list[table.TableEvent]:
    """What the table logs of it, as far as an auditor looks."""
    public, of = played.public, played.kept.commitment
    seats = dict.fromkeys(deal.seat for deal in public.deals if deal.seat is not None)
    fixed = [
        bytes.fromhex(each)
        for each in (of.root, of.secret_hash, of.previous, of.hash(), public.signature, public.dealer_key)
    ]
    root, secret, previous, *signed = fixed
    hashes = tuple(map(bytes.fromhex, of.reshuffle_hashes))
    events: list[table.TableEvent] = [
        table.HandStarted("t1-0-1", 1, of.cards, ()),
        table.HandStarted(of.hand_id, 2, of.cards, tuple(table.HandSeat(seat, "", "", 1) for seat in seats)),
        table.DeckCommitted("r", of.hand_id, of.seq, root, secret, hashes, previous, *signed),
        *(table.SeedGiven(seed.seat, bytes.fromhex(seed.element)) for seed in public.seeds),
    ]
    roots = iter(public.reshuffles)
    for event in played.events:
        match event:
            case StreetDealt(answer=answer) | HandDrawn(answer=answer):
                events.append(replace(answer, root=bytes.fromhex(next(roots).root) if answer.reshuffled else b""))
            case HandsCompared(answer=compared):
                events += map(table.HandShown, compared.hands)
            case HandTurnedUp(answer=turned_up):
                events.append(turned_up)
            case _:
                pass
    return [*events, table.HandStarted("t1-0-3", 3, 52, ()), table.SeedGiven(1, bytes(32))]


def other_card(event: table.TableEvent) -> table.TableEvent:
    """Seen at the table, whatever the record says afterwards."""
    match event:
        case table.CardsDealt(cards=(table.SeatCards(up=(card,)) as first, *rest)):
            return replace(event, cards=(replace(first, up=((card + 1) % 52,)), *rest))
        case table.CardsDealt(community=int(card)):
            return replace(event, community=(card + 1) % 52)
        case _:
            return event


def lied(kind: type, **changes: Any) -> Callable[[table.TableEvent], table.TableEvent]:
    return lambda event: replace(event, **changes) if isinstance(event, kind) else event


def test_a_record_of_what_was_seen_at_the_table_is_right() -> None:
    for number in range(100):
        if played := hand(number)[1]:
            assert audit_log(played.public, log_of(played), played.cards) == [], number


@pytest.mark.parametrize(
    ("lie", "trouble"),
    [
        (other_card, "face up"),
        (lied(table.DeckCommitted, root=bytes(32)), "commitment"),
        (lied(table.DeckCommitted, seq=9), "commitment"),
        (lied(table.SeedGiven, element=bytes(32)), "seeds"),
        (lied(table.HandStarted, players=()), "another order"),
        (lied(table.HandShown, hand=table.ShownHand(1, (0, 52), (), "pair")), "shown"),
        (lied(table.CardsDealt, root=bytes(32)), "roots"),
    ],
)
def test_the_auditor_sees_that_other_cards_were_dealt_than_the_dealer_says_afterwards(
    lie: Callable[[table.TableEvent], table.TableEvent], trouble: str
) -> None:
    played = find(
        lambda played: bool(played.kept.seeds) and bool(played.public.reshuffles) and played.state.deck_size == 52
    )
    found = audit_log(played.public, map(lie, log_of(played)), played.cards)
    assert any(trouble in sentence for sentence in found), found
    assert fails(played.record(None)) == set(), "from the record alone nobody sees it"


# --- the players ----------------------------------------------------------------------------------------------------


def test_a_chain_gives_each_element_once_and_in_order() -> None:
    elements = chain_elements(b"x" * 32, 3)
    chain = SeedChain(elements[0]).accept(elements[1])
    for wrong in (elements[1], elements[0], elements[3], b"", b"y" * 32):
        with pytest.raises(SeedRefused):
            chain.accept(wrong)
    assert chain.accept(elements[2]).accept(elements[3]).index == 3


def test_a_withheld_seed_voids_the_hand_and_publishes_the_secret() -> None:
    chance = random.Random(7)
    kept = kept_for(chance, "draw", 36).seeded([Player.new(chance).seed(1)])
    public = void(kept, [3])
    assert fails(seal(public, KEY)) == set()
    assert "outcome" in fails(seal(replace(public, secret="00" * 32), KEY))
    assert "outcome" in fails(seal(replace(public, secret=None), KEY))
    assert "outcome" in fails(seal(replace(public, withheld=()), KEY))
    assert "outcome" in fails(seal(replace(public, withheld=(1,)), KEY))
    played = play(chance, kept, (0, 1, 2, 3, 4))
    assert "outcome" in fails(seal(replace(played.public, withheld=(3,)), KEY))


def test_a_table_s_hands_follow_each_other() -> None:
    chance = random.Random(8)
    players = {seat: Player.new(chance) for seat in (0, 2)}
    previous, publics = FIRST_PREVIOUS, []
    for seq in range(1, 5):
        kept = kept_for(chance, "stud", 52, hand_id=f"t1-{seq}", seq=seq, previous=previous)
        kept = kept.seeded([player.seed(seat) for seat, player in players.items()])
        publics.append(void(kept, [1]) if seq == 2 else play(chance, kept, (0, 1, 2)).public)
        previous = kept.commitment.hash()
    assert verify_chain(publics).ok
    assert not verify_chain(publics[:1] + publics[2:]).ok, "a missing commitment"
    assert not verify_chain([publics[0], replace(publics[1], seeds=publics[0].seeds), *publics[2:]]).ok, (
        "a replayed seed"
    )
    again = tuple(replace(seed, index=1) for seed in publics[0].seeds)
    assert not verify_chain([publics[0], replace(publics[1], seeds=again), *publics[2:]]).ok, "replayed as a new chain"
    other = replace(publics[1], commitment=replace(publics[1].commitment, root="00" * 32))
    assert not verify_chain([publics[0], other, *publics[2:]]).ok, "another commitment in between"


# --- what stays hidden ----------------------------------------------------------------------------------------------


def test_nothing_in_a_record_lets_a_guess_be_tested() -> None:
    """No salt of an unopened leaf, and no secret that leads to one, stands in the record: sought in all its bytes."""
    for played in (stud_hand(), draw_hand()):
        for seat in (None, *played.state.hands):
            record = played.record(seat)
            data = encode(record)
            own = record.own.openings if record.own else ()
            opened = {(each.epoch, each.leaf) for each in (*record.public.openings, *own)}
            for epoch in played.fair._epochs:
                for leaf in range(len(epoch.order)):
                    salt = epoch.opening(leaf).salt.encode()
                    assert (salt in data) == ((epoch.epoch, leaf) in opened)
            for secret in (played.kept.secret, *played.kept.reshuffle_secrets):
                assert secret.hex().encode() not in data
        assert len(played.public.openings) < len(played.public.deals), "a hand with nothing hidden shows nothing"


def test_what_must_stay_hidden_is_not_opened() -> None:
    played = stud_hand()
    burned = next(deal for deal in played.public.deals if deal.face == "burned")
    more = (*played.public.openings, played.fair._epochs[0].opening(burned.leaf))
    assert fails(seal(replace(played.public, openings=more), KEY)) == {"disclosure"}
    less = played.public.openings[1:]
    assert fails(seal(replace(played.public, openings=less), KEY)) == {"disclosure"}
    other = replace(played.own(0), openings=played.fair.own_openings(1))
    assert fails(seal(played.public, KEY, other)) == {"disclosure"}


def test_salts_are_fresh_in_every_epoch_and_secrets_are_not_printed() -> None:
    played = draw_hand()
    salts = [epoch.opening(leaf).salt for epoch in played.fair._epochs for leaf in range(len(epoch.order))]
    assert len(salts) == len(set(salts))
    assert repr(played.kept) == "<Kept>"


@pytest.mark.parametrize("size", range(1, 53))
def test_every_leaf_of_every_tree_opens_and_only_in_its_place(size: int) -> None:
    """Odd sizes too: a reshuffle may have any number of cards."""
    epoch = Epoch(b"s" * 32, "h", 1, range(size))
    for leaf in range(size):
        opening = epoch.opening(leaf)
        assert opens_to(opening, "h", size, epoch.root)
        assert not opens_to(replace(opening, leaf=(leaf + 1) % 53), "h", size, epoch.root)
        assert not opens_to(replace(opening, path=(*opening.path, "00" * 32)), "h", size, epoch.root)
        assert not opens_to(opening, "g", size, epoch.root)
    assert Tree([leaf_hash("h", 1, 0, 0, b"")]).root == leaf_hash("h", 1, 0, 0, b"")


def test_the_tree_has_the_shape_of_the_rfc() -> None:
    def root(leaves: list[bytes]) -> bytes:
        if len(leaves) == 1:
            return leaves[0]
        half = 1 << ((len(leaves) - 1).bit_length() - 1)
        return sha256(b"\x01", root(leaves[:half]), root(leaves[half:]))

    for size in range(1, 70):
        leaves = [sha256(bytes((number,))) for number in range(size)]
        assert Tree(leaves).root == root(leaves)


# --- the dealer goes on, the operator audits --------------------------------------------------------------------------


def test_a_dealer_that_takes_over_continues_with_the_same_hand() -> None:
    """Killed after any event: what was kept and the deck's log lead to the same cards, roots and openings."""
    encoder, decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Kept)
    for played in (stud_hand(), draw_hand()):
        kept = decoder.decode(encoder.encode(played.kept))
        for died in range(len(played.events) + 1):
            fair = _followed(kept, played, died)
            for event in played.events[died:]:
                fair.follow(event)
            assert fair.public() == played.public
        state: DeckState | None = None
        for event in played.events:
            state = evolve(state, event)
        assert state == played.state


def audited(played: Played, **changes: object) -> list[str]:
    kept = played.kept
    arguments = {"secret": kept.secret, "reshuffle_secrets": kept.reshuffle_secrets, "cards": played.cards} | changes
    return audit_hand(played.public, **arguments, thrown=played.thrown)  # type: ignore[arg-type]


def test_the_audit_recomputes_every_card() -> None:
    for number in range(300):
        played = hand(number)[1]
        if played:
            assert audited(played) == []


def test_the_audit_finds_what_the_public_cannot() -> None:
    played = stud_hand()
    assert audited(played, secret=bytes(32))
    assert audited(played, reshuffle_secrets=(bytes(32), bytes(32)))
    assert audited(played, cards=[played.cards[1], played.cards[0], *played.cards[2:]])
    assert audited(played, cards=played.cards[1:])
    # A root of a reshuffle that does not follow from the secret.
    roots = (replace(played.public.reshuffles[0], root="00" * 32),)
    forged = replace(played.public, reshuffles=roots)
    kept = played.kept
    assert audit_hand(forged, kept.secret, kept.reshuffle_secrets, played.cards, played.thrown)


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_says_ok_wrong_or_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "hand.json"
    record = encode(stud_hand().record(1))
    run = CliRunner().invoke
    file.write_bytes(record)
    answer = run(verify_hand, [str(file), "--json", "--key", PUBLIC_KEY])
    report = msgspec.json.decode(answer.stdout)
    assert (answer.exit_code, report["ok"], list(report)) == (0, True, ["ok", "hand_id", "checks"])
    assert run(verify_hand, [str(file)]).exit_code == 0
    assert run(verify_hand, [str(file), "--key", "00" * 32]).exit_code == 1
    file.write_bytes(record.replace(b'"face":"up"', b'"face":"down"', 1))
    answer = run(verify_hand, [str(file), "--json"])
    assert (answer.exit_code, msgspec.json.decode(answer.stdout)["ok"]) == (1, False)
    for wrong in (b"", b"[]", b"{", record[:-1], b"\xff"):
        file.write_bytes(wrong)
        assert run(verify_hand, [str(file), "--json"]).exit_code == 2
    assert run(verify_hand, [str(tmp_path / "none")]).exit_code == 2
