"""The definitions on sets of whole nanoseconds: slow, and plainly what they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tables import ALL_REDUCE, Gpu

Window = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """A step on the host."""

    number: int
    start: int
    end: int


def _instants(rows: Iterable[Gpu]) -> set[int]:
    return {instant for row in rows for instant in range(row.start, row.start + row.dur)}


def partition(rows: Sequence[Gpu], window: Window) -> dict[str, int]:
    """Section 2 of the definitions for the activities of one rank."""
    whole = set(range(*window))
    of = {
        "communication": _instants(r for r in rows if r.name == ALL_REDUCE),
        "copy": _instants(r for r in rows if r.kind == "memcpy"),
        "compute": _instants(r for r in rows if r.kind == "kernel" and r.name != ALL_REDUCE),
    }
    compute, communication, copy = (
        of[name] & whole for name in ("compute", "communication", "copy")
    )
    return {
        "window_ns": len(whole),
        "compute_ns": len(compute),
        "communication_ns": len(communication),
        "hidden_comm_ns": len(communication & compute),
        "exposed_comm_ns": len(communication - compute),
        "exposed_copy_ns": len(copy - compute - communication),
        "idle_ns": len(whole - compute - communication - copy),
    }


def windows(rows: Sequence[Gpu], steps: Sequence[Step]) -> dict[int, Window]:
    """Section 3: the device window of each step that launched something."""
    launched = {
        step.number: [
            row
            for row in rows
            if row.dur and row.launched is not None and step.start <= row.launched < step.end
        ]
        for step in steps
    }
    active = [step.number for step in steps if launched[step.number]]
    begins: list[int] = []
    for number in active:
        first = min(row.start for row in launched[number])
        begins.append(max([first, *begins]))
    found = {}
    for place, number in enumerate(active):
        last = max(row.start + row.dur for row in launched[number])
        end = begins[place + 1] if place + 1 < len(active) else max(last, begins[place])
        found[number] = (begins[place], end)
    return found
