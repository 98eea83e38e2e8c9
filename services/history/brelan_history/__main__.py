"""``python -m brelan_history``."""

from brelan.telemetry.service import run_service
from brelan_history.settings import HistorySettings
from brelan_history.wiring import main

if __name__ == "__main__":
    run_service("history", main, HistorySettings)
