"""The page of ranks: who is late, in which order they came, and how hosts kept up."""

from __future__ import annotations

from dataclasses import replace

from dash_runs import data_of, links_of, run_of, text_of, with_report

from commscope.dashboards.pages import ranks
from commscope.dashboards.urlstate import UrlState

HERE = UrlState("/ranks")


def test_the_late_rank_is_told_first() -> None:
    told = text_of(ranks.layout(data_of(), HERE))
    assert told.startswith("Ranks Rank 1 arrives last and causes 100% of the waiting.")


def test_order_of_arrival() -> None:
    worst = run_of().report.worst_step
    assert worst is not None
    assert worst.waited_for is not None
    made = ranks.arrivals_table(worst.waited_for)
    assert made is not None
    assert [[cell.text for cell in row] for row in made.rows] == [
        ["1", "0", "0 ns", "21.1 ms"],
        ["2", "1", "21.1 ms", "0 ns"],
    ]


def test_the_collective_leads_to_the_timeline() -> None:
    (href,) = (href for href in links_of(ranks.layout(data_of(), HERE)) if "/timeline" in href)
    assert "t0=" in href
    assert "t1=" in href


def test_tables() -> None:
    told = text_of(ranks.layout(data_of(), HERE))
    for caption in ("Launches", "Compute of a rank", "see the  page on collectives"):
        assert caption in told
    assert "Who arrived last" not in told
    assert "47.1 %" in told


def test_one_rank_alone() -> None:
    report = run_of().report
    nothing = replace(report.waiting, arrow=report.waiting.arrow.slice(0, 0))
    summary = replace(report.summary, ranks=1)
    data = with_report(waiting=nothing, summary=summary, worst_step=None, verdicts=())
    told = text_of(ranks.layout(data, HERE))
    assert "One rank's file alone does not show whether it waits" in told
    assert "Order of arrival" not in told
