from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from dash import Dash

from commscope.dashboards import tables
from commscope.dashboards.tables import Linked, LongTable
from commscope.report.html.tables import Cell, Column, count, time, words

COLUMNS = [Column("kernel", words("name"), is_number=False), Column("total", time("total_ns"))]


def rows(number: int) -> list[dict[str, Any]]:
    return [{"name": f"kernel {it}", "total_ns": 1000 * it} for it in range(number)]


def found(component: Any, kind: str) -> list[Any]:
    return [it for it in component._traverse() if type(it).__name__ == kind]


def test_short_tables_are_html_with_heads_and_a_caption():
    made = tables.table(COLUMNS, rows(2), name="kernels", caption="Kernels", note="All.")
    heads = found(made, "Th")
    assert [head.scope for head in heads] == ["col", "col", "row", "row"]
    assert [head.className for head in heads[:2]] == ["t", "n"]
    assert found(made, "Caption")[0].id == "kernels-caption"
    numbers = found(made, "Td")
    assert [cell.children for cell in numbers] == ["0 ns", "1.00 us"]
    assert numbers[1].to_plotly_json()["props"]["data-v"] == "1000"
    assert found(made, "P")[0].children == "All."


def test_no_rows_is_no_table():
    assert tables.table(COLUMNS, [], name="none", caption="None") is None


def test_missing_cells_say_so_and_names_are_cut():
    name = "<b>\u202e" + "n" * 100
    made = tables.table(COLUMNS, [{"name": name, "total_ns": None}], name="x", caption="X")
    (cell,) = found(made, "Td")
    assert cell.className == "n missing"
    head = found(made, "Th")[2]
    assert len(head.children) == 60
    assert head.children.startswith("<b>\ufffd")


def test_cells_may_lead_somewhere():
    column = Column("to", lambda row: Linked(row["name"], href="/timeline?inst=3"), is_number=False)
    made = tables.table([column], rows(1), name="links", caption="Links")
    (link,) = found(made, "Link")
    assert (link.children, link.href) == ("kernel 0", "/timeline?inst=3")


@pytest.mark.parametrize("number", [201, 400])
def test_more_than_200_rows_are_a_grid(number: int):
    made = tables.table(COLUMNS, rows(number), name="kernels", caption="Kernels")
    (grid,) = found(made, "AgGrid")
    assert len(grid.rowData) == number
    assert grid.rowData[3]["t1"] == "3.00 us"
    assert grid.rowData[3]["v1"] == 3000


def long_of(number: int) -> LongTable:
    columns = [Column("count", count("count")), Column("name", words("name"), is_number=False)]
    names = [None if it == 1 else f"k{it}" for it in range(number)]
    made = pa.table({"count": pa.array(range(number), pa.int64()), "name": names})
    return LongTable("Calls", columns, ("count", "name"), made)


def test_long_tables_come_whole_or_in_parts():
    (grid,) = found(tables.long_table("calls", 0, long_of(5_000)), "AgGrid")
    assert len(grid.rowData) == 5_000
    (grid,) = found(tables.long_table("calls", 1, long_of(5_001)), "AgGrid")
    assert grid.rowModelType == "infinite"
    assert grid.id == {"type": "rows-calls", "run": 1}


def test_parts_are_sorted_over_all_rows_and_unknown_ones_are_last():
    request = {
        "startRow": 2,
        "endRow": 4,
        "sortModel": [{"colId": "v0", "sort": "desc"}],
    }
    answer = tables.response(long_of(6_000), request)
    assert answer["rowCount"] == 6_000
    assert [row["t0"] for row in answer["rowData"]] == ["5,997", "5,996"]
    request = {"startRow": 5_999, "endRow": 6_200, "sortModel": [{"colId": "v1", "sort": "asc"}]}
    (last,) = tables.response(long_of(6_000), request)["rowData"]
    assert (last["v0"], last["v1"]) == (1, None)


def test_requests_for_too_much_or_unknown_columns_are_cut():
    request = {"startRow": -5, "endRow": 10**9, "sortModel": [{"colId": "v9", "sort": "asc"}]}
    assert len(tables.response(long_of(9_000), request)["rowData"]) <= tables.MOST_AT_ONCE


def test_rows_are_fetched_by_run():
    app = Dash("rows")
    tables.register_rows(app, "calls", lambda run: long_of(10 + run))
    (callback,) = app.callback_map.values()
    (asked,) = [it["id"] for it in callback["inputs"]]
    assert '"type":"rows-calls"' in asked


def test_cells_of_a_grid_say_what_they_sort_by():
    (row,) = tables.window(long_of(1), 0, 1)
    assert row == {"t0": "0", "v0": 0, "h0": "", "t1": "k0", "v1": "k0", "h1": ""}
    assert isinstance(Linked("a", href="b"), Cell)
