"""Kernels of a trace and of a profile joined by their names: the same one or none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import case

from commscope.counters import KernelCounters, by_kernel, kernel_counters
from commscope.counters.model import Measured
from commscope.counters.names import is_cut, parts_of, tidy
from commscope.engine.counters import load_counters

GEMM = "void ns::gemm<float, Op<int> >(float const*, int)"
REAL = "amd/omniperf/mi350_rocprof_compute_350.db.gz"


def row(name: str, ns: float = 100, workload: int = 0, **roofs: float) -> KernelCounters:
    told = roofs or {"hbm": 0.7, "mfma": 0.1, "valu": 0.1}
    return KernelCounters(workload, name, False, 1, ns, ns, ns, 1.0, Measured(), told)


def joined(names: list[str], rows: list[str]) -> dict[str, str]:
    return {name: it.kernel for name, it in by_kernel(names, [row(name) for name in rows]).items()}


@pytest.mark.parametrize("other", [
    GEMM,
    GEMM + " [clone .kd]",
    GEMM + " (.kd)",
    GEMM + ".kd",
    GEMM + " [clone .isra.0] [clone .kd]",
    "ns::gemm<float,Op<int>>(float const *,int)",
    "  void  ns::gemm<float, Op<int>>( float const*, int ) ",
    "ns::gemm<float, Op<int> >",
    "ns::gemm",
    "ns::gemm(float const*, int)",
    GEMM[:30] + "...",
    GEMM[:30] + "\u2026",
    GEMM[:33],
    "_ZN2ns4gemmIfNS_2OpIiEEEEvPKfi.kd",
])  # fmt: skip
def test_names_of_one_kernel(other: str) -> None:
    assert joined([GEMM], [other]) == {GEMM: other}
    assert joined([other], [GEMM]) == {other: GEMM}


@pytest.mark.parametrize("other", [
    "void ns::gemm<double, Op<int> >(float const*, int)",
    "void ns::gemm<float, Op<int> >(float*, int)",
    "ns::gemm<float>",
    "void other::gemm<float, Op<int> >(float const*, int)",
    "ns::gem...",
    "void ns::gemm<double, Op<int, float> ...",
    "gemm",
    "",
])  # fmt: skip
def test_names_of_others(other: str) -> None:
    assert joined([GEMM], [other]) == {}
    assert joined([other], [GEMM]) == {}


@pytest.mark.parametrize("short", ["ns::gemm", "void ns::gemm<float, Op<i...", "_ZN2ns4gemmE"])
def test_what_fits_two_kernels_is_left_out_on_either_side(short: str) -> None:
    two = [GEMM, GEMM.replace("Op<int>", "Op<it>")]
    assert joined([short], two) == {}
    assert joined(two, [short]) == {}


def test_a_kernel_that_is_told_is_not_taken_by_another() -> None:
    assert joined([GEMM, "ns::gemm"], [GEMM]) == {GEMM: GEMM}


def test_several_spellings_of_one_kernel_all_have_its_counters() -> None:
    names = [GEMM, GEMM + ".kd"]
    assert joined(names, [GEMM]) == dict.fromkeys(names, GEMM)


def test_of_several_profiles_the_one_with_most_time_is_taken() -> None:
    rows = [row("k", 10, 0), row("k.kd", 30, 1), row("k", 20, 2)]
    assert by_kernel(["k"], rows)["k"].workload == 1


def test_a_profile_that_places_it_goes_before_one_that_does_not() -> None:
    rows = [row("k", 10, 0), row("k", 30, 1, hbm=0.3)]
    assert by_kernel(["k"], rows)["k"].workload == 0


def test_profiles_that_contradict_each_other_tell_nothing() -> None:
    assert by_kernel(["k"], [row("k"), row("k", mfma=0.9, hbm=0.1, valu=0)]) == {}


def test_real_names_that_are_cut() -> None:
    """Names of up to 2,203 characters; two kernels share their first 100."""
    kernels = kernel_counters(load_counters([case(REAL)]).tables)
    names = [one.kernel for one in kernels]
    found = by_kernel(names, kernels)
    assert {name: it.kernel for name, it in found.items()} == dict(zip(names, names))
    for length in (60, 500, 1000):
        cut = [name[:length] for name in names]
        matched = by_kernel(cut, kernels)
        assert all(it.kernel.startswith(name) for name, it in matched.items())
        fits = {name: sum(other.startswith(name) for other in names) for name in cut}
        assert set(matched) == {name for name in cut if fits[name] == 1}


def test_lambdas_and_operators() -> None:
    name = "void run<f(int)::{lambda(int)#1}>(f(int)::{lambda(int)#1})"
    assert not is_cut(name)
    assert parts_of(tidy(name)).head == "run"
    spaced = "void (anonymous namespace)::k<4, (anonymous namespace)::A>(A::operator() const)"
    assert parts_of(tidy(spaced)).head == "{anonymous}::k"
    assert not is_cut("bool operator<(A, B)")
    assert not is_cut("void f<(x)->y>(int)")


@given(st.lists(st.text(alphabet="ab<>()., :_Zkd.[]", max_size=40), max_size=6),
       st.lists(st.text(alphabet="ab<>()., :_Zkd.[]", max_size=40), max_size=6))  # fmt: skip
def test_any_names(names: list[str], rows: list[str]) -> None:
    found = joined(names, rows)
    assert set(found) <= set(names)
    assert set(found.values()) <= set(rows)
    for name, other in found.items():
        mine, its = tidy(name), tidy(other)
        begins = mine.startswith(its) or its.startswith(mine)
        assert begins or parts_of(mine).fits(parts_of(its))


def test_hostile_names_take_no_time() -> None:
    hostile = ["<" * 60_000, "(" * 60_000, ") [clone " * 9000, ".kd" * 20_000, "k" * 10**6,
               "void " * 13_000, "<>" * 30_000, "_ZN" + "9" * 60_000]  # fmt: skip
    random.Random(1).shuffle(hostile)
    assert set(by_kernel(hostile, [row(name) for name in hostile])) == set(hostile)
