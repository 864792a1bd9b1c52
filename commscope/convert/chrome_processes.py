"""The ranks of a trace as processes of Chrome's JSON: their numbers, names, and the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, int64, nullable
from commscope.convert.json_text import member, numbers
from commscope.trace import SourceFile

#: Beyond what any system gives a process: a GPU is one of its own, as viewers want it.
_FIRST_DEVICE_PID = 1 << 30
_FIRST_MADE_UP_PID = 1 << 29
_NCCL = "nccl_version"


class Processes:
    """The ranks of a trace; a document of several names the rank of every event."""

    def __init__(self, ranks: pa.Table, files: Sequence[SourceFile]) -> None:
        self._ranks: list[dict[str, Any]] = ranks.to_pylist()
        self._pids = _pids(self._ranks)
        wanted = {row["file"] for row in self._ranks}
        self._files = [file for file in files if file.file in wanted]

    def rank_member(self, table: pa.Table) -> pa.Array | str:
        """The rank as a member of the arguments, where the document does not tell it."""
        return member("rank", numbers(table, "rank")) if len(self._ranks) > 1 else ""

    def device_pid(self, events: pa.Table) -> pa.Array:
        """The number of the process that stands for the GPU."""
        return pa.array(int64(events, "rank") + _FIRST_DEVICE_PID).cast(pa.string())

    def host_pid(self, host: pa.Table) -> pa.Array:
        """The number of the process; null where it is not known."""
        of_rank = np.searchsorted([row["rank"] for row in self._ranks], int64(host, "rank"))
        return nullable(self._pids[of_rank]).cast(pa.string())

    def header(self) -> dict[str, Any]:
        """What the PyTorch profiler says around its events, as far as it holds for all ranks."""
        facts = {key: self._shared(key) for key in ("backend", "world_size")}
        if len(self._ranks) == 1:
            facts["rank"] = self._ranks[0]["rank"]
        versions = dict(item for file in self._files for item in file.versions.items())
        facts[_NCCL] = versions.pop(_NCCL, None)
        return {
            "schemaVersion": 1,
            **{key: text for key, text in versions.items() if key.endswith("_version")},
            **_known({"host": self._shared("host")}),
            "deviceProperties": self._gpus(),
            "distributedInfo": _known(facts),
        }

    def names(self) -> Iterator[dict[str, Any]]:
        """Events that name the processes, and put them in order."""
        for place, (row, pid) in enumerate(zip(self._ranks, self._pids.tolist())):
            gpu = f"rank {row['rank']} GPU {row['device']}"
            if pid != NONE:
                yield _meta("process_name", pid, {"name": f"rank {row['rank']}"})
                yield _meta("process_sort_index", pid, {"sort_index": 2 * place})
            device_pid = _FIRST_DEVICE_PID + row["rank"]
            yield _meta("process_name", device_pid, {"name": gpu})
            yield _meta("process_sort_index", device_pid, {"sort_index": 2 * place + 1})

    def _shared(self, key: str) -> Any:
        """What all ranks have in common; null where they differ."""
        values = {row[key] for row in self._ranks}
        return values.pop() if len(values) == 1 else None

    def _gpus(self) -> list[dict[str, Any]]:
        """The GPUs that a process sees; where they are not all alike, those in use by number."""
        names = dict(enumerate(self._files[0].gpu_names)) if self._files else {}
        if len(set(names.values())) != 1:
            names |= {row["device"]: row["gpu"] for row in self._ranks if row["gpu"] is not None}
        return [{"id": number, "name": name} for number, name in sorted(names.items())]


def _pids(ranks: Sequence[dict[str, Any]]) -> Int64:
    """The process of each rank: as it was, or made up where several would not be told apart."""
    pids = [NONE if row["pid"] is None else row["pid"] for row in ranks]
    if len(pids) > 1 and (NONE in pids or len(set(pids)) < len(pids)):
        pids = [_FIRST_MADE_UP_PID + row["rank"] for row in ranks]
    return np.array(pids, np.int64)


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _meta(name: str, pid: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": pid, "tid": 0, "args": args}
