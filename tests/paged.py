"""Pages of the app without a browser: runs as it holds them, and what is on a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
from dash import dcc
from dash.development.base_component import Component
from support import ROOT

import commscope
from commscope.compare.scope import Examined
from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.beside import Beside
from commscope.dashboards.comparisons import Comparisons, PackedRun
from commscope.dashboards.data import RunView
from commscope.dashboards.urlstate import UrlState
from commscope.report.model import Report, ReportTable

SAMPLES = ROOT / "sample_traces"
HOSTILE = '<img src=x onerror="alert(1)">\u202e\x1b[31m](javascript:alert(1))'


@cache
def examined(name: str, log: str = "") -> Examined:
    """A sample, or a file of one, with a log where its file is named."""
    path = SAMPLES / name
    logs = [path / file for file in log.split(",") if file]
    analysis, report = commscope.api.examine(commscope.load(path, logs=logs))
    return Examined(name, report, analysis)


@cache
def loaded(name: str, log: str = "") -> LoadedRun:
    """The same as the app holds it."""
    run = examined(name, log)
    view = RunView.of(run.analysis, run.report, name)
    return LoadedRun(name, run.report, view, Beside.of(run.analysis))


def packed(name: str) -> PackedRun:
    """The same as it is kept for comparisons."""
    run = examined(name)
    return PackedRun.of(run.name, run.report, run.analysis)


def one_run(run: LoadedRun) -> AppData:
    """An app of one run."""
    return AppData((run,))


def two_runs() -> AppData:
    """An app of a sound run and one with a straggler."""
    names = ("ddp_default", "ddp_straggler")
    return AppData(tuple(map(loaded, names)), "/", Comparisons([*map(packed, names)]))


def at(path: str, **values: str) -> UrlState:
    """An address."""
    return UrlState(path, values=values)


def with_report(run: LoadedRun, **tables: pa.Table) -> LoadedRun:
    """The run with other tables in its report."""
    return replace(run, report=_with_tables(run.report, tables))


def _with_tables(report: Report, tables: dict[str, pa.Table]) -> Report:
    return replace(report, **{name: ReportTable(table) for name, table in tables.items()})


def filled(table: pa.Table, name: str, text: str) -> pa.Table:
    """A table with the same text in all rows of a column."""
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array([text] * table.num_rows, pa.string()))


def everything(page: Component) -> Iterator[Component]:
    """The page and all that is in it."""
    yield page
    yield from (part for part in page._traverse() if isinstance(part, Component))


def of_kind(page: Component, kind: str) -> list[Any]:
    """All components of a kind, such as ``Td``."""
    return [part for part in everything(page) if type(part).__name__ == kind]


def words(page: Component) -> str:
    """All that can be read on a page, charts apart, a line a block; blanks are plain ones."""
    return "\n".join(_texts(page)).replace("\u00a0", " ")


def _texts(part: Any) -> Iterator[str]:
    inside = getattr(part, "children", None)
    every = inside if isinstance(inside, (list, tuple)) else [inside]
    told = [each for each in every if each is not None]
    if any(isinstance(each, str) for each in told):
        yield "".join(each if isinstance(each, str) else "".join(_texts(each)) for each in told)
    else:
        for each in told:
            yield from _texts(each)


def figures(page: Component) -> dict[str, go.Figure]:
    """The charts of a page by their names."""
    stores = (part for part in everything(page) if isinstance(part, dcc.Store))
    charts = (part for part in stores if isinstance(part.id, dict))
    return {part.id["name"]: go.Figure(part.data) for part in charts}


def alike(page: Component) -> list[str]:
    """Ids that are on the page more than once."""
    ids = [str(part.id) for part in everything(page) if getattr(part, "id", None)]
    return sorted({each for each in ids if ids.count(each) > 1})


def row_of(page: Component, name: str) -> list[list[str]]:
    """The texts of the rows of the table of this name."""
    for drawn in of_kind(page, "Table"):
        if of_kind(drawn, "Caption")[0].id == f"{name}-caption":
            body = of_kind(drawn, "Tbody")[0]
            return [
                [_text(cell) for cell in row.children] for row in of_kind(body, "Tr")
            ]  # fmt: skip
    raise AssertionError(f"no table {name}")


def _text(cell: Any) -> str:
    inside = cell.children
    return inside.children if isinstance(inside, Component) else inside
