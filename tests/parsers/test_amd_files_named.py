"""Each real file is named for what its README says it is, and none is taken for another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest
from one_file import source_of
from support import CASES, case

from commscope.errors import UnknownFormat
from commscope.parsers.detect import choose
from commscope.parsers.opening import read_head


@dataclass(frozen=True)
class Name:
    """The parser whose format a file is of, and a word on what it is if it is no timeline."""

    parser: str | None
    not_a_timeline: str | None = None


#: Neither a trace nor another output of a profiler.
_OTHER = Name(None)
_SUMS = Name("rocprofv3_csv", "sums")
_COUNTERS = Name("rocprofv3_csv", "counters of kernels")
_V1_SUMS = Name("rocprof_v1", "sums")

#: By hand, from the READMEs and a look into each file.
_NAMES = {
    "amd/README.md": _OTHER,
    "amd/kineto/*.json.gz": Name("kineto"),
    "amd/kineto/ddp4_unmerged/*.json.gz": Name("kineto"),
    "amd/omniperf/*/*/log.txt": Name("omniperf", "messages"),
    "amd/omniperf/*/*/pmc_dispatch_info.csv": Name("omniperf", "names of dispatches"),
    "amd/omniperf/*/*/pmc_kernel_top.csv": Name("omniperf", "times of kernels"),
    "amd/omniperf/*/*/pmc_perf.csv": Name("omniperf", "counters of dispatches"),
    "amd/omniperf/*/*/pmc_perf.csv.gz": Name("omniperf", "counters of dispatches"),
    "amd/omniperf/*/*/SQ_*.csv": Name("omniperf", "counters of dispatches"),
    "amd/omniperf/*/*/profiling_config.yaml": Name("omniperf", "settings"),
    "amd/omniperf/*/*/roofline.csv": Name("omniperf", "measured peaks"),
    "amd/omniperf/*/*/sysinfo.csv": Name("omniperf", "facts on the machine"),
    "amd/omniperf/*/*/timestamps.csv": Name("omniperf", "times of dispatches"),
    "amd/omniperf/*/*/perfmon/*.txt": _OTHER,  # lists of counters, which the tool gave to rocprof
    "amd/omniperf/mi350_rocprof_compute_350.db.gz": Name("omniperf", "a profile of counters"),
    "amd/reference/*.csv": _OTHER,  # tables that TraceLens made
    "amd/rocpd/*_results.db.gz": Name("rocpd"),
    "amd/rocprof_v1/*/results.csv": Name("rocprof_v1"),
    "amd/rocprof_v1/*/results.db": Name("rocprof_v1"),
    "amd/rocprof_v1/*/results.json": Name("rocprof_v1"),  # one of them is cut to 80 bytes
    "amd/rocprof_v1/*/results.stats.csv": _V1_SUMS,
    "amd/rocprof_v1/vecadd/results.copy_stats.csv": _V1_SUMS,
    "amd/rocprof_v1/vecadd/results.hip_stats.csv": _V1_SUMS,
    "amd/rocprof_v1/vecadd/results.sysinfo.txt": Name("rocprof_v1", "facts on the machine"),
    "amd/rocprofv3_csv/docs_*/counter_collection.csv": _COUNTERS,
    "amd/rocprofv3_csv/docs_*/hip_compile_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_*/hip_runtime_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_*/kernel_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_*/marker_api_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_*/memory_copy_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_*/hsa_api_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_*/hip_api_stats.csv": _SUMS,
    "amd/rocprofv3_csv/docs_6.2.0/hip_stats.csv": _SUMS,
    "amd/rocprofv3_csv/docs_6.2.0/hsa_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_7x/hip_domain_stats.csv": _SUMS,
    "amd/rocprofv3_csv/docs_7x/hip_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_7x/rccl_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_7x/rocpd-to-csv.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/docs_7x/memory_allocation_trace.csv": Name("rocprofv3_csv", "allocations"),
    "amd/rocprofv3_csv/docs_7x/scratch_memory_trace.csv": Name("rocprofv3_csv", "scratch"),
    "amd/rocprofv3_csv/llama_decode_gfx1151/decode_hip_api_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/llama_decode_gfx1151/decode_kernel_trace.csv": Name("rocprofv3_csv"),
    "amd/rocprofv3_csv/llama_decode_gfx1151/decode_*_counter_collection.csv": _COUNTERS,
    "amd/rocprofv3_json/mi350_train_908_results.json.gz": Name("rocprofv3_json"),
    "amd/smi/*.txt": _OTHER,
    "amd/smi/*.json": _OTHER,
    "kineto/*.json.gz": Name("kineto"),
    "kineto/dlrm8_v100/*.json.gz": Name("kineto"),
    "kineto/whatif_bytedance/*": _OTHER,  # operations in a layout of its own
    "kineto/README.md": _OTHER,
    "topology/*": _OTHER,
    "rccl_logs/*": _OTHER,
    "rccl_logs/debug_file_mi250x_2node/*.log": _OTHER,
}
_FOLDERS = ("amd", "kineto", "topology", "rccl_logs")


def _files(folder: str) -> list[PurePosixPath]:
    paths = sorted(CASES.joinpath(folder).rglob("*"))
    return [PurePosixPath(path.relative_to(CASES).as_posix()) for path in paths if path.is_file()]


def _of_pattern(pattern: str) -> list[PurePosixPath]:
    depth = pattern.count("/")
    files = _files(pattern.partition("/")[0])
    return [file for file in files if str(file).count("/") == depth and file.match(pattern)]


def _named(path: Path) -> Name:
    source = source_of(path)
    try:
        opinion = choose(read_head(source), source, None)
    except UnknownFormat:
        return _OTHER
    return Name(opinion.parser.name, opinion.match.unread)


@pytest.mark.parametrize("pattern", _NAMES)
def test_files_are_named_for_what_they_are(pattern: str) -> None:
    case(pattern.partition("/")[0])
    files, expected = _of_pattern(pattern), _NAMES[pattern]
    assert files
    for file in files:
        found = _named(CASES / file)
        assert found.parser == expected.parser, file
        assert (found.not_a_timeline is None) == (expected.not_a_timeline is None), file
        assert (expected.not_a_timeline or "") in (found.not_a_timeline or ""), file


@pytest.mark.parametrize("folder", _FOLDERS)
def test_every_file_has_one_name(folder: str) -> None:
    case(folder)
    named = [file for pattern in _NAMES for file in _of_pattern(pattern)]
    assert len(named) == len(set(named))
    assert set(_files(folder)) <= set(named)


def test_the_table_is_of_all_120_files() -> None:
    case("amd")
    assert len(_files("amd")) == 120
