"""Tables of where the numbers are from: machines, clocks, files, checks, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commscope.findings.model import Check, Result
from commscope.report.html.reasons import Row
from commscope.report.html.tables import (
    Cell,
    Column,
    Table,
    bytes_of,
    count,
    present,
    table,
    time,
    word,
    words,
)
from commscope.report.model import Report
from commscope.sanitize import shortened

_MOST_ROWS = 64
_MOST_TEXT = 600
_NAMES = {
    "rocm": "ROCm",
    "roctracer_version": "roctracer",
    "rocprofiler-sdk_version": "rocprofiler-sdk",
    "hip_runtime_version": "HIP runtime",
    "hip_driver_version": "HIP driver",
    "cuda": "CUDA",
    "cupti_version": "CUPTI",
    "cuda_runtime_version": "CUDA runtime",
    "cuda_driver_version": "CUDA driver",
    "nccl_version": "NCCL/RCCL",
}


_STEPS = {
    "annotation": "by the profiler's annotation",
    "marker": "by a marker",
    "inferred": "inferred from what repeats",
    "whole_trace": "the whole trace is one window",
}


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is not measured, left out or guessed, and why."""

    what: str
    why: str


def facts(report: Report) -> list[tuple[str, str]]:
    """What is known of the machines and of the clocks, name by name."""
    versions = sorted(report.environment.versions.items(), key=_version_order)
    hosts = sorted({row["host"] for row in report.ranks if row["host"]})
    told = [
        ("GPUs", ", ".join(report.environment.gpus)),
        ("Hosts", ", ".join(hosts)),
        *((_NAMES.get(name, name.replace("_", " ")), value) for name, value in versions),
        ("Steps", f"{report.summary.steps:,}, {_STEPS[report.summary.step_source]}"),
        ("Clocks", report.clock.method),
    ]
    return [(shortened(name, 60), shortened(value, _MOST_TEXT)) for name, value in told if value]


def _version_order(version: tuple[str, str]) -> tuple[int, str]:
    known = list(_NAMES)
    return (known.index(version[0]) if version[0] in known else len(known), version[0])


def about_tables(report: Report) -> list[Table]:
    """Where each rank ran, its clock, and the files that were read."""
    return present(_places(report), _files(report))


def _places(report: Report) -> Table | None:
    clocks = {clock.rank: clock for clock in report.clock.ranks}
    rows = [
        {
            **row,
            "offset_ns": clocks[row["rank"]].offset_ns,
            "error_ns": clocks[row["rank"]].error_ns,
        }
        for row in report.ranks
        if row["rank"] in clocks
    ]
    columns = [
        Column("rank", count("rank")),
        Column("host", words("host", 40), is_number=False),
        Column("device", count("device")),
        Column("GPU", words("gpu", 40), is_number=False),
        Column("library", words("backend", 20), is_number=False),
        Column("clock ahead", time("offset_ns")),
        Column("clock error", time("error_ns")),
    ]
    return table("places", "Where each rank ran", columns, rows, most=_MOST_ROWS)


def _files(report: Report) -> Table | None:
    rows = [
        {
            "file": found.file,
            "format": found.format,
            "rank": found.rank,
            "bytes": found.bytes,
            "events": found.events,
            "sha256": found.sha256,
        }
        for found in report.inputs
    ]
    columns = [
        Column("file", words("file", 80), is_number=False),
        Column("format", words("format", 24), is_number=False),
        Column("rank", count("rank")),
        Column("size", bytes_of("bytes")),
        Column("events", count("events")),
        Column("SHA-256", words("sha256", 13), is_number=False),
    ]
    return table("files", "Files read", columns, rows, most=_MOST_ROWS)


def missing(report: Report) -> list[Missing]:
    """All that is withheld, was not checked, could not be looked at, left out or guessed."""
    every = [*_withheld(report.trust.checks), *_checks(report.trust.checks), *_rules(report)]
    every += [Missing("Note", note) for note in report.notes]
    return [
        Missing(shortened(one.what, _MOST_TEXT), shortened(one.why, _MOST_TEXT))
        for one in dict.fromkeys(every)
    ]


def _withheld(checks: Sequence[Check]) -> Iterator[Missing]:
    for check in checks:
        for withheld in check.withheld:
            yield Missing(f"Withheld: {withheld}", f"{check.rule}: {check.says}")


def _checks(checks: Sequence[Check]) -> Iterator[Missing]:
    names = {Result.FAIL: "Check not passed", Result.NOT_CHECKED: "Not checked"}
    for check in checks:
        if check.result in names and not check.withheld:
            yield Missing(f"{names[check.result]}: {check.title} ({check.rule})", check.says)


def _rules(report: Report) -> Iterator[Missing]:
    """Rules that could not look, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for looked in report.looked:
        if looked.result == "could_not_look":
            by_reason.setdefault(looked.says, []).append(f"{looked.title} ({looked.rule})")
    for says, rules in by_reason.items():
        what = "Rule" if len(rules) == 1 else "Rules"
        yield Missing(f"{what} that could not look: {', '.join(rules)}", says)


def checks_table(report: Report) -> Table | None:
    """All checks of trust."""
    rows = [
        {"rule": check.rule, "title": check.title, "result": check.result, "says": check.says}
        for check in report.trust.checks
    ]
    columns = [
        Column("check", words("rule"), is_number=False),
        Column("of", words("title"), is_number=False),
        Column("result", _result, is_number=False),
        Column("says", lambda row: word(row["says"], _MOST_TEXT), is_number=False),
    ]
    return table("checks", "All checks of trust", columns, rows)


def _result(row: Row) -> Cell:
    return Cell(row["result"].value.replace("_", " "))
