"""The terminal output: order of the first screen, and hostile text."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from builders import TraceBuilder
from rich.console import Console
from small_run import report_of

import commscope
from commscope import sample_traces
from commscope.report.text import drawn_text, print_kernels, print_report


@pytest.fixture(scope="module")
def straggler() -> commscope.Report:
    return commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))


def test_the_first_screen_is_in_order(straggler):
    text = replace(straggler, notes=("a file was left out",)).to_text()
    order = ["Exposed communication takes", "Trust ok", "step (p50)", "Steps (", "Ranks (",
             "Collectives (all", "Kernel families", "Not measured"]  # fmt: skip
    places = [text.index(word) for word in order]
    assert places == sorted(places)


@pytest.mark.parametrize("width", [60, 70, 80, 100, 120, 200])
def test_no_cell_is_cut(straggler, width):
    tables = straggler.to_text(width).split("Steps (")[1].split("Not measured")[0]
    assert "\u2026" not in tables
    assert "27.2 ms" in tables


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_lines_fit_the_width_and_end_without_blanks(straggler, width):
    lines = straggler.to_text(width).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


HOSTILE = "evil\x1b[31m[bold red]x[/]\x1b]0;title\x07\u202eabc\nnext"


def kernels_text(report: commscope.Report, width: int = 160) -> str:
    return drawn_text(lambda console: print_kernels(report, console, 5), width)


def test_hostile_names_steer_nothing(tmp_path):
    report = report_of(tmp_path, TraceBuilder().launch(0.5, 1).kernel(HOSTILE, 1, 2))
    for text in (report.to_text(), kernels_text(report), report.trust_line):
        assert not set(text) & set("\x1b\x07\u202e")
    assert "[bold red]x[/]" in kernels_text(report, 200)
    assert "\x1b" not in report._repr_html_()
    assert "<th>" in report.kernels._repr_html_()


def test_colours_only_where_the_console_has_them(straggler):
    colour = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=120)
    print_report(straggler, colour)
    assert "\x1b[" in colour.file.getvalue()
    assert "\x1b[" not in straggler.to_text()


def test_details_add_every_check(straggler):
    console = Console(file=io.StringIO(), width=120, color_system=None)
    print_report(straggler, console, details=True)
    text = console.file.getvalue()
    assert all(check.rule in text for check in straggler.trust.checks)
