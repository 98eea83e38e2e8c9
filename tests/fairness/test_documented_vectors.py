"""docs/fairness.md cannot rot: vectors recomputed, its record verified, its fields and checks the real ones."""

import json
import re

from brelan.deck.fair.commitment import Commitment
from brelan.deck.fair.leaves import Opening
from brelan.deck.fair.record import Deal, Own, Public, Record, Reshuffle, Seed
from brelan.deck.fair.verify import verify_record
from tests.fairness.hands import PUBLIC_KEY
from tests.fairness.vectors import example, vectors
from tests.fairness.verifiers import in_javascript
from tests.requirements import PROJECT

DOCUMENT = (PROJECT / "docs/fairness.md").read_text()


def block(name: str) -> str:
    found = re.search(rf"^```json {name}\n(.*?)\n```$", DOCUMENT, re.DOTALL | re.MULTILINE)
    assert found, f"docs/fairness.md has no block {name}"
    return found[1]


def test_the_vectors_are_what_the_code_computes() -> None:
    assert json.loads(block("vectors")) == vectors()


def test_the_record_verifies_in_both() -> None:
    record = block("record").encode()
    assert record == example()
    assert verify_record(record, [PUBLIC_KEY]).ok
    assert in_javascript([record]) == [[]]


def test_every_field_and_every_check_is_described() -> None:
    structs = (Record, Public, Commitment, Seed, Reshuffle, Deal, Opening, Own)
    fields = {field for struct in structs for field in struct.__struct_fields__}
    checks = {check.name for check in verify_record(example(), [PUBLIC_KEY]).checks}
    missing = [name for name in sorted(fields | checks) if f"`{name}`" not in DOCUMENT]
    assert not missing
