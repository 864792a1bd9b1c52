"""Everything that can be set of a generated job, with the unit in each name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

from commscope.errors import UsageError
from commscope.generator.dtypes import DEFAULT, Name
from commscope.generator.programs import Straggler

Overlap = Literal["full", "tail", "none", "same-stream"]
LoopSync = Literal["none", "device", "stream", "event", "item"]
Communication = Literal["real", "mock"]
#: Of all ranks and steps; a schedule of so many takes half a minute.
MOST_OPERATIONS = 2_000_000
MOST_ROWS = 16_384
Kernel = Literal["spin", "gemm"]
GradientOp = Literal["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"]
MIB = 1 << 20


def _about(group: str, says: str, least: int | None = 0) -> Mapping[str, Any]:
    """What the option of a knob says, under which heading; smaller numbers make no sense."""
    return {"group": group, "help": says, "least": least}


@dataclass(frozen=True, slots=True)
class Knobs:
    """The job, its model, its communication, and what disturbs it.

    Raises UsageError for a number that makes no sense.
    """

    ranks: int = field(default=2, metadata=_about("Job", "Processes, one a GPU.", 1))
    ranks_per_host: int = field(
        default=8, metadata=_about("Job", "Processes of one host (simulate).", 1)
    )
    steps: int = field(default=5, metadata=_about("Job", "Steps that are measured.", 1))
    warmup: int = field(
        default=1, metadata=_about("Job", "Steps before them, which set up connections.")
    )
    seed: int = field(default=0, metadata=_about("Job", "Of the jitter.", None))

    layers: int = field(default=6, metadata=_about("Model", "Layers.", 1))
    kernels: int = field(
        default=2,
        metadata=_about("Model", "Kernels in which a layer's forward runs, and its backward.", 1),
    )
    fwd_us: int = field(default=400, metadata=_about("Model", "Forward of a layer.", 1))
    bwd_us: int = field(default=800, metadata=_about("Model", "Backward of a layer.", 1))
    opt_us: int = field(default=600, metadata=_about("Model", "Optimizer of a step.", 1))
    compute: Kernel = field(
        default="spin", metadata=_about("Model", "Kernels wait for a clock, or multiply matrices.")
    )
    gemm_n: int = field(
        default=2048,
        metadata=_about("Model", "Rows of the matrices: a power of two, 128 to 16384.", 128),
    )
    jitter_percent: int = field(
        default=0, metadata=_about("Model", "Kernels take up to so much longer, at random.")
    )

    comm: Communication = field(
        default="real",
        metadata=_about(
            "Communication",
            "RCCL or NCCL, or kernels of known length, as for one rank alone.",
        ),
    )
    mock_us: int = field(
        default=0,
        metadata=_about("Communication", "Length of every mock; 0: as on a link of 200 GB/s."),
    )
    mock_blocks: int = field(
        default=16, metadata=_about("Communication", "Blocks that a mock occupies.", 1)
    )
    collective: GradientOp = field(
        default="all_reduce", metadata=_about("Communication", "What gradients go through.")
    )
    dtype: Name = field(
        default=DEFAULT,
        metadata=_about("Communication", "Of what is sent."),
    )
    layer_bytes: int = field(
        default=32 * MIB, metadata=_about("Communication", "Gradients or weights of a layer.", 1)
    )
    bucket_bytes: int = field(
        default=32 * MIB, metadata=_about("Communication", "Gradients that are reduced at once.", 1)
    )
    last_bucket_bytes: int = field(
        default=MIB,
        metadata=_about("Communication", "Of the bucket that is ready last; 0: as the others."),
    )
    msg_bytes: int = field(
        default=2 * MIB,
        metadata=_about("Communication", "A message of tp, moe-a2a and pipeline.", 1),
    )
    overlap: Overlap = field(
        default="tail",
        metadata=_about(
            "Communication",
            "What waits for gradients: the optimizer for one bucket after the other (full), for "
            "all of them (tail), or backward for each (none), or all that follows as they are "
            "on the stream of compute (same-stream).",
        ),
    )
    accum: int = field(
        default=1, metadata=_about("Communication", "Micro-steps whose gradients are added up.", 1)
    )
    no_sync: bool = field(
        default=True, metadata=_about("Communication", "Reduce in the last micro-step only.")
    )
    prefetch: int = field(
        default=1, metadata=_about("Communication", "Layers gathered ahead (fsdp).")
    )
    microbatches: int = field(
        default=16, metadata=_about("Communication", "Of a step (pipeline).", 1)
    )
    hot_percent: int = field(
        default=100,
        metadata=_about(
            "Communication", "Tokens for the experts of rank 0, over the mean (moe-a2a).", 1
        ),
    )

    stragglers: tuple[Straggler, ...] = field(
        default=(), metadata=_about("Host", "Ranks that are late.", None)
    )
    input_us: int = field(
        default=40, metadata=_about("Host", "What the data loader takes in each step.")
    )
    host_gap_us: int = field(
        default=0, metadata=_about("Host", "What the host does between two launches.")
    )
    loop_sync: LoopSync = field(
        default="none", metadata=_about("Host", "What the host waits for after each bucket.")
    )
    read_loss: bool = field(
        default=True, metadata=_about("Host", "The host reads the loss after each step.")
    )
    streams: int = field(default=0, metadata=_about("Device", "More streams that are in use."))
    queues: int = field(
        default=0, metadata=_about("Device", "Hardware queues that streams share; 0: one each.")
    )
    slowdown_percent: int = field(
        default=100,
        metadata=_about(
            "Device", "What compute takes beside a collective, over alone (simulate).", 100
        ),
    )

    def __post_init__(self) -> None:
        for name, info in self.__dataclass_fields__.items():
            least, value = info.metadata.get("least"), getattr(self, name)
            if least is not None and isinstance(value, int) and value < least:
                raise UsageError(f"--{name.replace('_', '-')} {value}: at least {least}")
        if self.gemm_n & (self.gemm_n - 1) or self.gemm_n > MOST_ROWS:
            raise UsageError(f"--gemm-n {self.gemm_n}: a power of two, 128 to {MOST_ROWS}")
        for name, hint in get_type_hints(type(self)).items():
            words = get_args(hint) if get_origin(hint) is Literal else ()
            if words and getattr(self, name) not in words:
                given = f"--{name.replace('_', '-')} {getattr(self, name)}"
                raise UsageError(f"{given}: one of {', '.join(words)}")

    def require_ranks(self) -> None:
        """Raises UsageError where a straggler is no rank of the job, or its step none of it."""
        for straggler in self.stragglers:
            if not 0 <= straggler.rank < self.ranks:
                raise UsageError(f"--straggler: there is no rank {straggler.rank}")
            if straggler.step is not None and not 0 <= straggler.step < self.steps:
                raise UsageError(
                    f"--straggler: there is no step {straggler.step}; steps are 0 to "
                    f"{self.steps - 1}"
                )

    def require_size(self) -> None:
        """Raises UsageError for a job of so many operations that nobody waits for its schedule."""
        pieces = self.layers * max(1, -(-self.layer_bytes // self.bucket_bytes))
        of_step = self.accum * (2 * self.layers * self.kernels + pieces) + self.microbatches
        total = self.ranks * (self.steps + self.warmup) * of_step
        if total > MOST_OPERATIONS:
            raise UsageError(
                f"the job has some {total:,} operations, more than {MOST_OPERATIONS:,}: take fewer "
                "ranks, steps, layers or kernels, or larger buckets"
            )

    @property
    def first_step(self) -> int:
        """Number of the first step: warm-up counts up to -1."""
        return -self.warmup
