"""The test vectors of docs/fairness.md, recomputed, and what a hand costs.

``python -m tests.fairness.vectors`` prints the blocks that stand in the document; with ``cost`` it measures.
"""

import json
import random
import sys
import time
from statistics import median
from typing import Any

from brelan.deck.fair.audit import audit_hand
from brelan.deck.fair.chains import chain_elements
from brelan.deck.fair.commitment import FIRST_PREVIOUS
from brelan.deck.fair.drbg import Drbg, hkdf
from brelan.deck.fair.hand import FairHand
from brelan.deck.fair.kept import commit
from brelan.deck.fair.leaves import Epoch, base_epoch, cut, leaf_hash, reshuffled, transcript
from brelan.deck.fair.record import encode
from brelan.deck.fair.verify import verify_record
from tests.fairness.hands import KEY, PUBLIC_KEY, Game, Player, kept_for, play

SECRET = bytes(range(32))
RESHUFFLE_SECRETS = (bytes(range(32, 64)), bytes(range(64, 96)))
CHAIN_SECRETS = (b"\xaa" * 32, b"\xbb" * 32)


def vectors() -> dict[str, Any]:
    """Every step of the protocol with fixed secrets."""
    chains = [chain_elements(secret, 2) for secret in CHAIN_SECRETS]
    seeds = [(0, chains[0][1]), (3, chains[1][1])]
    drbg = Drbg(hkdf(SECRET, b"t1-1", b"base"))
    found: dict[str, Any] = {
        "S": SECRET.hex(),
        "E": [secret.hex() for secret in RESHUFFLE_SECRETS],
        "dealer_private_key": bytes(range(32)).hex(),
        "dealer_key": PUBLIC_KEY,
        "chain_seat_0": [element.hex() for element in chains[0]],
        "chain_seat_3": [element.hex() for element in chains[1]],
        "hkdf_base": hkdf(SECRET, b"t1-1", b"base").hex(),
        "hkdf_salt": hkdf(SECRET, b"t1-1", b"salt").hex(),
        "drbg_of_hkdf_base_two_calls": [drbg.generate(64).hex(), drbg.generate(64).hex()],
    }
    for game, cards in (("draw", 32), ("draw", 36), ("stud", 52)):
        kept = commit(
            SECRET,
            RESHUFFLE_SECRETS,
            KEY,
            hand_id="t1-1",
            seq=1,
            table_id="t1",
            game=game,
            cards=cards,
            previous=FIRST_PREVIOUS,
        )
        base = base_epoch(SECRET, "t1-1", cards)
        cut_by = transcript(kept.commitment, seeds)
        again = (52 - cards, 40, 41, 45, 51)
        order = reshuffled(RESHUFFLE_SECRETS[0], cut_by, "t1-1", 1, again)
        opening = base.opening(7)
        found[str(cards)] = {
            "base": base.order,
            "leaf_7_card_salt_path": [opening.card, opening.salt, opening.path],
            "leaf_7": leaf_hash("t1-1", 0, 7, opening.card, bytes.fromhex(opening.salt)).hex(),
            "commitment": kept.commitment.encoded().hex(),
            "commitment_hash": kept.commitment.hash(),
            "signature": kept.signature,
            "transcript": cut_by.hex(),
            "cut": cut(cards, cut_by, seeds),
            "reshuffled_cards": again,
            "reshuffle_1_order": order,
            "reshuffle_1_root": Epoch(SECRET, "t1-1", 1, order).root,
        }
    answer: dict[str, Any] = json.loads(json.dumps(found))
    return answer


def example() -> bytes:
    """A short hand: two are dealt in, one folds at once; the record of seat 0."""
    chance = random.Random(1)
    kept = kept_for(chance, "draw", 32).seeded([Player.new(chance).seed(0)])
    game = Game(kept, (1, 0))
    game.street("deal", (1, 0))
    return encode(game.over().record(0))


def blocks() -> str:
    compact = json.dumps(vectors(), indent=1)
    for _ in range(3):  # lists of numbers on one line
        compact = compact.replace(",\n   ", ", ").replace("[\n   ", "[").replace("\n  ]", "]")
    return f"```json vectors\n{compact}\n```\n\n```json record\n{example().decode()}\n```\n"


def costs(hands: int = 2_000) -> str:
    chance = random.Random(3)
    spent: dict[str, list[float]] = {}

    def measured(name: str, began: float) -> None:
        spent.setdefault(name, []).append((time.perf_counter() - began) * 1000)

    for number in range(hands):
        game, cards, count = chance.choice((("draw", 32, 4), ("draw", 36, 5), ("stud", 52, 7)))
        seeds = [Player.new(chance).seed(seat) for seat in range(count)]
        began = time.perf_counter()
        kept = kept_for(chance, game, cards, hand_id=f"t1-{number}").seeded(seeds)
        measured("commit (base, salts, tree, signature)", began)
        began = time.perf_counter()
        FairHand(kept)
        measured("cut", began)
        played = play(chance, kept, tuple(range(count)))
        began = time.perf_counter()
        for seat in range(count):
            played.fair.own_openings(seat)
        played.fair.public()
        measured("tree again, openings of all seats, public part", began)
        began = time.perf_counter()
        record = played.record(0)
        measured("seal, one record with own openings", began)
        began = time.perf_counter()
        assert verify_record(encode(record), [PUBLIC_KEY]).ok
        measured("verify-hand (Python)", began)
        began = time.perf_counter()
        assert not audit_hand(played.public, kept.secret, kept.reshuffle_secrets, played.cards, played.thrown)
        measured("audit from S and E", began)
    return "\n".join(
        f"| {name} | {median(values):.2f} ms | {sorted(values)[len(values) * 99 // 100]:.2f} ms |"
        for name, values in spent.items()
    )


if __name__ == "__main__":
    sys.stdout.write(costs() if sys.argv[1:] == ["cost"] else blocks())
