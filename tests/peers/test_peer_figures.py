"""The verified figures of other tools on real files: each is given to the digit it was printed to.

The facts of the real cases hold what HTA and TraceLens gave; ``PRINTED`` is all that traceinsight
0.6.1 prints of a file, ``BARS`` what torch-tb-profiler 0.4.3 shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from peer_runs import says
from verified import FACTS

from commscope.peers import Answer

#: The tools add floats of the microseconds since 1970, and print 0.1 us.
_FLOAT_NS = 100
#: Definition of the facts -> tool, variant, and their names of the figures.
_HTA = {
    "overlap_percent": "comp_comm_overlap_pctg",
    "compute_ns": "compute_time(us)",
    "idle_ns": "idle_time(us)",
    "window_ns": "kernel_time(us)",
}
_TRACELENS = {
    "compute_ns": "computation_time",
    "communication_ns": "total_comm_time",
    "exposed_comm_ns": "exposed_comm_time",
    "exposed_copy_ns": "exposed_memcpy_time",
    "idle_ns": "idle_time",
    "window_ns": "total_time",
}
_DEFINITIONS = {
    "hta_whole_us": ("hta", "as shipped", _HTA),
    "hta": ("hta", "with HTA_DISABLE_NS_ROUNDING=1", _HTA),
    "tracelens": ("tracelens", "GPUEventAnalyser on every GPU event", _TRACELENS),
    "tracelens_linked": ("tracelens", "report default (linked only)", _TRACELENS),
}


#: Reading it takes as long as all others, and other files have the same definitions.
_LARGE = "kineto/v100_ddp2_rank1_allreduce2020.json.gz"


def _verified() -> Iterator[Any]:
    for path, facts in FACTS.items():
        is_read = path.startswith("kineto/") and path != _LARGE
        for total in facts.get("totals", []) if is_read else []:
            definition = total["definition"]
            for name in total:
                if definition in _DEFINITIONS and name in _DEFINITIONS[definition][2]:
                    yield pytest.param(
                        path, definition, name, total[name], id=f"{path}-{definition}-{name}"
                    )


def _answers(path: str, tool: str) -> tuple[Answer, ...]:
    return says(path, tool).answers


def _answer(path: str, tool: str, variant: str) -> Answer:
    (found,) = (one for one in _answers(path, tool) if one.variant == variant)
    return found


def _theirs(answer: Answer) -> dict[str, Any]:
    return {figure.quantity.name: figure.theirs for figure in answer.figures}


@pytest.mark.parametrize(("path", "definition", "name", "figure"), list(_verified()))
def test_figure_is_that_of_the_tool(
    path: str, definition: str, name: str, figure: int | str
) -> None:
    tool, variant, names = _DEFINITIONS[definition]
    answer = _answer(path, tool, variant)
    found = _theirs(answer)[names[name]]
    assert answer.approximate == ()
    if isinstance(figure, str):
        assert round(float(found), len(figure.partition(".")[2])) == float(figure)
    else:
        assert abs(found - figure) <= (0 if variant == "as shipped" else _FLOAT_NS)


#: Printed by traceinsight 0.6.1: idle, compute, non-compute, kernel time; percent of the first
#: three; overlap in percent.
PRINTED = {
    "a100_128gpu_sampled_rank0": (321378, 106252, 172428, 600058, 53.56, 17.71, 28.74, 11.81),
    "a100_128gpu_sampled_rank1": (328671, 135548, 136455, 600674, 54.72, 22.57, 22.72, 20.05),
    "a100_8gpu_rank3_a2a_allreduce": (62119, 234760, 86525, 383404, 16.2, 61.23, 22.57, 47.03),
    "a100_alexnet_nosteps": (12929684, 10630, 55697, 12996011, 99.49, 0.08, 0.43, None),
    "a100_ddp2_rank0_ncclmeta": (338781, 75169, 21636, 435586, 77.78, 17.26, 4.97, 14.31),
    "a100_event_sync_multistream": (19132, 369, 5, 19506, 98.08, 1.89, 0.03, None),
    "a100_triton_example": (0, 94, 0, 94, 0.0, 100.0, 0.0, None),
    "gp100_custom_step_annotation": (7446, 290, 1, 7737, 96.24, 3.75, 0.01, None),
    "h100_bert_small": (3653, 252, 2, 3907, 93.5, 6.45, 0.05, None),
    "mi210_gpu_only": (1199, 4780, 0, 5979, 20.05, 79.95, 0.0, None),
    "mi250_minitoy_train": (8780, 96, 35, 8911, 98.53, 1.08, 0.39, None),
    "mi300x_bert_small": (3168, 326, 1, 3495, 90.64, 9.33, 0.03, None),
    "mi300x_resnet_ddp8_rank0": (1541, 17018, 37958, 56517, 2.73, 30.11, 67.16, 22.45),
    "mi300x_sglang_decode_hipgraph": (464534, 9205, 10, 473749, 98.05, 1.94, 0.0, None),
    "mi300x_torch_compile_triton": (27, 12574, 0, 12601, 0.21, 99.79, 0.0, None),
    "mi350x_rocprofsdk_small": (289, 119, 0, 408, 70.83, 29.17, 0.0, None),
    "v100_resnet50_oldschema_nw0": (327463, 492891, 10140, 830494, 39.43, 59.35, 1.22, None),
}


@pytest.mark.parametrize("file", PRINTED)
def test_all_that_hta_prints(file: str) -> None:
    found = _theirs(_answer(f"kineto/{file}.json.gz", "hta", "as shipped"))
    parts = [f"{part}_time" for part in ("idle", "compute", "non_compute")]
    times = [found[f"{part}(us)"] // 1000 for part in (*parts, "kernel_time")]
    overlap = found["comp_comm_overlap_pctg"]
    shares = [float(found[f"{part}_pctg"]) for part in parts]
    assert (*times, *shares, None if overlap is None else float(overlap)) == PRINTED[file]


@pytest.mark.parametrize(
    "file",
    ["a100_8gpu_rank3_a2a_allreduce", "a100_128gpu_sampled_rank0", "a100_128gpu_sampled_rank1",
     "edge_large_integer_rank70"],
)  # fmt: skip
def test_report_of_tracelens_fails_where_no_arrow_leads_to_an_event(file: str) -> None:
    answer = _answer(f"kineto/{file}.json.gz", "tracelens", "report default (linked only)")
    assert answer.fails is not None
    assert answer.fails.startswith("ValueError: No GPU events found in the trace (none is linked")
    assert set(_theirs(answer).values()) == {None}


def test_tracelens_fails_on_categories_that_it_does_not_know() -> None:
    for answer in _answers("kineto/v100_resnet50_oldschema_nw0.json.gz", "tracelens"):
        assert answer.fails is not None
        assert "spelling of the categories" in answer.fails


def test_hta_fails_where_no_event_has_a_stream() -> None:
    for answer in _answers("kineto/edge_large_integer_rank70.json.gz", "hta"):
        assert answer.fails is not None
        assert answer.fails.startswith("IndexError: single positional indexer is out-of-bounds (no")


#: Rank -> overlap of HTA, then TraceLens over all events where memset makes a difference, and its
#: report where kernels without launch do.
DLRM_OVERLAP = (4.5, 2.47, 7.88, 3.31, 0.56, 0.64, 7.56, 9.51)
DLRM_EVERY = {3: {"computation_time": 1250, "exposed_comm_time": 9440},
              4: {"computation_time": 1133}}  # fmt: skip
DLRM_LINKED = {1: {"computation_time": 1043}, 3: {"computation_time": 1074}}


@pytest.mark.parametrize("rank", range(8))
def test_dlrm_ranks(rank: int) -> None:
    shipped, _ = (one for one in _answers("kineto/dlrm8_v100", "hta") if one.rank == rank)
    every, linked = (one for one in _answers("kineto/dlrm8_v100", "tracelens") if one.rank == rank)
    assert float(_theirs(shipped)["comp_comm_overlap_pctg"]) == DLRM_OVERLAP[rank]
    for answer, expected in ((every, DLRM_EVERY), (linked, DLRM_LINKED)):
        figures = {name: 1000 * us for name, us in expected.get(rank, {}).items()}
        assert _theirs(answer).items() >= figures.items()


#: Computation, Overlapping, Communication, Other of each step that torch-tb-profiler 0.4.3 keeps,
#: in us; it calculates in floats, to about 0.02 us.
BARS = {
    "a100_ddp2_rank0_ncclmeta": {
        "4": (36585.265, 12084.893, 356.044, 173415.990),
        "5": (36583.760, 12385.275, 311.684, 170446.186),
        "6": (34893.182, 22682.934, 372.804, 166987.323),
    },
    "a100_128gpu_sampled_rank0": {
        "551": (278511, 0, 218, 328583),
        "552": (268701, 91, 76, 354060),
    },
    "dlrm8_v100/rank1": {"10": (12204, 98, 61, 7538)},
    "mi300x_resnet_ddp8_rank0": {
        "15": (17.997, 0, 0, 0.004),
        "16": (16.237, 0, 0, 0.004),
        "17": (17.357, 0, 0, 0.004),
    },
    "a100_8gpu_rank3_a2a_allreduce": {
        "1009": (54786, 158, 32, 20497),
        "1010": (59271, 155, 59, 17455),
        "1011": (62375, 199, 0, 13638),
        "1012": (61636, 180, 0, 14911),
        "1013": (65957, 192, 0, 12324),
        "1014": (64143, 157, 33, 16787),
    },
    "v100_resnet50_oldschema_nw0": {
        "5": (98598, 0, 0, 89350),
        "6": (98570, 0, 0, 76583),
        "7": (98596, 0, 0, 81137),
        "8": (98623, 0, 0, 75941),
        "9": (98504, 0, 0, 83668),
        "10": (98641, 0, 0, 67342),
    },
    "gp100_custom_step_annotation": {"0": (289, 0, 0, 9700)},
    "a100_alexnet_nosteps": {"0": (9577, 0, 0, 43337909)},
    "mi350x_rocprofsdk_small": {
        "2": (129.211, 0, 0, 404.295),
        "3": (136.229, 0, 0, 167.733),
    },
}


def test_tensorboard_has_no_step_without_operators() -> None:
    (answer,) = _answers("kineto/mi210_gpu_only.json.gz", "tb")
    assert answer.fails is not None
    assert "-18446744073709551615" in answer.fails


@pytest.mark.parametrize("file", BARS)
def test_bars_of_tensorboard(file: str) -> None:
    found = {
        str(answer.step): [float(figure.theirs or 0) / 1000 for figure in answer.figures]
        for answer in _answers(f"kineto/{file}.json.gz", "tb")
    }
    assert found.keys() == BARS[file].keys()
    for step, bar in BARS[file].items():
        assert found[step] == pytest.approx(bar, abs=0.02)
