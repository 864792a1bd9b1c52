"""Which of the wrappers of a job this one is, and which ranks it starts.

Every process that a launcher starts under the wrapper is a wrapper of its own, and they meet in the
run folder: Slurm's tasks, Open MPI's or MPICH's processes, or one torchrun a node.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from commscope.collect.commands import program

#: Variables of index, number, index on the host and name of the job; the innermost launcher first.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", ()),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", ("PMI_JOBID",)),
)  # fmt: skip
#: Index and number of the wrappers of a job that nothing else tells apart, set by hand.
BY_HAND = ("COMMSCOPE_NODE", "COMMSCOPE_NODES")
_STEP = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID")
#: What starts processes on other nodes too, from inside the wrapper.
_SPREADING = frozenset(
    ("srun", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prun", "prterun", "jsrun", "aprun",
     "flux", "deepspeed", "pdsh", "clush", "ssh", "parallel-ssh", "horovodrun")
)  # fmt: skip
_LAUNCH_MODULES = (
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate.commands.launch",
)
_OPTION_NAMES = {
    "nnodes": "nodes", "num-machines": "nodes",
    "node-rank": "node", "machine-rank": "node",
    "nproc-per-node": "each", "num-processes": "all",
    "rdzv-id": "job",
}  # fmt: skip
_FROM_ENVIRONMENT = {"PET_NNODES": "nodes", "PET_NODE_RANK": "node", "PET_NPROC_PER_NODE": "each",
                     "PET_RDZV_ID": "job"}  # fmt: skip
_NUMBER = re.compile("[0-9]{1,7}")


@dataclass(frozen=True)
class Place:
    """Where a wrapper stands among those of its job; null is what nothing tells.

    ``index`` of ``count`` wrappers, ``local`` of those on its host; ``ranks`` of ``world_size`` are
    the job's processes that it starts; ``job`` is what its wrappers, and no others, share.
    """

    index: int | None = None
    count: int | None = None
    local: int = 0
    ranks: tuple[int, ...] | None = None
    world_size: int | None = None
    job: str | None = None


def find_place(environment: Mapping[str, str], command: Sequence[str]) -> Place:
    """The place that the environment and a launcher's own options tell; by hand goes first."""
    options = _launcher_options(environment, command)
    given = _by_hand(environment)
    if given is not None:
        return given if options is None else _with_options(given, options)
    place = _from_variables(environment)
    if options is None:
        return _alone(environment) if place is None else _one_rank(place)
    return _with_options(place or _from_options(options, _alone(environment)), options)


def misnumbered(environment: Mapping[str, str]) -> str | None:
    """What was given by hand and makes no sense, or null."""
    given = [f"{name}={environment[name]}" for name in BY_HAND if name in environment]
    if not given or _by_hand(environment) is not None:
        return None
    return f"{' '.join(given)}: give the node's number, from 0, and how many there are"


def _by_hand(environment: Mapping[str, str]) -> Place | None:
    index, count = (_number(environment.get(name)) for name in BY_HAND)
    return None if index is None or not count or index >= count else Place(index, count)


def spreads(environment: Mapping[str, str], command: Sequence[str]) -> bool:
    """Whether the command may start processes on nodes that have no wrapper of their own."""
    nodes = _number(environment.get("SLURM_JOB_NUM_NODES"))
    if nodes == 1:
        return False
    place = _from_variables(environment)
    if nodes is not None and (place is None or (place.count or 1) < nodes):
        return True
    return os.path.basename(program(command) or "") in _SPREADING


def _from_variables(environment: Mapping[str, str]) -> Place | None:
    """The place among processes that MPI or a step of Slurm started."""
    for rank, size, local, jobs in _LAUNCHERS:
        job = next((environment[name] for name in jobs if environment.get(name)), None)
        found = _numbered(environment, (rank, size, local), job)
        if found is not None:
            return found
    if "SLURM_STEP_ID" not in environment and "SLURM_STEPID" not in environment:
        # A batch script has SLURM_PROCID too, and is the only one of its job.
        return None
    return _numbered(environment, _STEP, _slurm_job(environment))


def _slurm_job(environment: Mapping[str, str]) -> str | None:
    job = environment.get("SLURM_JOB_ID")
    step = environment.get("SLURM_STEP_ID", environment.get("SLURM_STEPID"))
    again = environment.get("SLURM_RESTART_COUNT")
    parts = [part for part in (job, step, again and f"restart{again}") if part]
    return "slurm" + ".".join(parts) if job else None


def _numbered(
    environment: Mapping[str, str], names: tuple[str, str, str], job: str | None
) -> Place | None:
    index, count, local = (_number(environment.get(name)) for name in names)
    if index is None or not count or index >= count:
        return None
    return Place(index, count, local or 0, job=job)


def _alone(environment: Mapping[str, str]) -> Place:
    """One wrapper of a job, or one of those that a scheduler numbers for torch."""
    found = _numbered(environment, ("RANK", "WORLD_SIZE", "LOCAL_RANK"), None)
    return Place(0, 1) if found is None else _one_rank(found)


def _one_rank(place: Place) -> Place:
    if place.index is None:
        return place
    return replace(place, ranks=(place.index,), world_size=place.count)


def _from_options(options: Mapping[str, str], alone: Place) -> Place:
    """The place among one launcher a node that were started by hand."""
    count = _number(options.get("nodes"))
    if count is None or alone.count == count:
        return replace(alone, ranks=None, world_size=None)
    index = 0 if count == 1 else _number(options.get("node"))
    job = options.get("job")
    return Place(index, count, job=f"rdzv{job}" if job and job != "none" else None)


def _with_options(place: Place, options: Mapping[str, str]) -> Place:
    """The ranks that torchrun starts, where its options give all of them a number."""
    nodes = _number(options.get("nodes", "1"))
    each, total = _number(options.get("each", "1")), _number(options.get("all"))
    if total is not None and nodes:
        each = total // nodes
    if nodes is None or each is None:
        return replace(place, ranks=None, world_size=None)
    node = 0 if nodes == 1 else _number(options.get("node"))
    ranks = None if node is None else tuple(range(node * each, (node + 1) * each))
    return replace(place, ranks=ranks, world_size=nodes * each)


def _launcher_options(
    environment: Mapping[str, str], command: Sequence[str]
) -> Mapping[str, str] | None:
    """Options of torchrun or accelerate; null where the command is neither."""
    words = _launcher_words(command)
    if words is None:
        return None
    found = {
        name: environment[key] for key, name in _FROM_ENVIRONMENT.items() if key in environment
    }
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        name = _OPTION_NAMES.get(option.lstrip("-").replace("_", "-"))
        if option.startswith("-") and name is not None:
            found[name] = value if equals else "".join(words[at + 1 : at + 2])
    return found


def _launcher_words(command: Sequence[str]) -> Sequence[str] | None:
    """The words between a launcher and the script that it runs."""
    for at, word in enumerate(command):
        if os.path.basename(word) == "torchrun" or word in _LAUNCH_MODULES:
            return _before_script(command[at + 1 :])
        if os.path.basename(word) == "accelerate" and command[at + 1 : at + 2] == ["launch"]:
            return _before_script(command[at + 2 :])
    return None


def _before_script(words: Sequence[str]) -> Sequence[str]:
    for at, word in enumerate(words):
        if word.endswith(".py") or word in ("-m", "--module", "--no-python", "--no_python"):
            return words[:at]
    return words


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None
