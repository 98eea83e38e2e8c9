"""``python -m brelan_table``."""

from brelan.settings import RoomSettings
from brelan.telemetry.service import run_service
from brelan_table.wiring import main

if __name__ == "__main__":
    run_service("table", main, RoomSettings)
