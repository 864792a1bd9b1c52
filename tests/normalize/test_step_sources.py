"""Where steps come from when the profiler does not say."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tables import Gpu, Row, annotation, comm, lost, reading, step, trace, traces

from commscope.errors import UsageError
from commscope.trace import Trace

NAMES = [f"void at::native::kernel_{i}" for i in range(12)]


def _found(*rows: Row, marker: str | None = None) -> Trace:
    return trace(*rows, step_marker=re.compile(marker) if marker else None)


def _hosts(found: Trace) -> list[tuple[str, int | None, int | None]]:
    return [(r["name"], r["host_start_ns"], r["host_end_ns"]) for r in found.steps.to_pylist()]


class TestMarker:
    """Each occurrence of what the user named begins a step."""

    ROWS = (
        annotation("train 1", 10, 8), annotation("train 2", 20, 8), annotation("load", 1, 5),
        Gpu(40, 5, launched=12), Gpu(50, 5, launched=25), Gpu(60, 5, launched=90),
    )  # fmt: skip

    def test_begins_steps_up_to_the_end_of_the_recording(self) -> None:
        found = _found(*self.ROWS, marker="train")
        assert _hosts(found) == [("train 1", 10, 20), ("train 2", 20, 91)]
        assert (found.step_source.kind, found.step_source.says) == ("marker", "--step-marker train")
        assert found.events.column("step").to_pylist() == [0, 1, 1]

    def test_may_be_of_no_length(self) -> None:
        found = _found(
            *self.ROWS, annotation("mark", 11, 0), annotation("mark", 24, 0), marker="ma"
        )
        assert _hosts(found) == [("mark", 11, 24), ("mark", 24, 91)]

    def test_wins_over_the_profiler(self) -> None:
        assert _found(*self.ROWS, step(3, 10, 9), marker="load").step_source.kind == "marker"

    def test_counts_nested_fits_once(self) -> None:
        inner = [annotation("train inner", 12, 3), annotation("train 1", 10, 7, thread=2)]
        assert len(_hosts(_found(*self.ROWS, *inner, marker="train"))) == 2

    def test_that_fits_nothing_is_an_error_that_lists_names(self) -> None:
        with pytest.raises(UsageError, match=r"--step-marker valid: .* there are load, train #$"):
            _found(*self.ROWS, marker="valid")
        with pytest.raises(UsageError, match="there are none at all"):
            _found(Gpu(1, 1), marker="valid")

    def test_needs_to_fit_on_one_rank_only(self) -> None:
        one = reading(*self.ROWS, file="a", rank=0)
        other = reading(step(1, 10, 9), Gpu(40, 5, launched=12), file="b", rank=1)
        found = traces([one, other], step_marker=re.compile("train"))
        assert set(found.steps.column("source").to_pylist()) == {"marker", "annotation"}


class TestRepetition:
    """A repeated annotation is a step only if it holds nearly all launches."""

    @staticmethod
    def _rows(inside: int, outside: int) -> list[Row]:
        rows: list[Row] = [annotation(f"iteration {i}", 1000 * i, 900) for i in (1, 2)]
        rows += [Gpu(5000 + 10 * i, 5, launched=1001 + i) for i in range(inside)]
        return rows + [lost(500 + i) for i in range(outside)]

    def test_that_holds_enough(self) -> None:
        found = _found(*self._rows(95, 5))
        assert (found.step_source.kind, found.step_source.confidence) == ("marker", 0.95)
        assert "iteration #, which holds 95.0% of the launches" in found.step_source.says
        assert _hosts(found) == [("iteration 1", 1000, 2000), ("iteration 2", 2000, 2900)]

    def test_that_holds_too_little(self) -> None:
        assert _found(*self._rows(94, 6)).step_source.kind == "whole_trace"

    def test_that_occurs_once(self) -> None:
        rows = [annotation("main", 1, 90), Gpu(40, 5, launched=12)]
        assert _found(*rows).step_source.kind == "whole_trace"

    def test_of_several_the_one_that_holds_most(self) -> None:
        rows = [annotation("loss", 1000 + i, 1) for i in (0, 97)] + self._rows(98, 2)
        rows += [annotation("forward", 1000, 97), annotation("forward", 2000, 5)]
        assert "iteration #" in _found(*rows).step_source.says


class TestInferred:
    """The period of the activities, where nothing else tells."""

    @staticmethod
    def _rows(*, launches: bool, streams: int = 1) -> list[Gpu]:
        rows = []
        for one in range(4):
            for place, name in enumerate(NAMES):
                start = 100_000 + one * 90_000 + place * 1000
                launched = start - 50_000 if launches else None
                rows.append(Gpu(start, 900, name, launched))
            late = launched + 10 if launched else None
            rows += [comm(start + 950, 500, launched=late)] * (streams > 1)
        return rows

    @pytest.mark.parametrize("streams", [1, 2])
    def test_by_launch(self, streams: int) -> None:
        found = _found(*self._rows(launches=True, streams=streams))
        assert found.step_source.kind == "inferred"
        assert found.step_source.confidence == 1.0
        assert found.events.column("step").null_count == 0
        assert [row[1] for row in _hosts(found)] == [50_000 + 90_000 * i for i in range(4)]

    @pytest.mark.parametrize("streams", [1, 2])
    def test_on_the_device_where_no_launch_is_known(self, streams: int) -> None:
        found = _found(*self._rows(launches=False, streams=streams))
        steps = found.steps.to_pylist()
        assert [row["source"] for row in steps] == ["inferred"] * 4
        assert [row["start_ns"] for row in steps] == [100_000 + 90_000 * i for i in range(4)]
        assert [row["open"] for row in steps] == [False, False, False, True]
        assert [row["host_start_ns"] for row in steps] == [None] * 4
        assert found.events.column("step").null_count == 0

    def test_where_some_launches_are_lost(self) -> None:
        rows = self._rows(launches=True)
        rows[20] = Gpu(rows[20].start, 900, rows[20].name)
        found = _found(*rows, lost(60_000))
        assert found.step_source.kind == "inferred"
        assert found.events.column("step").null_count == 0
        assert found.host.column("step").null_count == found.host.num_rows

    def test_is_the_last_resort(self) -> None:
        rows: list[Any] = [*self._rows(launches=True), step(7, 1, 10**6)]
        assert _found(*rows).step_source.kind == "annotation"
