"""Services as processes, to be killed."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path


class Process:
    """``python -m brelan_<service>``."""

    def __init__(self, service: str, redis_url: str, sql_url: str, data: Path) -> None:
        self._service = service
        self._env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("BRELAN_")},
            "BRELAN_REDIS_URL": redis_url,
            "BRELAN_SQL_URL": sql_url,
            "BRELAN_DATA": str(data),
            "BRELAN_HTTP_PORT": "0",
        }
        self._process: subprocess.Popen[str] | None = None

    def start(self, **env: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"brelan_{self._service}"],
            env={**self._env, **env},
            stderr=subprocess.PIPE,
            text=True,
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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
