"""The comparison in sentences: what changed, why, and whether it is more than noise."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.compare.model import Cause, CausePart, CollectivePair, Comparison, StepTime
from commscope.compare.statistics import LEAST_UNITS, Judgement
from commscope.units import size, span
from commscope.wording import counted, rank_list

#: Words for the parts of a step, in tables and sentences.
PART_NAMES = {
    "step": "step",
    "window_ns": "step",
    "compute_ns": "compute",
    "exposed_comm_ns": "exposed communication",
    "exposed_wait_ns": "exposed: waiting",
    "exposed_transfer_ns": "exposed: transfer",
    "exposed_unmatched_ns": "exposed: not matched",
    "exposed_copy_ns": "exposed copies",
    "idle_ns": "idle",
}
#: Words for why a GPU idled.
IDLE_NAMES = {
    "input": "while its host loads input",
    "allocation": "while its host allocates or frees memory",
    "sync": "while its host is in a synchronising call",
    "copy": "while its host is in a blocking copy",
    "host_pause": "pauses of the host, of 1 ms or more",
    "launches": "between launches",
    "device": "launched in time, held up on the GPU",
    "unknown": "no launch in the trace",
}
#: Words for why a rank was late.
REASON_NAMES = {
    "compute": "it computed longer",
    "copy": "it copied longer",
    "host": "its host was late",
    "waited": "it waited itself",
    "communication": "it communicated longer",
    "unclear": "why, is not clear",
}
_CAUSES = {
    "compute": "compute",
    "waiting": "waiting for ranks that are late in turns",
    "communication": "exposed communication",
    "transfer": "exposed transfer",
    "unmatched": "exposed communication that is not matched",
    "copies": "exposed copies",
    "idle": "idle time",
}
#: Numbers that differ by less are called the same.
_SAME = 0.01
#: What is said to be a cause explains at least this share of the change.
_LEAST_SHARE = 0.1


def signed(ns: float) -> str:
    """A difference of times, with its sign."""
    return f"{'+' if ns > 0 else '-' if ns < 0 else ''}{span(abs(ns))}"


def whole_percent(share: float | None) -> str:
    """A share in whole percent; empty where there is none."""
    return "" if share is None else f"{round(100 * share)} %"


def signed_percent(ratio: float) -> str:
    """A relative change in percent, with its sign."""
    return f"{100 * ratio:+.1f} %" if ratio else "0.0 %"


def verdict_of(found: Comparison) -> str:
    """The first lines of every output."""
    if found.step_time is None:
        return (
            "Step times cannot be compared: at least one run has no closed step. What both sides "
            "can tell of their whole traces is below."
        )
    cause = _main_cause(found)
    parts = (
        _change(found, found.step_time),
        cause,
        _collectives(found, cause),
        _unprofiled(found),
        _sure(found),
    )
    return " ".join(part for part in parts if part)


def _is_noise(found: Comparison) -> bool:
    return found.judgement is not None and found.judgement.verdict == "not_significant"


def _change(found: Comparison, time: StepTime) -> str:
    where = f"mean of {_steps_told(found)}"
    if not time.change_ns:
        return f"The step takes {span(time.base_ns)} on both sides ({where})."
    change = f"{signed(time.change_ns)}, {signed_percent(time.ratio or 0.0)}"
    both = f"from {span(time.base_ns)} to {span(time.new_ns)}"
    if _is_noise(found):
        return f"The step time does not differ by more than noise: {both} ({change}; {where})."
    verb = "grew" if time.change_ns > 0 else "shrank"
    percent = signed_percent(time.ratio or 0.0)
    return f"The step {verb} by {span(abs(time.change_ns))} ({percent}), {both} ({where})."


def _steps_told(found: Comparison) -> str:
    counts = [[len(run.steps) for run in side] for side in (found.base, found.new)]
    told = [
        counted(of[0], "closed step") if len(of) == 1 else
        f"{counted(len(of), 'run')} with {min(of)} closed steps or more"
        for of in counts
    ]  # fmt: skip
    return told[0] if told[0] == told[1] else f"{told[0]} and {told[1]}"


def _main_cause(found: Comparison) -> str:
    """The cause that explains most; nothing where there is nothing to explain."""
    shares = [cause for cause in found.causes or () if (cause.share or 0) >= _LEAST_SHARE]
    if _is_noise(found) or not shares:
        return ""
    top = max(shares, key=lambda cause: cause.share or 0.0)
    share = f"{whole_percent(top.share)} of the change"
    return f"Main cause, {signed(top.change_ns)} ({share}): {top.says}."


def _collectives(found: Comparison, said: str) -> str:
    """Other numbers of collectives, which are a change of the program and never noise.

    Nothing where the main cause, as it was ``said``, tells them.
    """
    lines = [
        line
        for cause in found.causes or ()
        for line in cause.parts
        if line.part in ("exposed_transfer", "exposed_comm")
        and _differs(line.base_count or 0, line.new_count or 0)
    ]
    if not lines:
        return ""
    most = max(lines, key=lambda line: abs(line.by_count_ns or 0))
    told = f"{most.base_count:.4g} to {most.new_count:.4g} collectives a step"
    if f"{most.detail}: {told}" in said:
        return ""
    how = _latency_or_bandwidth(most, found.collectives)
    what = "transfer" if most.part == "exposed_transfer" else "communication"
    return f"{most.detail}: {told}, {signed(most.change_ns)} of exposed {what}{how}."


def _total(found: Comparison) -> int:
    return found.step_time.change_ns if found.step_time else 0


def _unprofiled(found: Comparison) -> str:
    """The step without the profiler, where both sides tell it."""
    times = [[run.unprofiled_step_ns for run in side] for side in (found.base, found.new)]
    known = [[ns for ns in side if ns is not None] for side in times]
    if [len(side) for side in known] != [len(side) for side in times]:
        return ""
    before, after = (round(sum(side) / len(side)) for side in known)
    opposite = (
        " That is the opposite of what the profiled steps show: the profiler distorts them, and "
        "the explanation is of the profiled ones."
        if _total(found) * (after - before) < 0
        else ""
    )
    if before == after:
        return f"Without the profiler it takes {span(after)} on both sides."
    return (
        f"Without the profiler it takes {span(before)} and {span(after)} "
        f"({signed(after - before)}).{opposite}"
    )


def _sure(found: Comparison) -> str:
    judgement = found.judgement
    if judgement is None or not _total(found):
        return ""
    units = judgement.units
    if judgement.verdict == "cannot_judge":
        least = f"at least {LEAST_UNITS} a side are needed"
        return f"Cannot judge whether that is more than noise: {units}, and {least}."
    judged = sum(part.judgement is not None for part in found.parts)
    p_value = judgement.adjusted_p_value or 0.0
    test = f"p {_p_value(p_value)} by ranks of {units}, corrected for {judged} metrics"
    if judgement.verdict == "not_significant":
        return f"Not significant: {test}."
    return f"Significant: {test}{effect_in_words(judgement)}."


def _p_value(value: float) -> str:
    return "below 0.0001" if value < 1e-4 else f"= {value:.2g}"


def effect_in_words(judgement: Judgement) -> str:
    """The shift with its interval, and Cliff's delta."""
    shift = judgement.shift
    if shift is None:
        return ""
    within = (
        ""
        if shift.low is None or shift.high is None
        else f" ({signed(shift.low)} to {signed(shift.high)} with 95 % certainty)"
    )
    return (
        f"; shift {signed(shift.hodges_lehmann)}{within}, Cliff's delta {shift.cliffs_delta:+.2f}"
    )


def cause_in_words(cause: Cause, found: Comparison) -> str:
    """What a cause is, with the largest of its pieces."""
    if cause.name == "late_rank" and cause.rank is not None:
        return _late_rank(cause, cause.rank, found)
    top = cause.parts[0]
    if top.base_count is None:
        return _CAUSES[cause.name] + _uncounted(top)
    if cause.name == "compute":
        return f"compute, most of it {top.detail}: {_counted(top, 'kernels')}"
    return f"{_CAUSES[cause.name]}, most of it {top.detail}: {_counted(top, 'collectives')}" + (
        _latency_or_bandwidth(top, found.collectives)
    )


def _uncounted(top: CausePart) -> str:
    if top.part == "idle":
        return f", most of it {IDLE_NAMES[top.detail]}"
    return f", most of it {waited_for(top)}" if top.part == "exposed_wait" else ""


def waited_for(line: CausePart) -> str:
    """For which rank others waited, and why it was late."""
    who = "ranks that are not known" if line.rank is None else f"rank {line.rank}"
    return f"for {who}: {REASON_NAMES[line.detail]}"


def _counted(line: CausePart, what: str) -> str:
    """Whether there are more of them, or each takes longer."""
    before, after = line.base_count or 0.0, line.new_count or 0.0
    count = f"{before:.4g} {what} a step on both sides"
    if _differs(before, after):
        count = f"{before:.4g} to {after:.4g} {what} a step ({signed(line.by_count_ns or 0)})"
    each = "each as long as before"
    if before and after and _differs(line.base_ns / before, line.new_ns / after):
        lengths = f"{span(line.base_ns / before)} to {span(line.new_ns / after)}"
        each = f"{lengths} each ({signed(line.by_each_ns or 0)})"
    return f"{count}, {each}"


def _differs(before: float, after: float) -> bool:
    return abs(after - before) > _SAME * max(before, after)


def _latency_or_bandwidth(line: CausePart, pairs: Sequence[CollectivePair]) -> str:
    """Whether more bytes are sent, the same in more pieces, or the same at another rate."""
    mine = [pair for pair in pairs if f"{pair.op} in {pair.group}" == line.detail]
    if not mine or any(pair.bytes is None for pair in mine):
        return ""
    if not line.base_count or not line.new_count:
        return f", only {'in the base' if line.base_count else 'on the new side'}"
    before, after = (
        sum((of.count if of else 0) * (pair.bytes or 0) for pair, of in zip(mine, facts))
        for facts in ([pair.base for pair in mine], [pair.new for pair in mine])
    )
    if _differs(before, after):
        return f"; {size(before)} to {size(after)} a step"
    if _differs(line.base_count or 0.0, line.new_count or 0.0):
        pieces = (
            "more, smaller" if (line.new_count or 0) > (line.base_count or 0) else "fewer, larger"
        )
        return f"; as many bytes ({size(after)} a step) in {pieces} pieces: latency, not bandwidth"
    if all(_takes_as_long(pair) for pair in mine):
        share = "less" if line.change_ns > 0 else "more"
        return f"; as many bytes in as many pieces at the same rate: {share} of it is hidden"
    rate = "another rate" if line.part == "exposed_transfer" else "waiting, or another rate"
    return f"; as many bytes in as many pieces: {rate}"


def _takes_as_long(pair: CollectivePair) -> bool:
    """Whether transfers of a kind take the same time on both sides, as far as that is known."""
    times = [of.transfer_p50_ns if of else None for of in (pair.base, pair.new)]
    return None not in times and not _differs(*(float(ns or 0) for ns in times))


def _late_rank(cause: Cause, rank: int, found: Comparison) -> str:
    """Who is late, what it does itself meanwhile, and who waits."""
    ranks = len(found.new[0].ranks)
    own = [line for line in cause.parts if line.part != "exposed_wait"]
    waited = sum(line.change_ns for line in cause.parts if line.part == "exposed_wait") * ranks
    others = [other for other in found.new[0].ranks if other != rank]
    each = round(waited / max(len(others), 1))
    how = "later" if cause.change_ns > 0 else "less late"
    waits = f"{rank_list(others)} {'waits' if len(others) == 1 else 'wait'}"
    more = "longer" if each > 0 else "shorter"
    return (
        f"rank {rank} is {how}{_own(own, ranks)}{_pause(cause)}; {waits} {span(abs(each))} a step "
        f"{more} for it"
    )


def _own(lines: Sequence[CausePart], ranks: int) -> str:
    """What the late rank does itself: times of its own steps."""
    if not lines:
        return ""
    top = lines[0]
    before, after = (span(ns * ranks) for ns in (top.base_ns, top.new_ns))
    what = {
        ("idle", "host_pause"): "its host pauses",
        ("idle", "launches"): "its GPU waits for launches",
    }.get((top.part, top.detail), _DOES.get(top.part, "").format(_detail(top)))
    return f": {what}, {before} a step before and {after} now"


_DOES = {"idle": "its GPU idles {}", "compute": "it computes ({})", "exposed_copy": "it copies"}


def _detail(line: CausePart) -> str:
    return IDLE_NAMES.get(line.detail, line.detail)


def _pause(cause: Cause) -> str:
    """The longest pause of its host at once."""
    longest = cause.new_pause_ns if cause.change_ns > 0 else cause.base_pause_ns
    if not longest:
        return ""
    return f" ({'up to' if cause.change_ns > 0 else 'it was up to'} {span(longest)} at once)"
