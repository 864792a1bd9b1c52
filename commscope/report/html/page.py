"""From the report to the page: views are made here, the templates only place them."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from commscope._version import __version__
from commscope.report.html import opening
from commscope.report.html.about_tables import about_tables, checks_table, facts, missing
from commscope.report.html.comm_tables import (
    collective_tables,
    communicator_tables,
    waiting_tables,
)
from commscope.report.html.heat import heat
from commscope.report.html.log_tables import log_notes, log_tables
from commscope.report.html.run_tables import kernel_tables, run_tables, withheld_kernels
from commscope.report.html.step_bars import PARTS, bars, columns
from commscope.report.html.step_picture import step_picture
from commscope.report.model import Report
from commscope.sanitize import shortened
from commscope.wording import counted

_MOST_TITLE = 120
_MOST_TEXT = 2_000
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[num]?s\b|[kMG]?B\b))")
_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)


def render(report: Report, *, title: str = "Communication report") -> str:
    """The report as one HTML file that needs nothing from outside, equal for equal input.

    ``title`` heads the page, such as the name of the run.
    """
    views = {**_head(report, title), **_pictures(report), **_sections(report), "parts": PARTS}
    return _page().render(views)


@cache
def _page() -> Template:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    return environment.get_template("page.html")


def _text(name: str) -> str:
    folder = resources.files("commscope.report.html") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _harmless(value: Any) -> Any:
    """All text that goes into the page passes here, and is escaped after it.

    What the templates mark as safe is made of numbers alone, or a file of this package.
    """
    return value if isinstance(value, Markup) or not isinstance(value, str) else _cut(value)


def _cut(text: str) -> str:
    return shortened(text, _MOST_TEXT)


def _prose(text: str) -> str:
    """Sentences in which no line ends between a number and its unit."""
    return _UNIT.sub("\u00a0", text)


def _head(report: Report, title: str) -> dict[str, Any]:
    script, style = _text("report.js").strip(), _text("report.css").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return {
        "title": shortened(title, _MOST_TITLE),
        "about": _about(report),
        "policy": _POLICY.format(script=digest),
        "script": Markup(script),
        "style": Markup(style),
        "version": __version__,
        "verdict": _verdict(report.summary.verdict),
        "trust": report.trust.verdict,
        "trust_line": report.trust_line.partition(": ")[2],
        "numbers": opening.numbers(report),
        "findings": opening.findings(report),
        "findings_left_out": opening.findings_left_out(report),
    }


def _verdict(says: str) -> tuple[str, str]:
    """The first sentence, and the rest."""
    first, end, rest = says.partition(". ")
    return first + end.strip(), rest


def _about(report: Report) -> list[str]:
    """What the run was, in a line."""
    summary = report.summary
    told = [counted(summary.ranks, "rank")]
    if summary.step_source != "whole_trace":
        told.append(counted(summary.steps, "step"))
    return [*told, *(shortened(gpu, 60) for gpu in report.environment.gpus[:2])]


def _pictures(report: Report) -> dict[str, Any]:
    shown = columns(report) if report.summary.step_source != "whole_trace" else []
    return {
        "bars": bars(report, shown),
        "heat": heat(shown) if shown else None,
        "worst": None if report.worst_step is None else step_picture(report.worst_step),
    }


def _sections(report: Report) -> dict[str, Any]:
    return {
        "run_tables": run_tables(report),
        "collective_tables": collective_tables(report),
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
