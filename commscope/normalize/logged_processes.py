"""Which process of the logs is which rank of the trace."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from commscope.trace import Trace
from commscope.wording import listed, rank_list


@dataclass(frozen=True, slots=True)
class Processes:
    """For each rank of the trace, in its order, its rows of COMMS; empty where it has none."""

    comms: tuple[tuple[int, ...], ...]
    by: str  #: what told it: process id, rank, or nothing
    notes: tuple[str, ...]

    @property
    def found(self) -> int:
        """How many ranks have a process in the logs."""
        return sum(map(bool, self.comms))


def match_processes(trace: Trace, comms: pa.Table, largest: Sequence[int]) -> Processes:
    """Finds each rank's rows of COMMS by process id, or by rank where no file tells an id.

    ``largest`` are the rows of the communicator with most ranks. Processes whose ids are none of
    the trace's belong to another run, whatever their ranks.
    """
    ranks, rows = trace.ranks.to_pylist(), comms.to_pylist()
    told = [rank["pid"] for rank in ranks if rank["pid"] is not None]
    if told and any(row["pid"] is not None for row in rows):
        found = _by_pid(ranks, rows)
        if not any(found):
            return Processes(found, "nothing", (_another_run(told, rows),))
        return Processes(found, "process id", _missing(ranks, found))
    found = _by_rank(ranks, rows, largest)
    by = "rank" if any(found) else "nothing"
    return Processes(found, by, _missing(ranks, found))


def _by_pid(
    ranks: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]
) -> tuple[tuple[int, ...], ...]:
    of_pid: defaultdict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        of_pid[row["pid"]].append(number)
    sharing = Counter(_place(rank) for rank in ranks)
    return tuple(
        tuple(_of_rank(rank, of_pid[rank["pid"]], rows, alone=sharing[_place(rank)] == 1))
        for rank in ranks
    )


def _place(rank: dict[str, Any]) -> tuple[str | None, int | None]:
    """Host, as logs name it, and process id."""
    return None if rank["host"] is None else rank["host"].split(".")[0], rank["pid"]


def _of_rank(
    rank: dict[str, Any], found: list[int], rows: Sequence[dict[str, Any]], *, alone: bool
) -> list[int]:
    """Of the rows with a rank's process id those that are its own.

    Several hosts may have a process of this id, and one process may have several ranks.
    """
    on_host = [number for number in found if rows[number]["host"] == _place(rank)[0]]
    found = on_host or found
    if alone and len({rows[number]["host"] for number in found}) == 1:
        return found
    first = {(rows[n]["host"], rows[n]["cuda_dev"]) for n in found if _is_world(rows[n], rank)}
    return [n for n in found if (rows[n]["host"], rows[n]["cuda_dev"]) in first and len(first) == 1]


def _is_world(row: dict[str, Any], rank: dict[str, Any]) -> bool:
    """Whether this is the rank's row of a communicator of all ranks."""
    return bool(row["rank"] == rank["rank"] and row["nranks"] == rank["world_size"])


def _by_rank(
    ranks: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]], largest: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """The processes that are these ranks in the communicator of all ranks, if there is one.

    Where the trace does not tell how many ranks there are, it has to hold all that the trace shows.
    """
    worlds = {rank["world_size"] for rank in ranks} - {None}
    process = {
        rows[n]["rank"]: _process(rows[n])
        for n in largest
        if not worlds or {rows[n]["nranks"]} == worlds
    }
    if not worlds and not all(rank["rank"] in process for rank in ranks):
        return ((),) * len(ranks)
    own: defaultdict[Any, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        own[_process(row)].append(number)
    return tuple(
        tuple(own[process[rank["rank"]]]) if rank["rank"] in process else () for rank in ranks
    )


def _process(row: dict[str, Any]) -> tuple[Any, ...]:
    file = row["file"] if row["pid"] is None else None
    return row["host"], row["pid"], file, row["cuda_dev"]


def _missing(ranks: Sequence[dict[str, Any]], found: Sequence[tuple[int, ...]]) -> tuple[str, ...]:
    lacking = [rank["rank"] for rank, rows in zip(ranks, found) if not rows]
    if not lacking:
        return ()
    return (f"the logs hold no process of {rank_list(lacking, most=8)}",)


def _another_run(told: Sequence[int], rows: Sequence[dict[str, Any]]) -> str:
    logged = sorted({row["pid"] for row in rows if row["pid"] is not None})
    return (
        f"the logs are of another run: their processes are {listed(logged, 3)}, those of the "
        f"trace {listed(sorted(set(told)), 3)}"
    )
