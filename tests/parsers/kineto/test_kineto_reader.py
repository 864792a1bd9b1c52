"""One logical trace, written in every layout, gives the same tables."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from builders import LAYOUTS, TraceBuilder, merged, read_bytes, source_of, torch2
from hypothesis import given
from hypothesis import strategies as st

from commscope.errors import CorruptTrace
from commscope.parsers.base import Health, Reading
from commscope.parsers.kineto import KinetoParser, read_kineto

BLOCKS = (64, 700, 1 << 19)


def small_trace(*, rocm: bool = False) -> TraceBuilder:
    builder = TraceBuilder(rocm=rocm).metadata().step(1, 0, 900).operator("aten::mm", 5, 3)
    builder.launch(10).flow(10).kernel("gemm<float, {lambda()#1}>", 20.125, 30.5)
    builder.launch(15).flow(15).collective("all_gather", 40, 100, elements=256)
    builder.launch(16).copy(150, 2).operator("aten::add", 17, 3)
    builder.span("cuda_runtime", "cudaStreamSynchronize", 18, 200, correlation=99)
    return builder.span("cpu_op", "record_param_comms", 14, 3, **{"Rank": 0, "External id": 3})


def many_steps(count: int) -> TraceBuilder:
    builder = TraceBuilder()
    for number in range(count):
        start = number * 1000
        builder.step(number, start, 900).operator("aten::mm", start + 1).launch(start + 2)
        builder.flow(start + 2).kernel(f"kernel{number % 3}", start + 10, 5)
    return builder


def tables(reading: Reading) -> tuple[Any, ...]:
    """The tables without the rank, which only a merged file gives per row."""
    return tuple(
        table.drop_columns(["rank"]).to_pydict()
        for table in (reading.events, reading.host, reading.collectives)
    )


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rocm", [False, True])
def test_layouts_give_the_same_tables(
    layout: str, block_bytes: int, rocm: bool, tmp_path: Path
) -> None:
    trace = small_trace(rocm=rocm)
    expected = read_bytes(torch2(trace.document()), tmp_path)

    reading = read_bytes(LAYOUTS[layout](trace.document()), tmp_path, block_bytes)

    assert expected.events.num_rows == 3
    assert expected.host.num_rows == 6
    assert expected.collectives.num_rows == 1
    assert tables(reading) == tables(expected)
    assert reading.health == Health(events_read=len(trace.events))


@pytest.mark.parametrize("layout", sorted(set(LAYOUTS) - {"merged", "root_array"}))
def test_layouts_give_the_same_facts(layout: str, tmp_path: Path) -> None:
    facts = read_bytes(LAYOUTS[layout](small_trace(rocm=True).document()), tmp_path, 64).facts

    assert (facts.rank, facts.world_size, facts.backend) == (0, 2, "nccl")
    assert facts.gpus == {0: "AMD Instinct MI300X"}
    assert facts.records_rank == 0
    assert facts.pid == 100


def test_merged_ranks_keep_theirs(tmp_path: Path) -> None:
    ranks = [small_trace().document(), {**small_trace().document()}]
    ranks[1]["distributedInfo"] = {"rank": 1}
    events = [event for d in ranks for event in json.loads(merged(d))["traceEvents"]]

    reading = read_bytes(json.dumps({"traceEvents": events}).encode(), tmp_path)

    assert reading.events.column("rank").to_pylist() == [0, 0, 0, 1, 1, 1]
    assert set(reading.host.column("rank").to_pylist()) == {0, 1}


numbers = st.integers(0, 10**16) | st.floats(0, 1e9, allow_nan=False).map(lambda x: round(x, 3))
names = st.text(max_size=20) | st.sampled_from(
    [
        '},{"ph":"X"',
        '},\n  {\n    "ph": "X", "cat": "kernel"',
        "a[b]{",
        "]}",
        "\\",
        '"ph"',
        "é\ud800",
    ]
)
values = st.none() | st.integers(-(2**70), 2**70) | names | st.booleans()
args = st.dictionaries(
    names | st.sampled_from(["stream", "External id", "bytes"]), values, max_size=3
)
nested = st.fixed_dictionaries({}, optional={"list": st.lists(st.just({"ph": "X"}), max_size=3)})


@st.composite
def traces(draw: st.DrawFn) -> TraceBuilder:
    builder = TraceBuilder()
    for _ in range(draw(st.integers(1, 12))):
        add = draw(st.sampled_from([builder.kernel, builder.operator, builder.copy_named]))
        more = {**draw(args), **draw(nested)}
        for key in ("name", "start_us", "dur_us", "self"):
            more.pop(key, None)
        add(draw(names), draw(numbers), draw(numbers), **more)
    return builder


@given(traces(), st.sampled_from(sorted(LAYOUTS)), st.sampled_from(BLOCKS))
def test_random_traces_are_the_same_in_every_layout(
    trace: TraceBuilder, layout: str, block_bytes: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain = read_bytes(json.dumps(trace.document()).encode(), Path(folder))
        reading = read_bytes(LAYOUTS[layout](trace.document()), Path(folder), block_bytes)

    assert tables(reading) == tables(plain)
    assert reading.health.events_read == len(trace.events)
    assert reading.health.events_lost == 0
    assert reading.health.cut is None


def test_fast_path_reads_what_the_careful_one_does(tmp_path: Path) -> None:
    text = torch2(many_steps(300).document())

    fast, careful = (read_bytes(text, tmp_path, size) for size in (4096, 1 << 19))

    assert fast.events.num_rows == 300
    assert tables(fast) == tables(careful)
    assert fast.health == careful.health


def test_progress_ends_with_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(torch2(many_steps(50).document()))
    seen: list[tuple[int, int | None]] = []

    read_kineto(source_of(path), lambda done, size: seen.append((done, size)), 1000)

    size = path.stat().st_size
    assert seen[-1] == (size, size)
    assert len(seen) == -(-size // 1000)


@pytest.mark.parametrize("text", [b"", b" ", b"\n\t \r\n"])
def test_empty_file_is_said(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(CorruptTrace, match=r"trace\.json: the file is empty"):
        read_bytes(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    [b"7", b'"text"', b"null", b"{}", b'{"traceEvents": null}', b'{"traceEvents": 3}',
     b'{"traceEvents"', b'{"schemaVersion": 1, "devicePro', b'{"note": "\\"traceEvents\\": [{}]"}'],
)  # fmt: skip
def test_no_events_key_is_said(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(CorruptTrace, match='no "traceEvents" in the first'):
        read_bytes(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    [b"[", b"[1, 2]", b'["a"]', b'{"traceEvents": [', b'{"traceEvents": [{"ph": "X", "na',
     b"[[[", b'{"traceEvents": [null', b"[}{"],
)  # fmt: skip
def test_no_readable_event_is_said(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(CorruptTrace, match="cut or damaged before its first event"):
        read_bytes(text, tmp_path)


@pytest.mark.parametrize("text", [b'{"traceEvents": []}', b"[]", b' {"traceEvents" : [ ] , "a":1}'])
def test_no_events_at_all_is_no_damage(text: bytes, tmp_path: Path) -> None:
    reading = read_bytes(text, tmp_path)

    assert reading.health == Health()
    assert reading.events.num_rows == reading.host.num_rows == reading.collectives.num_rows == 0


def test_parser_reads_one_reading(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(torch2(small_trace().document()))

    (reading,) = KinetoParser().read(source_of(path), lambda done, size: None)

    assert reading.input.bytes == path.stat().st_size
    assert reading.events.num_rows == 3
