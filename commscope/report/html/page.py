"""From the report to the page: views are made here, the templates only place them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commscope.findings.timing import no_communication
from commscope.report.html import opening
from commscope.report.html.about_tables import about_tables, checks_table, facts, missing
from commscope.report.html.comm_tables import (
    collective_tables,
    communicator_tables,
    waiting_tables,
)
from commscope.report.html.document import capitalised, document, sentences
from commscope.report.html.heat import heat
from commscope.report.html.log_tables import log_notes, log_tables
from commscope.report.html.run_tables import kernel_tables, run_tables, withheld_kernels
from commscope.report.html.step_bars import PARTS, bars, shown_steps
from commscope.report.html.step_picture import step_picture
from commscope.report.model import Report
from commscope.sanitize import shortened
from commscope.wording import counted


def render(report: Report, *, title: str = "Communication report", told: Sequence[str] = ()) -> str:
    """The report as one HTML file that needs nothing from outside, equal for equal input.

    ``title`` heads the page, such as the name of the run; ``told``, what is known of the job beside
    its files, follows on the verdict.
    """
    views = {**_head(report), **_pictures(report), **_sections(report)}
    views |= {"parts": PARTS, "told": capitalised(told)}
    return document("page.html", title, views)


def _head(report: Report) -> dict[str, Any]:
    return {
        "about": _about(report),
        "verdict": sentences(report.summary.verdict),
        "trust": report.trust.verdict,
        "trust_line": report.trust_line.partition(": ")[2],
        "numbers": opening.numbers(report),
        "findings": opening.findings(report),
        "findings_left_out": opening.findings_left_out(report),
    }


def _about(report: Report) -> list[str]:
    """What the run was, in a line."""
    summary = report.summary
    told = [counted(summary.ranks, "rank")]
    if summary.step_source != "whole_trace":
        told.append(counted(summary.steps, "step"))
    return [*told, *(shortened(gpu, 60) for gpu in report.environment.gpus[:2])]


def _pictures(report: Report) -> dict[str, Any]:
    shown = shown_steps(report) if report.summary.step_source != "whole_trace" else []
    return {
        "bars": bars(report, shown),
        "heat": heat(shown) if shown else None,
        "worst": None if report.worst_step is None else step_picture(report.worst_step),
    }


def _sections(report: Report) -> dict[str, Any]:
    return {
        "run_tables": run_tables(report),
        "collective_tables": collective_tables(report),
        "no_communication": no_communication(report.trust),
        "waiting_tables": waiting_tables(report),
        "waiting_says": [f"{says[:1].upper()}{says[1:]}." for says in report.verdicts],
        "communicator_tables": communicator_tables(report),
        "kernel_tables": kernel_tables(report),
        "kernels_withheld": withheld_kernels(report),
        "log_tables": log_tables(report.log) if report.log else [],
        "log_notes": log_notes(report.log) if report.log else [],
        "facts": facts(report),
        "about_tables": about_tables(report),
        "missing": missing(report),
        "checks": checks_table(report),
    }
