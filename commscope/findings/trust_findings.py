"""Failed checks of trust as the first findings: without a sound trace there is no advice."""

from __future__ import annotations

from commscope.findings.model import Advice, Check, Finding, Result, Trust

_ADVICE = {
    "Q1": Advice(
        "Start the profiler before the first use of the GPU, and drop the first step.",
        "Kernels that ran before the profiler was ready have no record.",
        "https://github.com/pytorch/kineto/pull/1338",
    ),
    "Q2": Advice(
        "Record again, on ROCm with another version; compare the ranks' streams.",
        "Some versions lose a stream, another one on each rank.",
        "https://github.com/ROCm/rocm-systems/issues/1327",
    ),
    "Q4": Advice(
        "Do not rank by the raw durations of this trace.",
        "A few late completion stamps can become most of the GPU time.",
        "https://github.com/AMD-AGI/TraceLens/issues/669",
    ),
    "Q5": Advice(
        "Record with a newer PyTorch or with rocprofv3 --rccl-trace, or give the library's log.",
        "Operation, group and size come from the profiler's collective metadata.",
        "https://github.com/ROCm/roctracer/issues/101",
    ),
    "Q6": Advice(
        "Record with a newer PyTorch or ROCm.",
        "Older ones give some kernels the stream of another one, or none.",
        "https://github.com/pytorch/kineto/pull/1416",
    ),
    "Q7": Advice(
        "Let the job end before the trace is copied, and record fewer steps.",
        "A cut file lacks kernels anywhere in time, for they are not written in order.",
        "https://github.com/pytorch/kineto/issues/595",
    ),
    "Q8": Advice(
        "Profile once without graphs to see single operations.",
        "All kernels of a replay share one launch.",
        "https://github.com/AMD-AGI/TraceLens/issues/827",
    ),
    "Q9": Advice(
        "Do not derive what waited for what from this trace.",
        "The clocks of host and device are aligned once a file, and drift apart.",
        "https://github.com/pytorch/kineto/pull/1082",
    ),
    "Q11": Advice(
        "Name the kernels with --pattern FAMILY=REGEX or in commscope.toml.",
        "What is not known counts as compute and may hide communication wrongly.",
        "https://github.com/AMD-AGI/TraceLens/issues/518",
    ),
}


def findings_of(trust: Trust) -> tuple[Finding, ...]:
    """One finding a failed check, those that withhold numbers first."""
    failed = [check for check in trust.checks if check.result == Result.FAIL]
    failed.sort(key=lambda check: not check.withheld)
    return tuple(_finding(check) for check in failed)


def _finding(check: Check) -> Finding:
    advice = _ADVICE.get(check.rule)
    return Finding(
        id=check.rule,
        rule=check.rule,
        severity="high" if check.withheld else "low",
        confidence="high",
        title=check.title,
        says=check.says,
        advice=(advice,) if advice else (),
    )
