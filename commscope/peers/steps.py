"""Where the steps of a rank lie by the profiler's own annotations, as other tools read them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.columns import Int64, codes, int64, where_equal
from commscope.parsers.kineto.beside import GPU_ANNOTATION, Beside

STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")


@dataclass(frozen=True, slots=True)
class StepMarks:
    """Annotations of steps in order of begin, on the wall clock.

    Those of the GPU's track are among them where the file has them and could be read again.
    """

    numbers: tuple[str, ...]
    start_ns: Int64
    end_ns: Int64
    on_gpu: tuple[bool, ...]

    @property
    def last_ns(self) -> int:
        """The latest begin."""
        return int(self.start_ns.max())

    @property
    def from_gpu_track(self) -> bool:
        """Whether the latest begin is that of the GPU's track."""
        return bool(self.on_gpu) and self.on_gpu[int(np.argmax(self.start_ns))]


def step_numbers(host: pa.Table) -> set[str]:
    """The numbers of all annotations ``ProfilerStep#N``."""
    code, words = codes(host, "name")
    used = np.unique(code[where_equal(host, "kind", "annotation")])
    return {step[1] for one in used[used >= 0].tolist() if (step := STEP.match(words[one]))}


def step_marks(host: pa.Table, beside: Beside | None) -> StepMarks:
    """The annotations ``ProfilerStep#N`` on the host of one rank."""
    rows = np.flatnonzero(where_equal(host, "kind", "annotation"))
    code, words = codes(host, "name")
    names = [words[one] for one in code[rows].tolist()]
    starts, lengths = int64(host, "start_ns")[rows], int64(host, "dur_ns")[rows]
    found = [
        (begin, begin + length, step[1], False)
        for name, begin, length in zip(names, starts.tolist(), lengths.tolist())
        if (step := STEP.match(name))
    ]
    found += [] if beside is None else _on_gpu(beside)
    found.sort(key=lambda one: one[0])
    return StepMarks(
        numbers=tuple(one[2] for one in found),
        start_ns=np.array([one[0] for one in found], np.int64),
        end_ns=np.array([one[1] for one in found], np.int64),
        on_gpu=tuple(one[3] for one in found),
    )


def _on_gpu(beside: Beside) -> list[tuple[int, int, str, bool]]:
    spans, base = beside.spans, beside.base_ns
    return [
        (start + base, end + base, step[1], True)
        for name, category, start, end in zip(
            spans.name, spans.category, spans.start_ns.tolist(), spans.end_ns.tolist()
        )
        if category == GPU_ANNOTATION and (step := STEP.match(name))
    ]
