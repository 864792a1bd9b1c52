"""What counters say of a kernel that communication slows."""

from __future__ import annotations

import pytest

from commscope.counters.model import KernelCounters, Measured
from commscope.findings.counted import counted_says, counted_share


def counters(**roofs: float) -> KernelCounters:
    return KernelCounters(0, "gemm", False, 1, 100, 100, 100, 1.0, Measured(), roofs)


@pytest.mark.parametrize(("roofs", "says"), [
    ({"hbm": 0.78, "mfma": 0.2, "valu": 0.1},
     ("by its counters it is memory-bound (78.0 % of the measured rate of HBM), so it needs the "
     "memory bandwidth that communication takes")),
    ({"hbm": 0.2, "mfma": 0.9, "valu": 0.1},
     ("by its counters it is compute-bound (90.0 % of the measured rate of the matrix cores), so "
     "it needs the compute units that communication takes")),
    ({"hbm": 0.2, "lds": 0.7, "mfma": 0.1, "valu": 0.1},
     ("by its counters it is memory-bound (70.0 % of the measured rate of LDS), so it needs the "
     "compute units that communication takes")),
    ({"hbm": 0.2, "mfma": 0.1, "valu": 0.1},
     ("by its counters it is far from every roof (20.0 % of the measured rate of HBM at most), so "
     "neither memory nor compute limits it when it runs alone")),
])  # fmt: skip
def test_each_position(roofs: dict[str, float], says: str) -> None:
    assert counted_says(counters(**roofs)) == says


def test_it_is_called_as_is_asked() -> None:
    says = counted_says(counters(hbm=0.78, mfma=0.2, valu=0.1), "gemm")
    assert says is not None
    assert says.startswith("by its counters gemm is memory-bound")


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert counted_says(None) is None
    assert counted_says(counters()) is None
    assert counted_says(counters(hbm=0.3)) is None
    assert [counted_share(it) for it in (None, counters(), counters(hbm=0.3))] == [None] * 3


def test_the_share_is_that_of_the_nearest_roof() -> None:
    assert counted_share(counters(hbm=0.78, mfma=0.2, valu=0.1)) == 0.78
