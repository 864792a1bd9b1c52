"""For a training loop of one's own, with torch alone or with Accelerate.

with profile_steps("traces", steps=(10, 12), analyze=True) as profiler:
    for batch in batches:
        train(batch)
        profiler.step()
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from commscope.collect.profiling.options import WARMUP
from commscope.integrations.profiler import StepProfiler


@contextmanager
def profile_steps(
    folder: str | os.PathLike[str] = "traces",
    *,
    steps: tuple[int, int] = (10, 12),
    ranks: Iterable[int] | None = None,
    warmup: int = WARMUP,
    analyze: bool = False,
) -> Iterator[StepProfiler]:
    """Records the steps from the first to the last, on the ranks given or on all of them.

    Call ``step()`` of what you get at the end of each step, after ``init_process_group``. The
    ranges ``ProfilerStep#N`` have the numbers of the steps, counted from 0, and one step more is
    recorded, for its begin is where the last one ends. Some steps before are timed without the
    profiler, into ``unprofiled.log``. ``analyze``: at the end rank 0 starts a process that
    writes report.html, .json and .md next to the traces. Raises ValueError for steps that make no
    sense; nothing else ever stops the training.
    """
    chosen = None if ranks is None else frozenset(ranks)
    profiler = StepProfiler(folder, steps=steps, ranks=chosen, warmup=warmup)
    profiler.begin_step(0)
    try:
        yield profiler
    finally:
        profiler.finish()
    if analyze:
        profiler.analyze()
