"""What is said after a job of the traces that are not there, from what its processes noted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from commscope.collect.nodes import Place
from commscope.collect.profiling.inject.notes import (
    ENDED,
    RECORDS,
    STEPS,
    SUFFIX,
    TERMINATED,
    TORCH,
)
from commscope.collect.profiling.options import ProfileOptions

_MOST_NOTED = 1 << 24
_MOST_NAMED = 16
_LEFT_OUT = "python -I, -E and -S leave the profiler out"
_HINT = "--profile-marker REGEX names a record_function range that begins each step"


def missing_traces(
    options: ProfileOptions, traces: Path, told: Path | None, place: Place, *, explained: bool
) -> list[str]:
    """What to say of the ranks of a node that have left no trace, and how to get one.

    ``told`` is where its processes noted what they told; ``explained``: that says already why a
    rank that came to its end recorded nothing.
    """
    if options.kind == "none":
        return []
    if options.kind == "rocprofv3":
        if explained or any(traces.glob("rank*")):
            return []
        return ["no trace: no Python process of the asked ranks was started under rocprofv3"]
    noted = _noted(told)
    seen = noted.get(STEPS, frozenset())
    missing = {rank for rank in seen if not any(traces.glob(f"rank{rank}.*"))}
    lines = [*_cut_short(options, noted, missing), *_nobody(options, place, seen)]
    has_none = not lines and not explained and not any(traces.glob("rank*"))
    return [_without_steps(options, noted)] if has_none and not seen else lines


def _cut_short(
    options: ProfileOptions, noted: dict[str, frozenset[int]], missing: set[int]
) -> list[str]:
    """The ranks that began, left no trace, and could not say why."""
    wanted = missing if options.ranks is None else missing & options.ranks
    lost = wanted - noted.get(ENDED, frozenset())
    terminated = lost & noted.get(TERMINATED, frozenset())
    recording = (lost & noted.get(RECORDS, frozenset())) - terminated
    first, last = options.steps
    before = f"before the trace of steps {first}-{last} began (by a signal or os._exit)"
    said = (
        (terminated, "ended by SIGTERM in the steps to record: no trace"),
        (recording, "ended in the steps to record, by os._exit or a signal: no trace"),
        (lost - terminated - recording, f"ended {before}: no trace"),
    )
    return [f"{_ranks(ranks, 'was', 'were')} {what}" for ranks, what in said if ranks]


def _nobody(options: ProfileOptions, place: Place, seen: frozenset[int]) -> list[str]:
    """The ranks that were asked for, and that none of this node's processes had."""
    if options.ranks is None or not seen:
        return []
    here = options.ranks if place.count in (None, 1) else options.ranks & set(place.ranks or ())
    nobody = here - seen
    if not nobody:
        return []
    return [f"no process had {_ranks(nobody)} (ranks seen: {_numbers(seen)})"]


def _without_steps(options: ProfileOptions, noted: dict[str, frozenset[int]]) -> str:
    first, last = options.steps
    begin = f"no trace of steps {first}-{last}:"
    if TORCH not in noted:
        return f"{begin} the profiler came into no Python process with torch ({_LEFT_OUT})"
    what = "an optimizer" if options.marker is None else f"a range that matches {options.marker}"
    return f"{begin} no process made a step, told by {what} ({_HINT}; {_LEFT_OUT})"


def _noted(told: Path | None) -> dict[str, frozenset[int]]:
    """The ranks of each kind of note; empty where none was taken."""
    if told is None:
        return {}
    try:
        with told.with_name(told.name + SUFFIX).open("rb") as file:
            lines = file.read(_MOST_NOTED).decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {what: frozenset(_of(lines, what)) for what in (TORCH, STEPS, RECORDS, TERMINATED, ENDED)
            if any(line.startswith(what) for line in lines)}  # fmt: skip


def _of(lines: Sequence[str], what: str) -> Iterable[int]:
    pairs = (line.partition(" ") for line in lines)
    return (int(rank) for name, _, rank in pairs if name == what and rank.isdecimal())


def _ranks(ranks: Iterable[int], one: str = "", more: str = "") -> str:
    numbers = sorted(ranks)
    name, verb = ("rank", one) if len(numbers) == 1 else ("ranks", more)
    return f"{name} {_numbers(numbers)} {verb}".rstrip()


def _numbers(ranks: Iterable[int]) -> str:
    """Some of them by their numbers, and how many more there are."""
    numbers = sorted(ranks)
    more = len(numbers) - _MOST_NAMED
    shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
    return shown if more <= 0 else f"{shown} and {more} more"
