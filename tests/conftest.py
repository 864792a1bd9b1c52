"""Hooks and fixtures of all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case_table import HEADER, CaseTable
from hypothesis import settings

# No test may fail by the clock, and a gate must give the same answer twice: it looks at the same
# examples each time, so at fewer; new ones are looked for where developers run the suite.
settings.register_profile("here", deadline=None)
settings.register_profile("gate", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("gate" if os.environ.get("CI") else "here")

# What a shell starts in the background ignores interrupts, and so would what tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test may read what another one, or a developer, left in the user's cache.
os.environ["COMMSCOPE_NO_CACHE"] = "1"

_TABLE = pytest.StashKey[CaseTable]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TABLE] = CaseTable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew")


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Callable[[str, str], None]:
    """Compares a text with a file of tests/golden; with --update-golden it is written instead."""

    def compare(name: str, text: str) -> None:
        file = Path(__file__).parent / "golden" / name
        if pytestconfig.getoption("--update-golden"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), f"{name}: see --update-golden"

    return compare


@pytest.fixture(scope="session")
def case_table(pytestconfig: pytest.Config) -> CaseTable:
    """The table of verified figures that is printed when the run ends."""
    return pytestconfig.stash[_TABLE]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that runs a part of the tests hands its rows to the one that prints them."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["case_table"] = session.config.stash[_TABLE].to_dict()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes over the rows of a process that ended; one that died has none."""
    rows = getattr(node, "workeroutput", {}).get("case_table")
    if rows is not None:
        node.config.stash[_TABLE].take(rows)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tables = terminalreporter.config.stash[_TABLE].tables
    if tables:
        terminalreporter.section("simulated jobs: planted causes and what was found")
        for table in tables:
            terminalreporter.write_line(table)
    lines = list(terminalreporter.config.stash[_TABLE].lines())
    if lines:
        terminalreporter.section("real cases: ours and verified")
        terminalreporter.write_line(HEADER)
        for line in lines:
            terminalreporter.write_line(line)
