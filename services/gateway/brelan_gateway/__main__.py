"""``python -m brelan_gateway``."""

from brelan.telemetry.service import run_service
from brelan_gateway.settings import GatewaySettings
from brelan_gateway.wiring import main

if __name__ == "__main__":
    run_service("gateway", main, GatewaySettings)
