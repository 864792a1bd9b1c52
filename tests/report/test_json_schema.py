"""The JSON Schema is that of the page, and every report keeps it, to the last key."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import small_run
from builders import TraceBuilder
from jsonschema import Draft202012Validator
from support import ROOT

import commscope
from commscope import sample_traces

TEXT = resources.files("commscope.report").joinpath("report-1.schema.json").read_text("utf-8")
SCHEMA: dict[str, Any] = json.loads(TEXT)


def _without_other_keys(part: Any) -> Any:
    """The schema that no key may be added to."""
    if isinstance(part, list):
        return [_without_other_keys(item) for item in part]
    if not isinstance(part, dict):
        return part
    closed = {"additionalProperties": False} if "properties" in part else {}
    is_names = "type" not in part and "$ref" not in part and "anyOf" not in part
    return {
        **{name: _without_other_keys(item) for name, item in part.items()},
        **({} if is_names else closed),
    }


CLOSED = Draft202012Validator(_without_other_keys(SCHEMA))


def _errors(report: commscope.Report) -> list[str]:
    document = json.loads(report.to_json(more=("instances",)))
    return [f"{error.json_path}: {error.message}" for error in CLOSED.iter_errors(document)]


def test_file_is_that_of_the_page() -> None:
    if not (ROOT / "tools").is_dir():
        pytest.skip("needs the checkout")
    assert importlib.import_module("json_schema").schema_text() == TEXT
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", sample_traces.names())
def test_samples_keep_it(name: str) -> None:
    assert _errors(commscope.analyze(commscope.load(sample_traces.path(name)))) == []


def _with_lost_kernels() -> TraceBuilder:
    builder = TraceBuilder()
    for i in range(1, 101):
        builder.launch(10 * i, 1)
        builder.kernel("gemm" if i < 100 else "ncclDevKernel_Generic", 10 * i + 5, 4)
        if i % 10 == 0 and i < 100:
            builder.events.pop()
    return builder


def _with_kernels_that_overlap() -> TraceBuilder:
    return TraceBuilder().launch(1, 1).kernel("gemm", 10, 100).launch(3, 1).kernel("gemm", 20, 5)


@pytest.mark.parametrize("build", [_with_lost_kernels, _with_kernels_that_overlap])
def test_what_is_withheld_keeps_it(tmp_path: Path, build: Callable[[], TraceBuilder]) -> None:
    report = small_run.report_of(tmp_path, build())
    assert report.trust.verdict == "unusable" or report.kernels.withheld
    assert _errors(report) == []


def test_an_unknown_key_and_a_wrong_type_are_seen() -> None:
    document = json.loads(_small_report())
    document["ranks"][0]["more"] = 1
    document["summary"]["steps"] = "3"
    paths = {error.json_path for error in CLOSED.iter_errors(document)}
    assert paths == {"$.ranks[0]", "$.summary.steps"}
    added = json.loads(_small_report())
    added["ranks"][0]["more"] = 1
    assert Draft202012Validator(SCHEMA).is_valid(added), "keys may be added"


def _small_report() -> str:
    return commscope.analyze(commscope.load(sample_traces.path("tp"))).to_json()
