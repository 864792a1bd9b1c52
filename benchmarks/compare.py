"""Measures commscope against other ways to read the same trace, and writes a Markdown table.

    python benchmarks/compare.py [--only TOOL] [--runs N] [--write FILE [--section NAME]] TRACE ...

A trace is a file, or a folder with a file for each rank: what takes no folder gets its files, which
json.load reads one after the other. Every run is a fresh process, from start to exit, imports and
all; the runs of the tools alternate, so that a machine that slows down slows all of them. The files
are read once beforehand and are in the page cache. Wall time is from start to exit and CPU time is
user + system of the process and its children. Memory is the most that all of them held at once,
what they share counted once, looked at five times a second; or the highest resident size of any
one of them, if that is more.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import select
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOOK_EVERY_MS = 200
PSS = re.compile(r"^Pss:\s*(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tool:
    """A way to read a trace: its command, without the file, and how to learn its version."""

    name: str
    command: tuple[str, ...]
    options: tuple[str, ...]
    version: tuple[str, ...]
    takes_folder: bool = False

    def on(self, trace: Path) -> list[str]:
        """The command that reads the trace."""
        paths = [trace] if self.takes_folder else files_of(trace)
        return [*self.command, *map(str, paths), *self.options]


def files_of(trace: Path) -> list[Path]:
    """The file itself, or those of a folder."""
    return sorted(trace.iterdir()) if trace.is_dir() else [trace]


VERSIONS = """
import importlib.metadata, sys
print(*(f"{name} {importlib.metadata.version(name)}" for name in sys.argv[1:]), sep=", ")
"""


def _version(python: str, *distributions: str) -> tuple[str, ...]:
    return (python, "-c", VERSIONS, *distributions)


COMMSCOPE = str(ROOT / ".venv/bin/python")
HTA = str(ROOT / ".venv-hta/bin/python")
TOOLS = (
    Tool(
        "commscope",
        (str(ROOT / ".venv/bin/commscope"), "analyze"),
        ("--no-cache", "--format", "json"),
        _version(COMMSCOPE, "commscope", "numpy", "pyarrow", "msgspec"),
        takes_folder=True,
    ),
    Tool(
        "hta",
        (HTA, str(ROOT / "benchmarks/run_hta.py")),
        (),
        _version(HTA, "HolisticTraceAnalysis", "numpy", "pandas"),
    ),
    Tool(
        "json.load",
        (sys.executable, str(ROOT / "benchmarks/run_json.py")),
        (),
        (sys.executable, "--version"),
    ),
)
#: What is measured by itself, on files that the others cannot read.
ALONE = (
    Tool(
        "commscope log",
        (str(ROOT / ".venv/bin/commscope"), "log"),
        ("--format", "json"),
        _version(COMMSCOPE, "commscope", "numpy", "pyarrow"),
        takes_folder=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def measure(command: Sequence[str]) -> Run:
    """Run the command to its end and say what it took.

    The kernel counts the memory of this process at the fork as the child's, so this script must
    stay small: it never holds a trace.
    """
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        peak_bytes = watch(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            text = errors.read().decode(errors="replace")[-2000:]
            raise SystemExit(f"{text}\n{shlex.join(command)}: exit status {process.returncode}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Run(wall_s, cpu_s, max(peak_bytes, usage.ru_maxrss * 1024))


def watch(pid: int) -> int:
    """Wait for the end of the process; the most bytes that it and its children held at once."""
    peak, end = 0, select.poll()
    handle = os.pidfd_open(pid)
    end.register(handle, select.POLLIN)
    while not end.poll(LOOK_EVERY_MS):
        peak = max(peak, sum(map(held_bytes, family(pid))))
    os.close(handle)
    return peak


def family(pid: int) -> Iterator[int]:
    """The process, its children and theirs."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = children.read_text().split()
        except OSError:  # the thread has ended
            continue
        for child in found:
            yield from family(int(child))


def held_bytes(pid: int) -> int:
    """The memory of a process, its share of what several hold; 0 where it has ended."""
    try:
        found = PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def measure_all(tools: Sequence[Tool], trace: Path, runs: int) -> dict[Tool, list[Run]]:
    """The runs of every tool on the trace, in turns."""
    for path in files_of(trace):
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass
    found: dict[Tool, list[Run]] = {tool: [] for tool in tools}
    for number in range(runs):
        for tool, done in found.items():
            done.append(measure(tool.on(trace.resolve())))
            note = f"{trace.name} {number + 1}/{runs} {tool.name}: {done[-1].wall_s:.1f} s"
            print(note, file=sys.stderr, flush=True)
    return found


def version(tool: Tool) -> str | None:
    """The versions a tool runs with, or null where it is not installed."""
    try:
        done = subprocess.run(tool.version, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def size(trace: Path) -> str:
    """How large the file is or, of a folder, how many there are and how large each."""
    sizes = [path.stat().st_size for path in files_of(trace)]
    each = f"{statistics.mean(sizes) / 1e6:,.0f} MB"
    return f"{len(sizes)} x {each}" if trace.is_dir() else each


def row(trace: Path, tool: Tool, runs: Sequence[Run], first: Sequence[Run]) -> str:
    """One line of the table; the ratios are to the first tool."""
    best, reference = min(run.wall_s for run in runs), min(run.wall_s for run in first)
    cells = (
        size(trace),
        tool.name,
        f"{best:.2f}",
        f"{statistics.median(run.wall_s for run in runs):.2f}",
        f"{statistics.median(run.cpu_s for run in runs):.2f}",
        f"{max(run.peak_bytes for run in runs) / 1e6:,.0f}",
        f"{best / reference:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def table(figures: Mapping[Path, Mapping[Tool, Sequence[Run]]]) -> list[str]:
    """The Markdown table of all traces and tools."""
    head = "trace | tool | wall, best (s) | wall, median (s) | CPU, median (s) | peak memory (MB)"
    first = next(tool.name for found in figures.values() for tool in found)
    lines = [f"| {head} | wall / {first} |", "|---|---|--:|--:|--:|--:|--:|"]
    for trace, found in figures.items():
        reference = next(iter(found.values()))
        lines += [row(trace, tool, runs, reference) for tool, runs in found.items()]
    return lines


def machine() -> str:
    """Cores, processor, memory and system in one line."""
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    name = model[1] if model else platform.machine()
    python = platform.python_version()
    return f"{cores} cores, {name}, {memory:.0f} GiB, Linux {platform.release()}, Python {python}"


def describe(tool: Tool, versions: str | None) -> str:
    """A tool's command and versions, or that it was left out."""
    if versions is None:
        return f"- {tool.name}: left out, it is not installed"
    command = shlex.join(tool.on(Path("TRACE"))).replace(f"{ROOT}/", "")
    return f"- {tool.name}: `{command.replace(sys.executable, 'python')}` ({versions})"


def report(traces: Sequence[Path], tools: Sequence[Tool], runs: int) -> str:
    """Measure, and say in Markdown what was measured, how and where."""
    versions = {tool: version(tool) for tool in tools}
    present = [tool for tool in tools if versions[tool] is not None]
    if not present:
        raise SystemExit("none of the tools is installed: see benchmarks/README.md")
    figures = {trace: measure_all(present, trace, runs) for trace in traces}
    lines = [*table(figures), "", f"Runs of each: {runs}, in turns, on {machine()}.", ""]
    lines += [describe(tool, found) for tool, found in versions.items()]
    return "\n".join(lines) + "\n"


def section(name: str) -> re.Pattern[str]:
    """What a page has between the marks of that name, and the marks."""
    name = re.escape(name)
    return re.compile(rf"(<!-- {name}: begin -->\n).*(<!-- {name}: end -->)", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure commscope against other tools.")
    parser.add_argument("traces", nargs="+", type=Path)
    names = [tool.name for tool in (*TOOLS, *ALONE)]
    parser.add_argument("--only", action="append", choices=names)
    parser.add_argument("--runs", type=int, default=3, help="of each tool on each trace")
    parser.add_argument("--write", type=Path, help="page whose figures to replace")
    parser.add_argument("--section", default="figures", help="which ones: what their marks say")
    options = parser.parse_args(arguments)
    only = options.only or [tool.name for tool in TOOLS]
    tools = [tool for tool in (*TOOLS, *ALONE) if tool.name in only]
    page = options.write.read_text(encoding="utf-8") if options.write else ""
    figures = section(options.section)
    if options.write and not figures.search(page):
        parser.error(f"{options.write} has no section {options.section}")
    text = report(options.traces, tools, options.runs)
    print(text)
    if options.write:
        replaced = figures.sub(lambda match: f"{match[1]}{text}{match[2]}", page)
        options.write.write_text(replaced, encoding="utf-8")


if __name__ == "__main__":
    main()
