"""What every activity is, and what is known of every collective."""

from __future__ import annotations

import pytest
from tables import ALL_REDUCE, COMPUTE, COPY, GENERIC, Gpu, Known, Row, trace

from commscope.classify import ActivityClass, Patterns
from commscope.schema import Flag
from commscope.trace import Trace


def _classes(found: Trace) -> list[str]:
    return [ActivityClass(code).name.lower() for code in found.classes.of_event]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        (COMPUTE, "kernel", "compute"),
        (ALL_REDUCE, "kernel", "communication"),
        (GENERIC, "kernel", "communication"),
        ("never seen", "kernel", "compute"),
        ("__amd_rocclr_copyBuffer", "kernel", "copy"),
        (COPY, "memcpy", "copy"),
        ("Memset (Device)", "memset", "copy"),
        (ALL_REDUCE, "memcpy", "copy"),
    ],
)
def test_class(name: str, kind: str, expected: str) -> None:
    assert _classes(trace(Gpu(5, 5, name, kind=kind))) == [expected]


@pytest.mark.parametrize(
    ("name", "op", "expected", "flag"),
    [
        ("never seen", "all_reduce", "communication", Flag.BY_METADATA),
        ("never seen", None, "compute", 0),
        (COMPUTE, "all_reduce", "compute", 0),
        (ALL_REDUCE, "all_reduce", "communication", 0),
    ],
)
def test_metadata_tells_only_what_no_name_tells(
    name: str, op: str | None, expected: str, flag: int
) -> None:
    found = trace(Gpu(5, 5, name), Known(0, op))
    assert _classes(found) == [expected]
    assert found.events.column("flags").to_pylist() == [flag]
    assert found.collectives.num_rows == (expected == "communication")


def test_patterns_reclassify() -> None:
    patterns = Patterns.parse(["communication=^my_", "compute=nccl", "gemm=seen"])
    rows = [Gpu(5, 5, "my_all_reduce"), Gpu(10, 5, ALL_REDUCE), Gpu(15, 5, "never seen")]
    found = trace(*rows, patterns=patterns)
    assert _classes(found) == ["communication", "compute", "compute"]
    assert found.classes.family[2] == "gemm"
    assert found.collectives.column("event").to_pylist() == [0]


@pytest.mark.parametrize(
    ("name", "known", "op", "source"),
    [
        (ALL_REDUCE, [], "all_reduce", "name"),
        (GENERIC, [], None, "name"),
        (GENERIC, [Known(0, "broadcast")], "broadcast", "args"),
        (ALL_REDUCE, [Known(0, None, "pg")], "all_reduce", "args"),
        (GENERIC, [Known(0, None, "pg")], None, "args"),
    ],
)
def test_operation(name: str, known: list[Known], op: str | None, source: str) -> None:
    (row,) = trace(Gpu(5, 5, name), *known).collectives.to_pylist()
    assert (row["event"], row["op"], row["source"]) == (0, op, source)


def test_collectives_follow_their_events() -> None:
    rows: list[Row] = [
        Gpu(90, 5, GENERIC),
        Gpu(50, 5),
        Gpu(10, 5, ALL_REDUCE),
        Known(0, "send", "pg"),
    ]
    found = trace(*rows).collectives.to_pylist()
    assert sorted((r["event"], r["op"], r["comm"]) for r in found) == [
        (0, "all_reduce", None),
        (2, "send", "pg"),
    ]
