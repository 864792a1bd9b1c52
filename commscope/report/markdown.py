"""The report as Markdown, for a comment at a pull request or the summary of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from commscope.findings.model import Finding
from commscope.report.causes import CAUSES, by_cause
from commscope.report.markdown_text import (
    Section,
    bullets,
    code_span,
    details,
    fitted,
    prose,
    table,
)
from commscope.report.model import Report
from commscope.report.text_collectives import bus_bandwidth
from commscope.report.text_tables import (
    Cell,
    Row,
    count_of,
    partition_cells,
    share_of,
    text_of,
    time_of,
)
from commscope.units import percent, size, span

#: By this a comment is found again, to be written over.
MARKER = "<!-- commscope:report -->"
_WIDE = 110
_MOST_ROWS = 20
MOST_FINDINGS = 20
_MOST_OF_A_LINE = 400
_MARKS = {"high": "🔴 high", "medium": "🟠 medium", "low": "⚪ low"}


def report_markdown(report: Report, *, first: Sequence[Section] = ()) -> str:
    """The report, as far as it has room in a comment; ``first`` follows on the verdict."""
    sections = (one for build in _SECTIONS for one in build(report))
    return fitted(MARKER, _head(report), (*first, *sections))


def _head(report: Report) -> str:
    summary = report.summary
    times, shares, bound = summary.step_times, summary.shares, summary.upper_bound
    numbers = [
        ("step (p50)", span(times.p50_ns) if times else "no closed step"),
        ("compute", percent(shares.compute if shares else None)),
        ("exposed comm", percent(shares.exposed_comm if shares else None)),
        ("idle", percent(shares.idle if shares else None)),
        ("overlap", "none" if shares and summary.overlap_ratio is None
         else percent(summary.overlap_ratio)),
        ("can win at most", span(bound.exposed_hidden_ns) if bound else "?"),
    ]  # fmt: skip
    heads, values = zip(*numbers)
    return (
        f"**{prose(summary.verdict)}**\n\n"
        f"Trust {prose(report.trust_line)}\n\n{table(heads, [values], numbers_from=0)}"
    )


def _findings(report: Report) -> Iterator[Section]:
    if report.findings:
        shown = report.findings[:MOST_FINDINGS]
        more = len(report.findings) - len(shown)
        body = "\n".join(map(finding_details, shown)) + (
            f"\n{more} more findings\n" if more else ""
        )
        yield Section("Findings", body)


def finding_details(found: Finding) -> str:
    """A finding, folded: its title shows, with what could be won."""
    bound = f", at most {span(found.bound_ns)} to win" if found.bound_ns else ""
    title = f"{_MARKS[found.severity]}: {found.rule} {prose(found.title)}{bound}"
    quotes = [
        f"> {code_span(f'{quote.file}:{quote.line}: {quote.text}', _MOST_OF_A_LINE)}\n"
        for quote in found.quotes
        if quote.text is not None
    ]
    advice = bullets(advice.do for advice in found.advice)
    body = [f"{prose(found.says)}\n", "\n".join(quotes), advice]
    return details(title, "\n".join(part for part in body if part))


def _causes(report: Report) -> Iterator[Section]:
    rows = [{**asdict(found), "says": CAUSES[found.cause]} for found in by_cause(report.gap_sums)]
    cells = (
        Cell("cause", text_of("says"), "left"),
        Cell("gaps", count_of("gaps")),
        Cell("exposed", time_of("total_ns")),
        Cell("share", share_of("share")),
    )
    yield from _section("Exposed communication by cause", cells, rows)


def _steps(report: Report) -> Iterator[Section]:
    if report.summary.step_source == "whole_trace":
        return
    rows = [row for row in report.steps if row["window_ns"] is not None]
    worst = sorted(rows, key=lambda row: -(row["exposed_comm_ns"] or 0))[:_MOST_ROWS]
    cells = (
        Cell("rank", text_of("rank")),
        Cell("step", lambda row: f"{row['step']}{' (open)' if row['open'] else ''}"),
        Cell("window", time_of("window_ns")),
        *partition_cells(_WIDE, waits=len(report.instances) > 0),
    )
    more = f", the {len(worst)} of {len(rows)} with most exposed" if len(rows) > len(worst) else ""
    order = sorted(worst, key=lambda row: (row["rank"], row["start_ns"]))
    yield from _section(f"Steps{more}", cells, order)


def _ranks(report: Report) -> Iterator[Section]:
    cells = (
        Cell("rank", text_of("rank")),
        Cell("span", time_of("window_ns")),
        *partition_cells(_WIDE, waits=len(report.instances) > 0),
        Cell("kernels", count_of("kernels")),
        Cell("collectives", count_of("collectives")),
    )
    yield from _section("Ranks, whole trace", cells, list(report.ranks))


def _collectives(report: Report) -> Iterator[Section]:
    rows = sorted(report.collectives, key=lambda row: -(row["exposed_ns"] or 0))
    cells = (
        Cell("communicator", text_of("communicator"), "left"),
        Cell("operation", text_of("op"), "left"),
        Cell("size", lambda row: "?" if row["bytes"] is None else size(row["bytes"])),
        Cell("count", count_of("count")),
        Cell("time", time_of("communication_ns")),
        Cell("exposed", time_of("exposed_ns")),
        Cell("bus GB/s", bus_bandwidth),
        Cell("of expected", share_of("share_of_expected")),
    )
    yield from _section("Collectives, most exposed first", cells, rows)


def _families(report: Report) -> Iterator[Section]:
    cells = (
        Cell("family", text_of("family"), "left"),
        Cell("activities", count_of("count")),
        Cell("time", time_of("total_ns")),
        Cell("share", share_of("share")),
    )
    yield from _section("Kernel families", cells, list(report.families))


def _environment(report: Report) -> Iterator[Section]:
    found = report.environment
    versions = (f"{name}: {version}" for name, version in sorted(found.versions.items()))
    yield Section("Environment", bullets([*found.gpus, *versions]))


def _not_measured(report: Report) -> Iterator[Section]:
    withheld = {str(w): check.rule for check in report.trust.checks for w in check.withheld}
    lines = (f"{what} ({rule})" for what, rule in withheld.items())
    yield Section("Not measured, left out or guessed", bullets([*lines, *report.notes]))


def _section(title: str, cells: Sequence[Cell], rows: Sequence[Row]) -> Iterator[Section]:
    """A table of the first rows; none without rows."""
    if not rows:
        return
    if len(rows) > _MOST_ROWS:
        title += f", the first {_MOST_ROWS} of {len(rows):,}"
    heads = [cell.head for cell in cells]
    texts = ([prose(cell.show(row)) for cell in cells] for row in rows[:_MOST_ROWS])
    words = sum(cell.justify == "left" for cell in cells)
    yield Section(title, table(heads, texts, numbers_from=words))


_SECTIONS: tuple[Callable[[Report], Iterator[Section]], ...] = (
    *(_findings, _not_measured, _causes, _steps, _ranks),
    *(_collectives, _families, _environment),
)
