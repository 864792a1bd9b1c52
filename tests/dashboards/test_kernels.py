from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from paged import (
    HOSTILE,
    alike,
    at,
    figures,
    filled,
    loaded,
    of_kind,
    one_run,
    row_of,
    with_report,
    words,
)

from commscope.counters.model import KernelCounters, Measured
from commscope.dashboards.app_data import LoadedRun
from commscope.dashboards.pages import kernels
from commscope.dashboards.theme import PALETTE
from commscope.report.model import ReportTable

STATE = at("/kernels")


def straggler() -> LoadedRun:
    return loaded("ddp_straggler")


def test_page_has_all_kernels_and_families():
    run = straggler()
    page = kernels.layout(one_run(run), STATE)
    assert len(row_of(page, "kernels")) == len(run.report.kernels)
    assert row_of(page, "families")[0] == ["communication", "41", "100.1 ms", "68.7 %"]
    assert not alike(page)


def test_families_have_the_colours_of_the_timeline():
    drawn = figures(kernels.layout(one_run(straggler()), STATE))["families"]
    (bars,) = drawn.data
    assert bars.y[:2] == ("communication", "gemm")
    assert bars.marker.color[1] == PALETTE["gemm"]["light"]
    assert kernels.family_colour("never seen") == PALETTE["other"]["light"]


def test_contention_is_that_of_the_analysis():
    run = straggler()
    page = kernels.layout(one_run(run), STATE)
    (first, *_) = kernels.contended(run)
    assert row_of(page, "contended")[0][-2:] == [f"{first['stretch']:,.2f}", "1.50 ms"]
    alone, beside = figures(page)["contention"].data[1:]
    assert (alone.x[0], beside.x[0]) == (first["alone_p50_ns"], first["beside_p50_ns"])
    assert "took 4.30" in words(page)


def test_no_contention_is_said():
    run = straggler()
    beside = replace(run.beside, contention=run.beside.contention.slice(0, 0))
    page = kernels.layout(one_run(replace(run, beside=beside)), STATE)
    assert "No kernel ran both beside communication and alone" in words(page)


def test_counters_are_shown_where_they_are_given():
    run = straggler()
    name = run.report.kernels.head(2)[1]["name"]
    counters = KernelCounters(
        workload=0, kernel=name, is_communication=False, dispatches=3, mean_ns=5.0,
        median_ns=5.0, total_ns=15.0, time_share=0.5,
        measured=Measured(mfma_utilization=0.25, gbps={"hbm": 3000.0}),
        roofs={"hbm": 0.78, "mfma": 0.2, "valu": 0.1},
    )  # fmt: skip
    beside = replace(run.beside, counters={name: counters})
    page = kernels.layout(one_run(replace(run, beside=beside)), STATE)
    (row,) = row_of(page, "counted")
    assert row[2:6] == ["memory-bound, 78.0 % of HBM", "\u2013", "25.0 %", "3,000"]
    assert "--counters" in words(kernels.layout(one_run(run), STATE))


def test_withheld_kernels_say_by_which_rule():
    run = straggler()
    table = run.report.families.arrow.slice(0, 0)
    rule = run.report.trust.checks[0].rule
    report = replace(run.report, families=ReportTable(table, rule))
    page = kernels.layout(one_run(replace(run, report=report)), STATE)
    assert f"withheld ({rule})" in words(page)


def test_no_activity_is_said():
    run = straggler()
    none = {name: getattr(run.report, name).arrow.slice(0, 0) for name in ("kernels", "families")}
    page = kernels.layout(one_run(with_report(run, **none)), STATE)
    assert "No activity of a GPU was recorded." in words(page)


def test_hostile_names_are_text():
    run = straggler()
    hostile = filled(run.report.kernels.arrow, "name", HOSTILE)
    beside = replace(run.beside, contention=filled(run.beside.contention, "name", HOSTILE))
    run = replace(with_report(run, kernels=hostile), beside=beside)
    page = kernels.layout(one_run(run), STATE)
    assert not of_kind(page, "Markdown")
    assert not {"\u202e", "\x1b"} & set(words(page))
    drawn = figures(page)["contention"]
    assert "<img" not in str(drawn.layout.yaxis.ticktext) + str(drawn.data[1].hovertext)
    assert all("\u202e" not in box.to_plotly_json()["props"]["aria-label"] for box in boxes(page))


def boxes(page):  # type: ignore[no-untyped-def]
    return [div for div in of_kind(page, "Div") if getattr(div, "role", "") == "img"]


def test_long_lists_are_a_grid():
    run = straggler()
    table = pa.concat_tables([run.report.kernels.arrow] * 200)
    page = kernels.layout(one_run(with_report(run, kernels=table)), STATE)
    (grid,) = of_kind(page, "AgGrid")
    assert grid.id == {"type": "rows-kernels", "run": 0}
    assert grid.rowModelType == "infinite"
