"""Small logs of RCCL, written by hand, and their tables in a form that can be compared."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from commscope.parsers.opening import Source
from commscope.parsers.rccl_log import LogReader, Logs

_LOG = """\
INFO RCCL version : 2.27.7-HEAD:0d2c4fd
HIP version  : 7.2.26015-fc0010cf6a

[2026-01-02 03:04:05] HEAD /src/init.cc:140 NCCL WARN NUMA auto balancing on
INFO NCCL_SOCKET_IFNAME set by environment to eth0.
INFO Using network Socket
INFO ncclCommInitRank_impl COMM cudaDev RANK nvmlDev RANK busId RANK000 commId 0xabc - Init START
INFO Pattern 4, crossNic 0, nChannels 1, bw 6.000000/6.000000, type XGMI/PIX, sameChannels 1
INFO Channel 00/02 : 0 1
INFO Trees [0] PEER/-1/-1->RANK->-1 [1] -1/-1/-1->RANK->PEER
INFO Channel 00/0 : RANK[RANK000] -> PEER[PEER000] via P2P/IPC comm ADDRESS nRanks 02
INFO Channel 01/0 : RANK[1] -> PEER[2] [send] via NET/AWS Libfabric/1/GDRDMA comm ADDRESS nRanks 02
INFO ncclCommInitRank_impl COMM cudaDev RANK nvmlDev RANK busId RANK000 commId 0xabc - Init COMPLETE
INFO 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer
INFO Init timings - ncclCommInitRank_impl: rank RANK nranks 2 total 3.18 (kernels 2.81, rest 0.00)
INFO AllReduce: opCount 1f sendbuff 0x1 recvbuff 0x2 count 1024 datatype 7 op 0 root 0 \
comm ADDRESS [nranks=2] stream 0x3 task 0 globalrank RANK
INFO AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
INFO RAS client listening socket at 127.0.0.1<28028>"""


def log_of(host: str = "nodeA", pid: int = 10, rank: int = 0) -> list[str]:
    """The log of one process of two: every table of a job without trouble gets rows."""
    words = {
        "INFO ": "HEAD NCCL INFO ",
        "HEAD ": f"{host}:{pid}:{pid} [{rank}] ",
        "COMM ": "comm ADDRESS rank RANK nranks 2 ",
        "ADDRESS": f"0x{pid:x}00",
        "RANK": str(rank),
        "PEER": str(1 - rank),
    }
    text = _LOG
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text.split("\n")


def read_text(*files: bytes) -> Logs:
    """The logs in files of these contents."""
    reader = LogReader()
    for number, text in enumerate(files):
        read_bytes(reader, text, f"log{number}")
    return reader.finish()


def read_bytes(reader: LogReader, text: bytes, name: str = "log") -> None:
    """Reads a file of this content."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(text)
        file.flush()
        reader.read(Source(Path(file.name), label=name, size=len(text)), lambda *_: None)


def joined(lines: Iterable[str]) -> bytes:
    """The lines as a file."""
    return "".join(f"{line}\n" for line in lines).encode()


def said(logs: Logs, *without: str) -> dict[str, Counter[Any]]:
    """What the tables say, wherever it stands: rows without file, line and numbers of rows."""
    left_out = {"file", "line", "start_line", "complete_line", "timings_line", "comm", *without}
    return {
        name: Counter(
            tuple((key, repr(value)) for key, value in row.items() if key not in left_out)
            for row in table.to_pylist()
        )
        for name, table in logs.tables.items()
    }
