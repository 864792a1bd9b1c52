"""Looking for kernels in a log takes no more than it may, and nothing twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from called import PID, Called, log_of
from log_samples import read_text
from tables import GENERIC, Gpu, Row, lost, reading, traces

from commscope.columns import NONE, int64, with_column
from commscope.normalize import log_fits, logged_units
from commscope.normalize.log_fits import Fit, Shown, fit
from commscope.normalize.logged_units import Units
from commscope.normalize.named_by_log import name_by_log
from commscope.normalize.stretches import ANY, Effort, Stretches

_WORDS = ("send", "recv", "all_reduce", "float")


def _units(sizes: list[int], comm: int = 0) -> Units:
    count = len(sizes)
    same, none = np.zeros(count, np.int64), np.full(count, NONE)
    return Units(
        words=_WORDS, comm=same + comm, nranks=same + 2, op=same + 2, bytes=np.array(sizes),
        dtype=same + 3, stream=same, peer=none, opcount=none, sure=np.ones(count, np.bool_),
    )  # fmt: skip


def _shown(workgroups: list[int], sizes: list[int] | None = None) -> Shown:
    count = len(workgroups)
    none = np.full(count, NONE)
    return Shown(
        op=(None,) * count, bytes=none if sizes is None else np.array(sizes), group=none,
        group_size=none, workgroups=np.array(workgroups), lane=np.zeros(count, np.int64),
    )  # fmt: skip


def _fit(shown: Shown, *candidates: Units, effort: int = 1 << 28) -> Fit | None:
    found = fit(shown, [*candidates], Effort(effort), one_to_one=False)
    return None if found is None else found[1]


def test_what_all_places_agree_on_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Counter[str]()

    def blocks(places: Any, width: int, of: Any = log_fits._blocks) -> Any:
        found = of(places, width)
        steps["blocks"] += len(found)
        return found

    monkeypatch.setattr(log_fits, "_blocks", blocks)
    found = _fit(_shown([8] * 5), _units([64] * 100_000))
    assert found is not None
    assert all(found.agreed[name].all() for name in ("op", "bytes", "comm"))
    assert not found.is_only
    assert 5 <= steps["blocks"] < 50


def test_places_of_all_candidates_must_agree() -> None:
    sizes = [64, 64, 4096, 64, 64]
    found = _fit(_shown([1, 1]), _units(sizes), _units(sizes, comm=1))
    assert found is not None
    assert [found.agreed[name].tolist() for name in ("op", "bytes", "comm")] == [
        [True, True], [False, False], [False, False],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("workgroups", "sizes", "starts"),
    [
        ([4, 4, 8], [64, 64, 4096, 64, 64], [0]),  # as many for what is alike
        ([1, 4], [1 << 20, 64, 1 << 10, 64], [1, 2]),  # in one is nothing much larger
        ([4, 1], [1 << 20, 64, 1 << 10, 64], [0, 1, 2]),
        ([1, 4], [64, 65], [0]),
    ],
)
def test_rules(workgroups: list[int], sizes: list[int], starts: list[int]) -> None:
    shown, units = _shown(workgroups), _units(sizes)
    found = log_fits._places(shown, units, Effort(), one_to_one=False)
    assert found.tolist() == starts


@pytest.mark.parametrize("sizes", [None, [64] * 6])
def test_nothing_fits_once_the_effort_is_spent(sizes: list[int] | None) -> None:
    shown, units = _shown([1, 2, 1, 2, 1, 2], sizes), _units([64, 64, 1 << 20, 1 << 10] * 50)
    units = _units([64] * 200) if sizes else units
    shown = _shown([8] * 6, sizes) if sizes else shown
    generous, strict = _fit(shown, units), _fit(shown, units, effort=300)
    assert (generous is not None) == bool(sizes)
    assert strict is None


def test_runs_of_known_numbers_are_looked_for_within_the_effort() -> None:
    logged = Stretches(np.zeros(1000, np.int64))
    shown = np.array([0, ANY] * 50, np.int64)
    assert len(logged.places(shown, Effort())) == 901
    assert not len(logged.places(shown, Effort(40 * 901)))


def test_numbers_that_are_not_logged_are_nowhere() -> None:
    assert not len(Stretches(np.array([0, 1], np.int64)).places(np.array([2]), Effort()))


def test_kinds_of_calls_are_told_apart_once_for_all_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many holes the kernels have."""
    made = Counter[str]()

    def numbered(*keys: Any, of: Any = logged_units._numbered) -> Any:
        made[str(len(keys))] += 1
        return of(*keys)

    monkeypatch.setattr(logged_units, "_numbered", numbered)
    rows: list[Row] = [
        lost(1000 * at) if at % 5 == 0 else Gpu(1000 * at + 500, 100, GENERIC, launched=1000 * at)
        for at in range(1, 41)
    ]
    trace = traces([reading(*rows, pid=PID, is_rocm=False)])
    launched = int64(trace.events, "launch_ns") // 1000
    groups = pa.array(1 + launched % 2, trace.events.schema.field("workgroups").type)
    trace = replace(trace, events=with_column(trace.events, "workgroups", groups))
    calls = [Called("AllReduce", 1024 << 10 * (at % 2)) for at in range(1, 41)]
    found = name_by_log(trace, read_text(log_of(calls).encode()).tables)
    assert found.collectives.column("op").to_pylist() == ["all_reduce"] * 32
    assert found.collectives.column("bytes").to_pylist() == [
        4096 << 10 * (at % 2) for at in launched
    ]
    assert made == {"4": 1, "2": 1}
