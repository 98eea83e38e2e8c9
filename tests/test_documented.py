"""What an operator may set, and every number the room exports, stands in the documentation."""

import re

from prometheus_client.metrics import MetricWrapperBase

from brelan.deck import keys
from brelan.settings import RoomSettings
from brelan.telemetry import metrics
from brelan_gateway.settings import GatewaySettings
from brelan_history.settings import HistorySettings
from brelan_timer.settings import TimerSettings
from brelan_wallet.settings import WalletSettings
from tests.requirements import PROJECT

OPERATING = PROJECT / "docs" / "operating"
SETTINGS = (RoomSettings, GatewaySettings, HistorySettings, TimerSettings, WalletSettings)


def test_every_setting_is_documented_and_nothing_else() -> None:
    there = {f"BRELAN_{name.upper()}" for settings in SETTINGS for name in settings.model_fields}
    there |= {key.variable for key in vars(keys).values() if isinstance(key, keys.KeyFile)}
    documented = set(re.findall(r"`(BRELAN_[A-Z_]+)`", (OPERATING / "settings.md").read_text()))
    assert documented == there


def test_every_metric_is_documented_and_nothing_else() -> None:
    there = set()
    for metric in vars(metrics).values():
        if isinstance(metric, MetricWrapperBase):
            (family,) = metric.describe()
            there.add(family.name + ("_total" if family.type == "counter" else ""))
    documented = set(re.findall(r"^\| `(brelan_\w+)`", (OPERATING / "metrics.md").read_text(), re.MULTILINE))
    assert documented == there
