"""What the logs add to the report on a terminal."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from rich.console import Group
from rich.text import Text

import commscope
from commscope import sample_traces
from commscope.report.model import LogSection, Report, ReportTable
from commscope.report.text_paths import paths


def report_of(name: str) -> tuple[Report, LogSection]:
    report = commscope.analyze(commscope.load(sample_traces.path(name)))
    assert report.log is not None
    return report, report.log


def says(report: Report) -> list[str]:
    """The lines below the table."""
    drawn = paths(report, 12, 120)
    assert isinstance(drawn, Group)
    last = drawn.renderables[-1]
    assert isinstance(last, Text)
    return last.plain.splitlines()


def test_one_transport_needs_no_sum() -> None:
    report, _ = report_of("ddp_shm")
    assert says(report) == ["?: the logs hold no calls (NCCL_DEBUG_SUBSYS lacks COLL)"]


def test_several_transports_are_summed() -> None:
    report, log = report_of("ddp_shm")
    table = log.transports.arrow
    row = {**table.to_pylist()[0], "transport": "NET/IB", "link": "network"}
    other = pa.Table.from_pylist([{**row, "exposed_ns": 2_000_000}], schema=table.schema)
    both = ReportTable(pa.concat_tables([table, other]))
    assert "Exposed by transport: SHM, host memory 13.6 ms; NET/IB, network 2.00 ms" in says(
        replace(report, log=replace(log, transports=both))
    )


def test_without_logs_nothing_is_said() -> None:
    report = commscope.analyze(commscope.load(sample_traces.path("fsdp")))
    assert paths(report, 12, 120) is None
