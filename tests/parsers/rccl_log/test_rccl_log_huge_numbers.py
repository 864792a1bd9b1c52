"""Numbers that no column holds, in place of each number of each kind of record."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from log_samples import joined, log_of, read_text
from rich.console import Console

from commscope.engine.logs import LoadedLogs
from commscope.report.log_report import build_log_report
from commscope.report.text_log import print_log
from commscope.sanitize import json_text

_HEAD = "nodeA:10:10 [0] NCCL INFO "
_CAUGHT = (
    "[rank0]:[E1 1:1:1.7 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=7753, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) "
    "ran for 600061 milliseconds"
)
_LAST = (
    "[PG ID 0 PG GUID 0 Rank 0] Timeout at NCCL work: 5, last enqueued NCCL work: 7, "
    "last completed NCCL work: 4."
)
_COUNTS = (
    f"{_HEAD}comm:0xa00, nRanks:2, nNodes:1, coll channels:8 collnet channels:0, nvls channels:0, "
    "p2p channels:8, p2p channels per peer:8"
)
#: Records that a job without trouble does not write.
_OTHERS = (
    _CAUGHT,
    _LAST,
    f"{_HEAD}## [ 12.500] [0:1] 00001f KL HWID 42 AllReduce_RING_SIMPLE_Sum_f32 nw 4 nRanks 2",
    f"{_HEAD}Ring 0 : 1 -> 0 -> 1 comm 0xa00",
    f"{_HEAD}Channel 00/02 : 0 1",
    f"{_HEAD}GPU/C1000 :GPU/C1000 (0/5000.0/LOC) GPU/C2000 (1/48.0/XGM)",
    f"{_HEAD}NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE; OOB eth0:192.0.2.2<0>",
    f"{_HEAD}CollNet 00/0 : 0 [send] via COLLNET/SHARP/0",
    f"{_HEAD}Broadcast: 64 Bytes -> Algo 1 proto 2 time 17.25",
    f"{_HEAD}AllReduce [Symmetric]: 64 Bytes -> Kernel AllReduce_LL nchannels 4",
    _COUNTS,
    "nodeA:10:10 [0] NCCL CALL ncclAllReduce(7f1,7f2,1024,7,0,0,a00,b00)",
    "nodeA:10:10 [0] /src/init.cc:12 NCCL WARN Cuda failure 2 [repeated 3x in 4 s]",
    f"{_HEAD}/src/init.cc:12 -> 1",
    f"{_HEAD}cudaDriverVersion 12080",
    f"{_HEAD}Kernel version: 6.8.0-40-generic",
    f"{_HEAD}Hipruntime version: 70226015, firmware version: 177",
    f"{_HEAD}NCCL_BUFFSIZE set by environment to 4194304.",
    f"{_HEAD}GPU_MAX_HW_QUEUES set by environment to 2",
    "comm:0xa00 [SEND] dev:0 myrank:0 peer:1 chan:2 tail:3 recvtail:4 x (retries:5)] ns:1 p:2 t:3",
)
_HUGE = (10**12, 2**63 - 1, 2**63, 2**64 - 1, 10**25, int("9" * 400), "-" + "9" * 25, "9" * 5000)
_NUMBER = re.compile(r"\d+(?:\.\d+)?|0x[0-9a-f]+|(?<=opCount )[0-9a-f]+")


def _variants(line: str) -> Iterator[str]:
    """The line, and with each of its numbers in turn a huge one."""
    yield line
    for found in _NUMBER.finditer(line):
        for huge in _HUGE:
            yield f"{line[: found.start()]}{huge}{line[found.end() :]}"


@pytest.mark.parametrize("line", dict.fromkeys([*filter(None, log_of()), *_OTHERS]))
def test_huge_numbers_are_read_and_told(line: str) -> None:
    text = joined([*log_of(), *log_of(pid=77, rank=1), *_variants(line)])
    logs = read_text(text)
    report = build_log_report(LoadedLogs(logs, ()), None, {})
    print_log(report, Console(file=io.StringIO(), width=120), details=True)
    json_text(report.to_dict())
    for table in logs.tables.values():
        for column in table.columns:
            if pa.types.is_floating(column.type):
                assert pc.all(pc.is_finite(column)).as_py() in (True, None)


@pytest.mark.parametrize("line", _OTHERS)
def test_the_records_are_of_a_kind_that_is_read(line: str) -> None:
    before, after = (read_text(joined([*log_of(), *more])).files[0].counts for more in ([], [line]))
    assert (after.records, after.unused, after.torn) == (before.records + 1, before.unused, 0)


@pytest.mark.parametrize(
    ("rank", "seq"), [(10**12, 1), (0, 10**25), (2**31, 1), (0, 2**63)]
)  # fmt: skip
def test_a_hang_without_a_rank_or_a_number_is_none(rank: int, seq: int) -> None:
    line = _CAUGHT.replace("[Rank 0]", f"[Rank {rank}]").replace("7753", str(seq))
    logs = read_text(joined([_CAUGHT, line]))
    assert logs.tables["HANGS"].column("seq").to_pylist() == [7753]
