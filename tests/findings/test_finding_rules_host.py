"""Rules on hosts: what else their sentences and claims depend on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_cases import Job, examine
from rule_cases_host import CASES, MEANWHILE, paced, waits_in


@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_a_late_host_is_told_with_what_it_does(meanwhile: str) -> None:
    (finding,) = examine(MEANWHILE[meanwhile]).of("H10")
    assert finding.says.endswith(f"before the host launches the next kernel: {meanwhile}")


def test_the_name_of_a_call_may_hold_braces() -> None:
    (finding,) = examine(waits_in("hipEventSynchronize{0}{time}")).of("H6")
    assert "waits for communication (hipEventSynchronize{0}{time}) instead" in finding.says


def test_the_ranks_with_most_idle_time_are_named() -> None:
    """Idle for 350, 350 and 140 us a step: the last one decides what is to win."""
    long, short = paced(65).ranks[0], paced(86).ranks[0]
    (finding,) = examine(Job([long, long, short])).of("H3")
    assert finding.says == (
        "the GPU waits 350.0 us a step on ranks 0, 1 for launches: 100.0 % of the kernels find "
        "their stream empty as the host launches them"
    )
    assert (finding.rank, finding.bound_ns) == (None, 140_000)
    (finding,) = examine(Job([short, short, long])).of("H3")
    assert "waits 350.0 us a step on rank 2 for launches" in finding.says
    assert (finding.rank, finding.bound_ns) == (2, 140_000)


def test_without_steps_times_are_of_the_trace() -> None:
    whole = replace(CASES["H9"].fires, marked=False, steps=1)
    (finding,) = examine(whole).of("H9")
    assert finding.says.startswith("120.0 us in the trace go by while the host allocates")
