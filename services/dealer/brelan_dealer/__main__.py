"""``python -m brelan_dealer``."""

from brelan.settings import RoomSettings
from brelan.telemetry.service import run_service
from brelan_dealer.wiring import main

if __name__ == "__main__":
    run_service("dealer", main, RoomSettings)
