"""Shared by the tests: where the real files lie."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT.parent / "shared" / "cases"


def case(path: str) -> Path:
    """A file or folder of the real cases; the test is skipped where they are not at hand."""
    found = CASES / path
    if not found.exists():
        pytest.skip(f"real case {path} is not at hand")
    return found
