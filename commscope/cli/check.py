"""``commscope check``: whether a run is as good as asked for, or as its baseline was."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from commscope.cli.github import GITHUB, show_on_github
from commscope.cli.options import OUTPUT, QUIET, read_trace, reading_options
from commscope.cli.output import PLAIN_WIDTH, check_output, chosen_style, show, write
from commscope.cli.reporting import THRESHOLD
from commscope.errors import UsageError
from commscope.gate.measures import GateRun
from commscope.gate.model import Check
from commscope.gate.noise import FLOOR
from commscope.sanitize import plain
from commscope.saved.baselines import DEFAULT_FOLDER

#: What belongs to the files of one run, and not to how all of them are read.
_OF_ONE_RUN: dict[str, Any] = {
    **dict.fromkeys(("logs", "topology", "counters", "ranks"), ()),
    **dict.fromkeys(("parser", "capture", "reference", "unprofiled_step_ms")),
}
_FORMAT = click.option(
    "--format", "style", type=click.Choice(["text", "json", "md"]), default=None,
    help="How to print; by default text, or what the output file's name says.",
)  # fmt: skip


def _share(_context: click.Context, _option: click.Parameter, given: str) -> float:
    """A share of one, which may be written as percent."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,6})?%?", given):
        raise UsageError(f"--floor {given}: write a share, such as 2% or 0.02")
    share = float(given.rstrip("%")) / (100 if given.endswith("%") else 1)
    if share > 1:
        raise UsageError(f"--floor {given}: is more than all of it; write 2% or 0.02")
    return share


@click.command(short_help="Whether a run keeps its limits, and is as fast as its baseline.")
@reading_options
@click.option(
    "--fail-on",
    "conditions",
    multiple=True,
    metavar="EXPRESSION",
    help="What must not be, such as 'summary.shares.exposed_comm > 15%'.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="RUN|NAME",
    help="An earlier run, or a name given by baseline save; five runs at least.",
)
@click.option(
    "--baseline-dir",
    type=click.Path(path_type=Path),
    default=DEFAULT_FOLDER,
    show_default=True,
    metavar="FOLDER",
    help="Where baselines are kept.",
)
@click.option(
    "--step-time",
    metavar="FILE|MS",
    help="Step time without the profiler: ms, or a file of them, one a line.",
)
@click.option(
    "--floor",
    callback=_share,
    default=f"{FLOOR:.0%}",
    show_default=True,
    metavar="SHARE",
    help="A change of less than this part of a step never fails.",
)
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write a test report, too."
)
@GITHUB
@THRESHOLD
@_FORMAT
@OUTPUT
@QUIET
def check(
    *,
    conditions: Sequence[str],
    baselines: Sequence[str],
    baseline_dir: Path,
    step_time: str | None,
    floor: float,
    junit: Path | None,
    github: bool,
    style: str | None,
    output: Path | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """Judge a run: by limits of its report's numbers, by runs of a baseline, or by both.

    Ends with 0 where all limits are kept, 10 where one is broken, and 11 where one cannot be
    judged. With a baseline the step time must stay within the noise between its runs.
    """
    from commscope.gate.judge import Limits, check_run  # noqa: PLC0415 - after the options
    from commscope.gate.step_times import step_time_ns  # noqa: PLC0415
    from commscope.gate.syntax import parse  # noqa: PLC0415
    from commscope.gate.words import check_annotations, check_markdown  # noqa: PLC0415

    if not conditions and not baselines:
        raise UsageError("check: nothing to judge by; give --fail-on or --baseline")
    expressions = [parse(condition) for condition in conditions]
    earlier = [path for given in baselines for path in _runs_of(given, baseline_dir)]
    for option, path in (("--output", output), ("--junit", junit)):
        check_output(
            path, [*reading["paths"], *map(str, earlier)], reading["config"], option=option
        )
    chosen = chosen_style(style, output, known=("json", "md", "text"))
    unprofiled_ns = None if step_time is None else step_time_ns(step_time)
    reading["quiet"] = quiet
    run = _read(reading, unprofiled_ns)
    known = [_read({**reading, **_OF_ONE_RUN, "paths": [str(path)]}) for path in earlier]
    found = check_run(run, expressions, known, Limits(floor=floor))
    _write(found, chosen, output, junit, quiet=quiet)
    if github:
        show_on_github(check_annotations(found), check_markdown(found))
    return found.exit_code


def _runs_of(given: str, folder: Path) -> list[Path]:
    """A run that lies at a path, or the runs of a baseline."""
    from commscope.parsers.saved.documents import RUN_FILE  # noqa: PLC0415
    from commscope.saved.baselines import baseline_runs, saved_run  # noqa: PLC0415

    path = Path(given)
    if path.is_dir() and any(path.glob(f"run-*/{RUN_FILE}")):
        runs = baseline_runs(path.parent, path.resolve().name)
    elif path.exists():
        return [path]
    elif os.sep in given:
        raise UsageError(f"--baseline {given}: no such file or folder")
    else:
        runs = baseline_runs(folder, given)
    # Without what its manifest tells, a run would be read as any other folder of tables.
    return [saved_run(run).path for run in runs]


def _read(options: Mapping[str, Any], unprofiled_ns: float | None = None) -> GateRun:
    """Reads and analyses a run as the options say."""
    from commscope.api import analyze  # noqa: PLC0415
    from commscope.config import find_config  # noqa: PLC0415
    from commscope.gate.measures import gate_run  # noqa: PLC0415

    reading = {name: value for name, value in options.items() if name != "thresholds"}
    trace = read_trace(**reading)
    defaults = find_config(options["config"]).thresholds
    report = analyze(trace, thresholds=options["thresholds"], default_thresholds=defaults)
    path = Path(options["paths"][0])
    return gate_run(
        _name_of(path),
        trace,
        report,
        unprofiled_ns=unprofiled_ns,
        definitions=trace.definitions,
    )


def _name_of(path: Path) -> str:
    """What a run is called: one of a baseline is known by the name of that, too."""
    return f"{path.parent.name}/{path.name}" if re.fullmatch(r"run-\d+", path.name) else path.name


def _write(
    found: Check, style: str, output: Path | None, junit: Path | None, *, quiet: bool
) -> None:
    from commscope.gate.words import check_junit, check_markdown, print_check  # noqa: PLC0415

    if junit is not None:
        write(check_junit(found), junit)
    if style == "json":
        write(found.to_json(), output)
    elif style == "md":
        write(check_markdown(found), output)
    elif quiet:
        write(f"{plain(found.verdict)}\n", output)
    else:
        show(lambda console: print_check(found, console), output, width=PLAIN_WIDTH)
