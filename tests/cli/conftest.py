"""The command line called within the process, and what it must do with bad input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from commscope.cli.main import run


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Call = Callable[..., Outcome]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs ``commscope`` with arguments."""

    def invoke(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        return Outcome(code, *capfd.readouterr())

    return invoke


@pytest.fixture
def refused(call: Call) -> Callable[..., str]:
    """Runs a command that must fail with a code and one clear line; returns the line."""

    def invoke(code: int, *arguments: object) -> str:
        outcome = call(*arguments)
        assert (outcome.code, outcome.out) == (code, "")
        assert outcome.err.startswith("commscope: ")
        assert outcome.err.count("\n") == 1
        assert outcome.err.endswith("\n")
        assert outcome.err.rstrip("\n").isprintable()
        return outcome.err

    return invoke
