"""``python -m brelan_wallet``."""

from brelan.telemetry.service import run_service
from brelan_wallet.settings import WalletSettings
from brelan_wallet.wiring import main

if __name__ == "__main__":
    run_service("wallet", main, WalletSettings)
