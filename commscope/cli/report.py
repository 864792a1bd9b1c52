"""``commscope report``: a run's report as files that can be sent, or shown by a CI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import click

from commscope.cli import collected
from commscope.cli.collected_files import github_lines, rendered
from commscope.cli.github import GITHUB, show_on_github
from commscope.cli.options import QUIET, reading_options
from commscope.cli.output import check_output, write
from commscope.cli.reporting import THRESHOLD, analyze_as_set
from commscope.errors import UsageError
from commscope.report.model import Report

_SCHEMA = "report-1.schema.json"
_BY_DEFAULT = (Path("report.html"),)


def _html(report: Report, name: str) -> str:
    from commscope.report.html import render  # noqa: PLC0415 - each renderer where it is asked for

    return render(report, title=name)


def _markdown(report: Report, _name: str) -> str:
    from commscope.report.markdown import report_markdown  # noqa: PLC0415

    return report_markdown(report)


def _junit(report: Report, _name: str) -> str:
    from commscope.report.junit import report_junit  # noqa: PLC0415

    return report_junit(report)


#: What makes a file of the report and the name of the run, by the end of the file's name.
RENDERERS: dict[str, Callable[[Report, str], str]] = {
    ".html": _html,
    ".json": lambda report, _name: report.to_json(),
    ".md": _markdown,
    ".txt": lambda report, _name: report.to_text(),
    ".xml": _junit,
}


def _print_schema(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        write(resources.files("commscope.report").joinpath(_SCHEMA).read_text("utf-8"), None)
        ctx.exit()


@click.command(short_help="The report as HTML, Markdown, JSON or JUnit XML.")
@reading_options
@THRESHOLD
@click.option(
    "-o", "--output", "outputs", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
    help="Write a file; its name says the format: .html, .json, .md, .txt or .xml (JUnit).",
)  # fmt: skip
@GITHUB
@click.option(
    "--schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_schema,
    help="Print the JSON Schema of the report, and nothing else.",
)  # fmt: skip
@QUIET
def report(outputs: tuple[Path, ...], github: bool, quiet: bool, **reading: Any) -> None:
    """Write the report of a run to files: one that opens anywhere, a comment, a line in CI.

    PATH is what commscope analyze takes. Without --output and --github, report.html is written; of
    a folder of commscope run, report.html, .json and .md are written into it in any case.
    """
    folder = collected.collected_run(reading["paths"])
    if folder is None and not github:
        outputs = outputs or _BY_DEFAULT
    _check(outputs, reading["paths"], reading["config"])
    if folder is not None:
        _report_on_run(folder, outputs, github=github, quiet=quiet)
        return
    found = analyze_as_set(quiet=quiet, **reading)
    name = _name_of(reading["paths"])
    for output in outputs:
        write(RENDERERS[output.suffix.lower()](found, name), output)
    if github:
        from commscope.report.github import report_annotations  # noqa: PLC0415

        show_on_github(report_annotations(found), _markdown(found, name))


def _report_on_run(folder: Path, outputs: Sequence[Path], *, github: bool, quiet: bool) -> None:
    """Writes the files asked for; some are, where none can be written into the folder."""
    asked = collected.report_on_run(folder, quiet=quiet)
    if not (github or asked.is_written):
        outputs = outputs or _BY_DEFAULT
    for output in outputs:
        write(rendered(asked, output.suffix.lower()), output)
    if github:
        show_on_github(github_lines(asked), str(rendered(asked, ".md"), "utf-8"))


def _name_of(paths: Sequence[str]) -> str:
    """What to call the run: the file or folder that was given, if it was one."""
    name = Path(paths[0]).resolve().name if len(paths) == 1 and paths[0] != "-" else ""
    return name or "Communication report"


def _check(outputs: Sequence[Path], inputs: Sequence[str], config: Path | None) -> None:
    """Before the work begins: whether every file can be written, and as what."""
    for output in outputs:
        if output.suffix.lower() not in RENDERERS:
            known = ", ".join(RENDERERS)
            raise UsageError(f"--output {output}: its name must end in one of {known}")
        check_output(output, inputs, config)
