"""Rules of trust: each fires on a trace made for it, and withholds what rests on it, no more."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tables import (
    GENERIC,
    Gpu,
    Host,
    Known,
    Row,
    check,
    comm,
    copy,
    lost,
    reading,
    shuffled,
    step,
    trace,
    traces,
)  # fmt: skip

from commscope.analysis.result import analyse
from commscope.findings.model import OUTSIDE, WHOLE, Check, Metric, Result, Withheld
from commscope.findings.quality import trust_of
from commscope.normalize.selection import StepSelection
from commscope.parsers.base import Health, Reading
from commscope.trace import Trace

FAIL, PASS, NOT_CHECKED = Result.FAIL, Result.PASS, Result.NOT_CHECKED
OVERLAP, IDLE = Metric.OVERLAP, Metric.IDLE


def _clean(rank: int | None = None, kernels: int = 50) -> list[Row]:
    """Two steps, linked, with a described collective each; only a merged file names its rank."""
    steps = [step(k, 10_000 * k, 10_000, rank=rank) for k in (1, 2)]
    rows = [comm(10_000 * k + 500, 800, launched=10_000 * k + 1, rank=rank) for k in (1, 2)]
    rows += [
        Gpu(10_000 * k + 100 * i + 60, 50, launched=10_000 * k + 100 * i, rank=rank)
        for k in (1, 2)
        for i in range(kernels)
    ]
    return [*steps, *rows, *(Known(row, "all_reduce", "pg", 64) for row in (0, 1))]


def _job(*ranks: Iterable[Row]) -> Trace:
    return traces(
        reading(*rows, file=f"rank{number}.json", rank=number, versions={"nccl_version": "2"})
        for number, rows in enumerate(ranks)
    )


CLEAN = _job(_clean(), _clean())


def _places(found: Check) -> dict[tuple[int | None, int | None], set[Metric]]:
    places: dict[tuple[int | None, int | None], set[Metric]] = {}
    for one in found.withheld:
        places.setdefault((one.rank, one.step), set()).add(one.metric)
    return places


KERNELS = {OVERLAP, IDLE}


def test_a_clean_trace_passes_all() -> None:
    trust = trust_of(analyse(CLEAN))
    assert trust.verdict == "ok"
    assert {c.rule: c.result for c in trust.checks if c.result != PASS} == {"Q10": NOT_CHECKED}
    assert not any(c.withheld for c in trust.checks)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("Q1", "204 of 204 kernel launches found their kernel"),
        ("Q2", "all 2 ranks have the same kinds of kernels"),
        ("Q3", "steps by the profiler's ProfilerStep annotation"),
        ("Q4", "no impossible time stamp"),
        ("Q5", "all collectives have operation, communicator and size"),
        ("Q6", "every activity has a stream"),
        ("Q7", "2 files were read whole"),
        ("Q8", "no graph was replayed"),
        ("Q9", "0 of 204 kernels start before their launch"),
        ("Q11", "100.0% of the GPU time is in kernels of known family"),
        ("QV", "no known problem with these versions"),
    ],
)
def test_what_is_said_of_a_clean_trace(rule: str, says: str) -> None:
    assert check(rule, CLEAN).says == says


class TestQ1:
    """Launches without their kernels."""

    def test_in_one_step_withholds_that_step_and_the_whole_trace(self) -> None:
        found = check("Q1", _job([*_clean(), *(lost(10_005 + i) for i in range(40))]))
        assert found.result == FAIL
        assert _places(found) == {(0, WHOLE): KERNELS, (0, 1): KERNELS}
        assert found.says == (
            "only 56.0% of the kernel launches of step 1 found their kernel (51 of 91): what ran "
            "besides is not known; leave such steps out, or record again"
        )

    def test_good_steps_keep_the_trace_usable(self) -> None:
        rows = [*_clean(), *(lost(10_005 + i) for i in range(40))]
        assert trust_of(analyse(_job(rows))).verdict == "limited"

    def test_steps_that_are_not_shown_are_not_judged(self) -> None:
        rows = [*_clean(), *(lost(10_005 + i) for i in range(40))]
        found = check("Q1", trace(*rows, steps=StepSelection.parse("2")))
        assert _places(found) == {(0, WHOLE): KERNELS}

    @pytest.mark.parametrize(("missing", "result"), [(1, PASS), (2, PASS), (3, FAIL)])
    def test_threshold(self, missing: int, result: Result) -> None:
        rows = [*_clean(), *(lost(9_000 + i) for i in range(missing))]
        assert check("Q1", _job(rows)).result == result

    def test_on_one_rank(self) -> None:
        found = check("Q1", _job(_clean(), [*_clean(), *(lost(9_000 + i) for i in range(40))]))
        assert _places(found) == {(1, WHOLE): KERNELS, (1, OUTSIDE): {OVERLAP}}
        assert "of rank 1 found" in found.says

    def test_no_kernel_at_all(self) -> None:
        silent = [copy(500, 5), *(lost(10 + i) for i in range(3))]
        found = check("Q1", _job(_clean(), silent))
        assert _places(found) == {(1, None): KERNELS}
        assert found.says.startswith(
            "no kernel was recorded for 3 kernel launches of rank 1: start"
        )
        assert trust_of(analyse(_job(silent))).verdict == "unusable"

    def test_what_the_recording_cut_is_said(self) -> None:
        found = check("Q1", _job([*_clean(), lost(29_000)]))
        assert found.result == PASS
        assert "but for 1 at the end" in found.says

    def test_no_launches(self) -> None:
        found = check("Q1", trace(Gpu(5, 5)))
        assert found.result == NOT_CHECKED
        assert "1 of 1 kernel has no launch in the file" in found.says


class TestQ2:
    """Ranks that lack what others have."""

    @pytest.mark.parametrize(("stream", "says"), [(1, "communication"), (0, "compute")])
    def test_kind_of_kernels(self, stream: int, says: str) -> None:
        lacks = [
            r for r in _clean() if isinstance(r, Host) or getattr(r, "stream", stream) != stream
        ]
        found = check("Q2", _job(_clean(), lacks, _clean()))
        assert f"rank 1 has no {says} kernels, which other ranks have" in found.says
        assert _places(found) == {(1, None): KERNELS}

    @pytest.mark.parametrize(("kernels", "result"), [(40, PASS), (39, FAIL), (70, FAIL)])
    def test_far_fewer_kernels_in_a_step(self, kernels: int, result: Result) -> None:
        found = check("Q2", _job(_clean(), _clean(kernels=kernels)))
        assert found.result == result
        assert not found.withheld

    def test_worst_step_is_named(self) -> None:
        found = check("Q2", _job(_clean(), _clean(kernels=20), _clean()))
        assert found.says == "rank 1 has 21 kernels in step 1, the others 51"

    def test_one_rank(self) -> None:
        assert check("Q2", _job(_clean())).result == NOT_CHECKED

    def test_copy_kernels_are_no_compute(self) -> None:
        copies = [Gpu(10_900, 5, "__amd_rocclr_copyBuffer", launched=10_002, stream=3)]
        lacks = [r for r in _clean() if getattr(r, "stream", 0) or isinstance(r, Host)]
        found = check("Q2", _job(_clean(), [*lacks, *copies]))
        assert "rank 1 has no compute kernels, which other ranks have" in found.says

    @staticmethod
    def _second(stream: int, kernels: int = 9, at: int = 10_000) -> list[Row]:
        """More kernels of the first step, on a stream."""
        return [Gpu(at + 60 * i, 5, launched=10_001, stream=stream) for i in range(kernels)]

    def test_lost_stream(self) -> None:
        both = [*_clean(), *self._second(7)]
        found = check("Q2", _job(both, [*_clean(), *self._second(0, at=10_005)], both))
        assert (found.result, _places(found)) == (FAIL, {(1, None): KERNELS})
        assert found.says == "rank 1 has compute kernels on 1 stream, the other ranks on 2 or more"

    def test_streams_have_other_numbers_elsewhere(self) -> None:
        jobs = [[*_clean(), *self._second(stream)] for stream in (7, 8, 9)]
        assert check("Q2", _job(*jobs)).result == PASS

    @pytest.mark.parametrize(("kernels", "is_lost"), [(1, True), (2, False), (9, False)])
    def test_a_stream_with_little_on_it_is_not_lost(self, kernels: int, is_lost: bool) -> None:
        both = [*_clean(), *self._second(7)]
        little = [*_clean(), *self._second(0, 60), *self._second(7, kernels, at=10_005)]
        assert bool(check("Q2", _job(both, little, both)).withheld) == is_lost

    def test_a_stream_that_one_other_lacks_too_is_not_lost(self) -> None:
        both = [*_clean(), *self._second(7)]
        one = [*_clean(), *self._second(0, at=10_005)]
        assert check("Q2", _job(both, one, one)).result == PASS

    def test_nothing_tells_which_of_two_ranks_is_odd(self) -> None:
        both = [*_clean(), *self._second(7)]
        one = [*_clean(), *self._second(0, at=10_005)]
        assert check("Q2", _job(both, one)).result == PASS

    def test_two_ranks_of_which_one_has_none_in_the_steps(self) -> None:
        lacks: list[Row] = [r for r in _clean() if getattr(r, "stream", 0) != 1]
        lacks = [r for r in lacks if not isinstance(r, Known)]
        found = check("Q2", _job(_clean(), [*lacks, comm(5, 5)]))
        assert found.withheld
        assert "rank 1 has communication kernels on 0 streams" in found.says

    def test_lost_stream_of_a_trace_without_steps(self) -> None:
        both = [row for row in [*_clean(), *self._second(7)] if isinstance(row, Gpu)]
        jobs = [[Gpu(r.start, r.dur, r.name, stream=r.stream) for r in both] for _ in range(3)]
        jobs[1] = [row for row in jobs[1] if row.stream != 7]
        found = check("Q2", _job(*jobs))
        assert _places(found) == {(1, None): KERNELS}

    def test_a_recording_cut_in_its_first_step_lost_no_stream(self) -> None:
        both = [*_clean(), *self._second(7)]
        cut = [step(1, 10_000, 10_000), *(Gpu(10_060 + k, 1, launched=10_001) for k in range(30))]
        found = check("Q2", _job(both, [*cut, comm(10_500, 5, launched=10_001)], both))
        assert not found.withheld

    def test_few_kernels_tell_nothing(self) -> None:
        jobs = [[*_clean(kernels=9), *self._second(7, 9)] for _ in range(3)]
        jobs[1] = _clean(kernels=19)
        assert not check("Q2", _job(*jobs)).withheld
        jobs[1] = _clean(kernels=20)
        assert check("Q2", _job(*jobs)).withheld

    def test_only_steps_that_all_ranks_have_count(self) -> None:
        late = [step(3, 30_000, 10_000)]
        late += [Gpu(30_100 + 60 * i, 5, launched=30_001, stream=7) for i in range(90)]
        jobs = [[*_clean(), *late], _clean(), [*_clean(), *late]]
        assert check("Q2", _job(*jobs)).result == PASS


class TestQ3:
    """Steps, and what belongs to none."""

    def test_no_steps(self) -> None:
        found = check("Q3", trace(Gpu(5, 5)))
        assert (found.result, found.withheld) == (FAIL, ())
        assert "--step-marker REGEX" in found.says

    @pytest.mark.parametrize(("dur", "result"), [(60, PASS), (70, FAIL)])
    def test_time_outside(self, dur: int, result: Result) -> None:
        found = check("Q3", _job([*_clean(), Gpu(9_000, dur, launched=1)]))
        assert (found.result, found.withheld) == (result, ())
        said = "; 1 activity belongs to no step (0.000 ms, 1.0% of the GPU time)" in found.says
        assert said == (result == FAIL)

    def test_steps_that_are_not_shown_are_steps(self) -> None:
        assert check("Q3", trace(*_clean(), steps=StepSelection.parse("2"))).result == PASS


class TestQ4:
    """Time stamps that cannot be."""

    def test_late_end(self) -> None:
        rows = [*_clean(), Gpu(30_000, 9_000, stream=7), Gpu(31_000, 10, stream=7)]
        found = check("Q4", _job(_clean(), rows))
        assert found.result == FAIL
        assert found.withheld == (Withheld(Metric.RANKINGS),)
        assert found.says == (
            "1 activity that ended after the begin of the next on the same stream, cut there on "
            "rank 1: 0.022 ms of GPU time before, 0.014 ms after"
        )

    def test_little_that_moved_withholds_nothing(self) -> None:
        rows = [Gpu(10**6, 10**6), Gpu(3 * 10**6, 9_000, stream=7), Gpu(3_005_000, 10, stream=7)]
        found = check("Q4", trace(*rows))
        assert (found.result, found.withheld) == (FAIL, ())

    def test_broken(self) -> None:
        found = check("Q4", _job([*_clean(), Gpu(0, 0), Gpu(-1, 5)]))
        assert found.says == "2 activities with impossible times, left out"
        assert found.withheld == ()

    def test_communication_left_out_makes_overlap_unknown(self) -> None:
        found = check("Q4", _job(_clean(), [*_clean(), comm(30_000, -1)]))
        assert found.says == (
            "1 activity with impossible times, left out on rank 1; 1 of 5 communications is among "
            "those left out"
        )
        assert _places(found) == {(1, None): KERNELS}

    def test_little_communication_left_out_withholds_nothing(self) -> None:
        many = [comm(30_000 + 100 * number, 50) for number in range(60)]
        found = check("Q4", _job([*_clean(), *many, comm(40_000, -1)]))
        assert found.says.endswith("; 1 of 63 communications is among those left out")
        assert found.withheld == ()

    @pytest.mark.parametrize(
        ("rows", "says"),
        [
            ([Gpu(30_000, 0)], "(1 activity of no length, left out)"),
            ([Gpu(30_000, 110), Gpu(30_100, 20)],
             "(1 overlap of at most 1 us on one stream, left as they are)"),
        ],
    )  # fmt: skip
    def test_noise_is_said_and_passes(self, rows: list[Row], says: str) -> None:
        found = check("Q4", _job([*_clean(), *rows]))
        assert (found.result, found.says) == (PASS, f"no impossible time stamp {says}")


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ([], "communicator (1 of 1), size (1 of 1): "),
        ([Known(0, "all_reduce", "pg")], "size (1 of 1): "),
        ([Known(0, "all_reduce", None, 64)], "communicator (1 of 1): "),
    ],
)
def test_q5_informs(known: list[Row], says: str) -> None:
    found = check("Q5", trace(comm(5, 5), *known))
    assert (found.result, found.withheld) == (FAIL, ())
    assert found.says.startswith(f"not all collectives tell their {says}")


def test_q5_without_operation() -> None:
    assert "tell their operation (1 of 1), " in check("Q5", trace(comm(5, 5, name=GENERIC))).says
    assert check("Q5", trace(Gpu(5, 5))).result == NOT_CHECKED


class TestQ6:
    """Activities whose stream is not known."""

    def test_many_on_one_rank(self) -> None:
        rows = [*_clean(), *(Gpu(30_000 + 9 * i, 5, f"k{i}", stream=None) for i in range(3))]
        found = check("Q6", _job(_clean(), rows))
        assert found.withheld == (Withheld(Metric.LAUNCH, 1),)
        assert found.says.startswith("3 activities have no stream, or several fit on rank 1: ")

    def test_few(self) -> None:
        found = check("Q6", _job([*_clean(), Gpu(30_000, 5, "k", stream=None)]))
        assert (found.result, found.withheld) == (FAIL, ())

    def test_told_by_name(self) -> None:
        found = check("Q6", _job([*_clean(), Gpu(30_000, 5, stream=None)]))
        assert (found.result, found.says) == (
            PASS, "every activity has a stream (1 was told from the name of the kernel)",
        )  # fmt: skip


class TestQ7:
    """Files that could not be read whole."""

    @staticmethod
    def _file(health: Health, *more: Row, base_ns: int = 0) -> Reading:
        rows = (*_clean(), *more)
        return reading(*rows, file="rank0.json", health=health, rank=0, base_ns=base_ns)

    @pytest.mark.parametrize(
        ("health", "says", "withholds"),
        [
            (
                Health(9, cut="the file ends", lacks_events=True),
                "rank0.json: 9 events read, then the file ends",
                True,
            ),
            (Health(9, cut="the file ends"), "then the file ends", False),
            (Health(9000, events_lost=10), "9,000 events read, 10 could not be read", True),
            (Health(90_000, events_lost=10), "10 could not be read", False),
            (Health(9, bytes_lost=1), "9 events read, 1 byte lost", False),
            (Health(1, events_repaired=2), "1 event read, 2 mended", False),
        ],
    )
    def test_damage(self, health: Health, says: str, withholds: bool) -> None:
        found = check("Q7", traces([self._file(health, lost(29_000))]))
        assert found.result == FAIL
        assert says in found.says
        assert _places(found) == ({(0, None): KERNELS} if withholds else {})

    def test_last_good_time(self) -> None:
        health = Health(9, cut="the file ends", last_good_ns=22_060)
        found = check("Q7", traces([self._file(health, base_ns=10**18)]))
        assert found.says.endswith(
            "then the file ends (last good time: 0.012 ms after the first activity)"
        )

    def test_no_last_good_time_without_a_cut(self) -> None:
        found = check("Q7", traces([self._file(Health(9, events_lost=1, last_good_ns=10_560))]))
        assert "last good" not in found.says

    def test_launches_that_found_their_kernels_prove_nothing(self) -> None:
        """On CUDA a launch stands next to its kernel in the file: a cut takes both."""
        cut = Health(9, cut="cut", lacks_events=True)
        assert _places(check("Q7", traces([self._file(cut)]))) == {(0, None): KERNELS}

    def test_a_file_of_another_capture_is_no_matter(self) -> None:
        old = reading(Gpu(5, 5), file="old.json", rank=0, health=Health(9, cut="cut"))
        found = check("Q7", traces([old, self._file(Health(9), lost(29_000))]))
        assert (found.result, found.withheld) == (PASS, ())

    def test_merged_file(self) -> None:
        rows = [*_clean(0), lost(29_000, rank=0), *(r for r in _clean(1) if isinstance(r, Host))]
        rows += [Gpu(11_000, 5, rank=1), lost(10_500, rank=1)]
        found = check(
            "Q7", traces([reading(*rows, health=Health(9, cut="cut", lacks_events=True))])
        )
        assert _places(found) == {(0, None): KERNELS, (1, None): KERNELS}

    def test_many_files_are_counted(self) -> None:
        damaged = Health(9, bytes_lost=1)
        files = [reading(Gpu(5, 5), file=f"f{i}", rank=i, health=damaged) for i in range(5)]
        assert check("Q7", traces(files)).says.endswith("; 2 more files are damaged")

    def test_one_file(self) -> None:
        assert check("Q7", _job(_clean())).says == "1 file was read whole"


class TestQ8:
    """Kernels replayed by graphs."""

    @staticmethod
    def _graph(number: int, kernels: int) -> list[Row]:
        at = 40_000 + 1000 * number
        rows: list[Row] = [Host(at, 1, "hipGraphLaunch", correlation=10**8 + number)]
        rows += [Gpu(at + 50 * i + 50, 5, correlation=10**8 + number) for i in range(kernels)]
        return rows

    def test_many(self) -> None:
        found = check("Q8", _job(_clean(), [*_clean(), *self._graph(0, 9)]))
        assert found.withheld == (Withheld(Metric.LAUNCH, 1),)
        assert found.says.startswith("8% of the kernels were replayed by graphs on rank 1: ")

    def test_few(self) -> None:
        found = check("Q8", _job([*_clean(), *self._graph(0, 2)]))
        assert (found.result, found.says) == (PASS, "1.9% of the kernels were replayed by graphs")

    def test_not_recorded(self) -> None:
        rows = [*_clean(), *self._graph(0, 0), *self._graph(1, 5)]
        found = check("Q8", _job(_clean(), rows))
        assert _places(found) == {(1, None): KERNELS}
        assert found.says.startswith("1 graph launch has no kernel in the trace on rank 1: ")

    def test_cut_at_the_end(self) -> None:
        rows = [*_clean(), *self._graph(0, 2), *self._graph(1, 0)]
        assert check("Q8", _job(rows)).result == PASS


class TestQ9:
    """Kernels that start before their launch."""

    def test_on_one_rank_of_many(self) -> None:
        early = [Gpu(30_000 + 9 * i, 5, launched=32_000 + i, stream=9) for i in range(2)]
        found = check("Q9", _job([*_clean(), *early], *(_clean() for _ in range(3))))
        assert found.withheld == (Withheld(Metric.LAUNCH, 0),)
        assert found.says.startswith("2 of 104 kernels start before their launch on rank 0: ")

    def test_one_is_noise(self) -> None:
        found = check("Q9", _job([*_clean(), Gpu(30_000, 5, launched=32_000)]))
        assert (found.result, found.says) == (
            PASS, "1 of 103 kernels starts before their launch",
        )  # fmt: skip

    def test_no_launches(self) -> None:
        assert check("Q9", trace(Gpu(5, 5))).result == NOT_CHECKED


class TestQ11:
    """Kernels of unknown family."""

    @pytest.mark.parametrize(("dur", "result"), [(130, PASS), (150, FAIL)])
    def test_threshold(self, dur: int, result: Result) -> None:
        found = check("Q11", _job([*_clean(), Gpu(30_000, dur, "never_seen" * 9)]))
        assert (found.result, found.withheld) == (result, ())

    def test_names_are_listed(self) -> None:
        found = check("Q11", _job([*_clean(), Gpu(30_000, 900, "never_seen" * 9)]))
        assert ": " + ("never_seen" * 9)[:60] + "; name them with --pattern" in found.says

    def test_communication_by_metadata_is_known(self) -> None:
        found = check("Q11", trace(Gpu(5, 5, "never seen"), Known(0, "all_reduce")))
        assert found.result == PASS
        assert found.says.endswith("; 1 kernel is communication by metadata only")


@pytest.mark.parametrize(
    ("versions", "result", "says"),
    [
        ({}, NOT_CHECKED, "the file names no versions"),
        ({"hip_runtime_version": "70051831"}, FAIL, "ROCm 7.0: a stream may be missing"),
        ({"hip_runtime_version": "60140091"}, FAIL, "ROCm 6.1: "),
        ({"hip_runtime_version": "60241134"}, FAIL, "ROCm 6.2: "),
        ({"hip_runtime_version": "60443483"}, PASS, "no known problem"),
        ({"hip_runtime_version": "what"}, PASS, "no known problem"),
    ],
)
def test_qv(versions: dict[str, str], result: Result, says: str) -> None:
    found = check("QV", traces([reading(Gpu(5, 5), versions=versions)]))
    assert (found.result, found.withheld) == (result, ())
    assert found.says.startswith(says)


def test_checks_do_not_depend_on_the_order_of_rows() -> None:
    one = reading(*(r for r in _clean() if not isinstance(r, Known)), lost(9_000), rank=0)
    here, there = (trust_of(analyse(traces([r]))) for r in (one, shuffled(one, 5)))
    assert here == there
