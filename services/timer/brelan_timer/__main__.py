"""``python -m brelan_timer sweeper | worker | beat | all``."""

import sys

from brelan.telemetry.service import run_service
from brelan_timer.settings import TimerSettings
from brelan_timer.wiring import ROLES

if __name__ == "__main__":
    role = sys.argv[1] if len(sys.argv) == 2 else ""
    if role not in ROLES:
        sys.stderr.write(f"brelan timer: say which part of it: python -m brelan_timer {' | '.join(ROLES)}\n")
        sys.exit(2)
    run_service("timer" if role == "all" else f"timer-{role}", ROLES[role], TimerSettings)
