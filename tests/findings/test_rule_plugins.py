"""Rules of other packages: loaded once, and a faulty one is an error that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from log_samples import joined, log_of, read_text
from tables import Gpu, comm, step, trace

import commscope
from commscope.errors import SchemaError
from commscope.findings import plugins as plugins_module
from commscope.findings.log_case import LogCase
from commscope.findings.log_rules import BUILT_IN_LOG, look_at_logs
from commscope.findings.plugins import all_log_rules, all_rules, every_rule
from commscope.findings.rules import BUILT_IN
from commscope.logs.summary import summarize
from commscope.trace import Trace

Register = Callable[..., list[str]]

MODULE = """
import numpy as np
from commscope.findings.rule import Draft, Limit, LogDraft, Outcome, Rule

def look(case, limits):
    rows = case.due_to("dependency", "step_tail", "unknown")
    return Outcome((Draft(f"{limits['least']:g}", case.claim(rows), rows),))

def fails(case, limits):
    return 1 // 0

def cannot(case):
    return "no"

def look_at_log(case, limits):
    return Outcome((LogDraft(f"{case.summary.processes} processes", "low", ()),))

LIMITS = {"least": Limit(3, "count", "of anything")}
MINE = Rule("Z1", "overlap", "Mine", "Is it mine?", look, limits=LIMITS)
FAILS = Rule("Z2", "overlap", "Fails", "Does it fail?", fails)
BLIND = Rule("Z3", "overlap", "Blind", "Can it see?", fails, needs=(cannot,))
LOG = Rule("Z4", "log", "Log", "Is it a log?", look_at_log)
LOG_FAILS = Rule("Z5", "log", "Fails", "Does it fail?", fails)
LOG_TAKEN = Rule("S1", "log", "Taken", "Is it taken?", look_at_log)
TAKEN = Rule("C1", "overlap", "Taken", "Is it taken?", look)
"""


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Register]:
    """Has these values as the only entry points; returns the groups that were looked up."""
    (tmp_path / "rules_of_mine.py").write_text(MODULE)
    (tmp_path / "broken_rules.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    lookups: list[str] = []

    def use(*values: str) -> list[str]:
        found = [EntryPoint(f"r{i}", v, "commscope.rules") for i, v in enumerate(values)]

        def look_up(*, group: str) -> list[EntryPoint]:
            lookups.append(group)
            return found[::-1]

        monkeypatch.setattr(plugins_module, "entry_points", look_up)
        return lookups

    _forget()
    yield use
    _forget()


def _forget() -> None:
    all_rules.cache_clear()
    all_log_rules.cache_clear()


def _trace() -> Trace:
    """Four steps, each with 5 % of communication that no other rule explains."""
    rows = [step(k, 1000 * k, 1000) for k in range(4)]
    for begin in range(0, 4000, 1000):
        rows += [
            Gpu(begin + 10, 490, launched=begin + 1), comm(begin + 500, 50, launched=begin + 2),
            Gpu(begin + 550, 460),
        ]  # fmt: skip
    return trace(*rows)


def test_loaded_once_behind_the_built_in_ones(register: Register) -> None:
    lookups = register("rules_of_mine:MINE", "rules_of_mine:BLIND")
    assert [rule.id for rule in all_rules()] == [*(rule.id for rule in BUILT_IN), "Z1", "Z3"]
    assert all_rules() is all_rules()
    assert lookups == ["commscope.rules"]


@pytest.mark.parametrize(("thresholds", "says"), [((), "3"), (("Z1.least=5",), "5")])
def test_it_claims_what_the_others_leave(
    thresholds: tuple[str, ...], says: str, register: Register
) -> None:
    register("rules_of_mine:MINE")
    report = commscope.analyze(_trace(), thresholds=thresholds)
    (finding,) = (finding for finding in report.findings if finding.rule == "Z1")
    assert (finding.says, finding.bound_ns, finding.severity) == (says, 50, "medium")
    assert (report.looked[-1].rule, report.looked[-1].result) == ("Z1", "found")


def test_its_thresholds_are_known(register: Register) -> None:
    register("rules_of_mine:MINE")
    with pytest.raises(commscope.CommscopeError, match=r"no threshold Z1\.most: .* Z1\.least"):
        commscope.analyze(_trace(), thresholds=["Z1.most=1"])


def test_its_needs_are_asked(register: Register) -> None:
    register("rules_of_mine:BLIND")
    last = commscope.analyze(_trace()).looked[-1]
    assert (last.rule, last.result, last.says) == ("Z3", "could_not_look", "no")


def test_one_that_fails_is_named(register: Register) -> None:
    register("rules_of_mine:FAILS")
    says = (
        r"^rule r0 \(rules_of_mine:FAILS\): failed with ZeroDivisionError \(.*\); update or "
        "uninstall it$"
    )
    with pytest.raises(SchemaError, match=says):
        commscope.analyze(_trace())


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_module_anywhere:RULE", r"cannot be loaded \(No module named"),
        ("rules_of_mine:NONE", "cannot be loaded"),
        ("broken_rules:RULE", r"cannot be loaded \(division by zero\)"),
        ("rules_of_mine:LIMITS", r"is no commscope\.findings\.rule\.Rule"),
        ("rules_of_mine:TAKEN", "its id C1 is taken"),
    ],
)
def test_a_faulty_one_is_named(value: str, says: str, register: Register) -> None:
    register(value)
    with pytest.raises(SchemaError, match=rf"^rule r0 \({value}\): {says}"):
        all_rules()


def test_two_of_the_same_id_are_refused(register: Register) -> None:
    register("rules_of_mine:MINE", "rules_of_mine:MINE")
    with pytest.raises(SchemaError, match=r"^rule r1 .*: its id Z1 is taken"):
        all_rules()


def test_rules_on_logs_are_asked_about_logs_only(register: Register) -> None:
    register("rules_of_mine:MINE", "rules_of_mine:LOG")
    assert [rule.id for rule in all_rules()] == [*(rule.id for rule in BUILT_IN), "Z1"]
    assert [rule.id for rule in all_log_rules()] == [*(rule.id for rule in BUILT_IN_LOG), "Z4"]
    assert every_rule() == (*all_rules(), *all_log_rules())
    logs = read_text(joined(log_of()))
    findings, _ = look_at_logs(LogCase(logs, summarize(logs)), all_log_rules(), {})
    assert [one.says for one in findings if one.rule == "Z4"] == ["1 processes"]


@pytest.mark.parametrize(
    ("value", "says"),
    [("LOG_FAILS", "failed with ZeroDivisionError"), ("LOG_TAKEN", "S1 is taken")],
)
def test_a_faulty_rule_on_logs_is_named(register: Register, value: str, says: str) -> None:
    register(f"rules_of_mine:{value}")
    logs = read_text(joined(log_of()))
    with pytest.raises(SchemaError, match=says):
        look_at_logs(LogCase(logs, summarize(logs)), all_log_rules(), {})
