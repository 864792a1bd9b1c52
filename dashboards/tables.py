"""Tables on pages: HTML as in the report where they are short, a grid where they are long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import dash_ag_grid as dag
import pyarrow as pa
import pyarrow.compute as pc
from dash import MATCH, Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from commscope.report.html import tables as report_tables
from commscope.report.html.reasons import Row
from commscope.report.html.tables import Cell, Column, Table

#: Longer tables are grids, and those still longer are fetched in parts while one scrolls.
MOST_HTML = 200
MOST_AT_ONCE = 5_000
_LONG_TEXT = 44
#: What the button says that sorts by a column without words at its head.
_NO_HEAD = "Sort by where it is shown"
#: Tables of more rows scroll under their heads.
_TALL = 24
_GRID_ROWS = 14
_ROW_PX = 34
_IN_PARTS = {"cacheBlockSize": 200, "maxBlocksInCache": 20}
#: Columns are as wide as the texts of so many rows need, between these widths.
_LOOKED_AT = 60
_CHARACTER_PX, _AROUND_PX, _SORT_PX = 8.0, 24, 30
_LEAST_PX, _MOST_PX = 44, 440


@dataclass(frozen=True, slots=True)
class Linked(Cell):
    """A cell that leads somewhere."""

    href: str = ""


@dataclass(frozen=True, slots=True)
class LongTable:
    """A table of many rows, in which only those that are seen become cells.

    ``by`` names, for each column, the column of ``rows`` that sorts it.
    """

    caption: str
    columns: Sequence[Column]
    by: Sequence[str]
    rows: pa.Table
    note: str = ""


def table(
    columns: Sequence[Column], rows: Iterable[Row], *, name: str, caption: str, note: str = ""
) -> html.Div | None:
    """A table of all rows; null without any. ``name`` is its own on the page."""
    made = report_tables.table(name, caption, columns, rows, note=note)
    return None if made is None else shown(made)


def every(made: Iterable[Table | None]) -> list[Component]:
    """Those of the tables that have rows."""
    return [shown(each) for each in made if each is not None]


def shown(made: Table, *, is_sortable: bool = True) -> html.Div:
    """A table of the report on a page."""
    if len(made.rows) > MOST_HTML:
        return _grid_of(made)
    return html.Div([_scrolled(made, is_sortable), *_note(made.note)], className="table-box")


def _scrolled(made: Table, is_sortable: bool) -> html.Div:
    caption = f"{made.name}-caption"
    heads = [_head(column, is_sortable) for column in made.columns]
    drawn = html.Table(
        [
            html.Caption(html.Span(made.caption), id=caption),
            html.Thead(html.Tr(heads)),
            html.Tbody([_row(made.columns, cells) for cells in made.rows]),
        ],
        className="sortable" if is_sortable else "",
    )
    named: Any = {"aria-labelledby": caption}
    look = "scroll tall" if len(made.rows) > _TALL else "scroll"
    return html.Div(drawn, className=look, tabIndex=0, role="region", **named)


def _note(words: str) -> list[html.P]:
    return [html.P(words, className="note")] if words else []


def _head(column: Column, is_sortable: bool) -> html.Th:
    inside: Any = column.head
    if is_sortable:
        named: Any = {} if column.head else {"aria-label": _NO_HEAD}
        inside = html.Button(column.head, type="button", **named)
    return html.Th(inside, scope="col", className="n" if column.is_number else "t")


def _row(columns: Sequence[Column], cells: Sequence[Cell]) -> html.Tr:
    first, rest = cells[0], zip(columns[1:], cells[1:])
    head = html.Th(_inside(first), scope="row", **_look(columns[0], first))
    return html.Tr([head, *(html.Td(_inside(cell), **_look(of, cell)) for of, cell in rest)])


def _inside(cell: Cell) -> Any:
    return dcc.Link(cell.text, href=cell.href) if isinstance(cell, Linked) else cell.text


def _look(column: Column, cell: Cell) -> dict[str, Any]:
    """Class, long form, and the number by which the row is sorted."""
    kind = "n" if column.is_number else "long" if len(cell.text) > _LONG_TEXT else "t"
    look: dict[str, Any] = {"className": f"{kind} missing" if cell.is_missing else kind}
    if cell.hint:
        look["title"] = cell.hint
    if cell.sort is not None:
        look["data-v"] = str(cell.sort)
    return look


def _grid_of(made: Table) -> html.Div:
    rows = [_cells(cells) for cells in made.rows]
    drawn = _grid(made.name, made.columns, {"rowData": rows}, rows, len(rows))
    return _boxed(made.caption, drawn, made.note)


def long_table(name: str, run: int, made: LongTable) -> html.Div:
    """All rows, as a grid where they are many.

    The page registers their source with ``register_rows`` by the name.
    """
    count = made.rows.num_rows
    if count <= MOST_HTML:
        cells = [[column.show(row) for column in made.columns] for row in made.rows.to_pylist()]
        return shown(Table(name, made.caption, made.columns, cells, made.note))
    is_whole = count <= MOST_AT_ONCE
    rows = window(made, 0, count if is_whole else _LOOKED_AT)
    source: dict[str, Any] = {"rowData": rows} if is_whole else {"rowModelType": "infinite"}
    drawn = _grid(rows_id(name, run), made.columns, source, rows, count)
    return _boxed(made.caption, drawn, made.note)


def rows_id(name: str, run: int) -> dict[str, Any]:
    """The id of the grid of a run's long table."""
    return {"type": f"rows-{name}", "run": run}


def register_rows(app: Dash, name: str, source: Callable[[int], LongTable]) -> None:
    """Fetches the rows of a long table while one scrolls; ``source`` gives the table of a run."""
    of_run = {"type": f"rows-{name}", "run": MATCH}

    @app.callback(
        Output(of_run, "getRowsResponse"), Input(of_run, "getRowsRequest"), State(of_run, "id")
    )
    def rows(request: dict[str, Any] | None, grid: dict[str, Any]) -> Any:
        return no_update if request is None else response(source(int(grid["run"])), request)


def response(made: LongTable, request: dict[str, Any]) -> dict[str, Any]:
    """What the grid is told of a request for rows: these, and how many there are."""
    start, end = (int(request[name]) for name in ("startRow", "endRow"))
    order = [(it["colId"], it["sort"]) for it in request.get("sortModel") or ()]
    start, end = max(start, 0), min(end, start + MOST_AT_ONCE)
    return {"rowData": window(made, start, end, order), "rowCount": made.rows.num_rows}


def window(
    made: LongTable, start: int, end: int, order: Sequence[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    """The cells of some rows, as the grid takes them; ``order`` is columns with asc or desc."""
    names = {f"v{place}": by for place, by in enumerate(made.by)}
    keys = [
        (names[column], "descending" if way == "desc" else "ascending")
        for column, way in order
        if column in names
    ]
    rows = made.rows.select(list(dict.fromkeys(by for by, _ in keys))) if keys else made.rows
    if keys:
        places = pc.sort_indices(_plain(rows), sort_keys=keys).slice(start, max(end - start, 0))
        cut = made.rows.take(places)
    else:
        cut = made.rows.slice(start, max(end - start, 0))
    return [_cells([column.show(row) for column in made.columns]) for row in cut.to_pylist()]


def _plain(rows: pa.Table) -> pa.Table:
    """The rows without dictionaries, by which Arrow cannot sort."""
    plain = [pa.field(f.name, getattr(f.type, "value_type", f.type)) for f in rows.schema]
    return rows.cast(pa.schema(plain))


def _cells(cells: Sequence[Cell]) -> dict[str, Any]:
    """Of each cell its text (t), what it sorts by (v), its long form (h) and where it leads (l)."""
    row: dict[str, Any] = {}
    for place, cell in enumerate(cells):
        is_text = cell.sort is None and not cell.is_missing
        row[f"t{place}"] = cell.text
        row[f"v{place}"] = cell.text if is_text else cell.sort
        row[f"h{place}"] = cell.hint or (cell.text if len(cell.text) > _LONG_TEXT else "")
        if isinstance(cell, Linked):
            row[f"l{place}"] = cell.href
    return row


def _grid(
    name: str | dict[str, Any],
    columns: Sequence[Column],
    source: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    count: int,
) -> dag.AgGrid:
    height = (min(count, _GRID_ROWS) + 2) * _ROW_PX
    return dag.AgGrid(
        id=name,
        columnDefs=[
            _grid_column(place, column, _wide(place, column, rows))
            for place, column in enumerate(columns)
        ],
        defaultColDef={
            "resizable": True,
            "sortable": True,
            "filter": False,
            "wrapHeaderText": True,
            "autoHeaderHeight": True,
        },
        dashGridOptions={
            "rowHeight": _ROW_PX,
            "suppressFieldDotNotation": True,
            "enableCellTextSelection": True,
            "tooltipShowDelay": 400,
            **(_IN_PARTS if "rowModelType" in source else {}),
        },
        style={"height": f"{height}px"},
        className="grid",
        **source,
    )


def _wide(place: int, column: Column, rows: Sequence[dict[str, Any]]) -> float:
    """How wide a column is by its head and its first texts."""
    text = max((len(row[f"t{place}"]) for row in rows[:_LOOKED_AT]), default=0)
    words = max(map(len, column.head.split()), default=0)
    head = max(words, len(column.head) / 2) * _CHARACTER_PX + _SORT_PX
    return min(max(text * _CHARACTER_PX, head, _LEAST_PX) + _AROUND_PX, _MOST_PX)


def _grid_column(place: int, column: Column, wide: float) -> dict[str, Any]:
    kind = "ag-right-aligned" if column.is_number else "ag-left-aligned"
    return {
        "field": f"v{place}",
        "headerName": column.head,
        "width": round(wide),
        "tooltipField": f"h{place}",
        "cellRenderer": "CommscopeCell",
        "cellRendererParams": {"place": place},
        "cellClass": f"{kind}-cell",
        "headerClass": f"{kind}-header",
        "sortingOrder": ["desc", "asc", None] if column.is_number else ["asc", "desc", None],
    }


def _boxed(caption: str, grid: dag.AgGrid, note: str) -> html.Div:
    named: Any = {"aria-label": caption}
    region = html.Div(grid, role="region", **named)
    heading = html.P(caption, className="grid-caption")
    return html.Div([heading, region, *_note(note)], className="table-box")
