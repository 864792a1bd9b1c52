"""The tables of the page: words as in the other outputs, sorted by the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from commscope.compare.lines import Line, cause_rows, environment_rows, part_rows
from commscope.compare.model import Comparison, KernelPair
from commscope.compare.verdict import PART_NAMES, signed
from commscope.report.html.reasons import Row
from commscope.report.html.tables import (
    UNKNOWN_CELL,
    Cell,
    Column,
    Show,
    Table,
    bytes_of,
    count,
    present,
    table,
    time,
    word,
    words,
)
from commscope.units import span
from commscope.wording import listed, rank_spans

_MOST_STEPS, _MOST_RANKS, _MOST_ROWS = 60, 128, 40
_MOST_NAME = 110
_PIECE = "\u21b3 "  #: before a piece of what stands above it
_PAIRS = "Base / new. A click on a head sorts by the difference."


def parts_table(found: Comparison) -> Table | None:
    """The step and its parts, and whether each differs by more than noise."""
    by_name = {PART_NAMES[part.name]: part for part in found.parts}

    def numeric(head: str, read: Callable[[Any], int | None]) -> Column:
        return Column(head, lambda row: Cell(row[head], read(by_name[row["part"]])))

    columns = [
        Column("part", words("part"), is_number=False),
        numeric("base", lambda part: part.base_ns),
        numeric("new", lambda part: part.new_ns),
        numeric("change", lambda part: part.change_ns),
        Column("%", lambda row: Cell(row["%"])),
        Column("more than noise", words("more than noise", 200), is_number=False),
    ]
    caption = "The step and its parts: means over steps and ranks"
    return table("parts", caption, columns, part_rows(found))


def causes_table(found: Comparison) -> Table | None:
    """Causes, each with its pieces, in the order in which they add up."""
    columns = [
        Column("cause", lambda row: word(_marked(row["cause"])), is_number=False),
        *(Column(head, _as_is(head)) for head in ("base", "new", "change", "share")),
        Column("what it is", words("what it is", 300), is_number=False),
    ]
    return table("causes", "The causes and their pieces", columns, cause_rows(found))


def _marked(text: str) -> str:
    return f"{_PIECE}{text.strip()}" if text.startswith(" ") else text


def _as_is(head: str) -> Show:
    return lambda row: Cell(row[head])


def steps_table(found: Comparison) -> Table | None:
    """The steps of the first run of each side, in their order."""

    def step(row: Row) -> Cell:
        base, new = (("-" if row[key] is None else row[key]) for key in ("base_step", "new_step"))
        return Cell(f"{base} / {new}", row["number"])

    rows = [{**asdict(pair), "number": number} for number, pair in enumerate(found.steps)]
    caption = "Steps in order, means over ranks"
    columns = [Column("step", step), *_partitions(rows)]
    return table("steps", caption, columns, rows, most=_MOST_STEPS, note=_PAIRS)


def ranks_table(found: Comparison) -> Table | None:
    """Each rank on both sides."""
    rows = [asdict(pair) for pair in found.ranks]
    columns = [Column("rank", count("rank")), *_partitions(rows)]
    caption = "Ranks, means over steps"
    return table("ranks", caption, columns, rows, most=_MOST_RANKS, note=_PAIRS)


def _partitions(rows: Sequence[Row]) -> list[Column]:
    """A column for each part that any row has, but for what is nothing everywhere."""
    sides = [side for row in rows for side in (row["base_ns"], row["new_ns"]) if side]
    names = [name for name in (sides[0] if sides else ()) if any(side[name] for side in sides)]
    return [
        Column("length" if name == "window_ns" else PART_NAMES[name], _both(name, span, "_ns"))
        for name in names
    ]


def _both(name: str, say: Callable[[float], str], suffix: str = "") -> Show:
    """A number of both sides in a cell; what only one side has is its whole difference."""

    def show(row: Row) -> Cell:
        sides = [row[f"{side}{suffix}"] for side in ("base", "new")]
        if all(side is None or side[name] is None for side in sides):
            return UNKNOWN_CELL
        texts = ("-" if side is None else _said(side[name], say) for side in sides)
        base, new = (0 if side is None else side[name] or 0 for side in sides)
        return Cell(" / ".join(texts), new - base)

    return show


def _said(value: float | None, say: Callable[[float], str]) -> str:
    return "?" if value is None else say(value)


def _count(value: float) -> str:
    return f"{value:.4g}"


def _rate(value: float) -> str:
    return f"{value:,.1f}"


def collectives_table(found: Comparison) -> Table | None:
    """Kinds of collectives, by what their group is for, operation and size."""
    columns = [
        Column("operation", words("op"), is_number=False),
        Column("group", words("group", 28), is_number=False),
        Column("size", bytes_of("bytes")),
        Column("count", _both("count", _count)),
        Column("exposed", _both("exposed_ns", span)),
        Column("waiting", _both("wait_ns", span)),
        Column("transfer (median)", _both("transfer_p50_ns", span)),
        Column("bus GB/s", _both("busbw_gbps", _rate)),
    ]
    rows = [asdict(pair) for pair in found.collectives]
    caption = f"Collectives ({_each(found)})"
    note = f"{_PAIRS} {_lower_bounds(rows)}".strip()
    return table("collectives", caption, columns, rows, most=_MOST_ROWS, note=note)


def _lower_bounds(rows: Sequence[Row]) -> str:
    """What is said of bandwidths that are not exact."""
    sides = [side for row in rows for side in (row["base"], row["new"]) if side]
    notes = dict.fromkeys(side["bandwidth_note"] for side in sides if side["bandwidth_note"])
    return f"Of bandwidths: {'; '.join(notes)}." if notes else ""


def _each(found: Comparison) -> str:
    return "a step and rank" if found.unit == "step" else "a trace and rank"


def kernel_tables(found: Comparison) -> list[Table]:
    """Families, and kernels by name where these can be the same on both sides."""
    return present(
        _kernels("families", f"Kernel families ({_each(found)})", "family", found.families),
        _kernels("kernels", f"Kernels ({_each(found)})", "kernel", found.kernels or ()),
    )


def _kernels(name: str, caption: str, head: str, pairs: Sequence[KernelPair]) -> Table | None:
    columns = [
        Column(head, words("name", _MOST_NAME), is_number=False),
        Column("count", _both("count", _count)),
        Column("time", _both("total_ns", span)),
        Column("each", _both("each_ns", span)),
        Column("change", lambda row: Cell(signed(row["change_ns"]), row["change_ns"])),
    ]
    rows = [_kernel(pair) for pair in pairs]
    return table(name, caption, columns, rows, most=_MOST_ROWS, note=_PAIRS)


def _kernel(pair: KernelPair) -> Row:
    sides = {
        name: side and {**asdict(side), "each_ns": side.each_ns}
        for name, side in (("base", pair.base), ("new", pair.new))
    }
    return {"name": pair.name, "change_ns": pair.change_ns, **sides}


def runs_table(found: Comparison) -> Table | None:
    """What is compared of each run."""
    sides = (("base", found.base), ("new", found.new))
    rows = [{"side": side, **asdict(run)} for side, runs in sides for run in runs]
    unprofiled = [Column("without the profiler", time("unprofiled_step_ns"))]
    columns = [
        Column("run", words("name"), is_number=False),
        Column("side", words("side"), is_number=False),
        Column("trust", words("trust"), is_number=False),
        Column("ranks", lambda row: Cell(rank_spans(row["ranks"])), is_number=False),
        Column("steps", lambda row: _steps(row["steps"]), is_number=False),
        Column("mean step", time("step_ns")),
        *(unprofiled if any(row["unprofiled_step_ns"] for row in rows) else []),
        Column("files", lambda row: word(listed(row["files"]), 80), is_number=False),
    ]
    return table("runs", "The runs", columns, rows, most=_MOST_ROWS)


def _steps(numbers: Sequence[int]) -> Cell:
    return Cell(listed(numbers, 12) if numbers else "the whole trace")


def environment_table(found: Comparison) -> Table | None:
    """What differs around the runs."""
    columns = [Column(head, words(head, 200), is_number=False) for head in ("what", "base", "new")]
    rows: list[Line] = environment_rows(found)
    caption = "Environment: what differs"
    return table("environment", caption, columns, rows, most=_MOST_ROWS)
