"""Every scenario, simulated: the planned cause comes first, and numbers are exact."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import commscope
from commscope.errors import UsageError
from commscope.findings.model import Finding
from commscope.generator.catalog import GROUPS, SCENARIOS, PlannedCause, expand, plan_of
from commscope.generator.catalog.scenarios import why_not
from commscope.generator.engines import Choice, generate
from commscope.generator.run_folder import truth_path
from commscope.generator.truth_file import TruthStep, read_truth
from commscope.report.model import Report

pytestmark = pytest.mark.long

_NUMBERS = ("compute_ns", "communication_ns", "hidden_comm_ns", "exposed_comm_ns")
#: Words by which a sentence tells why a rank is late.
_WHY = {
    "compute": ("computes",),
    "input": ("loading input",),
    "host": ("launches nothing", "synchronising", "allocating"),
}


@dataclass(frozen=True)
class Ran:
    name: str
    folder: Path
    report: Report


@pytest.fixture(scope="module", params=SCENARIOS)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("generated") / "run"
    generate(plan_of(request.param), Choice(), folder)
    return Ran(request.param, folder, commscope.analyze(commscope.load(folder)))


def test_the_planned_cause_is_named_first(ran: Ran) -> None:
    _assert_causes(ran)


def _assert_causes(ran: Ran) -> None:
    plan = plan_of(ran.name)
    found = [finding for finding in ran.report.findings if finding.bound_ns is not None]
    if not plan.causes:
        assert [finding for finding in found if finding.severity != "low"] == []
    for planned, finding in zip(plan.causes, found[: len(plan.causes)], strict=True):
        _assert_names(planned, finding)


def test_all_times_are_exact(ran: Ran) -> None:
    _assert_times(ran)


def _assert_times(ran: Ran) -> None:
    knobs = plan_of(ran.name).knobs
    for rank in range(knobs.ranks):
        truth = read_truth(truth_path(ran.folder, rank))
        wanted = [_numbers(step) for step in truth.steps if not step.is_warmup]
        rows = [row for row in ran.report.steps if row["rank"] == rank]
        assert wanted == [tuple(row[name] for name in _NUMBERS) for row in rows]
        assert len(wanted) == knobs.steps


@pytest.mark.parametrize("form", ["csv", "json", "rocpd"])
@pytest.mark.parametrize("name", ["ddp-tail", "straggler-host"])
def test_traces_of_rocprofv3_and_the_log_tell_the_same(
    name: str, form: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    generate(plan_of(name), Choice(formats=(form,)), folder)
    ran = Ran(name, folder, commscope.analyze(commscope.load(folder)))
    _assert_causes(ran)
    _assert_times(ran)


def test_one_rank_under_rocprofv3_tells_sizes_by_markers(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    generate(plan_of("small-buckets", {"ranks": 1, "layers": 2}), Choice(formats=("json",)), folder)
    report = commscope.analyze(commscope.load(folder))
    assert report.findings[0].rule == "O6"


def test_only_amd_has_rocprofv3(tmp_path: Path) -> None:
    choice = Choice(backend="nvidia", formats=("csv",))
    with pytest.raises(UsageError, match="--formats csv: rocprofv3 is of amd"):
        generate(plan_of("ddp-tail"), choice, tmp_path / "run")


def _numbers(step: TruthStep) -> tuple[int, ...]:
    return tuple(getattr(step, name) for name in _NUMBERS)


def _assert_names(planned: PlannedCause, finding: Finding) -> None:
    assert finding.rule == planned.rule
    assert finding.rank == planned.rank
    assert not planned.did or any(word in finding.says for word in _WHY[planned.did])


def test_one_rank_has_mocks_and_leaves_out_what_needs_peers() -> None:
    alone = {"ranks": 1}
    left_out = {name for name in SCENARIOS if why_not(name, alone)}
    assert left_out == {name for name, s in SCENARIOS.items() if s.min_ranks > 1}
    assert plan_of("ddp-tail", alone).knobs.comm == "mock"
    assert "needs --comm mock" in why_not("ddp-tail", {"ranks": 1, "comm": "real"})


def test_groups_name_scenarios() -> None:
    assert set(GROUPS["all"]) == set(SCENARIOS)
    assert expand(["straggler", "straggler-host"]) == list(GROUPS["straggler"])
    with pytest.raises(UsageError, match="no scenario is called nonsense; there are ddp-overlap"):
        plan_of("nonsense")


@pytest.mark.parametrize(
    ("places", "left_out"),
    [
        (("simulate",), set()),
        (("host",), {"contention", "queue-aliasing"}),
        (("hip", "nvidia"), {"queue-aliasing"}),
        (("hip", "amd"), set()),
        (("torch", "amd"), {"queue-aliasing"}),
    ],
)
def test_scenarios_are_left_out_where_they_show_nothing(
    places: tuple[str, ...], left_out: set[str]
) -> None:
    given = {"ranks": 2}
    assert {name for name in SCENARIOS if why_not(name, given, places)} == left_out


@pytest.mark.parametrize("scenario", ["ddp-tail", "queue-aliasing", "fsdp"])
def test_streams_take_the_queues_in_turn_in_every_scenario(scenario: str) -> None:
    plan = plan_of(scenario, {"queues": 2})
    assert plan.env == {"GPU_MAX_HW_QUEUES": "2"}
    queues = list(plan.device.queues.values())
    assert queues == [number % 2 for number in range(len(queues))]
    assert next(iter(plan.device.queues)) in ("compute", "gather")
    assert plan_of(scenario, {"queues": 0}).device.queues == {}
