"""The fast path skips what is not needed; damage in that never hides an event that is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import LAYOUTS, TraceBuilder, read_bytes, torch2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commscope.parsers.kineto.layout import Layout, Prefix, find_layout
from commscope.parsers.kineto.scan import needed_events
from commscope.parsers.kineto.tolerant import event_end

KERNELS = 8
SEPARATOR = b'},\n  {\n    "ph"'
LAYOUT = Layout(SEPARATOR, Prefix(b': "', b'", "cat": "', b'", "name": "'))


def trace() -> TraceBuilder:
    builder = TraceBuilder()
    for number in range(KERNELS):
        builder.operator("aten::mm", number, Dims=[[1, 2], []]).kernel(f"k{number}", number)
        builder.flow(number)
    return builder.operator("aten::add", 99)


def events_of(builder: TraceBuilder) -> bytes:
    """The events alone, as they stand in the file."""
    text = torch2(builder.document())
    return text[text.index(b'{\n    "ph"') : text.index(b"\n  ],")]


def test_finds_the_layout() -> None:
    events = events_of(trace())

    layout = find_layout(events, events.index(SEPARATOR) + 1)

    assert layout == LAYOUT
    assert layout.is_indented
    assert layout.gap == 4


@pytest.mark.parametrize(
    ("name", "is_fast"),
    [("torch2", True), ("minified", True), ("one_line", True), ("key_a_line", True),
     ("crlf", True), ("schema_2021", True), ("sorted_keys", False)],
)  # fmt: skip
def test_layouts_that_can_skip(name: str, is_fast: bool) -> None:
    text = LAYOUTS[name](TraceBuilder().kernel("a").kernel("b").document())
    array = re.split(rb'"traceEvents"\s*:\s*\[\s*', text)[1]

    layout = find_layout(array, event_end(array) or 0)

    assert (layout.prefix is not None) is is_fast


def test_keeps_only_what_is_needed() -> None:
    builder = trace().step(1).launch().copy()
    builder.span("cpu_op", "record_param_comms", 1, 1).span("cpu_op", "ProfilerStep#7", 1, 1)
    builder.span("overhead", "x", 1, 1).span("python_function", "f", 1, 1)
    builder.span("a new category", "x", 1, 1)

    found = needed_events(events_of(builder), LAYOUT)

    assert found.seen == 3 * KERNELS + 1 + 8
    assert found.needed == KERNELS + 5 + 1
    assert b"aten::" not in found.text
    assert b'"overhead"' not in found.text


@pytest.mark.parametrize(
    "damage",
    [
        b'"ph": "X"',
        b'},{"ph": "X"',
        b'},\n  {\n    "p',
        b'},\n  { "ph": "X"',
        b'}{\n    "ph": "X"',
        b'"a": {"ph": 1}',
        b"\0",
    ],
)
def test_refuses_what_is_not_written_as_expected(damage: bytes) -> None:
    events = events_of(trace())
    mark = b'"External id": 7'

    text = events.replace(mark, mark + b", " + damage, 1)

    assert needed_events(events, LAYOUT) is not None
    found = needed_events(text, LAYOUT)
    assert found is None or found.needed == KERNELS


def test_refuses_nested_objects_that_look_like_events() -> None:
    nested = [{"a": 1}, {"ph": "X", "cat": "kernel", "name": "no event"}, {"ph": "s"}]
    text = LAYOUTS["minified"](trace().operator("op", 1, list=nested).document())
    events = text[text.index(b'{"ph"') : text.rindex(b"]")]

    assert needed_events(events, find_layout(events, events.index(b'},{"ph"') + 1)) is None


PIECES = [
    b"", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\0", b"\xff", b"}]", b"]}", b"}]}",
    b'"ph"', b'"ph": "X"', b"},", b"},\n  {", SEPARATOR, SEPARATOR + b': "s"', b"null", b"inf",
]  # fmt: skip
TEXT = torch2(trace().document())
LONGEST_CUT = 6
#: Inside the braces of the operators, which the analysis does not need.
INSIDE = [
    at
    for found in re.finditer(rb'(?s)\{\s+"ph": "X", "cat": "cpu_op".*?\n    \}\n  (?=\})', TEXT)
    for at in range(found.start() + 8, found.end() - 3 * LONGEST_CUT)
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(INSIDE), st.integers(0, LONGEST_CUT), st.sampled_from(PIECES)),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([300, 1200, 1 << 19]),
)
def test_damage_in_what_is_skipped_hides_nothing(
    tmp_path: Path, edits: list[tuple[int, int, bytes]], block_bytes: int
) -> None:
    text = TEXT
    for at, removed, new in sorted(edits, reverse=True):
        text = text[:at] + new + text[at + removed :]

    reading = read_bytes(text, tmp_path, block_bytes)

    kernels = [f"k{number}" for number in range(KERNELS)]
    assert [n for n in reading.events.column("name").to_pylist() if n in kernels] == kernels
