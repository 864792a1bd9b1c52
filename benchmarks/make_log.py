"""Makes a large log of RCCL, as one file with the records of all ranks of a job.

    python benchmarks/make_log.py --megabytes 500 --ranks 4096 --output job.log

Every rank writes what RCCL 2.21 writes at its start, one after the other; then all of them write
the calls of step after step, until the file has the size.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

RANKS_OF_HOST = 8
CHANNELS = 16
#: What each rank calls in a step: name, elements, code of the type, code of the reduction.
CALLS = (
    ("AllReduce", 1, 7, 0),
    ("AllReduce", 2097152, 9, 0),
    ("ReduceScatter", 9984512, 9, 0),
    ("AllGather", 131072, 9, 0),
)
START = """\
{head}ROCr version 1.14
{head}NCCL_SOCKET_IFNAME set by environment to hsn0

{warn}/src/init.cc:120 NCCL WARN NUMA auto balancing enabled which can lead to variability
{head}Using network AWS Libfabric
{head}ncclCommInitRank {comm} cudaDev {device} nvmlDev {device} busId {bus} commId 0xbc8 - Init \
START
{head}Pattern 4, crossNic 0, nChannels 8, bw 48.000000/24.000000, type XGMI/PXB, sameChannels 1
"""
EDGES = """\
{head}Channel {channel:02}/0 : {rank}[{bus}] -> {next}[{bus}] via P2P/IPC \
comm {address} nRanks {ranks}
{head}Channel {channel:02}/0 : {rank}[{bus}] -> {far}[{bus}] [send] via NET/AWS Libfabric/0/GDRDMA \
comm {address} nRanks {ranks}
"""
END = """\
{head}Connected all rings comm {address} nRanks {ranks} busId {bus}
{head}16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, \
2 p2p channels per peer
{head}ncclCommInitRank {comm} cudaDev {device} nvmlDev {device} busId {bus} commId 0xbc8 \
localSize 304 used 2274 bytes on core 13 - Init COMPLETE
"""
CALL = """\
{head}{name}: opCount {opcount:x} sendbuff 0x7ffc{buffer:08x} recvbuff 0x7ffd{buffer:08x} \
count {count} datatype {dtype} op {op} root 0 comm {address} [nranks={ranks}] stream 0x90013c0 \
task 0 globalrank {rank}
"""


def words_of(rank: int, ranks: int) -> dict[str, str | int]:
    """What the records of a rank say of it."""
    host, device = divmod(rank, RANKS_OF_HOST)
    address = f"0x{0x9BBF3B0 + rank * 0x430:x}"
    warn = f"cn{host:05}:{100000 + rank}:{100000 + rank} [{device}] "
    return {
        "head": f"{warn}NCCL INFO ",
        "warn": warn,
        "rank": rank,
        "ranks": ranks,
        "next": (rank + 1) % ranks,
        "far": (rank + RANKS_OF_HOST) % ranks,
        "device": device,
        "bus": f"{device + 1:x}6000",
        "address": address,
        "comm": f"comm {address} rank {rank} nranks {ranks}",
    }


def start(words: dict[str, str | int]) -> str:
    """What a rank writes until its communicator is there."""
    edges = (EDGES.format(channel=channel, **words) for channel in range(CHANNELS))
    return START.format(**words) + "".join(edges) + END.format(**words)


def texts(ranks: int) -> Iterator[str]:
    """The log, without an end."""
    jobs = [words_of(rank, ranks) for rank in range(ranks)]
    yield from map(start, jobs)
    for opcount in itertools.count():
        name, count, dtype, op = CALLS[opcount % len(CALLS)]
        call = {"name": name, "count": count, "dtype": dtype, "op": op, "opcount": opcount}
        for words in jobs:
            buffer = opcount * ranks + int(words["rank"])
            yield CALL.format(buffer=buffer & 0xFFFFFFFF, **call, **words)


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    left = options.megabytes * 10**6
    with options.output.open("w", encoding="ascii") as file:
        for text in texts(options.ranks):
            file.write(text)
            left -= len(text)
            if left <= 0:
                return


if __name__ == "__main__":
    main()
