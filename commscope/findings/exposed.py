"""Rules on exposed communication that is no waiting: what kept compute from covering it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from commscope.analysis.causes import MISSING
from commscope.analysis.roles import IN_LINE
from commscope.analysis.timeline import on_axis
from commscope.columns import Bool
from commscope.findings import needs
from commscope.findings.case import Case
from commscope.findings.model import Advice, Grade, Measured
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.intervals import measure, union
from commscope.units import percent, size


def _claimed(
    case: Case, rows: Bool, says: str, *, confidence: Grade = "high", at_most: Grade = "high"
) -> Outcome[Draft]:
    """One draft that claims these gaps; ``{time}`` and ``{mostly}`` of the text are filled in."""
    if not rows.any():
        return NOTHING
    mostly = case.main_collective(rows)
    claimed = case.claim(rows)
    a_step = case.a_step(claimed)
    measured = {"exposed": Measured(a_step, "ns")}
    text = says.format(
        time=f"{case.spoken(a_step)} are exposed",
        mostly=f", mostly {mostly}" if mostly else "",
    )
    draft = Draft(text, claimed, rows, measured=measured, confidence=confidence, at_most=at_most)
    return Outcome((draft,))


def look_gather(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """O2: gathers that begin only after the compute that could have hidden them."""
    rows = case.due_to("dependency") & case.op_is("all_gather") & ~case.role_is(*IN_LINE)
    rows &= ~case.analysis.causes.same_stream
    says = (
        "{time}{mostly}: a gather runs only once the compute before it has ended, so nothing is "
        "left to hide it"
    )
    return _claimed(case, rows, says)


def look_queue(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """O3: activities launched in time that begin only as communication on another stream ends."""
    says = (
        "{time}{mostly}, although the next kernel was launched in time, on another stream and "
        "without having to wait for it: the two streams share a hardware queue, or the driver "
        "starts them in the order of their launches"
    )
    return _claimed(case, case.due_to("stream_order"), says)


def look_small(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """O6: much of the exposed time in collectives so small that latency decides."""
    sized = case.calls("bytes")
    rows = case.due_to("step_tail", "dependency", "unknown", "host_late") & (sized > 0)
    rows &= (sized < limits["small_bytes"]) & ~case.role_is(*IN_LINE)
    rows &= ~case.analysis.causes.same_stream
    exposed = case.gaps.length[case.usable].sum()
    share = float(case.left_ns[rows].sum() / max(exposed, 1))
    if share <= limits["min_share"]:
        return NOTHING
    calls = _running_in(case, rows) / len(np.unique(case.gaps.window[rows]))
    says = (
        f"{{time}} in collectives under {size(limits['small_bytes'])}, {max(calls, 1):,.0f} of "
        f"them {case.each}: {percent(share)} of all exposed time; latency, not bandwidth, decides "
        "how long they take"
    )
    return _claimed(case, rows, says)


def _running_in(case: Case, rows: Bool) -> int:
    """How many collectives run in these gaps."""
    _, start, end = on_axis(case.analysis.timeline, case.analysis.across.calls)
    times = union(case.gaps.start[rows], case.gaps.end[rows])
    return int((measure(times, start, end) > 0).sum())


def look_same_stream(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """O9: collectives on the stream of compute, which hide nothing and cannot be hidden."""
    rows = case.due_to("dependency") & case.analysis.causes.same_stream
    says = (
        "{time}{mostly}: issued synchronously, on the stream of the compute that follows, which "
        "begins only as the communication ends"
    )
    return _claimed(case, rows, says)


def look_tail(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """O10: the last bucket, which nothing but the optimizer follows."""
    says = "{time} at the end of the step{mostly}: nothing but the optimizer is left to hide it"
    return _claimed(case, case.due_to("step_tail"), says)


def look_dependency(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """O11: compute that needs the result."""
    says = (
        "{time}{mostly}: the next kernel was launched in time and begins as the communication "
        "ends, so it needed the result"
    )
    return _claimed(case, case.due_to("dependency"), says)


def look_pauses(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """O12: pauses between short kernels under communication that goes on."""
    says = (
        "{time} in pauses of under 25 us between kernels while communication runs on: no overlap "
        "is lost, the kernels are short and far apart"
    )
    return _claimed(case, case.due_to("kernel_gap"), says)


def look_rest(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """O1: what has no cause that the trace shows."""
    rows = case.due_to("unknown")
    if case.left_ns[rows].sum() <= limits["min_share"] * case.length[case.counts].sum():
        return NOTHING
    weights = np.bincount(case.analysis.causes.missing[rows], case.left_ns[rows])
    says = f"{{time}}{{mostly}}, and the trace does not tell why: {MISSING[int(weights.argmax())]}"
    return _claimed(case, rows, says, confidence="low", at_most="medium")


RULES = (
    Rule(
        "O6", "overlap", "Small collectives",
        "Is much of the exposed time in collectives too small to use the links?",
        look_small,
        (
            Advice(
                "Use larger buckets (DDP: bucket_cap_mb 50 or 100), or coalesce the calls.",
                "Below a megabyte a collective takes its latency, whatever its size.",
                "https://github.com/pytorch/pytorch/issues/48880",
            ),
        ),
        {
            "small_bytes": Limit(1e6, "bytes", "below this a collective is small"),
            "min_share": Limit(0.2, "ratio", "of all exposed time, in small ones"),
        },
        needs=(needs.sizes,),
    ),
    Rule(
        "O3", "overlap", "Streams that cannot run at once",
        "Does compute that is ready begin only as communication on another stream ends?",
        look_queue,
        (
            Advice(
                "Sweep GPU_MAX_HW_QUEUES and measure; on NVIDIA look at "
                "CUDA_DEVICE_MAX_CONNECTIONS. Use fewer streams.",
                "Streams beyond the number of hardware queues share one, and wait in it. Measured "
                "on MI355X: 9,002 tokens/s at 4 queues, 9,674 at 8, 8,357 at 16; later versions "
                "showed no effect, so no value is right everywhere.",
                "https://github.com/pytorch/torchtitan/pull/4032",
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "O9", "overlap", "Synchronous collectives",
        "Are collectives issued on the stream of compute itself?",
        look_same_stream,
        (
            Advice(
                "Issue them with async_op=True, and wait for the work only where it is needed.",
                "On one stream everything behind a collective waits for it.",
                "https://pytorch.org/docs/stable/distributed.html",
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "O2", "overlap", "Late gathers",
        "Do gathers of parameters begin too late to be hidden?",
        look_gather,
        (
            Advice(
                "Prefetch: FSDP forward_prefetch and backward_prefetch, or "
                "set_modules_to_forward_prefetch; if memory allows, reshard_after_forward=False.",
                "A gather issued while the layer before it computes is hidden by it.",
                "https://github.com/pytorch/pytorch/pull/69282",
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "O11", "overlap", "Compute that needs the result",
        "Does compute wait for the result of communication, by its own design?",
        look_dependency,
        (
            Advice(
                "Give it other work meanwhile: asynchronous tensor parallelism, chunked "
                "collectives, two micro-batches in turn; or a smaller group on faster links.",
                "Nothing in the step is independent of the result, as it is written now.",
                "https://github.com/NVIDIA/Megatron-LM/issues/533",
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "O10", "overlap", "The last bucket",
        "Is the communication of the end of backward exposed before the optimizer?",
        look_tail,
        (
            Advice(
                "Make the last bucket smaller (DDP: a smaller bucket_cap_mb, static_graph=True, "
                "gradient_as_bucket_view=True), or step the optimizer bucket by bucket.",
                "The last gradients are ready as backward ends: only their size can shrink.",
                "https://github.com/pytorch/pytorch/issues/48880",
            ),
        ),
        needs=(needs.ends_of_steps,),
    ),
    Rule(
        "O12", "overlap", "Pauses between kernels",
        "Is communication exposed in short pauses between kernels?",
        look_pauses,
        (
            Advice(
                "Fuse kernels (torch.compile) or replay graphs.",
                "Launch density, not overlap, is what these pauses show.",
                "https://github.com/pytorch/pytorch/issues/82793",
            ),
        ),
    ),
    Rule(
        "O1", "overlap", "Exposed for reasons the trace does not show",
        "Is more communication exposed than the other rules explain?",
        look_rest,
        (
            Advice(
                "Record all ranks, with launches (CPU activities too).",
                "The cause is told by what was launched when, and who came late.",
                "https://github.com/facebookresearch/HolisticTraceAnalysis/issues/241",
            ),
        ),
        {"min_share": Limit(0.05, "ratio", "of the time in steps")},
    ),
)  # fmt: skip
