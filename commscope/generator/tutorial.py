"""The job of the tutorial in three states, each from fixed numbers: simulated, not recorded.

run = tutorial_run("3_overlapped")
write_tutorial(folder)

Two ranks train on as many samples a step in each of them. At first batches are small, and the
gradients of every one are reduced; then batches are larger, and gradients are added up and reduced
once a step; then each bucket is reduced on a stream of its own, while backward goes on.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commscope.errors import UsageError
from commscope.generator.costs import HostCosts, Network
from commscope.generator.kineto_style import Style
from commscope.generator.kineto_writer import trace_text
from commscope.generator.planted_shape import LINK, US, Shape, load_input, read_scalar, setup
from commscope.generator.programs import COMPUTE, ProgramBuilder
from commscope.generator.simulation import Simulation

_STYLE = Style(vendor="rocm", gpu="commscope simulated GPU")
_COSTS = HostCosts(
    launch_ns=5 * US, gap_ns=3 * US, event_ns=1_200, latency_ns=4 * US, device_gap_ns=1_000,
    wake_ns=5 * US,
)  # fmt: skip
#: Gradients in the order of backward, a bucket a layer: the embedding's come last.
_BUCKETS = (57_500_000,) * 4 + (8_000_000,)
_INPUT_NS = 1_110 * US
_JITTER_PERCENT = 3
_FORWARD = ("attention_fwd", "gemm_fwd")
_BACKWARD = ("gemm_bwd", "gemm_bwd", "attention_bwd", "gemm_bwd")


@dataclass(frozen=True, slots=True)
class State:
    """How the job trains: so many batches a step, with kernels of a length, reduced how."""

    name: str
    seed: int
    batches: int
    kernel_ns: int
    reduced_from: int  #: gradients are reduced from this batch of a step on
    stream: str  #: the one that reduces

    def run(self) -> Simulation:
        """What happens."""
        shape = Shape(
            seed=self.seed, ranks=2, steps=8, layers=len(_BUCKETS), kernel_ns=self.kernel_ns,
            jitter_ns=self.kernel_ns * _JITTER_PERCENT // 100, ranks_per_host=8, costs=_COSTS,
            network=Network(LINK, end_skew_ns={1: 1_500}),
        )  # fmt: skip
        return setup(shape, [shape.world], self._write_step).run()

    def _write_step(self, builder: ProgramBuilder) -> None:
        load_input(builder, _INPUT_NS)
        for batch in range(self.batches):
            self._write_batch(builder, is_reduced=batch >= self.reduced_from)
        if self.stream != COMPUTE:
            builder.order(self.stream, COMPUTE)
        self._compute(builder, ("adamw",), "")
        read_scalar(builder)

    def _write_batch(self, builder: ProgramBuilder, *, is_reduced: bool) -> None:
        layers = [f"layer{number}" for number in range(len(_BUCKETS))]
        for layer in layers:
            self._compute(builder, _FORWARD, layer)
        for layer, size in zip(reversed(layers), _BUCKETS):
            self._compute(builder, _BACKWARD, layer)
            if is_reduced:
                builder.collective(self.stream, "0", "all_reduce", size)

    def _compute(self, builder: ProgramBuilder, kinds: Sequence[str], layer: str) -> None:
        for kind in kinds:
            builder.compute(kind, self.kernel_ns, layer)


#: Half as many samples again in a batch take a fifth longer: small batches do not fill a GPU.
STATES = (
    State("1_small_batch", 1, 3, 100 * US, 0, COMPUTE),
    State("2_accumulated", 2, 2, 120 * US, 1, COMPUTE),
    State("3_overlapped", 3, 2, 120 * US, 1, "dp"),
)
NAMES = tuple(state.name for state in STATES)


def tutorial_run(name: str) -> Simulation:
    """The job in a state; raises UsageError for a name that is not one of ``NAMES``."""
    for state in STATES:
        if state.name == name:
            return state.run()
    raise UsageError(f"the tutorial has no run {name}; runs: {', '.join(NAMES)}")


def write_tutorial(folder: Path, names: Sequence[str] = NAMES) -> list[Path]:
    """Writes ``NAME/rankN.json.gz``, equal text each time, and gives the files."""
    files = []
    for name in names:
        simulation = tutorial_run(name)
        (folder / name).mkdir(parents=True, exist_ok=True)
        for rank in range(len(simulation.ranks)):
            file = folder / name / f"rank{rank}.json.gz"
            text = trace_text(simulation, rank, _STYLE)
            file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
            files.append(file)
    return files
