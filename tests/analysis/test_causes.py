"""Each cause of a gap, at the edges of what decides it (the random jobs are in test_gaps)."""

from __future__ import annotations

import pytest
from tables import Gpu, Host, Row, analysis, annotation, comm, copy, reading, step, traces

from commscope.analysis.causes import CAUSES, MISSING
from commscope.analysis.result import Analysis, analyse

pytestmark = pytest.mark.long

US = 1_000
#: Compute until 100 us, beside a collective that is exposed from then to 200 us.
BEFORE = Gpu(50 * US, 50 * US, launched=10 * US)
COLLECTIVE = comm(60 * US, 140 * US, launched=11 * US)
OPTIMIZER = "multi_tensor_apply_kernel<adam>"


def _next(start: int, launched: int | None, **more: object) -> Gpu:
    return Gpu(start, 10 * US, launched=launched, **more)  # type: ignore[arg-type]


def _causes(found: Analysis) -> list[str]:
    return [CAUSES[cause] for cause in found.causes.cause.tolist()]


def _cause(*rows: Row) -> str:
    """The cause of the first gap, of a rank that nothing is known of but this."""
    found = analysis(BEFORE, COLLECTIVE, *rows)
    assert found.gaps.start[0] - found.timeline.shift_ns[0] == 100 * US
    return _causes(found)[0]


@pytest.mark.parametrize(
    ("launched", "start", "cause"),
    [
        (100 * US, 200 * US, "dependency"),
        (100 * US, 225 * US, "dependency"),
        (100 * US, 225 * US + 1, "unknown"),
        (101 * US, 200 * US, "dependency"),  # launching it earlier would have changed nothing
        (174 * US, 200 * US, "dependency"),
        (175 * US, 200 * US, "host_late"),
        (250 * US, 260 * US, "host_late"),
        (None, 200 * US, "unknown"),
    ],
)
def test_what_is_launched_in_time_and_begins_as_the_communication_ends(
    launched: int | None, start: int, cause: str
) -> None:
    assert _cause(_next(start, launched)) == cause


def test_a_begin_may_be_stamped_before_the_end() -> None:
    """By another queue: compute seems to begin while the collective still runs."""
    assert _cause(_next(199 * US, 20 * US)) == "dependency"
    assert _cause(_next(199 * US - 1, 20 * US)) == "unknown"


def test_what_is_missing_is_said() -> None:
    found = analysis(BEFORE, COLLECTIVE, _next(200 * US, None))
    assert MISSING[found.causes.missing[0]] == "the launch of the next activity is not in the file"
    found = analysis(BEFORE, COLLECTIVE, _next(250 * US, 20 * US))
    assert "in time and began on its own" in MISSING[found.causes.missing[0]]


def test_a_collective_on_the_stream_of_compute() -> None:
    rows = (BEFORE, Gpu(100 * US, 100 * US, COLLECTIVE.name, 11 * US), _next(200 * US, 20 * US))
    found = analysis(*rows)
    assert _causes(found) == ["dependency"]
    assert found.causes.same_stream.tolist() == [True]


def test_the_stream_is_that_of_the_collective_that_ends_with_the_next() -> None:
    """One on the stream of compute began last and is over long before the exposure."""
    over = comm(70 * US, 5 * US, launched=12 * US, stream=0)
    found = analysis(BEFORE, COLLECTIVE, over, _next(200 * US, 20 * US))
    assert _causes(found) == ["dependency"]
    assert found.causes.same_stream.tolist() == [False]


def test_a_synchronous_collective_beside_a_longer_one_on_another_stream() -> None:
    """What the next kernel had to wait for is the one on its own stream."""
    longer = comm(60 * US, 340 * US, launched=11 * US)
    synchronous = Gpu(100 * US, 100 * US, COLLECTIVE.name, 12 * US)
    found = analysis(BEFORE, longer, synchronous, _next(200 * US, 20 * US))
    assert _causes(found)[0] == "dependency"
    assert found.causes.same_stream.tolist()[0]


@pytest.mark.parametrize(
    ("pause", "cause"), [(25 * US - 1, "kernel_gap"), (25 * US, "host_late"), (1, "kernel_gap")]
)
def test_a_pause_between_kernels(pause: int, cause: str) -> None:
    start = 100 * US + pause
    assert _cause(_next(start, start - 1)) == cause


def test_a_pause_to_another_stream_or_without_communication_behind_is_none() -> None:
    assert _cause(_next(110 * US, 109 * US, stream=5)) == "host_late"
    found = analysis(BEFORE, comm(60 * US, 50 * US, launched=11 * US), _next(110 * US, 109 * US))
    assert _causes(found) == ["host_late"]


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (Host(50 * US, 152 * US, "hipEventSynchronize", "sync"), "host_sync"),
        (Host(50 * US, 124 * US, "hipEventSynchronize", "sync"), "host_late"),
        (Host(176 * US, 28 * US, "hipEventSynchronize", "sync"), "host_late"),
        (Host(50 * US, 152 * US, "hipEventSynchronize", "sync", thread=2), "host_late"),
        (Host(50 * US, 152 * US, "hipMemcpyWithStream", "launch"), "host_sync"),
        (Host(50 * US, 152 * US, "hipMalloc", "memory"), "host_sync"),
        (Host(50 * US, 152 * US, "DataLoader.__next__", "annotation"), "host_late"),
    ],
)
def test_a_host_that_is_blocked_as_the_communication_ends(call: Host, cause: str) -> None:
    assert _cause(call, _next(210 * US, 205 * US)) == cause


def test_the_call_that_blocked_is_named() -> None:
    call = Host(50 * US, 152 * US, "hipEventSynchronize", "sync")
    found = analysis(BEFORE, COLLECTIVE, call, _next(210 * US, 205 * US))
    assert found.host.names[found.causes.call_name[0]] == "hipEventSynchronize"


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        ([_next(200 * US, 20 * US, stream=5)], "dependency"),
        ([_next(200 * US, 20 * US, stream=5, queue=1)], "stream_order"),
        ([_next(200 * US, 20 * US, stream=5, queue=2)], "dependency"),
        ([_next(200 * US, 20 * US, stream=1, queue=1)], "dependency"),
    ],
)
def test_streams_that_share_a_numbered_queue(rows: list[Row], cause: str) -> None:
    numbered = comm(60 * US, 140 * US, launched=11 * US, queue=1)
    assert _causes(analysis(BEFORE, numbered, *rows))[0] == cause


def _wait(start: int, thread: int = 1) -> Host:
    return Host(start, 1, "hipStreamWaitEvent", "runtime", thread=thread)


@pytest.mark.parametrize(
    ("waits", "cause"),
    [
        ([5 * US], "stream_order"),
        ([15 * US], "dependency"),
        ([20 * US], "dependency"),
        ([21 * US], "stream_order"),
    ],
)
def test_a_shared_queue_is_told_by_the_wait_that_is_missing(waits: list[int], cause: str) -> None:
    rows = [_next(200 * US, 20 * US, stream=5), *map(_wait, waits)]
    assert _cause(*rows) == cause


def test_waits_of_threads_that_launch_nothing_tell_nothing() -> None:
    assert _cause(_next(200 * US, 20 * US, stream=5), _wait(5 * US, thread=9)) == "dependency"


def test_only_the_optimizer_follows_the_last_bucket() -> None:
    whole = step(0, 1, 90 * US)
    later = _next(300 * US, 40 * US, name=OPTIMIZER)
    assert _cause(whole, _next(200 * US, 30 * US, name=OPTIMIZER), later) == "step_tail"
    assert _cause(whole, _next(200 * US, 30 * US, name=OPTIMIZER), _next(300 * US, 40 * US)) == (
        "dependency"
    )
    assert _cause(whole) == "step_tail"


def test_the_optimizer_is_told_by_its_label_too() -> None:
    rows = (step(0, 1, 90 * US), _next(200 * US, 30 * US))
    assert _cause(*rows) == "dependency"
    assert _cause(*rows, annotation("Optimizer.step#Adam.step", 29 * US, 5 * US)) == "step_tail"
    assert _cause(*rows, annotation("Optimizer.step#Adam.step", 31 * US, 5 * US)) == "dependency"


def test_a_copy_out_of_a_bucket_is_work() -> None:
    bucket = copy(200 * US, 5 * US, launched=25 * US)
    rows = (step(0, 1, 90 * US), bucket, _next(210 * US, 30 * US, name=OPTIMIZER))
    assert _cause(*rows) == "dependency"
    loss = copy(200 * US, 5 * US, launched=25 * US, name="Memcpy DtoH (Device -> Pinned)")
    assert _cause(rows[0], loss, rows[2]) == "step_tail"


def test_what_another_rank_did_last_says_nothing_of_the_first_steps() -> None:
    """The label of one host's last optimizer is not over the first launches of the next rank."""
    rows = (step(0, 1, 90 * US), BEFORE, COLLECTIVE, _next(200 * US, 30 * US))
    label = annotation("Optimizer.step#Adam.step", 205 * US, 300 * US)
    found = analyse(
        traces([reading(*rows, label, rank=0, file="a"), reading(*rows, rank=1, file="b")])
    )
    assert "step_tail" not in _causes(found)


def test_before_the_last_arrival_ranks_wait_whatever_comes_next() -> None:
    early = (BEFORE, comm(60 * US, 140 * US, launched=11 * US), _next(210 * US, 205 * US))
    late = (BEFORE, comm(150 * US, 50 * US, launched=11 * US), _next(210 * US, 205 * US))
    found = analyse(traces([reading(*early, rank=0, file="a"), reading(*late, rank=1, file="b")]))
    assert _causes(found) == ["straggler_wait", "host_late", "host_late"]
    assert found.gaps.length.tolist() == [50 * US, 50 * US, 50 * US]


def test_without_partners_on_a_rank_that_has_some_the_cause_is_not_known() -> None:
    rows = (
        BEFORE,
        COLLECTIVE,
        _next(210 * US, 205 * US),
        comm(400 * US, 5 * US, launched=300 * US),
    )
    other = (Gpu(50 * US, 50 * US, launched=10 * US), comm(400 * US, 5 * US, launched=300 * US))
    found = analyse(traces([reading(*rows, rank=0, file="a"), reading(*other, rank=1, file="b")]))
    assert found.across.matching.instance.tolist() == [-1, 0, 0]
    assert _causes(found)[0] == "unknown"
    assert MISSING[found.causes.missing[0]] == "its partners are not in the files"
