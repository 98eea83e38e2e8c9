"""Every hand's record of the deal checked, as its players and the auditor would, when all is over."""

from collections.abc import Iterator

from brelan.deck.fair.audit import audit_hand
from brelan.deck.fair.record import assembled, read
from brelan.deck.fair.verify import verify_record
from brelan.deck.sealing import SecretsOpener
from brelan.events.dealing import HandRecord
from brelan.histories.archive import Shelves


class DealChecker:
    def __init__(self, shelves: Shelves, open_secrets: SecretsOpener, dealer_key: str) -> None:
        self._shelves = shelves
        self._open_secrets = open_secrets
        self._dealer_key = dealer_key

    def troubles(self) -> Iterator[tuple[str, list[str]]]:
        """Of every hand that was played to its end, or called off for a seed: what does not hold."""
        for hand_id, history in self._shelves.histories.items():
            record = self._shelves.deals.get(hand_id)
            if record is not None:
                yield hand_id, self._trouble(record)
            elif not history.voided:
                yield hand_id, ["there is no record of the deal"]

    def _trouble(self, record: HandRecord) -> list[str]:
        assert record.deal is not None
        seat = record.seats[-1].seat if record.seats else None
        data = assembled(record.deal, seat)
        found = [check.sentence for check in verify_record(data, [self._dealer_key]).checks if not check.ok]
        secrets = self._open_secrets(record.table_id, record.hand_id, record.for_audit)
        public = read(data).public
        return found + audit_hand(public, secrets.secret, secrets.reshuffle_secrets, secrets.cards, secrets.thrown)
