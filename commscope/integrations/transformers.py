"""For the Trainer of Hugging Face.

Trainer(..., callbacks=[CommscopeCallback("traces", steps=(10, 12))])
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from transformers import TrainerCallback

from commscope.collect.profiling.options import WARMUP
from commscope.integrations.profiler import StepProfiler


class CommscopeCallback(TrainerCallback):  # type: ignore[misc]
    """Records a few steps of a training, and writes a report of them after it if asked to.

    A step is one of the optimizer, whatever is accumulated, and has the Trainer's own number,
    counted from 0. Otherwise it does what ``commscope.integrations.torch.profile_steps`` does.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] = "traces",
        *,
        steps: tuple[int, int] = (10, 12),
        ranks: Iterable[int] | None = None,
        warmup: int = WARMUP,
        analyze: bool = False,
    ) -> None:
        chosen = None if ranks is None else frozenset(ranks)
        self._profiler = StepProfiler(folder, steps=steps, ranks=chosen, warmup=warmup)
        self._analyze = analyze

    def on_train_begin(self, _args: Any, state: Any, *_: Any, **__: Any) -> None:
        """The first step begins; a resumed training does not begin with 0."""
        self._profiler.begin_step(state.global_step)

    def on_step_end(self, _args: Any, state: Any, *_: Any, **__: Any) -> None:
        """The Trainer has already counted the step that ends."""
        self._profiler.begin_step(state.global_step)

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """The trace is written; the report comes from a process of its own."""
        self._profiler.finish()
        if self._analyze:
            self._profiler.analyze()
