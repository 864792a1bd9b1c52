"""The processes of a job as the kernel shows them: which there are, and what they wait in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from commscope.collect.commands import without_secrets

_PROC = Path("/proc")
_STATES = {"R": "running", "S": "sleeping", "D": "waiting for a device", "T": "stopped",
           "t": "traced", "Z": "ended"}  # fmt: skip
_RANK_NAMES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_MOST_COMMAND = 120
_MOST_ENVIRONMENT = 1 << 20


@dataclass(frozen=True)
class Process:
    """A process; with the time of its start, its number means no other."""

    pid: int
    parent: int
    state: str
    started: int


@dataclass(frozen=True)
class Activity:
    """What a process of a job does: ``waiting_in`` is the kernel's function, where it tells it."""

    rank: int | None
    pid: int
    command: str
    state: str
    waiting_in: str | None


def find_process(pid: int) -> Process | None:
    """A process, or null where there is none (any more)."""
    # Its name is in brackets, and may hold blanks and brackets itself.
    fields = _read(pid, "stat").rpartition(")")[2].split()
    if len(fields) < 20:
        return None
    return Process(pid, int(fields[1]), fields[0], int(fields[19]))


def tree_of(pid: int) -> list[Process]:
    """A process and all that descend from it, parents first."""
    found = (find_process(int(name)) for name in os.listdir(_PROC) if name.isdigit())
    children: dict[int, list[Process]] = {}
    tree: list[Process] = []
    for process in found:
        if process is not None:
            children.setdefault(process.parent, []).append(process)
            if process.pid == pid:
                tree.append(process)
    for process in tree:  # grows meanwhile
        tree.extend(children.get(process.pid, ()))
    return tree


def is_alive(process: Process) -> bool:
    """Whether the same process still runs."""
    now = find_process(process.pid)
    return now is not None and now.started == process.started and now.state not in "ZX"


def catches(pid: int, signum: int) -> bool:
    """Whether a process has a handler of its own for a signal."""
    for line in _read(pid, "status").splitlines():
        name, _, value = line.partition(":")
        if name == "SigCgt":
            return bool(int(value, 16) >> (signum - 1) & 1)
    return False


def name_of(pid: int) -> str:
    """The name of a process's program, cut by the kernel; empty where there is no such process."""
    return _read(pid, "comm").strip()


def activities(tree: list[Process]) -> list[Activity]:
    """What the ranks among these processes do, or all of them where none has a rank."""
    every = [_activity(process) for process in tree if process.state != "Z"]
    first: dict[int, Activity] = {}
    for it in every:  # what a rank starts has its rank too, and comes later
        if it.rank is not None:
            first.setdefault(it.rank, it)
    return [first[rank] for rank in sorted(first)] or every


def _activity(process: Process) -> Activity:
    pid = process.pid
    words = without_secrets(_read(pid, "cmdline").split("\0"))
    command = " ".join(" ".join(words).split())
    function = _read(pid, "wchan").strip()
    return Activity(
        rank=_rank_of(pid),
        pid=pid,
        command=command[:_MOST_COMMAND] or name_of(pid),
        state=_STATES.get(process.state, process.state),
        waiting_in=function if function not in ("", "0") else None,
    )


def _rank_of(pid: int) -> int | None:
    pairs = (pair.partition("=") for pair in _read(pid, "environ").split("\0"))
    values = {name: value for name, _, value in pairs if name in _RANK_NAMES}
    found = next((values[name] for name in _RANK_NAMES if name in values), "")
    return int(found) if found.isdecimal() and len(found) < 8 else None


def _read(pid: int, file: str) -> str:
    try:
        with (_PROC / str(pid) / file).open("rb") as source:
            return source.read(_MOST_ENVIRONMENT).decode("utf-8", "replace")
    except OSError:
        return ""
