"""A trace written as JSON and read again is the same trace, to the nanosecond."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from builders import TraceBuilder
from converted import assert_same_tables, report_dict, rewritten
from format_writers.rocpd import write_rocpd
from hypothesis import given, settings
from hypothesis import strategies as st
from logical_trace import three_steps
from small_run import write_run
from support import case

import commscope
from commscope import sample_traces
from commscope.convert import Selection, chosen_target, select, write_trace
from commscope.generator.rocprofv3.json_document import write_json

pytestmark = pytest.mark.long

CASES = (
    *("kineto/a100_8gpu_rank3_a2a_allreduce.json.gz", "kineto/mi300x_resnet_ddp8_rank0.json.gz"),
    *("kineto/mi300x_sglang_decode_hipgraph.json.gz", "kineto/v100_resnet50_oldschema_nw0.json.gz"),
    *("amd/kineto/ddp4_unmerged", "amd/rocprofv3_json/mi350_train_908_results.json.gz"),
)


@pytest.mark.parametrize("name", sample_traces.names())
def test_samples_as_one_document(name: str, tmp_path: Path) -> None:
    trace = commscope.load(sorted(sample_traces.path(name).glob("*.json.gz")))
    again = rewritten(trace, tmp_path / "all.json")
    assert_same_tables(again, trace)
    assert report_dict(again) == report_dict(trace)


@pytest.mark.parametrize("name", sample_traces.names())
def test_samples_rank_by_rank(name: str, tmp_path: Path) -> None:
    trace = commscope.load(sorted(sample_traces.path(name).glob("*.json.gz")))
    for rank in trace.ranks.column("rank").to_pylist():
        one = select(trace, Selection(frozenset([rank])))
        write_trace(one, chosen_target(tmp_path / f"rank{rank}.json.gz", None))
    again = commscope.load(tmp_path)
    assert_same_tables(again, trace)
    assert again.ranks.column("pid").to_pylist() == trace.ranks.column("pid").to_pylist()
    assert report_dict(again) == report_dict(trace)


@pytest.mark.parametrize("name", CASES)
def test_real_cases(name: str, tmp_path: Path) -> None:
    trace = commscope.load(case(name))
    again = rewritten(trace, tmp_path / "all.json.gz")
    assert_same_tables(again, trace)
    assert report_dict(again) == report_dict(trace)


def test_other_formats(tmp_path: Path) -> None:
    for file in (
        write_rocpd(tmp_path / "a_results.db", three_steps()),
        write_json(tmp_path / "a_results.json", three_steps()),
    ):
        trace = commscope.load(file)
        assert_same_tables(rewritten(trace, tmp_path / "again.json"), trace)


_NS = st.integers(0, 10**6)
_KERNEL = st.tuples(
    st.sampled_from(["gemm", "ncclDevKernel_AllReduce_Sum_f32", 'a "b" \\ \u202e\n\x00 é', ""]),
    _NS,
    _NS,
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(1, 2**31 - 1)),
)


@settings(max_examples=30)
@given(st.lists(_KERNEL, min_size=1, max_size=12), st.integers(0, 2 * 10**18))
def test_random_kernels(
    tmp_path_factory: pytest.TempPathFactory, kernels: list[Any], base_ns: int
) -> None:
    folder = tmp_path_factory.mktemp("random")
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream,
         "ts": f"{10_000 + start // 1000}.{start % 1000:03}", "dur": f"0.{length % 1000:03}1",
         "args": {"device": 0, "stream": stream, "correlation": correlation}}
        for name, start, length, stream, correlation in [("first", 0, 5, 0, 1), *kernels]
    ]  # fmt: skip
    document = {"schemaVersion": 1, "traceEvents": events, "baseTimeNanoseconds": base_ns}
    (folder / "rank0.json").write_text(json.dumps(document))
    trace = commscope.load(folder / "rank0.json")
    assert_same_tables(rewritten(trace, folder / "again.json"), trace)


def _described(**more: Any) -> TraceBuilder:
    """A kernel of a collective with these arguments."""
    builder = TraceBuilder()
    builder.launch(10).kernel("ncclDevKernel_Generic_4", 20, 10, stream=1, **more)
    return builder


@pytest.mark.parametrize(
    "described",
    [
        {"Collective name": "send", "Dst Rank": 3, "Group size": 2, "In msg nelems": 7,
         "dtype": "Float"},
        {"Collective name": "recv", "Src Rank": 3, "Group size": 2, "In msg nelems": 7,
         "dtype": "Float"},
        {"Collective name": "_allgather_base", "In msg nelems": 4, "Out msg nelems": 32,
         "Group size": 8, "dtype": "BFloat16", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"},
        {"Collective name": "reduce_scatter", "In msg nelems": 31, "Out msg nelems": 4,
         "Group size": 8, "dtype": "Double", "Process Group Name": 'a "b"\n', "Seq": 4},
        {"Collective name": "all_to_allv", "In msg nelems": 6, "dtype": "Long", "Group size": 2,
         "In split size": "[4, 2]", "Out split size": "[1, 5]", "Is asynchronized op": False},
        {"Collective name": "coalesced", "Process Group Name": "7", "Seq": 4},
        {"Collective name": "allreduce", "In msg nelems": 6, "dtype": "NoSuchType"},
    ],
)  # fmt: skip
def test_all_that_describes_a_collective(described: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "rank0.json"
    file.write_text(json.dumps(_described(**described).document()))
    trace = commscope.load(file)
    assert trace.collectives.column("source").to_pylist() == ["args"]
    assert_same_tables(rewritten(trace, tmp_path / "again.json"), trace)


def test_every_event_is_one_that_viewers_know(tmp_path: Path) -> None:
    trace = commscope.load(write_run(tmp_path / "run", ranks=2))
    file = tmp_path / "all.json.gz"
    write_trace(trace, chosen_target(file, None))
    document = json.loads(gzip.decompress(file.read_bytes()))
    events = document["traceEvents"]
    assert {event["ph"] for event in events} == {"X", "M"}
    complete = [event for event in events if event["ph"] == "X"]
    assert all(
        {"name", "cat", "pid", "tid", "ts", "dur", "args"} <= set(event) for event in complete
    )
    assert all(isinstance(event["ts"], float) and event["ts"] < 1e8 for event in complete)
    named = {
        event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"
    }
    assert {event["pid"] for event in complete} == set(named), "each track has a name"
    assert sorted(named.values()) == ["rank 0", "rank 0 GPU 0", "rank 1", "rank 1 GPU 0"]


def test_same_trace_gives_the_same_bytes(tmp_path: Path) -> None:
    trace = commscope.load(write_run(tmp_path / "run"))
    files = [tmp_path / "a.json.gz", tmp_path / "b.json.gz"]
    for file in files:
        write_trace(trace, chosen_target(file, None))
    assert files[0].read_bytes() == files[1].read_bytes()
