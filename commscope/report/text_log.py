"""The state of a job by its logs, on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from commscope.logs.summary import LogSummary, channels_used
from commscope.normalize.logged_communicators import Communicator, Slowest
from commscope.report.log_report import LogReport
from commscope.report.text_log_findings import log_findings, log_verdict
from commscope.report.text_neighbors import hang_sections, neighbor_sections
from commscope.report.text_tables import MOST_ROWS, Cell, Row, Show, count_of, first_rows, text_of
from commscope.sanitize import plain, shortened
from commscope.units import percent, size, span
from commscope.wording import counted, listed, rank_list

#: Hosts, ranks or numbers of one thing that are named.
_MOST_NAMED = 6
#: Traces lie beside the logs of most jobs.
_IS_TRACE = ": is a trace ("
#: What tells of hangs besides logs, on which rules look.
_BESIDE_LOGS = ("flight_recorder", "ras")
_NAMES = {
    "rccl": "RCCL", "nccl": "NCCL", "hip": "HIP", "rocm": "ROCm", "cuda_driver": "CUDA driver",
    "rocr": "ROCr", "kernel": "Linux",
}  # fmt: skip


def print_log(report: LogReport, console: Console, *, details: bool = False) -> None:
    """Prints what the logs say, most important first; ``details`` gives all findings."""
    summary, width = report.summary, console.width
    sections = [
        *([] if not summary.files else [Text("\n".join(map(plain, _head(summary))))]),
        *_hangs_beside(report),
        *log_findings(report.findings, report.looked, width, details=details),
        _communicators(summary.communicators, width),
        _connections(summary, width),
        _calls(summary, width),
        _choices(summary, width),
        _environment(summary, width),
        _warnings(summary, width),
        _hangs(summary, width),
        *([] if report.neighbors is None else neighbor_sections(report.neighbors, width)),
        *([] if not summary.files else [Text("\n" + "\n".join(map(plain, _foot(summary))), "dim")]),
    ]
    console.print(Group(*(section for section in sections if section is not None)))


def print_log_verdict(report: LogReport, console: Console) -> None:
    """Prints the first lines only."""
    if report.summary.files:
        console.print(Text("\n".join(map(plain, _head(report.summary)))))
    for section in (*_hangs_beside(report), *log_verdict(report.findings)):
        console.print(section)


def _hangs_beside(report: LogReport) -> list[RenderableType]:
    """Hangs that the logs do not tell: rules look for those that they do."""
    return hang_sections([hang for hang in report.hangs if hang.source in _BESIDE_LOGS])


def _head(summary: LogSummary) -> Iterable[str]:
    yield _libraries(summary.versions)
    hosts = f" on {counted(len(summary.hosts), 'host')}: {listed(summary.hosts, _MOST_NAMED)}"
    processes = counted(summary.processes, "process", "processes")
    told = (processes if summary.processes else "processes not told") + (
        hosts if summary.hosts else ""
    )
    largest = summary.communicators[0] if summary.communicators else None
    if largest is not None and largest.nranks is not None:
        told += f"; {summary.ranks:,} of {largest.nranks:,} ranks"
    yield told
    for number, communicator in enumerate(summary.communicators):
        yield from _troubles(number, communicator)


def _libraries(versions: Sequence[Row]) -> str:
    texts = []
    for component, name in _NAMES.items():
        found = {row["version"]: row["build"] for row in versions if row["component"] == component}
        if component in ("rccl", "nccl") and len(found) > 1:
            texts.append(f"{name} of DIFFERENT versions: {', '.join(found)}")
        elif found:
            version, build = next(iter(found.items()))
            built = f" ({build})" if build else ""
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            texts.append(f"{name} {version}{built}{more}")
    return ", ".join(texts) or "The logs do not say which library this is."


def _troubles(number: int, communicator: Communicator) -> Iterable[str]:
    """What is wrong with a communicator."""
    if communicator.waiting:
        ranks = rank_list(communicator.waiting, _MOST_NAMED)
        yield f"Communicator {number}: initialisation did not finish on {ranks}"
    if communicator.aborted:
        ranks = rank_list(communicator.aborted, _MOST_NAMED)
        yield f"Communicator {number}: given up by {ranks}"


def _communicators(communicators: Sequence[Communicator], width: int) -> RenderableType | None:
    if not communicators:
        return None
    cells = (
        Cell("no.", lambda row: str(row["number"])),
        Cell("name", lambda row: shortened(row["it"].name, 18), "left", from_width=110),
        Cell("ranks", lambda row: _maybe(row["it"].nranks)),
        Cell("seen", lambda row: f"{row['it'].seen:,}"),
        Cell("initialised", lambda row: _initialised(row["it"]), "left"),
        Cell("hosts", lambda row: _maybe(row["it"].nnodes), from_width=80),
        Cell("network", _several("networks"), "left", from_width=70),
        Cell("channels", _several("coll_channels")),
        Cell("of p2p", _several("p2p_channels"), from_width=130),
        Cell("longest init", lambda row: _longest(row["it"].slowest), "left", from_width=90),
    )
    rows = [{"number": n, "it": communicator} for n, communicator in enumerate(communicators)]
    return first_rows("Communicators", cells, rows, width)


def _several(name: str) -> Show:
    """What members of a communicator report, which may differ."""
    return lambda row: listed(getattr(row["it"], name), _MOST_NAMED) or "?"


def _initialised(it: Communicator) -> str:
    if not it.started and not it.completed:
        return "not told"
    done = f"{it.completed:,} of {max(it.started, it.completed):,}"
    end = f", {it.destroyed:,} destroyed" if it.destroyed else ""
    return done + end


def _longest(slowest: Slowest | None) -> str:
    if slowest is None:
        return "?"
    part = f", {span(slowest.part_ns)} {slowest.part}" if slowest.part_ns else ""
    return f"{span(slowest.total_ns)}{part}"


def _connections(summary: LogSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("comm", _maybe_of("communicator")),
        Cell("transport", text_of("transport"), "left"),
        Cell("for", _purpose, "left", from_width=80),
        Cell("pairs of ranks", count_of("edge_count")),
        Cell("channels", count_of("channel_count")),
        Cell("records", count_of("count")),
        Cell("network device", _maybe_of("net_device"), from_width=80),
        Cell("GPU direct", _direct, "left"),
        Cell("", lambda row: row["detail"] or "", "left", from_width=100),
    )
    links = ", ".join(
        f"{row['name']} {row['channels']} x {row['bandwidth_gbps']:g} GB/s over {row['link']}"
        for row in summary.patterns[:3]
        if row["bandwidth_gbps"] is not None
    )
    title = "Connections" + (f" (chosen: {links})" if links else "")
    return first_rows(title, cells, summary.connections, width)


def _purpose(row: Row) -> str:
    return {0: "collectives", 1: "send and receive"}.get(row["connection"], "")


def _direct(row: Row) -> str:
    return "" if row["gpu_direct"] is None else "yes" if row["gpu_direct"] else "NO"


def _calls(summary: LogSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("comm", _maybe_of("communicator")),
        Cell("call", text_of("op"), "left"),
        Cell("size", lambda row: _size(row["bytes"])),
        Cell("a rank", lambda row: _size(row["call_bytes"]), from_width=80),
        Cell("type", text_of("dtype"), "left"),
        Cell("records", count_of("count")),
        Cell("ranks", lambda row: _maybe(row["rank_count"] or None), from_width=70),
    )
    rows = sorted(summary.calls, key=lambda row: -(row["call_bytes"] or 0) * row["count"])
    return first_rows("Calls", cells, rows, width)


def _choices(summary: LogSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("call", text_of("op"), "left"),
        Cell("size", lambda row: _size(row["bytes"])),
        Cell("algorithm", lambda row: row["algorithm"] or row["kernel"] or "?", "left"),
        Cell("protocol", text_of("protocol"), "left"),
        Cell("channels", _span_of_channels),
        Cell("records", count_of("count")),
    )
    rows = sorted(summary.choices, key=lambda row: -row["count"])
    return first_rows("Algorithm and protocol", cells, rows, width)


def _span_of_channels(row: Row) -> str:
    return _maybe(channels_used(row["first_channel"], row["last_channel"]))


def _environment(summary: LogSummary, width: int) -> RenderableType | None:
    room = max(width - 60, 20)
    cells = (
        Cell("variable", text_of("variable"), "left"),
        Cell("value", lambda row: shortened(row["value"] or "", room), "left"),
        Cell("processes", count_of("process_count")),
        Cell("", lambda row: "ignored" if row["ignored"] else "", "left"),
    )
    return first_rows("Environment", cells, summary.environment, width)


def _warnings(summary: LogSummary, width: int) -> RenderableType | None:
    room = max(width - 44, 30)
    cells = (
        Cell("level", text_of("level"), "left"),
        Cell("times", count_of("count")),
        Cell("message", lambda row: shortened(row["text"], room), "left"),
        Cell("first at", lambda row: f"{shortened(row['file'], 22)}:{row['line']}", "left"),
    )
    return first_rows("Warnings", cells, summary.warnings, width)


def _hangs(summary: LogSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("rank", count_of("rank")),
        Cell("operation", lambda row: f"{row['op'] or ''} {_maybe(row['seq'])}".strip(), "left"),
        Cell("elements", _maybe_of("elements_in")),
        Cell("last enqueued", _maybe_of("last_enqueued"), from_width=70),
        Cell("last completed", _maybe_of("last_completed"), from_width=70),
        Cell("at", lambda row: f"{shortened(row['file'], 22)}:{row['line']}", "left"),
    )
    return first_rows("The watchdog of PyTorch", cells, summary.hangs, width)


def _foot(summary: LogSummary) -> Iterable[str]:
    seen = summary.coverage
    of_library = seen.records + seen.unused + seen.torn
    yield (
        f"Read: {percent(seen.read_ratio)} of {of_library:,} records in {seen.lines:,} lines of "
        f"{counted(len(summary.files), 'file')} ({seen.records:,} used, {seen.unused:,} of no "
        f"use here, {seen.torn:,} torn)"
    )
    for file in summary.files:
        if file.cut:
            yield f"{file.file}: {file.cut}"
        if file.unended_bytes:
            length = f"{file.unended_bytes:,} bytes"
            yield f"{file.file}: the last line ({length}) has no end and was not read"
    notes = [note for note in summary.notes if _IS_TRACE not in note]
    yield from (f"({note})" for note in notes[:MOST_ROWS])


def _maybe(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _maybe_of(name: str) -> Any:
    return lambda row: "" if row[name] is None else f"{row[name]:,}"


def _size(count: int | None) -> str:
    return "?" if count is None else size(count)
