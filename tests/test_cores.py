"""The number of processors, where the system tells those a process is bound to, and where not."""

from __future__ import annotations

import os

import pytest

from commscope.cores import core_count


def test_a_process_counts_the_processors_it_is_bound_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 7}, raising=False)
    assert core_count() == 3


@pytest.mark.parametrize(("told", "count"), [(10, 10), (None, 1)])
def test_elsewhere_it_counts_all_of_them(
    told: int | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: told)
    assert core_count() == count
