"""A run that is shared: nothing planted is in any byte of it, and its numbers are the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import planted
import pytest
from saved_files import legible, read_again
from support import case

import commscope
from commscope import api
from commscope.engine.load import trace_of
from commscope.engine.run import Run
from commscope.log_schema import LOG_TABLES
from commscope.saved.files import run_files, with_quotes
from commscope.saved.redaction import Redacted, redacted
from commscope.saved.renamed_tables import text_columns
from commscope.saved.same_numbers import first_difference
from commscope.schema import PARSED_COLLECTIVES, PARSED_EVENTS, PARSED_HOST
from commscope.topology_schema import TOPOLOGY_TABLES


def _report(run: Run) -> commscope.Report:
    return commscope.analyze(trace_of(run))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = planted.read(tmp_path_factory.mktemp("planted") / "run")
    return with_quotes(run, _report(run).findings)


@pytest.fixture(scope="module")
def shared(run: Run) -> Redacted:
    return redacted(run)


def test_nothing_planted_is_left(run: Run, shared: Redacted) -> None:
    files = dict(run_files(shared.run, is_redacted=True))
    files["report.json"] = _report(shared.run).to_json(more=("instances",)).encode()
    text = legible(files).lower()
    assert [secret for secret in planted.SECRETS if secret.lower() in text] == []
    whole = legible(dict(run_files(run))).lower()
    assert [secret for secret in planted.SECRETS if secret.lower() not in whole] == []


def test_the_numbers_are_the_same(run: Run, shared: Redacted, tmp_path: Path) -> None:
    found = _report(shared.run)
    assert first_difference(_report(run).to_dict(), found.to_dict()) is None
    again = _report(read_again(shared.run, tmp_path / "saved"))
    assert again.to_json() == found.to_json()


def test_what_expressions_fit_is_renamed_with_the_rest(tmp_path: Path) -> None:
    run = api.read(
        planted.write(tmp_path / "run"),
        step_marker="^zebra_step",
        patterns=["norm=jsmith"],
        roles=["ep=falcon_tp"],
    )
    shared = _with_same_numbers(run)
    text = legible(dict(run_files(shared, is_redacted=True))).lower()
    assert [secret for secret in planted.SECRETS if secret.lower() in text] == []


@pytest.mark.parametrize("path", ["amd/rocpd", "h200/ddp_shm_stdout"])
def test_numbers_of_real_cases_are_the_same(path: str) -> None:
    _with_same_numbers(api.read(case(path)))


def _with_same_numbers(run: Run) -> Run:
    report, more = _report(run), ("instances",)
    shared = redacted(with_quotes(run, report.findings)).run
    assert first_difference(report.to_dict(more=more), _report(shared).to_dict(more=more)) is None
    return shared


def test_no_text_is_in_a_column_that_is_not_looked_at() -> None:
    tables = [PARSED_EVENTS, PARSED_HOST, PARSED_COLLECTIVES]
    for schema in (*tables, *LOG_TABLES.values(), *TOPOLOGY_TABLES.values()):
        looked_at = {name for names in text_columns(schema) for name in names}
        other = [field.type for field in schema if field.name not in looked_at]
        assert not [kind for kind in other if "string" in str(kind) or "binary" in str(kind)]


def test_what_was_renamed_is_counted(shared: Redacted) -> None:
    renamed = shared.renamed
    assert (renamed["file"], renamed["host"]) == (4, 1)
    assert {"path", "address", "user", "url", "word", "number", "command", "value"} <= set(renamed)


def test_renaming_twice_is_the_same(run: Run, shared: Redacted) -> None:
    assert dict(run_files(redacted(run).run)) == dict(run_files(shared.run))


@pytest.mark.parametrize(
    ("one", "other", "section"),
    [
        ({"a": [1, 2]}, {"a": [2, 1]}, None),
        ({"a": [{"x": "b", "n": 1}]}, {"a": [{"x": "c", "n": 1}]}, None),
        ({"a": [1]}, {"a": [1, "b"]}, "a"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "b"),
        ({"a": 1}, {}, "a"),
    ],
)
def test_differences(
    one: Mapping[str, object], other: Mapping[str, object], section: str | None
) -> None:
    assert first_difference(one, other) == section
