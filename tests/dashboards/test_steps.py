"""The page of steps: choices of a rank, causes, and tables that lead to the timeline."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dash_runs import app_of, called, data_of, loaded, run_of, text_of, with_report

from commscope.dashboards import step_charts, tables
from commscope.dashboards.pages import steps, unmeasured
from commscope.dashboards.tables import Linked
from commscope.dashboards.urlstate import UrlState
from commscope.findings.model import Check, Metric, Result, Trust, Withheld
from commscope.report.html.step_bars import shown_steps

HERE = UrlState("/steps")


def test_the_table_has_every_step_of_every_rank() -> None:
    made = steps.steps_table(data_of(), 0)
    assert made.rows.num_rows == 6
    cell = made.columns[0].show(made.rows.slice(2, 1).to_pylist()[0])
    assert isinstance(cell, Linked)
    assert cell.text == "3*"
    assert cell.href.startswith("/timeline?t0=")
    assert "* open" in made.note


def test_the_table_has_the_numbers_of_the_report() -> None:
    told = text_of(steps.layout(data_of(), HERE))
    assert "27.2 ms (71.1 %)" in told
    assert "waiting for a late rank" in told


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("name", ["steps", "gaps"])
def test_long_tables_sort_by_every_column(name: str, order: str) -> None:
    table = {"steps": steps.steps_table, "gaps": steps.gaps_table}[name]
    made = table(data_of(), 0)
    assert len(made.by) == len(made.columns)
    for place in range(len(made.by)):
        rows = tables.window(made, 0, 5, [(f"v{place}", order)])
        assert len(rows) == 5


def test_gaps_are_all_there_and_lead_to_the_timeline() -> None:
    made = steps.gaps_table(data_of(), 0)
    assert made.rows.num_rows == len(run_of().report.gaps)
    row = made.rows.slice(0, 1).to_pylist()[0]
    cell = made.columns[0].show(row)
    assert isinstance(cell, Linked)
    assert f"sel={row['start_ns']}-{row['start_ns'] + row['dur_ns']}" in cell.href
    assert made.columns[4].show(row).text == "waiting for a late rank"


def test_the_chart_of_a_rank() -> None:
    report = run_of().report
    figure = steps.rank_figure(report, "1")
    row = next(r for r in report.steps if (r["rank"], r["step"]) == (1, 2))
    assert next(bar.y[1] for bar in figure.data if bar.name == "idle") == row["idle_ns"]
    assert steps.rank_figure(report, "mean") == step_charts.bars_figure(shown_steps(report), 320)
    assert not steps.rank_figure(report, "99").data[0].y


def test_the_choice_of_a_rank_draws_anew() -> None:
    every = app_of().callback_map.items()
    name = next(name for name, of in every if of["inputs"][0]["id"] == "steps-rank")
    where = {"pathname": "/steps", "search": ""}
    found = called(app_of(), name, {"value": "0"}, where)
    (figure,) = (of["data"] for of in found.values())
    assert figure["data"][0]["name"] == "compute"


def test_causes_add_up_to_what_is_exposed() -> None:
    report = run_of().report
    figure = step_charts.causes_figure(report, shown_steps(report))
    exposed = sum(r["exposed_comm_ns"] for r in report.steps if r["step"] == 1)
    assert sum(bar.y[0] for bar in figure.data) == exposed / 2


def test_without_steps_the_page_says_so() -> None:
    summary = replace(run_of().report.summary, step_source="whole_trace")
    told = text_of(steps.layout(with_report(summary=summary), HERE))
    assert "--step-marker" in told
    assert "ProfilerStep" not in told


def test_nothing_exposed() -> None:
    report = run_of().report
    empty = {
        name: replace(getattr(report, name), arrow=getattr(report, name).arrow.slice(0, 0))
        for name in ("gaps", "gap_sums")
    }
    told = text_of(steps.layout(with_report(**empty), HERE))
    assert told.count("No communication was exposed") == 2


def test_what_was_not_measured() -> None:
    told = text_of(unmeasured.layout(data_of(), UrlState("/unmeasured")))
    for looked in loaded().report.looked:
        if looked.result != "found":
            assert f"{looked.title} ({looked.rule})" in told
    for check in loaded().report.trust.checks:
        assert check.title in told
    assert "No number was withheld." in told


def test_withheld_numbers_are_told_with_their_rule() -> None:
    check = Check("Q9", "Order", Result.FAIL, "too early", (Withheld(Metric.IDLE, rank=1),))
    trust = Trust("limited", (check,))
    told = text_of(unmeasured.layout(with_report(trust=trust, looked=(), notes=()), HERE))
    assert "idle of rank 1 Q9: too early" in told
    assert "Every rule had what it needs." in told
    assert "Nothing had to be decided or guessed." in told
