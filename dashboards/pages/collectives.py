"""Collectives: what ran and at what bandwidth, who waited for whom, and where it was worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from dash import Dash
from dash.development.base_component import Component

from commscope.dashboards import tables
from commscope.dashboards.app_data import AppData
from commscope.dashboards.pages.bandwidth_chart import bandwidth_chart
from commscope.dashboards.pages.sections import empty, page, paragraph, section, sentence
from commscope.dashboards.pages.waiting_chart import waiting_chart
from commscope.dashboards.tables import Linked, LongTable
from commscope.dashboards.urlstate import UrlState
from commscope.findings.timing import no_communication
from commscope.report.html.comm_tables import (
    collective_tables,
    communicator_tables,
    waiting_tables,
)
from commscope.report.html.reasons import Row
from commscope.report.html.tables import (
    UNKNOWN_CELL,
    Cell,
    Column,
    Table,
    bytes_of,
    count,
    table,
    time,
    words,
)
from commscope.report.instance_costs import instance_costs, worst_instances
from commscope.report.model import Report
from commscope.units import percent, span
from commscope.wording import counted

PATH = "/collectives"
TITLE = "Collectives"
_MOST_WORST = 20
_MOST_SAYS = 8
_LEAST_AROUND_NS = 2_000
_NONE_HAD_TO = (
    "Who came first was done before the last one came: the root of a broadcast hands its data over "
    "and goes on."
)
#: Tables of runs that are kept while one scrolls.
_KEPT = 2


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of a run."""
    run = app_data.runs[state.run]
    report = run.report
    if not len(report.collectives):
        return page(TITLE, empty(no_communication(report.trust)))
    return page(
        TITLE,
        paragraph(summary(report), "lead"),
        section("bandwidth", "Size against bus bandwidth", *bandwidth_chart(run)),
        section("waiting", "Waiting", *_waiting(report)),
        section("worst", "Where waiting cost most", *_worst(app_data, state.run)),
        section("kinds", "By group, operation and size", *_kinds(report)),
        section("groups", "Communicators", *_groups(report)),
        _every(app_data, state.run),
    )


def register(app: Dash, app_data: AppData) -> None:
    """Fetches rows of the long table while one scrolls."""
    kept = lru_cache(maxsize=_KEPT)(lambda run: instances(app_data, run))
    tables.register_rows(app, "instances", kept)


def summary(report: Report) -> str:
    """How many collectives there are, and what of them was exposed."""
    rows = list(report.collectives)
    kernels = sum(row["count"] for row in rows)
    groups = len({row["communicator"] for row in rows})
    ranks = counted(report.summary.ranks, "rank")
    running = sum(row["communication_ns"] for row in rows)
    says = (
        f"{counted(kernels, 'collective')} on {ranks}, in {counted(len(rows), 'kind')} and "
        f"{counted(groups, 'group')}: they ran for {span(running)} in all"
    )
    exposed = [row["exposed_ns"] for row in rows]
    if running and None not in exposed:
        says += f", of which {span(sum(exposed))} ({percent(sum(exposed) / running)}) was exposed"
    return f"{says}."


def _waiting(report: Report) -> Sequence[Component]:
    if not len(report.instances):
        return [empty(why_no_waiting(report))]
    says = [paragraph(sentence(words)) for words in report.verdicts[:_MOST_SAYS]]
    chart = waiting_chart(report)
    if chart is None:
        return [*says, empty("No rank waited for another one: all arrived at the same time.")]
    return [*says, *chart, *tables.every(waiting_tables(report))]


def why_no_waiting(report: Report) -> str:
    """Why nothing is known of waiting."""
    if report.summary.ranks == 1:
        return (
            "This run has the trace of one rank only. Who waited for whom shows where the traces "
            "of all ranks are given together."
        )
    return (
        "No collective could be matched across the ranks, so nothing is known of waiting. The "
        "page on what was not measured says why."
    )


def _kinds(report: Report) -> list[Component]:
    kinds, *others = collective_tables(report)
    whole = replace(kinds, rows=_cells(kinds, report), note=_expected_only(kinds.note))
    return [tables.shown(whole), *tables.every(others)]


def _cells(made: Table, report: Report) -> list[list[Cell]]:
    """All rows of a table of which the report shows the first."""
    return [[column.show(row) for column in made.columns] for row in report.collectives]


def _expected_only(note: str) -> str:
    """The note without how many rows there are."""
    return note[note.find("Expected:") :] if "Expected:" in note else ""


def _groups(report: Report) -> list[Component]:
    return list(tables.every(communicator_tables(report)))


def _worst(app_data: AppData, run: int) -> list[Component]:
    report = app_data.runs[run].report
    rows = worst_instances(report, _MOST_WORST).to_pylist() if len(report.instances) else []
    made = table(
        "worst-instances",
        "The collectives in which most time was waited, all members together",
        [_shown_in(app_data, run), *_INSTANCE],
        rows,
    )
    if made is None:
        return [empty("No waiting is known of any collective.")]
    return [tables.shown(made)]


def _shown_in(app_data: AppData, run: int) -> Column:
    """Where the instance can be seen on all of its ranks."""

    def show(row: Row) -> Cell:
        start, end = _around(row)
        href = app_data.link("/timeline", run, inst=row["number"], t0=start, t1=end)
        return Linked("show in timeline", row["number"], "", href=href)

    return Column("", show, is_number=False)


def _around(row: Row) -> tuple[int, int]:
    """From the first arrival to the end of the transfer, with as much before and behind."""
    start = row["last_arrival_ns"] - row["skew_ns"]
    end = row["last_arrival_ns"] + (row["transfer_ns"] or 0)
    around = max((end - start) // 2, _LEAST_AROUND_NS)
    return start - around, end + around


def _last(row: Row) -> Cell:
    if row["straggler"] is None:
        return UNKNOWN_CELL
    return Cell(f"rank {row['straggler']}", row["straggler"])


def _waited(row: Row) -> Cell:
    """What was waited in all; where the first came long before the last and went, why it is 0."""
    cell = time("wait_ns")(row)
    if row["wait_ns"] != 0 or not row["skew_ns"]:
        return cell
    return replace(cell, text=f"{cell.text}, none had to", hint=_NONE_HAD_TO)


_INSTANCE = (
    Column("step", count("step")),
    Column("operation", words("op"), is_number=False),
    Column("group", words("communicator", 28), is_number=False),
    Column("size", bytes_of("bytes")),
    Column("members", count("members")),
    Column("last to arrive", _last, is_number=False),
    Column("after the first", time("skew_ns")),
    Column("waited in all", _waited),
    Column("of it exposed", time("exposed_wait_ns")),
    Column("transfer", time("transfer_ns")),
    Column("all there at", time("last_arrival_ns")),
)
_INSTANCE_BY = ("step", "op", "communicator", "bytes", "members", "straggler", "skew_ns",
                "wait_ns", "exposed_wait_ns", "transfer_ns", "last_arrival_ns")  # fmt: skip


def instances(app_data: AppData, run: int) -> LongTable:
    """Every instance, by time."""
    found = instance_costs(app_data.runs[run].report)
    return LongTable(
        "Matched collectives, in the order in which they were complete",
        (_shown_in(app_data, run), *_INSTANCE),
        ("number", *_INSTANCE_BY),
        found.sort_by([("last_arrival_ns", "ascending")]),
    )


def _every(app_data: AppData, run: int) -> Component | None:
    """All instances; null where those above are all."""
    if len(app_data.runs[run].report.instances) <= _MOST_WORST:
        return None
    made = tables.long_table("instances", run, instances(app_data, run))
    return section("every", "Every collective", made)
