"""Dumps of the Flight Recorder of a job of several ranks, with planted faults."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
Dump = dict[str, Any]
_T0 = 1_700_000_000_000_000_000


def entry(seq: int, rank: int = 0, **changes: Any) -> Entry:
    """A completed all_reduce of 1024 floats in the default group."""
    created = _T0 + seq * 10**6 + rank
    return {
        "record_id": seq - 1,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": seq,
        "p2p_seq_id": 0,
        "op_id": seq,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": created,
        "input_sizes": [[32, 32]],
        "input_dtypes": ["Float"],
        "output_sizes": [[32, 32]],
        "output_dtypes": ["Float"],
        "state": "completed",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": created + 500_000,
        "duration_ms": 0.25,
        "retired": True,
        "timeout_ms": 600_000,
        "is_p2p": False,
        "frames": [
            {"name": "all_reduce", "filename": "/x/torch/distributed/c10d.py", "line": 1},
            {"name": "step", "filename": "/job/train.py", "line": 42},
        ],
        **changes,
    }


def waiting(seq: int, rank: int, state: str = "started", **changes: Any) -> Entry:
    """An entry that has not ended."""
    open_ended = {"time_discovered_completed_ns": None, "retired": False, "duration_ms": None}
    return entry(seq, rank, state=state, **{**open_ended, **changes})


def dump(rank: int, entries: list[Entry], ranks: int = 8) -> Dump:
    """The dump of one rank of the default group."""
    done = [e["collective_seq_id"] for e in entries if e["state"] == "completed"]
    last = max((e["collective_seq_id"] for e in entries), default=0)
    return {
        "version": "2.4",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}},
        "pg_status": {
            "0": {
                "last_enqueued_collective": last,
                "last_started_collective": -1,
                "last_completed_collective": max(done, default=0),
            }
        },
        "entries": entries,
    }


def job(last: Callable[[int], list[Entry]], ranks: int = 8) -> dict[int, Dump]:
    """Dumps of a job: 40 completed collectives on each rank, then what ``last`` gives it."""
    return {
        rank: dump(rank, [entry(seq, rank) for seq in range(1, 41)] + last(rank), ranks)
        for rank in range(ranks)
    }


def write_job(folder: Path, dumps: dict[int, Dump], protocol: int = 2) -> Path:
    """One file a rank, named as PyTorch does."""
    for rank, it in dumps.items():
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(it, protocol))
    return folder
