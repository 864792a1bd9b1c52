"""Steps by the annotations that frameworks are known to make.

Sources of the names: vLLM (vllm/v1/worker/gpu_worker.py, gpu_model_runner.py), PyTorch Lightning
(src/lightning/pytorch/loops/training_epoch_loop.py), PyTorch (torch/optim/optimizer.py), DeepSpeed
(deepspeed/utils/nvtx.py: ranges are qualified names of functions), and real traces of SGLang.

Forward and backward passes, layers and ``DeepSpeedEngine.step`` occur once a micro-batch: they are
no steps. The optimizer runs once a step, after all micro-batches: where it returns, a step ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64
from commscope.normalize.annotations import Annotations, beginning_at, share_inside
from commscope.normalize.steps import HostSteps
from commscope.trace import StepSource


@dataclass(frozen=True, slots=True)
class _Known:
    framework: str
    says: str
    pattern: re.Pattern[str]


#: Annotations of which there is one a step, the wider ones first.
_STEPS = (
    _Known("vLLM", "execute_context_...", re.compile(r"^execute_(?:\d+_)?context_\d+\(")),
    _Known("SGLang", "step[...]", re.compile(r"^step\[[A-Z]")),
    _Known(
        "PyTorch Lightning", "run_training_batch", re.compile(r"\[pl\]\[profile\]run_training_")
    ),
    _Known("vLLM", "gpu_model_runner: forward", re.compile(r"^(?:v2_)?gpu_model_runner: forward")),
)
#: What holds all of a step but its preparation and sampling holds at least this share of the
#: launches; and together, each up to the next, the steps hold this one.
_INSIDE, _COVERED = 0.5, 0.95

_OPTIMIZER = re.compile(r"^Optimizer\.step#|^DeepSpeedZeroOptimizer_Stage3\.step")
#: With fewer launches than this share of a step's, what comes between two runs of optimizers is no
#: step (they are of parts of a model, or of groups of its parameters), nor is what comes last.
_TRIFLE = 0.1
#: Steps are alike where their launches differ from the middle one's by no more than this share, and
#: optimizers mark steps where this share of all is alike.
_ALIKE, _MOSTLY = 0.2, 0.8
#: What comes this many times an optimizer step is a micro-batch.
MICRO = 1.5


def by_known_name(found: Annotations, launches: Int64, most: float) -> HostSteps | None:
    """Each occurrence of a framework's own annotation begins a step, if there are at most so many.

    It need not hold all launches: what comes between two belongs to the first.
    """
    for known in _STEPS:
        steps = found.fitting(known.pattern)
        if not 1 < len(steps.starts) <= most:
            continue
        share = share_inside(steps, launches)
        covered = 1 - float(np.searchsorted(launches, steps.starts[0]) / len(launches))
        if share >= _INSIDE and covered >= _COVERED:
            end = max(int(launches[-1]) + 1, int(steps.ends[-1]))
            says = (
                f"{known.framework}'s annotation {known.says}, which holds {share:.1%} of the "
                "launches and begins each step"
            )
            source = StepSource("marker", share, says)
            return beginning_at(steps.names(), steps.starts, end, source)
    return None


def between_optimizers(found: Annotations, launches: Int64) -> HostSteps | None:
    """Steps that end where the optimizer returns, if most of them launch about as much.

    The recording's begin up to the first end is a step only if it launches as much as others: else
    the recording cuts one, or holds more than a step, and it belongs to none.
    """
    runs = found.fitting(_OPTIMIZER)
    # One of no length was cut by the recording's end.
    ends = _step_ends(runs.take(np.flatnonzero(runs.ends > runs.starts)), launches)
    if len(ends) < 2:
        return None
    return _alike(ends, np.searchsorted(launches, ends), launches)


def _alike(ends: Int64, place: Int64, launches: Int64) -> HostSteps | None:
    """Steps up to each end, ``place`` launches after the first, if most launch about as much."""
    counts = np.diff(place)
    middle = float(np.median(counts))
    alike = np.abs(np.append(place[0], counts) - middle) <= _ALIKE * middle
    if not middle or alike[1:].mean() < _MOSTLY:
        return None
    begins, share = np.append(launches[0], ends), 1.0
    if not alike[0]:
        begins, share = ends, 1 - float(place[0] / len(launches))
    if place[0] > (1 + _ALIKE) * middle and share < _COVERED:
        return None
    if len(launches) - place[-1] <= _TRIFLE * middle:
        begins = begins[:-1]
    if len(begins) < 2:
        return None
    names = [f"optimizer step {number}" for number in range(len(begins))]
    says = "the optimizer: a step ends where Optimizer.step returns"
    return beginning_at(names, begins, int(launches[-1]) + 1, StepSource("marker", share, says))


def _step_ends(optimizers: Annotations, launches: Int64) -> Int64:
    """When each run of optimizers ends, those taken together that follow each other."""
    if not len(optimizers.ends):
        return optimizers.ends
    begin, end = (np.searchsorted(launches, t) for t in (optimizers.starts, optimizers.ends))
    between = begin[1:] - end[:-1]
    # Few are whole steps where several runs make one; a long pause (a validation) sets no measure.
    usual = float(np.quantile(between, _MOSTLY)) if len(between) else 0.0
    return np.asarray(optimizers.ends[np.append(between > _TRIFLE * usual, True)])
