"""``commscope grade``: whether what is read from a generated job is what the job measured."""

from __future__ import annotations

from pathlib import Path

import click

from commscope.cli.options import FORMAT, OUTPUT
from commscope.cli.output import PLAIN_WIDTH, check_output, emit


@click.command(short_help="Holds the traces of generated jobs against what the jobs measured.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--all", "every", is_flag=True, help="Show every comparison, not only failed ones.")
@FORMAT
@OUTPUT
def grade(runs: tuple[Path, ...], every: bool, style: str | None, output: Path | None) -> int:
    """Test profiler, fabric and commscope: hold a run of commscope generate against its truth.

    RUN is the folder of a run, or of a suite of them. Every number and cause that is found in the
    traces is compared with what the job measured of itself. Ends with 0 where all are within
    their tolerances, and with 10 where one is not: the rows that failed say who is suspect.
    """
    from commscope.generator.grading import exit_code  # noqa: PLC0415 - after the options
    from commscope.generator.grading import grade as grade_run  # noqa: PLC0415
    from commscope.generator.grading.model import grades_dict  # noqa: PLC0415
    from commscope.generator.grading.words import print_grades  # noqa: PLC0415

    check_output(output, [str(run) for run in runs])
    grades = [found for run in runs for found in grade_run(run)]
    emit(
        lambda: grades_dict(grades),
        lambda console: print_grades(grades, console, every=every),
        style,
        output,
        width=PLAIN_WIDTH,
    )
    return exit_code(grades)
