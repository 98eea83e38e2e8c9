"""The table of mishaps at the end of the run."""

import pytest

from tests.crash.arena import mishaps, table_of_mishaps, write_report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if mishaps:
        terminalreporter.section("what the room was put through")
        for line in table_of_mishaps():
            terminalreporter.write_line(line)
        write_report()
