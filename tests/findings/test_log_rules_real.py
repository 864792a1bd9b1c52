"""What the rules say of real logs: what is wrong with them, and nothing more."""

from __future__ import annotations

from functools import cache

import pytest
from log_samples import read_text
from support import case

from commscope.engine.logs import load_logs
from commscope.findings.log_case import LogCase
from commscope.findings.log_rules import BUILT_IN_LOG, look_at_logs
from commscope.findings.model import Finding
from commscope.logs.summary import summarize

#: Runs that did what they should: nothing above low is said of them.
HEALTHY = {
    **{
        f"h200/{name}": {}
        for name in (
            *("a2a", "blocking_stdout", "busbw", "ddp_default", "ddp_nosteps"),
            *("ddp_small_buckets", "ddp_straggler", "fsdp", "tp"),
        )
    },
    # An excerpt that ends before the initialisation is told complete; ROCm 6.3.0 is known for
    # slow small all_gather calls, of which the excerpt shows none.
    "rccl_logs/rccl_221_mi300x_8gpu_deepspeed.log": {"L6": "low", "S3": "low"},
    # P2P over PCIe between two Radeon cards, and records at each call.
    "rccl_logs/rccl_227_2xrx7900_torchrun.log": {"C5f": "low", "L10": "low"},
    # The log of one rank of eight, and of one of 4,096.
    "rccl_logs/nccl_224_h100_nvls_no_prefix.log": {"S1": "low"},
    "rccl_logs/rccl_63_4096rank_libfabric_colltrace.log": {"S1": "low"},
    "rccl_logs/nccl_cloudwatch_table_prefix.log": {},
    "rccl_logs/nccl_glued_and_broken_records.log": {},
    "rccl_logs/nccl_mpi_tag_output_p2p_indirect.log": {},
    "rccl_logs/nccl_old_send_recv.log": {},
    "rccl_logs/nccl_timestamp_on_own_line.log": {},
    "rccl_logs/nccl_tp2_opcount_hex.log": {},
}
ABORTED = {"L8": "high", "C5b": "high", "L1": "high", "L1-2": "low"}
ILL = {
    "h200/ddp_shm_stdout": {"C5a": "high"},
    "rccl_logs/rccl_216_mi250x_2node_socket_abort.log": ABORTED,
    "rccl_logs/debug_file_mi250x_2node": ABORTED,
    "rccl_logs/rccl_218_ucx_roce_gdrdma_fail.log": {"L8": "high", "L6": "medium"},
    "rccl_logs/rccl_222_mi300a_4gpu_torchrun_warn.log": {"L1": "medium"},
    "rccl_logs/rccl_226_ray_vllm_2node_socket.log": {"C5b": "high", "S2": "medium"},
    "rccl_logs/rccl_227_mi350x_ipc_handle_fail.log": {"L8": "high"},
    "rccl_logs/rccl_coll_mismatch_4rank.log": {"L4": "high"},
    "rccl_logs/nccl_227_tp16_roce_completion_error.log": {"L7": "high", "S1": "low"},
    "rccl_logs/torch_watchdog_reduce_scatter_timeout.log": {"L3": "high"},
    "rccl_logs/nccl_ras_report_and_watchdog.log": {"L3": "high"},
}


@cache
def _findings(path: str) -> dict[str, Finding]:
    loaded = load_logs([case(path)])
    logs = LogCase(loaded.logs, summarize(loaded.logs, loaded.notes))
    return {one.id: one for one in look_at_logs(logs, BUILT_IN_LOG, {})[0]}


@pytest.mark.parametrize("path", [*HEALTHY, *ILL])
def test_what_fires(path: str) -> None:
    found = {name: one.severity for name, one in _findings(path).items()}
    assert found == {**HEALTHY, **ILL}[path]


def test_nothing_but_low_is_said_of_healthy_runs() -> None:
    assert {severity for of in HEALTHY.values() for severity in of.values()} == {"low"}


def test_shared_memory_between_nvlink_peers() -> None:
    finding = _findings("h200/ddp_shm_stdout")["C5a"]
    assert finding.says == (
        "P2P disabled by NCCL_P2P_DISABLE, shared memory between NVLink peers: 2 pairs of ranks "
        "(1 -> 0, 0 -> 1) on vm"
    )
    assert [quote.line for quote in finding.quotes] == [39, 170, 69]


@pytest.mark.parametrize(
    ("path", "rule", "says", "rank"),
    [
        ("rccl_216_mi250x_2node_socket_abort.log", "L8", "rank 3 (nodeA) failed first", 3),
        ("debug_file_mi250x_2node", "L8", "rank 3 (nodeA) failed first with system error", 3),
        ("rccl_216_mi250x_2node_socket_abort.log", "C5b", "Slingshot interfaces (hsn0, ", None),
        ("rccl_218_ucx_roce_gdrdma_fail.log", "L8", "rank 1 (node02) failed first with", 1),
        ("rccl_226_ray_vllm_2node_socket.log", "C5b", "libibverbs could not be opened", None),
        ("rccl_coll_mismatch_4rank.log", "L4", "from opCount 0x28c on: process 45012 of", None),
        ("nccl_227_tp16_roce_completion_error.log", "L7", "status 4 (local protection", 1),
        ("nccl_227_tp16_roce_completion_error.log", "S1", "the logs hold 8 of 16 ranks", None),
        ("torch_watchdog_reduce_scatter_timeout.log", "L3", "7,753 (2 more queued be", None),
        ("nccl_ras_report_and_watchdog.log", "L3", "ALLREDUCE 2,398,459", 118),
        ("rccl_227_mi350x_ipc_handle_fail.log", "L8", "hipIpcGetMemHandle failed", None),
    ],
)  # fmt: skip
def test_what_is_said(path: str, rule: str, says: str, rank: int | None) -> None:
    finding = _findings(f"rccl_logs/{path}")[rule]
    assert says in finding.says
    assert finding.rank == rank


@pytest.mark.parametrize("path", [path for path in [*HEALTHY, *ILL] if path.endswith(".log")])
@pytest.mark.parametrize("keeps", [slice(None, None, 2), slice(1, None, 3), slice(None, None, -1)])
def test_logs_that_lack_lines_or_order_are_looked_at(path: str, keeps: slice) -> None:
    lines = case(path).read_bytes().splitlines(keepends=True)[keeps]
    logs = read_text(b"".join(lines), b"".join(lines[: len(lines) // 2]))
    findings, looked = look_at_logs(LogCase(logs, summarize(logs)), BUILT_IN_LOG, {})
    assert len(looked) == len(BUILT_IN_LOG)
    counts = {file.file: file.counts.lines for file in logs.files}
    for quote in (quote for finding in findings for quote in finding.quotes):
        assert 1 <= quote.line <= counts[quote.file]
