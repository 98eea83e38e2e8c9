"""Both verifiers asked the same: the names of the checks that fail, ``unreadable`` alone when it is no record."""

import base64
import json
import subprocess
from collections.abc import Iterable

from brelan.deck.fair.record import RecordUnreadable
from brelan.deck.fair.verify import verify_record
from tests.fairness.hands import PUBLIC_KEY
from tests.requirements import PROJECT, need_program

SCRIPT = PROJECT / "services/gateway/brelan_gateway/web/verify_deal.js"
RUNNER = PROJECT / "tests/fairness/verify_lines.mjs"


def in_python(data: bytes) -> list[str]:
    try:
        return [check.name for check in verify_record(data, [PUBLIC_KEY]).checks if not check.ok]
    except RecordUnreadable:
        return ["unreadable"]


def in_javascript(records: Iterable[bytes]) -> list[list[str]]:
    node = need_program("node")
    lines = b"".join(base64.b64encode(record) + b"\n" for record in records)
    done = subprocess.run([node, RUNNER, SCRIPT, PUBLIC_KEY], input=lines, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]
