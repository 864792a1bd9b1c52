from __future__ import annotations

from urllib.parse import parse_qsl

import numpy as np
import pytest
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
    two_runs,
    with_report,
    words,
)

from commscope.columns import int64
from commscope.dashboards.app_data import AppData
from commscope.dashboards.pages import bandwidth_chart, collectives, waiting_chart
from commscope.report.instance_costs import instance_costs, worst_instances
from commscope.units import span

STATE = at("/collectives")


def straggler() -> AppData:
    return one_run(loaded("ddp_straggler"))


def test_page_has_the_tables_of_the_report():
    page = collectives.layout(straggler(), STATE)
    report = straggler().runs[0].report
    rows = row_of(page, "collectives")
    assert len(rows) == len(report.collectives)
    assert [row[4] for row in rows][:2] == ["27.29 MB", "33.59 MB"]
    assert row_of(page, "waiting") == [["0", "1", "default_pg", "90.2 ms", "76.4 ms"]]
    assert "Rank 1 arrives last and causes 100% of the waiting." in words(page)
    assert not alike(page)


def test_summary_adds_up_to_the_report():
    report = straggler().runs[0].report
    exposed = sum(row["exposed_ns"] for row in report.collectives)
    assert f"{span(exposed)} (85.9 %) was exposed" in collectives.summary(report)


def test_costs_of_instances_are_the_waiting_of_the_report():
    report = straggler().runs[0].report
    costs = instance_costs(report)
    total = sum(row["wait_ns"] for row in report.waiting)
    assert int(int64(costs, "wait_ns").sum()) == total
    exposed = sum(row["exposed_wait_ns"] for row in report.waiting)
    assert int(int64(costs, "exposed_wait_ns").sum()) == exposed


def test_worst_come_first_and_lead_to_the_timeline():
    data = straggler()
    rows = worst_instances(data.runs[0].report, 3).to_pylist()
    waits = [row["wait_ns"] for row in rows]
    assert waits == sorted(waits, reverse=True)
    assert len(rows) == 3
    page = collectives.layout(data, STATE)
    links = [link for link in of_kind(page, "Link") if link.children == "show in timeline"]
    shown = data.runs[0].view.instance(rows[0]["number"])
    assert shown.skew == rows[0]["skew_ns"]
    asked = dict(parse_qsl(links[0].href.partition("?")[2]))
    assert asked["inst"] == str(rows[0]["number"])
    arrivals = [member.arrival for member in shown.members]
    assert int(asked["t0"]) < min(arrivals) < max(arrivals) < int(asked["t1"])


def test_links_name_the_run_where_there_are_several():
    page = collectives.layout(two_runs(), STATE)
    hrefs = [link.href for link in of_kind(page, "Link") if link.children == "show in timeline"]
    assert all(href.startswith("/timeline?run=0&inst=") for href in hrefs)


def test_bandwidth_has_every_kind_and_the_expected_curve():
    run = loaded("ddp_straggler")
    page = collectives.layout(one_run(run), STATE)
    drawn = figures(page)["bandwidth"]
    lines = [trace for trace in drawn.data if trace.mode == "lines"]
    symbols = [trace for trace in drawn.data if trace.mode == "markers"]
    known = bandwidth_chart.points(run.report)
    assert sum(len(trace.x) for trace in symbols) == len(known)
    assert drawn.layout.xaxis.type == drawn.layout.yaxis.type == "log"
    assert len(lines) == len(symbols)
    assert "model of the links of H100/H200" in words(page)


def test_expected_curve_goes_through_the_expected_numbers():
    run = loaded("ddp_straggler")
    for row in bandwidth_chart.points(run.report):
        found = run.beside.links.expected(row["op"], row["group_size"], row["bytes"])
        assert found.busbw_gbps == pytest.approx(row["expected_busbw_gbps"])
        assert found.source == row["expected_from"]


def test_matrix_is_the_waiting_of_the_report():
    found = waiting_chart.waits(loaded("ddp_straggler").report)
    assert found.ranks == (0, 1)
    assert np.array(found.wait_ns).sum() == found.wait_ns[0][1] == 90_201_225
    drawn = waiting_chart.waiting_figure(found)
    assert list(drawn.data[1].text) == ["90.2 ms"]
    assert waiting_chart.describes(found).startswith("Rank 0 waited longest: 90.2 ms for rank 1")


def test_matrix_of_many_ranks_shows_those_that_matter():
    report = loaded("ddp_straggler").report
    ranks = report.ranks.arrow.take([0] * 100)
    place = ranks.column_names.index("rank")
    many = ranks.set_column(place, "rank", [list(range(100))])
    found = waiting_chart.waits(with_report(loaded("ddp_straggler"), ranks=many).report)
    assert (len(found.ranks), found.left_out) == (64, 36)
    assert {0, 1} <= set(found.ranks)
    assert len(waiting_chart.waiting_figure(found).data) == 1


def test_one_rank_says_why_nothing_is_known_of_waiting():
    page = collectives.layout(one_run(loaded("ddp_straggler/rank0.json.gz")), STATE)
    assert "the trace of one rank only" in words(page)
    assert "waiting" not in figures(page)


def test_no_collectives_is_said():
    run = loaded("ddp_straggler")
    none = with_report(run, collectives=run.report.collectives.arrow.slice(0, 0))
    page = collectives.layout(one_run(none), STATE)
    assert "No communication ran on the GPU" in words(page)


def test_hostile_names_are_text():
    run = loaded("ddp_straggler")
    tables = {
        name: filled(getattr(run.report, name).arrow, "communicator", HOSTILE)
        for name in ("collectives", "instances", "waiting", "stragglers", "communicators")
    }
    tables["collectives"] = filled(tables["collectives"], "op", HOSTILE)
    page = collectives.layout(one_run(with_report(run, **tables)), STATE)
    assert not of_kind(page, "Markdown")
    assert not {"\u202e", "\x1b"} & set(words(page))
    for trace in figures(page)["bandwidth"].data:
        assert "<img" not in str(trace.name) + str(trace.hovertext)


def test_a_wait_of_nothing_behind_a_late_one_has_a_word():
    row = {"wait_ns": 0, "skew_ns": 1_470_000, "straggler": None}
    cells = {column.head: column.show(row) for column in collectives._INSTANCE if column.head in
             ("waited in all", "last to arrive")}  # fmt: skip
    assert cells["waited in all"].text == "0 ns, none had to"
    assert "root" in cells["waited in all"].hint
    assert cells["last to arrive"].is_missing
    column = next(it for it in collectives._INSTANCE if it.head == "waited in all")
    assert column.show({"wait_ns": 0, "skew_ns": 0}).text == "0 ns"
