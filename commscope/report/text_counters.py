"""Kernels by their hardware counters, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from commscope.counters.kernels import measured_peaks
from commscope.counters.model import KernelCounters
from commscope.engine.counters import LoadedCounters
from commscope.report.text_tables import Cell, Row, text_table
from commscope.sanitize import plain, shortened
from commscope.units import percent, size, span

_LEAST_NAME = 20
#: Width of the other columns, and of those that are shown from a width on.
_OTHERS, _WIDE, _OF_WIDE = 90, 130, 22
_ROOFS = {"mfma": "MFMA", "valu": "VALU", "mall": "Infinity Cache"}
_DISTORTED = "(Communication cannot run alone, so its counters are distorted.)"


def print_counters(
    loaded: LoadedCounters, kernels: Sequence[KernelCounters], top: int, console: Console
) -> None:
    """Prints each profile with its kernels, those with most time first."""
    sections: list[RenderableType] = []
    for number, head in enumerate(_heads(loaded, kernels)):
        mine = [kernel for kernel in kernels if kernel.workload == number]
        sections.append(_text(head))
        if mine:
            sections.append(_table(mine, top, console.width))
    if any(kernel.is_communication for kernel in kernels):
        sections.append(_text(f"\n{_DISTORTED}", "dim"))
    if loaded.notes:
        notes = (f"({plain(note)})" for note in loaded.notes)
        sections.append(_text("\n" + "\n".join(notes), "dim"))
    console.print(Group(*sections))


def print_counters_verdict(
    loaded: LoadedCounters, kernels: Sequence[KernelCounters], console: Console
) -> None:
    """Prints a line or two a profile."""
    console.print(_text("\n".join(_heads(loaded, kernels))))


def _text(lines: str, style: str = "") -> Text:
    return Text("\n".join(map(plain, lines.split("\n"))), style)


def _heads(loaded: LoadedCounters, kernels: Sequence[KernelCounters]) -> Iterable[str]:
    peaks = measured_peaks(loaded.tables["ROOFLINES"])
    for number, row in enumerate(loaded.tables["WORKLOADS"].to_pylist()):
        mine = [kernel for kernel in kernels if kernel.workload == number]
        says = f"{row['file']}: {_machine(row)}; {_amount(mine)}{_near(mine)}"
        yield plain(says) + _peaks(peaks[number])


def _machine(row: Mapping[str, Any]) -> str:
    tool = f"{row['tool']} {row['version']}" if row["version"] else row["tool"]
    gpu = row["gpu"] or "an unknown GPU"
    return f"{tool} on {gpu}" + (f" ({row['arch']})" if row["arch"] else "")


def _amount(kernels: Sequence[KernelCounters]) -> str:
    runs = sum(kernel.dispatches for kernel in kernels)
    time = sum(kernel.total_ns or 0 for kernel in kernels if not kernel.is_communication)
    return (
        f"{runs:,} {_of(runs, 'dispatch', 'dispatches')} of {_kernels(len(kernels))}, {span(time)}"
    )


def _kernels(count: int) -> str:
    return f"{count:,} {_of(count, 'kernel', 'kernels')}"


def _of(count: int, one: str, several: str) -> str:
    return one if count == 1 else several


def _near(kernels: Sequence[KernelCounters]) -> str:
    """The share of time near each kind of roof."""
    known = [kernel for kernel in kernels if kernel.position is not None]
    shares = {
        position: sum(kernel.time_share or 0 for kernel in known if kernel.position == position)
        for position in ("memory-bound", "compute-bound")
    }
    says = ", ".join(f"{percent(share)} of it {name}" for name, share in shares.items() if share)
    return f", {says}" if says else ""


def _peaks(peaks: Mapping[str, float]) -> str:
    if not peaks:
        return ""
    memory = [f"{_roof_name(level)} {peaks[level]:,.0f} GB/s" for level in ("hbm", "l2") if
              level in peaks]  # fmt: skip
    matrix = [f"{_roof_name(kind)} {peaks[kind] / 1000:,.0f} TFLOP/s" for kind in
              ("mfma bf16", "mfma f16", "mfma f32") if kind in peaks]  # fmt: skip
    return f"\n    measured peaks: {', '.join(memory + matrix)}"


def _table(kernels: Sequence[KernelCounters], top: int, width: int) -> RenderableType:
    room = max(width - _OTHERS - (_OF_WIDE if width >= _WIDE else 0), _LEAST_NAME)
    cells = (
        Cell("kernel", lambda row: shortened(row["it"].kernel, room), "left"),
        Cell("time", lambda row: _share(row["it"].time_share)),
        Cell("runs", lambda row: f"{row['it'].dispatches:,}", from_width=90),
        Cell("mean", lambda row: _span(row["it"].mean_ns), from_width=70),
        Cell("roofline", lambda row: roofline_of(row["it"]), "left"),
        Cell("FLOP/B", lambda row: _intensity(row["it"]), from_width=110),
        Cell("MFMA", lambda row: _share(row["it"].measured.mfma_utilization)),
        Cell("GB/s HBM", lambda row: _rate(row["it"].measured.gbps.get("hbm")), from_width=80),
        Cell("read", lambda row: _size(row["it"].measured.fabric.read_bytes), from_width=_WIDE),
        Cell("written", lambda row: _size(row["it"].measured.fabric.write_bytes), from_width=_WIDE),
        Cell("remote", lambda row: _size(row["it"].measured.fabric.remote_bytes), from_width=100),
    )
    title = "Kernels"
    if len(kernels) > top:
        title += f", the first {top:,} of {len(kernels):,}"
    return text_table(title, cells, [_row(kernel) for kernel in kernels[:top]], width)


def _row(kernel: KernelCounters) -> Row:
    return {"it": kernel}


def roofline_of(kernel: KernelCounters) -> str:
    """The position against the roofline in words: memory-bound, 78.0 % of HBM."""
    if kernel.is_communication:
        return "communication"
    roof = kernel.binding_roof
    if roof is None or kernel.position is None:
        return "?"
    reached = f"{percent(kernel.binding_share)} of {_roof_name(roof)}"
    return f"{kernel.position}, {reached}" if kernel.position != "neither" else f"none, {reached}"


def _roof_name(roof: str) -> str:
    return _ROOFS.get(roof, roof.upper())


def _share(value: float | None) -> str:
    return percent(value)


def _span(value: float | None) -> str:
    return "?" if value is None else span(value)


def _rate(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}"


def _size(value: float | None) -> str:
    return "?" if value is None else size(value)


def _intensity(kernel: KernelCounters) -> str:
    value = kernel.measured.intensity.get("hbm")
    return "?" if value is None else f"{value:,.3g}"
