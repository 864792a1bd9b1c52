"""What is no trace is named by what it is: logs, topology, and the rest."""

from __future__ import annotations

import pytest
from support import CASES, case

from commscope.engine.inspect import inspect_paths

_LOG = "a log of RCCL or NCCL, for commscope log"
_WANTED = {
    "amd/smi/rocm_smi_*.txt": "how GPUs are joined (rocm-smi text), for commscope env",
    "amd/smi/amd_smi_*.json": "how GPUs are joined (amd-smi JSON), for commscope env",
    "amd/smi/amd_smi_*.txt": "how GPUs are joined (amd-smi tables), for commscope env",
    "topology/*.xml": "how GPUs are joined (NCCL_TOPO_DUMP_FILE), for commscope env",
    "rccl_logs/nccl_*.log": _LOG,
    "rccl_logs/rccl_*.log": _LOG,
    "rccl_logs/debug_file_mi250x_2node/*.log": _LOG,
    "rccl_logs/rccl_tests_allreduce_8xmi300x.txt": "text",
    "rccl_logs/expected.json": "JSON without trace events",
}


@pytest.mark.parametrize("pattern", _WANTED)
def test_files_of_a_job_are_named(pattern: str) -> None:
    case(pattern.partition("/")[0])
    files = sorted(CASES.glob(pattern))
    assert files
    found = inspect_paths(files, None, lambda *_: None).files
    assert {file.error for file in found} == {f"no trace: {_WANTED[pattern]}"}
    assert {file.parser for file in found} == {None}
