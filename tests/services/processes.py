"""Services as processes, to be killed."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.processes import clean_environment, start


class Process:
    """``python -m brelan_<service>``."""

    def __init__(self, service: str, redis_url: str, sql_url: str, data: Path) -> None:
        self._service = service
        self._env = {
            **clean_environment(),
            "BRELAN_REDIS_URL": redis_url,
            "BRELAN_SQL_URL": sql_url,
            "BRELAN_DATA": str(data),
            "BRELAN_HTTP_PORT": "0",
        }
        self._process: subprocess.Popen[str] | None = None

    def start(self, **env: str) -> None:
        self._process = start(
            [sys.executable, "-m", f"brelan_{self._service}"],
            env={**self._env, **env},
            stderr=subprocess.PIPE,
        )

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """The exit code, and what it had to say."""
        assert self._process is not None
        self._process.send_signal(number)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        assert self._process is not None
        _, said = self._process.communicate(timeout=20)
        code, self._process = self._process.returncode, None
        return code, said

    def close(self) -> None:
        if self._process is not None:
            self.end(signal.SIGKILL)
