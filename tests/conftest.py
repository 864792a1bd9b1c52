"""Hooks and fixtures of all tests."""

from __future__ import annotations

import pytest
from case_table import HEADER, CaseTable

_TABLE = pytest.StashKey[CaseTable]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TABLE] = CaseTable()


@pytest.fixture(scope="session")
def case_table(pytestconfig: pytest.Config) -> CaseTable:
    """The table of verified figures that is printed when the run ends."""
    return pytestconfig.stash[_TABLE]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = list(terminalreporter.config.stash[_TABLE].lines())
    if lines:
        terminalreporter.section("real cases: ours and verified")
        terminalreporter.write_line(HEADER)
        for line in lines:
            terminalreporter.write_line(line)
