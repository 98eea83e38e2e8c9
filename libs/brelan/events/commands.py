"""What is asked of a table. Imperatives; a table answers with events or with a ``Rejected``."""

import msgspec

from brelan.events.config import TableConfig
from brelan.events.table import ActionKind, Entry


class Command(msgspec.Struct, frozen=True, tag=True):
    """Tagged by its class name."""


# --- players -----------------------------------------------------------------------------------------------------


class SitDown(Command, frozen=True):
    """``seat`` None: any free one. ``amount``: the buy-in, in minor units."""

    amount: int
    seat: int | None = None
    entry: Entry = "wait"


class TopUp(Command, frozen=True):
    amount: int


class SitOut(Command, frozen=True):
    pass


class ComeBack(Command, frozen=True):
    entry: Entry = "wait"


class ChooseEntry(Command, frozen=True):
    """D13, D14, while waiting: post now or wait for the big blind."""

    entry: Entry


class SetPreferences(Command, frozen=True):
    auto_post: bool
    auto_muck: bool


class BringSeeds(Command, frozen=True):
    """The tip of a chain of seeds (docs/fairness.md), 64 hexadecimal digits; empty: without one from now on."""

    tip: str


class BringKey(Command, frozen=True):
    """His hole cards are sealed to this key of his own from now on (docs/hole-cards.md).

    In a hand that he holds cards of, only with the signature of the key that they are sealed for; without one from the
    next hand on. Empty: to the gateways' key again, from the next hand on.
    """

    hole_key: str  # X25519, 64 hexadecimal digits
    sign_key: str = ""  # Ed25519, 64 hexadecimal digits: signs the change to another one
    signature: str = ""  # 128 hexadecimal digits


class GiveSeed(Command, frozen=True):
    """The next element of his chain, for this hand only, after its commitment was checked."""

    hand_id: str
    element: str


class Leave(Command, frozen=True):
    pass


class Act(Command, frozen=True):
    """Answers turn ``turn_id``. ``to`` as listed; may be left out when the kind is listed only once."""

    turn_id: int
    kind: ActionKind
    to: int | None = None


class Draw(Command, frozen=True):
    """D10. ``positions`` 0..4 of the cards to throw, into his cards as dealt; none: stand pat."""

    turn_id: int
    positions: tuple[int, ...] = ()


class Show(Command, frozen=True):
    pass


class Muck(Command, frozen=True):
    pass


# --- operators ---------------------------------------------------------------------------------------------------


class OpenTable(Command, frozen=True):
    config: TableConfig


class ConfigureTable(Command, frozen=True):
    config: TableConfig


class PauseTable(Command, frozen=True):
    pass


class ResumeTable(Command, frozen=True):
    pass


class CloseTable(Command, frozen=True):
    pass


class UnfreezeTable(Command, frozen=True):
    """``void_hand``: the bets of the hand in play go back first."""

    void_hand: bool = False


PlayerCommand = (
    SitDown
    | TopUp
    | SitOut
    | ComeBack
    | ChooseEntry
    | SetPreferences
    | BringSeeds
    | BringKey
    | GiveSeed
    | Leave
    | Act
    | Draw
    | Show
    | Muck
)
OperatorCommand = OpenTable | ConfigureTable | PauseTable | ResumeTable | CloseTable | UnfreezeTable
ClientCommand = PlayerCommand | OperatorCommand


# --- the timer and the table service itself ----------------------------------------------------------------------


class ExpireTurn(Command, frozen=True):
    """The table's wait that is due at ``deadline_ms`` has run out. Ignored unless such a wait is open (T8)."""

    deadline_ms: int


class EndOutage(Command, frozen=True):
    """The table service finds that it, or the room, was away."""

    from_ms: int
    to_ms: int


class FreezeTable(Command, frozen=True):
    reason: str


class LoseTail(Command, frozen=True):
    """Somebody outside had seen more of the log, up to this epoch, than is there (ARCHITECTURE §7)."""

    epoch: int


InternalCommand = ExpireTurn | EndOutage | FreezeTable | LoseTail
