"""What the hooks share: steps are told, a few are recorded, and the report comes afterwards."""

from __future__ import annotations

import os
import time
from pathlib import Path

from commscope.collect.profiling.inject.plan import Plan
from commscope.collect.profiling.inject.session import Session
from commscope.collect.profiling.inject.settings import KINETO, STEP_TIMES, Settings
from commscope.collect.profiling.options import WARMUP, ProfileOptions
from commscope.integrations import after


class StepProfiler:
    """Records steps of this rank into ``rankR.pt.trace.json.gz``, and times some without.

    Steps are counted from 0; ``ranks`` None: all. Once made, nothing of it raises: what fails is
    one line on stderr, and the training goes on. Raises ValueError for steps that make no sense.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        steps: tuple[int, int],
        ranks: frozenset[int] | None = None,
        warmup: int = WARMUP,
    ) -> None:
        options = ProfileOptions(KINETO, steps, ranks, None, warmup)
        self._folder = Path(folder).resolve()
        self._begun = time.time()
        self._ranks = ranks
        self._session = Session(_settings(options, self._folder))
        self._step = 0

    def begin_step(self, step: int) -> None:
        """A step begins, and the one before ends."""
        self._step = step
        self._session.begin_step(step)

    def step(self) -> None:
        """The step ends, and the next begins."""
        self.begin_step(self._step + 1)

    def finish(self) -> None:
        """Nothing more is recorded; returns when the trace is written. Once more is no harm."""
        self._session.finish()

    def analyze(self) -> None:
        """Starts, from rank 0, a process that waits for all traces and writes the report.

        Not where rank 0 was to leave a trace and has none: why was told, and others fare alike.
        """
        there = frozenset(range(self._session.world_size))
        recorded = there if self._ranks is None else there & self._ranks
        own = recorded & {0}
        if (
            self._session.rank == 0
            and recorded
            and not after.missing(self._folder, own, self._begun)
        ):
            after.start(self._folder, recorded, self._begun)


def _settings(options: ProfileOptions, folder: Path) -> Settings:
    return Settings(
        kind=options.kind,
        plan=Plan(*options.steps, options.warmup),
        ranks=options.ranks,
        marker=None,
        command=(),
        traces=folder,
        log=folder / STEP_TIMES,
    )
