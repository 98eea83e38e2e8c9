"""What lies in databases for years is still read: the bytes as they were first written.

Never change a file in ``golden``; a new shape gets a new one beside it.
"""

from pathlib import Path

from brelan.histories.hand import decode_history
from brelan.histories.table import decode_mark
from tests.histories.hands import STUD, TABLE, hand_id

GOLDEN = Path(__file__).parent / "golden"


def golden(name: str) -> bytes:
    return bytes.fromhex((GOLDEN / f"{name}.hex").read_text().strip())


def test_histories_of_the_first_version_are_read() -> None:
    stud, draw = decode_history(golden("stud_hand")), decode_history(golden("draw_hand"))
    assert (stud.hand_id, stud.game, stud.pot, stud.rake) == (hand_id(1), "stud", 520, 26)
    assert [(player.seat, player.result, player.disclosable) for player in stud.players] == [
        (2, -240, True),
        (4, 254, False),
        (5, -40, False),
    ]
    assert (len(stud.steps), len(draw.steps)) == (29, 20)
    assert [(player.seat, player.result) for player in draw.players] == [(2, 200), (3, -200), (1, 0)]


def test_marks_of_the_first_version_are_read() -> None:
    mark = decode_mark(golden("mark"))
    assert (mark.table_id, mark.epoch, mark.version, mark.last_hand_id) == (TABLE, 1, 20, hand_id(1))
    assert mark.config == STUD
